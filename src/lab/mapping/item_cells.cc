#include "lab/mapping/item_cells.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/mapping/lab_json.h"
#include "lab/values/decimal.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kItemQualifierBytesMax = 16384;
constexpr size_t kItemCellsMax = 99'000;  // a mutation has at most 100,000 changes
constexpr std::string_view kMemberMark{"\0", 1};
constexpr std::string_view kEmptyMap = "{}";

// Returns NAME#, where NAME has %25 for '%' and %23 for '#'.
std::string MemberPrefix(std::string_view name) {
  std::string prefix;
  for (const char c : name) {
    if (c == '%') {
      prefix.append("%25");
    } else if (c == '#') {
      prefix.append("%23");
    } else {
      prefix.push_back(c);
    }
  }
  return prefix + '#';
}

// Splits a qualifier that begins with MemberPrefix(name). Returns the name and the member.
std::optional<std::pair<std::string, std::string_view>> SplitMember(std::string_view qualifier) {
  const size_t at = qualifier.find('#');
  if (at == std::string_view::npos) return std::nullopt;
  std::string name;
  for (std::string_view rest = qualifier.substr(0, at); !rest.empty();) {
    if (rest.starts_with("%25") || rest.starts_with("%23")) {
      name.push_back(rest[2] == '5' ? '%' : '#');
      rest.remove_prefix(3);
    } else if (rest[0] == '%') {
      return std::nullopt;
    } else {
      name.push_back(rest[0]);
      rest.remove_prefix(1);
    }
  }
  return std::pair(std::move(name), qualifier.substr(at + 1));
}

bool IsMemberwise(const Mapping& mapping, AttributeType type) {
  return (IsSet(type) && mapping.sets_as_columns) ||
         (type == AttributeType::kMap && mapping.maps_as_columns);
}

std::string CounterBytes(int64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>((static_cast<uint64_t>(number) >> shift) & 0xff));
  return bytes;
}

absl::Status CheckCounter(std::string_view name, std::string_view text) {
  const auto number = ToInt64(*ParseDecimal(text));
  if (number.has_value() && std::to_string(*number) == text) return absl::OkStatus();
  return internal::InvalidArgument(
      "the counter \"{}\" is {}, which is not a whole number of 64 bits in plain digits",
      internal::Printable(name), internal::Printable(text));
}

absl::Status CheckMembers(const Item& item, uint32_t index, size_t* cell_count) {
  const Item::Node& node = item[index];
  const size_t prefix_bytes = MemberPrefix(node.name).size();
  for (uint32_t i = Item::first_member(index); i < node.next; i = item[i].next) {
    ++*cell_count;
    const std::string_view member = IsSet(node.type) ? item[i].text : item[i].name;
    if (prefix_bytes + member.size() > kItemQualifierBytesMax) {
      return internal::InvalidArgument(
          "a member of \"{}\" has {} bytes, too many for a column: use --{} json",
          internal::Printable(node.name), member.size(), IsSet(node.type) ? "sets" : "maps");
    }
    if (!IsSet(node.type) && member.empty())
      return internal::InvalidArgument(
          "the map \"{}\" has a member without a name: use --maps json",
          internal::Printable(node.name));
  }
  return absl::OkStatus();
}

void EncodeMembers(std::string_view family, const Item& item, uint32_t index,
                   const CellSink& sink) {
  const Item::Node& node = item[index];
  const std::string prefix = MemberPrefix(node.name);
  if (!item.has_members(index)) sink(family, prefix, kEmptyMap);  // a set is never empty
  std::string qualifier;
  std::string value;
  for (uint32_t i = Item::first_member(index); i < node.next; i = item[i].next) {
    qualifier = prefix;
    if (IsSet(node.type)) {
      sink(family, qualifier.append(item[i].text), kMemberMark);
      continue;
    }
    value.clear();
    AppendLabJson(item, i, &value);
    sink(family, qualifier.append(item[i].name), value);
  }
}

void EncodeAttribute(const Mapping& mapping, std::string_view family, const Item& item,
                     uint32_t index, const CellSink& sink) {
  const Item::Node& node = item[index];
  const bool is_counter =
      node.type == AttributeType::kNumber && mapping.counters.contains(node.name);
  if (is_counter) {
    sink(family, node.name, CounterBytes(*ToInt64(*ParseDecimal(node.text))));
  } else if (node.type == AttributeType::kMap || node.type == AttributeType::kList ||
             IsSet(node.type)) {
    std::string value;
    AppendLabJson(item, index, &value);
    sink(family, node.name, value);
  } else {
    sink(family, node.name, node.text);
  }
}

// Collects the attributes of a row, and then adds them in order.
class RowDecoder {
 public:
  RowDecoder(const Mapping& mapping, Item* item) : mapping_(mapping), item_(*item) {}

  absl::Status ReadTypes(std::span<const CellView> cells) {
    for (const CellView& cell : cells) {
      if (!IsOneOf(cell, kFamilies.types, kExpiringFamilies.types)) continue;
      if (cell.qualifier() != kTypesQualifier) return NotMade(cell);
      Item types;
      STELE_RETURN_IF_ERROR(ParseLabJson(cell.value(), {}, &types));
      if (types[0].type != AttributeType::kMap) return NotMade(cell);
      for (uint32_t i = 1; i < types.size(); i = types[i].next) {
        const auto type = TypeOfName(types[i].text);
        if (!type.has_value()) return NotMade(cell);
        types_.emplace(types[i].name, *type);
      }
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status Add(const CellView& cell) {
    if (IsOneOf(cell, kFamilies.types, kExpiringFamilies.types)) return absl::OkStatus();
    if (IsOneOf(cell, kFamilies.attributes, kExpiringFamilies.attributes)) {
      Attribute& attribute = attributes_[std::string(cell.qualifier())];
      attribute.value = cell.value();
      return UseFamily(cell, &attribute);
    }
    const bool is_set = IsOneOf(cell, kFamilies.sets, kExpiringFamilies.sets);
    if (!is_set && !IsOneOf(cell, kFamilies.maps, kExpiringFamilies.maps)) return NotMade(cell);
    auto member = SplitMember(cell.qualifier());
    if (!member.has_value()) return NotMade(cell);
    Attribute& attribute = attributes_[member->first];
    attribute.is_map = !is_set;
    attribute.members.emplace_back(member->second, cell.value());
    return UseFamily(cell, &attribute);
  }

  absl::Status AddAll() {
    for (const auto& [name, attribute] : attributes_) {
      const absl::Status added = AddAttribute(name, attribute);
      if (!added.ok())
        return internal::WithContext(added,
                                     fmt::format("attribute \"{}\"", internal::Printable(name)));
    }
    return absl::OkStatus();
  }

 private:
  struct Attribute {
    std::string_view family;                // of all its cells
    std::optional<std::string_view> value;  // of a cell in the family of attributes
    bool is_map = false;
    std::vector<std::pair<std::string_view, std::string_view>> members;
  };

  static bool IsOneOf(const CellView& cell, std::string_view family, std::string_view other) {
    return cell.family() == family || cell.family() == other;
  }
  static absl::Status NotMade(const CellView& cell) {
    return internal::InvalidArgument("the column {}:{} is not one of an import",
                                     internal::Printable(cell.family()),
                                     internal::Printable(cell.qualifier()));
  }
  // Returns an error for cells in two families, for example with and without a time to live: it is
  // not known which of them are valid.
  static absl::Status UseFamily(const CellView& cell, Attribute* attribute) {
    if (attribute->family.empty()) attribute->family = cell.family();
    if (attribute->family == cell.family()) return absl::OkStatus();
    return internal::InvalidArgument("the column {}:{} and one of the family {} are one attribute",
                                     internal::Printable(cell.family()),
                                     internal::Printable(cell.qualifier()),
                                     internal::Printable(attribute->family));
  }
  std::optional<AttributeType> TypeOf(std::string_view name) const {
    if (const auto found = types_.find(name); found != types_.end()) return found->second;
    if (const auto found = mapping_.types.find(name); found != mapping_.types.end())
      return found->second;
    return std::nullopt;
  }

  absl::Status AddAttribute(const std::string& name, const Attribute& attribute) {
    const std::optional<AttributeType> type = TypeOf(name);
    if (!type.has_value()) return internal::InvalidArgument("its type is not known");
    const bool is_memberwise = !attribute.members.empty();
    if (mapping_.key.HasPart(name) || is_memberwise == attribute.value.has_value() ||
        is_memberwise != IsMemberwise(mapping_, *type) ||
        (is_memberwise && attribute.is_map != (*type == AttributeType::kMap)))
      return internal::InvalidArgument("its columns do not have the type {}", TypeName(*type));
    const std::string_view kept = item_.Keep(name);
    if (is_memberwise) return AddMembers(kept, *type, attribute);
    return AddValue(kept, *type, *attribute.value);
  }

  absl::Status AddValue(std::string_view name, AttributeType type, std::string_view value) {
    const auto wrong = [&] {
      return internal::InvalidArgument("the value is not of type {}", TypeName(type));
    };
    switch (type) {
      case AttributeType::kString:
        if (!IsUtf8(value)) return wrong();
        break;
      case AttributeType::kNumber:
        if (mapping_.counters.contains(name)) return AddCounter(name, value);
        if (!ParseDecimal(value).ok()) return wrong();
        break;
      case AttributeType::kBool:
        if (value != "true" && value != "false") return wrong();
        break;
      case AttributeType::kNull:
        if (!value.empty()) return wrong();
        break;
      case AttributeType::kBinary:
        break;
      default: {
        const uint32_t index = item_.size();
        STELE_RETURN_IF_ERROR(ParseLabJson(value, name, &item_));
        return item_[index].type == type ? absl::OkStatus() : wrong();
      }
    }
    item_.Begin(name, type, item_.Keep(std::string(value)));
    return absl::OkStatus();
  }

  absl::Status AddCounter(std::string_view name, std::string_view value) {
    if (value.size() != 8) return internal::InvalidArgument("a counter has 8 bytes");
    uint64_t number = 0;
    for (const char byte : value) number = (number << 8) | static_cast<unsigned char>(byte);
    item_.Begin(name, AttributeType::kNumber,
                item_.Keep(std::to_string(static_cast<int64_t>(number))));
    return absl::OkStatus();
  }

  absl::Status AddMembers(std::string_view name, AttributeType type, const Attribute& attribute) {
    const uint32_t index = item_.Begin(name, type);
    for (const auto& [member, value] : attribute.members) {
      if (type == AttributeType::kMap) {
        const bool is_empty_map = member.empty() && value == kEmptyMap;
        if (is_empty_map && attribute.members.size() == 1) break;
        if (member.empty() || !IsUtf8(member))
          return internal::InvalidArgument("a member has no valid name");
        STELE_RETURN_IF_ERROR(ParseLabJson(value, item_.Keep(std::string(member)), &item_));
        continue;
      }
      const AttributeType member_type = type == AttributeType::kStringSet ? AttributeType::kString
                                        : type == AttributeType::kNumberSet
                                            ? AttributeType::kNumber
                                            : AttributeType::kBinary;
      const bool is_valid = value == kMemberMark &&
                            (type != AttributeType::kStringSet || IsUtf8(member)) &&
                            (type != AttributeType::kNumberSet || ParseDecimal(member).ok());
      if (!is_valid) return internal::InvalidArgument("a member is not of type {}", TypeName(type));
      item_.Begin({}, member_type, item_.Keep(std::string(member)));
    }
    item_.End(index);
    return absl::OkStatus();
  }

  const Mapping& mapping_;
  Item& item_;
  TypeMap types_;
  std::map<std::string, Attribute, std::less<>> attributes_;
};

}  // namespace

absl::Status CheckItemCells(const Mapping& mapping, const Item& item) {
  size_t cell_count = 1;
  for (uint32_t i = 0; i < item.size(); i = item[i].next) {
    const Item::Node& node = item[i];
    ++cell_count;
    if (node.name.empty()) return internal::InvalidArgument("an attribute has no name");
    if (node.name.size() > kItemQualifierBytesMax)
      return internal::InvalidArgument("the name of an attribute has {} bytes, at most {}",
                                       node.name.size(), kItemQualifierBytesMax);
    if (IsMemberwise(mapping, node.type)) STELE_RETURN_IF_ERROR(CheckMembers(item, i, &cell_count));
    if (node.type == AttributeType::kNumber && mapping.counters.contains(node.name))
      STELE_RETURN_IF_ERROR(CheckCounter(node.name, node.text));
  }
  if (cell_count <= kItemCellsMax) return absl::OkStatus();
  return internal::InvalidArgument(
      "the item has {} cells, at most {}: use --sets json and --maps json", cell_count,
      kItemCellsMax);
}

void EncodeItemCells(const Mapping& mapping, const FamilyNames& families, const Item& item,
                     const CellSink& sink) {
  std::map<std::string_view, AttributeType> types;
  bool has_cells = false;
  for (uint32_t i = 0; i < item.size(); i = item[i].next) {
    const Item::Node& node = item[i];
    if (mapping.key.HasPart(node.name)) continue;
    has_cells = true;
    const auto usual = mapping.types.find(node.name);
    if (usual == mapping.types.end() || usual->second != node.type)
      types.emplace(node.name, node.type);
    if (IsMemberwise(mapping, node.type)) {
      EncodeMembers(IsSet(node.type) ? families.sets : families.maps, item, i, sink);
    } else {
      EncodeAttribute(mapping, families.attributes, item, i, sink);
    }
  }
  if (has_cells && types.empty()) return;
  Item listed;
  const uint32_t index = listed.Begin({}, AttributeType::kMap);
  for (const auto& [name, type] : types) listed.Begin(name, AttributeType::kString, TypeName(type));
  listed.End(index);
  std::string value;
  AppendLabJson(listed, index, &value);
  sink(families.types, kTypesQualifier, value);
}

absl::Status DecodeItemCells(const Mapping& mapping, std::span<const CellView> cells, Item* item) {
  RowDecoder decoder(mapping, item);
  STELE_RETURN_IF_ERROR(decoder.ReadTypes(cells));
  const CellView* previous = nullptr;
  for (const CellView& cell : cells) {
    const bool is_older = previous != nullptr && previous->family() == cell.family() &&
                          previous->qualifier() == cell.qualifier();
    previous = &cell;
    if (!is_older) STELE_RETURN_IF_ERROR(decoder.Add(cell));
  }
  return decoder.AddAll();
}

}  // namespace stele::internal::lab
