#include "status.h"

#include <string>

#include "errors.h"
#include "open_tables.h"

namespace stele::server {
namespace {

constexpr std::string_view kUnknownFamily = "Requested column family not found";
constexpr std::string_view kOtherType = "Column family type mismatch";
constexpr std::string_view kDeleted = "was deleted";

// A status travels in a header, which takes no control characters and only so many bytes.
std::string Readable(std::string_view text) {
  constexpr size_t kTextBytesMax = 2048;
  std::string readable;
  for (const char c : text.substr(0, kTextBytesMax)) {
    if (c >= ' ' && c <= '~') {
      readable.push_back(c);
    } else {
      readable += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return readable;
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  // gRPC took its codes from the same list.
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()), Readable(TextOf(status)));
}

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
