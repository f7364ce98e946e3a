// lint/trace_source.h: reads traces for the rules: once to find the tables, then once for each
// checked table, or twice if counts of hot rows must be exact.
//
// Errors:    those of TraceReader and TraceTables.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/trace/operation_facts.h"
#include "lab/trace/trace_tables.h"

namespace stele::internal::lab {

class TraceSource {
 public:
  // `skips_bad`: wrong lines are skipped and counted. Otherwise they are errors.
  TraceSource(std::vector<std::string> paths, bool skips_bad)
      : paths_(std::move(paths)), skips_bad_(skips_bad) {}

  // Finds the tables. Call it first.
  absl::Status ReadTables();
  // Returns NotFound for a trace that has operations, but none on one of these tables. Otherwise
  // such a trace would have no finding, as a good one. Returns FailedPrecondition if several tables
  // of the traces match the name of a checked one (see TraceTables::Find).
  absl::Status CheckTables(const std::vector<std::string>& checked) const;
  // The number of lines that ReadTables() skipped.
  uint64_t skipped_lines() const { return skipped_lines_; }
  TraceTables& tables() { return tables_; }

  // Reads the operations on a table, which TraceTables::Find() knows. For the parameters see
  // OperationFacts.
  absl::StatusOr<std::unique_ptr<OperationFacts>> ReadOperations(const std::string& table,
                                                                 const OperationLimits& limits,
                                                                 const std::string& delimiter,
                                                                 uint64_t table_rows,
                                                                 const KnownKeys& keys) const;

 private:
  // Returns the number of lines that were skipped.
  absl::StatusOr<uint64_t> ForEach(
      const std::function<absl::Status(const std::string& path, const TraceRecord&)>& add) const;

  const std::vector<std::string> paths_;
  const bool skips_bad_;
  TraceTables tables_;
  std::map<std::string, std::set<std::string, std::less<>>> names_;  // of the tables, by trace
  uint64_t skipped_lines_ = 0;
};

}  // namespace stele::internal::lab
