#include "lab/dynamodb/json_document.h"

#include <algorithm>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kCapacityMin = size_t{64} << 10;

absl::Status JsonStatus(simdjson::error_code error) {
  if (error == simdjson::SUCCESS) return absl::OkStatus();
  if (error == simdjson::MEMALLOC)
    return internal::ResourceExhausted("not enough memory to parse the JSON document");
  return internal::InvalidArgument("not one JSON document: {}", simdjson::error_message(error));
}

}  // namespace

bool IsUtf8(std::string_view bytes) { return simdjson::validate_utf8(bytes.data(), bytes.size()); }

absl::Status JsonParser::Reserve(size_t bytes) {
  if (parser_.capacity() >= bytes) return absl::OkStatus();
  return JsonStatus(parser_.allocate(std::max(kCapacityMin, bytes + bytes / 2), depth_max_));
}

absl::Status JsonParser::Parse(std::string_view json, simdjson::dom::element* document) {
  STELE_RETURN_IF_ERROR(Reserve(json.size()));
  return JsonStatus(parser_.parse(json.data(), json.size(), false).get(*document));
}

absl::Status JsonParser::ParseCopy(std::string_view json, simdjson::dom::element* document) {
  STELE_RETURN_IF_ERROR(Reserve(json.size()));
  return JsonStatus(parser_.parse(json.data(), json.size(), true).get(*document));
}

}  // namespace stele::internal::lab
