#include "lab/design/parse_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "lab/design/parse_query.h"
#include "lab/template/template_check.h"
#include "lab/values/time_text.h"
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

// {@bucket} is a field of the reads of queries with fan_out. A record does not have it.
void CheckHasNoBucket(const Template& text, Mark mark, DesignErrors* errors) {
  std::set<std::string, std::less<>> fields;
  text.AddFieldsTo(&fields);
  if (!fields.contains(kBucketField)) return;
  errors->Add(mark,
              "{@bucket} is for the rows that a query with fan_out reads; the bucket of a row key "
              "is {FIELD|salt:N}");
}

void CheckNumber(const Template& text, Mark mark, std::string_view what, DesignErrors* errors) {
  const absl::Status status = CheckIsNumber(text);
  if (!status.ok()) errors->Add(mark, fmt::format("{}: {}", what, ToStd(status.message())));
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
  std::set<std::string> splits;
  for (const YamlNode* const element : members.ElementsOf("splits")) {
    auto split = TextOfNode(*element, errors);
    if (!split.has_value()) continue;
    if (!splits.insert(*split).second)
      errors->AddForFile(element->mark,
                         fmt::format("the split \"{}\" is repeated", Printable(*split)));
    schema.AddSplit(*std::move(split));
  }
  return schema;
}

// Checks the templates of fields that have a number or a time.
void CheckKeyNumbers(const keys::RowKeySchema& schema, const std::vector<Template>& from,
                     const std::vector<Mark>& marks, DesignErrors* errors) {
  using FieldType = keys::RowKeySchema::FieldType;
  for (size_t i = 0; i < std::min(from.size(), schema.fields().size()); ++i) {
    const keys::RowKeySchema::Field& field = schema.fields()[i];
    const bool is_time = field.type == FieldType::kTimestamp;
    if (from[i].text().empty() || (field.type != FieldType::kInt64 && !is_time)) continue;
    // The text of a time may be RFC 3339.
    if (is_time && (from[i].has_fields() || ParseTime(from[i].pieces()[0].text).has_value()))
      continue;
    CheckNumber(from[i], marks[i], fmt::format("the key field {}", field.name), errors);
  }
}

DesignKey ParseTypedKey(const YamlNode& node,
                        const std::function<bool(std::string_view name)>& has_family,
                        DesignErrors* errors) {
  DesignKey key;
  std::vector<Mark> marks;
  const auto add = [&](const MemberReader& field) {
    field.Require("from");
    key.from.push_back(field.TemplateOf("from").value_or(Template()));
    marks.push_back(field.Find("from") == nullptr ? field.mark() : field.Find("from")->mark);
    CheckHasNoBucket(key.from.back(), marks.back(), errors);
    const YamlNode* const name = field.Find("name");
    if (name == nullptr || !has_family(name->text)) return;
    errors->Add(name->mark,
                fmt::format("\"{}\" is the name of a family: a field needs another name",
                            Printable(name->text)));
  };
  auto schema = ParseKeySchema(node, add, errors);
  if (!schema.has_value()) return key;
  if (schema->fields().empty()) errors->Add(node.mark, "row_key_schema has no fields");
  CheckKeyNumbers(*schema, key.from, marks, errors);
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
  if (text.has_value()) CheckHasNoBucket(*text, table.Find("key")->mark, errors);
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
  const FamilySchema* const family = schema.family(cell.family);
  if (family == nullptr) {
    errors->Add(node.name_mark,
                fmt::format("the table has no family \"{}\"", Printable(cell.family)));
  }
  auto qualifier = Template::Parse(std::string_view(node.name).substr(colon + 1));
  const absl::Status status = qualifier.ok() ? CheckFunctions(*qualifier) : qualifier.status();
  if (!status.ok()) {
    errors->Add(node.name_mark, ToStd(status.message()));
    return std::nullopt;
  }
  const absl::Status units = CheckUnits(*qualifier);
  if (!units.ok() && errors->AddForFile(node.name_mark, ToStd(units.message())))
    return std::nullopt;
  cell.qualifier = *std::move(qualifier);
  CheckHasNoBucket(cell.qualifier, node.name_mark, errors);
  if (!cell.qualifier.has_fields() && !cell.qualifier.pieces().empty() &&
      cell.qualifier.pieces()[0].text.size() > schema.limits().qualifier_bytes)
    errors->Add(node.name_mark, fmt::format("the qualifier has more than {} bytes",
                                            schema.limits().qualifier_bytes));
  auto value = TemplateOfNode(node, errors);
  if (!value.has_value()) return std::nullopt;
  cell.value = *std::move(value);
  CheckHasNoBucket(cell.value, node.mark, errors);
  if (family == nullptr || family->value_type == ValueType::kBytes ||
      family->value_type == ValueType::kHll)
    return cell;
  CheckNumber(cell.value, node.mark, fmt::format("the family {} has numbers", cell.family), errors);
  return cell;
}

// True if the functions make a time in another unit. A function that keeps the time is passed over.
bool HasOtherUnit(const std::vector<TemplateFunction>& functions) {
  using Kind = TemplateFunction::Kind;
  for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
    switch (function->kind) {
      case Kind::kOr:
      case Kind::kPad:
      case Kind::kTrim:
        continue;
      case Kind::kSeconds:
      case Kind::kMillis:
      case Kind::kDay:
      case Kind::kHour:
      case Kind::kMonth:
      case Kind::kIsoDay:
      case Kind::kReverseDate:
        return true;
      case Kind::kBucketTime:
        return static_cast<keys::TimeUnit>(function->length) != keys::TimeUnit::kMicros;
      default:
        return false;
    }
  }
  return false;
}

// A cell's time is in microseconds: the text of millis would be a time in 1970.
void CheckTimestamp(const Template& timestamp, Mark mark, const Schema& schema,
                    DesignErrors* errors) {
  CheckHasNoBucket(timestamp, mark, errors);
  const std::vector<Template::Piece>& pieces = timestamp.pieces();
  if (pieces.size() == 1 && pieces[0].is_field && HasOtherUnit(pieces[0].functions)) {
    errors->Add(mark, fmt::format("timestamp is in microseconds: write {{{}|micros}}",
                                  Printable(pieces[0].text)));
    return;
  }
  CheckNumber(timestamp, mark, "timestamp", errors);
  if (timestamp.has_fields() || pieces.empty() || !CheckIsNumber(timestamp).ok()) return;
  int64_t micros = 0;
  if (!absl::SimpleAtoi(pieces[0].text, &micros)) return;
  if (micros < 0) errors->Add(mark, "timestamp is negative");
  if (schema.granularity() == TimestampGranularity::kMillis && micros % 1000 != 0)
    errors->Add(mark, "timestamp is not a multiple of 1000: granularity: micros keeps it");
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
    if (field->name == kBucketField)
      errors->Add(field->name_mark, "@bucket is no field of a record");
    if (const auto value = TextOfNode(*field, errors)) row.when.emplace_back(field->name, *value);
  }
  row.timestamp = members.TemplateOf("timestamp");
  if (row.timestamp.has_value())
    CheckTimestamp(*row.timestamp, members.Find("timestamp")->mark, schema, errors);
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
