#include "lab/load/field_hints.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/values/near_name.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kNamesShownMax = 10;

// "a, b, c and 4 more"
std::string NameList(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesShownMax); ++i)
    text.append(i == 0 ? "" : ", ").append(Printable(names[i]));
  if (names.size() > kNamesShownMax)
    text += fmt::format(" and {} more", names.size() - kNamesShownMax);
  return text;
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// True if the field is absent when the record lacks it.
bool IsNeeded(const Template::Piece& piece) {
  return piece.is_field && std::none_of(piece.functions.begin(), piece.functions.end(),
                                        [](const TemplateFunction& function) {
                                          return function.kind == TemplateFunction::Kind::kOr;
                                        });
}

// Returns the first field without `or` that is not one of the names, or null.
const std::string* FirstLacking(const Template& text, const std::vector<std::string>& names) {
  for (const Template::Piece& piece : text.pieces())
    if (IsNeeded(piece) && !Has(names, piece.text)) return &piece.text;
  return nullptr;
}

}  // namespace

void FieldHints::AddRecord(const std::string& input, const RecordReader& reader) {
  if (inputs_.contains(input)) return;
  const std::vector<std::string>* const header = reader.header();
  inputs_[input] = {.names = header != nullptr ? *header : reader.fields().Names(),
                    .is_header = header != nullptr};
}

void FieldHints::AddHeader(const std::string& input, const std::vector<std::string>& header) {
  inputs_[input] = {.names = header, .is_header = true, .has_records = false};
}

void FieldHints::AddRow(const MappedRow& row) {
  selecting_.insert(row.design);
  for (const MappedCell& cell : row.cells) filled_.insert(cell.design);
}

void FieldHints::AddTo(stele::lab::LoadReport::TableCounts* counts) const {
  for (const DesignRow& row : table_.rows) {
    const auto known = inputs_.find(row.input);
    if (known == inputs_.end()) continue;
    if (!known->second.has_records) {
      AddLackingOfRow(row, &counts->hints);
      continue;
    }
    if (!selecting_.contains(&row)) AddUnselected(row, &counts->hints);
    for (const DesignCell& cell : row.cells) {
      if (filled_.contains(&cell)) continue;
      if (counts->unfilled_cells.size() < kListedMax)
        counts->unfilled_cells.push_back(
            fmt::format("{}:{} = {}", cell.family, cell.qualifier.text(), cell.value.text()));
      AddLackingOf(row.input, cell.qualifier, &counts->hints);
      AddLackingOf(row.input, cell.value, &counts->hints);
    }
  }
}

void FieldHints::AddLackingOfRow(const DesignRow& row, std::vector<std::string>* hints) const {
  AddLackingOf(row.input, table_.key.text, hints);
  for (const Template& part : table_.key.from) AddLackingOf(row.input, part, hints);
  for (const auto& [field, value] : row.when) AddLacking(row.input, field, hints);
  if (row.timestamp.has_value()) AddLackingOf(row.input, *row.timestamp, hints);
  for (const DesignCell& cell : row.cells) {
    AddLackingOf(row.input, cell.qualifier, hints);
    AddLackingOf(row.input, cell.value, hints);
  }
}

void FieldHints::AddLackingOf(const std::string& input, const Template& text,
                              std::vector<std::string>* hints) const {
  for (const Template::Piece& piece : text.pieces())
    if (IsNeeded(piece)) AddLacking(input, piece.text, hints);
}

void FieldHints::AddUnselected(const DesignRow& row, std::vector<std::string>* hints) const {
  std::string conditions;
  for (const auto& [field, value] : row.when)
    conditions += fmt::format("{}{}: \"{}\"", conditions.empty() ? "" : ", ", Printable(field),
                              Printable(value));
  if (hints->size() < kListedMax)
    hints->push_back(
        fmt::format("no record of the input \"{}\" has when: {{{}}}", row.input, conditions));
  for (const auto& [field, value] : row.when) AddLacking(row.input, field, hints);
}

void FieldHints::AddLacking(const std::string& input, std::string_view field,
                            std::vector<std::string>* hints) const {
  const Known& known = inputs_.find(input)->second;
  // A nested field is a member of a top-level one. A record with very many fields names only some.
  const std::string_view top = known.is_header ? field : field.substr(0, field.find('.'));
  if (Has(known.names, field) || Has(known.names, top)) return;
  if (!known.is_header && known.names.size() == FieldSource::kNamesMax) return;
  const std::string near = NearName(field, known.names);
  std::string hint = fmt::format(
      "the {} of the input \"{}\" has no field \"{}\"; it has {}{}",
      known.is_header ? "header" : "first record", input, Printable(field), NameList(known.names),
      near.empty() ? "" : fmt::format(". Did you mean \"{}\"?", Printable(near)));
  if (hints->size() < kListedMax && !Has(*hints, hint)) hints->push_back(std::move(hint));
}

std::string FieldHints::LackingField(std::string_view input,
                                     const std::vector<std::string>& header) const {
  const std::string* lacking = nullptr;
  const auto check = [&](const Template& text) {
    if (lacking == nullptr) lacking = FirstLacking(text, header);
  };
  check(table_.key.text);
  for (const Template& part : table_.key.from) check(part);
  for (const DesignRow& row : table_.rows)
    if (row.input == input && row.when.empty() && row.timestamp.has_value()) check(*row.timestamp);
  if (lacking == nullptr) return "";
  return fmt::format("The header has no field \"{}\"; it has {}", Printable(*lacking),
                     NameList(header));
}

}  // namespace stele::internal::lab
