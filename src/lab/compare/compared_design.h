// compare/compared_design.h: one design of a comparison: its database, its figures, and the
// operations that run on it.
//
// Threads:   const calls may run together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/design/design_model.h"
#include "lab/workload/logical_workload.h"
#include "lab/workload/prepared_operation.h"
#include "stele/lab/compare.h"
#include "stele/stele.h"

namespace stele::internal::lab {

enum class CacheState : uint8_t { kWarm, kCold };

// The counts and the answer of one operation.
struct OperationResult {
  uint64_t requests = 0;
  uint64_t scans = 0;  // requests with a range
  // Row keys of the other requests, or RowUnits() of the bytes returned if that is more.
  uint64_t point_rows = 0;
  uint64_t scanned_rows = 0;  // that the scans passed; see CountScannedRows
  ReadStats stats;
  uint64_t bytes_returned = 0;  // row keys, qualifiers and values
  uint64_t answer_hash = 0;     // of the values of the answer, in any order
  uint64_t answer_values = 0;   // the number of these values
  std::string last_row;         // set for one scan that reached its limit; otherwise ""
};

class ComparedDesign {
 public:
  // Loads the records of the inputs into a new database below the work directory, and compacts it.
  // Errors: those of LoadDesign and of the database.
  // `options` has a time and a progress function. It and `workload` outlive the object.
  static absl::StatusOr<std::unique_ptr<ComparedDesign>> Load(
      const DesignTableChoice& choice, const LogicalWorkload& workload,
      const stele::lab::CompareOptions& options);
  ~ComparedDesign();
  ComparedDesign(const ComparedDesign&) = delete;
  ComparedDesign& operator=(const ComparedDesign&) = delete;

  // Opens the database again with a block cache of at most 4 MiB, after dropping its files from
  // the page cache. With a file system in memory, the files stay in memory.
  absl::Status ReopenCold();

  const std::string& name() const { return choice_.name; }
  const std::string& table_name() const { return choice_.table; }
  const Database& database() const { return database_; }
  const stele::lab::CompareReport::TableFigures& figures() const { return figures_; }
  // Remarks about the load, for the report.
  const std::vector<std::string>& notes() const { return notes_; }
  // True if the query declares an answer.
  bool has_answer(size_t query) const { return !answer_columns_[query].empty(); }

  // Builds the requests of an operation. Its time is not part of the latency, but of the CPU time
  // and of the operations per second.
  absl::StatusOr<PreparedOperation> Prepare(const LogicalOperation& operation) const;
  // Runs the operation. With a null `result` it runs without statistics, to be timed.
  absl::Status Run(const LogicalOperation& operation, const PreparedOperation& prepared,
                   OperationResult* result) const;
  // Sets result->scanned_rows. Cloud Bigtable reads every row of the range, and
  // ReadStats::rows_seen does not count the rows outside the keys that the filter can pass.
  absl::Status CountScannedRows(const PreparedOperation& prepared, OperationResult* result) const;

 private:
  ComparedDesign(DesignTableChoice choice, const LogicalWorkload& workload,
                 const stele::lab::CompareOptions& options)
      : choice_(std::move(choice)), workload_(workload), options_(options) {}

  absl::Status LoadAnswerColumns();
  absl::StatusOr<std::string> LastRowOf(const stele::lab::ReadRequest& read) const;
  absl::Status Open(const DatabaseOptions& options);
  absl::Status LoadRecords();
  ReadOptions MakeReadOptions() const;
  WriteOptions MakeWriteOptions() const;
  void AddRow(const LogicalOperation& operation, const RowView& row, OperationResult* result) const;

  const DesignTableChoice choice_;
  const LogicalWorkload& workload_;
  const stele::lab::CompareOptions& options_;
  std::vector<std::vector<DesignColumn>> answer_columns_;  // by query
  Timestamp time_;
  std::string path_;  // of the database
  Database database_;
  Table table_;
  stele::lab::CompareReport::TableFigures figures_;
  std::vector<std::string> notes_;
};

}  // namespace stele::internal::lab
