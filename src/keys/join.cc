#include <algorithm>

#include "base/status.h"
#include "stele/keys.h"

namespace stele {
inline namespace v0 {
namespace keys {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

absl::Status CheckEscapedDelimiter(std::string_view delimiter) {
  if (delimiter.empty()) return internal::InvalidArgument("the delimiter is empty");
  for (const char c : delimiter) {
    if (c != '%' && kHexDigits.find(c) == std::string_view::npos) continue;
    return internal::InvalidArgument(
        "the delimiter \"{}\" contains '{}', which escapes use: choose another delimiter",
        internal::Printable(delimiter), c);
  }
  return absl::OkStatus();
}

bool MustEscape(char c, std::string_view delimiter) {
  return c == '%' || delimiter.find(c) != std::string_view::npos;
}

absl::StatusOr<std::string> Unescaped(std::string_view part, std::string_view delimiter,
                                      size_t part_offset) {
  std::string bytes;
  bytes.reserve(part.size());
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      if (MustEscape(part[i], delimiter)) {
        return internal::InvalidArgument("byte {} of the key, '{}', is not escaped",
                                         part_offset + i, internal::Printable(part.substr(i, 1)));
      }
      bytes += part[i];
      continue;
    }
    const size_t high = i + 2 < part.size() ? kHexDigits.find(part[i + 1]) : std::string_view::npos;
    const size_t low = i + 2 < part.size() ? kHexDigits.find(part[i + 2]) : std::string_view::npos;
    const bool is_hex = high != std::string_view::npos && low != std::string_view::npos;
    const char c = is_hex ? static_cast<char>(high * 16 + low) : '\0';
    if (!is_hex || !MustEscape(c, delimiter)) {
      return internal::InvalidArgument("byte {} of the key begins no escape of this delimiter",
                                       part_offset + i);
    }
    bytes += c;
    i += 2;
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> Join(std::span<const std::string_view> parts,
                                 std::string_view delimiter) {
  if (parts.empty()) return internal::InvalidArgument("a key needs at least one part");
  if (delimiter.empty()) return internal::InvalidArgument("the delimiter is empty");
  std::string row_key(parts[0]);
  for (const std::string_view part : parts.subspan(1)) row_key.append(delimiter).append(part);
  // With a delimiter of several bytes, a part may also form one with its neighbour.
  const std::vector<std::string_view> split = Split(row_key, delimiter);
  if (std::equal(split.begin(), split.end(), parts.begin(), parts.end())) return row_key;
  for (const std::string_view part : parts) {
    if (part.find(delimiter) == std::string_view::npos) continue;
    return internal::InvalidArgument(
        "part \"{}\" contains the delimiter \"{}\": escape it, or choose another delimiter",
        internal::Printable(part), internal::Printable(delimiter));
  }
  return internal::InvalidArgument(
      "the end of a part and the delimiter \"{0}\" after it contain \"{0}\" twice: escape the "
      "parts, or choose another delimiter",
      internal::Printable(delimiter));
}

absl::StatusOr<std::string> JoinEscaped(std::span<const std::string_view> parts,
                                        std::string_view delimiter) {
  if (parts.empty()) return internal::InvalidArgument("a key needs at least one part");
  STELE_RETURN_IF_ERROR(CheckEscapedDelimiter(delimiter));
  size_t bytes = delimiter.size() * (parts.size() - 1);
  for (const std::string_view part : parts) {
    for (const char c : part) bytes += MustEscape(c, delimiter) ? 3 : 1;
  }
  std::string row_key;
  row_key.reserve(bytes);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) row_key += delimiter;
    for (const char c : parts[i]) {
      if (!MustEscape(c, delimiter)) {
        row_key += c;
        continue;
      }
      const auto byte = static_cast<unsigned char>(c);
      row_key += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return row_key;
}

std::vector<std::string_view> Split(std::string_view row_key, std::string_view delimiter) {
  std::vector<std::string_view> parts;
  size_t next = std::string_view::npos;
  while (!delimiter.empty() && (next = row_key.find(delimiter)) != std::string_view::npos) {
    parts.push_back(row_key.substr(0, next));
    row_key.remove_prefix(next + delimiter.size());
  }
  parts.push_back(row_key);
  return parts;
}

absl::StatusOr<std::vector<std::string>> SplitEscaped(std::string_view row_key,
                                                      std::string_view delimiter) {
  STELE_RETURN_IF_ERROR(CheckEscapedDelimiter(delimiter));
  std::vector<std::string> parts;
  size_t offset = 0;
  for (const std::string_view part : Split(row_key, delimiter)) {
    STELE_ASSIGN_OR_RETURN(std::string bytes, Unescaped(part, delimiter, offset));
    parts.push_back(std::move(bytes));
    offset += part.size() + delimiter.size();
  }
  return parts;
}

}  // namespace keys
}  // namespace v0
}  // namespace stele
