// tools/stele/bench/rows.h: the row keys and values of `stele bench`, computed from numbers alone.
//
// Values:    Printable. Half of the bytes are random, the other half repeats. One row in ten has a
//            first field that begins with '#', which no other value does.
// Threads:   Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::cli {

// The row that marks a table of bench on a server. All keys of KeyFormat are greater.
inline constexpr char kMarkerRow[] = "!bench";

// Converts row numbers to row keys.
class KeyFormat {
 public:
  // "user" (user and 12 digits), "hash" (16 hex digits of Fnv1a), or a printf format with one %d or
  // %0Nd. Errors: InvalidArgument for other texts, and for a format whose LowerBound() is not
  // greater than kMarkerRow.
  static absl::StatusOr<KeyFormat> Parse(std::string_view text);

  std::string KeyOf(uint64_t number) const;
  // No key is less.
  std::string LowerBound() const { return before_.empty() ? "0" : before_; }
  const std::string& text() const { return text_; }
  // True if the keys of the numbers below `rows` are ascending.
  bool IsAscending(uint64_t rows) const;
  // True if the keys of a hundred numbers share a prefix that no other key has.
  bool HasPrefixes(uint64_t rows) const {
    return IsAscending(rows) && after_.empty() && width_ > 2;
  }

 private:
  std::string text_;
  bool is_hash_ = false;
  std::string before_;
  std::string after_;
  int width_ = 0;  // digits, at least; 0: no padding
};

inline constexpr std::string_view kBenchFamily = "f";
inline constexpr std::string_view kCounterColumn = "counter";
// A value regex that one row in ten matches.
inline constexpr std::string_view kMatchingValue = "#.*";

std::string FieldName(uint64_t field);

// Values of one length.
class ValueMaker {
 public:
  ValueMaker(uint64_t seed, uint64_t value_bytes);
  // Returns the value of a cell. Valid until the next call.
  std::string_view Make(uint64_t row, uint64_t field, uint64_t version);

 private:
  const uint64_t value_bytes_;
  std::string pool_;
  std::string value_;
};

}  // namespace stele::cli
