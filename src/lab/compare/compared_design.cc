#include "lab/compare/compared_design.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/checksum.h"
#include "base/status.h"
#include "lab/compare/estimate.h"
#include "lab/compare/table_figures.h"
#include "lab/load/query_inputs.h"
#include "stele/lab/load.h"

namespace stele::internal::lab {
namespace {

constexpr std::chrono::seconds kCompareDeadline(60);  // of a call

void Add(const ReadStats& stats, ReadStats* sum) {
  sum->rows_seen += stats.rows_seen;
  sum->rows_returned += stats.rows_returned;
  sum->cells_seen += stats.cells_seen;
  sum->cells_returned += stats.cells_returned;
  sum->blocks += stats.blocks;
  sum->bytes_read += stats.bytes_read;
  sum->bytes_decoded += stats.bytes_decoded;
}

// Drops the pages of all files below the directory that are on disk.
absl::Status DropFromPageCache(const std::string& directory) {
  std::error_code error;
  std::filesystem::recursive_directory_iterator entries(directory, error);
  for (; !error && entries != std::filesystem::recursive_directory_iterator();
       entries.increment(error)) {
    if (!entries->is_regular_file(error)) continue;
    const std::string path = entries->path().string();
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return ErrnoStatus("open", path, errno);
    // A page that is not on disk yet stays in the cache.
    const bool is_synced = ::fdatasync(file) == 0;
    const int failed = is_synced ? ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) : errno;
    ::close(file);
    if (failed != 0) return ErrnoStatus("drop from the page cache", path, failed);
  }
  return error ? ErrnoStatus("list the files of", directory, error.value()) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ComparedDesign>> ComparedDesign::Load(
    const DesignTableChoice& choice, const LogicalWorkload& workload,
    const stele::lab::CompareOptions& options) {
  std::unique_ptr<ComparedDesign> design(new ComparedDesign(choice, workload, options));
  STELE_RETURN_IF_ERROR(design->LoadAnswerColumns());
  STELE_RETURN_IF_ERROR(design->LoadRecords());
  return design;
}

ComparedDesign::~ComparedDesign() { database_.Close().IgnoreError(); }

absl::Status ComparedDesign::LoadAnswerColumns() {
  for (const LogicalQuery& query : workload_.queries) {
    STELE_ASSIGN_OR_RETURN(const QueryInputs inputs,
                           QueryInputs::Find(choice_.design, choice_.table, query.name));
    answer_columns_.push_back(inputs.query().answer);
  }
  return absl::OkStatus();
}

absl::Status ComparedDesign::LoadRecords() {
  path_ = options_.work_directory + "/" + choice_.name;
  STELE_ASSIGN_OR_RETURN(database_, Database::Open(path_, {.error_if_exists = true}));
  stele::lab::LoadOptions loading{.inputs = options_.inputs,
                                  .table = choice_.table,
                                  .records_max = options_.records_max,
                                  .time = options_.time,
                                  .allows_duplicates = options_.allows_duplicates,
                                  .output_paths = options_.output_paths};
  loading.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    options_.progress(fmt::format("{} {}", phase, choice_.name), done, total);
  };
  const auto report = stele::lab::LoadDesign(database_, choice_.design, loading);
  if (!report.ok()) return WithContext(report.status(), choice_.name);
  const auto counts = report->tables.find(choice_.table);
  if (counts == report->tables.end() || counts->second.rows == 0) {
    const bool has_hint = counts != report->tables.end() && !counts->second.hints.empty();
    return InvalidArgument("{}: the inputs have no record of the table {}{}", choice_.name,
                           choice_.table, has_hint ? ": " + counts->second.hints[0] : "");
  }
  for (const std::string& cell : counts->second.unfilled_cells)
    notes_.push_back(fmt::format("{}: no record fills the cell {}", choice_.name, Printable(cell)));
  for (const std::string& hint : counts->second.hints)
    notes_.push_back(fmt::format("{}: {}", choice_.name, hint));
  STELE_ASSIGN_OR_RETURN(table_, database_.OpenTable(choice_.table));
  STELE_RETURN_IF_ERROR(table_.Compact());
  figures_.records = counts->second.records;
  figures_.cells_loaded = counts->second.cells;
  figures_.loaded_logical_bytes = counts->second.bytes;
  figures_.load_seconds = report->seconds;
  const DatabaseStats stats = database_.Stats();
  figures_.disk_bytes = stats.disk.sstable_bytes;
  figures_.logged_bytes = stats.since_open.bytes_logged;
  figures_.written_bytes = stats.since_open.bytes_logged + stats.since_open.bytes_loaded +
                           stats.since_open.bytes_flushed + stats.compaction.bytes_written;
  // Reopens the database to drop the blocks that the load cached. CountRows reads all of them.
  STELE_RETURN_IF_ERROR(database_.Close());
  STELE_RETURN_IF_ERROR(Open({}));
  STELE_ASSIGN_OR_RETURN(const Schema schema, table_.schema());
  const int64_t unit = schema.granularity() == TimestampGranularity::kMillis ? 1000 : 1;
  time_ = Timestamp::FromMicros(options_.time->micros() / unit * unit);
  return CountRows(table_, &figures_);
}

ReadOptions ComparedDesign::MakeReadOptions() const {
  return {.stop = options_.stop, .deadline = std::chrono::steady_clock::now() + kCompareDeadline};
}

WriteOptions ComparedDesign::MakeWriteOptions() const {
  return {.stop = options_.stop, .deadline = std::chrono::steady_clock::now() + kCompareDeadline};
}

absl::Status ComparedDesign::Open(const DatabaseOptions& options) {
  STELE_ASSIGN_OR_RETURN(database_, Database::Open(path_, options));
  STELE_ASSIGN_OR_RETURN(table_, database_.OpenTable(choice_.table));
  return absl::OkStatus();
}

absl::Status ComparedDesign::ReopenCold() {
  // A quarter of the budget is uncharged memory. Blocks get at most seven eighths of the rest.
  constexpr uint64_t kCacheBytes = uint64_t{4} << 20;
  constexpr uint64_t kChargedBytes = kCacheBytes / 7 * 8;
  constexpr uint64_t kBudgetBytes = kChargedBytes + kChargedBytes / 3;
  STELE_RETURN_IF_ERROR(database_.Close());
  STELE_RETURN_IF_ERROR(DropFromPageCache(path_));
  return Open({.memory_budget_bytes = kBudgetBytes});
}

absl::StatusOr<PreparedOperation> ComparedDesign::Prepare(const LogicalOperation& operation) const {
  const LogicalQuery& query = workload_.queries[operation.query];
  return PrepareOperation(choice_, query, query.records[operation.record], time_);
}

absl::Status ComparedDesign::Run(const LogicalOperation& operation,
                                 const PreparedOperation& prepared, OperationResult* result) const {
  if (prepared.write.has_value()) {
    if (result != nullptr) result->requests = 1;
    Table table = table_;
    return table.Apply(*prepared.write, MakeWriteOptions());
  }
  const std::vector<stele::lab::ReadRequest>& reads = prepared.reads;
  // An application reads one row with ReadRow, which has no statistics.
  const bool is_one_row =
      reads.size() == 1 && reads[0].rows.ranges().empty() && reads[0].rows.row_keys().size() == 1;
  if (result == nullptr && is_one_row)
    return table_.ReadRow(reads[0].rows.row_keys()[0], reads[0].filter, MakeReadOptions()).status();
  const auto visit = [&](const RowView& row) {
    if (result != nullptr) AddRow(operation, row, result);
  };
  STELE_ASSIGN_OR_RETURN(const ReadStats stats,
                         stele::lab::ReadAll(table_, reads, MakeReadOptions(), visit));
  if (result != nullptr) {
    result->requests = reads.size();
    uint64_t row_keys = 0;
    for (const stele::lab::ReadRequest& read : reads) {
      if (!read.rows.ranges().empty()) ++result->scans;
      row_keys += read.rows.row_keys().size();
    }
    result->point_rows = std::max(row_keys, RowUnits(result->bytes_returned));
    Add(stats, &result->stats);
    const bool is_ended_by_limit = reads.size() == 1 && reads[0].limit > 0 &&
                                   stats.rows_returned == static_cast<uint64_t>(reads[0].limit);
    if (!is_ended_by_limit) result->last_row.clear();
  }
  return absl::OkStatus();
}

// Returns the row at which the limit ends a request; "" if it ends at the end of its rows.
absl::StatusOr<std::string> ComparedDesign::LastRowOf(const stele::lab::ReadRequest& read) const {
  if (read.limit == 0) return std::string();
  ReadOptions options = MakeReadOptions();
  options.reverse = read.reverse;
  options.limit = read.limit;
  RowReader reader = table_.ReadRows(read.rows, read.filter, options);
  int64_t rows = 0;
  std::string last;
  for (const RowView& row : reader) {
    if (!row.is_last_piece()) continue;
    last = row.row_key();
    ++rows;
  }
  STELE_RETURN_IF_ERROR(reader.status());
  return rows < read.limit ? std::string() : last;
}

absl::Status ComparedDesign::CountScannedRows(const PreparedOperation& prepared,
                                              OperationResult* result) const {
  for (const stele::lab::ReadRequest& read : prepared.reads) {
    if (read.rows.ranges().empty()) continue;
    STELE_ASSIGN_OR_RETURN(const std::string last, LastRowOf(read));
    ReadOptions options = MakeReadOptions();
    options.reverse = read.reverse;
    RowReader reader = table_.ReadRows(read.rows, Filter::StripValue(), options);
    for (const RowView& row : reader) {
      if (!row.is_last_piece()) continue;
      ++result->scanned_rows;
      if (!last.empty() && row.row_key() == last) break;
    }
    STELE_RETURN_IF_ERROR(reader.status());
  }
  return absl::OkStatus();
}

// The sum of the hashes does not depend on the order of the values.
void ComparedDesign::AddRow(const LogicalOperation& operation, const RowView& row,
                            OperationResult* result) const {
  const auto& answer = answer_columns_[operation.query];
  if (row.is_last_piece()) {
    result->bytes_returned += row.row_key().size();
    result->last_row = row.row_key();
  }
  for (const CellView& cell : row.cells()) {
    result->bytes_returned += cell.qualifier().size() + cell.value().size();
    const bool is_answer = std::any_of(answer.begin(), answer.end(), [&](const auto& column) {
      return cell.family() == column.family && cell.qualifier() == column.qualifier;
    });
    if (!is_answer) continue;
    result->answer_hash += Checksum64(cell.value());
    ++result->answer_values;
  }
}

}  // namespace stele::internal::lab
