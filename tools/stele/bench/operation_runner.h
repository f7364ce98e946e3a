// tools/stele/bench/operation_runner.h: runs the operations of `stele bench` on a table, and counts
// the rows, cells and bytes that they return or write.
//
// Threads:   Each thread has its own.
#pragma once

#include "absl/status/status.h"
#include "bench/counts.h"
#include "bench/options.h"
#include "stele/stele.h"

namespace stele::cli {

class OperationRunner {
 public:
  // `options` must outlive it.
  OperationRunner(const BenchOptions& options, Table table);

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
  Table table_;
  ValueMaker values_;
  const Filter project_;
  const Filter latest_;
  const Filter matching_;
  uint64_t updates_ = 0;  // so that each update writes another value
};

}  // namespace stele::cli
