#include "lab/import/import_target.h"

#include <filesystem>
#include <system_error>

#include "base/status.h"
#include "lab/input/md5.h"

namespace stele::internal::lab {
namespace {

// The beginning of the source of an import that is not an export.
constexpr std::string_view kFilesSource = "files ";

}  // namespace

absl::StatusOr<std::pair<Table, Mapping>> ImportTarget::OpenChanged(
    const ExportDirectory& exported) {
  STELE_ASSIGN_OR_RETURN(Table table, TableOfFullImport());
  STELE_ASSIGN_OR_RETURN(Mapping mapping, ReadMapping(table, options_.mapping_path));
  STELE_RETURN_IF_ERROR(CheckSourceTable(table, mapping, exported));
  changed_table_ = table;
  return std::pair(std::move(table), std::move(mapping));
}

absl::StatusOr<Table> ImportTarget::TableOfFullImport() const {
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

// The changes must be those of the table in DynamoDB that was imported. Files do not contain its
// name, so they are not checked.
absl::Status ImportTarget::CheckSourceTable(const Table& table, const Mapping& mapping,
                                            const ExportDirectory& exported) const {
  if (mapping.table == exported.table_name) return absl::OkStatus();
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
      "the export has changes of the DynamoDB table {}, but the table {} was imported from {}: {}",
      Printable(exported.table_name), Printable(options_.table), Printable(mapping.table), advice);
}

absl::StatusOr<bool> ImportTarget::Check(const ImportMode& mode, const ExportDirectory* exported,
                                         const std::vector<std::string>& sums,
                                         DynamoDbImportReport* report) {
  std::string all_sums;
  for (const std::string& sum : sums) all_sums += sum;
  source_ = exported != nullptr ? exported->id + " " : std::string(kFilesSource);
  source_ += Md5Base64(all_sums);
  if (exported != nullptr) export_time_micros_ = exported->time_micros;
  const Mapping* const mapping = mode.NewMapping();
  if (mapping != nullptr && !options_.mapping_path.empty()) {
    STELE_ASSIGN_OR_RETURN(has_mapping_file_, CheckMappingFile(options_.mapping_path, *mapping));
  }
  STELE_ASSIGN_OR_RETURN(const bool is_imported, changed_table_.has_value()
                                                     ? CheckChanges(*exported, report)
                                                     : CheckTables(mode));
  if (is_imported) {
    AddNote("already-imported", "info",
            "this input was imported into the table before, so nothing was written: to import it "
            "again, delete the table",
            "", report);
  }
  return is_imported;
}

absl::StatusOr<bool> ImportTarget::CheckTables(const ImportMode& mode) {
  tables_exist_ = false;
  if (options_.open_database) return false;  // there is no database yet
  STELE_ASSIGN_OR_RETURN(const std::vector<TablePlan> plans, mode.Tables());
  std::optional<Table> first;
  bool has_all = true;
  for (const TablePlan& plan : plans) {
    auto table = FindTable(database_, plan);
    // A check may have an empty handle.
    if (options_.only_checks && !database_.ListTables().ok()) return false;
    STELE_RETURN_IF_ERROR(table.status());
    if (table->has_value() && !has_record()) STELE_RETURN_IF_ERROR(CheckWithoutRecord(**table));
    has_all = has_all && table->has_value();
    if (&plan == &plans.front()) first = *std::move(table);
  }
  tables_exist_ = has_all;
  if (!first.has_value() || !has_record()) return false;
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

// A table without a record may have rows from elsewhere. The files that the import writes show that
// it has begun.
absl::Status ImportTarget::CheckWithoutRecord(const Table& table) const {
  std::error_code error;
  const bool is_resumed =
      !options_.state_path.empty() && std::filesystem::exists(options_.state_path, error);
  if (is_resumed || has_mapping_file_) return absl::OkStatus();
  RowReader reader = table.ReadRows(RowSet::All(), Filter::PassAll(), {.limit = 1});
  const bool has_rows = reader.Next();
  STELE_RETURN_IF_ERROR(reader.status());
  if (!has_rows) return absl::OkStatus();
  return FailedPrecondition(
      "the table {} exists and has rows, and nothing shows that they are of this import: name "
      "another table with --table, or delete it",
      Printable(table.name()));
}

absl::StatusOr<bool> ImportTarget::CheckChanges(const ExportDirectory& exported,
                                                DynamoDbImportReport* report) {
  if (!has_record()) return false;
  for (const std::string& name : IndexTablesOf(database_, options_.table)) {
    AddNote("gsi-not-updated", "warning",
            "index tables do not have these changes: write them there too, or delete the tables",
            name, report);
  }
  STELE_ASSIGN_OR_RETURN(const std::optional<ImportRecord> record,
                         ReadImportRecord(*changed_table_));
  record_ = record.value_or(ImportRecord{.source = "", .changes = "", .is_complete = true});
  found_ = record_;
  if (!record_.is_complete && record_.changes != source_) {
    return FailedPrecondition("the import of {} into table {} was interrupted: repeat it first",
                              Printable(record_.changes.empty() ? record_.source : record_.changes),
                              Printable(options_.table));
  }
  if (record_.changes == source_) return record_.is_complete;
  STELE_RETURN_IF_ERROR(CheckOrder(exported, report));
  return false;
}

absl::Status ImportTarget::CheckOrder(const ExportDirectory& exported,
                                      DynamoDbImportReport* report) const {
  STELE_ASSIGN_OR_RETURN(const std::optional<int64_t> applied, AppliedUntil(*changed_table_));
  if (!applied.has_value()) return absl::OkStatus();
  const std::string applied_text = Timestamp::FromMicros(*applied).ToString();
  const std::string from_text = Timestamp::FromMicros(exported.from_micros).ToString();
  // The first one may begin before the full export: it has the last image of each item.
  const bool is_old =
      record_.changes.empty() ? exported.time_micros <= *applied : exported.from_micros < *applied;
  if (is_old) {
    return FailedPrecondition(
        "the export has the changes from {} to {}, but the table has all changes until {}: apply "
        "incremental exports in their order, each one once",
        from_text, Timestamp::FromMicros(exported.time_micros).ToString(), applied_text);
  }
  if (exported.from_micros > *applied) {
    AddNote("gap-before-export", "warning",
            fmt::format("the changes between {} and {} are missing", applied_text, from_text), "",
            report);
  }
  return absl::OkStatus();
}

absl::StatusOr<TableWriter> ImportTarget::Open(const ImportMode& mode) {
  if (options_.open_database) {
    STELE_ASSIGN_OR_RETURN(database_, options_.open_database());
  }
  STELE_ASSIGN_OR_RETURN(std::vector<TablePlan> plans, mode.Tables());
  const Mapping* const mapping = mode.NewMapping();
  if (mapping != nullptr && !options_.mapping_path.empty())
    STELE_RETURN_IF_ERROR(WriteMappingFile(options_.mapping_path, *mapping));
  // A table never exists without its record.
  if (has_record() && !changed_table_.has_value()) {
    plans[0].schema.SetProperty(std::string(kImportProperty),
                                ImportRecord{.source = source_, .changes = ""}.ToJson());
  }
  return TableWriter::Open(database_, plans, options_.writer_threads);
}

absl::Status ImportTarget::CheckCompletedFiles(TableWriter& writer, ImportState* state,
                                               DynamoDbImportReport* report) const {
  // The database may be an older copy, whose record counts fewer files.
  if (has_record() && found_.run == state->run && found_.files < state->files.size())
    state->files.resize(found_.files);
  if (state->files.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(const bool has_files, HasFiles(writer, *state));
  if (has_files) return absl::OkStatus();
  state->files.clear();
  state->run = ImportState::NewRun();
  AddNote("began-again", "info",
          "the tables do not have the rows of the interrupted import; all files were imported", "",
          report);
  return absl::OkStatus();
}

absl::StatusOr<bool> ImportTarget::HasFiles(TableWriter& writer, const ImportState& state) const {
  if (!tables_exist_) return false;
  if (has_record() && found_.run != state.run) return false;
  // A row of a changed table may be that of the full import.
  if (changed_table_.has_value()) return has_record() && found_.changes == source_;
  return HasKnownRows(writer, state);
}

// With a record, one known row of each table is enough: others may have been deleted or have
// expired. Without a record, the tables may be others, so each file needs its row.
absl::StatusOr<bool> ImportTarget::HasKnownRows(TableWriter& writer,
                                                const ImportState& state) const {
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
    if (lacks_row[table] && !(has_record() && has_row[table])) return false;
  }
  return true;
}

absl::Status ImportTarget::Record(Table& table, const ImportState& state, bool is_complete) {
  if (!has_record()) return absl::OkStatus();
  (changed_table_.has_value() ? record_.changes : record_.source) = source_;
  record_.run = state.run;
  record_.files = state.files.size();
  record_.is_complete = is_complete;
  if (is_complete && export_time_micros_.has_value())
    STELE_RETURN_IF_ERROR(SetAppliedUntil(table, *export_time_micros_));
  return SetImportRecord(table, record_);
}

}  // namespace stele::internal::lab
