#include "jobs/job_scheduler.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "read/source_chain.h"
#include "views/gc_fence_horizon.h"

namespace stele::internal {
namespace {

// Work that becomes due by time alone, such as expired versions, does not wake a thread.
constexpr auto kPickInterval = std::chrono::seconds(1);
// The interval while a failed job waits for its retry.
constexpr auto kRetryInterval = std::chrono::milliseconds(50);

// A discarded result is not a failure.
bool IsFailure(const absl::Status& status) {
  return !status.ok() && status.code() != absl::StatusCode::kAborted &&
         status.code() != absl::StatusCode::kCancelled;
}

// The priority of compactions, which should not delay reads, writes and flushes. With this niceness
// the scheduler gives them about a quarter of a core that other threads need, and all of an idle
// core. A lower priority would delay threads that wait for a lock which a compaction holds.
constexpr int kCompactionNiceness = 5;
// After this many picks in a row, PickerInput::metadata_merges_last or recurring_last is set.
constexpr int kMergesInARow = 16;
void YieldToOthers() {
#ifdef __linux__
  // On Linux niceness is per thread. If the call is refused, compactions run at normal priority.
  const int niceness = std::min(19, ::getpriority(PRIO_PROCESS, 0) + kCompactionNiceness);
  static_cast<void>(
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), niceness));
#endif
}

std::string_view NameOf(JobSubject::Kind kind) {
  switch (kind) {
    case JobSubject::Kind::kFlush:
      return "a flush";
    case JobSubject::Kind::kSegment:
      return "creating or removing a log segment";
    case JobSubject::Kind::kCompaction:
      return "a compaction";
    case JobSubject::Kind::kSpill:
      return "writing memtables that snapshots and scans hold";
    case JobSubject::Kind::kReserve:
      return "reserving disk space";
  }
  return "background work";
}

bool IsEditOfTablets(CompactionKind kind) {
  return kind == CompactionKind::kDropFiles || kind == CompactionKind::kSplitTablet ||
         kind == CompactionKind::kMergeTablets;
}

// UINT64_MAX means no limit and stays UINT64_MAX.
uint64_t FreeBytesAfter(uint64_t free_bytes, uint64_t bytes) {
  return free_bytes == UINT64_MAX ? free_bytes : free_bytes - std::min(free_bytes, bytes);
}

std::vector<TabletName> TabletsOf(const CompactionPick& pick) {
  std::vector<TabletName> tablets;
  for (const PlannedSubcompaction& subcompaction : pick.subcompactions)
    tablets.push_back({pick.table_id, subcompaction.tablet.start});
  return tablets;
}

std::map<TabletName, uint64_t> ReadsIn(const ReadView& view) {
  std::map<TabletName, uint64_t> reads;
  for (const auto& [table_id, table] : view.tables) {
    for (const ViewTablet& tablet : table->tablets) {
      const uint64_t since =
          tablet.counters->reads.load(std::memory_order_relaxed) - tablet.reads_at_stack_change;
      if (since > 0) reads[{table_id, tablet.range.start}] = since;
    }
  }
  return reads;
}

// True if the tablet still has the files that the subcompaction names by their positions in
// `before`. A flush may have added newer ones.
bool HasInputs(const TableState& state, const PlannedSubcompaction& subcompaction,
               const TableState& before) {
  const Tablet* tablet = state.FindTablet(subcompaction.tablet);
  const Tablet* tablet_before = before.FindTablet(subcompaction.tablet);
  if (tablet == nullptr || tablet_before == nullptr) return false;
  for (size_t i = subcompaction.input_begin; i < subcompaction.input_end; ++i) {
    const bool has_file = std::any_of(
        tablet->stack.begin(), tablet->stack.end(), [&](const SstableReference& reference) {
          return reference.file->number == tablet_before->stack[i].file->number;
        });
    if (!has_file) return false;
  }
  return true;
}

}  // namespace

JobScheduler::JobScheduler(const Parts& parts, const EngineSizes& sizes, int threads)
    : parts_(parts),
      state_(*parts.state),
      counters_(parts.jobs->counters()),
      sizes_(sizes),
      thread_count_(threads) {}

JobScheduler::~JobScheduler() { Stop(); }

absl::Status JobScheduler::Start() {
  const int urgent_count = std::max(1, thread_count_ / 4);
  for (int i = 0; i < thread_count_; ++i) {
    Thread& thread = threads_.emplace_back();
    const int error = thread_count_ == 1 ? thread.Start<&JobScheduler::RunAll>(this)
                      : i < urgent_count ? thread.Start<&JobScheduler::RunUrgent>(this)
                                         : thread.Start<&JobScheduler::RunCompactions>(this);
    STELE_RETURN_IF_ERROR(StartStatus(
        error,
        fmt::format("background thread {} of {}; use fewer DatabaseOptions::background_threads, or "
                    "raise the limit of threads",
                    i + 1, thread_count_)));
  }
  return absl::OkStatus();
}

void JobScheduler::Stop() {
  // Pairs with the acquire of running jobs and of RunThread.
  stop_.store(true, std::memory_order_release);
  {
    MutexLock lock(state_.mutex());
    for (std::atomic<bool>* stop : caller_stops_) stop->store(true, std::memory_order_release);
    state_.SignalChangeLocked();
    while (!caller_stops_.empty()) state_.WaitForChangeLocked();
  }
  for (Thread& thread : threads_) thread.Join();
  threads_.clear();
}

void JobScheduler::RunAll() { RunThread(Lane::kAll); }
void JobScheduler::RunUrgent() { RunThread(Lane::kUrgent); }
void JobScheduler::RunCompactions() {
  YieldToOthers();
  RunThread(Lane::kCompaction);
}

void JobScheduler::RunThread(Lane lane) {
  while (!stop_.load(std::memory_order_acquire)) {
    Next next = TakeNext(lane, /*wait=*/true);
    Perform(next);
  }
}

bool JobScheduler::Step() {
  Next next = TakeNext(Lane::kAll, /*wait=*/false);
  Perform(next);
  return next.work.has_value();
}

void JobScheduler::CheckDirectoryIfDue() {
  if (thread_count_ == 0) return;  // WaitForIdle searches
  const int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  const int64_t due = directory_check_due_.load(std::memory_order_relaxed);
  if (now < due) return;
  const auto interval = std::chrono::steady_clock::duration(kPickInterval);
  directory_check_due_.store(now + interval.count(), std::memory_order_relaxed);
  parts_.gate->CheckDirectory().IgnoreError();
}

JobScheduler::Next JobScheduler::TakeNext(Lane lane, bool wait) {
  CheckDirectoryIfDue();
  Next next;
  bool searching = false;
  while (true) {
    PickState pick_state;
    {
      MutexLock lock(state_.mutex());
      if (!std::exchange(searching, true)) ++searching_;
      if (const std::optional<JobSubject> subject =
              lane == Lane::kCompaction ? std::nullopt : PickUrgentLocked()) {
        BeginLocked(next.work.emplace(Work{.subject = *subject}));
        EndSearchLocked();
        return next;
      }
      if (lane != Lane::kUrgent && MayRunLocked()) pick_state = PickStateLocked();
    }
    SetTime(&pick_state);
    std::optional<CompactionPick> pick = PickIfChanged(&pick_state);
    std::shared_ptr<const ReadView> view = pick ? JobView(*pick_state.view, *pick) : nullptr;
    pick_state.view.reset();
    MutexLock lock(state_.mutex());
    // The old LastSearch is freed outside the lock.
    if (pick_state.last_search != nullptr) std::swap(last_search_, pick_state.last_search);
    if (pick && IsCurrentLocked(*pick, *view)) {
      const JobSubject subject{JobSubject::Kind::kCompaction, pick->table_id,
                               pick->subcompactions.front().tablet.start};
      BeginLocked(next.work.emplace(
          Work{.subject = subject, .pick = *std::move(pick), .view = std::move(view)}));
      EndSearchLocked();
      return next;
    }
    if (pick || !IsCurrentLocked(lane, pick_state)) continue;
    EndSearchLocked();
    // Only a thread that has searched for a compaction can report that nothing is due.
    if (lane != Lane::kUrgent) next.report = TakeReportLocked();
    if (wait && !next.report && !stop_.load(std::memory_order_acquire)) {
      state_.WaitForChangeLocked(state_.failures().empty() || poison_reported_ ? kPickInterval
                                                                               : kRetryInterval);
    }
    return next;
  }
}

void JobScheduler::EndSearchLocked() {
  state_.mutex().AssertHeld();
  if (--searching_ == 0) search_ended_.SignalAll();
}

void JobScheduler::Perform(Next& next) {
  if (next.work) Run(*next.work);
  if (next.report) Notify(*next.report);
}

JobFailures::TimePoint JobScheduler::BackoffNow() const {
  return thread_count_ > 0 ? std::chrono::steady_clock::now() : JobFailures::TimePoint::max();
}

std::optional<JobSubject> JobScheduler::PickUrgentLocked() const {
  state_.mutex().AssertHeld();
  if (!MayRunLocked()) return std::nullopt;
  const JobFailures::TimePoint now = BackoffNow();
  std::optional<JobSubject> next;
  uint64_t next_failure = 0;
  // The memtable with the oldest commit comes first, so that a table that fills memtables
  // continuously does not block other tables.
  for (const EngineState::AgedMemtable& frozen : state_.FrozenByAgeLocked()) {
    const JobSubject subject{.kind = JobSubject::Kind::kFlush, .table_id = frozen.table_id};
    if (state_.IsFlushRunningLocked(frozen.table_id) || state_.failures().IsInBackoff(subject, now))
      continue;
    // A job that did not fail comes before those that did. Of these, the one whose failure is
    // oldest comes first. So a flush that keeps failing does not block others.
    const uint64_t failure = state_.failures().NumberOf(subject);
    if (next.has_value() && failure >= next_failure) continue;
    next = subject;
    next_failure = failure;
    if (failure == 0) break;
  }
  if (next) return next;
  const JobSubject segment{.kind = JobSubject::Kind::kSegment};
  if (!preparing_segment_ && !state_.failures().IsInBackoff(segment, now) &&
      parts_.log->SpareIsDue())
    return segment;
  const JobSubject reserve{.kind = JobSubject::Kind::kReserve};
  if (!restoring_reserve_ && parts_.reserve->RestoreIsDue(now)) return reserve;
  const JobSubject spill{.kind = JobSubject::Kind::kSpill};
  if (!spilling_ && !state_.failures().IsInBackoff(spill, now) && parts_.spill.pins->SpillIsDue())
    return spill;
  return std::nullopt;
}

bool JobScheduler::MayRunLocked() const {
  state_.mutex().AssertHeld();
  return !stop_.load(std::memory_order_acquire) && parts_.committer->poison().ok();
}

JobScheduler::PickState JobScheduler::PickStateLocked() const {
  state_.mutex().AssertHeld();
  const std::shared_ptr<const ReadView> view = state_.ViewLocked();
  PickState pick_state{.view = view,
                       .weak_view = view,
                       .excluded = state_.BusyTabletsLocked(),
                       .unreadable = state_.unreadable().FilesAt(std::chrono::steady_clock::now())};
  // Exclude tables that wait for the flush of deletes without GC fences. Otherwise a compaction
  // that reclaims versions by ordinal would be picked again and again, although it cannot use
  // ordinals yet.
  for (const uint32_t table_id : state_.UnfencedTablesInMemoryLocked()) {
    const TableView* table = view->Find(table_id);
    if (table == nullptr || !AwaitsFlushOfUnfenced(*table)) continue;
    pick_state.excluded_tables.insert(table_id);
  }
  for (const JobSubject& subject : state_.failures().SubjectsInBackoff(BackoffNow())) {
    if (subject.kind == JobSubject::Kind::kCompaction)
      pick_state.excluded.insert({subject.table_id, subject.tablet_start});
  }
  if (thread_count_ > 0)
    pick_state.last_search = last_search_;  // a caller of Step expects everything that is due
  return pick_state;
}

void JobScheduler::SetTime(PickState* pick_state) const {
  if (pick_state->view != nullptr) pick_state->now = parts_.clock->CollectionTime();
}

PickerInput JobScheduler::InputOf(const PickState& pick_state) {
  PickerInput input{.version = pick_state.view->version.get(),
                    .busy = pick_state.excluded,
                    .busy_tables = pick_state.excluded_tables,
                    .now = pick_state.now,
                    .tablet_bytes_max = sizes_.tablet_bytes_max,
                    .unreadable = pick_state.unreadable,
                    .sizes = sizes_.compaction};
  input.find_split_point = [this, &pick_state](const TabletName& tablet) {
    return split_point_.Of(*pick_state.view, tablet);
  };
  input.measure_dead = [this, &pick_state](const DeadSampleRequest& request) {
    return dead_samples_.Of(*pick_state.view, request, pick_state.now, stop_);
  };
  // Leave room to flush the present memtables, and those that fill while the job runs.
  const uint64_t free_bytes = parts_.reserve->FreeBytes();
  const uint64_t unflushed_bytes = state_.memtable_bytes();
  input.output_bytes_max = FreeBytesAfter(
      free_bytes, std::min(sizes_.write_memory_bytes, unflushed_bytes + sizes_.memtable_bytes));
  // A job that reclaims space may take half of what is left, since it gives back more.
  input.reclaiming_output_bytes_max =
      std::max(FreeBytesAfter(free_bytes, unflushed_bytes), free_bytes / 2);
  return input;
}

// Called without locks, since it reads files.
std::optional<CompactionPick> JobScheduler::Pick(const PickState& pick_state, bool* is_withheld) {
  if (pick_state.view == nullptr) return std::nullopt;
  const uint64_t free_bytes = parts_.reserve->FreeBytes();
  PickerInput input = InputOf(pick_state);
  input.reads = ReadsIn(*pick_state.view);
  uint64_t withheld_bytes = 0;
  input.withheld_bytes = &withheld_bytes;
  input.metadata_merges_last = metadata_merges_in_a_row_.load() >= kMergesInARow;
  input.recurring_last = recurring_in_a_row_.load() >= kMergesInARow;
  std::optional<CompactionPick> pick = PickCompaction(input);
  counters_.full_searches.fetch_add(1, std::memory_order_relaxed);
  NoteWithheld(withheld_bytes, free_bytes);
  if (is_withheld != nullptr) *is_withheld = withheld_bytes > 0;
  return pick;
}

// Counts the picks of one kind in a row. Drops and tablet changes take no time, so they neither
// count nor end the sequence.
void JobScheduler::CountConsecutivePicks(const std::optional<CompactionPick>& pick) {
  if (pick.has_value() && IsEditOfTablets(pick->kind)) return;
  const bool is_metadata_merge = pick.has_value() && pick->kind == CompactionKind::kMetadataMerge;
  metadata_merges_in_a_row_ = is_metadata_merge ? metadata_merges_in_a_row_ + 1 : 0;
  const bool is_counted = pick.has_value() && pick->is_recurring && !pick->recurring_last;
  recurring_in_a_row_ = is_counted ? recurring_in_a_row_ + 1 : 0;
}

std::optional<CompactionPick> JobScheduler::PickIfChanged(PickState* pick_state) {
  if (pick_state->view == nullptr) return std::nullopt;
  const std::shared_ptr<const LastSearch> last = std::exchange(pick_state->last_search, nullptr);
  const auto start = std::chrono::steady_clock::now();
  const auto interval = std::chrono::microseconds(sizes_.full_search_interval);
  const bool is_recent =
      last != nullptr && start - last->full_search_end < interval &&
      pick_state->now >= last->full_search_now &&
      pick_state->now - last->full_search_now < interval.count() + last->full_search_micros;
  std::optional<CompactionPick> pick;
  LastSearch next{.search = {.version = pick_state->view->version,
                             .busy = pick_state->excluded,
                             .busy_tables = pick_state->excluded_tables,
                             .unreadable = pick_state->unreadable},
                  .full_search_now = pick_state->now};
  uint64_t examined = 0;
  const bool is_idle = is_recent && !IsAnyDueSince(last->search, InputOf(*pick_state), &examined);
  counters_.changed_tablets_examined.fetch_add(examined, std::memory_order_relaxed);
  if (is_idle) {
    next.full_search_now = last->full_search_now;
    next.full_search_micros = last->full_search_micros;
    next.full_search_end = last->full_search_end;
  } else {
    bool is_withheld = false;
    pick = Pick(*pick_state, &is_withheld);
    CountConsecutivePicks(pick);
    if ((!pick || pick->recurring_last) && FreezeIdleMemtables(*pick_state) && !pick)
      return pick;  // the state is not current any more
    if (pick || is_withheld) return pick;
    next.full_search_end = std::chrono::steady_clock::now();
    next.full_search_micros =
        std::chrono::duration_cast<std::chrono::microseconds>(next.full_search_end - start).count();
  }
  pick_state->last_search = std::make_shared<const LastSearch>(std::move(next));
  return pick;
}

void JobScheduler::NoteWithheld(uint64_t withheld_bytes, uint64_t free_bytes) {
  absl::Status now;
  if (withheld_bytes > 0) {
    now = ResourceExhausted(
        "compactions wait for disk space: {} bytes are free, and one may write {} in addition to "
        "the space for flushes; free disk space",
        free_bytes, withheld_bytes);
  }
  {
    MutexLock lock(state_.mutex());
    const bool waited = !waits_for_space_.ok();
    waits_for_space_ = now;
    if (waited != now.ok()) return;
  }
  if (now.ok())
    return parts_.events->Report(DatabaseEvent::Kind::kBackgroundRecovered,
                                 "compactions have disk space again");
  parts_.events->Report(DatabaseEvent::Kind::kBackgroundError, std::string(ToStd(now.message())), 0,
                        now);
}

absl::Status JobScheduler::LastError() const {
  absl::Status waits_for_space;
  {
    MutexLock lock(state_.mutex());
    if (absl::Status newest = state_.failures().Newest(); !newest.ok()) return newest;
    waits_for_space = waits_for_space_;
  }
  STELE_RETURN_IF_ERROR(parts_.gate->LostDirectory());
  const absl::Status refusal = parts_.reserve->Refusal();  // may ask the disk, so without the lock
  return refusal.ok() ? waits_for_space : refusal;
}

bool JobScheduler::IsCurrentLocked(Lane lane, const PickState& pick_state) const {
  if (lane != Lane::kCompaction && PickUrgentLocked()) return false;
  if (lane == Lane::kUrgent || !MayRunLocked()) return true;
  const PickState now = PickStateLocked();
  const bool same_view = !now.weak_view.owner_before(pick_state.weak_view) &&
                         !pick_state.weak_view.owner_before(now.weak_view);
  return same_view && now.excluded == pick_state.excluded &&
         now.excluded_tables == pick_state.excluded_tables &&
         now.unreadable == pick_state.unreadable;
}

bool JobScheduler::IsCurrentLocked(const CompactionPick& pick, const ReadView& job_view) const {
  if (!MayRunLocked()) return false;
  const PickState now = PickStateLocked();
  if (now.excluded_tables.contains(pick.table_id)) return false;
  const std::vector<TabletName> tablets = TabletsOf(pick);
  if (std::any_of(tablets.begin(), tablets.end(),
                  [&now](const TabletName& tablet) { return now.excluded.contains(tablet); }))
    return false;
  const TableView* table = now.view->Find(pick.table_id);
  if (table == nullptr) return false;
  const TableState& before = *job_view.Find(pick.table_id)->state;
  // If the epochs are equal, the schema was in force when the pick's time was read.
  if (table->state->definition->epoch != before.definition->epoch) return false;
  return std::all_of(pick.subcompactions.begin(), pick.subcompactions.end(),
                     [&](const PlannedSubcompaction& subcompaction) {
                       return HasInputs(*table->state, subcompaction, before);
                     });
}

void JobScheduler::BeginLocked(const Work& work) {
  state_.mutex().AssertHeld();
  switch (work.subject.kind) {
    case JobSubject::Kind::kFlush:
      ++running_flushes_;
      state_.SetFlushRunningLocked(work.subject.table_id, true);
      break;
    case JobSubject::Kind::kSegment:
      preparing_segment_ = true;
      break;
    case JobSubject::Kind::kCompaction:
      ++running_compactions_;
      for (TabletName& tablet : TabletsOf(work.pick)) state_.MarkBusyLocked(std::move(tablet));
      break;
    case JobSubject::Kind::kSpill:
      spilling_ = true;
      break;
    case JobSubject::Kind::kReserve:
      restoring_reserve_ = true;
      break;
  }
}

void JobScheduler::Run(Work& work) {
  absl::Status status;
  switch (work.subject.kind) {
    case JobSubject::Kind::kFlush:
      status = parts_.jobs->FlushOldestMemtable(work.subject.table_id, &stop_);
      break;
    case JobSubject::Kind::kSegment:
      status = parts_.log->PrepareSpare();
      break;
    case JobSubject::Kind::kCompaction:
      status = parts_.jobs->RunPick(work.view, work.pick, &stop_);
      break;
    case JobSubject::Kind::kSpill:
      status = SpillPinnedMemtable(parts_.spill, &stop_);
      break;
    case JobSubject::Kind::kReserve:
      parts_.gate->RestoreReserve();
      break;
  }
  if (status.code() == absl::StatusCode::kAborted)
    counters_.jobs_discarded.fetch_add(1, std::memory_order_relaxed);
  // Release the view while the job still counts as running. So when a thread has waited for its
  // end, the job holds no view.
  work.view.reset();
  bool is_reportable = false;
  {
    MutexLock lock(state_.mutex());
    is_reportable = EndLocked(work, status);
  }
  if (is_reportable) ReportOutcome(work, status);
}

// Every tablet of a compaction fails or succeeds with it.
std::vector<JobSubject> JobScheduler::SubjectsOf(const Work& work) {
  if (work.subject.kind != JobSubject::Kind::kCompaction) return {work.subject};
  std::vector<JobSubject> subjects;
  for (const TabletName& tablet : TabletsOf(work.pick)) {
    subjects.push_back({JobSubject::Kind::kCompaction, tablet.table_id, tablet.start_row});
  }
  return subjects;
}

bool JobScheduler::EndLocked(const Work& work, const absl::Status& status) {
  state_.mutex().AssertHeld();
  switch (work.subject.kind) {
    case JobSubject::Kind::kFlush:
      --running_flushes_;
      state_.SetFlushRunningLocked(work.subject.table_id, false);
      break;
    case JobSubject::Kind::kSegment:
      preparing_segment_ = false;
      break;
    case JobSubject::Kind::kCompaction:
      --running_compactions_;
      for (const TabletName& tablet : TabletsOf(work.pick)) state_.EndBusyLocked(tablet);
      break;
    case JobSubject::Kind::kSpill:
      spilling_ = false;
      break;
    case JobSubject::Kind::kReserve:
      restoring_reserve_ = false;
      break;
  }
  bool is_reportable = false;
  for (const JobSubject& subject : SubjectsOf(work)) {
    // A drop may have removed what a flush could not write.
    const bool is_due =
        subject.kind != JobSubject::Kind::kFlush || !state_.FrozenLocked(subject.table_id).empty();
    if (IsFailure(status) && is_due)
      is_reportable =
          state_.failures().Add(subject, status, std::chrono::steady_clock::now()) || is_reportable;
    if (status.ok()) is_reportable = state_.failures().Remove(subject) || is_reportable;
  }
  if (status.ok()) is_reportable = is_reportable && state_.failures().empty();
  if (status.ok() && work.subject.kind != JobSubject::Kind::kReserve)
    parts_.reserve->NoteSpaceFreed();
  FailuresChangedLocked();
  return is_reportable;
}

void JobScheduler::FailuresChangedLocked() {
  state_.mutex().AssertHeld();
  state_.SetWritesRefused(!state_.failures().RefusingWrites().ok() ||
                          parts_.reserve->is_released());
  state_.SignalChangeLocked();
}

std::optional<DatabaseEvent::Kind> JobScheduler::TakeReportLocked() {
  state_.mutex().AssertHeld();
  if (!parts_.committer->poison().ok()) {
    return std::exchange(poison_reported_, true) ? std::nullopt
                                                 : std::optional(DatabaseEvent::Kind::kPoisoned);
  }
  // No job will retry the remaining failures: the table was deleted, the tablet is left alone, or
  // the log continued without a spare.
  if (RunsLocked() || PickUrgentLocked() || !state_.failures().RemoveExceptInBackoff(BackoffNow()))
    return std::nullopt;
  FailuresChangedLocked();
  return state_.failures().empty() ? std::optional(DatabaseEvent::Kind::kBackgroundRecovered)
                                   : std::nullopt;
}

void JobScheduler::Notify(DatabaseEvent::Kind report) {
  const absl::Status poison = parts_.committer->poison();
  if (report == DatabaseEvent::Kind::kPoisoned)
    return parts_.events->Report(report, std::string(ToStd(poison.message())), 0, poison);
  parts_.events->Report(report, "the failed background work is no longer due");
}

void JobScheduler::ReportOutcome(const Work& work, const absl::Status& status) {
  if (status.ok())
    return parts_.events->Report(DatabaseEvent::Kind::kBackgroundRecovered,
                                 "background work has resumed");
  parts_.events->Report(DatabaseEvent::Kind::kBackgroundError,
                        fmt::format("{} failed and will be retried: {}", NameOf(work.subject.kind),
                                    ToStd(status.message())),
                        0, status);
}

}  // namespace stele::internal
