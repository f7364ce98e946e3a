// import_modes/attribute_counts.h: counts the types of each attribute.
//
// Threads:   confined to one thread.
// Memory:    at most kNamesMax names and kNameBytesMax bytes. Other attributes are not counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lab/mapping/mapping.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

class AttributeCounts {
 public:
  static constexpr size_t kNamesMax = 10'000;
  static constexpr size_t kNameBytesMax = size_t{4} << 20;
  using TypeCounts = std::array<uint64_t, kAttributeTypeCount>;

  void Add(std::string_view name, AttributeType type);

  // The most common type of each attribute; if several are equally common, the first one of S N B
  // BOOL NULL M L SS NS BS. Attributes that few items have are left out if the names have more than
  // kTypesBytesMax bytes.
  TypeMap CommonTypes() const;
  // True if an attribute has several types, or is not in `types`.
  bool HasOtherTypes(const TypeMap& types) const;

  const std::map<std::string, TypeCounts, std::less<>>& counts() const { return counts_; }
  // False if attributes were not counted.
  bool is_complete() const { return is_complete_; }

 private:
  std::map<std::string, TypeCounts, std::less<>> counts_;
  size_t name_bytes_ = 0;
  bool is_complete_ = true;
};

}  // namespace stele::internal::lab
