#include "support/wal_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/status.h"

namespace stele::internal {

std::string WalWorkload::PayloadOf(uint64_t sequence) {
  Random random(sequence);
  return WalPayload(sequence, random.OneIn(15) ? 5000 : random.Below(700));
}

absl::Status WalWorkload::Open() {
  log_.reset();
  WalReplay replay = ReplayWal(file_system_, "db", oldest_segment_);
  STELE_RETURN_IF_ERROR(replay.status);
  STELE_RETURN_IF_ERROR(
      SyncReplayedLog({file_system_, "db", kWalDatabaseId, oldest_segment_}, replay.tail));
  numbers_.SkipExisting(file_system_, "db");
  CommitLogOptions options = WalOptions(file_system_, "db", &numbers_);
  options.spares_max = 1 + random_.Below(3);
  options.may_begin_later = true;
  STELE_ASSIGN_OR_RETURN(log_, CommitLog::Start(options, replay.tail));
  // The recovered state becomes the new baseline. Recovery has synced it.
  attempted_ = acked_ = synced_ = std::max(replay.tail.last_sequence, released_);
  return absl::OkStatus();
}

absl::Status WalWorkload::AppendGroup() {
  std::vector<std::string> payloads;
  std::vector<LogRecord> records;
  const uint64_t count = 1 + random_.Below(4);
  for (uint64_t i = 1; i <= count; ++i) payloads.push_back(PayloadOf(acked_ + i));
  for (uint64_t i = 1; i <= count; ++i) records.push_back({acked_ + i, payloads[i - 1]});
  attempted_ = std::max(attempted_, acked_ + count);
  STELE_RETURN_IF_ERROR(log_->Append(records));
  acked_ += count;
  return absl::OkStatus();
}

absl::Status WalWorkload::SyncLog() {
  const uint64_t wanted = acked_;
  STELE_RETURN_IF_ERROR(log_->Sync());
  synced_ = wanted;
  return absl::OkStatus();
}

absl::Status WalWorkload::ReleaseSome() {
  STELE_RETURN_IF_ERROR(SyncLog());
  released_ = std::max(released_, synced_ - std::min<uint64_t>(synced_, random_.Below(10)));
  // In the manifest before the segments are deleted.
  oldest_segment_ = log_->OldestSegmentAfter(released_);
  return log_->Release(released_);
}

absl::Status WalWorkload::Step() {
  if (log_ == nullptr) return Open();
  const uint64_t dice = random_.Below(100);
  if (dice < 60) return AppendGroup();
  if (dice < 75) return SyncLog();
  if (dice < 88) return log_->PrepareSpare();
  if (dice < 94) return ReleaseSome();
  if (dice < 97) {
    STELE_RETURN_IF_ERROR(log_->Close());
    synced_ = acked_;
  }
  log_.reset();
  return Open();
}

bool WalWorkload::Run(int steps, bool go_on_after_errors) {
  for (int i = 0; i < steps; ++i) {
    if (Step().ok()) continue;
    ++refused_;
    if (!go_on_after_errors || poisoned()) return false;
  }
  return true;
}

void WalWorkload::Adopt(const WalWorkload& earlier) {
  attempted_ = earlier.attempted_;
  acked_ = earlier.acked_;
  synced_ = earlier.synced_;
  released_ = earlier.released_;
  oldest_segment_ = earlier.oldest_segment_;
}

std::string WalWorkload::Check(FileSystem* image, bool killed) const {
  const WalReplay replay = ReplayWal(image, "db", oldest_segment_);
  if (!replay.status.ok()) return fmt::format("not readable: {}", ToStd(replay.status.message()));
  const uint64_t last = replay.tail.last_sequence;
  const uint64_t least = killed ? acked_ : synced_;
  if (last < least) return fmt::format("{} was acked, the log ends at {}", least, last);
  if (last > attempted_)
    return fmt::format("the log ends at {}, only {} was ever appended", last, attempted_);
  if (last > released_ && replay.records.empty())
    return fmt::format("no record, though only {} of {} are released", released_, last);
  for (size_t i = 0; i < replay.records.size(); ++i) {
    const WalRecord& record = replay.records[i];
    if (i == 0 && record.sequence > released_ + 1)
      return fmt::format("begins at {}, released is {}", record.sequence, released_);
    if (i > 0 && record.sequence != replay.records[i - 1].sequence + 1)
      return fmt::format("a hole before {}", record.sequence);
    if (record.payload != PayloadOf(record.sequence))
      return fmt::format("record {} has changed", record.sequence);
  }
  if (!replay.records.empty() && replay.records.back().sequence != last)
    return "the tail names another last sequence";
  return "";
}

}  // namespace stele::internal
