// design/map_fields.h: the fields of a record that a program has made.
//
// Threads:   values; thread-compatible.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/mapping/lab_json.h"
#include "lab/template/field_source.h"
#include "lab/template/template_function.h"
#include "stele/lab/design.h"

namespace stele::internal::lab {

class MapFields : public FieldSource {
 public:
  // `record` must outlive the object.
  explicit MapFields(const stele::lab::Design::Record& record) : record_(record) {}

  std::optional<std::string_view> Text(std::string_view field) const override {
    const auto found = record_.find(field);
    return found == record_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }
  std::optional<std::string> Json(std::string_view field) const override {
    const auto text = Text(field);
    if (!text.has_value()) return std::nullopt;
    return JsonString(*text, kTemplateTextBytesMax);
  }
  std::vector<std::string> Names() const override {
    std::vector<std::string> names;
    for (const auto& [name, text] : record_)
      if (names.size() < kNamesMax) names.push_back(name);
    return names;
  }

 private:
  const stele::lab::Design::Record& record_;
};

}  // namespace stele::internal::lab
