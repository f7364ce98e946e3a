// tools/stele/replay/replay_operation.h: runs an operation of a trace on a table.
//
// A recorded trace has no values: writes get printable values that depend on the seed and the
// number of the operation alone. The keys, qualifiers and values of a write have as many bytes as
// recorded, if the keys and qualifiers are not longer.
//
// Threads:   ReplayOperation is a value. Each thread has its own OperationReplayer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "bench/counts.h"
#include "compare/prepared_operation.h"
#include "lab/trace/trace_record.h"
#include "replay/options.h"
#include "stele/stele.h"

namespace stele::cli {

struct ReplayOperation {
  std::string_view name;                      // in the report: the word of the trace, or the query
  internal::lab::TraceRecord record;          // of a recorded trace
  std::optional<PreparedOperation> prepared;  // of a logical trace: it runs instead of `record`
  int64_t micros = 0;                         // after the first operation of the trace
  Table table;
  uint64_t number = 0;                             // among the replayed operations, from 0
  std::chrono::steady_clock::time_point due = {};  // not set in a closed loop
};

// The word of the trace: get, mget, scan, set, del, rmw, cas or drop.
std::string_view NameOf(internal::lab::TraceOp op);

// The row that an operation begins with: its thread depends on it.
std::string_view FirstKey(const ReplayOperation& operation);

// Why a write is not replayed with --writes skip, in words for the report.
inline constexpr std::string_view kSkippedWrites = "writes, by --writes skip";
// Returns why the operation is not replayed, in words for the report; "" if it is.
std::string_view SkipReason(const internal::lab::TraceRecord& record, ReplayOptions::Writes writes);

class OperationReplayer {
 public:
  explicit OperationReplayer(uint64_t seed);

  // Runs the operation with a deadline of a minute, and adds what it returned or wrote to `counts`.
  // Errors: those of the operation; InvalidArgument for a filter or columns that are wrong, a write
  // that no table takes, and a drop with other members than start and end.
  absl::Status Run(const ReplayOperation& operation, BenchCounts* counts);

 private:
  using Record = internal::lab::TraceRecord;

  static absl::Status RunPrepared(const ReplayOperation& operation, BenchCounts* counts);
  static absl::Status Get(const Record& record, const Table& table, BenchCounts* counts);
  static absl::Status GetMany(const Record& record, const Table& table, BenchCounts* counts);
  static absl::Status Scan(const Record& record, const Table& table, BenchCounts* counts);
  absl::Status Set(const ReplayOperation& operation, BenchCounts* counts);
  absl::Status CheckAndMutate(const ReplayOperation& operation, BenchCounts* counts);
  static absl::Status Delete(const ReplayOperation& operation, BenchCounts* counts);
  static absl::Status Drop(const Record& record, Table table);
  static absl::Status Increment(const ReplayOperation& operation, BenchCounts* counts);
  absl::StatusOr<RowMutation> CellsOf(const ReplayOperation& operation, BenchCounts* counts) const;

  const std::string values_;  // the text that values are cut from
};

}  // namespace stele::cli
