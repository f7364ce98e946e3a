// tools/stele/import.cc: the verb import. It checks a whole file before it writes the first row.
#include <cstring>
#include <memory>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "import_batch.h"
#include "import_file.h"
#include "import_source.h"
#include "io/output_file.h"
#include "listing.h"
#include "progress.h"

namespace stele::cli {
namespace {

struct ImportRequest {
  std::string table;
  std::string path;    // "-": standard input
  std::string output;  // -o
  bool is_jsonl = false;
  CsvLayout layout;
  size_t batch_rows = 500;
  AggregateValues aggregate_values = AggregateValues::kUnspecified;
};

// The name without the ending of a compressed file.
std::string_view WithoutCompression(std::string_view path) {
  for (const std::string_view ending : {".gz", ".zst"}) {
    if (path.ends_with(ending)) path.remove_suffix(ending.size());
  }
  return path;
}

absl::StatusOr<char> ParseSeparator(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  const bool is_printable = text.size() == 1 && text[0] >= ' ' && text[0] <= '~';
  if (is_printable && text != "\"") return text[0];
  return UsageError(
      fmt::format("--separator must be one ASCII character, or tab, not {}", Quoted(text)));
}

// Reads --header, --key and --separator.
absl::Status ParseCsvFlags(const Flags& flags, ImportRequest& request) {
  CsvLayout& layout = request.layout;
  if (const auto key = flags.Find("key")) layout.key_fields = Split(*key, ',');
  layout.has_header = flags.has("header") || flags.has("key");
  if (const auto separator = flags.Find("separator")) {
    STELE_ASSIGN_OR_RETURN(layout.separator, ParseSeparator(*separator));
  }
  if (request.is_jsonl && (layout.has_header || flags.has("separator")))
    return UsageError("--header, --key and --separator are for CSV files, not for JSON lines");
  return absl::OkStatus();
}

// Reads the arguments of the form KEY=VALUE, as in cbt.
absl::Status ParseCbtArguments(const KeyValues& values, ImportRequest& request) {
  request.layout.family = Find(values, "column-family").value_or("");
  if (const auto text = Find(values, "batch-size")) {
    const auto rows = ParseNumber("batch-size", *text);
    if (!rows.ok() || *rows < 1 || *rows > 100'000) {
      return UsageError("error parsing importer args: batch-size must be > 0 and <= 100000");
    }
    request.batch_rows = static_cast<size_t>(*rows);
  }
  if (const auto text = Find(values, "workers")) {
    STELE_RETURN_IF_ERROR(ParseNumber("workers", *text).status());
  }
  const std::string timestamp = Find(values, "timestamp").value_or("now");
  if (timestamp != "now" && timestamp != "value-encoded") {
    return UsageError(
        "error parsing importer args: timestamp must be one of 'now' or 'value-encoded'");
  }
  request.layout.stamped_values = timestamp == "value-encoded";
  if (const auto format = Find(values, "format")) {
    if (*format != "csv" && *format != "jsonl")
      return UsageError("error parsing importer args: format must be one of 'csv' or 'jsonl'");
    request.is_jsonl = *format == "jsonl";
  }
  if (const auto aggregates = Find(values, "aggregates")) {
    if (*aggregates != "state" && *aggregates != "add") {
      return UsageError("error parsing importer args: aggregates must be one of 'state' or 'add'");
    }
    request.aggregate_values =
        *aggregates == "state" ? AggregateValues::kStates : AggregateValues::kAdded;
  }
  return absl::OkStatus();
}

absl::StatusOr<ImportRequest> ParseImportRequest(const std::vector<std::string>& args) {
  static constexpr FlagSpec kFlags[] = {{"header", false}, {"key"}, {"separator"}};
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kFlags));
  const std::vector<std::string>& words = flags.words();
  if (words.size() < 2) return WrongUsage("import");
  STELE_ASSIGN_OR_RETURN(KeyValues values,
                         ParseKeyValues(std::span(words).subspan(2),
                                        {"app-profile", "column-family", "batch-size", "workers",
                                         "timestamp", "format", "aggregates"}));
  ImportRequest request{.table = words[0], .path = words[1]};
  // "table=" names a table that is also the second word of a verb.
  if (request.table.starts_with("table=")) request.table.erase(0, std::strlen("table="));
  request.output = flags.Get("o", "");
  request.is_jsonl = WithoutCompression(request.path).ends_with(".jsonl");
  if (const auto format = flags.Find("format")) {
    if (!values.emplace("format", *format).second) return UsageError("the format is given twice");
  }
  STELE_RETURN_IF_ERROR(ParseCbtArguments(values, request));
  STELE_RETURN_IF_ERROR(ParseCsvFlags(flags, request));
  return request;
}

// For a file with a header, the default is the only family of the table.
absl::Status ChooseFamily(const Schema& schema, CsvLayout& layout) {
  if (!layout.has_header || !layout.family.empty()) return absl::OkStatus();
  if (schema.families().empty()) {
    return internal::FailedPrecondition(
        "the table has no column family; \"stele createfamily TABLE FAMILY\" creates one");
  }
  if (schema.families().size() > 1) {
    std::string names;
    for (const FamilySchema& family : schema.families())
      names += (names.empty() ? "" : ", ") + family.name;
    return UsageError(
        fmt::format("the table has the column families {}: add column-family=FAMILY", names));
  }
  layout.family = schema.families().front().name;
  return absl::OkStatus();
}

// A file that is being read.
struct OpenImport {
  std::unique_ptr<ImportFile> file;
  std::unique_ptr<ImportSource> source;
};

absl::StatusOr<std::unique_ptr<ImportFile>> OpenFile(const ImportRequest& request) {
  auto file = ImportFile::Open(request.path);
  if (!file.ok()) return Within("couldn't open the file to import", file.status());
  return file;
}

absl::StatusOr<OpenImport> OpenRows(const ImportRequest& request,
                                    std::unique_ptr<ImportFile> file) {
  OpenImport open{.file = std::move(file), .source = nullptr};
  const std::string name = request.path == "-" ? "standard input" : request.path;
  if (request.is_jsonl) {
    open.source = OpenJsonlSource(open.file->stream(), name);
    return open;
  }
  auto source = OpenCsvSource(open.file->stream(), name, request.layout);
  if (!open.file->status().ok()) return open.file->status();
  STELE_ASSIGN_OR_RETURN(open.source, std::move(source));
  return open;
}

// The rules for checking rows and for converting them to mutations.
struct RowRules {
  Schema schema;
  AggregateValues aggregate_values;
  size_t batch_rows;
};

absl::StatusOr<bool> NextChecked(const RowRules& rules, OpenImport& import, ImportRow& row) {
  const auto any = import.source->Next(row);
  if (!import.file->status().ok()) return import.file->status();
  if (!any.ok() || !*any) return any;
  const absl::Status checked = CheckRow(rules.schema, rules.aggregate_values, row);
  if (!checked.ok()) return import.source->Wrong(internal::ToStd(checked.message()));
  return true;
}

// Fills an empty batch, and checks it. Returns false at the end of the file, with an empty batch.
absl::StatusOr<bool> NextBatch(const RowRules& rules, OpenImport& import, Progress& progress,
                               ImportBatch& batch) {
  while (!batch.is_full()) {
    ImportRow row;
    STELE_ASSIGN_OR_RETURN(const bool any, NextChecked(rules, import, row));
    if (!any) break;
    batch.Add(std::move(row), import.source->line());
    progress.Set(import.source->bytes_read());
  }
  STELE_RETURN_IF_ERROR(batch.CheckLinesDiffer(rules.schema, *import.source));
  return !batch.is_empty();
}

// Returns the size of the file in bytes, decompressed.
absl::StatusOr<uint64_t> CheckAll(const RowRules& rules, OpenImport import) {
  Progress progress("checking", "bytes", 0);
  ImportBatch batch(rules.batch_rows);
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, NextBatch(rules, import, progress, batch));
    if (!any) return import.source->bytes_read();
    batch.Take();
  }
}

class BatchWriter {
 public:
  BatchWriter(Table table, const RowRules& rules) : table_(std::move(table)), rules_(rules) {}

  absl::Status Write(std::vector<ImportBatch::NumberedRow> rows) {
    std::vector<RowMutation> mutations;
    mutations.reserve(rows.size());
    for (ImportBatch::NumberedRow& numbered : rows) {
      const ImportRow row = std::move(numbered.row);  // freed at once
      if (row.cells.empty()) {
        ++without_values_;
      } else {
        mutations.push_back(MutationOf(rules_.schema, rules_.aggregate_values, row));
      }
    }
    if (mutations.empty()) return absl::OkStatus();
    if (mutations.size() == 1) return WriteRow(std::move(mutations[0]));
    const std::vector<FailedMutation> failed = table_.BulkApply(mutations);
    written_ += mutations.size() - failed.size();
    if (failed.empty()) return absl::OkStatus();
    return Within(fmt::format("row {}", internal::Printable(mutations[failed[0].index].row_key())),
                  failed[0].status);
  }

  // A row alone may be large. The database frees a mutation that it owns when it has copied it.
  absl::Status WriteRow(RowMutation mutation) {
    const std::string row_key = internal::Printable(mutation.row_key());
    const absl::Status applied = table_.Apply(std::move(mutation));
    if (!applied.ok()) return Within(fmt::format("row {}", row_key), applied);
    ++written_;
    return absl::OkStatus();
  }

  uint64_t written() const { return written_; }
  // The records without a value, which make no row.
  uint64_t without_values() const { return without_values_; }

 private:
  Table table_;
  const RowRules& rules_;
  uint64_t written_ = 0;
  uint64_t without_values_ = 0;
};

absl::Status WriteAll(const RowRules& rules, OpenImport import, uint64_t bytes_total,
                      BatchWriter& writer) {
  Progress progress("importing", "bytes", bytes_total);
  ImportBatch batch(rules.batch_rows);
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, NextBatch(rules, import, progress, batch));
    if (!any) return absl::OkStatus();
    STELE_RETURN_IF_ERROR(writer.Write(batch.Take()));
  }
}

absl::Status Import(Session& session, ImportRequest request) {
  STELE_RETURN_IF_ERROR(
      internal::CheckOutputsAreNotInputs({session.options().output}, {request.path}));
  // Opening a pipe may wait, so the database is not locked yet.
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<ImportFile> file, OpenFile(request));
  STELE_ASSIGN_OR_RETURN(Table table, session.OpenTable(Session::Access::kWrite, request.table));
  RowRules rules{
      .schema = {}, .aggregate_values = request.aggregate_values, .batch_rows = request.batch_rows};
  STELE_ASSIGN_OR_RETURN(rules.schema, table.schema());
  STELE_RETURN_IF_ERROR(ChooseFamily(rules.schema, request.layout));
  STELE_ASSIGN_OR_RETURN(OpenImport import, OpenRows(request, std::move(file)));
  uint64_t bytes_total = 0;
  // Input from a pipe cannot be read twice.
  if (import.file->can_be_opened_again()) {
    auto checked = CheckAll(rules, std::move(import));
    if (!checked.ok()) return Within("nothing was written", checked.status());
    bytes_total = *checked;
    STELE_ASSIGN_OR_RETURN(file, OpenFile(request));
    STELE_ASSIGN_OR_RETURN(import, OpenRows(request, std::move(file)));
  }
  BatchWriter writer(table, rules);
  const absl::Status status = WriteAll(rules, std::move(import), bytes_total, writer);
  if (!status.ok())
    return Within(fmt::format("{} rows were written before the error", writer.written()), status);
  session.Note(fmt::format("Done importing {} rows.\n", writer.written()));
  if (writer.without_values() > 0) {
    session.Note(fmt::format("{} no values and made no row.\n",
                             Counted(writer.without_values(), "record has", "records have")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunImport(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(ImportRequest request, ParseImportRequest(args));
  if (!request.output.empty()) {
    if (!session.options().output.empty()) return UsageError("flag -o is given twice");
    session.SetOutput(request.output);
  }
  return Import(session, std::move(request));
}

}  // namespace stele::cli
