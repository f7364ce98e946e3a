#include "status.h"

#include <string>

#include "errors.h"
#include "open_tables.h"

namespace stele::server {
namespace {

constexpr std::string_view kUnknownFamily = "Requested column family not found";
constexpr std::string_view kOtherType = "Column family type mismatch";
constexpr std::string_view kDeleted = "was deleted";

}  // namespace

std::string ReadableText(const absl::Status& status) {
  // Clients take 8 KiB of headers, in which a character may take three bytes.
  constexpr size_t kTextBytesMax = 2048;
  const std::string text = TextOf(status);
  std::string readable;
  for (size_t i = 0; i < text.size() && readable.size() + 4 <= kTextBytesMax; ++i) {
    if (text[i] >= ' ' && text[i] <= '~') {
      readable.push_back(text[i]);
    } else {
      readable += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    }
  }
  return readable;
}

absl::Status Readable(const absl::Status& status) { return status.ok() ? status : MakeStatus(status.code(), ReadableText(status)); }

absl::Status OfRow(const absl::Status& status, std::string_view row_key, std::string_view wire_table_name) {
  const std::string text = TextOf(status);
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  const auto reworded = [&](std::string_view reason) {
    return MakeStatus(status.code(), fmt::format("Error while mutating the row '{}' ({}) : {}", row_key, wire_table_name, reason));
  };
  if (absl::IsNotFound(status) && says(kUnknownFamily)) return reworded("Requested column family not found.");
  if (absl::IsNotFound(status) && says(kDeleted)) return TableNotFound(wire_table_name);
  if (absl::IsInvalidArgument(status) && says(kOtherType)) return reworded(kOtherType);
  return status;
}

}  // namespace stele::server
