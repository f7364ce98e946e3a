#include "db/background.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "db/engine.h"

namespace stele::internal {
namespace {

constexpr auto kBackoffLeast = std::chrono::milliseconds(50);
constexpr auto kLookAgain = std::chrono::seconds(1);  // versions grow old without anybody saying so
constexpr auto kBackoffMost = std::chrono::milliseconds(5000);

// Thrown-away work is not a failure.
bool IsFailure(const absl::Status& status) {
  return !status.ok() && status.code() != absl::StatusCode::kAborted && status.code() != absl::StatusCode::kCancelled;
}

}  // namespace

Background::Background(Engine* engine, int threads) : engine_(engine), state_(engine->state), thread_count_(threads) {}

Background::~Background() { Stop(); }

void Background::Start() {
  for (int i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { RunThread(); });
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

void Background::RunThread() {
  MutexLock lock(state_.mutex);
  while (!stop_.load(std::memory_order_acquire)) {
    std::optional<Work> work = PickLocked();
    const std::optional<Event::Kind> news = work ? std::nullopt : TakeNewsLocked();
    if (work) {
      BeginLocked(*work);
      state_.mutex.Unlock();
      Run(*work);
      work.reset();  // and with it perhaps the last use of a file: not under the lock
      state_.mutex.Lock();
    } else if (news) {
      state_.mutex.Unlock();
      Tell(*news);
      state_.mutex.Lock();
    } else if (!state_.error.status.ok() && !poison_told_) {
      state_.changed.WaitFor(state_.mutex, kBackoffLeast);
    } else {
      state_.changed.WaitFor(state_.mutex, kLookAgain);
    }
  }
}

bool Background::Step() {
  std::optional<Work> work;
  std::optional<Event::Kind> news;
  {
    MutexLock lock(state_.mutex);
    work = PickLocked();
    if (work) {
      BeginLocked(*work);
    } else {
      news = TakeNewsLocked();
    }
  }
  if (work) Run(*work);
  if (news) Tell(*news);
  return work.has_value();
}

std::optional<Background::Work> Background::PickLocked() const {
  state_.mutex.AssertHeld();
  if (stop_.load(std::memory_order_acquire) || !engine_->committer->poison().ok()) return std::nullopt;
  const bool resting = Resting();
  if (!resting) {
    for (const auto& [table_id, memory] : state_.tables) {
      if (!memory.frozen.empty() && !memory.flush_running) return Work{.kind = Work::Kind::kFlush, .table_id = table_id};
    }
  }
  if (!preparing_segment_ && !resting && engine_->log->SpareIsDue()) return Work{.kind = Work::Kind::kSegment};
  if (resting || running_compactions_ >= std::max(1, thread_count_ - 1)) return std::nullopt;
  std::shared_ptr<const ReadView> view = state_.ViewLocked();
  PickerInput input{.version = view->version.get(), .busy = state_.busy_tablets, .now = engine_->clock.Now()};
  input.busy.insert(state_.damaged_tablets.begin(), state_.damaged_tablets.end());
  std::optional<Choice> choice = PickCompaction(input);
  if (!choice) return std::nullopt;
  return Work{.kind = Work::Kind::kCompaction, .choice = *std::move(choice), .view = std::move(view)};
}

void Background::BeginLocked(const Work& work) {
  state_.mutex.AssertHeld();
  switch (work.kind) {
    case Work::Kind::kFlush:
      ++running_flushes_;
      state_.tables[work.table_id].flush_running = true;
      break;
    case Work::Kind::kSegment:
      preparing_segment_ = true;
      break;
    case Work::Kind::kCompaction:
      ++running_compactions_;
      state_.busy_tablets.emplace(work.choice.table_id, work.choice.tablet_index);
      break;
  }
}

void Background::Run(const Work& work) {
  absl::Status status;
  switch (work.kind) {
    case Work::Kind::kFlush:
      status = FlushOldestMemtable(*engine_, work.table_id, counters_);
      break;
    case Work::Kind::kSegment:
      status = engine_->log->PrepareSpare();
      break;
    case Work::Kind::kCompaction:
      status = RunChoice(*engine_, work.view, work.choice, &stop_, counters_);
      break;
  }
  if (status.code() == absl::StatusCode::kAborted) counters_.jobs_discarded.fetch_add(1, std::memory_order_relaxed);
  bool was_failing = false;
  {
    MutexLock lock(state_.mutex);
    was_failing = !state_.error.status.ok();
    EndLocked(work, status);
  }
  ReportOutcome(status, was_failing);
}

void Background::EndLocked(const Work& work, const absl::Status& status) {
  state_.mutex.AssertHeld();
  switch (work.kind) {
    case Work::Kind::kFlush: {
      --running_flushes_;
      const auto it = state_.tables.find(work.table_id);
      if (it != state_.tables.end()) it->second.flush_running = false;
      break;
    }
    case Work::Kind::kSegment:
      preparing_segment_ = false;
      break;
    case Work::Kind::kCompaction:
      --running_compactions_;
      state_.busy_tablets.erase({work.choice.table_id, work.choice.tablet_index});
      if (status.code() == absl::StatusCode::kDataLoss) state_.damaged_tablets.emplace(work.choice.table_id, work.choice.tablet_index);
      break;
  }
  if (IsFailure(status)) {
    state_.error.status = status;
    ++state_.error.failures;
    backoff_ = std::clamp(backoff_ * 2, kBackoffLeast, kBackoffMost);
    retry_at_ = std::chrono::steady_clock::now() + backoff_;
  } else if (status.ok()) {
    ClearErrorLocked();
  }
  state_.writes_refused.store(state_.error.refuses_writes(), std::memory_order_release);
  state_.changed.SignalAll();
}

void Background::ClearErrorLocked() {
  state_.mutex.AssertHeld();
  state_.error.status = absl::OkStatus();
  backoff_ = std::chrono::milliseconds(0);
  retry_at_ = {};
}

std::optional<Event::Kind> Background::TakeNewsLocked() {
  state_.mutex.AssertHeld();
  if (!engine_->committer->poison().ok()) {
    return std::exchange(poison_told_, true) ? std::nullopt : std::optional(Event::Kind::kPoisoned);
  }
  const bool runs = running_flushes_ > 0 || running_compactions_ > 0 || preparing_segment_;
  if (state_.error.status.ok() || runs || Resting()) return std::nullopt;
  // Its table was deleted, its tablet is left alone, or the log went on without a spare: no job is left whose success would end the error.
  ClearErrorLocked();
  state_.writes_refused.store(false, std::memory_order_release);
  state_.changed.SignalAll();
  return Event::Kind::kBackgroundRecovered;
}

void Background::Tell(Event::Kind news) {
  const absl::Status poison = engine_->committer->poison();
  if (news == Event::Kind::kPoisoned) return engine_->events.Report(news, std::string(ToStd(poison.message())), 0, poison);
  engine_->events.Report(news, "what failed in the background is not due any more");
}

void Background::ReportOutcome(const absl::Status& status, bool was_failing) {
  if (IsFailure(status) && !was_failing) {
    engine_->events.Report(Event::Kind::kBackgroundError,
                           fmt::format("background work failed and will be tried again: {}", ToStd(status.message())), 0, status);
  } else if (status.ok() && was_failing) {
    engine_->events.Report(Event::Kind::kBackgroundRecovered, "background work goes on");
  }
}

absl::Status Background::WaitUntil(const std::function<bool()>& done) {
  MutexLock lock(state_.mutex);
  uint64_t failures_before = state_.error.failures;
  bool wake_threads = true;
  while (!done()) {
    if (stop_.load(std::memory_order_acquire)) return FailedPrecondition("the database was closed");
    STELE_RETURN_IF_ERROR(engine_->committer->poison());
    if (state_.error.failures != failures_before && !state_.error.status.ok()) return state_.error.status;
    failures_before = state_.error.failures;  // what failed meanwhile was overcome meanwhile
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

bool Background::IdleLocked() const {
  state_.mutex.AssertHeld();
  if (running_flushes_ > 0 || running_compactions_ > 0 || preparing_segment_) return false;
  // A resting engine is idle until its retry is due only when nothing failed.
  return state_.error.status.ok() && engine_->committer->poison().ok() && !PickLocked().has_value();
}

absl::Status Background::ClaimTablet(uint32_t table_id, size_t tablet_index, std::atomic<bool>* stop) {
  return WaitUntil([this, tablet = std::pair(table_id, tablet_index), stop] {
    state_.mutex.AssertHeld();
    if (stop_.load(std::memory_order_acquire) || !state_.busy_tablets.insert(tablet).second) return false;
    claims_.insert(stop);
    return true;
  });
}

void Background::ReleaseTablet(uint32_t table_id, size_t tablet_index, std::atomic<bool>* stop) {
  MutexLock lock(state_.mutex);
  state_.busy_tablets.erase({table_id, tablet_index});
  claims_.erase(stop);
  state_.changed.SignalAll();
}

}  // namespace stele::internal
