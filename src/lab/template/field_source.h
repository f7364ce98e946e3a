// template/field_source.h: the fields of one record, by name.
//
// Threads:   thread-compatible.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stele::internal::lab {

class FieldSource {
 public:
  virtual ~FieldSource() = default;

  // Returns the text of a field, or nothing if the field is absent. The text is valid as long as
  // the record.
  virtual std::optional<std::string_view> Text(std::string_view field) const = 0;
  // Returns the JSON text of a field. Objects and arrays have one, but no Text().
  virtual std::optional<std::string> Json(std::string_view field) const = 0;
};

}  // namespace stele::internal::lab
