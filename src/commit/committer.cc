#include "commit/committer.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <stop_token>
#include <utility>

#include "base/status.h"
#include "commit/turn.h"
#include "mutation/batch.h"

namespace stele::internal {
namespace {

// The limit of a write group, which is one write to the log. Many writers share a sync, but the
// first one does not wait for long.
constexpr size_t kGroupBytesMax = size_t{1} << 20;
// Before a conditional batch joins a group, the group's batches are scanned for its rows. A larger
// group is not scanned, since the queue's lock is held, and the batch does not join it.
constexpr size_t kScannedBytesMax = size_t{64} << 10;

// A writer polls for its turn this long, then it sleeps. Several small commits without a sync take
// less time than this.
constexpr std::chrono::microseconds kPolledTime{50};
// The longest sleep of a writer with a deadline, so that no sum of times overflows.
constexpr std::chrono::hours kSleepMax{1};

// The rows that the batches of a group write.
class GroupRows {
 public:
  // Returns true if none of `conditions` names a row that a batch writes. `batches` include those
  // of all previous calls. Also returns false if the check would take too long.
  template <typename BatchOf>
  bool WritesNoneOf(const std::vector<RowCondition>& conditions, size_t batch_count,
                    const BatchOf& batch_of) {
    if (conditions.empty()) return true;
    for (; scanned_ < batch_count; ++scanned_) {
      const std::string_view batch = batch_of(scanned_);
      bytes_ += batch.size();
      if (bytes_ > kScannedBytesMax) return false;
      BatchReader reader(batch);
      for (RowOps row; reader.NextRow(&row);) rows_.emplace(row.table_id(), row.row_key());
      if (!reader.ok()) return false;
    }
    return std::none_of(conditions.begin(), conditions.end(),
                        [this](const RowCondition& condition) {
                          const RowWatches::Watch& row = condition.watch;
                          return rows_.contains({row.table_id(), row.row_key()});
                        });
  }

 private:
  std::set<std::pair<uint32_t, std::string_view>> rows_;
  size_t scanned_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

struct Committer::Waiter {
  CommitRequest request;
  // Set: an exclusive section; the request is empty.
  const std::function<absl::Status()>* exclusive_section = nullptr;
  absl::Status status;
  bool done = false;
  bool is_taken = false;  // it is in a leader's group; guarded by mutex_
  Turn turn;              // given when done, or when it is at the head of the queue

  // True for a write without a sync, which takes a few microseconds.
  bool is_short() const { return exclusive_section == nullptr && !request.sync; }
};

Committer::Committer(EngineState* state, CommitLog* log, DatabaseClock* clock, Limits limits)
    : state_(state), log_(log), clock_(clock), limits_(limits) {}

absl::Status Committer::Commit(CommitRequest request) {
  Waiter waiter{.request = std::move(request)};
  if (IsInSection()) {
    CommitGroup({&waiter});
    return waiter.status;
  }
  Enqueue(&waiter);
  return waiter.status;
}

bool Committer::IsInSection() const {
  return section_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

absl::Status Committer::RunExclusive(const std::function<absl::Status()>& exclusive_section,
                                     const WaitLimits& limits) {
  Waiter waiter{.request = {.limits = limits}, .exclusive_section = &exclusive_section};
  Enqueue(&waiter);
  return waiter.status;
}

bool Committer::RunExclusiveIfIdle(const std::function<absl::Status()>& exclusive_section) {
  Waiter waiter{.exclusive_section = &exclusive_section};
  {
    MutexLock lock(mutex_);
    if (closed_ || !queue_.empty()) return false;
    queue_.push_back(&waiter);
  }
  Lead(&waiter);
  return waiter.status.ok();
}

void Committer::Enqueue(Waiter* waiter) {
  bool is_first = false;
  bool polls = false;
  {
    MutexLock lock(mutex_);
    if (closed_) {
      waiter->status = FailedPrecondition("the database is closed; open it again to write");
      return;
    }
    is_first = queue_.empty();
    polls = !is_first && waiter->is_short() && queue_.front()->is_short();
    queue_.push_back(waiter);
  }
  if (!is_first) AwaitTurn(waiter, polls);
  if (!waiter->done) Lead(waiter);
}

void Committer::AwaitTurn(Waiter* waiter, bool polls) {
  if (polls && waiter->turn.PollFor(kPolledTime)) return;
  if (waiter->request.limits.are_possible()) return SleepWithLimits(waiter);
  MutexLock lock(mutex_);
  waiter->turn.Sleep(mutex_);
}

void Committer::SleepWithLimits(Waiter* waiter) {
  const WaitLimits& limits = waiter->request.limits;
  // Made and destroyed without the mutex: the callback takes it. After its destructor no thread
  // uses the waiter.
  const std::stop_callback on_stop(limits.stop, [this, waiter] {
    MutexLock lock(mutex_);
    waiter->turn.Wake();
  });
  MutexLock lock(mutex_);
  while (!waiter->is_taken && !waiter->turn.is_given()) {
    waiter->status = limits.Check();
    if (!waiter->status.ok()) {
      // The waiter is not at the head of the queue, since the head always has its turn. So its
      // removal gives no other waiter a turn.
      queue_.erase(std::find(queue_.begin(), queue_.end(), waiter));
      waiter->done = true;
      return;
    }
    waiter->turn.SleepAtMost(mutex_, limits.TimeLeft(kSleepMax));
  }
  waiter->turn.Sleep(mutex_);  // a leader has it, or it leads: its result is known soon
}

absl::Status Committer::PauseWrites(uint32_t table_id,
                                    const std::function<absl::Status()>& exclusive_section) {
  const uint64_t request = pauses_.Request();
  bool begun = false;
  while (!begun) {
    pauses_.AwaitMayBegin(table_id, request);
    STELE_RETURN_IF_ERROR(RunExclusive([&]() -> absl::Status {
      // Wait again if another pause began meanwhile.
      if (!pauses_.MayBegin(table_id, request)) return absl::OkStatus();
      STELE_RETURN_IF_ERROR(exclusive_section());
      pauses_.Begin(table_id);
      begun = true;
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::Status Committer::CheckPausesOf(const CommitRequest& request) const {
  if (!pauses_.HasPauses()) return absl::OkStatus();
  std::vector<uint32_t> tables;  // rows of one table are usually contiguous
  BatchReader reader(request.batch);
  for (RowOps row; reader.NextRow(&row);) {
    if (tables.empty() || tables.back() != row.table_id()) tables.push_back(row.table_id());
  }
  return CheckPauses(std::move(tables));
}

void Committer::Lead(Waiter* leader) {
  const std::vector<Waiter*> group = TakeGroup(leader);
  if (leader->exclusive_section != nullptr) {
    leader->status = poison();
    section_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    if (leader->status.ok()) leader->status = (*leader->exclusive_section)();
    section_thread_.store({}, std::memory_order_relaxed);
  } else {
    CommitGroup(group);
  }
  MutexLock lock(mutex_);
  for (Waiter* member : group) {
    queue_.pop_front();
    member->done = true;
    if (member != leader) member->turn.Give();
  }
  if (!queue_.empty()) queue_.front()->turn.Give();
}

// Returns the leader and the waiters behind it that can share its write. The group ends before an
// exclusive section, and before a conditional batch if an earlier batch of the group changes one of
// its rows. Otherwise the conditional batch is checked as if it were first.
std::vector<Committer::Waiter*> Committer::TakeGroup(Waiter* leader) {
  std::vector<Waiter*> group;
  if (leader->exclusive_section != nullptr) return {leader};
  MutexLock lock(mutex_);
  size_t bytes = 0;
  GroupRows rows;
  const auto batch_of = [&group](size_t index) -> std::string_view {
    return group[index]->request.batch;
  };
  for (Waiter* waiter : queue_) {
    const std::optional<RowCondition>& token = waiter->request.token;
    const bool is_repeat =
        token.has_value() &&
        std::any_of(group.begin(), group.end(), [&token](const Waiter* member) {
          return member->request.token.has_value() &&
                 member->request.token->watch.row_key() == token->watch.row_key();
        });
    const bool joins =
        waiter == leader || (waiter->exclusive_section == nullptr && !is_repeat &&
                             rows.WritesNoneOf(waiter->request.conditions, group.size(), batch_of));
    bytes += waiter->request.batch.size();
    if (!joins || (bytes > kGroupBytesMax && waiter != leader)) break;
    waiter->is_taken = true;
    group.push_back(waiter);
  }
  return group;
}

// The checks that may refuse the batch before anything is logged.
absl::Status Committer::Admit(const CommitRequest& request) const {
  const bool is_current = request.generation == generation();
  if (!is_current) STELE_RETURN_IF_ERROR(CheckTables(request));
  const auto is_written = [](const RowCondition& condition) {
    return condition.watch.WrittenAfter(condition.sequence);
  };
  if (request.token.has_value() && is_written(*request.token)) {
    EventCounts::Add(state_->event_counts().condition_refusals);
    return Aborted("the token was used since it was looked up");
  }
  for (const RowCondition& condition : request.conditions) {
    const bool written = is_written(condition);
    const absl::Status moved =
        is_current ? absl::OkStatus()
                   : changes_.CheckRow(condition.watch.table_id(), condition.watch.row_key(),
                                       request.generation);
    if (!written && moved.ok()) continue;
    EventCounts::Add(state_->event_counts().condition_refusals);
    return written ? Aborted("the row was written since it was read") : moved;
  }
  return absl::OkStatus();
}

// Called if the generation changed since the batch was made. Returns Aborted if the change concerns
// one of the batch's tables.
absl::Status Committer::CheckTables(const CommitRequest& request) const {
  const bool depends_on_rules = request.has_range_delete || !request.conditions.empty();
  BatchReader reader(request.batch);
  std::optional<uint32_t> checked;  // rows of one table are usually contiguous
  for (RowOps row; reader.NextRow(&row);) {
    if (checked == row.table_id()) continue;
    checked = row.table_id();
    if (!state_->HasTable(row.table_id()))
      return Aborted("the table was deleted since the batch was made");
    STELE_RETURN_IF_ERROR(
        changes_.CheckWrite(row.table_id(), depends_on_rules, request.generation));
  }
  return absl::OkStatus();
}

void Committer::CommitGroup(const std::vector<Waiter*>& group) {
  const absl::Status poisoned = poison();
  const int64_t commit_time = clock_->CommitTime();
  std::vector<LogRecord> records;
  std::vector<Waiter*> members;
  bool sync = false;
  uint64_t sequence = last_sequence_;
  for (Waiter* waiter : group) {
    waiter->status = !poisoned.ok() ? poisoned : Admit(waiter->request);
    if (waiter->status.ok()) waiter->status = CheckPausesOf(waiter->request);
    if (!waiter->status.ok()) continue;
    SetBatchClock(&waiter->request.batch, commit_time, waiter->request.token_stamp);
    records.push_back({.sequence = ++sequence, .payload = waiter->request.batch});
    members.push_back(waiter);
    sync = sync || waiter->request.sync;
  }
  if (members.empty()) return;
  const auto fail_all = [&members](const absl::Status& status) {
    for (Waiter* member : members) member->status = status;
  };
  last_sequence_ = sequence;
  const absl::Status appended = log_->Append(records);
  NoteAppend(appended);
  if (!appended.ok()) {
    if (!log_->poisoned()) return fail_all(appended);
    Poison(appended);
    return fail_all(poison());
  }
  if (sync) {
    if (absl::Status status = log_->Sync(); !status.ok()) {
      Poison(status);
      return fail_all(poison());
    }
  }
  touched_.clear();
  for (const LogRecord& record : records) {
    if (absl::Status status = Apply(record.sequence, record.payload, commit_time); !status.ok()) {
      Poison(status);
      return fail_all(poison());
    }
  }
  state_->Publish(sequence);
  NoteWrites(records);
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i]->request.committed != nullptr)
      *members[i]->request.committed = records[i].sequence;
  }
  commits_.fetch_add(members.size(), std::memory_order_relaxed);
  FreezeFullMemtables();
}

absl::Status Committer::Apply(uint64_t sequence, std::string_view batch, int64_t commit_time) {
  BatchReader reader(batch);
  RowOps row;
  uint32_t position = 0;
  uint32_t table_id = 0;
  EngineState::WriteTarget target;
  while (reader.NextRow(&row)) {
    if (target.memtable == nullptr || row.table_id() != table_id) {
      table_id = row.table_id();
      target = state_->TargetOf(table_id, sequence, commit_time);
      // Null if the table was deleted after the check. Its data is not needed.
      if (target.memtable == nullptr) continue;
      if (std::find(touched_.begin(), touched_.end(), table_id) == touched_.end())
        touched_.push_back(table_id);
    }
    const size_t bytes_before = target.memtable->bytes();
    const absl::Status applied = target.memtable->Apply(sequence, row, &position);
    // This includes operations that were applied before memory was refused.
    state_->AddMemtableBytes(target.memtable->bytes() - bytes_before);
    STELE_RETURN_IF_ERROR(applied);
    target.tablet_writes->CountWrite(row.row_key());
  }
  return absl::OkStatus();
}

// After Publish: see row_watches.h.
void Committer::NoteWrites(const std::vector<LogRecord>& records) {
  if (!row_watches_.HasRows()) return;
  for (const LogRecord& record : records) {
    BatchReader reader(record.payload);
    for (RowOps row; reader.NextRow(&row);) row_watches_.Note(row, record.sequence);
    row_watches_.EndNote(record.sequence);
  }
}

void Committer::FreezeFullMemtables() {
  const uint64_t memtable_bytes_max = state_->memory().PortionOf(limits_.memtable_bytes);
  for (const uint32_t table_id : touched_) {
    const std::shared_ptr<const Memtable> active = state_->ActiveMemtable(table_id);
    if (active != nullptr && active->bytes() >= memtable_bytes_max) state_->Freeze(table_id);
  }
  const uint64_t active_bytes_max = state_->memory().PortionOf(limits_.active_bytes_max);
  if (state_->memtable_bytes() > active_bytes_max) state_->FreezeLargest(active_bytes_max);
  const bool needs_segment = log_->SpareIsDue();
  if (needs_segment && !needed_segment_) state_->SignalChange();
  needed_segment_ = needs_segment;
  // On a nearly full disk, the log gets a quarter of its normal space.
  const uint64_t log_bytes_max =
      log_->space_is_scarce() ? limits_.log_bytes_max / 4 : limits_.log_bytes_max;
  if (log_->IsLongerThan(log_bytes_max)) {
    if (const std::optional<uint32_t> table_id = state_->TableWithOldestActive())
      state_->Freeze(*table_id);
  }
}

void Committer::Close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  // Close the queue before the pauses, so that a pause that waited to begin finds the queue closed.
  pauses_.Close();
  MutexLock lock(mutex_);
  if (queue_.empty()) return;
  // Writers in the queue still get their turn. The last waiter is an exclusive section that is
  // never run: when it gets its turn, all others are done.
  const std::function<absl::Status()> nothing;
  Waiter last{.exclusive_section = &nothing};
  queue_.push_back(&last);
  last.turn.Sleep(mutex_);
  queue_.pop_front();
}

uint64_t Committer::TakeSequence() {
  state_->Publish(++last_sequence_);
  return last_sequence_;
}

size_t Committer::queued() const {
  MutexLock lock(mutex_);
  return queue_.size();
}

void Committer::NoteAppend(const absl::Status& status) {
  const bool found_no_space = absl::IsResourceExhausted(status);
  if (!found_no_space && !has_append_failure_) return;
  has_append_failure_ = found_no_space;
  MutexLock lock(mutex_);
  append_failure_ = found_no_space ? status : absl::OkStatus();
  has_failure_.store(found_no_space || !poison_.ok(), std::memory_order_release);
}

absl::Status Committer::append_failure() const {
  MutexLock lock(mutex_);
  return append_failure_;
}

absl::Status Committer::poison() const {
  MutexLock lock(mutex_);
  return poison_;
}

void Committer::Poison(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    if (!poison_.ok()) return;
    poison_ = FailedPrecondition(
        "the database accepts no more writes because a write could not be made durable ({}); close "
        "and reopen it to recover",
        ToStd(status.message()));
    has_failure_.store(true, std::memory_order_release);
  }
  state_->SignalChange();  // threads that wait for background work return an error now
}

}  // namespace stele::internal
