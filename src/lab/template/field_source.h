// template/field_source.h: the fields of one record, by name.
//
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal::lab {

class FieldSource {
 public:
  virtual ~FieldSource() = default;

  // Returns the text of a field, or nothing if the field is absent. The text is valid as long as
  // the record.
  virtual std::optional<std::string_view> Text(std::string_view field) const = 0;
  // Returns the JSON text of a field. Objects and arrays have one, but no Text(). A text of more
  // than kTemplateTextBytesMax bytes may be cut. It is still longer than this limit, so every
  // template rejects it.
  virtual std::optional<std::string> Json(std::string_view field) const = 0;
  // Returns the names of fields that the record may have, for messages; at most kNamesMax.
  virtual std::vector<std::string> Names() const = 0;

  static constexpr size_t kNamesMax = 100;
};

}  // namespace stele::internal::lab
