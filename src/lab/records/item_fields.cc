#include "lab/records/item_fields.h"

#include <charconv>

#include "base/status.h"
#include "lab/mapping/lab_json.h"
#include "lab/records/json_item.h"

namespace stele::internal::lab {
namespace {

// Returns the member of a map, or the element of a list, among the nodes [begin, end).
std::optional<uint32_t> MemberOf(const Item& item, uint32_t begin, uint32_t end, bool is_list,
                                 std::string_view name) {
  uint64_t position = 0;
  if (is_list) {
    const char* const last = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), last, position);
    const bool is_canonical = name == "0" || !name.starts_with('0');
    if (error != std::errc() || stop != last || !is_canonical) return std::nullopt;
  }
  for (uint32_t i = begin; i < end; i = item[i].next) {
    if (is_list ? position-- == 0 : item[i].name == name) return i;
  }
  return std::nullopt;
}

bool HasText(AttributeType type) {
  return type == AttributeType::kString || type == AttributeType::kNumber ||
         type == AttributeType::kBinary || type == AttributeType::kBool;
}

}  // namespace

std::optional<uint32_t> ItemFields::Find(std::string_view path) const {
  uint32_t begin = 0;
  uint32_t end = item_.size();
  bool is_list = false;
  while (true) {
    if (const auto whole = MemberOf(item_, begin, end, is_list, path)) return whole;
    const size_t dot = path.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto member = MemberOf(item_, begin, end, is_list, path.substr(0, dot));
    if (!member.has_value()) return std::nullopt;
    const Item::Node& node = item_[*member];
    if (node.type != AttributeType::kMap && node.type != AttributeType::kList) return std::nullopt;
    is_list = node.type == AttributeType::kList;
    begin = Item::first_member(*member);
    end = node.next;
    path.remove_prefix(dot + 1);
  }
}

std::optional<std::string_view> ItemFields::Text(std::string_view field) const {
  const auto index = Find(field);
  if (!index.has_value()) return std::nullopt;
  if (!HasText(item_[*index].type)) return std::nullopt;
  return item_[*index].text;
}

std::optional<std::string> ItemFields::Json(std::string_view field) const {
  const auto index = Find(field);
  if (!index.has_value()) return std::nullopt;
  std::string json;
  if (is_plain_) {
    AppendPlainJson(item_, *index, &json);
  } else {
    AppendLabJson(item_, *index, &json);
  }
  return json;
}

std::vector<std::string> ItemFields::Names() const {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < item_.size() && names.size() < kNamesMax; i = item_[i].next)
    names.emplace_back(item_[i].name);
  return names;
}

absl::StatusOr<RecordFields> ItemFields::All() const {
  FieldCollector fields;
  std::string path;
  STELE_RETURN_IF_ERROR(AddMembers(0, item_.size(), /*is_list=*/false, &path, &fields));
  return fields.Take();
}

absl::Status ItemFields::AddMembers(uint32_t begin, uint32_t end, bool is_list, std::string* path,
                                    FieldCollector* fields) const {
  const size_t above = path->size();
  // As in Find(), a member whose name is the rest of a path comes before a nested one.
  for (const bool is_nested : {false, true}) {
    uint64_t position = 0;
    for (uint32_t i = begin; i < end; i = item_[i].next, ++position) {
      const Item::Node& node = item_[i];
      const bool is_map_or_list =
          node.type == AttributeType::kMap || node.type == AttributeType::kList;
      if (is_nested ? !is_map_or_list : !HasText(node.type)) continue;
      // Find() has no path through a name with a dot.
      if (is_nested && node.name.find('.') != std::string_view::npos) continue;
      path->append(is_list ? fmt::format("{}", position) : std::string(node.name));
      absl::Status added;
      if (is_nested) {
        path->push_back('.');
        added = AddMembers(Item::first_member(i), node.next, node.type == AttributeType::kList,
                           path, fields);
      } else {
        added = fields->Add(*path, node.text);
      }
      if (!added.ok()) return added;
      path->resize(above);
    }
  }
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
