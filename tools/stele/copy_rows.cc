#include "copy_rows.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "base/status.h"
#include "copy_batch.h"
#include "progress.h"

namespace stele::cli {
namespace {

// More parts than threads, so that one large part does not leave the other threads idle for long.
// Each part has a mark in the file.
constexpr size_t kPartsMax = 64;
constexpr uint64_t kPieceBytes = uint64_t{8} << 20;

// Returns the rows of the part that are not copied yet.
RowRange RestOf(const PartMark& part) {
  return part.last_row.empty() ? RowRange::RightOpen(part.start, part.end)
                               : RowRange::Open(part.last_row, part.end);
}

// The progress bar. It shows the stored bytes of the source before the last row copied in each
// part.
class CopyProgress {
 public:
  CopyProgress(const std::string& name, std::vector<RowKeySample> samples,
               const std::vector<PartMark>& parts)
      : samples_(std::move(samples)),
        progress_("copying " + name, "bytes stored",
                  samples_.empty() ? 0 : samples_.back().offset_bytes) {
    for (const PartMark& part : parts) Move(part);
  }

  void Move(const PartMark& part) {
    const uint64_t start = OffsetOf(part.start);
    const uint64_t end = part.is_finished ? (part.end.empty() ? OffsetOfEnd() : OffsetOf(part.end))
                                          : OffsetOf(part.last_row);
    const internal::MutexLock lock(mutex_);
    uint64_t& done = done_[part.start];
    sum_ -= done;
    done = end > start ? end - start : 0;
    sum_ += done;
    progress_.Set(sum_);
  }

 private:
  uint64_t OffsetOfEnd() const { return samples_.empty() ? 0 : samples_.back().offset_bytes; }
  uint64_t OffsetOf(const std::string& row_key) const {
    uint64_t offset = 0;
    for (const RowKeySample& sample : samples_) {
      if (sample.row_key.empty() || sample.row_key > row_key) break;
      offset = sample.offset_bytes;
    }
    return offset;
  }

  const std::vector<RowKeySample> samples_;
  internal::Mutex mutex_;
  std::map<std::string, uint64_t> done_ ABSL_GUARDED_BY(mutex_);
  uint64_t sum_ ABSL_GUARDED_BY(mutex_) = 0;
  Progress progress_ ABSL_GUARDED_BY(mutex_);
};

// The state that the threads of one table share.
class TableCopier {
 public:
  TableCopier(const CopyRequest& request, const Snapshot& snapshot, Database& destination,
              CopyTable& table, CopyMarks& marks, CopyProgress& progress)
      : request_(request),
        snapshot_(snapshot),
        destination_(destination),
        table_(table),
        marks_(marks),
        progress_(progress),
        parts_(marks.Get(table.source_name, table.destination_name).parts) {}

  // Copies parts until none is left or a thread fails.
  void Run() {
    while (!stop_.stop_requested()) {
      const size_t index = next_part_.fetch_add(1, std::memory_order_relaxed);
      if (index >= parts_.size()) return;
      if (parts_[index].is_finished) continue;
      const absl::Status copied = CopyPart(index);
      if (!copied.ok()) Fail(copied);
    }
  }

  size_t part_count() const { return parts_.size(); }
  absl::Status status() {
    const internal::MutexLock lock(mutex_);
    return status_;
  }

 private:
  absl::Status CopyPart(size_t index) {
    PartMark& part = parts_[index];
    RowReader reader = table_.source.ReadRows(RestOf(part), Filter::PassAll(),
                                              {.snapshot = snapshot_,
                                               .fill_cache = false,
                                               .row_piece_bytes = kPieceBytes,
                                               .stop = stop_.get_token()});
    CopyBatch batch(table_.destination, table_.destination_schema);
    CopyCounts counts = part.counts;
    while (reader.Next()) {
      const RowView& row = reader.row();
      counts += batch.Add(row);
      if (row.is_last_piece()) {
        ++counts.rows;
        part.last_row = row.row_key();
        part.counts = counts;
      }
      if (batch.row_count() < request_.batch_rows && !batch.is_full()) continue;
      STELE_RETURN_IF_ERROR(batch.Write());
      STELE_RETURN_IF_ERROR(Mark(index));
    }
    STELE_RETURN_IF_ERROR(reader.status());
    STELE_RETURN_IF_ERROR(batch.Write());
    part.is_finished = true;
    return Mark(index);
  }

  // Records the progress of a part after its rows are durable.
  absl::Status Mark(size_t index) {
    const absl::Status synced = destination_.Sync();
    // A database without Sync acknowledges a write when it is as durable as it makes it.
    if (!synced.ok() && synced.code() != absl::StatusCode::kUnimplemented) return synced;
    progress_.Move(parts_[index]);
    return marks_.SetPart(table_.source_name, index, parts_[index]);
  }

  void Fail(const absl::Status& status) {
    {
      const internal::MutexLock lock(mutex_);
      if (status_.ok()) status_ = status;
    }
    stop_.request_stop();
  }

  const CopyRequest& request_;
  const Snapshot& snapshot_;
  Database& destination_;
  CopyTable& table_;
  CopyMarks& marks_;
  CopyProgress& progress_;
  std::stop_source stop_;
  std::vector<PartMark> parts_;  // each is confined to the thread that took it
  std::atomic<size_t> next_part_ = 0;
  internal::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// If the system cannot create more threads, the existing ones do all the work.
std::vector<std::jthread> StartThreads(size_t count, TableCopier& copier) {
  std::vector<std::jthread> threads;
  try {
    for (size_t i = 0; i < count; ++i) threads.emplace_back([&copier] { copier.Run(); });
  } catch (const std::system_error&) {
  }
  return threads;
}

}  // namespace

absl::StatusOr<std::vector<PartMark>> CutIntoParts(const Table& source, const RowRange& rows) {
  STELE_ASSIGN_OR_RETURN(const std::vector<RowKeySample> samples, source.SampleRowKeys(rows));
  const uint64_t step =
      std::max<uint64_t>(1, samples.empty() ? 0 : samples.back().offset_bytes / kPartsMax);
  std::vector<PartMark> parts = {{.start = rows.start(),
                                  .end = rows.end(),
                                  .last_row = {},
                                  .is_finished = false,
                                  .counts = {}}};
  uint64_t offset = 0;
  for (const RowKeySample& sample : samples) {
    const bool is_inside =
        sample.row_key > parts.back().start && (rows.end().empty() || sample.row_key < rows.end());
    if (!is_inside || sample.offset_bytes < offset + step || parts.size() == kPartsMax) continue;
    parts.back().end = sample.row_key;
    parts.push_back({.start = sample.row_key,
                     .end = rows.end(),
                     .last_row = {},
                     .is_finished = false,
                     .counts = {}});
    offset = sample.offset_bytes;
  }
  return parts;
}

absl::Status CopyRows(const CopyRequest& request, const Snapshot& snapshot, Database& destination,
                      CopyTable& table, CopyMarks& marks) {
  STELE_ASSIGN_OR_RETURN(std::vector<RowKeySample> samples,
                         table.source.SampleRowKeys(request.rows));
  CopyProgress progress(table.source_name, std::move(samples),
                        marks.Get(table.source_name, table.destination_name).parts);
  TableCopier copier(request, snapshot, destination, table, marks, progress);
  {
    const std::vector<std::jthread> threads =
        StartThreads(std::min(request.workers, copier.part_count()) - 1, copier);
    copier.Run();
  }
  return copier.status();
}

}  // namespace stele::cli
