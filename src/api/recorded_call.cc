#include "api/recorded_call.h"

#include <algorithm>

#include "base/status.h"
#include "model/access.h"
#include "model/filter_node.h"
#include "model/mutation_ops.h"

namespace stele::internal {
namespace {

constexpr size_t kRecordedColumnsMax = 16;

std::string ColumnName(std::string_view family, std::string_view qualifier) {
  std::string name(family);
  name += ':';
  name += qualifier;
  return name;
}

bool IsDelete(MutationOp::Kind kind) {
  return kind == MutationOp::Kind::kDeleteFromColumn ||
         kind == MutationOp::Kind::kDeleteFromFamily || kind == MutationOp::Kind::kDeleteFromRow;
}

// The least key above `key`.
std::string After(std::string key) {
  key.push_back('\0');
  return key;
}

TraceRecord::Range RangeOf(const RowRange& range) {
  TraceRecord::Range bounds;
  if (range.start_bound() == RangeBound::kClosed) bounds.start = range.start();
  if (range.start_bound() == RangeBound::kOpen) bounds.start = After(range.start());
  if (range.end_bound() == RangeBound::kOpen) bounds.end = range.end();
  if (range.end_bound() == RangeBound::kClosed) bounds.end = After(range.end());
  return bounds;
}

uint64_t MicrosSince(std::chrono::steady_clock::time_point begin) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::steady_clock::now() - begin)
                                   .count());
}

// The name of an error code; empty: OK.
std::string NameOfError(const absl::Status& status) {
  return status.ok() ? std::string() : std::string(ToStd(absl::StatusCodeToString(status.code())));
}

// The bytes of the row key, and of the row's qualifiers and values.
uint64_t BytesOfRow(const RowView& row) {
  uint64_t bytes = row.is_last_piece() ? row.row_key().size() : 0;
  for (const CellView& cell : row.cells()) bytes += cell.qualifier().size() + cell.value().size();
  return bytes;
}

class RecordedRows final : public RowSource {
 public:
  RecordedRows(std::shared_ptr<Recorder> recorder, RecordedCall call,
               std::unique_ptr<RowSource> source, int64_t limit)
      : recorder_(std::move(recorder)),
        call_(std::move(call)),
        source_(std::move(source)),
        limit_(limit) {}
  ~RecordedRows() override {
    const ReadStats stats = source_->stats();
    TraceRecord& record = call_.record();
    if (stats.is_work_known) {
      record.rows_seen = stats.rows_seen;
      record.cells_seen = stats.cells_seen;
      record.bytes_read = stats.bytes_read;
    }
    // A scan that read its whole range examined no last row.
    const bool is_scan = record.op == TraceOp::kScan;
    const bool is_partial = !has_ended_ || (limit_ > 0 && rows_ >= static_cast<uint64_t>(limit_));
    if (is_scan && is_partial && !last_.empty()) record.last = std::move(last_);
    // The caller wanted no more rows. A replay then stops there, too.
    if (is_scan && !has_ended_) record.limit = std::max<uint64_t>(1, rows_ + (in_row_ ? 1 : 0));
    call_.Finish(source_->status());
  }

  bool Next() override {
    has_ended_ = !source_->Next();
    if (has_ended_) return false;
    const RowView& row = source_->row();
    in_row_ = !row.is_last_piece();
    if (!in_row_) ++rows_;
    last_.assign(row.row_key());
    call_.CountRow(row);
    return true;
  }
  const RowView& row() const override { return source_->row(); }
  absl::Status status() const override { return source_->status(); }
  ReadStats stats() const override { return source_->stats(); }

 private:
  const std::shared_ptr<Recorder> recorder_;  // the table may be destroyed before
  RecordedCall call_;
  const std::unique_ptr<RowSource> source_;
  const int64_t limit_;
  uint64_t rows_ = 0;
  bool in_row_ = false;  // the last piece of the row is not returned yet
  std::string last_;
  bool has_ended_ = false;
};

}  // namespace

RecordedCall::RecordedCall(Recorder* recorder, uint64_t recording, TraceOp op,
                           std::string_view table, std::string_view tag)
    : recorder_(recorder), recording_(recording), begin_(std::chrono::steady_clock::now()) {
  record_.micros = recorder->TimeOf(begin_);
  record_.op = op;
  record_.table = table;
  record_.tag = tag;
}

void RecordedCall::SetRow(std::string_view row_key) { record_.row = row_key; }

void RecordedCall::SetFilter(const Filter& filter) {
  if (Access::Node(filter).kind != FilterKind::kPassAll) record_.filter = filter.ToString();
}

void RecordedCall::SetRows(const RowSet& rows) {
  const std::vector<std::string>& keys = rows.row_keys();
  if (rows.ranges().empty() && !keys.empty()) {
    record_.op = keys.size() == 1 ? TraceOp::kGet : TraceOp::kMget;
    if (keys.size() == 1) {
      record_.row = keys[0];
    } else {
      record_.keys = keys;
    }
    return;
  }
  std::vector<TraceRecord::Range> ranges;
  for (const std::string& key : rows.row_keys())
    ranges.push_back({.start = key, .end = After(key)});
  for (const RowRange& range : rows.ranges()) ranges.push_back(RangeOf(range));
  if (ranges.size() == 1) {
    record_.start = std::move(ranges[0].start);
    record_.end = std::move(ranges[0].end);
    return;
  }
  record_.ranges = std::move(ranges);
  record_.has_ranges = true;
}

void RecordedCall::SetRange(const RowRange& range) {
  TraceRecord::Range bounds = RangeOf(range);
  record_.start = std::move(bounds.start);
  record_.end = std::move(bounds.end);
}

void RecordedCall::SetKeys(std::span<const std::string_view> row_keys) {
  record_.keys.assign(row_keys.begin(), row_keys.end());
}

void RecordedCall::SetConditional(std::string_view row_key, const Filter& predicate,
                                  const RowMutation& if_matched,
                                  const RowMutation& if_not_matched) {
  SetRow(row_key);
  // The text is there also for a predicate that passes all cells.
  record_.filter = predicate.ToString();
  SetMutation(if_matched.count() > 0 ? if_matched : if_not_matched);
}

void RecordedCall::StartCounting() {
  record_.rows_returned = 0;
  record_.cells_returned = 0;
  record_.bytes = 0;
}

void RecordedCall::SetMutation(const RowMutation& mutation) {
  MutationOpReader ops(Access::EncodedOps(mutation));
  MutationOp op;
  uint64_t cells = 0;
  uint64_t bytes = record_.row.size();
  bool has_only_deletes = mutation.count() > 0;
  while (ops.Next(&op)) {
    if (!IsDelete(op.kind)) {
      has_only_deletes = false;
      ++cells;
      bytes += op.qualifier.size() + op.value.size();
    }
    const bool has_column = op.kind != MutationOp::Kind::kDeleteFromFamily &&
                            op.kind != MutationOp::Kind::kDeleteFromRow;
    if (!has_column || record_.columns.size() == kRecordedColumnsMax) continue;
    std::string column = ColumnName(op.family, op.qualifier);
    if (std::find(record_.columns.begin(), record_.columns.end(), column) == record_.columns.end())
      record_.columns.push_back(std::move(column));
  }
  if (record_.op == TraceOp::kSet && has_only_deletes) record_.op = TraceOp::kDel;
  record_.cells = cells;
  record_.bytes = bytes;
}

void RecordedCall::SetRules(std::span<const ReadModifyWriteRule> rules) {
  uint64_t bytes = record_.row.size();
  for (const ReadModifyWriteRule& rule : rules) {
    const bool is_increment = rule.kind() == ReadModifyWriteRule::Kind::kIncrementAmount;
    std::vector<std::string>& columns = is_increment ? record_.increments : record_.columns;
    if (columns.size() < kRecordedColumnsMax)
      columns.push_back(ColumnName(rule.family(), rule.qualifier()));
    bytes += rule.qualifier().size() + (is_increment ? sizeof(int64_t) : rule.value().size());
  }
  record_.cells = rules.size();
  record_.bytes = bytes;
}

void RecordedCall::CountRow(const RowView& row) {
  record_.bytes = record_.bytes.value_or(0) + BytesOfRow(row);
  record_.cells_returned = record_.cells_returned.value_or(0) + row.cells().size();
  if (row.is_last_piece()) record_.rows_returned = record_.rows_returned.value_or(0) + 1;
}

uint64_t RecordedCall::LatencyMicros() const { return MicrosSince(begin_); }

void RecordedCall::Finish(const absl::Status& status) {
  record_.latency_micros = LatencyMicros();
  SetStatus(status);
  recorder_->Add(recording_, record_);
}

void RecordedCall::FinishEntries(std::optional<uint64_t> TraceRecord::*number) {
  record_.latency_micros = LatencyMicros();
  record_.*number = recorder_->NextNumber();
}

void RecordedCall::AddEntry(std::string_view table, const RowMutation& mutation,
                            const absl::Status& status) {
  record_.op = TraceOp::kSet;
  record_.table = table;
  record_.row = mutation.row_key();
  record_.columns.clear();
  SetMutation(mutation);
  SetStatus(status);
  recorder_->Add(recording_, record_);
}

void RecordedCall::SetStatus(const absl::Status& status) { record_.status = NameOfError(status); }

RecordedPointRead::RecordedPointRead(const TableBackend& table, uint64_t recording,
                                     std::string_view row_key, std::string_view tag)
    : recorder_(table.recorder().get()),
      recording_(recording),
      begin_(std::chrono::steady_clock::now()) {
  record_.micros = recorder_->TimeOf(begin_);
  record_.table = table.name();
  record_.row = row_key;
  record_.tag = tag;
}

void RecordedPointRead::SetFilter(const Filter& filter) {
  if (Access::Node(filter).kind == FilterKind::kPassAll) return;
  filter_ = filter.ToString();
  record_.filter = filter_;
}

void RecordedPointRead::CountRow(const RowView& row) {
  record_.returned =
      ReturnedCounts{.rows = 1, .cells = row.cells().size(), .bytes = BytesOfRow(row)};
}

void RecordedPointRead::Finish(const absl::Status& status) {
  record_.latency_micros = MicrosSince(begin_);
  const std::string name = NameOfError(status);
  record_.status = name;
  recorder_->Add(recording_, record_);
}

absl::StatusOr<std::unique_ptr<RowSource>> RecordReadRows(TableBackend& table, uint64_t recording,
                                                          const RowSet& rows, const Filter& filter,
                                                          const ReadOptions& options) {
  RecordedCall call(table, recording, TraceOp::kScan, options.tag);
  call.SetRows(rows);
  call.SetFilter(filter);
  call.record().is_reverse = options.reverse;
  if (options.limit > 0) call.record().limit = static_cast<uint64_t>(options.limit);
  call.StartCounting();
  auto source = table.ReadRows(rows, filter, options);
  if (!source.ok()) return call.Finished(std::move(source));
  return std::make_unique<RecordedRows>(table.recorder(), std::move(call), *std::move(source),
                                        options.limit);
}

absl::Status RecordBatch(DatabaseBackend& database, uint64_t recording, const WriteBatch& batch,
                         const WriteOptions& options) {
  RecordedCall call(database.recorder().get(), recording, TraceOp::kSet, "", options.tag);
  absl::Status status = database.Apply(batch, options);
  call.FinishEntries(&TraceRecord::batch);
  for (const Access::BatchEntry& entry : Access::Entries(batch))
    call.AddEntry(entry.table->name(), entry.mutation, status);
  return status;
}

std::vector<FailedMutation> RecordBulkApply(TableBackend& table, uint64_t recording,
                                            std::span<const RowMutation> mutations,
                                            const WriteOptions& options) {
  RecordedCall call(table, recording, TraceOp::kSet, options.tag);
  std::vector<FailedMutation> failed = table.BulkApply(mutations, options);
  call.FinishEntries(&TraceRecord::call);
  auto next_failed = failed.begin();
  for (size_t i = 0; i < mutations.size(); ++i) {
    const bool has_failed = next_failed != failed.end() && next_failed->index == i;
    call.AddEntry(table.name(), mutations[i], has_failed ? next_failed->status : absl::OkStatus());
    if (has_failed) ++next_failed;
  }
  return failed;
}

}  // namespace stele::internal
