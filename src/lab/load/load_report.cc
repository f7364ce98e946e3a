// load/load_report.cc: the report of a load as text and as JSON.
#include "base/status.h"
#include "lab/values/number_text.h"
#include "lab/values/shown_text.h"
#include "stele/lab/load.h"

namespace stele {
inline namespace v0 {
namespace lab {

std::string LoadReport::ToText() const {
  std::string text;
  for (const auto& [name, counts] : tables) {
    text += fmt::format("{}: {} records, {} rows, {} cells, {} bad, {} duplicates\n",
                        internal::Printable(name), counts.records, counts.rows, counts.cells,
                        counts.bad, counts.duplicates);
  }
  for (const auto& [name, counts] : tables) {
    for (const std::string& cell : counts.unfilled_cells)
      text += fmt::format("{}: no record fills the cell {}\n", internal::Printable(name),
                          internal::Printable(cell));
    for (const std::string& hint : counts.hints)
      text += fmt::format("{}: {}\n", internal::Printable(name), hint);
  }
  for (const std::string& line : listed) text.append("  ").append(line).append("\n");
  if (left_out > 0) {
    text += fmt::format("{} {} left out\n", internal::lab::Counted(left_out, "record"),
                        left_out == 1 ? "was" : "were");
  }
  if (only_checked) text += "nothing was written (--check)\n";
  return text;
}

namespace {

// Appends [..] to `out`.
void AppendTexts(const std::vector<std::string>& texts, std::string* out) {
  *out += '[';
  for (const std::string& text : texts) {
    if (out->back() != '[') *out += ',';
    internal::lab::AppendShownJson(text, out);
  }
  *out += ']';
}

}  // namespace

std::string LoadReport::ToJson() const {
  std::string json = "{\"load\":1,\"tables\":{";
  for (const auto& [name, counts] : tables) {
    if (json.back() != '{') json += ',';
    internal::lab::AppendShownJson(name, &json);
    json += fmt::format(
        ":{{\"records\":{},\"rows\":{},\"cells\":{},\"bad\":{},\"duplicates\":{},\"unfilled_"
        "cells\":",
        counts.records, counts.rows, counts.cells, counts.bad, counts.duplicates);
    AppendTexts(counts.unfilled_cells, &json);
    if (!counts.hints.empty()) {
      json += ",\"hints\":";
      AppendTexts(counts.hints, &json);
    }
    json += '}';
  }
  return json + "}}\n";
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
