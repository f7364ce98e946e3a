// stele/lab/dynamodb.h: imports items of DynamoDB into a table, and exports them again. Requires
// the library stele::lab.
//
// stele/stele.h does not include this header. `stele import dynamodb` has the same functions.
// Threads:   one thread per call; calls for different tables may run together.
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
#include "stele/row_set.h"
#include "stele/timestamp.h"

namespace stele {
inline namespace v0 {
namespace lab {

// An index of the source, which becomes the table TABLE.NAME. Its row key has the attributes of the
// index before those of the table.
struct DynamoDbIndex {
  std::string name = {};
  std::string partition_key = {};
  std::string sort_key = {};     // "": none
  bool has_item_copies = false;  // false: one cell i:key, the row key in TABLE
};

struct DynamoDbImportOptions {
  // kNative keeps everything, and DynamoDB JSON can be made of it again. kGoogle writes the cells
  // that Google's migration job writes.
  enum class Mode : uint8_t { kNative, kGoogle };

  // The directory of one export, or data files, plain or compressed with gzip or zstd: DynamoDB
  // JSON, the output of `aws dynamodb scan` or `query`, or requests of batch-write-item. Required.
  std::vector<std::string> paths = {};
  std::string table = {};          // the name in `database`. Required
  std::string partition_key = {};  // the attribute's name. Required
  std::string sort_key = {};       // "": the table has none
  Mode mode = Mode::kNative;

  // The remaining ones of this group are for kNative.
  bool has_ordered_keys = false;            // ordered code instead of a delimiter
  std::string delimiter = {};               // "": the first of # | / ~ that is in no partition key
  bool has_sets_as_json = false;            // false: a column per member, in family s
  bool has_maps_as_columns = false;         // true: a column per member, in family m
  std::vector<std::string> counters = {};   // N attributes that become 8 bytes big-endian
  std::string ttl_attribute = {};           // the attribute of the expiry time in seconds; "": none
  bool keeps_expired = false;               // imports expired items as if they did not expire
  std::string timestamp_attribute = {};     // the attribute of the cells' time; "": none
  std::optional<Timestamp> timestamp = {};  // of all cells. Default: the time of the export
  std::vector<DynamoDbIndex> indexes = {};
  std::string mapping_path = {};  // stores the mapping in this file instead of a property

  std::string google_family = "cf1";  // for kGoogle

  bool only_checks = false;  // writes nothing; `database` may be empty
  // Opens the database after everything was checked, instead of the empty handle that is given. So
  // a wrong input creates no database.
  std::function<absl::StatusOr<Database>()> open_database = {};
  bool verifies_sums = true;   // compares the MD5 of each data file with the manifest
  uint64_t bad_items_max = 0;  // so many bad items are left out; one more is an error
  std::string bad_path = {};   // gets each bad item as a line of JSON; "": none
  // Files that the caller writes, for example the report. It is an error if one of them is a file
  // of the input, as it is for the other paths of this struct.
  std::vector<std::string> output_paths = {};
  // Remembers the completed data files, so that the same call continues after an interruption.
  // Removed at the end. "": not resumable.
  std::string state_path = {};
  // Called now and then with the bytes of the input files that were read in this phase ("checking",
  // "importing"), and their sum.
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

struct DynamoDbImportReport {
  struct TableCounts {
    uint64_t rows = 0;
    std::map<std::string, uint64_t> cells = {};  // by family
  };
  // Something that the reader of the report should know.
  struct Note {
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

  std::string mode = {};       // "native", "google" or "incremental"
  std::string export_id = {};  // "": the input is not the directory of an export
  std::string source = {};     // describes the input
  bool only_checked = false;
  uint64_t items_read = 0;
  uint64_t items_written = 0;  // or items to write, if only_checked
  uint64_t items_bad = 0;
  uint64_t items_expired = 0;
  std::map<std::string, TableCounts> tables = {};
  std::vector<KeyAttribute> key = {};
  std::string key_form = {};  // "delimited" or "ordered"; Google mode: ""
  std::string delimiter = {};
  std::string key_remark = {};  // why the delimiter is not '#', or ""
  // How many items have the attribute with each type, by name. At most 10,000 names.
  std::map<std::string, std::map<std::string, uint64_t>> attributes = {};
  bool has_more_attributes = false;  // some are not counted
  std::vector<Note> notes = {};
  double seconds = 0;

  // True if items of the input are not in the tables, although they did not expire.
  bool left_out_items() const;
  // The report for people, and as one JSON document.
  std::string ToText() const;
  std::string ToJson() const;
};

// Imports the items of `options.paths` into the table `options.table`, which is created. Everything
// is read and checked before the first row is written. When it returns OK, the rows survive power
// loss.
//
// An incremental export is applied to a table that an import of a full export created. If the table
// has the input already, it is only checked.
//
// Errors:
//   InvalidArgument      wrong options; bad items, of which the message lists the first 20: nothing
//                        was written
//   NotFound             a file of the input, or the table of an incremental export, is missing
//   FailedPrecondition   the table exists and is not of the same import; the state file belongs to
//                        another import; an incremental export is older than the table; the table
//                        has an incremental export, and the input is a full one
//   errors of the file system and of the database: the import may be incomplete; repeat the call
[[nodiscard]] absl::StatusOr<DynamoDbImportReport> ImportDynamoDb(
    Database database, const DynamoDbImportOptions& options);

struct DynamoDbExportOptions {
  std::string table = {};           // Required
  RowRange rows = RowRange::All();  // the rows to export
  std::string mapping_path = {};    // as in the import
  // Gets each item as {"Item":{...}}, without a newline. Required if `directory` is empty. An error
  // ends the export.
  std::function<absl::Status(std::string_view line)> write = {};
  // Instead of `write`: writes the export to a new directory AWSDynamoDB/ID below this one, in the
  // layout of DynamoDB's exports to S3.
  std::string directory = {};
};

struct DynamoDbExportReport {
  uint64_t items_written = 0;
  uint64_t rows_left_out = 0;            // rows that are no items: an application wrote them
  std::vector<std::string> listed = {};  // the first 20 of them, with the reason
};

// Makes items of the rows that an import in native mode wrote, in the order of row keys. Attributes
// are in byte order. The items are those that were imported; a number in a key is equal by value.
//
// Errors: NotFound if the table does not exist; FailedPrecondition if it has no mapping, or if its
// import is not complete; InvalidArgument if neither `write` nor `directory` is given; errors of
// the file system, of the database and of `write`.
[[nodiscard]] absl::StatusOr<DynamoDbExportReport> ExportDynamoDb(
    const Database& database, const DynamoDbExportOptions& options);

}  // namespace lab
}  // namespace v0
}  // namespace stele
