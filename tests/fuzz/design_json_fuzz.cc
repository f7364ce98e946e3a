// tests/fuzz/design_json_fuzz.cc: parses bytes as a line of JSON lines.
//
// Finds:     a read beyond the bytes; JSON that another parser accepts and this one does not; a
//            value whose JSON text is another value.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "base/status.h"
#include "lab/records/json_item.h"

namespace {

using stele::internal::lab::AppendPlainJson;
using stele::internal::lab::Item;
using stele::internal::lab::ParseJsonItem;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  Item item;
  const absl::Status status = ParseJsonItem(json, &item);
  const bool is_object = json.find_first_not_of(" \t\r\n") < json.size() &&
                         json[json.find_first_not_of(" \t\r\n")] == '{';
  if (!status.ok()) {
    const std::string_view why = stele::internal::ToStd(status.message());
    const bool is_stricter = why.ends_with("occurs twice") || why.ends_with("levels");
    // The other parser ends at a zero byte.
    STELE_CHECK(!is_object || is_stricter || json.find('\0') != json.npos ||
                !nlohmann::json::accept(json));
    return 0;
  }
  STELE_CHECK(is_object);
  // Each value, in an object of its own.
  for (uint32_t i = 0; i < item.size(); i = item[i].next) {
    std::string again = "{\"a\":";
    AppendPlainJson(item, i, &again);
    again += '}';
    Item copy;
    STELE_CHECK(ParseJsonItem(again, &copy).ok());
    std::string text;
    AppendPlainJson(copy, 0, &text);
    STELE_CHECK("{\"a\":" + text + "}" == again);
  }
  return 0;
}
