// bench/compare/tally.h: the consumer of all data read. It touches each cell, counts, and computes
// a hash, so that engines can be compared.
//
// Order:     The hash depends on the order of rows. It does not depend on the order of cells in a
//            row, in which engines differ when they read backwards.
// Touches:   The row key, and for each cell its family, qualifier, timestamp and both ends of its
//            value.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stele_compare {

class Tally {
 public:
  enum class Timestamps : uint8_t { kHashed, kIgnored };
  explicit Tally(Timestamps timestamps = Timestamps::kHashed)
      : timestamp_mask_(timestamps == Timestamps::kHashed ? ~uint64_t{0} : 0) {}

  // Starts a row. Its cells follow.
  void Row(std::string_view row_key) {
    EndRow();
    ++rows_;
    row_sum_ = Ends(row_key) * kMultiplier;
  }
  void Cell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
            std::string_view value) {
    ++cells_;
    uint64_t bits = (static_cast<uint64_t>(timestamp_micros) & timestamp_mask_) ^
                    (Ends(value) + (Ends(qualifier) << 7) + (Ends(family) << 23));
    bits *= kMultiplier;
    row_sum_ += (bits ^ (bits >> 29)) * kSecondMultiplier;
  }
  // Call after the last row.
  void Finish() {
    EndRow();
    row_sum_ = 0;
  }

  uint64_t rows() const { return rows_; }
  uint64_t cells() const { return cells_; }
  uint64_t hash() const { return hash_; }

 private:
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  static constexpr uint64_t kSecondMultiplier = 0xd6e8feb86659fd93;

  // The first and the last eight bytes, or all bytes if there are fewer.
  static uint64_t Ends(std::string_view bytes) {
    uint64_t first = 0;
    uint64_t last = 0;
    if (bytes.size() >= 8) {
      std::memcpy(&first, bytes.data(), 8);
      std::memcpy(&last, bytes.data() + bytes.size() - 8, 8);
    } else {
      for (const char byte : bytes) first = (first << 8) | static_cast<unsigned char>(byte);
    }
    return first + last * 31 + bytes.size();
  }
  void EndRow() {
    hash_ = (hash_ ^ row_sum_) * kMultiplier;
    hash_ ^= hash_ >> 32;
  }

  const uint64_t timestamp_mask_;
  uint64_t rows_ = 0;
  uint64_t cells_ = 0;
  uint64_t row_sum_ = 0;  // of the current row
  uint64_t hash_ = 0;
};

}  // namespace stele_compare
