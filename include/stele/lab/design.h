// stele/lab/design.h: design files, which describe tables, the records that fill them, and the
// queries that read them. Requires the library stele::lab. docs/lab/designs.md describes the file.
//
// Threads:   a design is an immutable value, and safe to share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/table.h"
#include "stele/timestamp.h"

namespace stele::internal::lab {
struct DesignModel;
}  // namespace stele::internal::lab

namespace stele::inline v0::lab {

// One read of a query of a design. A query with fan_out makes one for each bucket.
struct ReadRequest {
  RowSet rows = {};
  Filter filter = {};
  int64_t limit = 0;  // rows of all requests of the query. 0: no limit
  bool reverse = false;
  std::string bucket = {};   // with fan_out; otherwise ""
  size_t bucket_offset = 0;  // of the bucket in the row keys
};

// A checked design file. Immutable and cheap to copy.
class Design {
 public:
  // The fields of a record by name. An absent field has no entry.
  using Record = std::map<std::string, std::string, std::less<>>;

  // Parses a design file. `name` is the file's name in messages. Limits: 1 MiB, 20 levels, 1,000
  // tables, 10,000 queries.
  // Errors: InvalidArgument with up to 20 lines "NAME:LINE:COLUMN: what".
  [[nodiscard]] static absl::StatusOr<Design> Parse(std::string_view text, std::string_view name);
  // Reads the file and parses it. Errors: also those of the file system.
  [[nodiscard]] static absl::StatusOr<Design> Load(const std::string& path);

  // The name that Parse() got, or the path that Load() got. Paths of inputs are relative to it.
  const std::string& name() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Names in the order of the file. An unknown table has no queries.
  std::vector<std::string> tables() const;
  std::vector<std::string> queries(std::string_view table) const;

  // The functions below return NotFound for an unknown table or query.

  // Returns the schema of a table. Its property "lab.design" has the table's part of the design;
  // its property "row_key_schema" has the row key schema, if there is one.
  [[nodiscard]] absl::StatusOr<Schema> TableSchema(std::string_view table) const;
  // Returns the row key of a record. Errors: InvalidArgument if a field is absent or wrong.
  [[nodiscard]] absl::StatusOr<std::string> Key(std::string_view table, const Record& record) const;
  // Converts a record of this input to a row of the table. If no cell has its fields, the mutation
  // has no changes. Cells to which the design gives no timestamp get `time`, in the table's
  // granularity.
  // Errors: InvalidArgument if the table does not read this input, or the record does not fit.
  [[nodiscard]] absl::StatusOr<RowMutation> Map(std::string_view table, std::string_view input,
                                                const Record& record, Timestamp time) const;
  // Returns the input whose records the query writes, or "" for a query that reads.
  [[nodiscard]] absl::StatusOr<std::string> WrittenInput(std::string_view table,
                                                         std::string_view query) const;
  // Returns the requests that a query makes for a record; see ReadAll().
  // Errors: InvalidArgument if a field is absent or wrong, or if the query writes.
  [[nodiscard]] absl::StatusOr<std::vector<ReadRequest>> Read(std::string_view table,
                                                              std::string_view query,
                                                              const Record& record) const;

  // Returns the normal form: compact JSON with every default. Parse() accepts it.
  std::string ToJson() const;

  // The checked design, for the library itself.
  explicit Design(std::shared_ptr<const internal::lab::DesignModel> model);
  std::shared_ptr<const internal::lab::DesignModel> model() const { return model_; }

 private:
  std::shared_ptr<const internal::lab::DesignModel> model_;
};

// Runs the requests of a query, and calls `visit` with each row, or each piece of a large row. Rows
// of several requests are merged by their keys without the bucket. Returns the sum of the
// statistics. Limit and order of `options` are not used.
[[nodiscard]] absl::StatusOr<ReadStats> ReadAll(const Table& table,
                                                const std::vector<ReadRequest>& requests,
                                                const ReadOptions& options,
                                                const std::function<void(const RowView&)>& visit);

struct AppliedTable {
  std::string table = {};
  bool is_new = false;  // false: it existed with the same schema and the same key
};

struct ApplyDesignOptions {
  std::string table = {};     // only this table; "": all
  bool stores_design = true;  // false: for a server, which stores no properties
};

// Creates the tables of a design that do not exist. If one exists with another schema or another
// key, creates none and returns AlreadyExists.
// Errors: also NotFound for an unknown table, and those of the database.
[[nodiscard]] absl::StatusOr<std::vector<AppliedTable>> ApplyDesign(
    Database database, const Design& design, const ApplyDesignOptions& options = {});

}  // namespace stele::inline v0::lab
