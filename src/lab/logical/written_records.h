// logical/written_records.h: finds, in the inputs of a design, the records of the rows that a trace
// writes.
//
// Errors:    InvalidArgument for too many rows or records; Cancelled if a stop was requested; those
//            of the files.
// Threads:   confined to one thread.
// Memory:    the row keys that the trace writes and their records, together at most 256 MiB.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lab/load/query_inputs.h"
#include "lab/records/record_input.h"
#include "stele/lab/design.h"

namespace stele::internal::lab {

class WrittenRecords {
 public:
  // The queries of a table, in their order, and the paths of inputs. They must outlive the object.
  WrittenRecords(const std::vector<QueryInputs>& query_inputs, const GivenInputs& given,
                 std::stop_token stop)
      : query_inputs_(query_inputs), given_(given), stop_(std::move(stop)) {}

  // Adds a row that is written. It may be added again.
  absl::Status AddRow(const std::string& row_key);
  // Finds a record for each row: the first one of the input of the first query that writes it.
  // Inputs without a file are left out, with a line in notes().
  absl::Status ReadInputs();

  struct Written {
    const DesignQuery* query = nullptr;
    stele::lab::Design::Record record = {};
  };
  // Returns null for a row without a record, and for one that was not added.
  const Written* Find(const std::string& row_key) const {
    const auto row = rows_.find(row_key);
    return row == rows_.end() || row->second.query == nullptr ? nullptr : &row->second;
  }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  absl::Status ReadInput(const QueryInputs& use, const RecordInput& input);
  absl::Status TakeRecord(const QueryInputs& use, const FieldSource& source);
  absl::Status Count(size_t bytes);

  const std::vector<QueryInputs>& query_inputs_;
  const GivenInputs& given_;
  const std::stop_token stop_;
  std::unordered_map<std::string, Written> rows_;
  size_t bytes_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace stele::internal::lab
