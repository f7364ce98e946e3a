// import/import_dynamodb.cc: imports items of DynamoDB: checks all of them, then writes them.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/file_system.h"
#include "io/output_path.h"
#include "lab/dynamodb/export_directory.h"
#include "lab/dynamodb/record_file.h"
#include "lab/import/bad_items.h"
#include "lab/import/change_mode.h"
#include "lab/import/google_mode.h"
#include "lab/import/import_mode.h"
#include "lab/import/import_state.h"
#include "lab/import/native_mode.h"
#include "lab/import/table_writer.h"
#include "lab/input/md5.h"
#include "lab/input/spooled_input.h"
#include "lab/mapping/mapping_store.h"
#include "lab/survey/imported_tables.h"
#include "lab/survey/item_survey.h"

namespace stele::internal::lab {
namespace {

constexpr int kLineBits = 40;
constexpr size_t kNameBytesMax = 4096;  // of a file in messages
constexpr size_t kFilesMax = size_t{1} << 20;

uint64_t FileBytes(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

absl::Status CheckDirectory(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return InvalidArgument("{} is a directory: name a file", Printable(path, kNameBytesMax));
  const std::filesystem::path parent = std::filesystem::absolute(path, error).parent_path();
  if (error || std::filesystem::is_directory(parent, error)) return absl::OkStatus();
  return InvalidArgument("{} cannot be written: its directory does not exist",
                         Printable(path, kNameBytesMax));
}

// The file itself, if `path` is a link.
std::string FollowLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// One import, from its options to its report.
class ImportRun {
 public:
  ImportRun(Database database, const DynamoDbImportOptions& options)
      : database_(std::move(database)), options_(options), bad_(options.bad_path) {}

  absl::StatusOr<DynamoDbImportReport> Run() {
    const auto start = std::chrono::steady_clock::now();
    STELE_RETURN_IF_ERROR(CheckOptions());
    STELE_RETURN_IF_ERROR(FindInput());
    STELE_RETURN_IF_ERROR(CheckOutputs());
    ImportState state(options_.only_checks ? "" : options_.state_path, Job());
    state.start_micros = Timestamp::From(std::chrono::system_clock::now()).micros();
    STELE_RETURN_IF_ERROR(state.Read());
    STELE_RETURN_IF_ERROR(ChooseMode(Timestamp::FromMicros(state.start_micros)));
    StartItemSurvey();
    const absl::Status surveyed = SurveyAll();
    STELE_RETURN_IF_ERROR(bad_.Close());
    if (!surveyed.ok()) return WithContext(surveyed, "nothing was written");
    STELE_ASSIGN_OR_RETURN(const bool is_imported, CheckTarget());
    STELE_RETURN_IF_ERROR(CheckPeriods());
    STELE_RETURN_IF_ERROR(ConvertAll(is_imported, &state));
    report_.only_checked = options_.only_checks;
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  absl::Status CheckOptions() const {
    if (options_.paths.empty()) return InvalidArgument("no input is given");
    if (options_.table.empty()) return InvalidArgument("--table is missing");
    if (options_.partition_key.empty()) return InvalidArgument("--partition-key is missing");
    if (options_.partition_key == options_.sort_key)
      return InvalidArgument("the partition key and the sort key are the same attribute");
    for (const std::string& name : options_.counters) {
      if (name == options_.partition_key || name == options_.sort_key)
        return InvalidArgument("\"{}\" is a key, and cannot be a counter", Printable(name));
    }
    std::set<std::string> names;
    for (const stele::lab::DynamoDbIndex& index : options_.indexes) {
      if (index.name.empty() || index.partition_key.empty())
        return InvalidArgument("an index needs a name and a partition key");
      if (!names.insert(index.name).second)
        return InvalidArgument("the index {} is given twice", Printable(index.name));
    }
    return absl::OkStatus();
  }

  absl::Status FindInput() {
    if (options_.paths.size() == 1 && IsExportDirectory(options_.paths[0])) {
      STELE_ASSIGN_OR_RETURN(export_,
                             ReadExportDirectory(options_.paths[0], options_.verifies_sums));
      files_ = export_->files;
      report_.export_id = Printable(export_->id);
      for (DataFile& file : files_) file.name = Printable(file.name, kNameBytesMax);
      report_.source = fmt::format("{}: {}, DYNAMODB_JSON, table {}, {}", Printable(export_->id),
                                   export_->is_incremental ? "incremental" : "full",
                                   Printable(export_->table_name),
                                   Timestamp::FromMicros(export_->time_micros).ToString());
      for (const std::string& stray : export_->stray_files)
        AddNote("stray-file", "warning", "files that the manifest does not name are ignored", stray,
                &report_);
      if (export_->item_count == 0)
        AddNote("empty-export", "info", "the export has no items", "", &report_);
    } else {
      for (const std::string& path : options_.paths) {
        if (path == "-") {
          STELE_RETURN_IF_ERROR(AddStandardInput());
          continue;
        }
        std::error_code error;
        if (std::filesystem::is_directory(path, error)) {
          return InvalidArgument(
              "{} is a directory without manifest-summary.json: name the directory of one export, "
              "or data files",
              path);
        }
        files_.push_back({.path = FollowLinks(path),
                          .name = Printable(path, kNameBytesMax),
                          .md5 = "",
                          .item_count = -1});
      }
      report_.source = fmt::format("{} files", files_.size());
    }
    if (files_.size() > kFilesMax)
      return InvalidArgument("the input has {} files, at most {}", files_.size(), kFilesMax);
    for (const DataFile& file : files_) bytes_total_ += FileBytes(file.path);
    return absl::OkStatus();
  }

  absl::Status AddStandardInput() {
    if (standard_input_ != nullptr)
      return InvalidArgument("- is given twice: standard input can be read once");
    STELE_ASSIGN_OR_RETURN(standard_input_, SpooledInput::Read());
    files_.push_back(
        {.path = standard_input_->path(), .name = "standard input", .md5 = "", .item_count = -1});
    return absl::OkStatus();
  }

  // An output must not replace a file of the input, and its directory must exist.
  absl::Status CheckOutputs() const {
    std::vector<std::string> inputs;
    for (const DataFile& file : files_) inputs.push_back(file.path);
    if (export_.has_value()) inputs.push_back(export_->path);
    std::vector<std::string> outputs = options_.output_paths;
    outputs.insert(outputs.end(), {options_.bad_path, options_.mapping_path});
    for (const std::string& output : outputs) STELE_RETURN_IF_ERROR(CheckDirectory(output));
    outputs.push_back(options_.state_path);
    return CheckOutputsAreNotInputs(outputs, inputs);
  }

  // Describes everything that the rows depend on, except for the contents of the files.
  std::string Job() const {
    const auto add = [](std::string_view name, std::string_view text) {
      return text.empty() ? "" : fmt::format(" {}={}", name, text);
    };
    std::string job = fmt::format("import of {} files into {}", files_.size(), options_.table);
    job += add("export", report_.export_id) + add("first", files_.empty() ? "" : files_[0].name);
    job += add("mode", std::to_string(static_cast<int>(options_.mode)));
    job += add("partition-key", options_.partition_key) + add("sort-key", options_.sort_key);
    job += add("key", options_.has_ordered_keys ? "ordered" : "delimited");
    job += add("delimiter", options_.delimiter) + add("ttl", options_.ttl_attribute);
    job += add("sets", options_.has_sets_as_json ? "json" : "columns");
    job += add("maps", options_.has_maps_as_columns ? "columns" : "json");
    job += add("expired", options_.keeps_expired ? "kept" : "left out");
    job += add("timestamp", options_.timestamp_attribute);
    job += add("family", options_.google_family) + add("mapping", options_.mapping_path);
    if (options_.timestamp.has_value())
      job += add("micros", std::to_string(options_.timestamp->micros()));
    for (const std::string& name : options_.counters) job += add("counter", name);
    for (const stele::lab::DynamoDbIndex& index : options_.indexes)
      job += fmt::format(" gsi={}={},{}:{}", index.name, index.partition_key, index.sort_key,
                         index.has_item_copies ? "all" : "keys");
    return job;
  }

  absl::Status ChooseMode(Timestamp now) {
    const bool is_incremental = export_.has_value() && export_->is_incremental;
    TimeRules times{.now = now,
                    .timestamp = options_.timestamp.value_or(
                        export_.has_value() ? Timestamp::FromMicros(export_->time_micros) : now),
                    .timestamp_attribute = options_.timestamp_attribute,
                    .ttl_attribute = options_.ttl_attribute,
                    .keeps_expired = options_.keeps_expired};
    if (is_incremental) return StartChanges(std::move(times));
    if (options_.mode == DynamoDbImportOptions::Mode::kGoogle) {
      report_.mode = "google";
      mode_ = std::make_unique<GoogleMode>(options_);
      return absl::OkStatus();
    }
    report_.mode = "native";
    mode_ = std::make_unique<NativeMode>(
        options_, export_.has_value() ? export_->table_name : options_.table, std::move(times));
    return absl::OkStatus();
  }

  absl::Status StartChanges(TimeRules times) {
    report_.mode = "incremental";
    if (options_.mode == DynamoDbImportOptions::Mode::kGoogle || !options_.indexes.empty())
      return InvalidArgument(
          "an incremental export is applied in native mode, and to a table without indexes");
    auto table = database_.OpenTable(options_.table);
    if (!table.ok())
      return WithContext(table.status(), "an incremental export needs the table of a full one");
    STELE_ASSIGN_OR_RETURN(Mapping mapping, ReadMapping(*table, options_.mapping_path));
    const std::vector<KeyPart>& parts = mapping.key.parts();
    if (parts[0].name != options_.partition_key ||
        parts.size() != (options_.sort_key.empty() ? 1 : 2) ||
        (parts.size() == 2 && parts[1].name != options_.sort_key)) {
      return InvalidArgument("the key of table {} consists of other attributes",
                             Printable(options_.table));
    }
    STELE_RETURN_IF_ERROR(CheckAgainst(mapping));
    times.ttl_attribute = mapping.ttl;
    changed_table_ = *table;
    mode_ = std::make_unique<ChangeMode>(*table, std::move(mapping), std::move(times));
    return absl::OkStatus();
  }

  // The options of the full import are those of its changes. Default values are not compared.
  absl::Status CheckAgainst(const Mapping& mapping) const {
    if (options_.timestamp.has_value() || !options_.timestamp_attribute.empty())
      return InvalidArgument(
          "the cells of an incremental export have the write times of the items");
    const std::set<std::string, std::less<>> counters(options_.counters.begin(),
                                                      options_.counters.end());
    const std::pair<std::string_view, bool> compared[] = {
        {"--key", options_.has_ordered_keys && !mapping.key.is_ordered()},
        {"--delimiter",
         !options_.delimiter.empty() && options_.delimiter != mapping.key.delimiter()},
        {"--sets", options_.has_sets_as_json && mapping.sets_as_columns},
        {"--maps", options_.has_maps_as_columns && !mapping.maps_as_columns},
        {"--counters", !counters.empty() && counters != mapping.counters},
        {"--ttl", !options_.ttl_attribute.empty() && options_.ttl_attribute != mapping.ttl}};
    for (const auto& [name, differs] : compared) {
      if (differs)
        return InvalidArgument("{} differs from that of the full import of table {}: leave it out",
                               name, Printable(options_.table));
    }
    return absl::OkStatus();
  }

  // Checks that the tables may get this input. Returns true if they have all of it.
  absl::StatusOr<bool> CheckTarget() {
    std::string sums;
    for (const std::string& sum : sums_) sums += sum;
    source_ = fmt::format("{} {}", export_.has_value() ? export_->id : "files", Md5Base64(sums));
    const Mapping* const mapping = mode_->NewMapping();
    if (mapping != nullptr && !options_.mapping_path.empty())
      STELE_RETURN_IF_ERROR(CheckMappingFile(options_.mapping_path, *mapping).status());
    STELE_ASSIGN_OR_RETURN(const bool is_imported,
                           changed_table_.has_value() ? CheckChanges() : CheckTables());
    if (is_imported)
      AddNote("already-imported", "info",
              "the table has all of this input already; nothing was written", "", &report_);
    return is_imported;
  }

  // A server stores no properties, so its tables have no record.
  bool has_record() const { return options_.mapping_path.empty(); }

  absl::StatusOr<bool> CheckTables() {
    if (options_.open_database) return false;  // there is no database yet
    STELE_ASSIGN_OR_RETURN(const std::vector<TablePlan> plans, mode_->Tables());
    std::optional<Table> first;
    bool has_all = true;
    for (const TablePlan& plan : plans) {
      auto table = FindTable(database_, plan);
      // A check may have an empty handle.
      if (options_.only_checks && !database_.ListTables().ok()) return false;
      STELE_RETURN_IF_ERROR(table.status());
      has_all = has_all && table->has_value();
      if (&plan == &plans.front()) first = *std::move(table);
    }
    if (!first.has_value() || !has_record() || mode_->NewMapping() == nullptr) return false;
    STELE_ASSIGN_OR_RETURN(const std::optional<ImportRecord> record, ReadImportRecord(*first));
    constexpr std::string_view kAdvice = "name another table with --table, or delete this one";
    if (record.has_value() && !record->changes.empty()) {
      return FailedPrecondition(
          "the table {} has an incremental export, {}; the full import would bring back deleted "
          "items: {}",
          Printable(options_.table), Printable(record->changes), kAdvice);
    }
    if (!record.has_value() || record->source != source_) {
      return FailedPrecondition("the table {} was made of another source, {}, and not of {}: {}",
                                Printable(options_.table),
                                record.has_value() ? Printable(record->source) : "an unknown one",
                                Printable(source_), kAdvice);
    }
    if (!record->is_complete || has_all) return record->is_complete;
    return FailedPrecondition(
        "the import into table {} is complete; an index cannot be added to it: {}",
        Printable(options_.table), kAdvice);
  }

  absl::StatusOr<bool> CheckChanges() {
    if (!has_record()) return false;
    STELE_ASSIGN_OR_RETURN(const std::optional<ImportRecord> record,
                           ReadImportRecord(*changed_table_));
    record_ = record.value_or(ImportRecord{.source = "", .changes = "", .is_complete = true});
    if (!record_.is_complete && record_.changes != source_) {
      return FailedPrecondition(
          "the import of {} into table {} was interrupted: repeat it first",
          Printable(record_.changes.empty() ? record_.source : record_.changes),
          Printable(options_.table));
    }
    if (record_.changes == source_) return record_.is_complete;
    STELE_RETURN_IF_ERROR(CheckOrder());
    return false;
  }

  absl::Status CheckOrder() {
    STELE_ASSIGN_OR_RETURN(const std::optional<int64_t> applied, AppliedUntil(*changed_table_));
    if (!applied.has_value()) return absl::OkStatus();
    const std::string applied_text = Timestamp::FromMicros(*applied).ToString();
    const std::string from_text = Timestamp::FromMicros(export_->from_micros).ToString();
    // The first one may begin before the full export: it has the last image of each item.
    const bool is_old = record_.changes.empty() ? export_->time_micros <= *applied
                                                : export_->from_micros < *applied;
    if (is_old) {
      return FailedPrecondition(
          "the export has the changes from {} to {}, but the table has all changes until {}: apply "
          "incremental exports in their order, each one once",
          from_text, Timestamp::FromMicros(export_->time_micros).ToString(), applied_text);
    }
    if (export_->from_micros > *applied) {
      AddNote("gap-before-export", "warning",
              fmt::format("the changes between {} and {} are missing", applied_text, from_text), "",
              &report_);
    }
    return absl::OkStatus();
  }

  // Records that the import has begun or is complete.
  absl::Status Record(Table& table, bool is_complete) {
    if (!has_record()) return absl::OkStatus();
    if (changed_table_.has_value()) {
      record_.changes = source_;
    } else if (mode_->NewMapping() != nullptr) {
      record_.source = source_;
    } else {
      return absl::OkStatus();
    }
    record_.is_complete = is_complete;
    if (is_complete && export_.has_value())
      STELE_RETURN_IF_ERROR(SetAppliedUntil(table, export_->time_micros));
    return SetImportRecord(table, record_);
  }

  static uint64_t Position(size_t file_index, uint64_t line_number) {
    return (uint64_t{file_index} << kLineBits) | line_number;
  }
  std::string PositionName(uint64_t position) const {
    return fmt::format("{}:{}", files_[position >> kLineBits].name,
                       position & ((uint64_t{1} << kLineBits) - 1));
  }
  void ShowProgress(std::string_view phase, uint64_t done) const {
    if (options_.progress) options_.progress(phase, done, bytes_total_);
  }

  absl::Status SurveyAll() {
    uint64_t done = 0;
    for (size_t i = 0; i < files_.size(); ++i) {
      STELE_ASSIGN_OR_RETURN(const auto file, RecordFile::Open(files_[i], options_.verifies_sums));
      while (true) {
        STELE_ASSIGN_OR_RETURN(const bool any, file->Next());
        if (!any) break;
        ++report_.items_read;
        STELE_RETURN_IF_ERROR(SurveyRecord(*file, i));
        if (report_.items_read % 256 == 0) ShowProgress("checking", done + file->stored_bytes());
      }
      done += file->stored_bytes();
      sums_.push_back(file->md5());
    }
    report_.items_bad = bad_.count();
    if (bad_.count() > options_.bad_items_max) return TooManyBad();
    const PositionText text = [this](uint64_t position) { return PositionName(position); };
    STELE_RETURN_IF_ERROR(mode_->EndSurvey(text, &report_));
    STELE_ASSIGN_OR_RETURN(const std::vector<ItemFinding> findings, items_->Finish(text));
    for (const ItemFinding& finding : findings) NoteFinding(finding);
    return absl::OkStatus();
  }

  void StartItemSurvey() {
    ItemSurvey::Options options{.partition_key = options_.partition_key,
                                .sort_key = options_.sort_key,
                                .has_ttl = !options_.ttl_attribute.empty()};
    for (const stele::lab::DynamoDbIndex& index : options_.indexes)
      options.indexes.push_back(index.name);
    items_.emplace(std::move(options));
  }

  void NoteFinding(const ItemFinding& finding) {
    report_.notes.push_back({.id = finding.id,
                             .severity = finding.severity,
                             .message = finding.message,
                             .count = finding.count});
    for (const std::string& sample : finding.samples)
      report_.notes.back().samples.push_back(Printable(sample));
  }

  absl::Status CheckPeriods() {
    if (options_.open_database || mode_->NewMapping() == nullptr) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const std::vector<TablePlan> plans, mode_->Tables());
    const auto finding = FindTablesPerPeriod(database_, plans[0].name, plans[0].schema);
    if (finding.has_value()) NoteFinding(*finding);
    return absl::OkStatus();
  }

  absl::Status SurveyRecord(const RecordFile& file, size_t file_index) {
    const uint64_t position = Position(file_index, file.line_number());
    const absl::Status status =
        file.status().ok() ? mode_->Survey(file.record(), position) : file.status();
    if (status.ok() && !file.record().is_change) return items_->Add(file.record().item, position);
    if (status.ok()) return status;
    if (status.code() != absl::StatusCode::kInvalidArgument) return status;
    return bad_.Add(position, files_[file_index].name, file.line_number(), status, file.text());
  }

  absl::Status TooManyBad() const {
    std::string text = fmt::format("{} of {} items are bad", bad_.count(), report_.items_read);
    for (const std::string& line : bad_.listed()) text.append("\n  ").append(line);
    if (bad_.count() > bad_.listed().size())
      text += fmt::format("\n  and {} more", bad_.count() - bad_.listed().size());
    return InvalidArgument("{}", text);
  }

  // `is_imported`: the tables have everything, so the items are only counted.
  absl::Status ConvertAll(bool is_imported, ImportState* state) {
    std::optional<TableWriter> writer;
    if (!options_.only_checks && !is_imported) {
      STELE_RETURN_IF_ERROR(CheckResumed(*state));
      STELE_ASSIGN_OR_RETURN(writer, OpenTables());
      STELE_RETURN_IF_ERROR(state->Write());
    }
    uint64_t done = 0;
    for (size_t i = 0; i < files_.size(); ++i) {
      const bool is_done = i < state->file_sums.size();
      TableWriter* const target = writer.has_value() && !is_done ? &*writer : nullptr;
      STELE_RETURN_IF_ERROR(ConvertFile(i, done, target));
      done += FileBytes(files_[i].path);
      if (target == nullptr) continue;
      STELE_RETURN_IF_ERROR(target->Flush());
      state->file_sums.push_back(sums_[i]);
      STELE_RETURN_IF_ERROR(state->Write());
    }
    if (is_imported) report_.items_written = 0;
    if (options_.only_checks) return absl::OkStatus();
    if (writer.has_value()) STELE_RETURN_IF_ERROR(Record(writer->table(0), true));
    return state->Remove();
  }

  absl::Status CheckResumed(const ImportState& state) const {
    for (size_t i = 0; i < state.file_sums.size(); ++i) {
      if (i < sums_.size() && state.file_sums[i] == sums_[i]) continue;
      return FailedPrecondition(
          "the input has changed since the import was interrupted: remove {} and the table to "
          "begin again",
          options_.state_path);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<TableWriter> OpenTables() {
    if (options_.open_database) {
      STELE_ASSIGN_OR_RETURN(database_, options_.open_database());
    }
    STELE_ASSIGN_OR_RETURN(std::vector<TablePlan> plans, mode_->Tables());
    STELE_RETURN_IF_ERROR(StoreMapping());
    // A table never exists without its record.
    if (has_record() && mode_->NewMapping() != nullptr) {
      plans[0].schema.SetProperty(std::string(kImportProperty),
                                  ImportRecord{.source = source_, .changes = ""}.ToJson());
    }
    STELE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Open(database_, plans));
    STELE_RETURN_IF_ERROR(Record(writer.table(0), false));
    return writer;
  }

  // With `writer` null, only counts.
  absl::Status ConvertFile(size_t file_index, uint64_t done, TableWriter* writer) {
    const RowSink sink = [&](size_t table, RowMutation row) {
      return writer == nullptr ? absl::OkStatus() : writer->Add(table, std::move(row));
    };
    STELE_ASSIGN_OR_RETURN(const auto file,
                           RecordFile::Open(files_[file_index], options_.verifies_sums));
    uint64_t count = 0;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, file->Next());
      if (!any) break;
      if (++count % 256 == 0) ShowProgress("importing", done + file->stored_bytes());
      if (bad_.SkipIfBad(Position(file_index, file->line_number()))) continue;
      STELE_RETURN_IF_ERROR(file->status());
      STELE_RETURN_IF_ERROR(mode_->Convert(file->record(), sink, &report_));
    }
    if (file->md5() == sums_[file_index]) return absl::OkStatus();
    return FailedPrecondition("{} changed while it was imported: repeat the import",
                              files_[file_index].name);
  }

  absl::Status StoreMapping() const {
    const Mapping* const mapping = mode_->NewMapping();
    if (mapping == nullptr || options_.mapping_path.empty()) return absl::OkStatus();
    return WriteMappingFile(options_.mapping_path, *mapping);
  }

  Database database_;
  const DynamoDbImportOptions& options_;
  std::optional<ExportDirectory> export_;
  std::vector<DataFile> files_;
  std::unique_ptr<SpooledInput> standard_input_;
  std::vector<std::string> sums_;
  uint64_t bytes_total_ = 0;
  std::unique_ptr<ImportMode> mode_;
  std::optional<ItemSurvey> items_;
  std::optional<Table> changed_table_;  // of an incremental export
  std::string source_;                  // identifies the input, once it was read
  ImportRecord record_;                 // of the table
  BadItems bad_;
  DynamoDbImportReport report_;
};

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<DynamoDbImportReport> ImportDynamoDb(Database database,
                                                    const DynamoDbImportOptions& options) {
  return internal::lab::ImportRun(std::move(database), options).Run();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
