// tools/stele/csv_reader.h: CSV, record by record, as cbt's import reads it.
//
// Format:    RFC 4180: quotes around fields, "" for a quote inside; empty lines are skipped; all records have as many fields as the first.
// Errors:    InvalidArgument naming file and line.
// Threads:   one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stele::cli {

class CsvReader {
 public:
  // `file` outlives the reader; `name` is for messages.
  CsvReader(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  // The next record into `fields`; false at the end.
  absl::StatusOr<bool> Next(std::vector<std::string>& fields);
  // Where the last record began, from 1.
  uint64_t line() const { return record_line_; }
  uint64_t bytes_read() const { return bytes_read_; }
  // An error at the last record.
  absl::Status Wrong(std::string_view what) const;

 private:
  int Get();
  absl::StatusOr<int> ReadQuoted(std::string& field);
  absl::StatusOr<int> ReadField(int first, std::string& field);

  std::FILE* const file_;
  const std::string name_;
  uint64_t line_ = 1;
  uint64_t record_line_ = 0;
  uint64_t bytes_read_ = 0;
  size_t field_count_ = 0;  // of the first record
};

}  // namespace stele::cli
