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

void AppendKeyPart(const KeyPart& part, std::string* out) {
  out->push_back('{');
  AppendTextMember("name", part.name, out);
  AppendTextMember("type", TypeName(part.type), out);
  AppendMember("pad", out);
  out->append(fmt::format("{}}}", part.pad_width));
}

// Reads the members of the mapping. The first wrong one is kept as the status.
class MappingReader {
 public:
  explicit MappingReader(simdjson::dom::object object) : object_(object) {}

  std::string Text(const simdjson::dom::object& object, std::string_view name) {
    std::string_view text;
    if (object[name].get(text) != simdjson::SUCCESS) Fail(name);
    return std::string(text);
  }
  std::string Text(std::string_view name) { return Text(object_, name); }
  // One of two words.
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
        "the member \"{}\" of {} is missing or not supported by this version", name,
        kMappingProperty);
  }

  const simdjson::dom::object object_;
  absl::Status status_;
};

}  // namespace

std::string Mapping::ToJson() const {
  std::string text = "{";
  AppendMember("version", &text);
  text.append(std::to_string(kMappingVersion));
  AppendTextMember("table", table, &text);
  AppendMember("key_attributes", &text);
  for (const KeyPart& part : key.parts()) {
    text.push_back(&part == &key.parts().front() ? '[' : ',');
    AppendKeyPart(part, &text);
  }
  text.push_back(']');
  AppendTextMember("key", key.is_ordered() ? "ordered" : "delimited", &text);
  AppendTextMember("delimiter", key.delimiter(), &text);
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
  simdjson::dom::element document;
  const absl::Status parsed = parser.ParseCopy(json, &document);
  if (!parsed.ok()) return internal::WithContext(parsed, kMappingProperty);
  simdjson::dom::object object;
  if (document.get(object) != simdjson::SUCCESS)
    return internal::InvalidArgument("{} is not a JSON object", kMappingProperty);
  MappingReader reader(object);
  reader.CheckVersion();
  Mapping mapping;
  mapping.table = reader.Text("table");
  mapping.sets_as_columns = reader.Choice("sets", "columns", "json");
  mapping.maps_as_columns = reader.Choice("maps", "columns", "json");
  mapping.ttl = reader.Text("ttl");
  reader.Counters(&mapping.counters);
  reader.Types(&mapping.types);
  std::vector<KeyPart> parts = reader.Key();
  const bool is_ordered = reader.Choice("key", "ordered", "delimited");
  std::string delimiter = reader.Text("delimiter");
  STELE_RETURN_IF_ERROR(reader.status());
  STELE_ASSIGN_OR_RETURN(mapping.key,
                         KeyLayout::Create(std::move(parts), is_ordered, std::move(delimiter)));
  return mapping;
}

}  // namespace stele::internal::lab
