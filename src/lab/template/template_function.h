// template/template_function.h: the functions that a template applies to a field.
//
// Errors:    InvalidArgument that names the function, for a text that it cannot convert, and for a
//            result of more than kTemplateTextBytesMax bytes, which is not built.
// Threads:   values and pure functions.
// Source:    stele/keys.h has the functions for keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::internal::lab {

// The largest value that a cell may have. A text is not larger before a function or after it.
inline constexpr size_t kTemplateTextBytesMax = size_t{256} << 20;

struct TemplateFunction {
  enum class Kind : uint8_t {
    kOr,     // `text` if the field is absent or empty
    kJson,   // the JSON text of the field. It is the first function
    kLower,  // ASCII
    kUpper,
    kTrim,
    kSubstring,  // `number` bytes are skipped, and at most `length` bytes are kept
    kSeconds,    // a time as digits
    kMillis,
    kMicros,
    kDay,    // yyyymmdd
    kHour,   // yyyymmddhh
    kMonth,  // yyyymm
    kIsoDay,
    kPad,  // to `number` digits
    kReverseTimestamp,
    kReverseDate,
    kReverseDigits,  // padded to `number` digits; 0: not padded
    kReverseDomain,
    kSalt,        // of `number` buckets
    kBucketTime,  // `number` microseconds wide; `length` is a keys::TimeUnit
    kEscape       // `text` is the delimiter
  };

  Kind kind = Kind::kOr;
  std::string text = {};
  int64_t number = 0;
  int64_t length = 0;

  friend bool operator==(const TemplateFunction&, const TemplateFunction&) = default;
};

// Parses NAME or NAME:ARGUMENT.
absl::StatusOr<TemplateFunction> ParseTemplateFunction(std::string_view spelled);
// Returns the function's result for the text of a field. kOr and kJson are the template's task.
absl::StatusOr<std::string> Apply(const TemplateFunction& function, std::string_view text);

}  // namespace stele::internal::lab
