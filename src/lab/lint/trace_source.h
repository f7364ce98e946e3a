// lint/trace_source.h: reads traces for the rules: once for all tables, and once for each table.
//
// Errors:    those of TraceReader and TraceTables.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/trace/operation_facts.h"
#include "lab/trace/trace_tables.h"

namespace stele::internal::lab {

class TraceSource {
 public:
  // `skips_bad`: wrong lines are counted, and are no errors. `keeps_keys`: see TraceTables.
  TraceSource(std::vector<std::string> paths, bool skips_bad, bool keeps_keys)
      : paths_(std::move(paths)), skips_bad_(skips_bad), tables_(keeps_keys) {}

  // Finds the tables. Call it first.
  absl::Status ReadTables();
  // The number of lines that ReadTables() skipped.
  uint64_t skipped() const { return skipped_; }
  TraceTables& tables() { return tables_; }

  // Reads the operations on a table. For the parameters see OperationFacts.
  absl::StatusOr<std::unique_ptr<OperationFacts>> ReadOperations(const std::string& table,
                                                                 const OperationLimits& limits,
                                                                 const std::string& delimiter,
                                                                 uint64_t table_rows,
                                                                 const KnownKeys& keys) const;

 private:
  // Returns the number of lines that were skipped.
  absl::StatusOr<uint64_t> ForEach(
      const std::function<absl::Status(const TraceRecord&)>& add) const;

  const std::vector<std::string> paths_;
  const bool skips_bad_;
  TraceTables tables_;
  uint64_t skipped_ = 0;
};

}  // namespace stele::internal::lab
