// tools/stele/import.cc: the verb import. It checks a whole file before it writes the first row.
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "import_source.h"
#include "io/output_path.h"
#include "progress.h"

namespace stele::cli {
namespace {

constexpr uint64_t kImportBatchBytesMax = 16 << 20;

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using InputFile = std::unique_ptr<std::FILE, CloseFile>;

struct ImportRequest {
  std::string path;  // "-": standard input
  bool is_jsonl = false;
  CsvLayout layout;
  size_t batch_rows = 500;
  AggregateValues aggregate_values = AggregateValues::kUnsaid;
};

absl::StatusOr<ImportRequest> ParseImportRequest(const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(
      const KeyValues values,
      ParseKeyValues(std::span(args).subspan(2), {"app-profile", "column-family", "batch-size",
                                                  "workers", "timestamp", "format", "aggregates"}));
  ImportRequest request{.path = args[1], .is_jsonl = args[1].ends_with(".jsonl")};
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
  return request;
}

absl::StatusOr<InputFile> OpenInput(const std::string& path) {
  if (path == "-") return InputFile(stdin);
  InputFile file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr)
    return Within("couldn't open the file to import", internal::ErrnoStatus("open", path, errno));
  return file;
}

absl::StatusOr<std::unique_ptr<ImportSource>> OpenSource(const ImportRequest& request,
                                                         std::FILE* file) {
  const std::string name = request.path == "-" ? "standard input" : request.path;
  if (request.is_jsonl) return OpenJsonlSource(file, name);
  return OpenCsvSource(file, name, request.layout);
}

// The rules for checking rows and for converting them to mutations.
struct RowRules {
  Schema schema;
  AggregateValues aggregate_values;
};

absl::StatusOr<bool> NextChecked(const RowRules& rules, ImportSource& source, ImportRow& row) {
  STELE_ASSIGN_OR_RETURN(const bool any, source.Next(row));
  if (!any) return false;
  const absl::Status checked = CheckRow(rules.schema, rules.aggregate_values, row);
  if (!checked.ok()) return source.Wrong(internal::ToStd(checked.message()));
  return true;
}

// Returns the size of the file in bytes.
absl::StatusOr<uint64_t> CheckAll(const RowRules& rules, const ImportRequest& request) {
  STELE_ASSIGN_OR_RETURN(const InputFile file, OpenInput(request.path));
  STELE_ASSIGN_OR_RETURN(const auto source, OpenSource(request, file.get()));
  Progress progress("checking", "bytes", 0);
  ImportRow row;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, NextChecked(rules, *source, row));
    if (!any) return source->bytes_read();
    progress.Set(source->bytes_read());
  }
}

class BatchWriter {
 public:
  BatchWriter(Table table, const RowRules& rules, size_t batch_rows)
      : table_(std::move(table)), rules_(rules), batch_rows_(batch_rows) {}

  absl::Status Add(const ImportRow& row) {
    if (row.cells.empty()) return absl::OkStatus();
    for (const ImportCell& cell : row.cells)
      batch_bytes_ += cell.value.size() + cell.qualifier.size();
    batch_.push_back(MutationOf(rules_.schema, rules_.aggregate_values, row));
    return batch_.size() >= batch_rows_ || batch_bytes_ >= kImportBatchBytesMax ? Write()
                                                                                : absl::OkStatus();
  }

  absl::Status Write() {
    const std::vector<FailedMutation> failed = table_.BulkApply(batch_);
    written_ += batch_.size() - failed.size();
    absl::Status status;
    if (!failed.empty()) {
      status = Within(fmt::format("row {}", internal::Printable(batch_[failed[0].index].row_key())),
                      failed[0].status);
    }
    batch_.clear();
    batch_bytes_ = 0;
    return status;
  }

  uint64_t written() const { return written_; }

 private:
  Table table_;
  const RowRules& rules_;
  const size_t batch_rows_;
  std::vector<RowMutation> batch_;
  uint64_t batch_bytes_ = 0;
  uint64_t written_ = 0;
};

absl::Status WriteAll(const RowRules& rules, ImportSource& source, uint64_t bytes_total,
                      BatchWriter& writer) {
  Progress progress("importing", "bytes", bytes_total);
  ImportRow row;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, NextChecked(rules, source, row));
    if (!any) return writer.Write();
    STELE_RETURN_IF_ERROR(writer.Add(row));
    progress.Set(source.bytes_read());
  }
}

}  // namespace

absl::Status RunImport(Session& session, const std::vector<std::string>& args) {
  if (args.size() < 2) return WrongUsage("import");
  STELE_ASSIGN_OR_RETURN(const ImportRequest request, ParseImportRequest(args));
  STELE_RETURN_IF_ERROR(
      internal::CheckOutputsAreNotInputs({session.options().output}, {request.path}));
  STELE_ASSIGN_OR_RETURN(const InputFile file, OpenInput(request.path));
  // "table=" names a table that is also the second word of a verb.
  const std::string table_name =
      args[0].starts_with("table=") ? args[0].substr(std::strlen("table=")) : args[0];
  STELE_ASSIGN_OR_RETURN(Table table, session.OpenTable(Session::Access::kWrite, table_name));
  RowRules rules{.schema = {}, .aggregate_values = request.aggregate_values};
  STELE_ASSIGN_OR_RETURN(rules.schema, table.schema());
  uint64_t bytes_total = 0;
  // Input from a pipe cannot be read twice.
  if (std::fseek(file.get(), 0, SEEK_SET) == 0 && request.path != "-") {
    auto checked = CheckAll(rules, request);
    if (!checked.ok()) return Within("nothing was written", checked.status());
    bytes_total = *checked;
  }
  STELE_ASSIGN_OR_RETURN(const auto source, OpenSource(request, file.get()));
  BatchWriter writer(table, rules, request.batch_rows);
  const absl::Status status = WriteAll(rules, *source, bytes_total, writer);
  if (!status.ok())
    return Within(fmt::format("{} rows were written before the error", writer.written()), status);
  session.Note(fmt::format("Done importing {} rows.\n", writer.written()));
  return absl::OkStatus();
}

}  // namespace stele::cli
