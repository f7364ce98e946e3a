// dynamodb/record_file.h: reads and checks the records of one data file.
//
// Format:    DynamoDB JSON, one record per line; or the output of `aws dynamodb scan` or `query`,
//            {"Items":[{...}],...}; or requests of batch-write-item,
//            {"TABLE":[{"PutRequest":{"Item":{...}}}]}. The beginning of the file determines which.
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
#include "lab/input/element_reader.h"
#include "lab/input/line_reader.h"
#include "lab/values/record_number.h"

namespace stele::internal::lab {

class RecordFile {
 public:
  // `verifies`: the MD5 must be the manifest's.
  static absl::StatusOr<std::unique_ptr<RecordFile>> Open(const DataFile& file, bool verifies);

  // Reads the next record; blank lines are skipped. Returns false at the end, after checking the
  // sum and the number of items.
  absl::StatusOr<bool> Next();

  // OK, or the reason why the record is bad. The following functions are about the last record.
  const absl::Status& status() const { return status_; }
  const Record& record() const { return record_; }
  std::string_view text() const { return text_; }
  uint64_t line_number() const { return line_number_; }
  // See record_number.h.
  uint64_t number() const { return lines_ != nullptr ? line_number_ : kItemBit | record_count_; }
  // The table that a request of batch-write-item names; "": another record.
  std::string_view request_table() const { return request_table_; }

  uint64_t stored_bytes() const { return input().stored_bytes(); }
  uint64_t checksum() const { return input().checksum(); }
  // At the end: true if the file is output of scan or query that says that there are more items.
  bool has_more_items() const { return elements_ != nullptr && elements_->has_more_items(); }
  // The MD5 of the file, at its end.
  const std::string& md5() const { return md5_; }

 private:
  RecordFile(const DataFile& file, bool verifies) : file_(file), verifies_(verifies) {}
  InputFile& input() const { return lines_ != nullptr ? lines_->file() : elements_->file(); }
  absl::StatusOr<bool> NextLine();
  absl::StatusOr<bool> NextElement();
  absl::Status ParseElement();
  absl::Status CheckEnd();

  const DataFile file_;
  const bool verifies_;
  std::unique_ptr<LineReader> lines_;  // either lines_ or elements_ is set
  std::unique_ptr<ElementReader> elements_;
  RecordParser parser_;
  std::string_view text_;
  uint64_t line_number_ = 0;
  std::string_view request_table_;
  Record record_;
  absl::Status status_;
  uint64_t record_count_ = 0;
  std::string md5_;
};

}  // namespace stele::internal::lab
