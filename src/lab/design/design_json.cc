#include "lab/design/design_json.h"

#include <algorithm>
#include <concepts>

#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

// Writes JSON. Adds the commas.
class JsonWriter {
 public:
  void Begin(char bracket) {
    Separate();
    text_ += bracket;
    is_first_ = true;
  }
  void End(char bracket) {
    text_ += bracket;
    is_first_ = false;
  }
  void Name(std::string_view name) {
    Separate();
    AppendShownJson(name, &text_, /*has_surrogates=*/false);
    text_ += ':';
    is_first_ = true;
  }
  void Text(std::string_view text) {
    Separate();
    AppendShownJson(text, &text_, /*has_surrogates=*/false);
  }
  void Member(std::string_view name, std::string_view text) {
    Name(name);
    Text(text);
  }
  // A number or a Boolean.
  void Plain(std::string_view name, const std::integral auto& value) {
    Name(name);
    Separate();
    if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, bool>) {
      text_ += value ? "true" : "false";
    } else {
      text_ += std::to_string(value);
    }
  }
  void MemberOf(std::string_view name, const std::optional<Template>& value) {
    if (value.has_value()) Member(name, value->text());
  }
  // JSON that was written elsewhere.
  void Raw(std::string_view name, std::string_view json) {
    Name(name);
    Separate();
    text_ += json;
  }
  std::string Take() { return std::move(text_); }

 private:
  void Separate() {
    if (!is_first_) text_ += ',';
    is_first_ = false;
  }

  std::string text_;
  bool is_first_ = true;
};

std::string_view CompressionText(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kFast:
      return "fast";
    case Compression::kBalanced:
      return "balanced";
  }
  return "";
}

void AppendInput(const DesignInput& input, bool has_file, JsonWriter* out) {
  out->Name(input.name);
  out->Begin('{');
  if (has_file && !input.file.empty()) out->Member("file", input.file);
  const auto format = input.format.has_value() ? input.format : FormatOfFile(input.file);
  if (format.has_value()) out->Member("format", FormatName(*format));
  if (!input.columns.empty()) {
    out->Name("columns");
    out->Begin('[');
    for (const std::string& column : input.columns) out->Text(column);
    out->End(']');
  }
  out->End('}');
}

void AppendSchema(const Schema& schema, JsonWriter* out) {
  out->Name("families");
  out->Begin('{');
  for (const FamilySchema& family : schema.families()) {
    out->Name(family.name);
    out->Begin('{');
    out->Member("gc", family.gc.ToString());
    out->Member("type", ValueTypeName(family.value_type));
    out->End('}');
  }
  out->End('}');
  const bool is_millis = schema.granularity() == TimestampGranularity::kMillis;
  out->Member("granularity", is_millis ? "millis" : "micros");
  out->Member("compression", CompressionText(schema.compression()));
  if (schema.splits().empty()) return;
  out->Name("splits");
  out->Begin('[');
  for (const std::string& split : schema.splits()) out->Text(split);
  out->End(']');
}

void AppendRow(const DesignRow& row, JsonWriter* out) {
  out->Begin('{');
  out->Member("input", row.input);
  if (!row.when.empty()) {
    out->Name("when");
    out->Begin('{');
    for (const auto& [field, value] : row.when) out->Member(field, value);
    out->End('}');
  }
  out->MemberOf("timestamp", row.timestamp);
  out->Name("cells");
  out->Begin('{');
  for (const DesignCell& cell : row.cells)
    out->Member(cell.family + ":" + cell.qualifier.text(), cell.value.text());
  out->End('}');
  out->End('}');
}

void AppendColumns(std::string_view name, const std::vector<DesignColumn>& columns,
                   JsonWriter* out) {
  if (columns.empty()) return;
  out->Name(name);
  out->Begin('[');
  for (const DesignColumn& column : columns) out->Text(column.family + ":" + column.qualifier);
  out->End(']');
}

void AppendRead(const DesignRead& read, JsonWriter* out) {
  out->Name("read");
  out->Begin('{');
  out->MemberOf("row", read.row);
  if (!read.rows.empty()) {
    out->Name("rows");
    out->Begin('[');
    for (const Template& row : read.rows) out->Text(row.text());
    out->End(']');
  }
  out->MemberOf("prefix", read.prefix);
  out->MemberOf("start", read.start);
  out->MemberOf("end", read.end);
  if (read.limit > 0) out->Plain("limit", read.limit);
  out->Plain("reverse", read.reverse);
  AppendColumns("columns", read.columns, out);
  if (read.versions > 0) out->Plain("versions", read.versions);
  out->MemberOf("filter", read.filter);
  if (read.fan_out > 0) out->Plain("fan_out", read.fan_out);
  out->End('}');
}

void AppendQuery(const DesignQuery& query, JsonWriter* out) {
  out->Name(query.name);
  out->Begin('{');
  out->Plain("weight", query.weight);
  if (query.read.has_value()) {
    AppendRead(*query.read, out);
  } else {
    out->Member("write", query.write_input);
  }
  AppendColumns("answer", query.answer, out);
  out->End('}');
}

void AppendTable(const DesignTable& table, JsonWriter* out) {
  out->Name(table.name);
  out->Begin('{');
  AppendSchema(table.schema, out);
  if (table.key.schema.has_value()) {
    out->Raw("row_key_schema", table.key.schema->ToString());
  } else {
    out->Member("key", table.key.text.text());
    out->Member("delimiter", table.key.delimiter);
  }
  out->Name("rows");
  out->Begin('[');
  for (const DesignRow& row : table.rows) AppendRow(row, out);
  out->End(']');
  out->Name("queries");
  out->Begin('{');
  for (const DesignQuery& query : table.queries) AppendQuery(query, out);
  out->End('}');
  out->End('}');
}

void AppendLint(const DesignModel& design, JsonWriter* out) {
  out->Name("lint");
  out->Begin('{');
  out->Name("ignore");
  out->Begin('[');
  for (const LintIgnore& ignore : design.lint.ignored) {
    out->Begin('{');
    out->Member("id", ignore.id);
    if (!ignore.table.empty()) out->Member("table", ignore.table);
    out->Member("reason", ignore.reason);
    out->End('}');
  }
  out->End(']');
  out->Name("set");
  out->Begin('{');
  for (const LintParameter& parameter : design.lint.parameters)
    out->Member(parameter.name, parameter.value);
  out->End('}');
  out->End('}');
}

bool Reads(const DesignTable& table, const DesignInput& input) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const DesignRow& row) { return row.input == input.name; });
}

}  // namespace

std::string_view ValueTypeName(ValueType type) {
  switch (type) {
    case ValueType::kBytes:
      return "bytes";
    case ValueType::kInt64Sum:
      return "intsum";
    case ValueType::kInt64Min:
      return "intmin";
    case ValueType::kInt64Max:
      return "intmax";
    case ValueType::kHll:
      return "inthll";
  }
  return "";
}

std::string DesignJson(const DesignModel& design) {
  JsonWriter out;
  out.Begin('{');
  out.Member("stele", "design/1");
  out.Name("inputs");
  out.Begin('{');
  for (const DesignInput& input : design.inputs) AppendInput(input, true, &out);
  out.End('}');
  out.Name("tables");
  out.Begin('{');
  for (const DesignTable& table : design.tables) AppendTable(table, &out);
  out.End('}');
  AppendLint(design, &out);
  out.End('}');
  return out.Take();
}

std::string TableDesignJson(const DesignModel& design, const DesignTable& table) {
  JsonWriter out;
  out.Begin('{');
  out.Member("stele", "design/1");
  out.Name("inputs");
  out.Begin('{');
  for (const DesignInput& input : design.inputs) {
    if (Reads(table, input)) AppendInput(input, false, &out);
  }
  out.End('}');
  out.Name("tables");
  out.Begin('{');
  AppendTable(table, &out);
  out.End('}');
  out.End('}');
  return out.Take();
}

}  // namespace stele::internal::lab
