#include "copy_batch.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "base/status.h"
#include "session.h"

namespace stele::cli {
namespace {

constexpr uint64_t kBatchBytesMax = uint64_t{8} << 20;
// Bigtable accepts at most 100,000 changes in a request.
constexpr size_t kBatchChangesMax = 50'000;
constexpr size_t kMutationChangesMax = 10'000;
constexpr uint64_t kMutationBytesMax = uint64_t{4} << 20;
constexpr int kAttempts = 6;
constexpr std::chrono::milliseconds kFirstPause{100};  // doubled each time: 3 s in total

bool MayPass(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kAborted ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

// Returns the range of exactly this timestamp.
TimestampRange Only(Timestamp timestamp, TimestampGranularity granularity) {
  const int64_t step = granularity == TimestampGranularity::kMillis ? 1000 : 1;
  if (timestamp.micros() > std::numeric_limits<int64_t>::max() - step)
    return {.start = timestamp, .end = std::nullopt};
  return {.start = timestamp, .end = Timestamp::FromMicros(timestamp.micros() + step)};
}

}  // namespace

CopyBatch::CopyBatch(const Table& table, const Schema& schema)
    : table_(table),
      schema_(schema),
      changes_max_(static_cast<size_t>(
          std::clamp<uint64_t>(schema.limits().mutations, 2, kMutationChangesMax))),
      row_bytes_max_(std::min(schema.limits().row_bytes / 2, kMutationBytesMax)) {}

CopyCounts CopyBatch::Add(const RowView& row) {
  CopyCounts counts;
  RowMutation mutation{std::string(row.row_key())};
  uint64_t bytes = 0;
  const auto finish = [&] {
    if (mutation.count() == 0) return;
    changes_ += mutation.count();
    mutations_.push_back(std::exchange(mutation, RowMutation{std::string(row.row_key())}));
    bytes = 0;
  };
  for (const CellView& cell : row.cells()) {
    const uint64_t cell_bytes =
        cell.family().size() + cell.qualifier().size() + cell.value().size();
    // A cell of an aggregate family is two changes.
    if (mutation.count() + 2 > changes_max_ || bytes + cell_bytes > row_bytes_max_) finish();
    AddCell(mutation, cell);
    bytes += cell_bytes;
    bytes_ += cell_bytes;
    counts.bytes += cell.qualifier().size() + cell.value().size();
    ++counts.cells;
  }
  finish();
  bytes_ += row.row_key().size();
  if (row.is_last_piece()) counts.bytes += row.row_key().size();
  ++row_count_;
  return counts;
}

void CopyBatch::AddCell(RowMutation& mutation, const CellView& cell) const {
  const FamilySchema* const family = schema_.family(cell.family());
  if (family == nullptr || family->value_type == ValueType::kBytes) {
    mutation.SetCell(cell.family(), cell.qualifier(), cell.timestamp(), cell.value());
    return;
  }
  mutation.DeleteFromColumn(cell.family(), cell.qualifier(),
                            Only(cell.timestamp(), schema_.granularity()));
  // Adds the number to the deleted cell, which sets it. All servers support adding a number, but
  // merging a state differs between servers.
  const auto number = cell.AsInt64();
  if (family->value_type != ValueType::kHll && number.ok()) {
    mutation.AddToCell(cell.family(), cell.qualifier(), cell.timestamp(), *number);
  } else {
    mutation.MergeToCell(cell.family(), cell.qualifier(), cell.timestamp(), cell.value());
  }
}

bool CopyBatch::is_full() const { return bytes_ >= kBatchBytesMax || changes_ >= kBatchChangesMax; }

absl::Status CopyBatch::Write() {
  absl::Status status;
  std::chrono::milliseconds pause = kFirstPause;
  for (int attempt = 0; attempt < kAttempts && !mutations_.empty(); ++attempt, pause *= 2) {
    if (attempt > 0) std::this_thread::sleep_for(pause);
    status = WriteOnce();
    if (!status.ok() && !MayPass(status)) break;
  }
  mutations_.clear();
  row_count_ = 0;
  changes_ = 0;
  bytes_ = 0;
  return status;
}

// Keeps the failed rows. Returns the first permanent failure, else the first failure.
absl::Status CopyBatch::WriteOnce() {
  const std::vector<FailedMutation> failed = table_.BulkApply(mutations_);
  absl::Status status;
  std::vector<RowMutation> left;
  for (const FailedMutation& failure : failed) {
    RowMutation& mutation = mutations_[failure.index];
    if (status.ok() || (MayPass(status) && !MayPass(failure.status))) {
      status = Within(fmt::format("writing row \"{}\"", internal::Printable(mutation.row_key())),
                      failure.status);
    }
    left.push_back(std::move(mutation));
  }
  mutations_ = std::move(left);
  return status;
}

}  // namespace stele::cli
