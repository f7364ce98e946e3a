// tools/stele/bench/query_workload.h: the queries of a design as workloads of `stele bench`. The
// parameters of an operation are the fields of a record of the design's input.
//
// Threads:   const calls may run together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/counts.h"
#include "bench/options.h"
#include "stele/stele.h"

namespace stele::cli {

// The read of a query for one record.
class QueryRead {
 public:
  virtual ~QueryRead() = default;

  virtual absl::Status Run(const Table& table, const ReadOptions& options,
                           BenchCounts* counts) const = 0;
  // The line of --dry-run: the name, and the row keys: orders-of-user prefix "user000#" limit 30.
  virtual std::string ToText() const = 0;
};

class QueryWorkload {
 public:
  explicit QueryWorkload(std::string name) : name_(std::move(name)) {
    workload_ = {.name = name_, .parts = {{OperationKind::kQuery, 1}}, .query = this};
  }
  virtual ~QueryWorkload() = default;
  QueryWorkload(const QueryWorkload&) = delete;
  QueryWorkload& operator=(const QueryWorkload&) = delete;

  // Valid as long as this object.
  const Workload& workload() const { return workload_; }
  // At least 1.
  virtual uint64_t record_count() const = 0;
  virtual absl::StatusOr<std::unique_ptr<QueryRead>> Prepare(uint64_t record) const = 0;

 private:
  const std::string name_;
  Workload workload_;
};

struct QueryWorkloads {
  std::string table;
  std::vector<std::unique_ptr<QueryWorkload>> queries;
  std::string text;  // one line about the design and the records
};

// Reads the design of the options, and the records. Opens no database. `output` is the file of -o.
// Errors: NotFound and InvalidArgument for a table, a query or an input that does not fit, and for
// an output that would replace a file that is read; Unimplemented in a command without stele::lab.
absl::StatusOr<QueryWorkloads> LoadQueries(const BenchOptions& options, const std::string& output);

}  // namespace stele::cli
