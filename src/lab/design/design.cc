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

namespace stele::internal::lab {
namespace {

constexpr char kDesignProperty[] = "lab.design";
constexpr char kKeySchemaProperty[] = "row_key_schema";
constexpr size_t kListedQueriesMax = 20;

absl::StatusOr<const DesignTable*> FindDesignTable(const DesignModel& design,
                                                   std::string_view name) {
  const auto table = std::find_if(design.tables.begin(), design.tables.end(),
                                  [&](const DesignTable& each) { return each.name == name; });
  if (table != design.tables.end()) return &*table;
  return NotFound("{} has no table \"{}\"", design.file, Printable(name));
}

absl::StatusOr<const DesignQuery*> FindQuery(const DesignModel& design, const DesignTable& table,
                                             std::string_view name) {
  const auto query = std::find_if(table.queries.begin(), table.queries.end(),
                                  [&](const DesignQuery& each) { return each.name == name; });
  if (query != table.queries.end()) return &*query;
  if (table.queries.empty())
    return NotFound("{}: the table {} has no queries", design.file, Printable(table.name));
  std::vector<std::string> names;
  for (const DesignQuery& each : table.queries)
    if (names.size() < kListedQueriesMax) names.push_back(Printable(each.name));
  if (table.queries.size() > names.size()) names.emplace_back("...");
  return NotFound("{}: the table {} has no query \"{}\"; its queries are {}", design.file,
                  Printable(table.name), Printable(name), fmt::join(names, ", "));
}

Schema WithoutProperties(const Schema& schema) {
  Schema plain;
  for (const FamilySchema& family : schema.families()) plain.AddFamily(family);
  plain.SetGranularity(schema.granularity()).SetCompression(schema.compression());
  for (const std::string& split : schema.splits()) plain.AddSplit(split);
  return plain;
}

// True if an existing table has the families and, as far as it states one, the key of the design.
bool HasSameTable(const Schema& existing, const Schema& wanted, bool compares_key) {
  if (existing.families() != wanted.families()) return false;
  if (!compares_key) return true;
  if (existing.granularity() != wanted.granularity() ||
      existing.compression() != wanted.compression())
    return false;
  const auto design = existing.properties().find(kDesignProperty);
  if (design == existing.properties().end()) return false;
  const auto parsed = ParseDesign(design->second, kDesignProperty);
  const auto parsed_wanted = ParseDesign(wanted.properties().at(kDesignProperty), kDesignProperty);
  if (!parsed.ok() || !parsed_wanted.ok()) return false;
  const DesignKey& key = parsed->tables[0].key;
  const DesignKey& wanted_key = parsed_wanted->tables[0].key;
  return key.text.pieces() == wanted_key.text.pieces() && key.schema == wanted_key.schema &&
         key.delimiter == wanted_key.delimiter;
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
  schema.SetProperty(internal::lab::kDesignProperty,
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
    if (existing.ok() && !internal::lab::HasSameTable(*existing, schema, options.stores_design)) {
      return internal::AlreadyExists(
          "the table {} exists with another schema or another key: delete it, or give the table "
          "of the design another name",
          internal::Printable(name));
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
