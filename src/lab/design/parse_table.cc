#include "lab/design/parse_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/status.h"
#include "lab/design/parse_query.h"
#include "lab/yaml/member_reader.h"
#include "stele/gc_rule.h"

namespace stele::internal::lab {
namespace {

using FieldType = keys::RowKeySchema::FieldType;
using NumberEncoding = keys::RowKeySchema::NumberEncoding;
using KeyEncoding = keys::RowKeySchema::KeyEncoding;

template <typename Value>
struct Choice {
  std::string_view name;
  Value value;
};

// Returns the value that a member names, or `otherwise` if it is missing.
template <typename Value>
Value ChoiceOf(const MemberReader& members, std::string_view name,
               std::initializer_list<Choice<Value>> choices, Value otherwise,
               DesignErrors* errors) {
  const auto text = members.Text(name);
  if (!text.has_value()) return otherwise;
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == *text) return choice.value;
    names.append(names.empty() ? "" : ", ").append(choice.name);
  }
  errors->Add(members.Find(name)->mark, fmt::format("{} must be one of {}", name, names));
  return otherwise;
}

FamilySchema ParseFamilyOf(const YamlNode& node, DesignErrors* errors) {
  const MemberReader members(node, "a family", {"gc", "type"}, errors);
  FamilySchema family{.name = node.name};
  if (const auto text = members.Text("gc")) {
    auto rule = GcRule::Parse(*text);
    if (rule.ok()) {
      family.gc = *std::move(rule);
    } else {
      errors->Add(members.Find("gc")->mark, ToStd(rule.status().message()));
    }
  }
  family.value_type = ChoiceOf<ValueType>(members, "type",
                                          {{"bytes", ValueType::kBytes},
                                           {"intsum", ValueType::kInt64Sum},
                                           {"intmin", ValueType::kInt64Min},
                                           {"intmax", ValueType::kInt64Max},
                                           {"inthll", ValueType::kHll}},
                                          ValueType::kBytes, errors);
  return family;
}

Schema ParseSchema(const MemberReader& members, DesignErrors* errors) {
  Schema schema;
  members.Require("families");
  for (const YamlNode* const family : members.MembersOf("families"))
    schema.AddFamily(ParseFamilyOf(*family, errors));
  schema.SetGranularity(ChoiceOf<TimestampGranularity>(
      members, "granularity",
      {{"millis", TimestampGranularity::kMillis}, {"micros", TimestampGranularity::kMicros}},
      TimestampGranularity::kMillis, errors));
  schema.SetCompression(ChoiceOf<Compression>(members, "compression",
                                              {{"none", Compression::kNone},
                                               {"fast", Compression::kFast},
                                               {"balanced", Compression::kBalanced}},
                                              Compression::kBalanced, errors));
  for (std::string& split : members.Texts("splits")) schema.AddSplit(std::move(split));
  return schema;
}

keys::RowKeySchema::Field ParseKeyField(const YamlNode& node, DesignKey* key,
                                        DesignErrors* errors) {
  const MemberReader members(node, "a field of row_key_schema",
                             {"name", "type", "encoding", "from"}, errors);
  members.Require("name");
  members.Require("type");
  members.Require("from");
  keys::RowKeySchema::Field field{.name = members.Text("name").value_or("")};
  field.type = ChoiceOf<FieldType>(members, "type",
                                   {{"string", FieldType::kString},
                                    {"bytes", FieldType::kBytes},
                                    {"int64", FieldType::kInt64},
                                    {"timestamp", FieldType::kTimestamp}},
                                   FieldType::kString, errors);
  field.encoding = ChoiceOf<NumberEncoding>(
      members, "encoding",
      {{"ordered_code", NumberEncoding::kOrderedCode}, {"big_endian", NumberEncoding::kBigEndian}},
      NumberEncoding::kOrderedCode, errors);
  const bool is_number = field.type == FieldType::kInt64 || field.type == FieldType::kTimestamp;
  if (!is_number && members.Find("encoding") != nullptr)
    errors->Add(members.Find("encoding")->mark, "only int64 and timestamp have an encoding");
  field.from = members.Text("from").value_or("");
  key->from.push_back(members.TemplateOf("from").value_or(Template()));
  return field;
}

void ParseKeySchema(const YamlNode& node, DesignKey* key, DesignErrors* errors) {
  const MemberReader members(node, "row_key_schema", {"encoding", "delimiter", "fields"}, errors);
  const auto encoding = ChoiceOf<KeyEncoding>(members, "encoding",
                                              {{"ordered_code", KeyEncoding::kOrderedCode},
                                               {"delimited", KeyEncoding::kDelimited},
                                               {"singleton", KeyEncoding::kSingleton}},
                                              KeyEncoding::kOrderedCode, errors);
  std::vector<keys::RowKeySchema::Field> fields;
  for (const YamlNode* const field : members.ElementsOf("fields"))
    fields.push_back(ParseKeyField(*field, key, errors));
  const std::string otherwise = encoding == KeyEncoding::kDelimited ? "#" : "";
  auto schema = keys::RowKeySchema::Create(encoding, std::move(fields),
                                           members.Text("delimiter").value_or(otherwise));
  if (!schema.ok()) {
    errors->Add(node.mark, ToStd(schema.status().message()));
    return;
  }
  if (schema->fields().empty()) errors->Add(node.mark, "row_key_schema has no fields");
  if (encoding == KeyEncoding::kDelimited) key->delimiter = schema->delimiter();
  key->schema = *std::move(schema);
}

// True if the text between two fields has a '#'.
bool HasNumberSign(const Template& text) {
  const std::vector<Template::Piece>& pieces = text.pieces();
  for (size_t i = 1; i + 1 < pieces.size(); ++i) {
    if (!pieces[i].is_field && pieces[i].text.find('#') != std::string::npos) return true;
  }
  return false;
}

DesignKey ParseKey(const MemberReader& table, DesignErrors* errors) {
  DesignKey key;
  const YamlNode* const schema = table.Find("row_key_schema");
  if ((schema != nullptr) == (table.Find("key") != nullptr))
    errors->Add(table.mark(), "a table has either key or row_key_schema");
  if (schema != nullptr) {
    ParseKeySchema(*schema, &key, errors);
    if (const YamlNode* const delimiter = table.Find("delimiter"))
      errors->Add(delimiter->mark, "row_key_schema has its own delimiter");
    return key;
  }
  key.text = table.TemplateOf("key").value_or(Template());
  if (table.Find("key") != nullptr && key.text.pieces().empty())
    errors->Add(table.Find("key")->mark, "the key is empty");
  key.delimiter = table.Text("delimiter").value_or(HasNumberSign(key.text) ? "#" : "");
  return key;
}

std::optional<DesignCell> ParseCell(const YamlNode& node, const Schema& schema,
                                    DesignErrors* errors) {
  const size_t colon = node.name.find(':');
  if (colon == std::string::npos) {
    errors->Add(node.name_mark, "a cell must have the form \"FAMILY:QUALIFIER\": VALUE");
    return std::nullopt;
  }
  DesignCell cell{.family = node.name.substr(0, colon)};
  if (schema.family(cell.family) == nullptr) {
    errors->Add(node.name_mark,
                fmt::format("the table has no family \"{}\"", Printable(cell.family)));
  }
  auto qualifier = Template::Parse(std::string_view(node.name).substr(colon + 1));
  if (!qualifier.ok()) {
    errors->Add(node.name_mark, ToStd(qualifier.status().message()));
    return std::nullopt;
  }
  cell.qualifier = *std::move(qualifier);
  auto value = TemplateOfNode(node, errors);
  if (!value.has_value()) return std::nullopt;
  cell.value = *std::move(value);
  return cell;
}

// A cell's time is in microseconds: the text of millis would be a time in 1970.
void CheckTimestamp(const MemberReader& members, const Template& timestamp, DesignErrors* errors) {
  using Kind = TemplateFunction::Kind;
  if (timestamp.pieces().size() != 1 || timestamp.pieces()[0].functions.empty()) return;
  const Kind last = timestamp.pieces()[0].functions.back().kind;
  if (last != Kind::kSeconds && last != Kind::kMillis) return;
  errors->Add(members.Find("timestamp")->mark,
              fmt::format("timestamp is in microseconds: write {{{}|micros}}",
                          Printable(timestamp.pieces()[0].text)));
}

DesignRow ParseRow(const YamlNode& node, const Schema& schema,
                   const std::function<bool(std::string_view)>& has_input, DesignErrors* errors) {
  const MemberReader members(node, "an entry of rows", {"input", "when", "timestamp", "cells"},
                             errors);
  members.Require("input");
  members.Require("cells");
  DesignRow row{.input = members.Text("input").value_or("")};
  if (members.Find("input") != nullptr && !has_input(row.input)) {
    errors->Add(members.Find("input")->mark,
                fmt::format("the design has no input \"{}\"", Printable(row.input)));
  }
  for (const YamlNode* const field : members.MembersOf("when")) {
    if (const auto value = TextOfNode(*field, errors)) row.when.emplace_back(field->name, *value);
  }
  row.timestamp = members.TemplateOf("timestamp");
  if (row.timestamp.has_value()) CheckTimestamp(members, *row.timestamp, errors);
  const std::vector<const YamlNode*> cells = members.MembersOf("cells");
  if (cells.empty() && members.Find("cells") != nullptr)
    errors->Add(members.Find("cells")->mark, "cells has no cell");
  for (const YamlNode* const cell : cells) {
    if (auto parsed = ParseCell(*cell, schema, errors)) row.cells.push_back(*std::move(parsed));
  }
  return row;
}

std::set<int64_t> SaltsOf(const DesignKey& key) {
  std::set<int64_t> salts;
  const auto add = [&](const Template& text) {
    for (const Template::Piece& piece : text.pieces())
      for (const TemplateFunction& function : piece.functions)
        if (function.kind == TemplateFunction::Kind::kSalt) salts.insert(function.number);
  };
  add(key.text);
  for (const Template& part : key.from) add(part);
  return salts;
}

}  // namespace

DesignTable ParseTable(const YamlNode& node,
                       const std::function<bool(std::string_view input)>& has_input,
                       DesignErrors* errors) {
  const MemberReader members(node, "a table",
                             {"families", "granularity", "compression", "splits", "key",
                              "row_key_schema", "delimiter", "rows", "queries"},
                             errors);
  DesignTable table{.name = node.name, .mark = node.name_mark};
  table.schema = ParseSchema(members, errors);
  if (const YamlNode* const families = members.Find("families"))
    for (const YamlNode& family : families->children)
      table.family_marks.emplace(family.name, family.name_mark);
  table.key = ParseKey(members, errors);
  for (const std::string_view name : {"key", "row_key_schema"})
    if (const YamlNode* const key = members.Find(name)) table.key_mark = key->name_mark;
  for (const YamlNode* const row : members.ElementsOf("rows"))
    table.rows.push_back(ParseRow(*row, table.schema, has_input, errors));
  const QueryScope scope{
      .has_family = [&](std::string_view name) { return table.schema.family(name) != nullptr; },
      .writes_input =
          [&](std::string_view name) {
            return std::any_of(table.rows.begin(), table.rows.end(),
                               [&](const DesignRow& row) { return row.input == name; });
          },
      .salts = SaltsOf(table.key)};
  for (const YamlNode* const query : members.MembersOf("queries"))
    table.queries.push_back(ParseQuery(*query, scope, errors));
  return table;
}

}  // namespace stele::internal::lab
