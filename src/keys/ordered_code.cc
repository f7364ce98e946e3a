#include "keys/ordered_code.h"

#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr std::string_view kSeparator("\x00\x01", 2);
constexpr std::string_view kEmptyField("\x00\x00", 2);
constexpr std::string_view kZeroByte("\x00\xff", 2);
constexpr int kNumberBytesMax = 10;

// Returns the smallest n with number < 2^(7n-1).
int OrderedBytes(uint64_t number) {
  int bytes = 1;
  while (bytes < kNumberBytesMax && (number >> (7 * bytes - 1)) != 0) ++bytes;
  return bytes;
}

// Appends a number below 2^63: its bytes big-endian, with the first n bits set and the next one
// clear.
void AppendOrderedNatural(uint64_t number, unsigned char complement, std::string* out) {
  const int bytes = OrderedBytes(number);
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (bytes - 1 - i);
    auto byte = static_cast<unsigned char>(shift < 64 ? number >> shift : 0);
    // The first `bytes` bits of the encoding are set.
    const int set = bytes - 8 * i;
    if (set >= 8) {
      byte = 0xff;
    } else if (set > 0) {
      byte |= static_cast<unsigned char>(0xff << (8 - set));
    }
    out->push_back(static_cast<char>(byte ^ complement));
  }
}

}  // namespace

void AppendOrderedInt64(int64_t number, std::string* out) {
  if (number >= 0) {
    AppendOrderedNatural(static_cast<uint64_t>(number), 0, out);
  } else {
    AppendOrderedNatural(static_cast<uint64_t>(-(number + 1)), 0xff, out);
  }
}

absl::StatusOr<int64_t> ParseOrderedInt64(std::string_view bytes) {
  const auto wrong = [&] {
    return InvalidArgument("\"{}\" is not a number in ordered code", Printable(bytes));
  };
  if (bytes.empty() || bytes.size() > kNumberBytesMax) return wrong();
  const bool is_negative = (static_cast<unsigned char>(bytes[0]) & 0x80) == 0;
  // The value bits are below the `size` set bits and the clear bit.
  const int value_bits = 7 * static_cast<int>(bytes.size()) - 1;
  uint64_t number = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    number = number << 8 | static_cast<unsigned char>(is_negative ? ~byte : byte);
  }
  if (value_bits < 64) number &= (uint64_t{1} << value_bits) - 1;
  if (number >> 63 != 0) return wrong();
  const auto value = static_cast<int64_t>(number);
  const int64_t result = is_negative ? -value - 1 : value;
  std::string again;
  AppendOrderedInt64(result, &again);
  if (again != bytes) return wrong();
  return result;
}

std::string_view OrderedSeparator() { return kSeparator; }

std::string JoinOrdered(const std::vector<std::string>& fields) {
  std::string row_key;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row_key += kSeparator;
    if (fields[i].empty()) row_key += kEmptyField;
    for (const char c : fields[i]) {
      if (c == '\0') {
        row_key += kZeroByte;
      } else {
        row_key += c;
      }
    }
  }
  return row_key;
}

absl::StatusOr<std::vector<OrderedField>> SplitOrdered(std::string_view row_key) {
  std::vector<OrderedField> fields;
  if (row_key == kEmptyField) return fields;
  OrderedField field;
  bool is_marked_empty = false;
  for (size_t i = 0; i < row_key.size();) {
    const std::string_view pair = row_key.substr(i, 2);
    if (row_key[i] == '\0' && pair == kSeparator) {
      if (field.bytes.empty() && !is_marked_empty)
        return InvalidArgument("byte {}: an empty field must be 0000", i);
      const size_t next = i + 2;
      fields.push_back(std::exchange(field, OrderedField{.bytes = "", .offset = next}));
      is_marked_empty = false;
    } else if (is_marked_empty || (pair == kEmptyField && !field.bytes.empty())) {
      return InvalidArgument("byte {}: 0000 is next to other bytes of its field", i);
    } else if (pair == kEmptyField) {
      is_marked_empty = true;
    } else if (pair == kZeroByte) {
      field.bytes += '\0';
    } else if (row_key[i] == '\0') {
      return InvalidArgument("byte {}: 00 is not followed by 00, 01 or ff", i);
    } else {
      field.bytes += row_key[i++];
      continue;
    }
    i += 2;
  }
  if (field.bytes.empty())
    return InvalidArgument("byte {}: an empty field at the end must be omitted", field.offset);
  fields.push_back(std::move(field));
  return fields;
}

}  // namespace stele::internal
