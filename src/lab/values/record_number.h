// values/record_number.h: the number of a record in its file, in ascending order.
//
// A record that begins a line has the number of its line. Items of an array may share a line, so
// they are counted.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fmt/format.h"

namespace stele::internal::lab {

// Numbers are smaller. This bit marks those of items.
inline constexpr int kRecordNumberBits = 40;
inline constexpr uint64_t kItemBit = uint64_t{1} << (kRecordNumberBits - 1);

// "FILE:LINE", or "FILE, item NUMBER" with a number from 1.
inline std::string RecordName(std::string_view file, uint64_t number) {
  return number < kItemBit ? fmt::format("{}:{}", file, number)
                           : fmt::format("{}, item {}", file, number - kItemBit);
}

}  // namespace stele::internal::lab
