#include "stele/lab/design.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "lab/design/design_json.h"
#include "lab/design/map_fields.h"
#include "lab/design/parse_design.h"
#include "lab/design/query_request.h"
#include "lab/design/row_mapping.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

constexpr char kKeySchemaProperty[] = "row_key_schema";
constexpr size_t kListedQueriesMax = 20;
constexpr size_t kShownBytesMax = 300;  // of a key

absl::StatusOr<const DesignTable*> FindDesignTable(const DesignModel& design,
                                                   std::string_view name) {
  const auto table = std::find_if(design.tables.begin(), design.tables.end(),
                                  [&](const DesignTable& each) { return each.name == name; });
  if (table != design.tables.end()) return &*table;
  return NotFound("{} has no table \"{}\"", ShownText(design.file), Printable(name));
}

absl::StatusOr<const DesignQuery*> FindQuery(const DesignModel& design, const DesignTable& table,
                                             std::string_view name) {
  const auto query = std::find_if(table.queries.begin(), table.queries.end(),
                                  [&](const DesignQuery& each) { return each.name == name; });
  if (query != table.queries.end()) return &*query;
  if (table.queries.empty())
    return NotFound("{}: the table {} has no queries", ShownText(design.file),
                    Printable(table.name));
  std::vector<std::string> names;
  for (const DesignQuery& each : table.queries)
    if (names.size() < kListedQueriesMax) names.push_back(Printable(each.name));
  if (table.queries.size() > names.size()) names.emplace_back("...");
  return NotFound("{}: the table {} has no query \"{}\"; its queries are {}",
                  ShownText(design.file), Printable(table.name), Printable(name),
                  fmt::join(names, ", "));
}

Schema WithoutProperties(const Schema& schema) {
  Schema plain;
  for (const FamilySchema& family : schema.families()) plain.AddFamily(family);
  plain.SetGranularity(schema.granularity()).SetCompression(schema.compression());
  for (const std::string& split : schema.splits()) plain.AddSplit(split);
  return plain;
}

std::string FamilyText(const FamilySchema& family) {
  return fmt::format("gc {}, type {}", family.gc.ToString(), ValueTypeName(family.value_type));
}

// Returns the first family that differs, or "".
std::string FamilyDifference(const Schema& existing, const Schema& wanted) {
  for (const FamilySchema& family : wanted.families()) {
    const FamilySchema* const found = existing.family(family.name);
    if (found == nullptr) return fmt::format("it has no family \"{}\"", Printable(family.name));
    if (*found == family) continue;
    return fmt::format("its family \"{}\" has {}, and the design {}", Printable(family.name),
                       FamilyText(*found), FamilyText(family));
  }
  for (const FamilySchema& family : existing.families())
    if (wanted.family(family.name) == nullptr)
      return fmt::format("it has a family \"{}\", and the design has none", Printable(family.name));
  return "";
}

std::string KeyText(const DesignKey& key) {
  return key.schema.has_value() ? "row_key_schema " + key.schema->ToString()
                                : "key " + key.text.text();
}

// Returns the first difference between an existing table and a table of a design, or "". Without
// `compares_key`, only the families are compared: a server stores nothing else.
std::string DifferenceOf(const Schema& existing, const Schema& wanted, bool compares_key) {
  std::string families = FamilyDifference(existing, wanted);
  if (!families.empty() || !compares_key) return families;
  if (existing.granularity() != wanted.granularity()) return "its granularity differs";
  if (existing.compression() != wanted.compression()) return "its compression differs";
  const auto design = existing.properties().find(kDesignProperty);
  if (design == existing.properties().end())
    return "it was made without a design, so its key is not known";
  const auto parsed = ParseStoredDesign(design->second);
  const auto parsed_wanted = ParseStoredDesign(wanted.properties().find(kDesignProperty)->second);
  if (!parsed.ok() || !parsed_wanted.ok()) return "its property lab.design is no design";
  const DesignKey& key = parsed->tables[0].key;
  const DesignKey& wanted_key = parsed_wanted->tables[0].key;
  if (key.text.pieces() != wanted_key.text.pieces() || key.schema != wanted_key.schema)
    return fmt::format("it has the {}, and the design the {}",
                       Printable(KeyText(key), kShownBytesMax),
                       Printable(KeyText(wanted_key), kShownBytesMax));
  if (key.delimiter != wanted_key.delimiter)
    return fmt::format("its delimiter is \"{}\", and that of the design \"{}\"",
                       Printable(key.delimiter), Printable(wanted_key.delimiter));
  return "";
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

using internal::lab::DesignModel;
using internal::lab::DesignQuery;
using internal::lab::DesignRow;
using internal::lab::DesignTable;

Design::Design(std::shared_ptr<const DesignModel> model) : model_(std::move(model)) {}

absl::StatusOr<Design> Design::Parse(std::string_view text, std::string_view name) {
  STELE_ASSIGN_OR_RETURN(DesignModel model, internal::lab::ParseDesign(text, name));
  return Design(std::make_shared<const DesignModel>(std::move(model)));
}

absl::StatusOr<Design> Design::Load(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const std::string text, internal::lab::ReadDesignFile(path));
  return Parse(text, path);
}

const std::string& Design::name() const { return model_->file; }

std::vector<std::string> Design::tables() const {
  std::vector<std::string> names;
  for (const DesignTable& table : model_->tables) names.push_back(table.name);
  return names;
}

std::vector<std::string> Design::queries(std::string_view table) const {
  std::vector<std::string> names;
  const auto found = internal::lab::FindDesignTable(*model_, table);
  if (!found.ok()) return names;
  for (const auto& query : (*found)->queries) names.push_back(query.name);
  return names;
}

absl::StatusOr<Schema> Design::TableSchema(std::string_view table) const {
  STELE_ASSIGN_OR_RETURN(const DesignTable* const found,
                         internal::lab::FindDesignTable(*model_, table));
  Schema schema = found->schema;
  schema.SetProperty(std::string(internal::lab::kDesignProperty),
                     internal::lab::TableDesignJson(*model_, *found));
  if (found->key.schema.has_value())
    schema.SetProperty(internal::lab::kKeySchemaProperty, found->key.schema->ToString());
  return schema;
}

absl::StatusOr<std::string> Design::Key(std::string_view table, const Record& record) const {
  STELE_ASSIGN_OR_RETURN(const DesignTable* const found,
                         internal::lab::FindDesignTable(*model_, table));
  return internal::lab::MapKey(*found, internal::lab::MapFields(record));
}

absl::StatusOr<RowMutation> Design::Map(std::string_view table, std::string_view input,
                                        const Record& record, Timestamp time) const {
  STELE_ASSIGN_OR_RETURN(const DesignTable* const found,
                         internal::lab::FindDesignTable(*model_, table));
  return internal::lab::MapRecord(*found, input, internal::lab::MapFields(record), time);
}

absl::StatusOr<std::string> Design::WrittenInput(std::string_view table,
                                                 std::string_view query) const {
  STELE_ASSIGN_OR_RETURN(const DesignTable* const in,
                         internal::lab::FindDesignTable(*model_, table));
  STELE_ASSIGN_OR_RETURN(const DesignQuery* const found,
                         internal::lab::FindQuery(*model_, *in, query));
  return found->write_input;
}

absl::StatusOr<std::vector<ReadRequest>> Design::Read(std::string_view table,
                                                      std::string_view query,
                                                      const Record& record) const {
  STELE_ASSIGN_OR_RETURN(const DesignTable* const in,
                         internal::lab::FindDesignTable(*model_, table));
  STELE_ASSIGN_OR_RETURN(const DesignQuery* const found,
                         internal::lab::FindQuery(*model_, *in, query));
  return internal::lab::RequestsOf(*in, *found, internal::lab::MapFields(record));
}

std::string Design::ToJson() const { return internal::lab::DesignJson(*model_); }

absl::StatusOr<std::vector<AppliedTable>> ApplyDesign(Database database, const Design& design,
                                                      const ApplyDesignOptions& options) {
  std::vector<AppliedTable> applied;
  std::vector<Schema> schemas;
  for (const std::string& name : design.tables()) {
    if (!options.table.empty() && name != options.table) continue;
    STELE_ASSIGN_OR_RETURN(Schema schema, design.TableSchema(name));
    auto table = database.OpenTable(name);
    // A server reports a missing table only when it is used.
    const auto existing = table.ok() ? table->schema() : absl::StatusOr<Schema>(table.status());
    if (!existing.ok() && existing.status().code() != absl::StatusCode::kNotFound)
      return existing.status();
    const std::string difference =
        existing.ok() ? internal::lab::DifferenceOf(*existing, schema, options.stores_design) : "";
    if (!difference.empty()) {
      return internal::AlreadyExists(
          "the table {} exists with another schema or another key: {}. Delete it, or give the "
          "table of the design another name",
          internal::Printable(name), difference);
    }
    applied.push_back({.table = name, .is_new = !existing.ok()});
    schemas.push_back(std::move(schema));
  }
  if (applied.empty())
    return internal::NotFound("the design has no table \"{}\"", internal::Printable(options.table));
  for (size_t i = 0; i < applied.size(); ++i) {
    if (!applied[i].is_new) continue;
    if (!options.stores_design) schemas[i] = internal::lab::WithoutProperties(schemas[i]);
    STELE_RETURN_IF_ERROR(database.CreateTable(applied[i].table, schemas[i]).status());
  }
  return applied;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
