#include "lab/design/design_model.h"

#include <array>

namespace stele::internal::lab {
namespace {

struct NamedFormat {
  std::string_view name;
  RecordFormat format;
};
constexpr std::array<NamedFormat, 4> kFormats = {{{"csv", RecordFormat::kCsv},
                                                  {"tsv", RecordFormat::kTsv},
                                                  {"jsonl", RecordFormat::kJsonLines},
                                                  {"dynamodb", RecordFormat::kDynamoDb}}};

}  // namespace

std::string_view FormatName(RecordFormat format) {
  for (const NamedFormat& named : kFormats) {
    if (named.format == format) return named.name;
  }
  return "";
}

std::optional<RecordFormat> FormatOfName(std::string_view name) {
  for (const NamedFormat& named : kFormats) {
    if (named.name == name) return named.format;
  }
  return std::nullopt;
}

std::optional<RecordFormat> FormatOfFile(std::string_view file) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (!file.ends_with(packed)) continue;
    file.remove_suffix(packed.size());
    break;
  }
  const size_t dot = file.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  return FormatOfName(file.substr(dot + 1));
}

}  // namespace stele::internal::lab
