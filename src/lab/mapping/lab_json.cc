#include "lab/mapping/lab_json.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/dynamodb/record_parser.h"
#include "lab/values/base64.h"
#include "lab/values/decimal.h"

namespace stele::internal::lab {
namespace {

std::string_view SetMark(AttributeType type) {
  switch (type) {
    case AttributeType::kStringSet:
      return "$ss";
    case AttributeType::kNumberSet:
      return "$ns";
    case AttributeType::kBinarySet:
      return "$bs";
    default:
      return "$b";
  }
}

void AppendBase64String(std::string_view bytes, std::string* out) {
  out->push_back('"');
  AppendBase64(bytes, out);
  out->push_back('"');
}

// Parses one value; a member of a list or map calls it again.
class LabJsonParser {
 public:
  LabJsonParser(std::string_view text, Item* item) : text_(text), item_(*item) {}

  absl::Status ParseAll(std::string_view name) {
    STELE_RETURN_IF_ERROR(ParseValue(name, 0));
    return at_ == text_.size() ? absl::OkStatus() : Wrong();
  }

 private:
  absl::Status Wrong() const {
    return internal::InvalidArgument("offset {} of the value is not lab JSON", at_);
  }
  bool Consume(char expected) {
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  bool ConsumeWord(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  absl::Status ParseValue(std::string_view name, int depth) {
    if (at_ == text_.size()) return Wrong();
    switch (text_[at_]) {
      case '{':
        return ParseObject(name, depth);
      case '[':
        return ParseList(name, depth);
      case '"': {
        STELE_ASSIGN_OR_RETURN(std::string text, ParseString());
        item_.Begin(name, AttributeType::kString, item_.Keep(std::move(text)));
        return absl::OkStatus();
      }
      default:
        break;
    }
    for (const std::string_view word : {"true", "false"}) {
      if (!ConsumeWord(word)) continue;
      item_.Begin(name, AttributeType::kBool, word);
      return absl::OkStatus();
    }
    if (ConsumeWord("null")) {
      item_.Begin(name, AttributeType::kNull);
      return absl::OkStatus();
    }
    return ParseNumber(name);
  }

  absl::Status ParseNumber(std::string_view name) {
    size_t end = text_.find_first_not_of("0123456789+-.eE", at_);
    if (end == std::string_view::npos) end = text_.size();
    const std::string_view number = text_.substr(at_, end - at_);
    if (!ParseDecimal(number).ok()) return Wrong();
    at_ = end;
    item_.Begin(name, AttributeType::kNumber, item_.Keep(std::string(number)));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ParseString() {
    std::string text;
    if (!Consume('"')) return Wrong();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return Wrong();
      if (text_[at_] != '\\') {
        text.push_back(text_[at_++]);
        continue;
      }
      ++at_;
      const std::optional<char> escaped = ConsumeEscape();
      if (!escaped.has_value()) return Wrong();
      text.push_back(*escaped);
    }
    if (!Consume('"') || !IsUtf8(text)) return Wrong();
    return text;
  }

  // Only AppendJsonString's escapes.
  std::optional<char> ConsumeEscape() {
    if (Consume('"')) return '"';
    if (Consume('\\')) return '\\';
    if (!ConsumeWord("u00") || text_.size() < at_ + 2) return std::nullopt;
    int code = 0;
    for (const char digit : text_.substr(at_, 2)) {
      const size_t value = std::string_view("0123456789abcdef").find(digit);
      if (value == std::string_view::npos) return std::nullopt;
      code = code * 16 + static_cast<int>(value);
    }
    if (code >= 0x20) return std::nullopt;
    at_ += 2;
    return static_cast<char>(code);
  }

  absl::Status ParseList(std::string_view name, int depth) {
    if (depth == kNestingMax || !Consume('[')) return Wrong();
    const uint32_t index = item_.Begin(name, AttributeType::kList);
    if (!Consume(']')) {
      do {
        STELE_RETURN_IF_ERROR(ParseValue({}, depth + 1));
      } while (Consume(','));
      if (!Consume(']')) return Wrong();
    }
    item_.End(index);
    return absl::OkStatus();
  }

  absl::Status ParseObject(std::string_view name, int depth) {
    if (!Consume('{')) return Wrong();
    for (const AttributeType type : {AttributeType::kStringSet, AttributeType::kNumberSet,
                                     AttributeType::kBinarySet, AttributeType::kBinary}) {
      if (!ConsumeWord(fmt::format("\"{}\":", SetMark(type)))) continue;
      STELE_RETURN_IF_ERROR(type == AttributeType::kBinary ? ParseBinary(name)
                                                           : ParseSet(name, type));
      return Consume('}') ? absl::OkStatus() : Wrong();
    }
    if (depth == kNestingMax) return Wrong();
    const uint32_t index = item_.Begin(name, AttributeType::kMap);
    std::optional<std::string> previous;
    if (!Consume('}')) {
      do {
        STELE_ASSIGN_OR_RETURN(std::string key, ParseString());
        const bool is_marked = key.starts_with('$');
        if ((previous && *previous >= key) || (is_marked && !key.starts_with("$$")) ||
            !Consume(':'))
          return Wrong();
        previous = key;
        if (is_marked) key.erase(0, 1);
        STELE_RETURN_IF_ERROR(ParseValue(item_.Keep(std::move(key)), depth + 1));
      } while (Consume(','));
      if (!Consume('}')) return Wrong();
    }
    item_.End(index);
    return absl::OkStatus();
  }

  absl::Status ParseBinary(std::string_view name) {
    STELE_ASSIGN_OR_RETURN(const std::string text, ParseString());
    std::string bytes;
    if (!AppendDecodedBase64(text, &bytes)) return Wrong();
    item_.Begin(name, AttributeType::kBinary, item_.Keep(std::move(bytes)));
    return absl::OkStatus();
  }

  absl::Status ParseSet(std::string_view name, AttributeType type) {
    if (!Consume('[')) return Wrong();
    const uint32_t index = item_.Begin(name, type);
    do {
      const uint32_t member = item_.size();
      STELE_RETURN_IF_ERROR(type == AttributeType::kBinarySet ? ParseBinary({})
                                                              : ParseValue({}, kNestingMax));
      const AttributeType found = item_[member].type;
      if (type != AttributeType::kBinarySet &&
          found !=
              (type == AttributeType::kStringSet ? AttributeType::kString : AttributeType::kNumber))
        return Wrong();
    } while (Consume(','));
    if (!Consume(']')) return Wrong();
    item_.End(index);
    return absl::OkStatus();
  }

  const std::string_view text_;
  Item& item_;
  size_t at_ = 0;
};

void AppendMap(const Item& item, uint32_t index, std::string* out) {
  out->push_back('{');
  bool is_first = true;
  for (const uint32_t member : SortedMembers(item, index)) {
    if (!std::exchange(is_first, false)) out->push_back(',');
    std::string name(item[member].name);
    if (name.starts_with('$')) name.insert(0, 1, '$');
    AppendJsonString(name, out);
    out->push_back(':');
    AppendLabJson(item, member, out);
  }
  out->push_back('}');
}

void AppendSet(const Item& item, uint32_t index, std::string* out) {
  const AttributeType type = item[index].type;
  out->append(fmt::format("{{\"{}\":[", SetMark(type)));
  bool is_first = true;
  for (const uint32_t member : SortedMembers(item, index)) {
    if (!std::exchange(is_first, false)) out->push_back(',');
    if (type == AttributeType::kStringSet) {
      AppendJsonString(item[member].text, out);
    } else if (type == AttributeType::kNumberSet) {
      out->append(item[member].text);
    } else {
      AppendBase64String(item[member].text, out);
    }
  }
  out->append("]}");
}

// Returns the size of a byte of a text in a JSON string.
size_t JsonStringBytes(char c) {
  if (static_cast<unsigned char>(c) < 0x20) return std::string_view("\\u0000").size();
  return c == '"' || c == '\\' ? 2 : 1;
}

}  // namespace

std::vector<uint32_t> SortedMembers(const Item& item, uint32_t index) {
  std::vector<uint32_t> members;
  for (uint32_t i = Item::first_member(index); i < item[index].next; i = item[i].next)
    members.push_back(i);
  const AttributeType type = item[index].type;
  std::sort(members.begin(), members.end(), [&](uint32_t left, uint32_t right) {
    if (type == AttributeType::kMap) return item[left].name < item[right].name;
    if (type == AttributeType::kNumberSet)  // every N of an item is valid
      return *ParseDecimal(item[left].text) < *ParseDecimal(item[right].text);
    return item[left].text < item[right].text;
  });
  return members;
}

std::string JsonString(std::string_view text, size_t bytes_max) {
  size_t bytes = 2;  // quotes
  size_t taken = 0;
  while (taken < text.size() && bytes <= bytes_max) bytes += JsonStringBytes(text[taken++]);
  std::string json;
  json.reserve(bytes);
  AppendJsonString(text.substr(0, taken), &json);
  return json;
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t copied = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text.substr(copied, i - copied));
    copied = i + 1;
    if (c < 0x20) {
      out->append(fmt::format("\\u{:04x}", c));
    } else {
      out->push_back('\\');
      out->push_back(text[i]);
    }
  }
  out->append(text.substr(copied));
  out->push_back('"');
}

void AppendLabJson(const Item& item, uint32_t index, std::string* out) {
  const Item::Node& node = item[index];
  switch (node.type) {
    case AttributeType::kString:
      AppendJsonString(node.text, out);
      return;
    case AttributeType::kNumber:
    case AttributeType::kBool:
      out->append(node.text);
      return;
    case AttributeType::kNull:
      out->append("null");
      return;
    case AttributeType::kBinary:
      out->append("{\"$b\":");
      AppendBase64String(node.text, out);
      out->push_back('}');
      return;
    case AttributeType::kMap:
      AppendMap(item, index, out);
      return;
    case AttributeType::kList:
      out->push_back('[');
      for (uint32_t i = Item::first_member(index); i < node.next; i = item[i].next) {
        if (i != Item::first_member(index)) out->push_back(',');
        AppendLabJson(item, i, out);
      }
      out->push_back(']');
      return;
    default:
      AppendSet(item, index, out);
  }
}

absl::Status ParseLabJson(std::string_view text, std::string_view name, Item* item) {
  return LabJsonParser(text, item).ParseAll(name);
}

}  // namespace stele::internal::lab
