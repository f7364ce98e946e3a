#include "jobs/sstable_writer.h"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

// Often enough for smooth throttling, rarely enough to cost nothing.
constexpr uint64_t kProgressBytes = 1 << 20;
constexpr size_t kCellsBetweenCharges = 256;

class SstableWriter {
 public:
  SstableWriter(const SstableTarget& target, const NextCursor& next)
      : target_(target),
        next_(next),
        charge_(target.job.memory_tracker, MemoryTracker::Use::kJobs) {}

  absl::StatusOr<std::optional<SstableSummary>> Write() {
    absl::StatusOr<std::optional<SstableSummary>> written = WriteFile();
    if (written.ok() || file_ == nullptr) return written;
    builder_.reset();
    file_.reset();
    target_.job.file_system->Remove(Path()).IgnoreError();
    return written;
  }

 private:
  std::string Path() const { return JoinPath(target_.job.directory, target_.file_name); }

  absl::StatusOr<std::optional<SstableSummary>> WriteFile() {
    while (const std::unique_ptr<CellCursor> cursor = next_()) {
      for (bool more = cursor->SeekToEdge(); more; more = cursor->NextRow())
        STELE_RETURN_IF_ERROR(WriteRow(*cursor));
      STELE_RETURN_IF_ERROR(cursor->status());
    }
    if (builder_ == nullptr) return std::optional<SstableSummary>();
    STELE_ASSIGN_OR_RETURN(SstableSummary summary, builder_->Finish());
    STELE_RETURN_IF_ERROR(ReportProgress(0));
    STELE_RETURN_IF_ERROR(file_->Sync());
    STELE_RETURN_IF_ERROR(target_.job.file_system->SyncDirectory(target_.job.directory));
    return std::optional<SstableSummary>(std::move(summary));
  }

  absl::Status WriteRow(CellCursor& cursor) {
    bool started = false;
    STELE_RETURN_IF_ERROR(CheckStop());
    while (cursor.ReadCells(&cells_)) {
      if (cells_.empty()) {
        cursor.Unpin();
        continue;
      }
      if (!started) STELE_RETURN_IF_ERROR(StartRow(cursor.row_key()));
      started = true;
      STELE_RETURN_IF_ERROR(builder_->AddCells(cells_));
      cells_since_charge_ += cells_.size();
      cells_.clear();
      cursor.Unpin();
      ChargeNowAndThen();
      STELE_RETURN_IF_ERROR(ReportProgress(kProgressBytes));
      STELE_RETURN_IF_ERROR(CheckStop());
    }
    return absl::OkStatus();
  }

  // Charges rarely, since computing a builder's memory costs as much as adding a row.
  void ChargeNowAndThen() {
    if (cells_since_charge_ < kCellsBetweenCharges && charge_.bytes() != 0) return;
    charge_.Set(builder_->memory_bytes() + cells_.capacity() * sizeof(Cell));
    cells_since_charge_ = 0;
  }

  // The file is created with its first row, so that a job with nothing to write creates no file.
  absl::Status StartRow(std::string_view row_key) {
    if (builder_ == nullptr) {
      STELE_ASSIGN_OR_RETURN(file_, target_.job.file_system->Open(Path(), OpenMode::kCreate));
      builder_ = std::make_unique<SstableBuilder>(file_.get(), target_.builder);
    }
    return builder_->StartRow(row_key);
  }

  absl::Status CheckStop() const {
    // relaxed: only the flag itself is read
    if (target_.job.stop == nullptr || !target_.job.stop->load(std::memory_order_relaxed))
      return absl::OkStatus();
    return Cancelled("writing {} was stopped", target_.file_name);
  }

  absl::Status ReportProgress(uint64_t bytes_min) {
    const uint64_t bytes = builder_->bytes_written() - reported_bytes_;
    if (!target_.on_progress || bytes == 0 || bytes < bytes_min) return absl::OkStatus();
    reported_bytes_ += bytes;
    return target_.on_progress(bytes);
  }

  const SstableTarget& target_;
  const NextCursor& next_;
  std::unique_ptr<File> file_;
  std::unique_ptr<SstableBuilder> builder_;
  std::vector<Cell> cells_;
  MemoryCharge charge_;  // for builder_ and cells_
  size_t cells_since_charge_ = 0;
  uint64_t reported_bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::optional<SstableSummary>> WriteSstable(const SstableTarget& target,
                                                           const NextCursor& next) {
  return SstableWriter(target, next).Write();
}

SstableBuilderOptions SstableJob::BuilderOptions(Compression compression,
                                                 bool bottommost_codec) const {
  SstableBuilderOptions options;
  options.file_id = file_id;
  options.codec = CodecFor(compression, bottommost_codec);
  options.row_group_bytes = row_group_bytes;
  return options;
}

}  // namespace stele::internal
