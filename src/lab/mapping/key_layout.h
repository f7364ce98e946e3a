// mapping/key_layout.h: builds row keys from attributes, and finds a layout for them.
//
// Errors:    InvalidArgument that names the attribute.
// Threads:   values; thread-compatible.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/values/item.h"
#include "stele/keys.h"

namespace stele::internal::lab {

// The limit of row keys in the tables that an import creates.
inline constexpr size_t kRowKeyBytesMax = 4096;

struct KeyPart {
  std::string name;
  AttributeType type = AttributeType::kString;  // S, N or B
  // N: digits of the padded number. 0: the sortable decimal.
  int pad_width = 0;

  friend bool operator==(const KeyPart&, const KeyPart&) = default;
};

// How the parts form a row key.
//   delimited  S as UTF-8, N as digits, B as hex, with a delimiter between the parts. It occurs
//              only in the last part.
//   ordered    the ordered code of stele/keys.h
class KeyLayout {
 public:
  KeyLayout() = default;
  // An empty delimiter is for a single part, or for the ordered form.
  static absl::StatusOr<KeyLayout> Create(std::vector<KeyPart> parts, bool is_ordered,
                                          std::string delimiter);

  // Builds the row key of an item. Errors: a part is missing or has another type; the delimiter is
  // in a part before the last one; the row key is too long.
  absl::StatusOr<std::string> Encode(const Item& item) const;
  // Adds the parts of a row key to an item, which keeps their texts. Names refer to this layout.
  absl::Status Decode(std::string_view row_key, Item* item) const;

  const std::vector<KeyPart>& parts() const { return parts_; }
  bool is_ordered() const { return is_ordered_; }
  const std::string& delimiter() const { return delimiter_; }
  bool HasPart(std::string_view name) const;

  friend bool operator==(const KeyLayout&, const KeyLayout&) = default;

 private:
  absl::StatusOr<std::vector<std::string>> Split(std::string_view row_key) const;

  std::vector<KeyPart> parts_;
  bool is_ordered_ = false;
  std::string delimiter_;
  keys::RowKeySchema schema_;  // of the ordered form
};

// Collects facts about the parts of all keys, and chooses a layout that fits them.
class KeySurvey {
 public:
  static constexpr std::array<char, 4> kDelimiters = {'#', '|', '/', '~'};

  // `names`: the attributes that form the key. `delimiter` "": the first of kDelimiters that is in
  // no part before the last one.
  KeySurvey(std::vector<std::string> names, bool is_ordered, std::string delimiter);

  // Checks the key of an item, and adds it. Errors:
  // - An attribute is missing or empty.
  // - Its type is not S, N or B, or differs from that of earlier items.
  // - The given delimiter is in a part before the last one.
  // - The row key is too long.
  absl::Status Add(const Item& item);
  // Returns bytes that are equal for items with equal keys, and only for them.
  std::string Identity(const Item& item) const;

  // Chooses the layout for all keys that were added. Errors: there is no delimiter.
  absl::StatusOr<KeyLayout> Choose() const;
  // The number of keys that have this delimiter in a part before the last one.
  uint64_t CountWith(char delimiter) const;

 private:
  struct Part {
    std::string name;
    std::optional<AttributeType> type;
    bool is_plain = true;  // all numbers are digits below 10^19
    size_t digits_max = 1;
  };
  static void AddNumber(std::string_view text, Part* part);
  absl::Status CheckTexts(const Item& item, const std::vector<std::string_view>& texts) const;

  std::vector<Part> parts_;
  bool is_ordered_;
  std::string delimiter_;
  std::array<uint64_t, kDelimiters.size()> counts_ = {};
};

}  // namespace stele::internal::lab
