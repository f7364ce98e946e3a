#include "lab/design/parse_design.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/file_system.h"
#include "lab/design/parse_lint.h"
#include "lab/design/parse_table.h"
#include "lab/design/query_request.h"
#include "lab/values/shown_text.h"
#include "lab/yaml/member_reader.h"
#include "lab/yaml/yaml_tree.h"
#include "stele/database.h"

namespace stele::internal::lab {
namespace {

constexpr std::string_view kVersion = "design/1";
constexpr size_t kTablesMax = 1000;
constexpr size_t kQueriesMax = 10'000;

bool IsInputName(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

void CheckFormat(const MemberReader& members, const DesignInput& input, DesignErrors* errors) {
  const auto format = input.format.has_value() ? input.format : FormatOfFile(input.file);
  if (!format.has_value() && !input.file.empty() && members.Find("format") == nullptr) {
    errors->Add(members.mark(), fmt::format("the ending of \"{}\" states no format: add format",
                                            Printable(input.file)));
  }
  const bool has_columns =
      format == RecordFormat::kCsv || format == RecordFormat::kTsv || !format.has_value();
  if (!input.columns.empty() && !has_columns)
    errors->Add(members.Find("columns")->mark, "only csv and tsv have columns");
  std::vector<std::string> columns = input.columns;
  std::sort(columns.begin(), columns.end());
  if (!columns.empty() && columns.front().empty())
    errors->AddForFile(members.Find("columns")->mark, "a column has no name");
  const auto twice = std::adjacent_find(columns.begin(), columns.end());
  if (twice != columns.end())
    errors->Add(members.Find("columns")->mark,
                fmt::format("the column \"{}\" is repeated", Printable(*twice)));
}

DesignInput ParseInput(const YamlNode& node, DesignErrors* errors) {
  const MemberReader members(node, "an input", {"file", "format", "columns"}, errors);
  DesignInput input{.name = node.name};
  if (!IsInputName(input.name))
    errors->Add(node.name_mark, "the name of an input has the characters [a-z0-9-]");
  input.file = members.Text("file").value_or("");
  if (const auto format = members.Text("format")) {
    input.format = FormatOfName(*format);
    if (!input.format.has_value())
      errors->Add(members.Find("format")->mark, "format must be csv, tsv, jsonl or dynamodb");
  }
  const YamlNode* const file = members.Find("file");
  if (file != nullptr && file->kind == YamlNode::Kind::kText && file->text.empty())
    errors->AddForFile(file->mark, "file is empty: leave it out if --input gives the file");
  input.columns = members.Texts("columns");
  if (members.IsEmptyList("columns"))
    errors->AddForFile(members.Find("columns")->mark, "columns has no column");
  if (const YamlNode* const columns = members.Find("columns")) input.columns_mark = columns->mark;
  CheckFormat(members, input, errors);
  return input;
}

// Adds the fields without `or`: a record that lacks one of them has no text.
void AddNeededFields(const Template& text, std::set<std::string, std::less<>>* fields) {
  for (const Template::Piece& piece : text.pieces()) {
    const bool has_default = std::any_of(piece.functions.begin(), piece.functions.end(),
                                         [](const TemplateFunction& function) {
                                           return function.kind == TemplateFunction::Kind::kOr;
                                         });
    if (piece.is_field && !has_default) fields->insert(piece.text);
  }
}

// Returns the fields that a table needs from the records of an input.
std::set<std::string, std::less<>> NeededFields(const DesignTable& table,
                                                const std::string& input) {
  std::set<std::string, std::less<>> fields;
  for (const DesignRow& row : table.rows) {
    if (row.input != input) continue;
    AddNeededFields(table.key.text, &fields);
    for (const Template& part : table.key.from) AddNeededFields(part, &fields);
    for (const auto& [field, value] : row.when) fields.insert(field);
    if (row.timestamp.has_value()) AddNeededFields(*row.timestamp, &fields);
    for (const DesignCell& cell : row.cells) {
      AddNeededFields(cell.qualifier, &fields);
      AddNeededFields(cell.value, &fields);
    }
  }
  return fields;
}

// Checks that the records of a file without a header line have the fields of the tables.
void CheckColumns(const DesignModel& design, DesignErrors* errors) {
  for (const DesignInput& input : design.inputs) {
    if (input.columns.empty()) continue;
    std::set<std::string, std::less<>> known(input.columns.begin(), input.columns.end());
    for (const DesignTable& table : design.tables) {
      for (const std::string& field : NeededFields(table, input.name)) {
        if (!known.insert(field).second) continue;
        errors->AddForFile(
            input.columns_mark,
            fmt::format("columns lacks the field \"{}\", which the table \"{}\" uses",
                        Printable(field), Printable(table.name)));
      }
    }
  }
}

// Returns the error of the engine for the filter of a read. A filter with fields has none, because
// its numbers, bounds and expressions depend on their texts. FilterOf() has checked the syntax.
absl::Status FilterError(const Table& table, const DesignRead& read) {
  bool has_fields = false;
  const auto filter = FilterOf(read, [&](const Template::Piece& /*field*/) {
    has_fields = true;
    return absl::StatusOr<std::string>("1");
  });
  if (!filter.ok() || has_fields) return absl::OkStatus();
  RowReader rows = table.ReadRows(RowSet(RowRange::StartingAt("")), *filter, {.limit = 1});
  while (rows.Next()) {
  }
  return rows.status();
}

// Creates the tables in memory, and reads them with the filters of queries: the engine knows which
// names, rules, limits and regular expressions are valid.
void CheckTables(const DesignModel& design, DesignErrors* errors) {
  auto database = Database::Open("mem:");
  if (!database.ok()) {
    errors->Add({}, ToStd(database.status().message()));
    return;
  }
  for (const DesignTable& table : design.tables) {
    const auto created = database->CreateTable(table.name, table.schema);
    if (!created.ok()) errors->Add(table.mark, ToStd(created.status().message()));
    if (!created.ok() || errors->is_stored()) continue;
    for (const DesignQuery& query : table.queries) {
      if (!query.read.has_value()) continue;
      const absl::Status status = FilterError(*created, *query.read);
      if (!status.ok()) errors->Add(query.read->filter_mark, ToStd(status.message()));
    }
  }
}

void ParseTables(const MemberReader& members, DesignModel* design, DesignErrors* errors) {
  const std::vector<const YamlNode*> tables = members.MembersOf("tables");
  if (tables.empty() && members.Require("tables") != nullptr)
    errors->Add(members.Find("tables")->mark, "the design has no table");
  if (tables.size() > kTablesMax) {
    errors->Add(members.Find("tables")->mark,
                fmt::format("{} tables, at most {}", tables.size(), kTablesMax));
    return;
  }
  const auto has_input = [&](std::string_view name) {
    return std::any_of(design->inputs.begin(), design->inputs.end(),
                       [&](const DesignInput& input) { return input.name == name; });
  };
  if (const YamlNode* const member = members.Find("tables"))
    design->tables_mark = member->name_mark;
  size_t query_count = 0;
  for (const YamlNode* const table : tables) {
    design->tables.push_back(ParseTable(*table, has_input, errors));
    query_count += design->tables.back().queries.size();
  }
  if (query_count > kQueriesMax)
    errors->Add(members.Find("tables")->mark,
                fmt::format("{} queries, at most {}", query_count, kQueriesMax));
}

absl::StatusOr<DesignModel> ParseText(std::string_view text, std::string_view file,
                                      DesignErrors* errors) {
  DesignModel design{.file = std::string(file)};
  const std::optional<YamlNode> root = ParseYaml(text, errors);
  if (!root.has_value()) return errors->ToStatus();
  const MemberReader members(*root, "a design", {"stele", "inputs", "tables", "lint"}, errors);
  members.Require("stele");
  if (const auto version = members.Text("stele"); version.has_value() && *version != kVersion)
    errors->Add(members.Find("stele")->mark, fmt::format("stele must be {}", kVersion));
  for (const YamlNode* const input : members.MembersOf("inputs"))
    design.inputs.push_back(ParseInput(*input, errors));
  ParseTables(members, &design, errors);
  if (const YamlNode* const lint = members.Find("lint")) design.lint = ParseLint(*lint, errors);
  if (errors->empty()) CheckColumns(design, errors);
  if (errors->empty()) CheckTables(design, errors);
  STELE_RETURN_IF_ERROR(errors->ToStatus());
  return design;
}

}  // namespace

absl::StatusOr<DesignModel> ParseDesign(std::string_view text, std::string_view file) {
  DesignErrors errors{ShownText(file)};
  return ParseText(text, file, &errors);
}

absl::StatusOr<DesignModel> ParseStoredDesign(std::string_view text) {
  DesignErrors errors{std::string(kDesignProperty), /*is_stored=*/true};
  return ParseText(text, kDesignProperty, &errors);
}

absl::StatusOr<std::string> ReadDesignFile(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const auto file, PosixFileSystem()->Open(path, OpenMode::kRead));
  std::string text(kYamlBytesMax + 1, '\0');
  size_t bytes = 0;
  while (bytes < text.size()) {
    STELE_ASSIGN_OR_RETURN(const size_t read,
                           file->Read(bytes, text.size() - bytes, text.data() + bytes));
    if (read == 0) break;
    bytes += read;
  }
  text.resize(bytes);
  return text;
}

}  // namespace stele::internal::lab
