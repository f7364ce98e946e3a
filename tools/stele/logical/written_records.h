// tools/stele/logical/written_records.h: the records of a design's inputs that become the rows that
// a trace writes.
//
// Errors:    InvalidArgument for too many rows or records; those of the files.
// Threads:   confined to one thread.
// Memory:    the row keys that the trace writes and their records, together at most 256 MiB.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "lab/load/query_inputs.h"
#include "lab/records/record_input.h"
#include "stele/lab/design.h"

namespace stele::cli {

class WrittenRecords {
 public:
  // The queries of a table, in their order, and the paths of --input. They must outlive the object.
  WrittenRecords(const std::vector<internal::lab::QueryInputs>& uses,
                 const internal::lab::GivenInputs& given)
      : uses_(uses), given_(given) {}

  // Adds a row that is written. It may be added again.
  absl::Status AddRow(const std::string& row_key);
  // Finds a record for each row: the first one of the input of the first query that writes it.
  // Inputs without a file are left out, with a line in notes().
  absl::Status ReadInputs();

  struct Written {
    const internal::lab::DesignQuery* query = nullptr;  // null: no record was found
    lab::Design::Record record = {};
  };
  const Written& Find(const std::string& row_key) const { return rows_.at(row_key); }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  absl::Status ReadInput(const internal::lab::QueryInputs& use,
                         const internal::lab::RecordInput& input);
  absl::Status TakeRecord(const internal::lab::QueryInputs& use,
                          const internal::lab::FieldSource& source);
  absl::Status Count(size_t bytes);

  const std::vector<internal::lab::QueryInputs>& uses_;
  const internal::lab::GivenInputs& given_;
  std::unordered_map<std::string, Written> rows_;
  size_t bytes_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace stele::cli
