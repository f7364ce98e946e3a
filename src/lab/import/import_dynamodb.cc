// import/import_dynamodb.cc: imports items of DynamoDB: checks all of them, then writes them.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "lab/dynamodb/record_file.h"
#include "lab/dynamodb/workbench_model.h"
#include "lab/import/bad_items.h"
#include "lab/import/import_input.h"
#include "lab/import/import_state.h"
#include "lab/import/table_writer.h"
#include "lab/import_modes/change_mode.h"
#include "lab/import_modes/google_mode.h"
#include "lab/import_modes/import_mode.h"
#include "lab/import_modes/native_mode.h"
#include "lab/input/md5.h"
#include "lab/mapping/mapping_store.h"
#include "lab/survey/imported_tables.h"
#include "lab/survey/item_survey.h"

namespace stele::internal::lab {
namespace {

constexpr char kLacksPage[] =
    "the input says that there are more items: scan without a limit, or import all pages together";
// The beginning of the source of an import that is not an export.
constexpr std::string_view kFilesSource = "files ";

// One import, from its options to its report.
class ImportRun {
 public:
  ImportRun(Database database, const DynamoDbImportOptions& options)
      : database_(std::move(database)),
        options_(options),
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
    state.run = NewRun();
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
  static std::string NewRun() { return fmt::format("{:016x}", RandomSeed()); }

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

  // The name of the table in DynamoDB. Files do not tell it.
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
    STELE_ASSIGN_OR_RETURN(const Table table, TableOfFullImport());
    STELE_ASSIGN_OR_RETURN(Mapping mapping, ReadMapping(table, options_.mapping_path));
    STELE_RETURN_IF_ERROR(CheckSourceTable(table, mapping));
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
    changed_table_ = table;
    mode_ = std::make_unique<ChangeMode>(table, std::move(mapping), std::move(times));
    return absl::OkStatus();
  }

  absl::StatusOr<Table> TableOfFullImport() const {
    const auto missing = [&] {
      return NotFound(
          "there is no table {} to apply the incremental export to: import the full export first, "
          "with the same --table",
          Printable(options_.table));
    };
    if (options_.open_database) return missing();  // there is no database yet
    auto table = database_.OpenTable(options_.table);
    // A server reports a missing table only when it is used.
    const absl::Status status = table.ok() ? table->schema().status() : table.status();
    if (status.code() == absl::StatusCode::kNotFound) return missing();
    STELE_RETURN_IF_ERROR(status);
    return table;
  }

  // The changes must be those of the table in DynamoDB that was imported. Files do not tell it.
  absl::Status CheckSourceTable(const Table& table, const Mapping& mapping) const {
    if (mapping.table == exported()->table_name) return absl::OkStatus();
    if (has_record()) {
      STELE_ASSIGN_OR_RETURN(const std::optional<ImportRecord> record, ReadImportRecord(table));
      if (record.has_value() && record->source.starts_with(kFilesSource)) return absl::OkStatus();
    }
    const std::string advice =
        has_record() ? std::string("name the table of its full import with --table")
                     : fmt::format(
                           "name the table and the --mapping of its full import, or, if "
                           "that was of files, correct the member \"table\" of {}",
                           Printable(options_.mapping_path));
    return FailedPrecondition(
        "the export has changes of the DynamoDB table {}, but the table {} was imported from {}: "
        "{}",
        Printable(exported()->table_name), Printable(options_.table), Printable(mapping.table),
        advice);
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
    source_ = exported().has_value() ? exported()->id + " " : std::string(kFilesSource);
    source_ += Md5Base64(sums);
    const Mapping* const mapping = mode_->NewMapping();
    if (mapping != nullptr && !options_.mapping_path.empty())
      STELE_RETURN_IF_ERROR(CheckMappingFile(options_.mapping_path, *mapping).status());
    STELE_ASSIGN_OR_RETURN(const bool is_imported,
                           changed_table_.has_value() ? CheckChanges() : CheckTables());
    if (is_imported)
      AddNote("already-imported", "info",
              "this input was imported into the table before, so nothing was written: to import it "
              "again, delete the table",
              "", &report_);
    return is_imported;
  }

  // A server stores no properties, so its tables have no record.
  bool has_record() const { return options_.mapping_path.empty(); }
  // True if this import has a record in its table. Those of the Google mode have none.
  bool writes_record() const {
    return has_record() && (changed_table_.has_value() || mode_->NewMapping() != nullptr);
  }

  absl::StatusOr<bool> CheckTables() {
    tables_exist_ = false;
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
    tables_exist_ = has_all;
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
    found_ = *record;
    if (!record->is_complete || has_all) return record->is_complete;
    return FailedPrecondition(
        "the import into table {} is complete; an index cannot be added to it: {}",
        Printable(options_.table), kAdvice);
  }

  absl::StatusOr<bool> CheckChanges() {
    if (!has_record()) return false;
    for (const std::string& name : IndexTablesOf(database_, options_.table)) {
      AddNote("gsi-not-updated", "warning",
              "index tables do not have these changes: write them there too, or delete the tables",
              name, &report_);
    }
    STELE_ASSIGN_OR_RETURN(const std::optional<ImportRecord> record,
                           ReadImportRecord(*changed_table_));
    record_ = record.value_or(ImportRecord{.source = "", .changes = "", .is_complete = true});
    found_ = record_;
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
    const std::string from_text = Timestamp::FromMicros(exported()->from_micros).ToString();
    // The first one may begin before the full export: it has the last image of each item.
    const bool is_old = record_.changes.empty() ? exported()->time_micros <= *applied
                                                : exported()->from_micros < *applied;
    if (is_old) {
      return FailedPrecondition(
          "the export has the changes from {} to {}, but the table has all changes until {}: apply "
          "incremental exports in their order, each one once",
          from_text, Timestamp::FromMicros(exported()->time_micros).ToString(), applied_text);
    }
    if (exported()->from_micros > *applied) {
      AddNote("gap-before-export", "warning",
              fmt::format("the changes between {} and {} are missing", applied_text, from_text), "",
              &report_);
    }
    return absl::OkStatus();
  }

  // Records the state of the import in the table.
  absl::Status Record(Table& table, bool is_complete) {
    if (!writes_record()) return absl::OkStatus();
    (changed_table_.has_value() ? record_.changes : record_.source) = source_;
    record_.is_complete = is_complete;
    if (is_complete && exported().has_value())
      STELE_RETURN_IF_ERROR(SetAppliedUntil(table, exported()->time_micros));
    return SetImportRecord(table, record_);
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

  // Requests for two tables would become one table.
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
    if (options_.open_database || mode_->NewMapping() == nullptr) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const std::vector<TablePlan> plans, mode_->Tables());
    const auto finding = FindTablesPerPeriod(database_, plans[0].name, plans[0].schema);
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
      STELE_ASSIGN_OR_RETURN(writer, OpenTables());
      STELE_RETURN_IF_ERROR(CheckCompletedFiles(*writer, state));
      record_.run = state->run;
      record_.files = state->files.size();
      STELE_RETURN_IF_ERROR(Record(writer->table(0), false));
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
      ++record_.files;
      STELE_RETURN_IF_ERROR(Record(target->table(0), false));
      STELE_RETURN_IF_ERROR(state->Write());
    }
    if (is_imported) report_.items_written = 0;
    if (options_.only_checks) return absl::OkStatus();
    if (writer.has_value()) STELE_RETURN_IF_ERROR(Record(writer->table(0), true));
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

  // The completed files count only if the tables still have what they wrote. They have not if the
  // database or a table was deleted, or replaced by another one.
  absl::Status CheckCompletedFiles(TableWriter& writer, ImportState* state) {
    // The database may be an older copy, whose record counts fewer files.
    if (writes_record() && found_.run == state->run && found_.files < state->files.size())
      state->files.resize(found_.files);
    if (state->files.empty()) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const bool is_valid, AreFilesInTables(writer, *state));
    if (is_valid) return absl::OkStatus();
    state->files.clear();
    state->run = NewRun();
    AddNote("began-again", "info",
            "the tables do not have the rows of the interrupted import; all files were imported",
            "", &report_);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> AreFilesInTables(TableWriter& writer, const ImportState& state) const {
    if (!tables_exist_) return false;
    if (writes_record() && found_.run != state.run) return false;
    // A row of a changed table may be that of the full import.
    if (changed_table_.has_value()) return writes_record() && found_.changes == source_;
    return HasKnownRows(writer, state);
  }

  // With a record, one known row of each table is enough: others may have been deleted or have
  // expired. Without a record, the tables may be others, so each file needs its row.
  absl::StatusOr<bool> HasKnownRows(TableWriter& writer, const ImportState& state) const {
    std::vector<bool> has_row(writer.table_count(), false);
    std::vector<bool> lacks_row(writer.table_count(), false);
    for (const CompletedFile& file : state.files) {
      if (file.known_rows.size() > writer.table_count()) return false;  // the state is damaged
      for (size_t table = 0; table < file.known_rows.size(); ++table) {
        if (file.known_rows[table].empty()) continue;
        STELE_ASSIGN_OR_RETURN(const bool is_there,
                               writer.table(table).Exists(file.known_rows[table]));
        (is_there ? has_row : lacks_row)[table] = true;
      }
    }
    for (size_t table = 0; table < lacks_row.size(); ++table) {
      if (lacks_row[table] && !(writes_record() && has_row[table])) return false;
    }
    return true;
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

  absl::StatusOr<TableWriter> OpenTables() {
    if (options_.open_database) {
      STELE_ASSIGN_OR_RETURN(database_, options_.open_database());
    }
    STELE_ASSIGN_OR_RETURN(std::vector<TablePlan> plans, mode_->Tables());
    STELE_RETURN_IF_ERROR(StoreMapping());
    // A table never exists without its record.
    if (writes_record() && !changed_table_.has_value()) {
      plans[0].schema.SetProperty(std::string(kImportProperty),
                                  ImportRecord{.source = source_, .changes = ""}.ToJson());
    }
    return TableWriter::Open(database_, plans, options_.writer_threads);
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

  absl::Status StoreMapping() const {
    const Mapping* const mapping = mode_->NewMapping();
    if (mapping == nullptr || options_.mapping_path.empty()) return absl::OkStatus();
    return WriteMappingFile(options_.mapping_path, *mapping);
  }

  Database database_;
  const DynamoDbImportOptions& options_;
  ImportInput input_;
  std::vector<std::string> sums_;
  std::unique_ptr<ImportMode> mode_;
  std::optional<ItemSurvey> items_;
  std::optional<Table> changed_table_;  // of an incremental export
  std::string source_;                  // identifies the input, once it was read
  bool tables_exist_ = true;            // all of them, before this run
  ImportRecord found_;                  // the record of the table before this run
  ImportRecord record_;                 // of the table
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
