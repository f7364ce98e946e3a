// records/item_fields.h: the fields of a record that is a tree: "a.b" is the member b of the map a,
// and "a.0" the first element of the list a.
//
// Names may have dots: a member whose name is the whole rest of the path comes before a nested
// member. Strings, numbers, Booleans and bytes have a text. Maps, lists, sets and null have none.
//
// Threads:   thread-compatible.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/records/record_fields.h"
#include "lab/template/field_source.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

class ItemFields : public FieldSource {
 public:
  // The item must outlive the fields. `is_plain`: JSON texts are plain JSON. Otherwise they are lab
  // JSON, which has all types of DynamoDB.
  ItemFields(const Item& item, bool is_plain) : item_(item), is_plain_(is_plain) {}

  std::optional<std::string_view> Text(std::string_view field) const override;
  std::optional<std::string> Json(std::string_view field) const override;
  // The names of the record's own members, without those of nested maps.
  std::vector<std::string> Names() const override;
  // Returns all fields that have a text. Errors: those of FieldCollector.
  absl::StatusOr<RecordFields> All() const;

 private:
  std::optional<uint32_t> Find(std::string_view path) const;
  // Adds the fields among the nodes [begin, end), whose names follow `path`.
  absl::Status AddMembers(uint32_t begin, uint32_t end, bool is_list, std::string* path,
                          FieldCollector* fields) const;

  const Item& item_;
  const bool is_plain_;
};

}  // namespace stele::internal::lab
