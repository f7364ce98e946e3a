#include "lab/lint/design_source.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status.h"
#include "lab/design/parse_design.h"
#include "lab/records/record_input.h"
#include "lab/values/number_text.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

// Returns the rule without its age limits. So a sample of old records has the same findings on
// every day.
GcRule WithoutAges(const GcRule& rule) {
  std::string text = rule.ToString();
  constexpr std::string_view kAge = "maxage=";
  for (size_t at = text.find(kAge); at != std::string::npos; at = text.find(kAge, at)) {
    const size_t end =
        std::min(text.find_first_not_of("0123456789dhmsun", at + kAge.size()), text.size());
    text.replace(at, end - at, "never");
  }
  return GcRule::Parse(text).value_or(GcRule::None());
}

Schema SchemaWithoutAges(const Schema& schema) {
  Schema plain;
  for (FamilySchema family : schema.families()) {
    family.gc = WithoutAges(family.gc);
    plain.AddFamily(std::move(family));
  }
  plain.SetGranularity(schema.granularity()).SetCompression(Compression::kFast);
  return plain;
}

// True for rules whose findings are about the row keys of a table. Duplicates are also about cells.
bool IsAboutKeys(std::string_view id) {
  if (id == "KEY-DUP-IMPORT") return false;
  return id.starts_with("KEY-") || id.starts_with("SIZE-KEY-") || id == "LOAD-SKEW";
}

}  // namespace

absl::Status DesignSource::Open(const std::string& path, const std::vector<std::string>& tables,
                                const std::map<std::string, std::string>& inputs) {
  STELE_ASSIGN_OR_RETURN(const std::string text, ReadDesignFile(path));
  STELE_ASSIGN_OR_RETURN(model_, ParseDesign(text, path));
  STELE_ASSIGN_OR_RETURN(design_, stele::lab::Design::Parse(text, path));
  for (const std::string& table : tables)
    STELE_RETURN_IF_ERROR(design_->TableSchema(table).status());
  tables_ = tables.empty() ? design_->tables() : tables;
  std::sort(tables_.begin(), tables_.end());
  tables_.erase(std::unique(tables_.begin(), tables_.end()), tables_.end());
  inputs_ = inputs;
  for (const auto& given : inputs) {
    if (std::none_of(model_.inputs.begin(), model_.inputs.end(),
                     [&](const DesignInput& input) { return input.name == given.first; }))
      return InvalidArgument("{} has no input \"{}\"", ShownText(path), Printable(given.first));
  }
  return absl::OkStatus();
}

std::vector<std::string> DesignSource::Files() const {
  std::vector<std::string> files = {model_.file};
  for (const DesignInput& input : model_.inputs) {
    const auto found = RecordInput::FindOf(model_, input, inputs_);
    if (found.ok()) files.push_back(found->path());
  }
  return files;
}

bool DesignSource::HasFile(const std::string& input) const {
  return inputs_.count(input) > 0 ||
         std::any_of(model_.inputs.begin(), model_.inputs.end(), [&](const DesignInput& other) {
           return other.name == input && !other.file.empty();
         });
}

bool DesignSource::HasRecords() const {
  return std::any_of(model_.tables.begin(), model_.tables.end(), [&](const DesignTable& table) {
    return std::binary_search(tables_.begin(), tables_.end(), table.name) &&
           std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const DesignRow& row) { return HasFile(row.input); });
  });
}

std::optional<stele::lab::Design> DesignSource::LoadableDesign() const {
  DesignModel loadable = model_;
  loadable.lint = {};
  std::erase_if(loadable.tables, [&](DesignTable& table) {
    std::erase_if(table.rows, [&](const DesignRow& row) { return !HasFile(row.input); });
    table.queries.clear();
    table.schema = SchemaWithoutAges(table.schema);
    return table.rows.empty() || !std::binary_search(tables_.begin(), tables_.end(), table.name);
  });
  if (loadable.tables.empty()) return std::optional<stele::lab::Design>();
  return std::optional(
      stele::lab::Design(std::make_shared<const DesignModel>(std::move(loadable))));
}

absl::Status DesignSource::Load(uint64_t records_max, const std::string& temporary_directory) {
  const auto loadable = LoadableDesign();
  if (!loadable.has_value()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(rows_.OpenBelow(temporary_directory));
  STELE_ASSIGN_OR_RETURN(report_, stele::lab::LoadDesign(rows_.database(), *loadable,
                                                         {.inputs = inputs_,
                                                          .records_max = records_max,
                                                          .allows_duplicates = true,
                                                          .stores_design = false}));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Table>> DesignSource::OpenRows(const std::string& table) const {
  if (CountsOf(table) == nullptr) return std::optional<Table>();
  STELE_ASSIGN_OR_RETURN(Table rows, rows_.database().OpenTable(table));
  return std::optional(std::move(rows));
}

std::vector<std::string> DesignSource::Hints(uint64_t records_max) const {
  std::vector<std::string> hints;
  for (const auto& [name, counts] : report_.tables) {
    const bool is_limited = records_max > 0 && counts.records >= records_max;
    const std::string limit =
        is_limited ? fmt::format(" (of the first {} of each input)", Counted(records_max, "record"))
                   : "";
    for (const std::string& cell : counts.unfilled_cells)
      hints.push_back(fmt::format("{}: no record fills the cell {}{}", Printable(name),
                                  Printable(cell), limit));
    for (const std::string& hint : counts.hints)
      hints.push_back(fmt::format("{}: {}{}", Printable(name), hint, limit));
  }
  return hints;
}

const stele::lab::LoadReport::TableCounts* DesignSource::CountsOf(const std::string& table) const {
  const auto counts = report_.tables.find(table);
  return counts == report_.tables.end() ? nullptr : &counts->second;
}

uint64_t DesignSource::LineOf(const LintFinding& finding) const {
  for (const DesignTable& table : model_.tables) {
    if (table.name != finding.table) continue;
    if (finding.segment.has_value() || IsAboutKeys(finding.id)) return table.key_mark.line;
    // The samples of SIZE-FAM-NAME are families.
    const bool has_names = finding.id == "SIZE-FAM-NAME" && !finding.samples.empty();
    const auto family = table.family_marks.find(has_names ? finding.samples[0] : finding.family);
    return family != table.family_marks.end() ? family->second.line : table.mark.line;
  }
  return model_.tables_mark.line;
}

}  // namespace stele::internal::lab
