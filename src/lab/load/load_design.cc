// load/load_design.cc: loads the records of a design: checks all of them, then writes them.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/status.h"
#include "io/output_file.h"
#include "lab/design/row_mapping.h"
#include "lab/import/bad_items.h"
#include "lab/import/table_writer.h"
#include "lab/load/field_hints.h"
#include "lab/load/load_check.h"
#include "lab/records/record_input.h"
#include "lab/values/number_text.h"
#include "lab/values/shown_text.h"
#include "stele/lab/load.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;
using stele::lab::LoadOptions;
using stele::lab::LoadReport;

constexpr size_t kProgressRecords = 256;
constexpr size_t kDuplicateRowsMax = 3;    // listed per table
constexpr uint64_t kHeaderErrorsMax = 20;  // listed

// One load, from its options to its report.
class LoadRun {
 public:
  LoadRun(Database database, const Design& design, const LoadOptions& options)
      : database_(std::move(database)),
        design_(design),
        model_(*design.model()),
        options_(options),
        bad_(options.bad_path) {}

  absl::StatusOr<LoadReport> Run() {
    const auto start = std::chrono::steady_clock::now();
    STELE_RETURN_IF_ERROR(ChooseTables());
    STELE_RETURN_IF_ERROR(FindInputs());
    ChooseTimes();
    check_.emplace(tables_.size());
    for (const DesignTable* const table : tables_) hints_.emplace_back(*table);
    STELE_RETURN_IF_ERROR(CheckAll());
    STELE_RETURN_IF_ERROR(bad_.Prepare());
    if (!options_.only_checks) STELE_RETURN_IF_ERROR(WriteAll());
    STELE_RETURN_IF_ERROR(bad_.Close());
    report_.only_checked = options_.only_checks;
    report_.left_out = check_->left_out().size();
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  // A file of an input.
  struct InputFileOf {
    size_t input;
    size_t file;
  };
  // A record, and the rows that it becomes: of some tables.
  struct MappedRecord {
    std::vector<std::pair<size_t, MappedRow>> rows;
  };

  absl::Status ChooseTables() {
    for (const DesignTable& table : model_.tables) {
      if (!options_.table.empty() && table.name != options_.table) continue;
      if (!table.rows.empty()) tables_.push_back(&table);
    }
    if (!tables_.empty()) return absl::OkStatus();
    if (options_.table.empty())
      return InvalidArgument("{}: no table has rows, so there is nothing to load",
                             ShownText(model_.file));
    return NotFound("{} has no table \"{}\" with rows", ShownText(model_.file),
                    Printable(options_.table));
  }

  bool IsRead(const DesignInput& input) const {
    return std::any_of(tables_.begin(), tables_.end(), [&](const DesignTable* table) {
      return std::any_of(table->rows.begin(), table->rows.end(),
                         [&](const DesignRow& row) { return row.input == input.name; });
    });
  }

  absl::Status FindInputs() {
    STELE_RETURN_IF_ERROR(CheckGiven(model_, options_.inputs));
    for (const DesignInput& input : model_.inputs) {
      if (!IsRead(input)) continue;
      STELE_ASSIGN_OR_RETURN(RecordInput found,
                             RecordInput::FindOf(model_, input, options_.inputs));
      for (size_t file = 0; file < found.file_count(); ++file) {
        files_.push_back({.input = inputs_.size(), .file = file});
        STELE_ASSIGN_OR_RETURN(const FileStamp stamp, found.stamp(file));
        stamps_.push_back(stamp);
      }
      bytes_total_ += found.stored_bytes();
      inputs_.push_back(std::move(found));
      input_names_.push_back(input.name);
    }
    if (files_.size() >> LoadPosition::kFileBits != 0)
      return InvalidArgument("{} files, at most {}", files_.size(), 1 << LoadPosition::kFileBits);
    return CheckOutputs();
  }

  absl::Status CheckOutputs() const {
    std::vector<std::string> inputs = {model_.file};
    for (const RecordInput& input : inputs_) inputs.push_back(input.path());
    std::vector<std::string> outputs = options_.output_paths;
    outputs.push_back(options_.bad_path);
    return CheckOutputsAreNotInputs(outputs, inputs);
  }

  void ChooseTimes() {
    const Timestamp time =
        options_.time.value_or(Timestamp::From(std::chrono::system_clock::now()));
    for (const DesignTable* const table : tables_) {
      const int64_t unit = table->schema.granularity() == TimestampGranularity::kMillis ? 1000 : 1;
      times_.push_back(Timestamp::FromMicros(time.micros() / unit * unit));
    }
  }

  const std::string& FileName(size_t file) const {
    return inputs_[files_[file].input].file_name(files_[file].file);
  }
  std::string NameOf(const LoadPosition& position) const {
    return RecordName(FileName(position.file), position.number);
  }

  void ShowProgress(std::string_view phase, uint64_t done) const {
    if (options_.progress) options_.progress(phase, done, bytes_total_);
  }

  // Reads all records, and calls `visit` with their file. A second call compares the bytes with
  // those of the first one.
  template <typename Visit>
  absl::Status ForEachRecord(std::string_view phase, const Visit& visit) {
    uint64_t done = 0;
    uint64_t of_input = 0;
    for (size_t i = 0; i < files_.size(); ++i) {
      if (i == 0 || files_[i].input != files_[i - 1].input) of_input = 0;
      STELE_ASSIGN_OR_RETURN(const auto reader, inputs_[files_[i].input].Open(files_[i].file));
      while (options_.records_max == 0 || of_input < options_.records_max) {
        STELE_ASSIGN_OR_RETURN(const bool any, reader->Next());
        if (!any) break;
        if (++of_input % kProgressRecords == 0) ShowProgress(phase, done + reader->stored_bytes());
        STELE_RETURN_IF_ERROR(visit(i, *reader));
      }
      done += reader->stored_bytes();
      if (checksums_.size() == i) {
        checksums_.push_back(reader->checksum());
        if (of_input == 0) CheckHeader(i, *reader);
      }
      if (checksums_[i] != reader->checksum()) return Changed(FileName(i));
    }
    return absl::OkStatus();
  }

  // Notes the fields that the header of a file without records lacks.
  void CheckHeader(size_t file, const RecordReader& reader) {
    if (reader.header() == nullptr) return;
    const std::string& input = input_names_[files_[file].input];
    std::set<std::string> found;  // several tables may need one field
    for (size_t t = 0; t < tables_.size(); ++t) {
      bool reads_all = false;  // a record that no entry selects needs no key
      for (const DesignRow& row : tables_[t]->rows)
        reads_all = reads_all || (row.input == input && row.when.empty());
      hints_[t].AddHeader(input, *reader.header());
      const std::string lacking = hints_[t].LackingField(input, *reader.header());
      if (!reads_all || lacking.empty() || !found.insert(lacking).second) continue;
      if (++header_errors_ <= kHeaderErrorsMax)
        header_text_ += fmt::format("\n  {}: no records. {}", FileName(file), lacking);
    }
  }

  absl::Status Changed(const std::string& where) const {
    std::string names;
    for (const DesignTable* const table : tables_)
      names += (names.empty() ? "" : ", ") + Printable(table->name);
    return FailedPrecondition(
        "{} changed while it was loaded, so the rows are not those that were checked: delete what "
        "was loaded (tables: {}), and load again",
        where, names);
  }

  // Returns an error if a file has changed. Nothing has been written yet.
  absl::Status CheckStamps() const {
    for (size_t i = 0; i < files_.size(); ++i) {
      STELE_ASSIGN_OR_RETURN(const FileStamp stamp, inputs_[files_[i].input].stamp(files_[i].file));
      if (stamp == stamps_[i]) continue;
      return FailedPrecondition(
          "nothing was written: {} changed while it was checked: load it again", FileName(i));
    }
    return absl::OkStatus();
  }

  // Maps a record for each table that reads it. InvalidArgument: *wrong_table does not accept it.
  absl::Status MapAll(size_t file, const RecordReader& reader, MappedRecord* mapped,
                      size_t* wrong_table) const {
    mapped->rows.clear();
    uint64_t bytes = 0;
    const std::string& input = input_names_[files_[file].input];
    for (size_t t = 0; t < tables_.size(); ++t) {
      for (const DesignRow& row : tables_[t]->rows) {
        if (row.input != input) continue;
        *wrong_table = t;
        STELE_RETURN_IF_ERROR(reader.status());
        if (!Selects(row, reader.fields())) continue;
        STELE_ASSIGN_OR_RETURN(MappedRow made,
                               MapRow(*tables_[t], row, reader.fields(), times_[t], bytes));
        for (const MappedCell& cell : made.cells) bytes += cell.value.size();
        mapped->rows.emplace_back(t, std::move(made));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRecord(size_t file, const RecordReader& reader) {
    const std::string& input = input_names_[files_[file].input];
    for (size_t t = 0; t < tables_.size(); ++t) {
      if (std::any_of(tables_[t]->rows.begin(), tables_[t]->rows.end(),
                      [&](const DesignRow& row) { return row.input == input; }))
        check_->AddRecord(t);
    }
    size_t wrong_table = 0;
    const absl::Status status = MapAll(file, reader, &record_, &wrong_table);
    LoadPosition position{.file = file, .number = reader.number()};
    if (!status.ok()) {
      if (status.code() != absl::StatusCode::kInvalidArgument) return status;
      position.table = wrong_table;
      STELE_RETURN_IF_ERROR(bad_.Add(position.PackedRecord(), FileName(file), reader.line_number(),
                                     status, reader.text()));
      return check_->AddBad(position, BadText(position, reader, status));
    }
    for (size_t t = 0; t < tables_.size(); ++t) hints_[t].AddRecord(input, reader);
    for (const auto& [table, row] : record_.rows) {
      position.table = table;
      hints_[table].AddRow(row);
      STELE_RETURN_IF_ERROR(check_->AddRow(position, *tables_[table], row));
    }
    record_.rows.clear();
    return absl::OkStatus();
  }

  // Returns the text in the list of bad records. If the header lacks a field of the key, all
  // records are bad, so only the first one has a text.
  std::string BadText(const LoadPosition& position, const RecordReader& reader,
                      const absl::Status& status) {
    std::string text = fmt::format("{}:{}: {}", FileName(position.file), reader.line_number(),
                                   ToStd(status.message()));
    if (!reader.status().ok() || reader.header() == nullptr) return text;
    const std::string& input = input_names_[files_[position.file].input];
    const auto [lacking, is_first] = lacking_.try_emplace({position.file, position.table});
    if (is_first) lacking->second = hints_[position.table].LackingField(input, *reader.header());
    if (lacking->second.empty()) return text;
    return is_first ? text + ". " + lacking->second : "";
  }

  absl::Status CheckAll() {
    STELE_RETURN_IF_ERROR(ForEachRecord("checking", [&](size_t file, const RecordReader& reader) {
      return CheckRecord(file, reader);
    }));
    STELE_RETURN_IF_ERROR(
        check_->Finish(options_.allows_duplicates,
                       [this](const LoadPosition& position) { return NameOf(position); }));
    for (size_t t = 0; t < tables_.size(); ++t) {
      LoadReport::TableCounts& counts = report_.tables[tables_[t]->name];
      counts = check_->counts()[t];
      hints_[t].AddTo(&counts);
    }
    report_.listed = check_->listed_duplicates();
    if (check_->left_out().size() > options_.bad_records_max) return TooManyLeftOut();
    // A record with such a header would be bad.
    if (header_errors_ == 0 || options_.bad_records_max > 0) return absl::OkStatus();
    if (options_.refused != nullptr) *options_.refused = report_;
    if (header_errors_ > kHeaderErrorsMax)
      header_text_ += fmt::format("\n  and {} more", header_errors_ - kHeaderErrorsMax);
    return InvalidArgument("nothing was written{}", header_text_);
  }

  absl::Status TooManyLeftOut() {
    if (options_.refused != nullptr) *options_.refused = report_;
    uint64_t bad = 0;
    uint64_t duplicates = 0;
    for (const LoadReport::TableCounts& counts : check_->counts()) {
      bad += counts.bad;
      duplicates += counts.duplicates;
    }
    std::string text = "nothing was written";
    if (bad > 0) text += "\n" + Counted(bad, "bad record");
    for (const std::string& line : check_->listed_bad()) text.append("\n  ").append(line);
    if (bad > check_->listed_bad().size())
      text += fmt::format("\n  and {} more", bad - check_->listed_bad().size());
    if (duplicates > 0 && !options_.allows_duplicates)
      text += fmt::format("\n{}; --allow-duplicates keeps the later record",
                          Counted(duplicates, "duplicate"));
    for (const std::string& line : check_->listed_duplicates()) text.append("\n  ").append(line);
    if (duplicates > check_->listed_duplicates().size())
      text += fmt::format("\n  and {} more", duplicates - check_->listed_duplicates().size());
    return InvalidArgument("{}", text);
  }

  absl::Status WriteAll() {
    STELE_RETURN_IF_ERROR(CheckStamps());
    if (options_.open_database) {
      STELE_ASSIGN_OR_RETURN(database_, options_.open_database());
    }
    std::vector<TablePlan> plans;
    for (const DesignTable* const table : tables_) {
      STELE_RETURN_IF_ERROR(
          ApplyDesign(database_, design_,
                      {.table = table->name, .stores_design = options_.stores_design})
              .status());
      plans.push_back({.name = table->name, .schema = table->schema});
    }
    STELE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Open(database_, plans, 1));
    auto left_out = check_->left_out().begin();
    STELE_RETURN_IF_ERROR(ForEachRecord("loading", [&](size_t file, const RecordReader& reader) {
      const LoadPosition position{.file = file, .number = reader.number()};
      if (left_out != check_->left_out().end() && *left_out == position.PackedRecord()) {
        ++left_out;
        return NoteIfDuplicate(position, reader);
      }
      return WriteRecord(file, reader, &writer);
    }));
    return writer.Flush();
  }

  // Adds the record to bad_ if it is a duplicate. The first pass has added the other bad records,
  // but duplicates are known only at its end.
  absl::Status NoteIfDuplicate(const LoadPosition& position, const RecordReader& reader) {
    if (!check_->IsDuplicate(position.PackedRecord())) return absl::OkStatus();
    return bad_.Add(position.PackedRecord(), FileName(position.file), reader.line_number(),
                    InvalidArgument("a cell of an earlier record with another value"),
                    reader.text());
  }

  absl::Status WriteRecord(size_t file, const RecordReader& reader, TableWriter* writer) {
    size_t wrong_table = 0;
    const absl::Status status = MapAll(file, reader, &record_, &wrong_table);
    if (status.code() == absl::StatusCode::kInvalidArgument)
      return Changed(NameOf({.file = file, .number = reader.number()}));
    STELE_RETURN_IF_ERROR(status);
    LoadPosition position{.file = file, .number = reader.number()};
    for (auto& [table, row] : record_.rows) {
      if (row.cells.empty()) continue;
      position.table = table;
      if (check_->IsDuplicateIn(position)) ListDuplicateRow(table, row.row_key);
      report_.tables[tables_[table]->name].bytes += LogicalBytes(*tables_[table], row);
      RowMutation mutation(row.row_key);
      AddTo(*tables_[table], std::move(row), &mutation);
      STELE_RETURN_IF_ERROR(writer->Add(table, std::move(mutation)));
    }
    record_.rows.clear();
    return absl::OkStatus();
  }

  // Keeps the first row keys in their order.
  void ListDuplicateRow(size_t table, const std::string& row_key) {
    std::vector<std::string>& rows = report_.tables[tables_[table]->name].duplicate_rows;
    const auto place = std::lower_bound(rows.begin(), rows.end(), row_key);
    if (place != rows.end() && *place == row_key) return;
    rows.insert(place, row_key);
    if (rows.size() > kDuplicateRowsMax) rows.pop_back();
  }

  Database database_;
  const Design& design_;
  const DesignModel& model_;
  const LoadOptions& options_;
  std::vector<const DesignTable*> tables_;
  std::vector<Timestamp> times_;
  std::vector<RecordInput> inputs_;
  std::vector<std::string> input_names_;
  std::vector<InputFileOf> files_;
  std::vector<FileStamp> stamps_;    // of the files, before they were read
  std::vector<uint64_t> checksums_;  // of the bytes that were checked
  uint64_t bytes_total_ = 0;
  std::optional<LoadCheck> check_;
  BadItems bad_;
  MappedRecord record_;
  std::vector<FieldHints> hints_;  // of each table
  uint64_t header_errors_ = 0;     // of files without records
  std::string header_text_;        // the first ones, one per line
  // By file and table: the fields that the header lacks, or "". Has only pairs with bad records.
  std::map<std::pair<uint64_t, uint64_t>, std::string> lacking_;
  LoadReport report_;
};

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<LoadReport> LoadDesign(Database database, const Design& design,
                                      const LoadOptions& options) {
  return internal::lab::LoadRun(std::move(database), design, options).Run();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
