// tools/stele/csv_reader.h: reads CSV record by record, as cbt's import does.
//
// Format:    RFC 4180: quotes around fields, "" for a quote inside. The separator can be another
//            character than a comma. Empty lines are skipped. All records have as many fields as
//            the first. A record has at most 512 MiB and 100,000 fields.
// Errors:    InvalidArgument with file and line.
// Threads:   Confined to one thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stele::cli {

class CsvReader {
 public:
  // `file` must outlive the reader. `name` is used in messages.
  // `separator` is an ASCII character.
  CsvReader(std::FILE* file, std::string name, char separator = ',')
      : file_(file), name_(std::move(name)), separator_(separator) {}

  // Reads the next record into `fields`. Returns false at the end.
  absl::StatusOr<bool> Next(std::vector<std::string>& fields);
  // The first line of the last record, counted from 1.
  uint64_t line() const { return record_line_; }
  uint64_t bytes_read() const { return bytes_read_; }
  // Returns an error that names the last record, or a line.
  absl::Status Wrong(std::string_view what) const { return WrongAt(record_line_, what); }
  absl::Status WrongAt(uint64_t line, std::string_view what) const;

 private:
  static constexpr uint64_t kRecordBytesMax = uint64_t{512} << 20;
  static constexpr size_t kFieldsMax = 100'000;

  int Get();
  // Skips a byte order mark at the start of the file.
  void SkipMark();
  // After SkipMark: the file begins with a byte of the mark of UTF-16, which no UTF-8 text has.
  bool IsUtf16() const;
  // True if the record is so large that a quote is probably missing.
  bool IsTooLarge() const { return bytes_read_ - record_begin_bytes_ > kRecordBytesMax; }
  bool EndsField(int c) const { return c == separator_ || c == '\n' || c == EOF; }
  absl::StatusOr<int> ReadQuoted(std::string& field);
  absl::StatusOr<int> ReadField(int first, std::string& field);

  std::FILE* const file_;
  const std::string name_;
  const char separator_;
  uint64_t line_ = 1;
  uint64_t record_line_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t record_begin_bytes_ = 0;  // bytes_read_ before the last record
  std::string start_;                // bytes that were read to look for a byte order mark
  size_t field_count_ = 0;           // of the first record
};

}  // namespace stele::cli
