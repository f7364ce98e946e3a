#include "state/engine_state.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace stele::internal {
namespace {

bool IsNarrowed(const SstableReference& reference) {
  const SstableSummary& summary = reference.file->summary;
  return !(reference.range.Contains(summary.first_row) &&
           reference.range.Contains(summary.last_row));
}

void CountFragments(std::vector<ViewReference>* stack) {
  for (size_t i = stack->size(); i-- > 1;) {
    ViewReference& before = (*stack)[i - 1];
    const ViewReference& behind = (*stack)[i];
    const bool is_one_file = before.reference.file->number == behind.reference.file->number;
    if (is_one_file && before.reference.range.EndsBefore(behind.reference.range->start))
      before.fragment_count = behind.fragment_count + 1;
  }
}

bool HasUnfenced(const FamilyList& families) {
  for (uint32_t family_index = 1; family_index <= families.size(); ++family_index) {
    if (families[family_index].unfenced_through > 0) return true;
  }
  return false;
}

uint64_t HeapBytes(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity();
}

// Returns the memory of a tablet's file references, in the view and in the Version.
uint64_t ReferenceBytes(const ViewTablet& tablet) {
  uint64_t bytes = 0;
  for (const ViewReference& reference : tablet.stack) {
    const KeyRange& range = reference.reference.range;
    bytes += sizeof(ViewReference) + sizeof(SstableReference) + HeapBytes(range.start) +
             HeapBytes(range.end);
  }
  return bytes;
}

}  // namespace

void EngineState::TableMemory::AddTo(TableView* table) const {
  table->memtables.clear();
  table->memtables.push_back(active);
  for (auto it = frozen.rbegin(); it != frozen.rend(); ++it)
    table->memtables.push_back(it->memtable);
}

ReadPoint EngineState::TakeReadPoint(int64_t now) const {
  MutexLock lock(mutex_);
  return {.view = view_, .sequence = published_sequence(), .now = now};
}

std::shared_ptr<const ReadView> EngineState::view() const {
  MutexLock lock(mutex_);
  return view_;
}

std::shared_ptr<const Memtable> EngineState::ActiveMemtable(uint32_t table_id) const {
  MutexLock lock(mutex_);
  const auto it = tables_.find(table_id);
  return it == tables_.end() ? nullptr : it->second.active;
}

EngineState::WriteTarget EngineState::TargetOf(uint32_t table_id, uint64_t sequence,
                                               int64_t commit_time) {
  MutexLock lock(mutex_);
  const auto it = tables_.find(table_id);
  if (it == tables_.end()) return {};
  TableMemory& memory = it->second;
  if (!memory.is_written) {
    memory.is_written = true;
    memory.written_since = sequence;
    active_by_age_.insert({sequence, table_id, memory.active.get()});
    NoteInMemoryLocked(table_id);
  }
  memory.active_commit_time = std::max(memory.active_commit_time, commit_time);
  return {memory.active, memory.tablet_writes};
}

std::shared_ptr<Memtable> EngineState::NewMemtable(const FamilyList& families) {
  // A memtable is charged until the last view that shows it is destroyed. Release the charge only
  // after the memory is freed; otherwise the memory could be used twice.
  const auto release = [memory = memory_](Memtable* memtable) {
    const uint64_t bytes = memtable->bytes();
    delete memtable;
    memory->Discharge(MemoryTracker::Use::kMemtables, bytes);
  };
  std::shared_ptr<Memtable> memtable(new Memtable(families), release);
  AddMemtableBytes(memtable->bytes());
  return memtable;
}

std::vector<EngineState::IdleMemtable> EngineState::IdleMemtables(int64_t commit_time_max) const {
  std::vector<IdleMemtable> idle;
  MutexLock lock(mutex_);
  for (const uint32_t table_id : tables_in_memory_) {
    const TableMemory& memory = tables_.at(table_id);
    if (!memory.frozen.empty() || memory.active->empty() ||
        memory.active_commit_time > commit_time_max)
      continue;
    idle.push_back({table_id, memory.active, memory.active->last_sequence()});
  }
  return idle;
}

void EngineState::Freeze(uint32_t table_id) {
  MutexLock lock(mutex_);
  const auto it = tables_.find(table_id);
  if (it == tables_.end() || it->second.active->empty()) return;
  TableMemory& memory = it->second;
  STELE_CHECK(memory.is_written && memory.written_since <= memory.active->first_sequence());
  EndActiveLocked(table_id, &memory);
  AddFrozenLocked(table_id, *memory.active);
  memory.frozen.push_back(
      {.memtable = memory.active, .newest_commit_time = memory.active_commit_time});
  memory.active = NewMemtable(view_->Find(table_id)->definition().families);
  memory.active_commit_time = 0;  // after a correction the clock may be behind earlier commits
  EventCounts::Add(event_counts_.freezes);
  RebuildTableLocked(table_id);
  changed_.SignalAll();
}

void EngineState::ReplaceActiveMemtable(uint32_t table_id) {
  MutexLock lock(mutex_);
  const auto it = tables_.find(table_id);
  if (it == tables_.end()) return;
  STELE_CHECK(it->second.active->empty());
  EndActiveLocked(table_id, &it->second);
  memtable_bytes_.fetch_sub(it->second.active->bytes(), std::memory_order_relaxed);
  it->second.active = NewMemtable(view_->Find(table_id)->definition().families);
  NoteInMemoryLocked(table_id);
  RebuildTableLocked(table_id);
}

// Call after a change of the table's memtables or families.
void EngineState::NoteInMemoryLocked(uint32_t table_id) {
  const TableMemory& memory = tables_[table_id];
  const bool is_in_memory = !memory.frozen.empty() || memory.is_written;
  const auto note = [table_id](bool belongs, std::set<uint32_t>* tables) {
    if (belongs) {
      tables->insert(table_id);
    } else {
      tables->erase(table_id);
    }
  };
  note(is_in_memory, &tables_in_memory_);
  note(is_in_memory && memory.is_unfenced, &unfenced_in_memory_);
}

void EngineState::AddFrozenLocked(uint32_t table_id, const Memtable& frozen) {
  frozen_by_age_.insert(FrozenAge(table_id, frozen));
  frozen_bytes_ += frozen.bytes();
}

void EngineState::RemoveFrozenLocked(uint32_t table_id, const Memtable& frozen) {
  STELE_CHECK(frozen_by_age_.erase(FrozenAge(table_id, frozen)) == 1);
  frozen_bytes_ -= frozen.bytes();
  memtable_bytes_.fetch_sub(frozen.bytes(), std::memory_order_relaxed);
}

void EngineState::EndActiveLocked(uint32_t table_id, TableMemory* memory) {
  const size_t count =
      active_by_age_.erase({memory->written_since, table_id, memory->active.get()});
  STELE_CHECK(count == (memory->is_written ? 1 : 0));
  memory->is_written = false;
}

ViewTablet EngineState::OpenTablet(const Tablet& tablet) {
  ViewTablet open{.range = tablet.range};
  open.stack.reserve(tablet.stack.size());
  for (const SstableReference& reference : tablet.stack) {
    open.stack.push_back({.reference = reference,
                          .file = files_->Open(*reference.file),
                          .narrowed = IsNarrowed(reference)});
  }
  CountFragments(&open.stack);
  open.charge = std::make_shared<const MemoryCharge>(memory_, MemoryTracker::Use::kFiles,
                                                     ReferenceBytes(open));
  return open;
}

// Makes and opens only tablets that the previous view does not have.
EngineState::ChangedTable EngineState::OpenTable(uint32_t table_id,
                                                 const std::shared_ptr<const TableState>& state,
                                                 const TableView* before) {
  ChangedTable changed{
      .table_id = table_id, .state = state, .changes = {}, .tablets = {}, .tablet_writes = nullptr};
  const SharedSequence<Tablet> none;
  if (before != nullptr) changed.tablets = before->tablets;
  const SharedSequence<Tablet>& old = before == nullptr ? none : before->state->tablets;
  for (const auto& difference : SharedSequence<Tablet>::Differences(old, state->tablets)) {
    std::vector<ViewTablet> opened;
    for (size_t i = difference.b_begin; i < difference.b_end; ++i)
      opened.push_back(OpenTablet(state->tablets[i]));
    CarryCounters(changed.tablets.Slice(difference.a_begin, difference.a_end - difference.a_begin),
                  &opened);
    auto& change = changed.changes.emplace_back();
    change.begin = difference.a_begin;
    change.end = difference.a_end;
    for (ViewTablet& tablet : opened)
      change.with.push_back(std::make_shared<const ViewTablet>(std::move(tablet)));
  }
  changed.tablets.Replace(changed.changes);
  auto writes = std::make_shared<TabletWrites>();
  if (const auto known = TabletWritesOf(table_id)) *writes = *known;
  writes->Follow(changed.changes);
  changed.tablet_writes = std::move(writes);
  return changed;
}

std::shared_ptr<const TabletWrites> EngineState::TabletWritesOf(uint32_t table_id) const {
  MutexLock lock(mutex_);
  const auto it = tables_.find(table_id);
  return it == tables_.end() ? nullptr : it->second.tablet_writes;
}

std::vector<EngineState::ChangedTable> EngineState::OpenChanges(const ReadView& before,
                                                                const Version& version) {
  using Tables = std::remove_cvref_t<decltype(version.tables.entries())>;
  const Tables none;
  const Tables& old = before.version == nullptr ? none : before.version->tables.entries();
  std::vector<ChangedTable> changed;
  for (const auto& difference : Tables::Differences(old, version.tables.entries())) {
    for (size_t i = difference.a_begin; i < difference.a_end; ++i) {
      if (!version.tables.contains(old[i].first))
        changed.push_back({.table_id = old[i].first,
                           .state = nullptr,
                           .changes = {},
                           .tablets = {},
                           .tablet_writes = nullptr});
    }
    for (size_t i = difference.b_begin; i < difference.b_end; ++i) {
      const auto& [table_id, state] = version.tables.entries()[i];
      changed.push_back(OpenTable(table_id, state, before.Find(table_id)));
    }
  }
  return changed;
}

void EngineState::PublishTableLocked(ChangedTable changed, ReadView* view) {
  TableMemory& memory = tables_[changed.table_id];
  memory.tablet_writes = std::move(changed.tablet_writes);
  const FamilyList& families = changed.state->definition->families;
  if (memory.active == nullptr) memory.active = NewMemtable(families);
  memory.is_unfenced = HasUnfenced(families);
  NoteInMemoryLocked(changed.table_id);
  TableView table{
      .state = std::move(changed.state), .memtables = {}, .tablets = std::move(changed.tablets)};
  memory.AddTo(&table);
  view->tables.Set(changed.table_id, std::make_shared<const TableView>(std::move(table)));
}

void EngineState::DropTableLocked(uint32_t table_id, ReadView* view) {
  TableMemory& memory = tables_[table_id];
  for (const FrozenMemtable& frozen : memory.frozen) {
    RemoveFrozenLocked(table_id, *frozen.memtable);
    pins_->Retire(table_id, frozen.memtable);
  }
  EndActiveLocked(table_id, &memory);
  memtable_bytes_.fetch_sub(memory.active->bytes(), std::memory_order_relaxed);
  pins_->Retire(table_id, memory.active);
  memory.frozen.clear();
  NoteInMemoryLocked(table_id);
  tables_.erase(table_id);
  view->tables.Erase(table_id);
}

void EngineState::Install(std::shared_ptr<const Version> version, std::optional<Flushed> flushed) {
  const std::shared_ptr<const ReadView> before = view();
  std::vector<ChangedTable> changed = OpenChanges(*before, *version);
  MutexLock lock(mutex_);
  if (flushed) {
    TableMemory& memory = tables_[flushed->table_id];
    std::shared_ptr<const Memtable> oldest;
    do {
      STELE_CHECK(!memory.frozen.empty());
      oldest = std::move(memory.frozen.front().memtable);
      memory.frozen.pop_front();
      RemoveFrozenLocked(flushed->table_id, *oldest);
      pins_->Retire(flushed->table_id, oldest);
    } while (oldest.get() != flushed->memtable);
    NoteInMemoryLocked(flushed->table_id);
  }
  auto next = std::make_shared<ReadView>(*view_);
  next->version = std::move(version);
  for (ChangedTable& table : changed) {
    if (table.state == nullptr) {
      DropTableLocked(table.table_id, next.get());
    } else {
      PublishTableLocked(std::move(table), next.get());
    }
  }
  view_ = std::move(next);
  changed_.SignalAll();
}

// Makes a new view in which the table shows its present memtables.
void EngineState::RebuildTableLocked(uint32_t table_id) {
  const TableView* old_table = view_->Find(table_id);
  if (old_table == nullptr) return;
  auto table = std::make_shared<TableView>(*old_table);
  tables_[table_id].AddTo(table.get());
  auto next = std::make_shared<ReadView>(*view_);
  next->tables.Set(table_id, std::move(table));
  view_ = std::move(next);
}

uint64_t EngineState::FlushedThrough(const std::optional<Flushed>& flushed) const {
  MutexLock lock(mutex_);
  uint64_t through = published_sequence();
  for (const std::set<AgedMemtable>* memtables : {&frozen_by_age_, &active_by_age_}) {
    for (const AgedMemtable& aged : *memtables) {
      if (aged.since > through) break;
      // The leader may be setting the first sequence of an active memtable concurrently. That
      // sequence is above the published one.
      const uint64_t first = aged.memtable->first_sequence();
      const bool is_flushed = flushed.has_value() && aged.table_id == flushed->table_id &&
                              first <= flushed->memtable->first_sequence();
      if (!is_flushed && first > 0) through = std::min(through, first - 1);
    }
  }
  return through;
}

std::optional<uint32_t> EngineState::TableWithOldestActive() const {
  MutexLock lock(mutex_);
  std::optional<uint32_t> oldest_table;
  uint64_t oldest = frozen_by_age_.empty() ? UINT64_MAX : frozen_by_age_.begin()->since;
  for (const AgedMemtable& aged : active_by_age_) {
    if (aged.since >= oldest) break;
    const uint64_t first = aged.memtable->first_sequence();
    if (first == 0 || first >= oldest) continue;
    oldest = first;
    oldest_table = aged.table_id;
  }
  return oldest_table;
}

void EngineState::FreezeLargest(uint64_t active_bytes_max) {
  for (const uint32_t table_id : TablesToFreeze(active_bytes_max)) Freeze(table_id);
}

// Returns the tables with the largest active memtables. All other active memtables together have at
// most `active_bytes_max`.
std::vector<uint32_t> EngineState::TablesToFreeze(uint64_t active_bytes_max) const {
  MutexLock lock(mutex_);
  // The size of the active memtables. Empty ones use memory, too.
  uint64_t total = memtable_bytes();
  total -= std::min(total, frozen_bytes_);
  if (total <= active_bytes_max) return {};
  std::vector<std::pair<uint64_t, uint32_t>> by_size;
  for (const AgedMemtable& aged : active_by_age_) {
    if (!aged.memtable->empty()) by_size.emplace_back(aged.memtable->bytes(), aged.table_id);
  }
  // If memtables have the same size, that of the table with the lowest id comes first.
  const auto is_behind = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  };
  std::make_heap(by_size.begin(), by_size.end(), is_behind);
  std::vector<uint32_t> tables;
  while (total > active_bytes_max && !by_size.empty()) {
    std::pop_heap(by_size.begin(), by_size.end(), is_behind);
    tables.push_back(by_size.back().second);
    total -= std::min(total, by_size.back().first);
    by_size.pop_back();
  }
  return tables;
}

std::shared_ptr<TableCounters> EngineState::Counters(uint32_t table_id) const {
  MutexLock lock(mutex_);
  const auto it = tables_.find(table_id);
  return it == tables_.end() ? std::make_shared<TableCounters>() : it->second.counters;
}

std::optional<FrozenMemtable> EngineState::OldestFrozen(uint32_t table_id) const {
  MutexLock lock(mutex_);
  const std::deque<FrozenMemtable>& frozen = FrozenLocked(table_id);
  return frozen.empty() ? std::nullopt : std::optional(frozen.front());
}

bool EngineState::AddUnreadable(uint64_t file_number, const TabletName& tablet,
                                const absl::Status& why) {
  MutexLock lock(mutex_);
  return unreadable_.Add(file_number, tablet, why, std::chrono::steady_clock::now());
}

void EngineState::ForgetUnreadable(uint64_t file_number) {
  MutexLock lock(mutex_);
  unreadable_.Forget(file_number);
}

FilesByTablet EngineState::UnreadableNow() const {
  MutexLock lock(mutex_);
  return unreadable_.FilesAt(std::chrono::steady_clock::now());
}

namespace {

const std::deque<FrozenMemtable>& NoMemtables() {
  static const std::deque<FrozenMemtable>* const none = new std::deque<FrozenMemtable>();
  return *none;
}
// Initialized before main, since after a fork during the initialization the child would wait
// forever.
[[maybe_unused]] const std::deque<FrozenMemtable>& kEarlyMemtables = NoMemtables();

}  // namespace

const std::deque<FrozenMemtable>& EngineState::FrozenLocked(uint32_t table_id) const {
  const auto it = tables_.find(table_id);
  return it == tables_.end() ? NoMemtables() : it->second.frozen;
}

bool EngineState::IsDrainedLocked() const {
  return std::all_of(tables_.begin(), tables_.end(), [](const auto& table) {
    return table.second.frozen.empty() && !table.second.flush_running;
  });
}

bool EngineState::IsFlushRunningLocked(uint32_t table_id) const {
  const auto it = tables_.find(table_id);
  return it != tables_.end() && it->second.flush_running;
}

void EngineState::SetFlushRunningLocked(uint32_t table_id, bool runs) {
  const auto it = tables_.find(table_id);
  if (it != tables_.end()) it->second.flush_running = runs;
}

}  // namespace stele::internal
