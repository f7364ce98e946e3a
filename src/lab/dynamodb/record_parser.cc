#include "lab/dynamodb/record_parser.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/values/base64.h"
#include "lab/values/decimal.h"

namespace stele::internal::lab {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

// A nested value takes at most two levels of JSON: {"L":[...]}.
constexpr size_t kJsonDepthMax = 2 * kNestingMax + 8;
// The number of levels in the path of an error: the attribute, and the members below it.
constexpr int kNamedLevelsMax = 4;

std::string Shown(std::string_view text) { return internal::Printable(text); }

// Finds the first name that occurs twice.
class NameCheck {
 public:
  absl::Status Check(const object& json) {
    names_.clear();
    for (const auto field : json) names_.emplace_back(field.key);
    std::sort(names_.begin(), names_.end());
    const auto twice = std::adjacent_find(names_.begin(), names_.end());
    if (twice == names_.end()) return absl::OkStatus();
    return internal::InvalidArgument("the name \"{}\" occurs twice", Shown(*twice));
  }

 private:
  std::vector<std::string_view> names_;
};

// Adds the values of one JSON object of attributes to an item.
class AttributeParser {
 public:
  AttributeParser(Item* item, NameCheck* names) : item_(*item), names_(*names) {}

  absl::Status Parse(const element& json, std::string_view where) {
    object attributes;
    if (json.get(attributes) != simdjson::SUCCESS)
      return internal::InvalidArgument("{} is not an object of attributes", where);
    item_.Clear();
    return ParseMembers(attributes, 0);
  }

 private:
  absl::Status ParseMembers(const object& members, int depth) {
    STELE_RETURN_IF_ERROR(names_.Check(members));
    for (const auto field : members) {
      const absl::Status parsed = ParseValue(field.key, field.value, depth);
      if (!parsed.ok() && depth >= kNamedLevelsMax) return parsed;
      if (!parsed.ok())
        return internal::WithContext(parsed, fmt::format("attribute \"{}\"", Shown(field.key)));
    }
    return absl::OkStatus();
  }

  absl::Status ParseValue(std::string_view name, const element& json, int depth) {
    object typed;
    if (json.get(typed) != simdjson::SUCCESS || typed.size() != 1) {
      return internal::InvalidArgument(
          "not a value with one type, such as {{\"S\":\"text\"}}, so this is not DynamoDB JSON: {}",
          kPlainJsonAdvice);
    }
    const auto field = *typed.begin();
    const auto type = TypeOfName(field.key);
    if (!type.has_value())
      return internal::InvalidArgument("\"{}\" is not a type: S N B BOOL NULL M L SS NS BS",
                                       Shown(field.key));
    const absl::Status parsed = *type == AttributeType::kMap || *type == AttributeType::kList
                                    ? ParseNested(name, *type, field.value, depth)
                                : IsSet(*type) ? ParseSet(name, *type, field.value)
                                               : ParseScalar(name, *type, field.value);
    const bool is_named = depth < kNamedLevelsMax;
    return parsed.ok() || !is_named ? parsed : internal::WithContext(parsed, TypeName(*type));
  }

  absl::Status ParseNested(std::string_view name, AttributeType type, const element& json,
                           int depth) {
    if (depth == kNestingMax)
      return internal::InvalidArgument("more than {} levels of lists and maps", kNestingMax);
    const uint32_t index = item_.Begin(name, type);
    if (type == AttributeType::kMap) {
      object members;
      if (json.get(members) != simdjson::SUCCESS)
        return internal::InvalidArgument("not a JSON object");
      STELE_RETURN_IF_ERROR(ParseMembers(members, depth + 1));
    } else {
      simdjson::dom::array members;
      if (json.get(members) != simdjson::SUCCESS)
        return internal::InvalidArgument("not a JSON array");
      for (const element member : members) STELE_RETURN_IF_ERROR(ParseValue({}, member, depth + 1));
    }
    item_.End(index);
    return absl::OkStatus();
  }

  absl::Status ParseScalar(std::string_view name, AttributeType type, const element& json) {
    if (type == AttributeType::kBool || type == AttributeType::kNull) {
      bool value = false;
      if (json.get(value) != simdjson::SUCCESS)
        return internal::InvalidArgument("not true or false");
      if (type == AttributeType::kNull && !value)
        return internal::InvalidArgument("NULL must be true");
      item_.Begin(name, type, type == AttributeType::kNull ? "" : (value ? "true" : "false"));
      return absl::OkStatus();
    }
    std::string_view text;
    if (json.get(text) != simdjson::SUCCESS) return internal::InvalidArgument("not a JSON string");
    if (type == AttributeType::kNumber) STELE_RETURN_IF_ERROR(ParseDecimal(text).status());
    if (type == AttributeType::kBinary) {
      std::string bytes;
      if (!AppendDecodedBase64(text, &bytes))
        return internal::InvalidArgument("\"{}\" is not base64 with padding", Shown(text));
      text = item_.Keep(std::move(bytes));
    }
    item_.Begin(name, type, text);
    return absl::OkStatus();
  }

  absl::Status ParseSet(std::string_view name, AttributeType type, const element& json) {
    simdjson::dom::array members;
    if (json.get(members) != simdjson::SUCCESS)
      return internal::InvalidArgument("not a JSON array");
    if (members.size() == 0) return internal::InvalidArgument("a set is never empty");
    const AttributeType member_type = type == AttributeType::kStringSet   ? AttributeType::kString
                                      : type == AttributeType::kNumberSet ? AttributeType::kNumber
                                                                          : AttributeType::kBinary;
    const uint32_t index = item_.Begin(name, type);
    for (const element member : members)
      STELE_RETURN_IF_ERROR(ParseScalar({}, member_type, member));
    item_.End(index);
    return CheckMembersDiffer(index, type);
  }

  absl::Status CheckMembersDiffer(uint32_t index, AttributeType type) {
    texts_.clear();
    for (uint32_t i = Item::first_member(index); i < item_[index].next; ++i)
      texts_.push_back(item_[i].text);
    const auto is_less = [&](std::string_view left, std::string_view right) {
      // All members are valid numbers.
      return type == AttributeType::kNumberSet ? *ParseDecimal(left) < *ParseDecimal(right)
                                               : left < right;
    };
    std::sort(texts_.begin(), texts_.end(), is_less);
    const auto twice = std::adjacent_find(
        texts_.begin(), texts_.end(),
        [&](std::string_view left, std::string_view right) { return !is_less(left, right); });
    if (twice == texts_.end()) return absl::OkStatus();
    return internal::InvalidArgument("the member \"{}\" occurs twice in a set", Shown(*twice));
  }

  Item& item_;
  NameCheck& names_;
  std::vector<std::string_view> texts_;
};

// {"N":"123"}, "123" or 123.
absl::StatusOr<int64_t> WriteMicros(const element& json) {
  int64_t micros = -1;
  element value = json;
  object typed;
  if (json.get(typed) == simdjson::SUCCESS && typed.size() == 1 && typed["N"].get(value)) {
    return internal::InvalidArgument("WriteTimestampMicros is not a number");
  }
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), micros);
    if (error != std::errc() || end != text.data() + text.size()) micros = -1;
  } else if (value.get(micros) != simdjson::SUCCESS) {
    micros = -1;
  }
  if (micros < 0)
    return internal::InvalidArgument("WriteTimestampMicros is not a number of microseconds");
  return micros;
}

}  // namespace

struct RecordParser::State {
  JsonParser json{kJsonDepthMax};
  NameCheck names;
  Item old_image;  // checked, and otherwise unused
};

RecordParser::RecordParser() : state_(std::make_unique<State>()) {}
RecordParser::~RecordParser() = default;

absl::Status RecordParser::ParseAttributes(std::string_view json, Item* item) {
  element document;
  STELE_RETURN_IF_ERROR(state_->json.Parse(json, &document));
  return AttributeParser(item, &state_->names).Parse(document, "the item");
}

absl::Status RecordParser::ParseRequest(std::string_view json, Record* record) {
  element document;
  STELE_RETURN_IF_ERROR(state_->json.Parse(json, &document));
  object members;
  element item;
  if (document.get(members) != simdjson::SUCCESS || members.size() != 1 ||
      members["PutRequest"]["Item"].get(item) != simdjson::SUCCESS)
    return internal::InvalidArgument("not a request {{\"PutRequest\":{{\"Item\":{{...}}}}}}");
  record->is_change = false;
  record->has_item = true;
  return AttributeParser(&record->item, &state_->names).Parse(item, "Item");
}

absl::Status RecordParser::ParseLine(std::string_view json, Record* record) {
  element document;
  STELE_RETURN_IF_ERROR(state_->json.Parse(json, &document));
  object members;
  if (document.get(members) != simdjson::SUCCESS)
    return internal::InvalidArgument("not a JSON object: {}", kPlainJsonAdvice);
  STELE_RETURN_IF_ERROR(state_->names.Check(members));
  const auto parse = [&](const element& value, std::string_view where, Item* item) {
    return internal::WithContext(AttributeParser(item, &state_->names).Parse(value, where), where);
  };
  bool has_keys = false;
  bool has_metadata = false;
  record->is_change = members["Item"].error() != simdjson::SUCCESS;
  record->has_item = false;
  for (const auto field : members) {
    absl::Status parsed;
    if (field.key == (record->is_change ? "NewImage" : "Item")) {
      record->has_item = true;
      parsed = parse(field.value, field.key, &record->item);
    } else if (record->is_change && field.key == "Keys") {
      has_keys = true;
      parsed = parse(field.value, field.key, &record->keys);
    } else if (record->is_change && field.key == "OldImage") {
      parsed = parse(field.value, field.key, &state_->old_image);
    } else if (record->is_change && field.key == "Metadata") {
      element micros;
      has_metadata = field.value["WriteTimestampMicros"].get(micros) == simdjson::SUCCESS;
      if (!has_metadata) return internal::InvalidArgument("Metadata has no WriteTimestampMicros");
      STELE_ASSIGN_OR_RETURN(record->write_micros, WriteMicros(micros));
    } else {
      return internal::InvalidArgument(
          "\"{}\" is no member of a line of DynamoDB JSON, which is {{\"Item\":{{...}}}} or a "
          "change with Metadata, Keys and NewImage: {}",
          Shown(field.key), kPlainJsonAdvice);
    }
    if (!parsed.ok()) return parsed;
  }
  if (record->is_change && (!has_keys || !has_metadata)) {
    return internal::InvalidArgument(
        "no member \"Item\", and no change with \"Metadata\" and \"Keys\": not DynamoDB JSON; {}",
        kPlainJsonAdvice);
  }
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
