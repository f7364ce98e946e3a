// values/item.h: an item of DynamoDB: a tree of typed attribute values.
//
// Memory:    one vector of nodes, which is reused for the next item. Names and texts belong to the
//            parser that filled the item, or to the item if Keep() copied them.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stele::internal::lab {

enum class AttributeType : uint8_t {
  kString,
  kNumber,
  kBinary,
  kBool,
  kNull,
  kMap,
  kList,
  kStringSet,
  kNumberSet,
  kBinarySet
};
inline constexpr int kAttributeTypeCount = 10;

// S N B BOOL NULL M L SS NS BS.
std::string_view TypeName(AttributeType type);
std::optional<AttributeType> TypeOfName(std::string_view name);
inline bool IsSet(AttributeType type) { return type >= AttributeType::kStringSet; }

// The values of an item, a value before its members. A node's members are the nodes from the one
// after it up to `next`; the first member's `next` is the second member:
//   for (uint32_t i = item.first_member(n); i < item[n].next; i = item[i].next)
// The attributes of the item are the nodes 0, item[0].next, ..., below item.size().
class Item {
 public:
  struct Node {
    std::string_view name;  // of an attribute or a member of a map; empty in lists and sets
    std::string_view text;  // S: UTF-8; N: the source's text; B: the bytes; BOOL: true or false
    uint32_t next = 0;      // the node after this value and its members
    AttributeType type = AttributeType::kNull;
  };

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  const Node& operator[](uint32_t index) const { return nodes_[index]; }
  static uint32_t first_member(uint32_t index) { return index + 1; }
  bool has_members(uint32_t index) const { return nodes_[index].next != index + 1; }
  // Returns the attribute with this name.
  std::optional<uint32_t> Find(std::string_view name) const;

  void Clear() {
    nodes_.clear();
    kept_.clear();
  }
  // Adds a value. After its members, call End().
  uint32_t Begin(std::string_view name, AttributeType type, std::string_view text = {}) {
    nodes_.push_back({.name = name, .text = text, .next = size() + 1, .type = type});
    return size() - 1;
  }
  void End(uint32_t index) { nodes_[index].next = size(); }
  // Owns bytes until Clear(). Small texts share a block: an allocation for each of them would need
  // several times their bytes.
  std::string_view Keep(std::string bytes) {
    if (bytes.size() > kBlockBytes / 4) return kept_.emplace_front(std::move(bytes));
    if (kept_.empty() || kept_.back().capacity() - kept_.back().size() < bytes.size())
      kept_.emplace_back().reserve(kBlockBytes);
    std::string& block = kept_.back();  // it never grows, so its texts stay where they are
    block += bytes;
    return std::string_view(block).substr(block.size() - bytes.size());
  }

 private:
  static constexpr size_t kBlockBytes = 4096;

  std::vector<Node> nodes_;
  std::deque<std::string> kept_;  // large texts in front, blocks behind
};

}  // namespace stele::internal::lab
