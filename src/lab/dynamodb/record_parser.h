// dynamodb/record_parser.h: parses DynamoDB JSON, one record at a time.
//
// Errors:    InvalidArgument that names the attribute and the reason. The caller adds the position.
// Threads:   confined to one thread.
// Memory:    about ten times the record, reused for the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

inline constexpr size_t kRecordBytesMax = size_t{16} << 20;
// The number of bytes after the record that the parser reads but does not use.
inline constexpr size_t kRecordPaddingBytes = 64;
// DynamoDB's limit for lists and maps in each other.
inline constexpr int kNestingMax = 32;

// What errors advise for JSON that is not DynamoDB's.
inline constexpr std::string_view kPlainJsonAdvice = "for plain JSON, use stele load with a design";

// The contents of a record.
struct Record {
  // True for {"Metadata":..,"Keys":..,"NewImage":..}, a line of an incremental export. False for
  // {"Item":..}.
  bool is_change = false;
  bool has_item = false;  // false: the change deletes the item
  Item item;              // Item or NewImage
  Item keys;              // of a change
  int64_t write_micros = 0;
};

class RecordParser {
 public:
  RecordParser();
  ~RecordParser();
  RecordParser(const RecordParser&) = delete;
  RecordParser& operator=(const RecordParser&) = delete;

  // Parses one record. At least kRecordPaddingBytes bytes after `json` must be readable. The texts
  // in `record` are valid until the next call. If it fails, `record` is unspecified.
  //
  // Checks everything that DynamoDB checks: types, numbers, base64, UTF-8, sets without repeated
  // members, names without repetition, and nesting.
  absl::Status ParseLine(std::string_view json, Record* record);
  // The same for a request of batch-write-item: {"PutRequest":{"Item":{...}}}. A DeleteRequest is
  // an error.
  absl::Status ParseRequest(std::string_view json, Record* record);
  // The same for the attributes alone: {"name":{"S":"text"},...}.
  absl::Status ParseAttributes(std::string_view json, Item* item);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stele::internal::lab
