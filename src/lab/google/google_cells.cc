#include "lab/google/google_cells.h"

#include <vector>

#include "base/status.h"
#include "lab/google/java_text.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

// The job encodes the base64 text that the export has.
std::string DoubleBase64(std::string_view bytes) {
  std::string once;
  AppendBase64(bytes, &once);
  std::string twice;
  AppendBase64(once, &twice);
  return twice;
}

// The text of a scalar; nullopt for a number at which the job fails.
std::optional<std::string> ScalarText(const Item::Node& node) {
  if (node.type == AttributeType::kBinary) return DoubleBase64(node.text);
  if (node.type != AttributeType::kNumber) return std::string(node.text);
  const std::optional<JavaNumber> number = ToJavaNumber(node.text);
  if (!number.has_value()) return std::nullopt;
  return number->text;
}

// The order of the members of a map or a set in Java.
std::optional<std::vector<uint32_t>> JavaOrder(const Item& item, uint32_t index) {
  std::vector<uint32_t> members;
  std::vector<uint32_t> hashes;
  for (uint32_t i = Item::first_member(index); i < item[index].next; i = item[i].next) {
    members.push_back(i);
    if (item[index].type == AttributeType::kNumberSet) {
      const std::optional<JavaNumber> number = ToJavaNumber(item[i].text);
      if (!number.has_value()) return std::nullopt;
      hashes.push_back(number->hash);
    } else if (item[index].type == AttributeType::kMap) {
      hashes.push_back(JavaStringHash(item[i].name));
    } else {
      hashes.push_back(JavaStringHash(*ScalarText(item[i])));
    }
  }
  std::vector<uint32_t> ordered;
  for (const size_t at : HashMapOrder(hashes)) ordered.push_back(members[at]);
  return ordered;
}

// Appends the JSON of a value. Returns false if the job fails.
bool AppendGoogleJson(const Item& item, uint32_t index, std::string* out) {
  const Item::Node& node = item[index];
  if (node.type == AttributeType::kNull) {
    out->append("null");
    return true;
  }
  if (node.type == AttributeType::kList) {
    out->push_back('[');
    for (uint32_t i = Item::first_member(index); i < node.next; i = item[i].next) {
      if (i != Item::first_member(index)) out->push_back(',');
      if (!AppendGoogleJson(item, i, out)) return false;
    }
    out->push_back(']');
    return true;
  }
  if (node.type == AttributeType::kMap || IsSet(node.type)) {
    const bool is_map = node.type == AttributeType::kMap;
    const auto order = JavaOrder(item, index);
    if (!order.has_value()) return false;
    out->push_back(is_map ? '{' : '[');
    for (const uint32_t member : *order) {
      if (member != order->front()) out->push_back(',');
      if (is_map) {
        AppendJavaJsonString(item[member].name, out);
        out->push_back(':');
      }
      if (!AppendGoogleJson(item, member, out)) return false;
    }
    out->push_back(is_map ? '}' : ']');
    return true;
  }
  const std::optional<std::string> text = ScalarText(node);
  if (!text.has_value()) return false;
  const bool is_plain = node.type == AttributeType::kNumber || node.type == AttributeType::kBool;
  if (is_plain) {
    out->append(*text);
  } else {
    AppendJavaJsonString(*text, out);
  }
  return true;
}

bool EncodeValue(const Item& item, uint32_t index, const std::string& qualifier,
                 const GoogleCellSink& sink) {
  const Item::Node& node = item[index];
  if (node.type == AttributeType::kMap) {
    const auto order = JavaOrder(item, index);
    for (const uint32_t member : *order) {
      const std::string column = fmt::format("{}.{}", qualifier, item[member].name);
      if (!EncodeValue(item, member, column, sink)) return false;
    }
    return true;
  }
  if (node.type == AttributeType::kList || IsSet(node.type)) {
    std::string json;
    if (!AppendGoogleJson(item, index, &json)) return false;
    sink(qualifier, json);
    return true;
  }
  const std::optional<std::string> text = ScalarText(node);
  if (!text.has_value()) return false;
  sink(qualifier, *text);
  return true;
}

}  // namespace

std::optional<std::string> GoogleRowKey(const Item& item, std::string_view partition_key) {
  const std::optional<uint32_t> found = item.Find(partition_key);
  if (!found.has_value()) return std::nullopt;
  return ScalarText(item[*found]);
}

bool EncodeGoogleCells(const Item& item, std::string_view partition_key,
                       const GoogleCellSink& sink) {
  // The last cell of a column wins, so the order matters. The job removes the partition key from a
  // HashMap that was built with it.
  std::vector<uint32_t> attributes;
  std::vector<uint32_t> hashes;
  for (uint32_t i = 0; i < item.size(); i = item[i].next) {
    attributes.push_back(i);
    hashes.push_back(JavaStringHash(item[i].name));
  }
  for (const size_t at : HashMapOrder(hashes)) {
    const uint32_t attribute = attributes[at];
    if (item[attribute].name == partition_key) continue;
    if (!EncodeValue(item, attribute, std::string(item[attribute].name), sink)) return false;
  }
  return true;
}

bool HasBytes(const Item& item) {
  for (uint32_t i = 0; i < item.size(); ++i) {
    if (item[i].type == AttributeType::kBinary) return true;
  }
  return false;
}

}  // namespace stele::internal::lab
