// dynamodb/record_file.h: reads and checks the records of one data file.
//
// Errors:    a failed call is an error of the whole file: damaged data, a wrong sum or count. A bad
//            record has its own status.
// Threads:   confined to one thread.
// Memory:    that of LineReader and of RecordParser.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/dynamodb/export_directory.h"
#include "lab/dynamodb/record_parser.h"
#include "lab/input/line_reader.h"

namespace stele::internal::lab {

class RecordFile {
 public:
  // `verifies`: the MD5 must be the manifest's.
  static absl::StatusOr<std::unique_ptr<RecordFile>> Open(const DataFile& file, bool verifies);

  // Reads the next record; blank lines are skipped. Returns false at the end, after checking the
  // sum and the number of items.
  absl::StatusOr<bool> Next();

  // Why the record is bad, or OK. The other functions are for the record that was read.
  const absl::Status& status() const { return status_; }
  const Record& record() const { return record_; }
  std::string_view text() const { return line_.text; }
  uint64_t line_number() const { return line_.number; }

  uint64_t stored_bytes() const { return lines_.file().stored_bytes(); }
  // The MD5 of the file, at its end.
  const std::string& md5() const { return md5_; }

 private:
  RecordFile(const DataFile& file, bool verifies, std::unique_ptr<InputFile> input);
  absl::Status CheckEnd();

  const DataFile file_;
  const bool verifies_;
  LineReader lines_;
  RecordParser parser_;
  InputLine line_;
  Record record_;
  absl::Status status_;
  uint64_t record_count_ = 0;
  std::string md5_;
};

}  // namespace stele::internal::lab
