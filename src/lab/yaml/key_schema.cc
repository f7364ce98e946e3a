#include "lab/yaml/key_schema.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/yaml/member_choice.h"

namespace stele::internal::lab {
namespace {

using keys::RowKeySchema;
using FieldType = RowKeySchema::FieldType;
using NumberEncoding = RowKeySchema::NumberEncoding;
using KeyEncoding = RowKeySchema::KeyEncoding;

RowKeySchema::Field ParseKeyField(const MemberReader& members, DesignErrors* errors) {
  members.Require("name");
  members.Require("type");
  RowKeySchema::Field field{.name = members.Text("name").value_or("")};
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
  return field;
}

}  // namespace

std::optional<RowKeySchema> ParseKeySchema(
    const YamlNode& node, const std::function<void(const MemberReader& field)>& add,
    DesignErrors* errors) {
  const MemberReader members(node, "row_key_schema", {"encoding", "delimiter", "fields"}, errors);
  const auto encoding = ChoiceOf<KeyEncoding>(members, "encoding",
                                              {{"ordered_code", KeyEncoding::kOrderedCode},
                                               {"delimited", KeyEncoding::kDelimited},
                                               {"singleton", KeyEncoding::kSingleton}},
                                              KeyEncoding::kOrderedCode, errors);
  std::vector<RowKeySchema::Field> fields;
  for (const YamlNode* const field : members.ElementsOf("fields")) {
    const MemberReader of_field(*field, "a field of row_key_schema",
                                {"name", "type", "encoding", "from"}, errors);
    fields.push_back(ParseKeyField(of_field, errors));
    add(of_field);
  }
  const std::string otherwise = encoding == KeyEncoding::kDelimited ? "#" : "";
  auto schema = RowKeySchema::Create(encoding, std::move(fields),
                                     members.Text("delimiter").value_or(otherwise));
  if (schema.ok()) return *std::move(schema);
  errors->Add(node.mark, ToStd(schema.status().message()));
  return std::nullopt;
}

absl::StatusOr<RowKeySchema> ParseKeySchemaFile(std::string_view text, std::string_view file) {
  DesignErrors errors{std::string(file)};
  const std::optional<YamlNode> root = ParseYaml(text, &errors);
  if (!root.has_value()) return errors.ToStatus();
  const YamlNode* schema = &*root;
  if (root->kind == YamlNode::Kind::kMap && root->children.size() == 1 &&
      root->children[0].name == "row_key_schema")
    schema = &root->children[0];
  auto parsed = ParseKeySchema(
      *schema, [](const MemberReader&) {}, &errors);
  STELE_RETURN_IF_ERROR(errors.ToStatus());
  return *std::move(parsed);
}

}  // namespace stele::internal::lab
