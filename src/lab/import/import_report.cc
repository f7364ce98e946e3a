// import/import_report.cc: the report of an import as text and as JSON.
#include <string>

#include "base/status.h"
#include "lab/import_modes/import_mode.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

// 1234567 becomes 1,234,567.
std::string Grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

void AppendTables(const DynamoDbImportReport& report, std::string* out) {
  for (const auto& [name, counts] : report.tables) {
    uint64_t sum = 0;
    std::string families;
    for (const auto& [family, count] : counts.cells) {
      sum += count;
      families += fmt::format("{}{} {}", families.empty() ? " (" : ", ", family, Grouped(count));
    }
    *out += fmt::format("table       {}: {} rows, {} cells{}\n", Printable(name),
                        Grouped(counts.rows), Grouped(sum), families.empty() ? "" : families + ")");
  }
}

void AppendKeyParts(const DynamoDbImportReport::TableKey& key, std::string* out) {
  for (const auto& part : key.attributes) {
    if (&part != &key.attributes.front() && !key.delimiter.empty())
      *out += fmt::format(" \"{}\"", Printable(key.delimiter));
    *out += fmt::format(" {} ({}{})", Printable(part.name), part.type,
                        part.pad_width == 0 ? "" : fmt::format(", {} digits", part.pad_width));
  }
  if (key.form == "ordered") *out += " in ordered code";
}

void AppendKey(const DynamoDbImportReport& report, std::string* out) {
  if (report.key.empty()) return;
  *out += "row key    ";
  AppendKeyParts({.attributes = report.key, .form = report.key_form, .delimiter = report.delimiter},
                 out);
  if (!report.key_remark.empty()) *out += "; " + report.key_remark;
  *out += '\n';
}

void AppendIndexKeys(const DynamoDbImportReport& report, std::string* out) {
  for (const auto& [table, key] : report.index_keys) {
    *out += fmt::format("index key   {}:", Printable(table));
    AppendKeyParts(key, out);
    *out += '\n';
  }
}

void AppendAttributes(const DynamoDbImportReport& report, std::string* out) {
  if (report.attributes.empty()) return;
  const auto mixed = std::count_if(report.attributes.begin(), report.attributes.end(),
                                   [](const auto& entry) { return entry.second.size() > 1; });
  *out +=
      fmt::format("attributes  {}{} non-key attributes, {}\n",
                  report.has_more_attributes ? "at least " : "", Grouped(report.attributes.size()),
                  mixed == 0 ? "each of one type" : fmt::format("{} of several types", mixed));
}

void AppendName(std::string_view name, std::string* out) {
  if (out->back() != '{' && out->back() != '[') out->push_back(',');
  AppendShownJson(name, out);
  out->push_back(':');
}

void AppendText(std::string_view name, std::string_view text, std::string* out) {
  AppendName(name, out);
  AppendShownJson(text, out);
}

void AppendNumber(std::string_view name, uint64_t number, std::string* out) {
  AppendName(name, out);
  out->append(std::to_string(number));
}

void AppendCounts(const std::map<std::string, uint64_t>& counts, std::string* out) {
  out->push_back('{');
  for (const auto& [name, count] : counts) AppendNumber(name, count, out);
  out->push_back('}');
}

void AppendTablesJson(const DynamoDbImportReport& report, std::string* out) {
  AppendName("tables", out);
  out->push_back('{');
  for (const auto& [name, counts] : report.tables) {
    AppendName(name, out);
    out->push_back('{');
    AppendNumber("rows", counts.rows, out);
    AppendName("cells", out);
    AppendCounts(counts.cells, out);
    out->push_back('}');
  }
  out->push_back('}');
}

void AppendKeyAttribute(const DynamoDbImportReport::KeyAttribute& attribute, std::string* out) {
  out->push_back('{');
  AppendText("name", attribute.name, out);
  AppendText("type", attribute.type, out);
  AppendNumber("pad", static_cast<uint64_t>(attribute.pad_width), out);
  out->push_back('}');
}

void AppendIndexKeysJson(const DynamoDbImportReport& report, std::string* out) {
  AppendName("index_keys", out);
  out->push_back('{');
  for (const auto& [table, key] : report.index_keys) {
    AppendName(table, out);
    out->append("{\"attributes\":[");
    for (const auto& attribute : key.attributes) {
      if (out->back() != '[') out->push_back(',');
      AppendKeyAttribute(attribute, out);
    }
    out->push_back(']');
    AppendText("form", key.form, out);
    AppendText("delimiter", key.delimiter, out);
    out->push_back('}');
  }
  out->push_back('}');
}

void AppendKeyJson(const DynamoDbImportReport& report, std::string* out) {
  AppendName("key", out);
  out->push_back('{');
  constexpr std::string_view kNames[] = {"partition", "sort"};
  for (size_t i = 0; i < 2; ++i) {
    AppendName(kNames[i], out);
    if (i >= report.key.size()) {
      out->append("null");
      continue;
    }
    AppendKeyAttribute(report.key[i], out);
  }
  AppendText("form", report.key_form, out);
  AppendText("delimiter", report.delimiter, out);
  out->push_back('}');
}

void AppendNotesJson(const DynamoDbImportReport& report, std::string* out) {
  AppendName("notes", out);
  out->push_back('[');
  for (const auto& note : report.notes) {
    if (out->back() != '[') out->push_back(',');
    out->push_back('{');
    AppendText("id", note.id, out);
    AppendText("severity", note.severity, out);
    AppendNumber("count", note.count, out);
    AppendText("message", note.message, out);
    AppendName("samples", out);
    out->push_back('[');
    for (const std::string& sample : note.samples) {
      if (out->back() != '[') out->push_back(',');
      AppendShownJson(sample, out);
    }
    out->append("]}");
  }
  out->push_back(']');
}

}  // namespace

}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

bool DynamoDbImportReport::left_out_items() const {
  return items_bad > 0 || std::any_of(notes.begin(), notes.end(), [](const Note& note) {
           return note.id == "google-job-fails";
         });
}

std::string DynamoDbImportReport::ToText() const {
  using internal::lab::Grouped;
  std::string text;
  if (!source.empty())
    text += fmt::format("{:<12}{}\n", export_id.empty() ? "input" : "export", source);
  text += fmt::format("items       {} read, {} {}, {} bad, {} expired\n", Grouped(items_read),
                      Grouped(items_written), only_checked ? "to write" : "written",
                      Grouped(items_bad), Grouped(items_expired));
  internal::lab::AppendTables(*this, &text);
  internal::lab::AppendKey(*this, &text);
  internal::lab::AppendIndexKeys(*this, &text);
  internal::lab::AppendAttributes(*this, &text);
  text += fmt::format("notes       {}\n", notes.size());
  for (const Note& note : notes) {
    text += fmt::format("  {} {}  {}", note.severity, note.id, note.message);
    // The message of a finding has its count.
    if (!note.id.starts_with("DDB-")) text += fmt::format(" ({})", Grouped(note.count));
    for (const std::string& sample : note.samples)
      text += fmt::format("{}\"{}\"", &sample == &note.samples.front() ? ": " : ", ", sample);
    text += '\n';
  }
  if (only_checked) text += "nothing was written (--check)\n";
  return text;
}

std::string DynamoDbImportReport::ToJson() const {
  using internal::lab::AppendName;
  using internal::lab::AppendNumber;
  using internal::lab::AppendText;
  std::string text = "{";
  AppendNumber("import", 1, &text);
  AppendText("mode", mode, &text);
  AppendText("export_id", export_id, &text);
  AppendName("only_checked", &text);
  text += only_checked ? "true" : "false";
  AppendName("items", &text);
  text += '{';
  AppendNumber("read", items_read, &text);
  AppendNumber("written", items_written, &text);
  AppendNumber("bad", items_bad, &text);
  AppendNumber("expired", items_expired, &text);
  text += '}';
  internal::lab::AppendTablesJson(*this, &text);
  internal::lab::AppendKeyJson(*this, &text);
  internal::lab::AppendIndexKeysJson(*this, &text);
  AppendName("attributes", &text);
  text += '{';
  for (const auto& [name, types] : attributes) {
    AppendName(name, &text);
    text += "{\"types\":";
    internal::lab::AppendCounts(types, &text);
    text += '}';
  }
  text += '}';
  AppendName("more_attributes", &text);
  text += has_more_attributes ? "true" : "false";
  internal::lab::AppendNotesJson(*this, &text);
  AppendName("seconds", &text);
  return text + fmt::format("{:.3f}}}\n", seconds);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
