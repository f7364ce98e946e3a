// heat_map/operation_reader.h: the operations of traces that a heat map counts.
//
// Errors:    those of TraceInput.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lab/trace/trace_input.h"
#include "lab/trace/trace_record.h"
#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

class OperationReader {
 public:
  OperationReader(const stele::lab::HeatMapInput& input, const stele::lab::HeatMapOptions& options);

  // Calls `visit` for every operation that the options select, in the order of the files. Later
  // calls read the same lines as the first one, although a file may have grown.
  using Visit = std::function<absl::Status(const TraceRecord& record)>;
  absl::Status ForEach(const Visit& visit);

  // The tables of the traces, at most 1,001; known after ForEach().
  const std::set<std::string, std::less<>>& tables() const { return tables_; }
  uint64_t skipped_lines() const { return skipped_lines_; }

 private:
  absl::Status ReadTrace(size_t trace, const Visit& visit);
  void NoteTable(const std::string& table);
  bool IsSelected(const TraceRecord& record) const;

  const std::vector<std::string>& paths_;
  const stele::lab::HeatMapOptions& options_;
  const int64_t from_;
  const int64_t to_;
  std::vector<uint64_t> records_;  // of each trace, from the first call
  uint64_t lines_ = 0;
  uint64_t skipped_lines_ = 0;
  std::set<std::string, std::less<>> tables_;
  const std::string* last_table_ = nullptr;  // in tables_; null: none yet
};

}  // namespace stele::internal::lab
