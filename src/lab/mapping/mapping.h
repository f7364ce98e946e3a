// mapping/mapping.h: describes how the items of a DynamoDB table are stored as rows. The mapping is
// stored with the table, so that the items can be read back.
//
// Format:    JSON in the table's property dynamodb.mapping, or in a file.
// Errors:    InvalidArgument that names the member.
// Threads:   values; thread-compatible.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/mapping/key_layout.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

inline constexpr std::string_view kMappingProperty = "dynamodb.mapping";
inline constexpr std::string_view kIndexProperty = "dynamodb.index";
inline constexpr std::string_view kGoogleProperty = "dynamodb.google";
inline constexpr std::string_view kImportProperty = "dynamodb.import";
inline constexpr std::string_view kAppliedUntilProperty = "dynamodb.applied_until";
// The limit for the bytes of the names of types in a property.
inline constexpr size_t kTypesBytesMax = size_t{60} << 10;

using TypeMap = std::map<std::string, AttributeType, std::less<>>;

struct Mapping {
  std::string table;  // in DynamoDB
  KeyLayout key;
  bool sets_as_columns = true;
  bool maps_as_columns = false;
  std::set<std::string, std::less<>> counters;  // N attributes of 8 bytes big-endian
  std::string ttl;                              // the attribute of the expiry time, or ""
  // The type of an attribute in rows whose cell t:types does not list it.
  TypeMap types;

  std::string ToJson() const;
  static absl::StatusOr<Mapping> Parse(std::string_view json);
};

// How the rows of an index table are stored: its property dynamodb.index, in JSON.
struct IndexMapping {
  std::string index_of;          // the table with the items, in the same database
  bool has_item_copies = false;  // false: a row has only the cell i:key, the row key in `index_of`
  KeyLayout key;

  std::string ToJson() const;
  static absl::StatusOr<IndexMapping> Parse(std::string_view json);
};

// The families of a row. Items that expire have separate families with an age rule.
struct FamilyNames {
  std::string_view attributes;
  std::string_view sets;
  std::string_view maps;
  std::string_view types;
};
inline constexpr FamilyNames kFamilies = {"a", "s", "m", "t"};
inline constexpr FamilyNames kExpiringFamilies = {"x", "xs", "xm", "xt"};
inline constexpr std::string_view kTypesQualifier = "types";
inline constexpr std::string_view kIndexFamily = "i";
inline constexpr std::string_view kExpiringIndexFamily = "xi";
inline constexpr std::string_view kIndexQualifier = "key";

}  // namespace stele::internal::lab
