#include "db/background.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "db/unsealed_deletes.h"
#include "db/view_spill.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

constexpr auto kLookAgain = std::chrono::seconds(1);           // versions grow old without anybody saying so
constexpr auto kLookForRetry = std::chrono::milliseconds(50);  // while something that failed rests

// Thrown-away work is not a failure.
bool IsFailure(const absl::Status& status) {
  return !status.ok() && status.code() != absl::StatusCode::kAborted && status.code() != absl::StatusCode::kCancelled;
}

// Compactions wait for whoever reads, writes or flushes: so much nicer than these the scheduler gives them about a quarter of a core that
// others want too, and all of one that nobody wants. No more than that: they take locks that others wait for, if for moments only.
constexpr int kCompactionNiceness = 5;
void YieldToOthers() {
#ifdef __linux__
  // Linux keeps niceness by thread. Where it is refused compactions run as they would without.
  const int niceness = std::min(19, ::getpriority(PRIO_PROCESS, 0) + kCompactionNiceness);
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), niceness));
#endif
}

std::string_view NameOf(JobSubject::Kind kind) {
  switch (kind) {
    case JobSubject::Kind::kFlush:
      return "a flush";
    case JobSubject::Kind::kSegment:
      return "making or removing a log segment";
    case JobSubject::Kind::kCompaction:
      return "a compaction";
    case JobSubject::Kind::kSpill:
      return "writing what snapshots and scans hold";
    case JobSubject::Kind::kReserve:
      return "reserving disk space";
  }
  return "background work";
}

// UINT64_MAX stays: nothing limits it.
uint64_t RoomBeside(uint64_t free_bytes, uint64_t bytes) {
  return free_bytes == UINT64_MAX ? free_bytes : free_bytes - std::min(free_bytes, bytes);
}

std::vector<TabletName> TabletsOf(const Choice& choice) {
  std::vector<TabletName> tablets;
  for (const ChoiceSlice& slice : choice.slices) tablets.push_back({choice.table_id, slice.tablet.start});
  return tablets;
}

std::map<TabletName, uint64_t> ReadsIn(const ReadView& view) {
  std::map<TabletName, uint64_t> reads;
  for (const auto& [table_id, table] : view.tables) {
    for (const ViewTablet& tablet : table->tablets) {
      const uint64_t since = tablet.counters->reads.load(std::memory_order_relaxed) - tablet.reads_before;
      if (since > 0) reads[{table_id, tablet.range.start}] = since;
    }
  }
  return reads;
}

// Does the tablet still have the files that the slice names by their positions in it as it was `before`? A flush may have come on top.
bool HasInputs(const TableState& state, const ChoiceSlice& slice, const TableState& before) {
  const Tablet* tablet = state.FindTablet(slice.tablet);
  const Tablet* tablet_before = before.FindTablet(slice.tablet);
  if (tablet == nullptr || tablet_before == nullptr) return false;
  for (size_t i = slice.input_begin; i < slice.input_end; ++i) {
    const bool has_file = std::any_of(tablet->stack.begin(), tablet->stack.end(), [&](const SstableReference& reference) {
      return reference.file->number == tablet_before->stack[i].file->number;
    });
    if (!has_file) return false;
  }
  return true;
}

}  // namespace

Background::Background(Engine* engine, int threads) : engine_(engine), state_(engine->state), thread_count_(threads) {}

Background::~Background() { Stop(); }

void Background::Start() {
  if (thread_count_ == 1) threads_.emplace_back([this] { RunThread(Duty::kAll); });
  if (thread_count_ < 2) return;
  const int prompt_count = std::max(1, thread_count_ / 4);
  for (int i = 0; i < thread_count_; ++i) {
    threads_.emplace_back([this, duty = i < prompt_count ? Duty::kPrompt : Duty::kCompaction] { RunThread(duty); });
  }
}

void Background::Stop() {
  stop_.store(true, std::memory_order_release);  // pairs with the acquire of the jobs that look at stop_flag()
  {
    MutexLock lock(state_.mutex);
    for (std::atomic<bool>* claim : claims_) claim->store(true, std::memory_order_release);
    state_.changed.SignalAll();
    while (!claims_.empty()) state_.changed.Wait(state_.mutex);
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Background::RunThread(Duty duty) {
  if (duty == Duty::kCompaction) YieldToOthers();
  while (!stop_.load(std::memory_order_acquire)) {
    Next next = TakeNext(duty, /*wait=*/true);
    Perform(next);
  }
}

bool Background::Step() {
  Next next = TakeNext(Duty::kAll, /*wait=*/false);
  Perform(next);
  return next.work.has_value();
}

Background::Next Background::TakeNext(Duty duty, bool wait) {
  Next next;
  bool looking = false;
  while (true) {
    const int64_t now = engine_->clock.Now();  // the caller's clock may do anything: under no lock
    Seen seen;
    {
      MutexLock lock(state_.mutex);
      if (!std::exchange(looking, true)) ++looking_;
      if (const std::optional<JobSubject> subject = duty == Duty::kCompaction ? std::nullopt : PickPromptLocked()) {
        BeginLocked(next.work.emplace(Work{.subject = *subject}));
        EndLookLocked();
        return next;
      }
      if (duty != Duty::kPrompt && MayCompactLocked()) seen = LookLocked(now);
    }
    std::optional<Choice> choice = Pick(seen);
    std::shared_ptr<const ReadView> view = choice ? JobView(*seen.view, *choice) : nullptr;
    seen.view.reset();
    MutexLock lock(state_.mutex);
    if (choice && StandsLocked(*choice, *view)) {
      const JobSubject subject{JobSubject::Kind::kCompaction, choice->table_id, choice->slices.front().tablet.start};
      BeginLocked(next.work.emplace(Work{.subject = subject, .choice = *std::move(choice), .view = std::move(view)}));
      EndLookLocked();
      return next;
    }
    if (choice || !StandsLocked(duty, seen)) continue;
    EndLookLocked();
    if (duty != Duty::kPrompt) next.news = TakeNewsLocked();  // who has not looked for a compaction cannot say that nothing is due
    if (wait && !next.news && !stop_.load(std::memory_order_acquire)) {
      state_.changed.WaitFor(state_.mutex, state_.failures.empty() || poison_told_ ? kLookAgain : kLookForRetry);
    }
    return next;
  }
}

void Background::EndLookLocked() {
  state_.mutex.AssertHeld();
  if (--looking_ == 0) looked_.SignalAll();
}

void Background::Perform(Next& next) {
  if (next.work) Run(*next.work);
  if (next.news) Tell(*next.news);
}

JobFailures::TimePoint Background::RestNow() const {
  return thread_count_ > 0 ? std::chrono::steady_clock::now() : JobFailures::TimePoint::max();
}

std::optional<JobSubject> Background::PickPromptLocked() const {
  state_.mutex.AssertHeld();
  if (stop_.load(std::memory_order_acquire) || !engine_->committer->poison().ok()) return std::nullopt;
  const JobFailures::TimePoint now = RestNow();
  std::optional<JobSubject> next;
  std::pair<uint64_t, uint64_t> next_rank;
  for (const auto& [table_id, memory] : state_.tables) {
    const JobSubject subject{.kind = JobSubject::Kind::kFlush, .table_id = table_id};
    if (memory.frozen.empty() || memory.flush_running || state_.failures.Rests(subject, now)) continue;
    // What never failed, then what failed longest ago: a flush that keeps failing stands in no other's way. Of those that never failed the
    // one with the oldest commit: a table that fills memtables without a pause does not keep others from being flushed.
    const std::pair rank(state_.failures.NumberOf(subject), memory.frozen.front().memtable->first_sequence());
    if (next.has_value() && rank >= next_rank) continue;
    next = subject;
    next_rank = rank;
  }
  if (next) return next;
  const JobSubject segment{.kind = JobSubject::Kind::kSegment};
  if (!preparing_segment_ && !state_.failures.Rests(segment, now) && engine_->log->SpareIsDue()) return segment;
  const JobSubject reserve{.kind = JobSubject::Kind::kReserve};
  if (!restoring_reserve_ && engine_->reserve.RestoreIsDue(now)) return reserve;
  const JobSubject spill{.kind = JobSubject::Kind::kSpill};
  if (!spilling_ && !state_.failures.Rests(spill, now) && engine_->pins.SpillIsDue()) return spill;
  return std::nullopt;
}

bool Background::MayCompactLocked() const {
  state_.mutex.AssertHeld();
  if (stop_.load(std::memory_order_acquire) || !engine_->committer->poison().ok()) return false;
  return true;
}

Background::Seen Background::LookLocked(int64_t now) const {
  state_.mutex.AssertHeld();
  const std::shared_ptr<const ReadView> view = state_.ViewLocked();
  Seen seen{.now = now,
            .view = view,
            .of = view,
            .excluded = state_.busy_tablets,
            .unreadable = state_.unreadable.FilesAt(std::chrono::steady_clock::now())};
  // Ranks could not be judged yet, and what is to be reclaimed by them would be chosen again and again.
  for (const auto& [table_id, table] : view->tables) {
    if (!AwaitsFlushOfUnsealed(*table)) continue;
    for (const ViewTablet& tablet : table->tablets) seen.excluded.insert({table_id, tablet.range.start});
  }
  for (const JobSubject& subject : state_.failures.Resting(RestNow())) {
    if (subject.kind == JobSubject::Kind::kCompaction) seen.excluded.insert({subject.table_id, subject.tablet_start});
  }
  return seen;
}

// Under no lock: it looks into files.
std::optional<Choice> Background::Pick(const Seen& seen) {
  if (seen.view == nullptr) return std::nullopt;
  PickerInput input{.version = seen.view->version.get(),
                    .busy = seen.excluded,
                    .now = seen.now,
                    .tablet_bytes_max = engine_->options.sizes.tablet_bytes_max,
                    .reads = ReadsIn(*seen.view),
                    .unreadable = seen.unreadable,
                    .sizes = engine_->options.sizes.compaction};
  input.halve = [this, &seen](const TabletName& tablet) { return halves_.Of(*seen.view, tablet); };
  // Room is left for the flush of what is in memory, and of what comes while the job runs.
  const EngineSizes& sizes = engine_->options.sizes;
  const uint64_t free_bytes = engine_->reserve.FreeBytes();
  const uint64_t unflushed_bytes = state_.memtable_bytes();
  input.output_bytes_max = RoomBeside(free_bytes, std::min(sizes.write_memory_bytes, unflushed_bytes + sizes.memtable_bytes));
  input.reclaiming_output_bytes_max = RoomBeside(free_bytes, unflushed_bytes);
  uint64_t withheld_bytes = 0;
  input.withheld_bytes = &withheld_bytes;
  std::optional<Choice> choice = PickCompaction(input);
  NoteWithheld(withheld_bytes, free_bytes);
  return choice;
}

void Background::NoteWithheld(uint64_t withheld_bytes, uint64_t free_bytes) {
  absl::Status now;
  if (withheld_bytes > 0) {
    now = ResourceExhausted("compactions wait for disk space: {} bytes are free, and one may write {} beside what flushes need; make room",
                            free_bytes, withheld_bytes);
  }
  {
    MutexLock lock(state_.mutex);
    const bool waited = !waits_for_space_.ok();
    waits_for_space_ = now;
    if (waited != now.ok()) return;
  }
  if (now.ok()) return engine_->events.Report(Event::Kind::kBackgroundRecovered, "compactions have disk space again");
  engine_->events.Report(Event::Kind::kBackgroundError, std::string(ToStd(now.message())), 0, now);
}

absl::Status Background::LastErrorLocked() const {
  state_.mutex.AssertHeld();
  if (absl::Status newest = state_.failures.Newest(); !newest.ok()) return newest;
  return engine_->reserve.is_released() ? engine_->reserve.Refusal() : waits_for_space_;
}

bool Background::StandsLocked(Duty duty, const Seen& seen) const {
  if (duty != Duty::kCompaction && PickPromptLocked()) return false;
  if (duty == Duty::kPrompt || !MayCompactLocked()) return true;
  const Seen now = LookLocked(seen.now);
  const bool same_view = !now.of.owner_before(seen.of) && !seen.of.owner_before(now.of);
  return same_view && now.excluded == seen.excluded && now.unreadable == seen.unreadable;
}

bool Background::StandsLocked(const Choice& choice, const ReadView& job_view) const {
  if (!MayCompactLocked()) return false;
  const Seen now = LookLocked(choice.now);
  const std::vector<TabletName> tablets = TabletsOf(choice);
  if (std::any_of(tablets.begin(), tablets.end(), [&now](const TabletName& tablet) { return now.excluded.contains(tablet); })) return false;
  const TableView* table = now.view->Find(choice.table_id);
  if (table == nullptr) return false;
  const TableState& before = *job_view.Find(choice.table_id)->state;
  return std::all_of(choice.slices.begin(), choice.slices.end(),
                     [&](const ChoiceSlice& slice) { return HasInputs(*table->state, slice, before); });
}

void Background::BeginLocked(const Work& work) {
  state_.mutex.AssertHeld();
  switch (work.subject.kind) {
    case JobSubject::Kind::kFlush:
      ++running_flushes_;
      state_.tables[work.subject.table_id].flush_running = true;
      break;
    case JobSubject::Kind::kSegment:
      preparing_segment_ = true;
      break;
    case JobSubject::Kind::kCompaction:
      ++running_compactions_;
      for (TabletName& tablet : TabletsOf(work.choice)) state_.busy_tablets.insert(std::move(tablet));
      break;
    case JobSubject::Kind::kSpill:
      spilling_ = true;
      break;
    case JobSubject::Kind::kReserve:
      restoring_reserve_ = true;
      break;
  }
}

void Background::Run(Work& work) {
  absl::Status status;
  switch (work.subject.kind) {
    case JobSubject::Kind::kFlush:
      status = FlushOldestMemtable(*engine_, work.subject.table_id, counters_);
      break;
    case JobSubject::Kind::kSegment:
      status = engine_->log->PrepareSpare();
      break;
    case JobSubject::Kind::kCompaction:
      status = RunChoice(*engine_, work.view, work.choice, &stop_, counters_);
      break;
    case JobSubject::Kind::kSpill:
      status = SpillPinnedMemtable(*engine_, counters_);
      break;
    case JobSubject::Kind::kReserve:
      engine_->RestoreReserve();
      break;
  }
  if (status.code() == absl::StatusCode::kAborted) counters_.jobs_discarded.fetch_add(1, std::memory_order_relaxed);
  work.view.reset();  // while the job still counts as running: whoever waits for its end finds nothing held
  bool is_news = false;
  {
    MutexLock lock(state_.mutex);
    is_news = EndLocked(work, status);
  }
  if (is_news) ReportOutcome(work, status);
}

// Each tablet that a compaction ran over fails or succeeds with it.
std::vector<JobSubject> Background::SubjectsOf(const Work& work) {
  if (work.subject.kind != JobSubject::Kind::kCompaction) return {work.subject};
  std::vector<JobSubject> subjects;
  for (const TabletName& tablet : TabletsOf(work.choice)) {
    subjects.push_back({JobSubject::Kind::kCompaction, tablet.table_id, tablet.start_row});
  }
  return subjects;
}

bool Background::EndLocked(const Work& work, const absl::Status& status) {
  state_.mutex.AssertHeld();
  switch (work.subject.kind) {
    case JobSubject::Kind::kFlush: {
      --running_flushes_;
      const auto it = state_.tables.find(work.subject.table_id);
      if (it != state_.tables.end()) it->second.flush_running = false;
      break;
    }
    case JobSubject::Kind::kSegment:
      preparing_segment_ = false;
      break;
    case JobSubject::Kind::kCompaction:
      --running_compactions_;
      for (const TabletName& tablet : TabletsOf(work.choice)) state_.busy_tablets.erase(tablet);
      break;
    case JobSubject::Kind::kSpill:
      spilling_ = false;
      break;
    case JobSubject::Kind::kReserve:
      restoring_reserve_ = false;
      break;
  }
  bool is_news = false;
  for (const JobSubject& subject : SubjectsOf(work)) {
    if (IsFailure(status)) is_news = state_.failures.Add(subject, status, std::chrono::steady_clock::now()) || is_news;
    if (status.ok()) is_news = state_.failures.Remove(subject) || is_news;
  }
  if (status.ok()) is_news = is_news && state_.failures.empty();
  if (status.ok() && work.subject.kind != JobSubject::Kind::kReserve) engine_->reserve.LookAgain();
  FailuresChangedLocked();
  return is_news;
}

void Background::FailuresChangedLocked() {
  state_.mutex.AssertHeld();
  state_.writes_refused.store(!state_.failures.RefusingWrites().ok() || engine_->reserve.is_released(), std::memory_order_release);
  state_.changed.SignalAll();
}

std::optional<Event::Kind> Background::TakeNewsLocked() {
  state_.mutex.AssertHeld();
  if (!engine_->committer->poison().ok()) {
    return std::exchange(poison_told_, true) ? std::nullopt : std::optional(Event::Kind::kPoisoned);
  }
  // Their table was deleted, their tablet is left alone, or the log went on without a spare: no job is left whose success would end them.
  if (RunsLocked() || PickPromptLocked() || !state_.failures.RemoveWhatDoesNotRest(RestNow())) return std::nullopt;
  FailuresChangedLocked();
  return state_.failures.empty() ? std::optional(Event::Kind::kBackgroundRecovered) : std::nullopt;
}

void Background::Tell(Event::Kind news) {
  const absl::Status poison = engine_->committer->poison();
  if (news == Event::Kind::kPoisoned) return engine_->events.Report(news, std::string(ToStd(poison.message())), 0, poison);
  engine_->events.Report(news, "what failed in the background is not due any more");
}

void Background::ReportOutcome(const Work& work, const absl::Status& status) {
  if (status.ok()) return engine_->events.Report(Event::Kind::kBackgroundRecovered, "background work goes on");
  engine_->events.Report(Event::Kind::kBackgroundError,
                         fmt::format("{} failed and will be tried again: {}", NameOf(work.subject.kind), ToStd(status.message())), 0,
                         status);
}

absl::Status Background::WaitUntil(const std::function<bool()>& done, const JobFailures::Concerns& concerns) {
  return WaitSince(FailureCount(), done, concerns);
}

uint64_t Background::FailureCount() const {
  MutexLock lock(state_.mutex);
  return state_.failures.count();
}

absl::Status Background::WaitSince(uint64_t failure_count, const std::function<bool()>& done, const JobFailures::Concerns& concerns) {
  MutexLock lock(state_.mutex);
  bool wake_threads = true;
  while (!done()) {
    if (stop_.load(std::memory_order_acquire)) return FailedPrecondition("the database was closed");
    STELE_RETURN_IF_ERROR(engine_->committer->poison());
    STELE_RETURN_IF_ERROR(state_.failures.Since(failure_count, concerns));
    if (thread_count_ > 0) {
      // What the passing of time made due wakes nobody by itself.
      if (std::exchange(wake_threads, false)) state_.changed.SignalAll();
      wake_threads = !state_.changed.WaitFor(state_.mutex, kLookAgain);
      continue;
    }
    state_.mutex.Unlock();
    const bool stepped = Step();
    state_.mutex.Lock();
    if (!stepped && !done()) return FailedPrecondition("nothing is due in the background that could end the wait");
  }
  return absl::OkStatus();
}

bool Background::RunsLocked() const {
  state_.mutex.AssertHeld();
  return running_flushes_ > 0 || running_compactions_ > 0 || preparing_segment_ || spilling_ || restoring_reserve_;
}

bool Background::QuietLocked() const {
  state_.mutex.AssertHeld();
  // While something that failed rests, more is to come.
  return !RunsLocked() && state_.failures.empty() && !PickPromptLocked();
}

absl::Status Background::WaitForIdle() {
  const uint64_t failure_count = FailureCount();
  const auto all = [](const JobSubject&) { return true; };
  Seen busy;  // when last looked at, a compaction was due
  while (true) {
    STELE_RETURN_IF_ERROR(WaitSince(
        failure_count, [&] { return QuietLocked() && !StandsLocked(Duty::kAll, busy); }, all));
    const int64_t now = engine_->clock.Now();
    Seen seen;
    {
      MutexLock lock(state_.mutex);
      seen = LookLocked(now);
    }
    if (Pick(seen)) {
      busy = std::move(seen);
      continue;
    }
    MutexLock lock(state_.mutex);
    while (looking_ > 0) looked_.Wait(state_.mutex);
    if (QuietLocked() && StandsLocked(Duty::kAll, seen)) return absl::OkStatus();
  }
}

absl::StatusOr<KeyRange> Background::ClaimTablet(uint32_t table_id, std::string_view row_key, std::atomic<bool>* stop) {
  std::optional<KeyRange> range;
  const auto claim = [&] {
    state_.mutex.AssertHeld();
    if (stop_.load(std::memory_order_acquire)) return false;
    const std::shared_ptr<const ReadView> view = state_.ViewLocked();
    const TableView* table = view->Find(table_id);
    if (table == nullptr) return true;
    const KeyRange& found = table->tablets[TabletIndexOf(*table, row_key)].range;
    if (!state_.busy_tablets.insert({table_id, found.start}).second) return false;
    claims_.insert(stop);
    range = found;
    return true;
  };
  // A job that fails gives the tablet back all the same.
  STELE_RETURN_IF_ERROR(WaitUntil(claim, [](const JobSubject&) { return false; }));
  if (!range) return NotFound("the table was deleted");
  return *std::move(range);
}

void Background::ReleaseTablet(const TabletName& tablet, std::atomic<bool>* stop) {
  MutexLock lock(state_.mutex);
  state_.busy_tablets.erase(tablet);
  claims_.erase(stop);
  state_.changed.SignalAll();
}

}  // namespace stele::internal
