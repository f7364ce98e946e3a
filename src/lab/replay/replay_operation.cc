#include "lab/replay/replay_operation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "lab/workload/random.h"

namespace stele::internal::lab {
namespace {

using stele::lab::ReplayWrites;

constexpr std::chrono::seconds kReplayCallDeadline(60);
constexpr size_t kReplayPoolBytes = size_t{1} << 16;
// The limits of a table: mutations of a row, and bytes of a value.
constexpr uint64_t kWriteCellsMax = 100'000;
constexpr uint64_t kWriteBytesMax = uint64_t{100} << 20;

struct ColumnName {
  std::string family;
  std::string qualifier;
};

absl::StatusOr<ColumnName> ParseColumn(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos || colon == 0)
    return InvalidArgument("the trace's column \"{}\" is not FAMILY:QUALIFIER", Printable(text));
  return ColumnName{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

// The filter of a read, and the families that it may return.
absl::StatusOr<Filter> ReadFilterOf(const TraceRecord& record) {
  std::vector<Filter> filters;
  if (record.families.has_value()) {
    std::vector<Filter> families;
    for (const std::string& family : *record.families) families.push_back(Filter::Family(family));
    filters.push_back(families.empty()       ? Filter::BlockAll()
                      : families.size() == 1 ? families.front()
                                             : Filter::Interleave(std::move(families)));
  }
  if (!record.filter.empty()) {
    STELE_ASSIGN_OR_RETURN(Filter filter, Filter::Parse(record.filter));
    filters.push_back(std::move(filter));
  }
  if (filters.empty()) return Filter();
  return filters.size() == 1 ? filters.front() : Filter::Chain(std::move(filters));
}

// An absent bound is unbounded, as is an empty one.
RowRange RangeOf(const std::optional<std::string>& start, const std::optional<std::string>& end) {
  return RowRange::RightOpen(start.value_or(""), end.value_or(""));
}

RowSet RowsOf(const TraceRecord& record) {
  RowSet rows;
  if (!record.has_ranges) {
    rows.Append(RangeOf(record.start, record.end));
    return rows;
  }
  for (const TraceRecord::Range& range : record.ranges)
    rows.Append(RangeOf(range.start, range.end));
  return rows;
}

std::string_view FirstKeyOf(const TraceRecord& record) {
  if (record.op == TraceOp::kMget)
    return record.keys.empty() ? std::string_view() : std::string_view(record.keys.front());
  if (record.is_point()) return record.row;
  const std::optional<std::string>& start =
      record.has_ranges && !record.ranges.empty() ? record.ranges.front().start : record.start;
  return start.has_value() ? std::string_view(*start) : std::string_view();
}

std::string_view FirstKeyOf(const PreparedOperation& prepared) {
  if (prepared.write.has_value()) return prepared.write->row_key();
  if (prepared.reads.empty()) return "";
  const RowSet& rows = prepared.reads[0].rows;
  if (!rows.row_keys().empty()) return rows.row_keys()[0];
  return rows.ranges().empty() ? std::string_view() : std::string_view(rows.ranges()[0].start());
}

// Adds the cells of a row, or of a piece of one.
template <typename Cells>
void Count(const Cells& cells, OperationCounts* counts) {
  counts->cells += cells.size();
  for (const auto& cell : cells) counts->value_bytes += cell.value().size();
}

void CountBytesRead(const ReadStats& stats, OperationCounts* counts) {
  counts->bytes_read += stats.bytes_read;
  counts->is_work_known = counts->is_work_known && stats.is_work_known;
}

std::string MakePool(uint64_t seed) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  BenchRandom random(seed);
  std::string pool(kReplayPoolBytes, ' ');
  for (char& c : pool) c = kLetters[random.Below(kLetters.size())];
  return pool;
}

}  // namespace

std::string_view FirstKey(const ReplayOperation& operation) {
  return operation.prepared.has_value() ? FirstKeyOf(*operation.prepared)
                                        : FirstKeyOf(operation.record);
}

std::string_view SkipReason(const TraceRecord& record, ReplayWrites writes) {
  if (record.is_read()) return "";
  if (writes == ReplayWrites::kSkip) return kSkippedWrites;
  if (record.op == TraceOp::kDrop)
    return writes == ReplayWrites::kApplyDrops ? "" : "drop: range deletes are not applied";
  if (record.op == TraceOp::kRmw && record.increments.empty())
    return "rmw without increments: the trace does not say what it changed";
  if (record.op == TraceOp::kCas && record.columns.empty())
    return "cas without columns: the trace does not say what it changed";
  return "";
}

OperationReplayer::OperationReplayer(uint64_t seed, std::stop_token stop)
    : values_(MakePool(seed)), stop_(std::move(stop)) {}

ReadOptions OperationReplayer::MakeReadOptions() const {
  return {.stop = stop_, .deadline = std::chrono::steady_clock::now() + kReplayCallDeadline};
}

WriteOptions OperationReplayer::MakeWriteOptions() const {
  return {.stop = stop_, .deadline = std::chrono::steady_clock::now() + kReplayCallDeadline};
}

absl::Status OperationReplayer::Run(const ReplayOperation& operation, OperationCounts* counts) {
  if (operation.prepared.has_value()) return RunPrepared(operation, counts);
  const Record& record = operation.record;
  Table table = operation.table;
  switch (record.op) {
    case TraceOp::kGet:
      return Get(record, table, counts);
    case TraceOp::kMget:
      return GetMany(record, table, counts);
    case TraceOp::kScan:
      return Scan(record, table, counts);
    case TraceOp::kSet:
      return Set(operation, counts);
    case TraceOp::kDel:
      return Delete(operation, counts);
    case TraceOp::kRmw:
      return Increment(operation, counts);
    case TraceOp::kCas:
      return CheckAndMutate(operation, counts);
    case TraceOp::kDrop:
      return Drop(record, table);
  }
  return absl::InternalError("unknown operation");
}

absl::Status OperationReplayer::RunPrepared(const ReplayOperation& operation,
                                            OperationCounts* counts) const {
  const PreparedOperation& prepared = *operation.prepared;
  if (prepared.write.has_value()) {
    ++counts->rows;
    counts->cells += prepared.write->count();
    Table table = operation.table;
    return table.Apply(*prepared.write, MakeWriteOptions());
  }
  const auto visit = [&](const RowView& row) {
    if (row.is_last_piece()) ++counts->rows;
    Count(row.cells(), counts);
  };
  STELE_ASSIGN_OR_RETURN(const ReadStats stats, stele::lab::ReadAll(operation.table, prepared.reads,
                                                                    MakeReadOptions(), visit));
  CountBytesRead(stats, counts);
  return absl::OkStatus();
}

absl::Status OperationReplayer::Get(const Record& record, const Table& table,
                                    OperationCounts* counts) const {
  STELE_ASSIGN_OR_RETURN(const Filter filter, ReadFilterOf(record));
  STELE_ASSIGN_OR_RETURN(const auto row, table.ReadRow(record.row, filter, MakeReadOptions()));
  if (!row.has_value()) return absl::OkStatus();
  ++counts->rows;
  Count(row->cells(), counts);
  return absl::OkStatus();
}

absl::Status OperationReplayer::GetMany(const Record& record, const Table& table,
                                        OperationCounts* counts) const {
  STELE_ASSIGN_OR_RETURN(const Filter filter, ReadFilterOf(record));
  STELE_ASSIGN_OR_RETURN(const auto rows, table.ReadMany(std::span<const std::string>(record.keys),
                                                         filter, MakeReadOptions()));
  for (const auto& row : rows) {
    if (!row.has_value()) continue;
    ++counts->rows;
    Count(row->cells(), counts);
  }
  return absl::OkStatus();
}

absl::Status OperationReplayer::Scan(const Record& record, const Table& table,
                                     OperationCounts* counts) const {
  STELE_ASSIGN_OR_RETURN(const Filter filter, ReadFilterOf(record));
  ReadOptions options = MakeReadOptions();
  options.reverse = record.is_reverse;
  constexpr uint64_t kLimitMax = INT64_MAX;
  options.limit = static_cast<int64_t>(std::min(record.limit.value_or(0), kLimitMax));
  RowReader reader = table.ReadRows(RowsOf(record), filter, options);
  for (const RowView& row : reader) {
    if (row.is_last_piece()) ++counts->rows;
    Count(row.cells(), counts);
  }
  CountBytesRead(reader.stats(), counts);
  return reader.status();
}

absl::StatusOr<RowMutation> OperationReplayer::CellsOf(const ReplayOperation& operation,
                                                       OperationCounts* counts) const {
  const Record& record = operation.record;
  const uint64_t cells = record.cells.value_or(std::max<size_t>(1, record.columns.size()));
  const uint64_t bytes = record.bytes.value_or(0);
  if (cells > kWriteCellsMax || bytes > kWriteBytesMax)
    return InvalidArgument("the trace's write has {} cells and {} bytes, at most {} and {}", cells,
                           bytes, kWriteCellsMax, kWriteBytesMax);
  RowMutation mutation(record.row);
  uint64_t name_bytes = record.row.size();
  std::vector<ColumnName> columns;
  for (uint64_t i = 0; i < cells; ++i) {
    ColumnName column{.family = "f", .qualifier = fmt::format("q{}", i)};
    if (i < record.columns.size()) {
      STELE_ASSIGN_OR_RETURN(column, ParseColumn(record.columns[i]));
    } else if (!columns.empty()) {
      column.family = columns.back().family;
    }
    name_bytes += column.qualifier.size();
    columns.push_back(std::move(column));
  }
  const uint64_t value_bytes = bytes > name_bytes ? bytes - name_bytes : 0;
  const uint64_t begin = Fnv1a(operation.number) % kReplayPoolBytes;
  uint64_t made = 0;
  for (uint64_t i = 0; i < columns.size(); ++i) {
    const uint64_t made_after = value_bytes * (i + 1) / columns.size();
    std::string value;
    while (value.size() < made_after - made) {
      const size_t from = (begin + made + value.size()) % kReplayPoolBytes;
      value.append(values_, from, made_after - made - value.size());
    }
    mutation.SetCell(columns[i].family, columns[i].qualifier, value);
    made = made_after;
  }
  ++counts->rows;
  counts->cells += columns.size();
  counts->value_bytes += value_bytes;
  return mutation;
}

absl::Status OperationReplayer::Set(const ReplayOperation& operation, OperationCounts* counts) {
  STELE_ASSIGN_OR_RETURN(RowMutation mutation, CellsOf(operation, counts));
  Table table = operation.table;
  return table.Apply(std::move(mutation), MakeWriteOptions());
}

// The trace does not record which branch was taken, so both branches write the recorded columns.
absl::Status OperationReplayer::CheckAndMutate(const ReplayOperation& operation,
                                               OperationCounts* counts) {
  STELE_ASSIGN_OR_RETURN(const Filter predicate, ReadFilterOf(operation.record));
  STELE_ASSIGN_OR_RETURN(const RowMutation mutation, CellsOf(operation, counts));
  Table table = operation.table;
  return table
      .CheckAndMutateRow(mutation.row_key(), predicate, mutation, mutation, MakeWriteOptions())
      .status();
}

// Without columns, the row is deleted.
absl::Status OperationReplayer::Delete(const ReplayOperation& operation,
                                       OperationCounts* counts) const {
  RowMutation mutation(operation.record.row);
  for (const std::string& text : operation.record.columns) {
    STELE_ASSIGN_OR_RETURN(const ColumnName column, ParseColumn(text));
    mutation.DeleteFromColumn(column.family, column.qualifier);
  }
  if (operation.record.columns.empty()) mutation.DeleteFromRow();
  ++counts->rows;
  Table table = operation.table;
  return table.Apply(std::move(mutation), MakeWriteOptions());
}

// Deletes nothing if the drop has a row, keys or ranges: the recorded call may have deleted fewer
// rows than start to end.
absl::Status OperationReplayer::Drop(const Record& record, Table table) {
  if (record.has_ranges || !record.keys.empty() || !record.row.empty())
    return InvalidArgument(
        "a drop with row, keys or ranges; a trace describes its rows with start and end");
  return table.DropRowRange(RangeOf(record.start, record.end));
}

absl::Status OperationReplayer::Increment(const ReplayOperation& operation,
                                          OperationCounts* counts) const {
  std::vector<ReadModifyWriteRule> rules;
  for (const std::string& text : operation.record.increments) {
    STELE_ASSIGN_OR_RETURN(ColumnName column, ParseColumn(text));
    rules.push_back(ReadModifyWriteRule::IncrementAmount(std::move(column.family),
                                                         std::move(column.qualifier), 1));
  }
  ++counts->rows;
  counts->cells += rules.size();
  counts->value_bytes += rules.size() * sizeof(int64_t);
  Table table = operation.table;
  return table.ReadModifyWriteRow(operation.record.row, rules, MakeWriteOptions()).status();
}

}  // namespace stele::internal::lab
