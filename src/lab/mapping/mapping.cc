#include "lab/mapping/mapping.h"

#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/mapping/lab_json.h"

namespace stele::internal::lab {
namespace {

constexpr int64_t kMappingVersion = 1;
constexpr size_t kMappingDepthMax = 8;

void AppendMember(std::string_view name, std::string* out) {
  if (out->back() != '{') out->push_back(',');
  AppendJsonString(name, out);
  out->push_back(':');
}

void AppendTextMember(std::string_view name, std::string_view text, std::string* out) {
  AppendMember(name, out);
  AppendJsonString(text, out);
}

void AppendVersion(std::string* out) {
  AppendMember("version", out);
  out->append(std::to_string(kMappingVersion));
}

void AppendKeyPart(const KeyPart& part, std::string* out) {
  out->push_back('{');
  AppendTextMember("name", part.name, out);
  AppendTextMember("type", TypeName(part.type), out);
  AppendMember("pad", out);
  out->append(fmt::format("{}}}", part.pad_width));
}

void AppendKeyMembers(const KeyLayout& key, std::string* out) {
  AppendMember("key_attributes", out);
  for (const KeyPart& part : key.parts()) {
    out->push_back(&part == &key.parts().front() ? '[' : ',');
    AppendKeyPart(part, out);
  }
  out->push_back(']');
  AppendTextMember("key", key.is_ordered() ? "ordered" : "delimited", out);
  AppendTextMember("delimiter", key.delimiter(), out);
}

absl::StatusOr<simdjson::dom::object> ParseProperty(JsonParser& parser, std::string_view json,
                                                    std::string_view property) {
  simdjson::dom::element document;
  const absl::Status parsed = parser.ParseCopy(json, &document);
  if (!parsed.ok()) return internal::WithContext(parsed, property);
  simdjson::dom::object object;
  if (document.get(object) != simdjson::SUCCESS)
    return internal::InvalidArgument("{} is not a JSON object", property);
  return object;
}

// Reads the members of a property. The first wrong one is kept as the status.
class MappingReader {
 public:
  // `property`: its name, for errors.
  MappingReader(simdjson::dom::object object, std::string_view property)
      : object_(object), property_(property) {}

  std::string Text(const simdjson::dom::object& object, std::string_view name) {
    std::string_view text;
    if (object[name].get(text) != simdjson::SUCCESS) Fail(name);
    return std::string(text);
  }
  std::string Text(std::string_view name) { return Text(object_, name); }
  // Returns true for the word `yes`, and false for `no`.
  bool Choice(std::string_view name, std::string_view yes, std::string_view no) {
    const std::string text = Text(name);
    if (text != yes && text != no) Fail(name);
    return text == yes;
  }
  AttributeType Type(std::string_view name, const simdjson::dom::object& object,
                     std::string_view member) {
    const auto type = TypeOfName(Text(object, member));
    if (!type.has_value()) Fail(name);
    return type.value_or(AttributeType::kString);
  }
  absl::StatusOr<KeyLayout> Layout() {
    std::vector<KeyPart> parts = Key();
    const bool is_ordered = Choice("key", "ordered", "delimited");
    std::string delimiter = Text("delimiter");
    STELE_RETURN_IF_ERROR(status_);
    return KeyLayout::Create(std::move(parts), is_ordered, std::move(delimiter));
  }
  std::vector<KeyPart> Key() {
    std::vector<KeyPart> parts;
    simdjson::dom::array key;
    if (object_["key_attributes"].get(key) != simdjson::SUCCESS) {
      Fail("key_attributes");
      return parts;
    }
    for (const auto element : key) {
      simdjson::dom::object object;
      int64_t pad = -1;
      if (element.get(object) != simdjson::SUCCESS || object["pad"].get(pad) != simdjson::SUCCESS ||
          pad < 0 || pad > 19) {
        Fail("key_attributes");
        break;
      }
      parts.push_back({.name = Text(object, "name"),
                       .type = Type("key_attributes", object, "type"),
                       .pad_width = static_cast<int>(pad)});
    }
    if (parts.empty() || parts.size() > 8) Fail("key_attributes");
    return parts;
  }
  void Counters(std::set<std::string, std::less<>>* counters) {
    simdjson::dom::array names;
    if (object_["counters"].get(names) != simdjson::SUCCESS) return Fail("counters");
    for (const auto element : names) {
      std::string_view name;
      if (element.get(name) != simdjson::SUCCESS) Fail("counters");
      counters->emplace(name);
    }
  }
  void Types(TypeMap* types) {
    simdjson::dom::object names;
    if (object_["types"].get(names) != simdjson::SUCCESS) return Fail("types");
    for (const auto field : names) {
      std::string_view text;
      const auto type =
          field.value.get(text) == simdjson::SUCCESS ? TypeOfName(text) : std::nullopt;
      if (!type.has_value()) Fail("types");
      types->emplace(field.key, type.value_or(AttributeType::kString));
    }
  }
  void CheckVersion() {
    int64_t version = 0;
    if (object_["version"].get(version) != simdjson::SUCCESS || version != kMappingVersion)
      Fail("version");
  }
  const absl::Status& status() const { return status_; }

 private:
  void Fail(std::string_view name) {
    if (!status_.ok()) return;
    status_ = internal::InvalidArgument(
        "the member \"{}\" of {} is missing or not supported by this version", name, property_);
  }

  const simdjson::dom::object object_;
  const std::string_view property_;
  absl::Status status_;
};

}  // namespace

std::string Mapping::ToJson() const {
  std::string text = "{";
  AppendVersion(&text);
  AppendTextMember("table", table, &text);
  AppendKeyMembers(key, &text);
  AppendTextMember("sets", sets_as_columns ? "columns" : "json", &text);
  AppendTextMember("maps", maps_as_columns ? "columns" : "json", &text);
  AppendMember("counters", &text);
  text.push_back('[');
  for (const std::string& name : counters) {
    if (text.back() != '[') text.push_back(',');
    AppendJsonString(name, &text);
  }
  text.push_back(']');
  AppendTextMember("ttl", ttl, &text);
  AppendMember("types", &text);
  text.push_back('{');
  for (const auto& [name, type] : types) AppendTextMember(name, TypeName(type), &text);
  return text + "}}";
}

absl::StatusOr<Mapping> Mapping::Parse(std::string_view json) {
  JsonParser parser(kMappingDepthMax);
  STELE_ASSIGN_OR_RETURN(const simdjson::dom::object object,
                         ParseProperty(parser, json, kMappingProperty));
  MappingReader reader(object, kMappingProperty);
  reader.CheckVersion();
  Mapping mapping;
  mapping.table = reader.Text("table");
  mapping.sets_as_columns = reader.Choice("sets", "columns", "json");
  mapping.maps_as_columns = reader.Choice("maps", "columns", "json");
  mapping.ttl = reader.Text("ttl");
  reader.Counters(&mapping.counters);
  reader.Types(&mapping.types);
  STELE_ASSIGN_OR_RETURN(mapping.key, reader.Layout());
  return mapping;
}

std::string IndexMapping::ToJson() const {
  std::string text = "{";
  AppendVersion(&text);
  AppendTextMember("index_of", index_of, &text);
  AppendTextMember("rows", has_item_copies ? "all" : "keys", &text);
  AppendKeyMembers(key, &text);
  return text + "}";
}

absl::StatusOr<IndexMapping> IndexMapping::Parse(std::string_view json) {
  JsonParser parser(kMappingDepthMax);
  STELE_ASSIGN_OR_RETURN(const simdjson::dom::object object,
                         ParseProperty(parser, json, kIndexProperty));
  MappingReader reader(object, kIndexProperty);
  reader.CheckVersion();
  IndexMapping mapping;
  mapping.index_of = reader.Text("index_of");
  mapping.has_item_copies = reader.Choice("rows", "all", "keys");
  STELE_ASSIGN_OR_RETURN(mapping.key, reader.Layout());
  return mapping;
}

}  // namespace stele::internal::lab
