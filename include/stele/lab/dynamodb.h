// stele/lab/dynamodb.h: imports items of DynamoDB into a table, and exports them again. Requires
// the library stele::lab. docs/lab/dynamodb.md describes the rows, the modes and the report.
//
// Threads:   calls for different tables may run together. An import starts threads that write.
// Memory:    up to 256 MiB in addition to the database's budget, whatever the input contains.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/row_set.h"
#include "stele/timestamp.h"

namespace stele::inline v0::lab {

// A secondary index of the source table. It becomes the table TABLE.NAME, whose row keys have the
// key attributes of the index before those of the table.
struct DynamoDbIndex {
  std::string name = {};
  std::string partition_key = {};
  std::string sort_key = {};  // "": none
  // True: rows have copies of the items. False: one cell i:key, the item's row key in TABLE.
  bool has_item_copies = false;
  // The declared types of the attributes: S, N or B. "": the types that most items have. Items with
  // other types are not in the index, and are noted.
  std::string partition_type = {};
  std::string sort_type = {};
};

// A table of a data model of NoSQL Workbench.
struct DynamoDbModelTable {
  std::string name = {};
  std::string partition_key = {};
  std::string sort_key = {};                // "": none
  std::vector<DynamoDbIndex> indexes = {};  // with copies, unless only keys are projected
  uint64_t item_count = 0;                  // sample items
};

// True if the file is a data model of NoSQL Workbench, by its beginning.
[[nodiscard]] absl::StatusOr<bool> IsDynamoDbModel(const std::string& path);
// Reads the tables of a data model. InvalidArgument: it is damaged or has more than 16 MiB.
[[nodiscard]] absl::StatusOr<std::vector<DynamoDbModelTable>> ReadDynamoDbModel(
    const std::string& path);

struct DynamoDbImportOptions {
  // kNative keeps everything, so that ExportDynamoDb can restore the items. kGoogle writes the
  // cells that Google's migration job writes.
  enum class Mode : uint8_t { kNative, kGoogle };

  // The directory of one export, or data files, also compressed: DynamoDB JSON, the output of `aws
  // dynamodb scan` or `query`, or requests of batch-write-item. "-" is standard input, which is
  // copied to a temporary file first. Required.
  std::vector<std::string> paths = {};
  // The table of a data model of NoSQL Workbench whose sample items are imported. `paths` is then
  // the file of that model. "": it is not a model.
  std::string model_table = {};
  std::string table = {};          // the name in `database`. Required
  std::string partition_key = {};  // the attribute's name. Required
  std::string sort_key = {};       // "": the table has none
  Mode mode = Mode::kNative;

  // The next members, up to `mapping_path`, are for kNative.
  bool has_ordered_keys = false;           // row keys use ordered code instead of a delimiter
  std::string delimiter = {};              // "": the first of # | / ~ that is in no partition key
  bool has_sets_as_json = false;           // false: a column per member, in family s
  bool has_maps_as_columns = false;        // true: a column per member, in family m; false: JSON
  std::vector<std::string> counters = {};  // N attributes that become 8 bytes big-endian
  std::string ttl_attribute = {};          // the attribute of the expiry time in seconds; "": none
  bool keeps_expired = false;              // imports expired items as if they did not expire
  std::string timestamp_attribute = {};    // the attribute of the cells' timestamp; "": none
  // Of cells without an expiry time and without timestamp_attribute. Default: that of the export.
  std::optional<Timestamp> timestamp = {};
  std::vector<DynamoDbIndex> indexes = {};
  std::string mapping_path = {};  // stores the mapping in this file instead of a property

  std::string google_family = "cf1";  // for kGoogle

  // False: for a server, which stores no properties of tables. Then kNative needs `mapping_path`.
  // A table with rows is accepted only if the file of `mapping_path` or of `state_path` exists.
  bool stores_properties = true;

  bool only_checks = false;  // writes nothing to `database`, which may be empty
  // Called after all checks to open the database. Then pass an empty `database`.
  std::function<absl::StatusOr<Database>()> open_database = {};
  static constexpr size_t kWriterThreadsMax = 64;
  // From 1. With 1, the caller's thread, which reads the items, writes, too.
  size_t writer_threads = 4;
  bool verifies_sums = true;   // compares the MD5 of each data file with the manifest
  uint64_t bad_items_max = 0;  // leaves out at most this many; more are an error
  std::string bad_path = {};   // the bad items are written to it, as lines of JSON; "": none
  // Files that the caller writes. InvalidArgument if one of them, or of the other members, is read.
  std::vector<std::string> output_paths = {};
  // Lists the completed data files, so that the same call resumes after an interruption. Removed at
  // the end. "": not resumable.
  std::string state_path = {};
  // Called from time to time: `done` of `total` bytes were read. "checking" or "importing".
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

struct DynamoDbImportReport {
  struct TableCounts {
    uint64_t rows = 0;
    std::map<std::string, uint64_t> cells = {};  // by family
  };
  struct Note {  // a remark about the input
    std::string id = {};
    std::string severity = {};  // "info" or "warning"
    std::string message = {};
    uint64_t count = 0;
    std::vector<std::string> samples = {};  // at most 5
  };
  struct KeyAttribute {
    std::string name = {};
    std::string type = {};
    int pad_width = 0;  // 0: not padded
  };
  struct TableKey {                             // of an index table
    std::vector<KeyAttribute> attributes = {};  // in the order of the row key
    std::string form = {};                      // "delimited" or "ordered"
    std::string delimiter = {};
  };

  std::string mode = {};       // "native", "google" or "incremental"
  std::string export_id = {};  // "": the input is not the directory of an export
  std::string source = {};     // describes the input
  bool only_checked = false;
  uint64_t items_read = 0;
  // With only_checked: those that would be written. For an incremental export: the rows that were
  // replaced or deleted, each counted once.
  uint64_t items_written = 0;
  uint64_t items_bad = 0;
  uint64_t items_expired = 0;
  std::map<std::string, TableCounts> tables = {};
  std::vector<KeyAttribute> key = {};
  std::string key_form = {};  // "delimited" or "ordered"; Google mode: ""
  std::string delimiter = {};
  std::string key_remark = {};                      // why the delimiter is not '#', or ""
  std::map<std::string, TableKey> index_keys = {};  // by the name of the index table
  // The number of items with an attribute, by its name and type. At most 10,000 names.
  std::map<std::string, std::map<std::string, uint64_t>> attributes = {};
  bool has_more_attributes = false;  // some are not counted
  std::vector<Note> notes = {};
  double seconds = 0;

  bool left_out_items() const;  // true if items that did not expire were left out
  std::string ToText() const;   // for people
  std::string ToJson() const;   // one document
};

// Creates a table and imports the items. Everything is read and checked before the first row is
// written. When it returns OK, the rows survive power loss. An incremental export is applied to a
// table that the import of a full export created. A second import of the same input only checks it.
//
// Errors:
//   InvalidArgument      wrong options, or too many bad items (lists 20). Nothing was written
//   NotFound             a file of the input, or the table of an incremental export, is missing
//   FailedPrecondition   the table or the state file is of another import; an incremental export
//                        is older than the table, or of another table; the input is a full export,
//                        and the table has an incremental one
//   errors of the file system and of the database: the import may be incomplete; repeat the call
[[nodiscard]] absl::StatusOr<DynamoDbImportReport> ImportDynamoDb(
    Database database, const DynamoDbImportOptions& options);

struct DynamoDbExportOptions {
  std::string table = {};           // Required
  RowRange rows = RowRange::All();  // the rows to export
  std::string mapping_path = {};    // as in the import
  // Called with each item as {"Item":{...}}, without a newline. Required without `directory`.
  std::function<absl::Status(std::string_view line)> write = {};
  // Instead of `write`: the export is a new directory AWSDynamoDB/ID below this one, in the layout
  // of DynamoDB's exports to S3.
  std::string directory = {};
  // Exports `table` and then its index tables, in `directory` as separate exports. Requires all
  // rows. False: `table` must not be an index table.
  bool keeps_indexes = false;
};

struct DynamoDbExportReport {
  uint64_t items_written = 0;
  uint64_t rows_left_out = 0;            // rows that an application wrote, which are no items
  std::vector<std::string> listed = {};  // the first 20 of them, with the reason
};

// Exports the items of a table that was imported in native mode, in row-key order. The items equal
// those that were imported, except that attributes are in byte order, and that a number in a key
// may have another notation. Items of an index without item copies have only the key attributes.
//
// Errors: NotFound if the table does not exist; FailedPrecondition if it has no mapping, if its
// import is not complete, or if it is an index table without `keeps_indexes`; InvalidArgument for
// wrong options, such as `keeps_indexes` with a mapping_path; those of the file system, of the
// database and of `write`, which ends the export.
[[nodiscard]] absl::StatusOr<DynamoDbExportReport> ExportDynamoDb(
    const Database& database, const DynamoDbExportOptions& options);

}  // namespace stele::inline v0::lab
