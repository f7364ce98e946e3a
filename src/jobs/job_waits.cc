// Waiting for background work, reserving tablets for compactions run by callers, and flushing what
// is idle.
#include <stop_token>
#include <utility>

#include "base/status.h"
#include "compaction/reclaim_policy.h"
#include "jobs/job_scheduler.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

// Work that becomes due by time does not wake a thread.
constexpr auto kTimedWait = std::chrono::seconds(1);

bool FreesMemory(const JobSubject& subject) {
  return subject.kind == JobSubject::Kind::kFlush || subject.kind == JobSubject::Kind::kSpill;
}

}  // namespace

absl::Status JobScheduler::WaitUntil(const std::function<bool()>& done,
                                     const JobFailures::Concerns& concerns,
                                     const WaitLimits& limits) {
  // Made and destroyed without the state's mutex, which the callback takes.
  const std::stop_callback on_stop(limits.stop, [this] { state_.SignalChange(); });
  return WaitSince(FailureCount(), done, concerns, limits);
}

absl::Status JobScheduler::WaitForMemory(const std::function<bool()>& done,
                                         const WaitLimits& limits) {
  return WaitUntil(done, FreesMemory, limits);
}

absl::Status JobScheduler::StepWhile(const std::function<bool()>& wanted) {
  const uint64_t count = FailureCount();
  // Stop at the first failure: without threads there is no backoff, so the retries would never end.
  while (FailureCount() == count && wanted() && Step()) {
  }
  MutexLock lock(state_.mutex());
  return state_.failures().Since(count, FreesMemory);
}

uint64_t JobScheduler::FailureCount() const {
  MutexLock lock(state_.mutex());
  return state_.failures().count();
}

absl::Status JobScheduler::WaitSince(uint64_t failure_count, const std::function<bool()>& done,
                                     const JobFailures::Concerns& concerns,
                                     const WaitLimits& limits) {
  MutexLock lock(state_.mutex());
  bool wake_threads = true;
  while (!done()) {
    if (stop_.load(std::memory_order_acquire)) return FailedPrecondition("the database was closed");
    STELE_RETURN_IF_ERROR(parts_.committer->poison());
    STELE_RETURN_IF_ERROR(state_.failures().Since(failure_count, concerns));
    STELE_RETURN_IF_ERROR(limits.Check());
    if (thread_count_ > 0) {
      // Work that becomes due by time wakes no thread, so wake them once.
      if (std::exchange(wake_threads, false)) state_.SignalChangeLocked();
      wake_threads = !state_.WaitForChangeLocked(limits.TimeLeft(kTimedWait));
      continue;
    }
    state_.mutex().Unlock();
    const bool stepped = Step();
    state_.mutex().Lock();
    if (!stepped && !done())
      return FailedPrecondition("no background work is due that could end the wait");
  }
  return absl::OkStatus();
}

bool JobScheduler::RunsLocked() const {
  state_.mutex().AssertHeld();
  return running_flushes_ > 0 || running_compactions_ > 0 || preparing_segment_ || spilling_ ||
         restoring_reserve_;
}

bool JobScheduler::IdleButForCompactionsLocked() const {
  state_.mutex().AssertHeld();
  // While a failed job waits for its retry, the work is not finished.
  return !RunsLocked() && state_.failures().empty() && !PickUrgentLocked();
}

absl::Status JobScheduler::WaitForIdle() {
  STELE_RETURN_IF_ERROR(parts_.gate->CheckDirectory());
  const uint64_t failure_count = FailureCount();
  const auto all = [](const JobSubject&) { return true; };
  PickState busy;  // the last search, if it found a compaction due
  while (true) {
    // The threads may not find the compaction that this search found due: the clock may have gone
    // back, and samples of dead bytes differ. Then nothing changes the state, so search again after
    // a while.
    const auto search_again = std::chrono::steady_clock::now() + kTimedWait;
    const auto done = [&] {
      return IdleButForCompactionsLocked() && (!IsCurrentLocked(Lane::kAll, busy) ||
                                               std::chrono::steady_clock::now() >= search_again);
    };
    STELE_RETURN_IF_ERROR(WaitSince(failure_count, done, all, {}));
    PickState pick_state;
    {
      MutexLock lock(state_.mutex());
      pick_state = PickStateLocked();
    }
    SetTime(&pick_state);
    if (Pick(pick_state)) {
      busy = std::move(pick_state);
      std::shared_ptr<const LastSearch> freed;  // freed outside the lock
      MutexLock lock(state_.mutex());
      freed = std::exchange(last_search_, nullptr);  // so that the threads examine all tablets, too
      continue;
    }
    if (FreezeIdleMemtables(pick_state)) continue;
    MutexLock lock(state_.mutex());
    while (searching_ > 0) search_ended_.Wait(state_.mutex());
    if (IdleButForCompactionsLocked() && IsCurrentLocked(Lane::kAll, pick_state))
      return absl::OkStatus();
  }
}

absl::StatusOr<KeyRange> JobScheduler::AcquireTablet(uint32_t table_id, std::string_view row_key,
                                                     std::atomic<bool>* stop,
                                                     const WaitLimits& limits) {
  std::optional<KeyRange> range;
  const auto acquire = [&] {
    state_.mutex().AssertHeld();
    if (stop_.load(std::memory_order_acquire)) return false;
    const std::shared_ptr<const ReadView> view = state_.ViewLocked();
    const TableView* table = view->Find(table_id);
    if (table == nullptr) return true;
    const KeyRange& found = table->tablets[TabletIndexOf(*table, row_key)].range;
    if (!state_.MarkBusyLocked({table_id, found.start})) return false;
    caller_stops_.insert(stop);
    range = found;
    return true;
  };
  // A job that fails releases the tablet, too.
  STELE_RETURN_IF_ERROR(WaitUntil(
      acquire, [](const JobSubject&) { return false; }, limits));
  if (!range) return NotFound("the table was deleted");
  return *std::move(range);
}

void JobScheduler::ReleaseTablet(const TabletName& tablet, std::atomic<bool>* stop) {
  MutexLock lock(state_.mutex());
  state_.EndBusyLocked(tablet);
  caller_stops_.erase(stop);
  state_.SignalChangeLocked();
}

bool JobScheduler::FreezeIdleMemtables(const PickState& pick_state) {
  if (!parts_.gate->CheckRoomForFlushes("a flush", 0).ok()) return false;
  const Version& version = *pick_state.view->version;
  std::vector<EngineState::IdleMemtable> worthwhile;
  for (EngineState::IdleMemtable& idle : state_.IdleMemtables(pick_state.now - kIdleMicros)) {
    const auto table = version.tables.find(idle.table_id);
    {
      MutexLock lock(state_.mutex());
      uint64_t& examined = idle_examined_[idle.table_id];
      if (std::exchange(examined, idle.last_sequence) == idle.last_sequence) continue;
    }
    const Memtable::EntryCounts counts = idle.memtable->entry_counts();
    if (table == version.tables.end() ||
        !IsFlushWorthwhile(*table->second, {.row_tombstones = counts.row_tombstones,
                                            .other_tombstones = counts.other_tombstones,
                                            .versions = counts.versions,
                                            .timestamp_min = counts.timestamp_min}))
      continue;
    worthwhile.push_back(std::move(idle));
  }
  if (worthwhile.empty()) return false;
  bool any = false;
  const bool ran = parts_.committer->RunExclusiveIfIdle([&] {
    for (const EngineState::IdleMemtable& idle : worthwhile) {
      const std::shared_ptr<const Memtable> active = state_.ActiveMemtable(idle.table_id);
      if (active != idle.memtable || active->last_sequence() != idle.last_sequence) continue;
      state_.Freeze(idle.table_id);
      any = true;
    }
    return absl::OkStatus();
  });
  MutexLock lock(state_.mutex());
  if (!ran)
    for (const EngineState::IdleMemtable& idle : worthwhile) idle_examined_.erase(idle.table_id);
  if (any) state_.SignalChangeLocked();
  return any;
}

}  // namespace stele::internal
