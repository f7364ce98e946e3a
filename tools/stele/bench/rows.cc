#include "bench/rows.h"

#include <algorithm>

#include "base/status.h"
#include "bench/random.h"

namespace stele::cli {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr int kWidthMax = 20;
constexpr uint64_t kMatchingRows = 10;  // 1 row in 10

int DigitsOf(uint64_t number) { return static_cast<int>(std::to_string(number).size()); }

absl::Status WrongFormat(std::string_view text) {
  return internal::InvalidArgument(
      "--key-format must be user, hash, or a text with one %d or %0Nd (N from 1 to 20), not \"{}\"",
      text);
}

// Random printable bytes, each run of eight followed by eight equal ones.
std::string MakePool(uint64_t seed, uint64_t bytes) {
  static constexpr std::string_view kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/";
  BenchRandom random(seed);
  std::string pool;
  pool.reserve(bytes + 16);
  while (pool.size() < bytes) {
    uint64_t bits = random.Next();
    for (int i = 0; i < 8; ++i, bits >>= 6) pool += kLetters[bits % 64];
    pool.append(8, kLetters[bits % 64]);
  }
  return pool;
}

}  // namespace

absl::StatusOr<KeyFormat> KeyFormat::Parse(std::string_view text) {
  KeyFormat format;
  format.text_ = text;
  if (text == "hash") {
    format.is_hash_ = true;
    return format;
  }
  if (text == "user") {
    format.before_ = "user";
    format.width_ = 12;
    return format;
  }
  const size_t percent = text.find('%');
  const size_t end = percent == text.npos ? text.npos : text.find('d', percent);
  if (end == text.npos || text.find('%', percent + 1) != text.npos) return WrongFormat(text);
  const std::string_view width = text.substr(percent + 1, end - percent - 1);
  if (!width.empty()) {
    if (width[0] != '0' || width.size() < 2 || width.size() > 3 ||
        !std::all_of(width.begin(), width.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return WrongFormat(text);
    format.width_ = std::stoi(std::string(width));
    if (format.width_ < 1 || format.width_ > kWidthMax) return WrongFormat(text);
  }
  format.before_ = text.substr(0, percent);
  format.after_ = text.substr(end + 1);
  if (format.LowerBound() <= kMarkerRow)
    return internal::InvalidArgument(
        "--key-format \"{}\": the text before %d must be greater than \"{}\", the row that marks a "
        "table of bench",
        internal::Printable(text), kMarkerRow);
  return format;
}

std::string KeyFormat::KeyOf(uint64_t number) const {
  if (is_hash_) return fmt::format("{:016x}", Fnv1a(number));
  const std::string digits = std::to_string(number);
  const size_t width = static_cast<size_t>(width_);
  std::string key = before_;
  if (digits.size() < width) key.append(width - digits.size(), '0');
  return key.append(digits).append(after_);
}

bool KeyFormat::IsAscending(uint64_t rows) const {
  return !is_hash_ && width_ >= DigitsOf(rows - 1);
}

std::string FieldName(uint64_t field) { return "field" + std::to_string(field); }

ValueMaker::ValueMaker(uint64_t seed, uint64_t value_bytes)
    : value_bytes_(value_bytes), pool_(MakePool(seed, kPoolBytes + value_bytes)) {}

std::string_view ValueMaker::Make(uint64_t row, uint64_t field, uint64_t version) {
  const uint64_t offset = Fnv1a(row * 1'000'003 + field * 1'009 + version) % kPoolBytes;
  const std::string_view plain = std::string_view(pool_).substr(offset, value_bytes_);
  if (field != 0 || row % kMatchingRows != 0 || plain.empty()) return plain;
  value_ = plain;
  value_[0] = '#';
  return value_;
}

}  // namespace stele::cli
