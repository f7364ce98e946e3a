#include "lab/mapping/key_layout.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/values/decimal.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kPlainDigitsMax = 19;
constexpr int kPadWidths[] = {10, 13, 16, 19};
constexpr size_t kDelimiterBytesMax = 50;
constexpr size_t kNumberBytesMax = 4 + Decimal::kDigitsMax + 1;

bool IsAllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string HexOf(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::optional<std::string> BytesOfHex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const size_t high = kDigits.find(text[i]);
    const size_t low = kDigits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

absl::StatusOr<std::string> EncodeNumber(const KeyPart& part, std::string_view text) {
  if (part.pad_width > 0) {
    auto padded = keys::Pad(text, part.pad_width);
    if (padded.ok()) return padded;
    return internal::InvalidArgument(
        "key attribute \"{}\": {} does not fit into the {} digits of the table's keys",
        internal::Printable(part.name), internal::Printable(text), part.pad_width);
  }
  STELE_ASSIGN_OR_RETURN(const Decimal number, ParseDecimal(text));
  return SortableDecimal(number);
}

absl::StatusOr<std::string> EncodePart(const KeyPart& part, std::string_view text,
                                       bool is_ordered) {
  if (part.type == AttributeType::kNumber) return EncodeNumber(part, text);
  if (part.type == AttributeType::kBinary && !is_ordered) return HexOf(text);
  return std::string(text);
}

absl::StatusOr<std::string> DecodePart(const KeyPart& part, std::string text, bool is_ordered) {
  const auto wrong = [&] {
    return internal::InvalidArgument("the row key has no valid \"{}\"",
                                     internal::Printable(part.name));
  };
  if (part.type == AttributeType::kNumber && part.pad_width > 0) {
    if (text.size() != static_cast<size_t>(part.pad_width) || !IsAllDigits(text)) return wrong();
    const size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
    return text.substr(first);
  }
  if (part.type == AttributeType::kNumber) {
    const auto number = ParseSortableDecimal(text);
    if (!number.ok()) return wrong();
    return DecimalText(*number);
  }
  if (part.type == AttributeType::kBinary && !is_ordered) {
    const std::optional<std::string> bytes = BytesOfHex(text);
    if (!bytes.has_value()) return wrong();
    text = *bytes;
  }
  if (text.empty() || (part.type == AttributeType::kString && !IsUtf8(text))) return wrong();
  return text;
}

absl::Status MissingKey(std::string_view name) {
  return internal::InvalidArgument("the key attribute \"{}\" is missing",
                                   internal::Printable(name));
}

}  // namespace

absl::StatusOr<KeyLayout> KeyLayout::Create(std::vector<KeyPart> parts, bool is_ordered,
                                            std::string delimiter) {
  KeyLayout layout;
  layout.is_ordered_ = is_ordered;
  layout.parts_ = std::move(parts);
  layout.delimiter_ = std::move(delimiter);
  if (layout.delimiter_.size() > kDelimiterBytesMax)
    return internal::InvalidArgument("the delimiter has {} bytes, at most {}",
                                     layout.delimiter_.size(), kDelimiterBytesMax);
  for (size_t i = 0; i + 1 < layout.parts_.size() && !is_ordered; ++i) {
    if (layout.delimiter_.empty()) return internal::InvalidArgument("the delimiter is empty");
    const bool can_have_it =
        layout.parts_[i].type != AttributeType::kString &&
        layout.delimiter_.find_first_of("0123456789abcdef-:") != std::string::npos;
    if (can_have_it) {
      return internal::InvalidArgument(
          "the delimiter \"{}\" may occur in the key attribute \"{}\", which is not text",
          internal::Printable(layout.delimiter_), internal::Printable(layout.parts_[i].name));
    }
  }
  if (!is_ordered) return layout;
  std::vector<keys::RowKeySchema::Field> fields;
  for (size_t i = 0; i < layout.parts_.size(); ++i) {
    fields.push_back({.name = fmt::format("f{}", i),
                      .type = layout.parts_[i].type == AttributeType::kBinary
                                  ? keys::RowKeySchema::FieldType::kBytes
                                  : keys::RowKeySchema::FieldType::kString});
  }
  STELE_ASSIGN_OR_RETURN(
      layout.schema_,
      keys::RowKeySchema::Create(keys::RowKeySchema::KeyEncoding::kOrderedCode, std::move(fields)));
  return layout;
}

bool KeyLayout::HasPart(std::string_view name) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const KeyPart& part) { return part.name == name; });
}

absl::StatusOr<std::string> KeyLayout::Encode(const Item& item) const {
  std::string row_key;
  std::vector<keys::Value> values;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::optional<uint32_t> found = item.Find(parts_[i].name);
    if (!found.has_value()) return MissingKey(parts_[i].name);
    if (item[*found].type != parts_[i].type) {
      return internal::InvalidArgument("the key attribute \"{}\" has the type {}, not {}",
                                       internal::Printable(parts_[i].name),
                                       TypeName(item[*found].type), TypeName(parts_[i].type));
    }
    STELE_ASSIGN_OR_RETURN(std::string text, EncodePart(parts_[i], item[*found].text, is_ordered_));
    if (text.empty())
      return internal::InvalidArgument("the key attribute \"{}\" is empty",
                                       internal::Printable(parts_[i].name));
    if (is_ordered_) {
      values.emplace_back(std::move(text));
      continue;
    }
    const bool is_last = i + 1 == parts_.size();
    if (!is_last && (text + delimiter_).find(delimiter_) != text.size()) {
      return internal::InvalidArgument(
          "the delimiter \"{}\" occurs in the key attribute \"{}\": use another one, or --key "
          "ordered",
          internal::Printable(delimiter_), internal::Printable(parts_[i].name));
    }
    row_key.append(text);
    if (!is_last) row_key.append(delimiter_);
  }
  if (is_ordered_) return schema_.Encode(values, kRowKeyBytesMax);
  if (row_key.size() <= kRowKeyBytesMax) return row_key;
  return internal::InvalidArgument("the row key has {} bytes, at most {}", row_key.size(),
                                   kRowKeyBytesMax);
}

absl::StatusOr<std::vector<std::string>> KeyLayout::Split(std::string_view row_key) const {
  std::vector<std::string> texts;
  if (is_ordered_) {
    STELE_ASSIGN_OR_RETURN(const std::vector<keys::Value> values, schema_.Decode(row_key));
    for (const keys::Value& value : values) {
      const std::string* const text = std::get_if<std::string>(&value);
      if (text == nullptr) return internal::InvalidArgument("the row key has other fields");
      texts.push_back(*text);
    }
    return texts;
  }
  for (size_t i = 0; i + 1 < parts_.size(); ++i) {
    const size_t at = row_key.find(delimiter_);
    if (at == std::string_view::npos)
      return internal::InvalidArgument("the row key has no delimiter \"{}\"",
                                       internal::Printable(delimiter_));
    texts.emplace_back(row_key.substr(0, at));
    row_key.remove_prefix(at + delimiter_.size());
  }
  texts.emplace_back(row_key);
  return texts;
}

absl::Status KeyLayout::Decode(std::string_view row_key, Item* item) const {
  STELE_ASSIGN_OR_RETURN(std::vector<std::string> texts, Split(row_key));
  for (size_t i = 0; i < parts_.size(); ++i) {
    STELE_ASSIGN_OR_RETURN(std::string text,
                           DecodePart(parts_[i], std::move(texts[i]), is_ordered_));
    item->Begin(parts_[i].name, parts_[i].type, item->Keep(std::move(text)));
  }
  return absl::OkStatus();
}

KeySurvey::KeySurvey(std::vector<std::string> names, bool is_ordered, std::string delimiter)
    : is_ordered_(is_ordered), delimiter_(std::move(delimiter)) {
  for (std::string& name : names) parts_.push_back({.name = std::move(name), .type = {}});
}

// The parts have their final encoding only after all keys are known, so a number counts with its
// largest size.
absl::Status KeySurvey::CheckTexts(const Item& item,
                                   const std::vector<std::string_view>& texts) const {
  size_t bytes = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool is_last = i + 1 == texts.size();
    const AttributeType type = item[*item.Find(parts_[i].name)].type;
    const auto zeros = static_cast<size_t>(std::count(texts[i].begin(), texts[i].end(), '\0'));
    bytes += type == AttributeType::kNumber   ? kNumberBytesMax
             : is_ordered_                    ? texts[i].size() + zeros
             : type == AttributeType::kBinary ? 2 * texts[i].size()
                                              : texts[i].size();
    if (!is_last) bytes += is_ordered_ ? 2 : std::max<size_t>(1, delimiter_.size());
    if (is_last || is_ordered_ || delimiter_.empty() || type != AttributeType::kString) continue;
    if (std::string(texts[i]).append(delimiter_).find(delimiter_) == texts[i].size()) continue;
    return internal::InvalidArgument(
        "the delimiter \"{}\" occurs in the key attribute \"{}\": use another one, or --key "
        "ordered",
        internal::Printable(delimiter_), internal::Printable(parts_[i].name));
  }
  if (bytes <= kRowKeyBytesMax) return absl::OkStatus();
  return internal::InvalidArgument("the row key has up to {} bytes, at most {}", bytes,
                                   kRowKeyBytesMax);
}

void KeySurvey::AddNumber(std::string_view text, Part* part) {
  part->is_plain = part->is_plain && IsAllDigits(text) && text.size() <= kPlainDigitsMax;
  part->digits_max = std::max(part->digits_max, text.size());
}

absl::Status KeySurvey::Add(const Item& item) {
  std::vector<std::string_view> texts;
  for (const Part& part : parts_) {
    const std::optional<uint32_t> found = item.Find(part.name);
    if (!found.has_value()) return MissingKey(part.name);
    const Item::Node& node = item[*found];
    const bool may_be_key = node.type == AttributeType::kString ||
                            node.type == AttributeType::kNumber ||
                            node.type == AttributeType::kBinary;
    if (!may_be_key || node.type != part.type.value_or(node.type)) {
      return internal::InvalidArgument("the key attribute \"{}\" has the type {}, not {}",
                                       internal::Printable(part.name), TypeName(node.type),
                                       part.type.has_value() ? TypeName(*part.type) : "S, N or B");
    }
    if (node.text.empty())
      return internal::InvalidArgument("the key attribute \"{}\" is empty",
                                       internal::Printable(part.name));
    texts.push_back(node.text);
  }
  STELE_RETURN_IF_ERROR(CheckTexts(item, texts));
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].type = item[*item.Find(parts_[i].name)].type;
    if (parts_[i].type == AttributeType::kNumber) AddNumber(texts[i], &parts_[i]);
  }
  for (size_t d = 0; d < kDelimiters.size(); ++d) {
    for (size_t i = 0; i + 1 < parts_.size(); ++i) {
      if (parts_[i].type != AttributeType::kString) continue;
      if (texts[i].find(kDelimiters[d]) == std::string_view::npos) continue;
      ++counts_[d];
      break;
    }
  }
  return absl::OkStatus();
}

std::string KeySurvey::Identity(const Item& item) const {
  std::string identity;
  for (const Part& part : parts_) {
    const Item::Node& node = item[*item.Find(part.name)];
    const std::string text = node.type == AttributeType::kNumber
                                 ? SortableDecimal(*ParseDecimal(node.text))
                                 : std::string(node.text);
    identity.append(fmt::format("{}:", text.size())).append(text);
  }
  return identity;
}

uint64_t KeySurvey::CountWith(char delimiter) const {
  const auto* const found = std::find(kDelimiters.begin(), kDelimiters.end(), delimiter);
  return found == kDelimiters.end() ? 0 : counts_[static_cast<size_t>(found - kDelimiters.begin())];
}

absl::StatusOr<KeyLayout> KeySurvey::Choose() const {
  std::vector<KeyPart> parts;
  for (const Part& part : parts_) {
    KeyPart& chosen = parts.emplace_back();
    chosen.name = part.name;
    chosen.type = part.type.value_or(AttributeType::kString);
    if (chosen.type != AttributeType::kNumber || !part.is_plain || is_ordered_) continue;
    chosen.pad_width =
        *std::find_if(std::begin(kPadWidths), std::end(kPadWidths) - 1,
                      [&](int width) { return static_cast<size_t>(width) >= part.digits_max; });
  }
  if (is_ordered_ || parts.size() == 1) return KeyLayout::Create(std::move(parts), is_ordered_, "");
  if (!delimiter_.empty()) return KeyLayout::Create(std::move(parts), false, delimiter_);
  for (size_t d = 0; d < kDelimiters.size(); ++d) {
    if (counts_[d] == 0)
      return KeyLayout::Create(std::move(parts), false, std::string(1, kDelimiters[d]));
  }
  return internal::InvalidArgument(
      "each of the delimiters # | / ~ occurs in a partition key: name another one with "
      "--delimiter, or use --key ordered");
}

}  // namespace stele::internal::lab
