#include "lab/mapping/dynamodb_json.h"

#include <algorithm>
#include <vector>

#include "lab/mapping/lab_json.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

void AppendTypedValue(const Item& item, uint32_t index, std::string* out);

// A string of a scalar, or a member of a set.
void AppendScalarText(const Item::Node& node, std::string* out) {
  if (node.type != AttributeType::kBinary) {
    AppendJsonString(node.text, out);
    return;
  }
  out->push_back('"');
  AppendBase64(node.text, out);
  out->push_back('"');
}

void AppendTypedMembers(const Item& item, uint32_t index, std::string* out) {
  const AttributeType type = item[index].type;
  std::vector<uint32_t> members;
  if (type == AttributeType::kList) {
    for (uint32_t i = Item::first_member(index); i < item[index].next; i = item[i].next)
      members.push_back(i);
  } else {
    members = SortedMembers(item, index);
  }
  const bool is_map = type == AttributeType::kMap;
  out->push_back(is_map ? '{' : '[');
  for (const uint32_t member : members) {
    if (member != members.front()) out->push_back(',');
    if (IsSet(type)) {
      AppendScalarText(item[member], out);
      continue;
    }
    if (is_map) {
      AppendJsonString(item[member].name, out);
      out->push_back(':');
    }
    AppendTypedValue(item, member, out);
  }
  out->push_back(is_map ? '}' : ']');
}

void AppendTypedValue(const Item& item, uint32_t index, std::string* out) {
  const Item::Node& node = item[index];
  out->append("{\"").append(TypeName(node.type)).append("\":");
  if (node.type == AttributeType::kBool) {
    out->append(node.text);
  } else if (node.type == AttributeType::kNull) {
    out->append("true");
  } else if (node.type == AttributeType::kMap || node.type == AttributeType::kList ||
             IsSet(node.type)) {
    AppendTypedMembers(item, index, out);
  } else {
    AppendScalarText(node, out);
  }
  out->push_back('}');
}

}  // namespace

void AppendItemJson(const Item& item, std::string* out) {
  std::vector<uint32_t> attributes;
  for (uint32_t i = 0; i < item.size(); i = item[i].next) attributes.push_back(i);
  std::sort(attributes.begin(), attributes.end(),
            [&](uint32_t left, uint32_t right) { return item[left].name < item[right].name; });
  out->append("{\"Item\":{");
  for (const uint32_t attribute : attributes) {
    if (attribute != attributes.front()) out->push_back(',');
    AppendJsonString(item[attribute].name, out);
    out->push_back(':');
    AppendTypedValue(item, attribute, out);
  }
  out->append("}}");
}

}  // namespace stele::internal::lab
