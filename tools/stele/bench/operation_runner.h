// tools/stele/bench/operation_runner.h: runs the operations of `stele bench` on a table, and counts
// the rows, cells and bytes that they return or write.
//
// Threads:   Each thread has its own.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/counts.h"
#include "bench/options.h"
#include "bench/query_workload.h"
#include "stele/stele.h"

namespace stele::cli {

class OperationRunner {
 public:
  // `options` and `workload` must outlive it.
  OperationRunner(const BenchOptions& options, const Workload& workload, Table table);

  // Makes what an operation needs before it is measured: the requests of a query.
  void Prepare(const Operation& operation);
  // Runs an operation with a deadline of a minute, and adds what it returned or wrote to `counts`.
  // Errors: those of the operation; Internal if a missing row was found.
  absl::Status Run(const Operation& operation, BenchCounts* counts);

 private:
  absl::Status Read(const Operation& operation, BenchCounts* counts);
  absl::Status ReadMany(const Operation& operation, BenchCounts* counts);
  absl::Status Scan(const Operation& operation, BenchCounts* counts);
  absl::Status Insert(const Operation& operation, BenchCounts* counts);
  absl::Status Update(const Operation& operation, BenchCounts* counts);
  absl::Status CheckAndMutate(const Operation& operation, BenchCounts* counts);
  absl::Status Increment(const Operation& operation, BenchCounts* counts);
  absl::Status Bulk(const Operation& operation, BenchCounts* counts);
  RowMutation UpdateOf(const Operation& operation, BenchCounts* counts);

  const BenchOptions& options_;
  const Workload& workload_;
  Table table_;
  ValueMaker values_;
  const Filter project_;
  const Filter latest_;
  const Filter matching_;
  absl::StatusOr<std::unique_ptr<QueryRead>> query_read_ = nullptr;
  uint64_t updates_ = 0;  // so that each update writes another value
};

}  // namespace stele::cli
