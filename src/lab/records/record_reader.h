// records/record_reader.h: reads the records of an input of any format, one at a time.
//
// Errors:    a failed call is an error of the whole input: damaged data, a wrong header. A bad
//            record has its own status.
// Threads:   confined to one thread.
// Memory:    the largest record, at most 64 MiB (DynamoDB: 16 MiB).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/records/record_fields.h"
#include "lab/template/field_source.h"

namespace stele::internal::lab {

inline constexpr size_t kTextRecordBytesMax = size_t{64} << 20;

class RecordReader {
 public:
  virtual ~RecordReader() = default;

  // Reads the next record; blank lines are skipped. Returns false at the end.
  virtual absl::StatusOr<bool> Next() = 0;

  // OK, or the reason why the record is bad. The following functions are about the last record.
  virtual const absl::Status& status() const = 0;
  virtual const FieldSource& fields() const = 0;
  // Returns all fields that have a text: a member of a nested map is "a.b", and an element "a.0".
  virtual absl::StatusOr<RecordFields> AllFields() const = 0;
  // The names of the fields in their order, if all records have the same: those of CSV and TSV.
  // Null for other formats.
  virtual const std::vector<std::string>* header() const { return nullptr; }
  // The bytes of the record. Of one that is too long, the beginning.
  virtual std::string_view text() const = 0;
  // The line on which the record begins, from 1.
  virtual uint64_t line_number() const = 0;
  // See record_number.h.
  virtual uint64_t number() const { return line_number(); }

  // How many bytes of the file were read.
  virtual uint64_t stored_bytes() const = 0;
  // A checksum of the bytes that were read, after decompression.
  virtual uint64_t checksum() const = 0;
};

}  // namespace stele::internal::lab
