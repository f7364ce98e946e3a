#include "steled/services/row_errors.h"

#include <string>

#include "steled/base/errors.h"
#include "steled/state/open_tables.h"

namespace stele::server {
namespace {

constexpr std::string_view kUnknownFamily = "Requested column family not found";
constexpr std::string_view kOtherType = "Column family type mismatch";
constexpr std::string_view kDeleted = "was deleted";

}  // namespace

absl::Status WithBigtableText(const absl::Status& status, std::string_view row_key,
                              std::string_view wire_table_name) {
  const std::string text = TextOf(status);
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  const auto reworded = [&](std::string_view reason) {
    return MakeStatus(status.code(), fmt::format("Error while mutating the row '{}' ({}) : {}",
                                                 row_key, wire_table_name, reason));
  };
  if (absl::IsNotFound(status) && says(kUnknownFamily))
    return reworded("Requested column family not found.");
  if (absl::IsNotFound(status) && says(kDeleted)) return TableNotFound(wire_table_name);
  if (absl::IsInvalidArgument(status) && says(kOtherType)) return reworded(kOtherType);
  return status;
}

}  // namespace stele::server
