// replay/replay_operation.h: runs an operation of a trace on a table.
//
// A recorded trace has no values. A write gets printable values, which depend only on the seed, the
// number of the operation and the recorded sizes. The row key, the qualifiers and the values
// together have the recorded number of bytes, unless the key and the qualifiers have more.
//
// Threads:   ReplayOperation is a value. Each thread has its own OperationReplayer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lab/trace/trace_record.h"
#include "lab/workload/prepared_operation.h"
#include "stele/lab/replay.h"
#include "stele/stele.h"

namespace stele::internal::lab {

struct ReplayOperation {
  std::string_view name;                      // in the report: the word of the trace, or the query
  TraceRecord record;                         // of a recorded trace
  std::optional<PreparedOperation> prepared;  // of a logical trace: it runs instead of `record`
  int64_t micros = 0;                         // after the first operation of the trace
  Table table;
  uint64_t number = 0;                             // among the replayed operations, from 0
  std::chrono::steady_clock::time_point due = {};  // not set in a closed loop
};

// Counts what an operation returned or wrote.
struct OperationCounts {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t value_bytes = 0;
  uint64_t bytes_read = 0;    // from files, by scans and by all reads of a logical trace
  bool is_work_known = true;  // false: a server ran such a read, so bytes_read is unknown
};

// Returns the first row key, or the start of the first range. It selects the operation's thread.
std::string_view FirstKey(const ReplayOperation& operation);

// The reason in the report for a write that is not replayed with ReplayWrites::kSkip.
inline constexpr std::string_view kSkippedWrites = "writes, which are skipped";
// Returns why the operation is not replayed, in words for the report; "" if it is.
std::string_view SkipReason(const TraceRecord& record, stele::lab::ReplayWrites writes);

class OperationReplayer {
 public:
  OperationReplayer(uint64_t seed, std::stop_token stop);

  // Runs the operation, and adds what it returned or wrote to `counts`. The deadline is one minute.
  // A drop has no deadline, and a stop does not end it.
  // Errors: Cancelled after a stop; those of the operation; InvalidArgument for a wrong filter or
  // column, for a write above the limits of every table, and for a drop with a row, keys or ranges.
  absl::Status Run(const ReplayOperation& operation, OperationCounts* counts);

 private:
  using Record = TraceRecord;

  absl::Status RunPrepared(const ReplayOperation& operation, OperationCounts* counts) const;
  absl::Status Get(const Record& record, const Table& table, OperationCounts* counts) const;
  absl::Status GetMany(const Record& record, const Table& table, OperationCounts* counts) const;
  absl::Status Scan(const Record& record, const Table& table, OperationCounts* counts) const;
  absl::Status Set(const ReplayOperation& operation, OperationCounts* counts);
  absl::Status CheckAndMutate(const ReplayOperation& operation, OperationCounts* counts);
  absl::Status Delete(const ReplayOperation& operation, OperationCounts* counts) const;
  static absl::Status Drop(const Record& record, Table table);
  absl::Status Increment(const ReplayOperation& operation, OperationCounts* counts) const;
  absl::StatusOr<RowMutation> CellsOf(const ReplayOperation& operation,
                                      OperationCounts* counts) const;

  ReadOptions MakeReadOptions() const;
  WriteOptions MakeWriteOptions() const;

  const std::string values_;  // the text that values are cut from
  const std::stop_token stop_;
};

}  // namespace stele::internal::lab
