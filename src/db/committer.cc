#include "db/committer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "mutation/batch.h"

namespace stele::internal {
namespace {

// A group is one write to the log: large enough to amortise a sync over many writers, small enough that the first does not wait for much.
constexpr size_t kGroupBytesMax = size_t{1} << 20;
// Batches that are looked through for the rows that they write, before a conditional one may join them: under the queue's lock, so few.
constexpr size_t kRowsLookedThroughBytesMax = size_t{64} << 10;

// The rows that the batches of a group write.
class GroupRows {
 public:
  // Does none of `conditions` name a row that a batch writes? `batches` are those of all calls before, and more. False also where that
  // would take too long to say.
  template <typename BatchOf>
  bool Spare(const std::vector<RowCondition>& conditions, size_t batch_count, const BatchOf& batch_of) {
    if (conditions.empty()) return true;
    for (; looked_through_ < batch_count; ++looked_through_) {
      const std::string_view batch = batch_of(looked_through_);
      bytes_ += batch.size();
      if (bytes_ > kRowsLookedThroughBytesMax) return false;
      BatchReader reader(batch);
      for (RowOps row; reader.NextRow(&row);) rows_.emplace(row.table_id(), row.row_key());
      if (!reader.ok()) return false;
    }
    return std::none_of(conditions.begin(), conditions.end(), [this](const RowCondition& condition) {
      return rows_.contains({condition.table_id, condition.row_key});
    });
  }

 private:
  std::set<std::pair<uint32_t, std::string_view>> rows_;
  size_t looked_through_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

struct Committer::Waiter {
  CommitRequest request;
  const std::function<absl::Status()>* section = nullptr;  // set: an exclusive section, the request is empty
  absl::Status status;
  std::optional<uint32_t> held_table;  // set: refused because of a hold of this table
  bool done = false;
  CondVar turn;  // signalled when done, or when it is at the head of the queue
};

Committer::Committer(EngineState* state, CommitLog* log, DatabaseClock* clock, Limits limits)
    : state_(state), log_(log), clock_(clock), limits_(limits) {}

absl::Status Committer::Commit(CommitRequest request) {
  Waiter waiter{.request = std::move(request)};
  if (section_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    CommitGroup({&waiter});
    return waiter.status;
  }
  do {
    Enqueue(&waiter);
  } while (waiter.held_table.has_value());
  return waiter.status;
}

absl::Status Committer::RunExclusive(const std::function<absl::Status()>& section) {
  Waiter waiter{.section = &section};
  Enqueue(&waiter);
  return waiter.status;
}

void Committer::Enqueue(Waiter* waiter) {
  {
    MutexLock lock(mutex_);
    if (waiter->held_table.has_value()) AwaitRelease(*waiter->held_table);
    waiter->held_table.reset();
    waiter->done = false;
    if (closed_) {
      waiter->status = FailedPrecondition("the database is closed; open it again to write");
      return;
    }
    queue_.push_back(waiter);
    while (!waiter->done && queue_.front() != waiter) waiter->turn.Wait(mutex_);
    if (waiter->done) return;
  }
  Lead(waiter);
}

absl::Status Committer::Hold(uint32_t table_id, const std::function<absl::Status()>& section) {
  bool begun = false;
  while (!begun) {
    {
      MutexLock lock(mutex_);
      while (holds_.contains(table_id) || returning_ > 0) released_.Wait(mutex_);
    }
    STELE_RETURN_IF_ERROR(RunExclusive([&]() -> absl::Status {
      {
        MutexLock lock(mutex_);
        if (holds_.contains(table_id) || returning_ > 0) return absl::OkStatus();  // another was faster
      }
      STELE_RETURN_IF_ERROR(section());
      MutexLock lock(mutex_);
      holds_[table_id].number = ++last_hold_;
      hold_count_.fetch_add(1, std::memory_order_relaxed);
      begun = true;
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

void Committer::Release(uint32_t table_id) {
  MutexLock lock(mutex_);
  const auto it = holds_.find(table_id);
  returning_ += it->second.waiting;
  holds_.erase(it);
  hold_count_.fetch_sub(1, std::memory_order_relaxed);
  released_.SignalAll();
}

void Committer::AwaitReleases() {
  MutexLock lock(mutex_);
  const uint64_t last = last_hold_;
  const auto lasts = [this, last] {
    mutex_.AssertHeld();
    return std::any_of(holds_.begin(), holds_.end(), [last](const auto& hold) { return hold.second.number <= last; });
  };
  while (lasts()) released_.Wait(mutex_);
}

// Once the hold is over no other begins before the writer is queued: see Hold.
void Committer::AwaitRelease(uint32_t table_id) {
  const auto it = holds_.find(table_id);
  if (it == holds_.end()) return;
  ++it->second.waiting;
  while (holds_.contains(table_id)) released_.Wait(mutex_);
  if (--returning_ == 0) released_.SignalAll();
}

std::optional<uint32_t> Committer::HeldTableOf(const CommitRequest& request) const {
  if (hold_count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  MutexLock lock(mutex_);
  BatchReader reader(request.batch);
  for (RowOps row; reader.NextRow(&row);) {
    if (holds_.contains(row.table_id())) return row.table_id();
  }
  return std::nullopt;
}

void Committer::Lead(Waiter* leader) {
  const std::vector<Waiter*> group = TakeGroup(leader);
  if (leader->section != nullptr) {
    leader->status = poison();
    section_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    if (leader->status.ok()) leader->status = (*leader->section)();
    section_thread_.store({}, std::memory_order_relaxed);
  } else {
    CommitGroup(group);
  }
  MutexLock lock(mutex_);
  for (Waiter* member : group) {
    queue_.pop_front();
    member->done = true;
    if (member != leader) member->turn.Signal();
  }
  if (!queue_.empty()) queue_.front()->turn.Signal();
}

// The leader and those behind it that may share its write: not beyond an exclusive section, nor a conditional batch of which the group's
// own earlier batches change a row. One whose rows they leave alone is judged as if it came first.
std::vector<Committer::Waiter*> Committer::TakeGroup(Waiter* leader) {
  std::vector<Waiter*> group;
  if (leader->section != nullptr) return {leader};
  MutexLock lock(mutex_);
  size_t bytes = 0;
  GroupRows rows;
  const auto batch_of = [&group](size_t index) -> std::string_view { return group[index]->request.batch; };
  for (Waiter* waiter : queue_) {
    const std::optional<RowCondition>& token = waiter->request.token;
    const bool is_repeat = token.has_value() && std::any_of(group.begin(), group.end(), [&token](const Waiter* member) {
                             return member->request.token.has_value() && member->request.token->row_key == token->row_key;
                           });
    const bool joins =
        waiter == leader || (waiter->section == nullptr && !is_repeat && rows.Spare(waiter->request.conditions, group.size(), batch_of));
    bytes += waiter->request.batch.size();
    if (!joins || (bytes > kGroupBytesMax && waiter != leader)) break;
    group.push_back(waiter);
  }
  return group;
}

// What may be refused before anything is logged.
absl::Status Committer::Admit(const CommitRequest& request) const {
  const bool is_current = request.generation == generation();
  if (!is_current) STELE_RETURN_IF_ERROR(CheckTables(request));
  const auto may_be_written = [this](const RowCondition& condition) {
    return stamps_.MayBeWrittenAfter(condition.table_id, condition.row_key, condition.sequence);
  };
  if (request.token.has_value() && may_be_written(*request.token)) {
    EventCounts::Add(state_->event_counts.condition_refusals);
    return Aborted("the token was used since it was looked up");
  }
  for (const RowCondition& condition : request.conditions) {
    const bool written = may_be_written(condition);
    const absl::Status moved = is_current ? absl::OkStatus() : changes_.CheckRow(condition.table_id, condition.row_key, request.generation);
    if (!written && moved.ok()) continue;
    EventCounts::Add(state_->event_counts.condition_refusals);
    return written ? Aborted("the row was written since it was read") : moved;
  }
  return absl::OkStatus();
}

// Something changed since the batch was made. Does it concern one of the batch's tables?
absl::Status Committer::CheckTables(const CommitRequest& request) const {
  const bool depends_on_rules = request.has_ranged_delete || !request.conditions.empty();
  BatchReader reader(request.batch);
  std::optional<uint32_t> checked;  // rows of one table mostly come together
  for (RowOps row; reader.NextRow(&row);) {
    if (checked == row.table_id()) continue;
    checked = row.table_id();
    if (!state_->HasTable(row.table_id())) return Aborted("the table was deleted since the batch was made");
    STELE_RETURN_IF_ERROR(changes_.CheckWrite(row.table_id(), depends_on_rules, request.generation));
  }
  return absl::OkStatus();
}

void Committer::CommitGroup(const std::vector<Waiter*>& group) {
  const absl::Status poisoned = poison();
  const int64_t commit_time = clock_->Now();
  std::vector<LogRecord> records;
  std::vector<Waiter*> members;
  bool sync = false;
  uint64_t sequence = last_sequence_;
  for (Waiter* waiter : group) {
    waiter->status = !poisoned.ok() ? poisoned : Admit(waiter->request);
    if (waiter->status.ok()) waiter->held_table = HeldTableOf(waiter->request);
    if (waiter->held_table.has_value()) waiter->status = Aborted("the table is held while a load is installed");
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
  if (absl::Status status = log_->Append(records); !status.ok()) {
    if (!log_->poisoned()) return fail_all(status);
    Poison(status);
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
  commits_.fetch_add(members.size(), std::memory_order_relaxed);
  FreezeWhatIsFull();
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
      target = state_->TargetOf(table_id, commit_time);
      if (target.memtable == nullptr) continue;  // its tables were checked, so it exists; a table that is gone needs no data
      if (std::find(touched_.begin(), touched_.end(), table_id) == touched_.end()) touched_.push_back(table_id);
    }
    const size_t bytes_before = target.memtable->bytes();
    const absl::Status applied = target.memtable->Apply(sequence, row, &position);
    state_->AddMemtableBytes(target.memtable->bytes() - bytes_before);  // also of what was applied before memory was refused
    STELE_RETURN_IF_ERROR(applied);
    stamps_.Note(table_id, row.row_key(), sequence);
    target.tablet_writes->CountWrite(row.row_key());
  }
  return absl::OkStatus();
}

void Committer::FreezeWhatIsFull() {
  for (const uint32_t table_id : touched_) {
    const std::shared_ptr<Memtable> active = state_->ActiveMemtable(table_id, 0);
    if (active != nullptr && active->bytes() >= limits_.memtable_bytes) state_->Freeze(table_id);
  }
  if (state_->memtable_bytes() > limits_.active_bytes_max) state_->Relieve(limits_.active_bytes_max);
  const bool needs_segment = log_->SpareIsDue();
  if (needs_segment && !needed_segment_) state_->Notify();
  needed_segment_ = needs_segment;
  // Where the disk has little room, the log takes less of it.
  const uint64_t log_bytes_max = log_->space_is_scarce() ? limits_.log_bytes_max / 4 : limits_.log_bytes_max;
  if (log_->bytes() > log_bytes_max) {
    if (const std::optional<uint32_t> table_id = state_->TableWithOldestActive()) state_->Freeze(*table_id);
  }
}

void Committer::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  if (queue_.empty()) return;
  // Whoever is queued still gets its turn; an exclusive section of ours, never run, marks the end of the queue.
  const std::function<absl::Status()> nothing;
  Waiter last{.section = &nothing};
  queue_.push_back(&last);
  while (queue_.front() != &last) last.turn.Wait(mutex_);
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

absl::Status Committer::poison() const {
  MutexLock lock(mutex_);
  return poison_;
}

void Committer::Poison(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    if (!poison_.ok()) return;
    poison_ =
        FailedPrecondition("the database takes no more writes since a write could not be made safe ({}); close and reopen it to recover",
                           ToStd(status.message()));
  }
  state_->Notify();  // whoever waits for background work waits in vain from now on
}

}  // namespace stele::internal
