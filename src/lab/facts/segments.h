// facts/segments.h: the segments of row keys: the parts between delimiters.
//
// Threads:   values and pure functions; thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stele::internal::lab {

inline constexpr size_t kSegmentsMax = 8;  // later ones are not examined

// Separates the fields of a key in ordered code. Encoded numbers may contain it, too.
inline constexpr std::string_view kFieldSeparator{"\0\1", 2};

// How keys are split.
struct SegmentPlan {
  std::string delimiter;      // "": the whole key is one segment
  size_t parts_max = 0;       // the last part may contain the delimiter. 0: no limit
  size_t declared_parts = 0;  // the number of segments that a design declares. 0: unknown
  bool has_binary = false;    // keys have encoded numbers or bytes
  bool is_ordered = false;    // fields in ordered code: kFieldSeparator is between them
  // True if the first segment spreads neighbouring keys on purpose: reversed digits or a bucket.
  bool is_spread = false;
};

struct Segments {
  std::array<std::string_view, kSegmentsMax> values;
  size_t count = 0;         // may exceed kSegmentsMax
  std::string_view last;    // the last segment
  std::string_view prefix;  // everything before the last segment

  size_t examined() const { return count < kSegmentsMax ? count : kSegmentsMax; }
};

Segments SplitKey(std::string_view row_key, const SegmentPlan& plan);

// Chooses a delimiter from the keys: the one of # / : | that is in most of them, if it is in at
// least 0.95.
class DelimiterChoice {
 public:
  void Add(std::string_view row_key);
  std::string Choose() const;
  uint64_t keys() const { return keys_; }

 private:
  std::array<uint64_t, 4> counts_ = {};
  uint64_t keys_ = 0;
};

}  // namespace stele::internal::lab
