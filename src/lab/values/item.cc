#include "lab/values/item.h"

#include <array>

namespace stele::internal::lab {
namespace {

constexpr std::array<std::string_view, kAttributeTypeCount> kTypeNames = {
    "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"};

}  // namespace

std::string_view TypeName(AttributeType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::optional<AttributeType> TypeOfName(std::string_view name) {
  for (size_t i = 0; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<AttributeType>(i);
  }
  return std::nullopt;
}

std::optional<uint32_t> Item::Find(std::string_view name) const {
  for (uint32_t i = 0; i < size(); i = nodes_[i].next) {
    if (nodes_[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace stele::internal::lab
