#include "lab/records/json_item.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/mapping/lab_json.h"

namespace stele::internal::lab {
namespace {

constexpr uint32_t kFirstSurrogate = 0xd800;
constexpr uint32_t kFirstLowSurrogate = 0xdc00;
constexpr uint32_t kAfterSurrogates = 0xe000;

void AppendCodePoint(uint32_t code, std::string* out) {
  const auto add = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | (code >> 6));
  } else if (code < 0x10000) {
    add(0xe0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3f));
  } else {
    add(0xf0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3f));
    add(0x80 | ((code >> 6) & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

// Parses one object. Not with a library: its parser converts numbers, and rejects those above
// 1.8e308.
class ObjectParser {
 public:
  ObjectParser(std::string_view json, Item* item) : json_(json), item_(*item) {}

  absl::Status Parse() {
    if (!IsUtf8(json_)) return InvalidArgument("not JSON: the text is not UTF-8");
    SkipSpace();
    if (!Consume('{')) return InvalidArgument("not a JSON object");
    STELE_RETURN_IF_ERROR(ParseMembers(0, 1));
    SkipSpace();
    return at_ == json_.size() ? absl::OkStatus() : Wrong("the end of the line");
  }

 private:
  absl::Status Wrong(std::string_view expected) const {
    return InvalidArgument("byte {}: not JSON: {} is expected", at_ + 1, expected);
  }
  char Peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  bool Consume(char expected) {
    if (at_ == json_.size() || json_[at_] != expected) return false;
    ++at_;
    return true;
  }
  bool ConsumeWord(std::string_view word) {
    if (!json_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void SkipSpace() { at_ = std::min(json_.find_first_not_of(" \t\r\n", at_), json_.size()); }
  // Returns false if there is no digit.
  bool ConsumeDigits() {
    const size_t begin = at_;
    while (Peek() >= '0' && Peek() <= '9') ++at_;
    return at_ > begin;
  }

  // The members of an object, after its brace. `begin` is the index of the first one.
  absl::Status ParseMembers(uint32_t begin, size_t depth) {
    SkipSpace();
    if (Consume('}')) return absl::OkStatus();
    do {
      SkipSpace();
      std::string_view name;
      STELE_RETURN_IF_ERROR(ParseString(&name));
      SkipSpace();
      if (!Consume(':')) return Wrong("':'");
      STELE_RETURN_IF_ERROR(ParseValue(name, depth));
    } while (Consume(','));
    return Consume('}') ? CheckNames(begin) : Wrong("',' or '}'");
  }

  absl::Status ParseElements(size_t depth) {
    SkipSpace();
    if (Consume(']')) return absl::OkStatus();
    do {
      STELE_RETURN_IF_ERROR(ParseValue({}, depth));
    } while (Consume(','));
    return Consume(']') ? absl::OkStatus() : Wrong("',' or ']'");
  }

  // A value, with the white space around it.
  absl::Status ParseValue(std::string_view name, size_t depth) {
    if (item_.size() == kJsonItemValuesMax)
      return InvalidArgument("more than {} values in one record", kJsonItemValuesMax);
    SkipSpace();
    if (Peek() == '{' || Peek() == '[') {
      STELE_RETURN_IF_ERROR(ParseNested(name, depth + 1));
    } else if (Peek() == '"') {
      std::string_view text;
      STELE_RETURN_IF_ERROR(ParseString(&text));
      item_.Begin(name, AttributeType::kString, text);
    } else if (ConsumeWord("true")) {
      item_.Begin(name, AttributeType::kBool, "true");
    } else if (ConsumeWord("false")) {
      item_.Begin(name, AttributeType::kBool, "false");
    } else if (ConsumeWord("null")) {
      item_.Begin(name, AttributeType::kNull);
    } else {
      STELE_RETURN_IF_ERROR(ParseNumber(name));
    }
    SkipSpace();
    return absl::OkStatus();
  }

  absl::Status ParseNested(std::string_view name, size_t depth) {
    if (depth > kJsonItemDepthMax) return InvalidArgument("more than {} levels", kJsonItemDepthMax);
    const bool is_map = Consume('{');
    if (!is_map) Consume('[');
    const uint32_t index = item_.Begin(name, is_map ? AttributeType::kMap : AttributeType::kList);
    STELE_RETURN_IF_ERROR(is_map ? ParseMembers(index + 1, depth) : ParseElements(depth));
    item_.End(index);
    return absl::OkStatus();
  }

  // Keeps the text of the number.
  absl::Status ParseNumber(std::string_view name) {
    const size_t begin = at_;
    Consume('-');
    if (!Consume('0') && !ConsumeDigits()) return Wrong("a value");
    if (Consume('.') && !ConsumeDigits()) return Wrong("a digit");
    if (Consume('e') || Consume('E')) {
      if (!Consume('+')) Consume('-');
      if (!ConsumeDigits()) return Wrong("a digit");
    }
    item_.Begin(name, AttributeType::kNumber, json_.substr(begin, at_ - begin));
    return absl::OkStatus();
  }

  // `text` is a part of the source, or, if it had escapes, kept by the item.
  absl::Status ParseString(std::string_view* text) {
    if (!Consume('"')) return Wrong("'\"'");
    const size_t begin = at_;
    std::string unescaped;
    bool has_escapes = false;
    for (size_t copied = begin;;) {
      while (at_ < json_.size() && json_[at_] != '"' && json_[at_] != '\\' &&
             static_cast<unsigned char>(json_[at_]) >= 0x20)
        ++at_;
      if (Peek() != '"' && Peek() != '\\') return Wrong("'\"'");
      if (Consume('"')) {
        if (!has_escapes) *text = json_.substr(begin, at_ - 1 - begin);
        if (!has_escapes) return absl::OkStatus();
        unescaped.append(json_.substr(copied, at_ - 1 - copied));
        *text = item_.Keep(std::move(unescaped));
        return absl::OkStatus();
      }
      // An escape is longer than its character, so this is enough. Pages beyond the text are never
      // touched, so they need no memory.
      if (!has_escapes) unescaped.reserve(StringBytes(begin));
      has_escapes = true;
      unescaped.append(json_.substr(copied, at_ - copied));
      ++at_;
      STELE_RETURN_IF_ERROR(ConsumeEscape(&unescaped));
      copied = at_;
    }
  }

  // The number of bytes from `begin` to the quote that ends the string, or to the end of the text.
  size_t StringBytes(size_t begin) const {
    size_t end = begin;
    while (end < json_.size() && json_[end] != '"') end += json_[end] == '\\' ? 2 : 1;
    return std::min(end, json_.size()) - begin;
  }

  // The part of an escape after the backslash.
  absl::Status ConsumeEscape(std::string* out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const size_t place = at_ < json_.size() ? kNames.find(json_[at_]) : std::string_view::npos;
    if (place != std::string_view::npos) {
      ++at_;
      out->push_back(kMeanings[place]);
      return absl::OkStatus();
    }
    uint32_t code = 0;
    if (!Consume('u') || !ConsumeHex(&code)) return Wrong("an escape");
    if (code >= kFirstSurrogate && code < kAfterSurrogates) {
      uint32_t low = 0;
      if (code >= kFirstLowSurrogate || !ConsumeWord("\\u") || !ConsumeHex(&low) ||
          low < kFirstLowSurrogate || low >= kAfterSurrogates)
        return Wrong("a pair of surrogates");
      code = 0x10000 + ((code - kFirstSurrogate) << 10) + (low - kFirstLowSurrogate);
    }
    AppendCodePoint(code, out);
    return absl::OkStatus();
  }

  bool ConsumeHex(uint32_t* code) {
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = Peek();
      const char lower = static_cast<char>(c | 0x20);
      if (c >= '0' && c <= '9') {
        *code = *code * 16 + static_cast<uint32_t>(c - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        *code = *code * 16 + static_cast<uint32_t>(lower - 'a' + 10);
      } else {
        return false;
      }
    }
    return true;
  }

  // Checks the names of the object that ends.
  absl::Status CheckNames(uint32_t begin) {
    names_.clear();
    for (uint32_t i = begin; i < item_.size(); i = item_[i].next) names_.push_back(item_[i].name);
    std::sort(names_.begin(), names_.end());
    const auto twice = std::adjacent_find(names_.begin(), names_.end());
    if (twice == names_.end()) return absl::OkStatus();
    return InvalidArgument("the name \"{}\" occurs twice", Printable(*twice));
  }

  const std::string_view json_;
  Item& item_;
  size_t at_ = 0;
  std::vector<std::string_view> names_;
};

void AppendMembers(const Item& item, uint32_t index, std::string* out) {
  const bool is_map = item[index].type == AttributeType::kMap;
  *out += is_map ? '{' : '[';
  for (uint32_t i = Item::first_member(index); i < item[index].next; i = item[i].next) {
    if (i != Item::first_member(index)) *out += ',';
    if (is_map) {
      AppendJsonString(item[i].name, out);
      *out += ':';
    }
    AppendPlainJson(item, i, out);
  }
  *out += is_map ? '}' : ']';
}

}  // namespace

absl::Status ParseJsonItem(std::string_view json, Item* item) {
  item->Clear();
  return ObjectParser(json, item).Parse();
}

void AppendPlainJson(const Item& item, uint32_t index, std::string* out) {
  const Item::Node& node = item[index];
  switch (node.type) {
    case AttributeType::kMap:
    case AttributeType::kList:
      return AppendMembers(item, index, out);
    case AttributeType::kString:
      return AppendJsonString(node.text, out);
    case AttributeType::kNull:
      out->append("null");
      return;
    default:
      out->append(node.text);
  }
}

}  // namespace stele::internal::lab
