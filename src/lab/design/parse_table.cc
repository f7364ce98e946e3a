#include "lab/design/parse_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/status.h"
#include "lab/design/parse_query.h"
#include "lab/yaml/key_schema.h"
#include "lab/yaml/member_choice.h"
#include "lab/yaml/member_reader.h"
#include "stele/gc_rule.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kFamilyNameBytesMax = 64;

// The engine checks this, too, but only tables that have no other errors are created.
bool IsFamilyName(std::string_view name) {
  return !name.empty() && name.size() <= kFamilyNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

FamilySchema ParseFamilyOf(const YamlNode& node, DesignErrors* errors) {
  if (!IsFamilyName(node.name))
    errors->Add(node.name_mark,
                fmt::format("the name of a family is 1 to {} of [-_.a-zA-Z0-9], not \"{}\"",
                            kFamilyNameBytesMax, Printable(node.name)));
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

DesignKey ParseTypedKey(const YamlNode& node,
                        const std::function<bool(std::string_view name)>& has_family,
                        DesignErrors* errors) {
  DesignKey key;
  const auto add = [&](const MemberReader& field) {
    field.Require("from");
    key.from.push_back(field.TemplateOf("from").value_or(Template()));
    const YamlNode* const name = field.Find("name");
    if (name == nullptr || !has_family(name->text)) return;
    errors->Add(name->mark,
                fmt::format("\"{}\" is the name of a family: a field needs another name",
                            Printable(name->text)));
  };
  auto schema = ParseKeySchema(node, add, errors);
  if (!schema.has_value()) return key;
  if (schema->fields().empty()) errors->Add(node.mark, "row_key_schema has no fields");
  if (schema->encoding() == keys::RowKeySchema::KeyEncoding::kDelimited)
    key.delimiter = schema->delimiter();
  key.schema = *std::move(schema);
  return key;
}

// True if the text between two fields has a '#'.
bool HasNumberSign(const Template& text) {
  const std::vector<Template::Piece>& pieces = text.pieces();
  for (size_t i = 1; i + 1 < pieces.size(); ++i) {
    if (!pieces[i].is_field && pieces[i].text.find('#') != std::string::npos) return true;
  }
  return false;
}

DesignKey ParseKey(const MemberReader& table,
                   const std::function<bool(std::string_view name)>& has_family,
                   DesignErrors* errors) {
  const YamlNode* const schema = table.Find("row_key_schema");
  if ((schema != nullptr) == (table.Find("key") != nullptr))
    errors->Add(table.mark(), "a table has either key or row_key_schema");
  if (schema != nullptr) {
    DesignKey key = ParseTypedKey(*schema, has_family, errors);
    if (const YamlNode* const delimiter = table.Find("delimiter"))
      errors->Add(delimiter->mark, "row_key_schema has its own delimiter");
    return key;
  }
  DesignKey key;
  const auto text = table.TemplateOf("key");
  if (text.has_value() && text->pieces().empty())
    errors->Add(table.Find("key")->mark, "the key is empty");
  key.text = text.value_or(Template());
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
  const auto has_family = [&](std::string_view name) {
    return table.schema.family(name) != nullptr;
  };
  table.key = ParseKey(members, has_family, errors);
  for (const std::string_view name : {"key", "row_key_schema"})
    if (const YamlNode* const key = members.Find(name)) table.key_mark = key->name_mark;
  for (const YamlNode* const row : members.ElementsOf("rows"))
    table.rows.push_back(ParseRow(*row, table.schema, has_input, errors));
  const QueryScope scope{.has_family = has_family,
                         .writes_input =
                             [&](std::string_view name) {
                               return std::any_of(
                                   table.rows.begin(), table.rows.end(),
                                   [&](const DesignRow& row) { return row.input == name; });
                             },
                         .salts = SaltsOf(table.key)};
  for (const YamlNode* const query : members.MembersOf("queries"))
    table.queries.push_back(ParseQuery(*query, scope, errors));
  return table;
}

}  // namespace stele::internal::lab
