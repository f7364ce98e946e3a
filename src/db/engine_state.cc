#include "db/engine_state.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace stele::internal {
namespace {

bool IsNarrowed(const SstableReference& reference) {
  const SstableSummary& summary = reference.file->summary;
  return !(reference.range.Contains(summary.first_row) && reference.range.Contains(summary.last_row));
}

void CountPieces(std::vector<ViewReference>* stack) {
  for (size_t i = stack->size(); i-- > 1;) {
    ViewReference& before = (*stack)[i - 1];
    const ViewReference& behind = (*stack)[i];
    const bool is_one_file = before.reference.file->number == behind.reference.file->number;
    if (is_one_file && before.reference.range.EndsBefore(behind.reference.range->start)) before.pieces = behind.pieces + 1;
  }
}

uint64_t BytesBeside(const std::string& text) { return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity(); }

// What the references to a table's files take, in the view and in the Version.
uint64_t ReferenceBytes(const std::vector<ViewTablet>& tablets) {
  uint64_t bytes = 0;
  for (const ViewTablet& tablet : tablets) {
    for (const ViewReference& reference : tablet.stack) {
      const KeyRange& range = reference.reference.range;
      bytes += sizeof(ViewReference) + sizeof(SstableReference) + BytesBeside(range.start) + BytesBeside(range.end);
    }
  }
  return bytes;
}

}  // namespace

ReadPoint EngineState::TakeReadPoint(int64_t now) const {
  MutexLock lock(mutex);
  return {.view = view_, .sequence = published_sequence(), .now = now};
}

std::shared_ptr<const ReadView> EngineState::view() const {
  MutexLock lock(mutex);
  return view_;
}

std::shared_ptr<Memtable> EngineState::ActiveMemtable(uint32_t table_id, int64_t commit_time) {
  return TargetOf(table_id, commit_time).memtable;
}

EngineState::WriteTarget EngineState::TargetOf(uint32_t table_id, int64_t commit_time) {
  MutexLock lock(mutex);
  const auto it = tables.find(table_id);
  if (it == tables.end()) return {};
  it->second.active_commit_time = std::max(it->second.active_commit_time, commit_time);
  return {it->second.active, it->second.tablet_writes};
}

std::shared_ptr<Memtable> EngineState::NewMemtable(const FamilyList& families) {
  // Charged until the last view that shows it goes. Only after it is let go: a charge given back too early would be memory twice.
  const auto let_go = [memory = memory_](Memtable* memtable) {
    const uint64_t bytes = memtable->bytes();
    delete memtable;
    memory->Discharge(MemoryBudget::Use::kMemtables, bytes);
  };
  std::shared_ptr<Memtable> memtable(new Memtable(families), let_go);
  AddMemtableBytes(memtable->bytes());
  return memtable;
}

void EngineState::Freeze(uint32_t table_id) {
  MutexLock lock(mutex);
  const auto it = tables.find(table_id);
  if (it == tables.end() || it->second.active->empty()) return;
  TableMemory& memory = it->second;
  memory.frozen.push_back({.memtable = memory.active, .newest_commit_time = memory.active_commit_time});
  memory.active = NewMemtable(view_->Find(table_id)->definition().families);
  EventCounts::Add(event_counts.freezes);
  RebuildTableLocked(table_id);
  changed.SignalAll();
}

void EngineState::RenewActive(uint32_t table_id) {
  MutexLock lock(mutex);
  const auto it = tables.find(table_id);
  if (it == tables.end()) return;
  STELE_CHECK(it->second.active->empty());
  memtable_bytes_.fetch_sub(it->second.active->bytes(), std::memory_order_relaxed);
  it->second.active = NewMemtable(view_->Find(table_id)->definition().families);
  RebuildTableLocked(table_id);
}

std::vector<ViewTablet> EngineState::OpenTablets(const TableState& state, const TableView* before) {
  std::vector<ViewTablet> tablets;
  tablets.reserve(state.tablets.size());
  for (const Tablet& tablet : state.tablets) {
    ViewTablet open{.range = tablet.range};
    for (const SstableReference& reference : tablet.stack) {
      open.stack.push_back({.reference = reference, .file = files_->Open(*reference.file), .narrowed = IsNarrowed(reference)});
    }
    CountPieces(&open.stack);
    tablets.push_back(std::move(open));
  }
  CarryCounters(before == nullptr ? std::vector<ViewTablet>() : before->tablets, &tablets);
  return tablets;
}

void EngineState::Install(std::shared_ptr<const Version> version, std::optional<Flushed> flushed) {
  const std::shared_ptr<const ReadView> before = view();
  std::map<uint32_t, std::shared_ptr<TableView>> opened;  // of tables whose state changed
  for (const auto& [table_id, state] : version->tables) {
    const TableView* old_table = before->Find(table_id);
    if (old_table != nullptr && old_table->state == state) continue;
    auto table = std::make_shared<TableView>(TableView{.state = state, .memtables = {}, .tablets = OpenTablets(*state, old_table)});
    table->charge = std::make_shared<const MemoryCharge>(memory_, MemoryBudget::Use::kFiles, ReferenceBytes(table->tablets));
    opened.emplace(table_id, std::move(table));
  }
  MutexLock lock(mutex);
  auto next = std::make_shared<ReadView>();
  next->version = version;
  for (const auto& [table_id, state] : version->tables) {
    const auto it = opened.find(table_id);
    if (it == opened.end()) {
      next->tables.emplace(table_id, view_->tables.at(table_id));
      continue;
    }
    TableMemory& memory = tables[table_id];
    memory.tablet_writes = std::make_shared<const TabletWrites>(it->second->tablets);
    next->tables.emplace(table_id, it->second);
    if (memory.active == nullptr) memory.active = NewMemtable(state->definition->families);
  }
  view_ = std::move(next);
  if (flushed) {
    TableMemory& memory = tables[flushed->table_id];
    STELE_CHECK(!memory.frozen.empty() && memory.frozen.front().memtable.get() == flushed->memtable);
    memtable_bytes_.fetch_sub(flushed->memtable->bytes(), std::memory_order_relaxed);
    pins_->Retire(flushed->table_id, memory.frozen.front().memtable);
    memory.frozen.pop_front();
  }
  for (auto it = tables.begin(); it != tables.end();) {
    if (version->tables.contains(it->first)) {
      ++it;
      continue;
    }
    it->second.frozen.push_back({.memtable = it->second.active});
    for (const FrozenMemtable& frozen : it->second.frozen) {
      memtable_bytes_.fetch_sub(frozen.memtable->bytes(), std::memory_order_relaxed);
      pins_->Retire(it->first, frozen.memtable);
    }
    it = tables.erase(it);
  }
  for (const auto& [table_id, table] : opened) RebuildTableLocked(table_id);
  changed.SignalAll();
}

// A new view in which the table shows its present memtables.
void EngineState::RebuildTableLocked(uint32_t table_id) {
  const TableView* old_table = view_->Find(table_id);
  if (old_table == nullptr) return;
  const TableMemory& memory = tables[table_id];
  auto table = std::make_shared<TableView>(*old_table);
  table->memtables.clear();
  table->memtables.push_back(memory.active);
  for (auto it = memory.frozen.rbegin(); it != memory.frozen.rend(); ++it) table->memtables.push_back(it->memtable);
  auto next = std::make_shared<ReadView>(*view_);
  next->tables[table_id] = std::move(table);
  view_ = std::move(next);
}

uint64_t EngineState::FlushedThrough(const Memtable* except) const {
  MutexLock lock(mutex);
  uint64_t through = published_sequence();
  const auto cut = [&through, except](const Memtable& memtable) {
    // An active memtable's first sequence may be set by the leader just now: it is above what is published then.
    const uint64_t first = memtable.first_sequence();
    if (&memtable != except && first > 0) through = std::min(through, first - 1);
  };
  for (const auto& [table_id, memory] : tables) {
    cut(*memory.active);
    for (const FrozenMemtable& frozen : memory.frozen) cut(*frozen.memtable);
  }
  return through;
}

std::optional<uint32_t> EngineState::TableWithOldestActive() const {
  MutexLock lock(mutex);
  std::optional<uint32_t> oldest_table;
  uint64_t oldest = UINT64_MAX;
  for (const auto& [table_id, memory] : tables) {
    const Memtable& memtable = memory.frozen.empty() ? *memory.active : *memory.frozen.front().memtable;
    const uint64_t first = memtable.first_sequence();
    if (first == 0 || first >= oldest) continue;
    oldest = first;
    oldest_table = memory.frozen.empty() ? std::optional(table_id) : std::nullopt;
  }
  return oldest_table;
}

void EngineState::Relieve(uint64_t active_bytes_max) {
  while (const std::optional<uint32_t> table_id = TableToRelieve(active_bytes_max)) Freeze(*table_id);
}

// The table with the largest active memtable, if all of them together hold too much.
std::optional<uint32_t> EngineState::TableToRelieve(uint64_t active_bytes_max) const {
  MutexLock lock(mutex);
  std::optional<uint32_t> largest_table;
  uint64_t largest = 0;
  uint64_t total = 0;
  for (const auto& [table_id, memory] : tables) {
    const uint64_t bytes = memory.active->bytes();
    total += bytes;
    if (memory.active->empty() || bytes <= largest) continue;
    largest = bytes;
    largest_table = table_id;
  }
  return total > active_bytes_max ? largest_table : std::nullopt;
}

std::shared_ptr<TableCounters> EngineState::Counters(uint32_t table_id) const {
  MutexLock lock(mutex);
  const auto it = tables.find(table_id);
  return it == tables.end() ? std::make_shared<TableCounters>() : it->second.counters;
}

}  // namespace stele::internal
