// import/table_writer.h: writes rows to the tables of an import, in batches.
//
// Errors:    those of Table::BulkApply, with the row key.
// Threads:   confined to one thread.
// Memory:    one batch per table, about 8 MiB.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/import/import_mode.h"
#include "stele/database.h"
#include "stele/table.h"

namespace stele::internal::lab {

// Returns the table of a plan, or nothing if it does not exist. FailedPrecondition: it does not
// have the plan's property.
absl::StatusOr<std::optional<Table>> FindTable(const Database& database, const TablePlan& plan);

class TableWriter {
 public:
  // Creates the tables that are missing. An existing table must have the plan's property, and gets
  // the families that it lacks.
  static absl::StatusOr<TableWriter> Open(Database database, const std::vector<TablePlan>& plans);

  // The table of a plan.
  Table& table(size_t index) { return batches_[index].table; }

  absl::Status Add(size_t table, RowMutation row);
  // Writes the batches, and makes them durable.
  absl::Status Flush();

 private:
  struct Batch {
    Table table;
    std::vector<RowMutation> rows = {};
    size_t change_count = 0;
  };

  explicit TableWriter(Database database) : database_(std::move(database)) {}
  absl::Status Write(Batch* batch);

  Database database_;
  std::vector<Batch> batches_;
};

}  // namespace stele::internal::lab
