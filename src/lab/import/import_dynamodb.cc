// import/import_dynamodb.cc: imports items of DynamoDB: checks all of them, then writes them.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/dynamodb/record_file.h"
#include "lab/dynamodb/workbench_model.h"
#include "lab/import/bad_items.h"
#include "lab/import/import_input.h"
#include "lab/import/import_state.h"
#include "lab/import/import_target.h"
#include "lab/import/table_writer.h"
#include "lab/import_modes/change_mode.h"
#include "lab/import_modes/google_mode.h"
#include "lab/import_modes/import_mode.h"
#include "lab/import_modes/native_mode.h"
#include "lab/survey/imported_tables.h"
#include "lab/survey/item_survey.h"

namespace stele::internal::lab {
namespace {

constexpr char kLacksPage[] =
    "the input says that there are more items: scan without a limit, or import all pages together";

// One import, from its options to its report.
class ImportRun {
 public:
  ImportRun(Database database, const DynamoDbImportOptions& options)
      : options_(options),
        target_(std::move(database), options),
        lacked_keys_(options.partition_key, options.sort_key),
        bad_(options.bad_path) {}

  absl::StatusOr<DynamoDbImportReport> Run() {
    const auto start = std::chrono::steady_clock::now();
    STELE_RETURN_IF_ERROR(CheckImportOptions(options_));
    STELE_ASSIGN_OR_RETURN(input_, FindImportInput(options_));
    STELE_RETURN_IF_ERROR(CheckImportOutputs(options_, input_));
    DescribeInput();
    ImportState state(options_.only_checks ? "" : options_.state_path, ImportJob(options_, input_));
    state.start_micros = Timestamp::From(std::chrono::system_clock::now()).micros();
    state.run = ImportState::NewRun();
    STELE_RETURN_IF_ERROR(state.Read());
    STELE_RETURN_IF_ERROR(ChooseMode(Timestamp::FromMicros(state.start_micros)));
    StartItemSurvey();
    if (const absl::Status surveyed = SurveyAll(); !surveyed.ok())
      return WithContext(surveyed, "nothing was written");
    STELE_RETURN_IF_ERROR(bad_.Prepare());
    STELE_ASSIGN_OR_RETURN(
        const bool is_imported,
        target_.Check(*mode_, exported().has_value() ? &*exported() : nullptr, sums_, &report_));
    STELE_RETURN_IF_ERROR(CheckPeriods());
    STELE_RETURN_IF_ERROR(ConvertAll(is_imported, &state));
    STELE_RETURN_IF_ERROR(bad_.Close());
    report_.only_checked = options_.only_checks;
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  void DescribeInput() {
    report_.source = input_.Text();
    if (!exported().has_value()) return;
    report_.export_id = Printable(exported()->id);
    for (const std::string& stray : exported()->stray_files)
      AddNote("stray-file", "warning", "files that the manifest does not name are ignored", stray,
              &report_);
  }

  absl::Status ChooseMode(Timestamp now) {
    TimeRules times{
        .now = now,
        .timestamp = options_.timestamp.value_or(
            exported().has_value() ? Timestamp::FromMicros(exported()->time_micros) : now),
        .timestamp_attribute = options_.timestamp_attribute,
        .ttl_attribute = options_.ttl_attribute,
        .keeps_expired = options_.keeps_expired};
    if (input_.is_incremental()) return StartChanges(std::move(times));
    if (options_.mode == DynamoDbImportOptions::Mode::kGoogle) {
      report_.mode = "google";
      mode_ = std::make_unique<GoogleMode>(options_);
      return absl::OkStatus();
    }
    report_.mode = "native";
    mode_ = std::make_unique<NativeMode>(options_, SourceTable(), std::move(times));
    return absl::OkStatus();
  }

  // The name of the table in DynamoDB; files do not contain it.
  const std::string& SourceTable() const {
    if (exported().has_value()) return exported()->table_name;
    return options_.model_table.empty() ? options_.table : options_.model_table;
  }

  absl::Status StartChanges(TimeRules times) {
    report_.mode = "incremental";
    if (options_.mode == DynamoDbImportOptions::Mode::kGoogle || !options_.indexes.empty())
      return InvalidArgument(
          "an incremental export is applied in native mode and without --gsi: it does not change "
          "index tables");
    STELE_ASSIGN_OR_RETURN(auto opened, target_.OpenChanged(*exported()));
    auto& [table, mapping] = opened;
    const std::vector<KeyPart>& parts = mapping.key.parts();
    if (parts[0].name != options_.partition_key ||
        parts.size() != (options_.sort_key.empty() ? 1 : 2) ||
        (parts.size() == 2 && parts[1].name != options_.sort_key)) {
      return InvalidArgument("the key of table {} consists of other attributes: {}{}{}",
                             Printable(options_.table), Printable(parts[0].name),
                             parts.size() == 2 ? ", " : "",
                             parts.size() == 2 ? Printable(parts[1].name) : "");
    }
    STELE_RETURN_IF_ERROR(CheckAgainst(mapping));
    times.ttl_attribute = mapping.ttl;
    mode_ = std::make_unique<ChangeMode>(std::move(table), std::move(mapping), std::move(times));
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

  const std::optional<ExportDirectory>& exported() const { return input_.exported; }
  const std::vector<DataFile>& files() const { return input_.files; }
  static uint64_t Position(size_t file_index, const RecordFile& file) {
    return (uint64_t{file_index} << kRecordNumberBits) | file.number();
  }
  std::string PositionName(uint64_t position) const {
    return RecordName(files()[position >> kRecordNumberBits].name,
                      position & ((uint64_t{1} << kRecordNumberBits) - 1));
  }
  void ShowProgress(std::string_view phase, uint64_t done) const {
    if (options_.progress) options_.progress(phase, done, input_.stored_bytes);
  }

  absl::Status SurveyAll() {
    uint64_t done = 0;
    bool lacks_page = !files().empty();  // all files say that there are more items
    for (size_t i = 0; i < files().size(); ++i) {
      STELE_ASSIGN_OR_RETURN(const auto file, RecordFile::Open(files()[i], options_.verifies_sums));
      while (true) {
        STELE_ASSIGN_OR_RETURN(const bool any, file->Next());
        if (!any) break;
        ++report_.items_read;
        STELE_RETURN_IF_ERROR(CheckOneTable(*file, i));
        STELE_RETURN_IF_ERROR(SurveyRecord(*file, i));
        if (report_.items_read % 256 == 0) ShowProgress("checking", done + file->stored_bytes());
      }
      done += file->stored_bytes();
      lacks_page = lacks_page && file->has_more_items();
      sums_.push_back(file->md5());
    }
    report_.items_bad = bad_.count();
    if (lacks_page) AddNote("scan-not-complete", "warning", kLacksPage, "", &report_);
    if (report_.items_read == 0)
      AddNote("empty-export", "info", "the input has no items", "", &report_);
    if (bad_.count() > options_.bad_items_max) return TooManyBad();
    const PositionText text = [this](uint64_t position) { return PositionName(position); };
    STELE_RETURN_IF_ERROR(mode_->EndSurvey(text, &report_));
    STELE_ASSIGN_OR_RETURN(const std::vector<ItemFinding> findings, items_->Finish(text));
    for (const ItemFinding& finding : findings) NoteFinding(finding);
    items_.reset();  // frees its memory for the rows
    return absl::OkStatus();
  }

  // Returns an error for requests for several tables, since their items would be mixed in one
  // table.
  absl::Status CheckOneTable(const RecordFile& file, size_t file_index) {
    const std::string_view name = file.request_table();
    if (name.empty() || name == request_table_) return absl::OkStatus();
    if (!request_table_.empty()) {
      return InvalidArgument(
          "{}:{}: a request for the table {}, after requests for {}: import one table at a time, "
          "from a file that has only its requests",
          files()[file_index].name, file.line_number(), Printable(name), Printable(request_table_));
    }
    request_table_ = name;
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
    if (options_.open_database || input_.is_incremental()) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const std::vector<TablePlan> plans, mode_->Tables());
    const auto finding = FindTablesPerPeriod(target_.database(), plans[0].name, plans[0].schema);
    if (finding.has_value()) NoteFinding(*finding);
    return absl::OkStatus();
  }

  absl::Status SurveyRecord(const RecordFile& file, size_t file_index) {
    const uint64_t position = Position(file_index, file);
    const absl::Status status =
        file.status().ok() ? mode_->Survey(file.record(), position) : file.status();
    if (status.ok() && !file.record().is_change) return items_->Add(file.record().item, position);
    if (status.ok()) return status;
    if (status.code() != absl::StatusCode::kInvalidArgument) return status;
    if (file.status().ok() && !file.record().is_change) lacked_keys_.Add(file.record().item);
    return bad_.Add(position, files()[file_index].name, file.line_number(), status, file.text());
  }

  absl::Status TooManyBad() const {
    std::string text = fmt::format("{} of {} items are bad", bad_.count(), report_.items_read);
    if (const std::string reason = lacked_keys_.Text(report_.items_read); !reason.empty())
      return InvalidArgument("{}: {}", text, reason);
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
      STELE_ASSIGN_OR_RETURN(writer, target_.Open(*mode_));
      STELE_RETURN_IF_ERROR(target_.CheckCompletedFiles(*writer, state, &report_));
      STELE_RETURN_IF_ERROR(target_.Record(writer->table(0), *state, /*is_complete=*/false));
      STELE_RETURN_IF_ERROR(state->Write());
    }
    uint64_t done = 0;
    for (size_t i = 0; i < files().size(); ++i) {
      const bool is_done = i < state->files.size();
      TableWriter* const target = writer.has_value() && !is_done ? &*writer : nullptr;
      STELE_RETURN_IF_ERROR(ConvertFile(i, done, target));
      done += StoredBytes(files()[i].path);
      if (target == nullptr) continue;
      STELE_RETURN_IF_ERROR(target->Flush());
      STELE_ASSIGN_OR_RETURN(std::vector<std::string> rows, LastRowsThatExist(*target));
      state->files.push_back({.md5 = sums_[i], .known_rows = std::move(rows)});
      STELE_RETURN_IF_ERROR(target_.Record(target->table(0), *state, /*is_complete=*/false));
      STELE_RETURN_IF_ERROR(state->Write());
    }
    if (is_imported) report_.items_written = 0;
    if (options_.only_checks) return absl::OkStatus();
    if (writer.has_value())
      STELE_RETURN_IF_ERROR(target_.Record(writer->table(0), *state, /*is_complete=*/true));
    return state->Remove();
  }

  absl::Status CheckResumed(const ImportState& state) const {
    for (size_t i = 0; i < state.files.size(); ++i) {
      if (i < sums_.size() && state.files[i].md5 == sums_[i]) continue;
      return FailedPrecondition(
          "the input has changed since the import was interrupted: remove {} and the table to "
          "begin again",
          options_.state_path);
    }
    return absl::OkStatus();
  }

  // By table: the row that ConvertFile wrote last, or "" if it has no cell, since the last change
  // deleted it or it has expired.
  absl::StatusOr<std::vector<std::string>> LastRowsThatExist(TableWriter& writer) {
    for (size_t table = 0; table < last_rows_.size(); ++table) {
      if (last_rows_[table].empty()) continue;
      STELE_ASSIGN_OR_RETURN(const bool is_there, writer.table(table).Exists(last_rows_[table]));
      if (!is_there) last_rows_[table].clear();
    }
    return std::move(last_rows_);
  }

  // With `writer` null, only counts.
  absl::Status ConvertFile(size_t file_index, uint64_t done, TableWriter* writer) {
    last_rows_.clear();
    const RowSink sink = [&](size_t table, RowMutation row) {
      if (writer == nullptr) return absl::OkStatus();
      if (last_rows_.size() <= table) last_rows_.resize(table + 1);
      last_rows_[table] = row.row_key();
      return writer->Add(table, std::move(row));
    };
    STELE_ASSIGN_OR_RETURN(const auto file,
                           RecordFile::Open(files()[file_index], options_.verifies_sums));
    uint64_t count = 0;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, file->Next());
      if (!any) break;
      if (++count % 256 == 0) ShowProgress("importing", done + file->stored_bytes());
      if (bad_.SkipIfBad(Position(file_index, *file))) continue;
      STELE_RETURN_IF_ERROR(file->status());
      STELE_RETURN_IF_ERROR(mode_->Convert(file->record(), sink, &report_));
    }
    if (file->md5() == sums_[file_index]) return absl::OkStatus();
    return FailedPrecondition("{} changed while it was imported: repeat the import",
                              files()[file_index].name);
  }

  const DynamoDbImportOptions& options_;
  ImportTarget target_;
  ImportInput input_;
  std::vector<std::string> sums_;
  std::unique_ptr<ImportMode> mode_;
  std::optional<ItemSurvey> items_;
  std::vector<std::string> last_rows_;  // by table: the row of the current file that was added last
  std::string request_table_;           // of the requests of batch-write-item, or ""
  LackedKeys lacked_keys_;
  BadItems bad_;
  DynamoDbImportReport report_;
};

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<bool> IsDynamoDbModel(const std::string& path) {
  return internal::lab::IsWorkbenchModel(path);
}

absl::StatusOr<std::vector<DynamoDbModelTable>> ReadDynamoDbModel(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(std::vector<internal::lab::WorkbenchTable> read,
                         internal::lab::ReadWorkbenchModel(path));
  std::vector<DynamoDbModelTable> tables;
  for (internal::lab::WorkbenchTable& entry : read) tables.push_back(std::move(entry.table));
  return tables;
}

absl::StatusOr<DynamoDbImportReport> ImportDynamoDb(Database database,
                                                    const DynamoDbImportOptions& options) {
  return internal::lab::ImportRun(std::move(database), options).Run();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
