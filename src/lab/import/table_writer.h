// import/table_writer.h: writes rows to the tables of an import, in batches, by one or more
// threads.
//
// Order:     the mutations of a row are always written by the same thread, in the order of Add.
// Errors:    those of Table::BulkApply, with table and row key. An error of a thread is returned by
//            a later call. Then rows that were added before may not have been written.
// Memory:    64 MiB, and the largest mutation.
// Threads:   confined to one thread, which waits for those that write.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/import_modes/import_mode.h"
#include "stele/database.h"
#include "stele/table.h"

namespace stele::internal::lab {

// Returns the table of a plan, or nothing if it does not exist. Returns FailedPrecondition if its
// property differs from the plan's.
absl::StatusOr<std::optional<Table>> FindTable(const Database& database, const TablePlan& plan);

class TableWriter {
 public:
  // Creates the tables that are missing. An existing table must have the plan's property, and gets
  // the families that it lacks. `thread_count` is at least 1; with 1, the caller writes.
  static absl::StatusOr<TableWriter> Open(Database database, const std::vector<TablePlan>& plans,
                                          size_t thread_count);

  // The table of a plan, by its index.
  Table& table(size_t index) { return tables_[index]; }
  size_t table_count() const { return tables_.size(); }

  TableWriter(TableWriter&& other) noexcept;
  TableWriter& operator=(TableWriter&& other) noexcept;
  // Waits for the batches that are being written. Drops rows that Flush did not write.
  ~TableWriter();

  absl::Status Add(size_t table, RowMutation row);
  // Writes all rows, and makes them durable.
  absl::Status Flush();

 private:
  struct Batch {
    std::vector<RowMutation> rows;
    size_t change_count = 0;
    size_t bytes = 0;
  };
  struct Share;  // the rows of one thread, and the thread

  explicit TableWriter(Database database);
  absl::Status Write(size_t table, Share* share);
  // Writes all rows, and waits for the threads.
  absl::Status WriteAll();

  Database database_;
  std::vector<Table> tables_;
  std::vector<std::unique_ptr<Share>> shares_;
  size_t pending_bytes_ = 0;  // of the rows since the last WriteAll
};

}  // namespace stele::internal::lab
