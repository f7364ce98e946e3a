#include "commit/installer.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/process_id.h"
#include "base/status.h"

namespace stele::internal {

absl::Status Installer::Install(const MakeEdit& make,
                                const std::optional<EngineState::Flushed>& flushed,
                                const std::function<void()>& count) {
  if (ProcessId() != pid_)
    return FailedPrecondition("pid {} opened the database, and pid {} may not change it", pid_,
                              ProcessId());
  // This calls the user's clock, so no lock is held.
  parts_.clock->CommitTime();
  MutexLock lock(mutex_);
  if (closed_) return FailedPrecondition("the database is closed; open it again");
  STELE_RETURN_IF_ERROR(parts_.committer->poison());
  const std::shared_ptr<const Version> before = parts_.manifest->version();
  STELE_ASSIGN_OR_RETURN(Edit edit, make(*before));
  const uint64_t flushed_through = parts_.state->FlushedThrough(flushed);
  // The mark is read under mutex_, so that the marks have the order of the edits. If it is below
  // the Version's mark, the clock was corrected. The edit then covers all commits so far. Otherwise
  // recovery would raise the mark to their commit times again (db/recovery.cc).
  edit.clock_mark = parts_.clock->mark();
  if (edit.clock_mark < before->clock_mark)
    edit.last_sequence = std::max(edit.last_sequence, parts_.state->published_sequence());
  edit.next_file_number = parts_.directory->next_file_number();
  edit.oldest_segment = parts_.log->OldestSegmentAfter(flushed_through);
  if (absl::Status status = parts_.log->Sync(); !status.ok()) {
    parts_.committer->Poison(status);
    return parts_.committer->poison();
  }
  const LogPosition synced_end = parts_.log->synced_end();
  edit.synced_log_end = {.segment = synced_end.segment_number, .end_offset = synced_end.offset};
  absl::StatusOr<std::shared_ptr<const Version>> after = parts_.manifest->Append(edit);
  if (!after.ok()) {
    if (parts_.manifest->poisoned()) parts_.committer->Poison(after.status());
    return std::move(after).status();
  }
  // Keeps the old view until files that only it uses are marked obsolete. Its destruction then
  // removes them.
  const std::shared_ptr<const ReadView> view_before = parts_.state->view();
  if (count) count();
  parts_.state->Install(*after, flushed);
  debt_.Follow(*before, **after, parts_.state->UnreadableNow());
  debt_bytes_.store(debt_.bytes(), std::memory_order_relaxed);
  MarkObsolete(*before, **after);
  // The edit is installed. If a segment could not be removed, the background retries it and reports
  // the error.
  if (!parts_.log->Release(flushed_through).ok()) parts_.state->SignalChange();
  return absl::OkStatus();
}

void Installer::CountDebt() {
  MutexLock lock(mutex_);
  debt_.Reset(*parts_.manifest->version(), parts_.state->UnreadableNow());
  debt_bytes_.store(debt_.bytes(), std::memory_order_relaxed);
}

void Installer::MarkObsolete(const Version& before, const Version& after) {
  const auto& old = before.files.entries();
  for (const auto& difference :
       std::remove_cvref_t<decltype(old)>::Differences(old, after.files.entries())) {
    for (size_t i = difference.a_begin; i < difference.a_end; ++i) {
      if (after.files.contains(old[i].first)) continue;
      parts_.files->MarkObsolete(old[i].first);
      parts_.state->ForgetUnreadable(old[i].first);
    }
  }
}

}  // namespace stele::internal
