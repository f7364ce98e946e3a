#include "db/installer.h"

#include <utility>

#include "base/status.h"
#include "compaction/picker.h"

namespace stele::internal {

absl::Status Installer::Install(const MakeEdit& make, std::optional<EngineState::Flushed> flushed) {
  if (::getpid() != pid_) return FailedPrecondition("pid {} opened the database, and pid {} may not change it", pid_, ::getpid());
  const int64_t now = parts_.clock->Now();  // the caller's clock may do anything: under no lock
  MutexLock lock(mutex_);
  if (closed_) return FailedPrecondition("the database is closed; open it again");
  STELE_RETURN_IF_ERROR(parts_.committer->poison());
  const std::shared_ptr<const Version> before = parts_.manifest->version();
  STELE_ASSIGN_OR_RETURN(Edit edit, make(*before));
  const uint64_t flushed_through = parts_.state->FlushedThrough(flushed ? flushed->memtable : nullptr);
  edit.clock_mark = now;
  edit.next_file_number = parts_.next_file_number->load(std::memory_order_relaxed);
  edit.oldest_segment = parts_.log->OldestSegmentAfter(flushed_through);
  if (absl::Status status = parts_.log->Sync(); !status.ok()) {
    parts_.committer->Poison(status);
    return parts_.committer->poison();
  }
  const CommitLog::Position reach = parts_.log->synced_end();
  edit.log_reach = {.segment = reach.segment_number, .end_offset = reach.offset};
  absl::StatusOr<std::shared_ptr<const Version>> after = parts_.manifest->Append(edit);
  if (!after.ok()) {
    if (parts_.manifest->poisoned()) parts_.committer->Poison(after.status());
    return std::move(after).status();
  }
  // Keeps what the old view alone holds open until it is known to be obsolete: then its end removes it.
  const std::shared_ptr<const ReadView> view_before = parts_.state->view();
  parts_.state->Install(*after, flushed);
  CountDebtOf(**after);
  MarkObsolete(*before, **after);
  // The edit stands. A segment that could not be removed is the background's from now on, which tries again, and tells.
  if (!parts_.log->Release(flushed_through).ok()) parts_.state->Notify();
  return absl::OkStatus();
}

void Installer::CountDebt() {
  MutexLock lock(mutex_);
  CountDebtOf(*parts_.manifest->version());
}

void Installer::CountDebtOf(const Version& version) {
  debt_bytes_.store(CompactionDebtBytes(version, parts_.state->UnreadableNow()), std::memory_order_relaxed);
}

void Installer::MarkObsolete(const Version& before, const Version& after) {
  const auto still_needed = after.Files();
  for (const auto& [number, file] : before.Files()) {
    if (still_needed.contains(number)) continue;
    parts_.files->MarkObsolete(number);
    parts_.state->ForgetUnreadable(number);
  }
}

}  // namespace stele::internal
