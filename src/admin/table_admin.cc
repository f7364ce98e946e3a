#include "admin/table_admin.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "admin/files_without_rows.h"
#include "base/status.h"
#include "manifest/stack_edits.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

using Parts = TableAdmin::Parts;

absl::StatusOr<const TableState*> FindTable(const Version& version, uint32_t table_id) {
  const auto it = version.tables.find(table_id);
  if (it == version.tables.end()) return NotFound("the table was deleted");
  return it->second.get();
}

std::vector<TabletEdit> TabletsOf(const Schema& schema) {
  std::vector<std::string> splits = schema.splits();
  std::sort(splits.begin(), splits.end());
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  std::vector<TabletEdit> tablets(1);
  for (const std::string& split : splits) {
    tablets.back().range.end = split;
    tablets.push_back({.range = {.start = split}});
  }
  tablets.back().range.unbounded_end = true;
  return tablets;
}

// The effects of a set of family changes.
struct FamilyEffects {
  bool adds = false;
  bool drops = false;
  bool updates = false;
  // A new rule counts versions, and earlier range deletes have no fences for it.
  bool unfences = false;
};

// A table's families while changes are applied one after the other.
class FamilyWorkingSet {
 public:
  // `published` is the last commit before the change.
  FamilyWorkingSet(const TableDefinition& definition, uint32_t next_family_id, uint64_t published)
      : next_family_id_(next_family_id), published_(published) {
    for (uint32_t family_index = 1; family_index <= definition.families.size(); ++family_index) {
      const FamilyEntry& entry = definition.families[family_index];
      families_.push_back({entry, *definition.schema.family(entry.name)});
    }
  }

  absl::Status Apply(const FamilyChange& change) {
    const auto it = std::find_if(families_.begin(), families_.end(), [&](const Member& member) {
      return member.schema.name == change.name();
    });
    const bool found = it != families_.end();
    switch (change.kind()) {
      case FamilyChange::Kind::kCreate:
        if (found) return AlreadyExists("family \"{}\" exists", Printable(change.name()));
        families_.push_back({{.id = kNewFamilyId, .name = change.name()}, change.family()});
        effects_.adds = true;
        return absl::OkStatus();
      case FamilyChange::Kind::kUpdate:
        if (!found) break;
        it->schema.gc = change.family().gc;
        // Range deletes up to here have fences for the previous rule, or none
        // (docs/decisions/0033-a-rule-that-becomes-stricter.md).
        it->entry.unfenced_through = Retention(it->schema.gc).CountsVersions() ? published_ : 0;
        effects_.updates = true;
        effects_.unfences = effects_.unfences || it->entry.unfenced_through > 0;
        return absl::OkStatus();
      case FamilyChange::Kind::kDrop:
        if (!found) break;
        families_.erase(it);
        effects_.drops = true;
        return absl::OkStatus();
    }
    return NotFound("family \"{}\" does not exist", Printable(change.name()));
  }

  // Assigns ids to the families that the call creates, in the order of their names. The ids
  // determine the order of families in a row.
  std::shared_ptr<const TableDefinition> Finish(const TableDefinition& before) {
    std::sort(families_.begin(), families_.end(),
              [](const Member& a, const Member& b) { return a.entry.name < b.entry.name; });
    for (Member& member : families_) {
      if (member.entry.id == kNewFamilyId) member.entry.id = next_family_id_++;
    }
    Schema schema;
    std::vector<FamilyEntry> entries;
    for (const Member& member : families_) {
      schema.AddFamily(member.schema);
      entries.push_back(member.entry);
    }
    schema.SetGranularity(before.schema.granularity())
        .SetCompression(before.schema.compression())
        .SetLimits(before.schema.limits());
    for (const std::string& split : before.schema.splits()) schema.AddSplit(split);
    for (const auto& [property_key, value] : before.schema.properties())
      schema.SetProperty(property_key, value);
    return MakeDefinition(before.id, before.name, before.epoch + 1, schema, entries);
  }

  // Valid after Finish.
  uint32_t next_family_id() const { return next_family_id_; }
  FamilyEffects effects() const { return effects_; }

 private:
  static constexpr uint32_t kNewFamilyId = 0;
  struct Member {
    FamilyEntry entry;
    FamilySchema schema;
  };
  std::vector<Member> families_;
  uint32_t next_family_id_;
  const uint64_t published_;
  FamilyEffects effects_;
};

void NoteEffects(const FamilyEffects& effects, uint32_t table_id, TableChanges* changes) {
  changes->NoteAddition();
  if (effects.drops) changes->NoteFamilies(table_id);
  if (effects.updates) changes->NoteRules(table_id);
}

// Waits for a table's memtables to be flushed. Failures of other background jobs do not end the
// wait.
absl::Status AwaitFlush(const Parts& parts, uint32_t table_id, const std::function<bool()>& done,
                        const WaitLimits& limits = {}) {
  const auto concerns = [table_id](const JobSubject& subject) {
    return subject == JobSubject{.kind = JobSubject::Kind::kFlush, .table_id = table_id};
  };
  return parts.scheduler->WaitUntil(done, concerns, limits);
}

absl::Status AwaitEmptyMemory(const Parts& parts, uint32_t table_id) {
  return AwaitFlush(parts, table_id, [&state = *parts.state, table_id] {
    state.mutex().AssertHeld();
    return state.FrozenLocked(table_id).empty();
  });
}

bool HasRowIn(const Memtable& memtable, const KeyRange& range) {
  return memtable.ContainsRowIn(
      range.start, range.unbounded_end ? std::nullopt : std::optional<std::string_view>(range.end));
}

bool IsInMemory(const TableView& table, const KeyRange& range) {
  return std::any_of(table.memtables.begin(), table.memtables.end(),
                     [&range](const std::shared_ptr<const Memtable>& memtable) {
                       return HasRowIn(*memtable, range);
                     });
}

void FreezeRows(const Parts& parts, uint32_t table_id, const KeyRange& range) {
  const std::shared_ptr<const Memtable> active = parts.state->ActiveMemtable(table_id);
  if (active != nullptr && HasRowIn(*active, range)) parts.state->Freeze(table_id);
}

bool HasRowOutside(const Memtable& memtable, const KeyRange& range) {
  return memtable.ContainsRowIn("", range.start) ||
         (!range.unbounded_end && memtable.ContainsRowIn(range.end, std::nullopt));
}

// Returns the number of memtables, from the oldest on, that have no row outside of the range. A
// drop of the range removes them without a flush.
size_t CountDroppable(const std::deque<FrozenMemtable>& frozen, const KeyRange& range) {
  const auto kept = std::find_if(
      frozen.begin(), frozen.end(),
      [&range](const FrozenMemtable& memory) { return HasRowOutside(*memory.memtable, range); });
  return static_cast<size_t>(kept - frozen.begin());
}

// Waits until no frozen memtable has a row of the range that was committed so far, except those
// that the drop removes. Memtables without such rows stay in memory.
absl::Status AwaitFlushOfRows(const Parts& parts, uint32_t table_id, const KeyRange& range) {
  const uint64_t through = parts.state->published_sequence();
  return AwaitFlush(parts, table_id, [&state = *parts.state, table_id, &range, through] {
    state.mutex().AssertHeld();
    const std::deque<FrozenMemtable>& frozen = state.FrozenLocked(table_id);
    const auto first = frozen.begin() + static_cast<ptrdiff_t>(CountDroppable(frozen, range));
    return std::none_of(first, frozen.end(), [&](const FrozenMemtable& memory) {
      return memory.memtable->first_sequence() <= through && HasRowIn(*memory.memtable, range);
    });
  });
}

// The newest of the memtables that a drop of the range removes. No install may run meanwhile.
std::optional<FrozenMemtable> NewestDroppable(const Parts& parts, uint32_t table_id,
                                              const KeyRange& range) {
  MutexLock lock(parts.state->mutex());
  const std::deque<FrozenMemtable>& frozen = parts.state->FrozenLocked(table_id);
  const size_t count = CountDroppable(frozen, range);
  return count == 0 ? std::nullopt : std::optional(frozen[count - 1]);
}

// Waits until everything that the table's memtables have now is in files. The flush continues after
// `limits` ended the wait.
absl::Status FlushPresent(const Parts& parts, uint32_t table_id, const WaitLimits& limits = {}) {
  const auto freeze = [&]() -> absl::Status {
    if (parts.state->view()->Find(table_id) == nullptr) return NotFound("the table was deleted");
    parts.state->Freeze(table_id);
    return absl::OkStatus();
  };
  STELE_RETURN_IF_ERROR(parts.committer->RunExclusive(freeze, limits));
  const uint64_t through = parts.state->published_sequence();
  const auto is_flushed = [&state = *parts.state, table_id, through] {
    state.mutex().AssertHeld();
    const std::deque<FrozenMemtable>& frozen = state.FrozenLocked(table_id);
    return frozen.empty() || frozen.front().memtable->first_sequence() > through;
  };
  return AwaitFlush(parts, table_id, is_flushed, limits);
}

// Informs the committer that rows changed without a commit, so that a conditional write that read
// one of them before is refused (engine rule 5). If this fails, the database is poisoned: nothing
// is committed any more, and the installed edit remains.
void NoteChangedRows(const Parts& parts, uint32_t table_id, const KeyRange& rows) {
  const absl::Status noted = parts.committer->RunExclusive([&] {
    parts.committer->changes().NoteRows(table_id, rows);
    return absl::OkStatus();
  });
  noted.IgnoreError();
}

// Installs an edit after all memtables of the table were flushed. The table's writes must be paused
// and its memtable frozen.
absl::Status InstallDuringPause(const Parts& parts, uint32_t table_id, const KeyRange& rows,
                                const MakeFlushedEdit& make) {
  STELE_RETURN_IF_ERROR(AwaitEmptyMemory(parts, table_id));
  FlushedPoint point{.commit_time = parts.clock->CommitTime()};
  STELE_RETURN_IF_ERROR(parts.committer->RunExclusive([&] {
    point.sequence = parts.committer->TakeSequence();
    return absl::OkStatus();
  }));
  STELE_RETURN_IF_ERROR(
      parts.installer->Install([&](const Version& version) { return make(version, point); }));
  NoteChangedRows(parts, table_id, rows);
  return absl::OkStatus();
}

// Compacts the tablet that contains the row, and returns its range.
absl::StatusOr<KeyRange> CompactTablet(const Parts& parts, uint32_t table_id,
                                       const std::string& row_key, std::atomic<bool>* stop,
                                       const WaitLimits& limits) {
  STELE_ASSIGN_OR_RETURN(const KeyRange range,
                         parts.scheduler->AcquireTablet(table_id, row_key, stop, limits));
  absl::Status status;
  do {
    const TimedView taken = TakeTimedView(*parts.state, parts.clock, table_id);
    const TableView* table = taken.view->Find(table_id);
    if (table == nullptr) {
      status = NotFound("the table was deleted");
      break;
    }
    const size_t stack_size = table->tablets[TabletIndexOf(*table, row_key)].stack.size();
    if (stack_size == 0) {
      status = absl::OkStatus();  // all of it was dropped
      break;
    }
    const CompactionPick pick{
        .kind = CompactionKind::kMajor,
        .table_id = table_id,
        .subcompactions = {{.tablet = range, .input_begin = 0, .input_end = stack_size}},
        .split_row = "",
        .reason = "asked for",
        .now = taken.now};
    status = parts.jobs->RunPick(JobView(*taken.view, pick), pick, stop);
  } while (status.code() == absl::StatusCode::kAborted);  // its inputs were replaced
  parts.scheduler->ReleaseTablet({table_id, range.start}, stop);
  STELE_RETURN_IF_ERROR(status);
  return range;
}

// Drops the rows of the range. The table's writes must be paused, and its active memtable must have
// no row of the range. So after the flush every committed row of the range is in a file, or in a
// memtable that the edit removes.
absl::Status ExciseDuringPause(const Parts& parts, uint32_t table_id, const KeyRange& range,
                               const FilesWithoutRows& spared) {
  STELE_RETURN_IF_ERROR(AwaitFlushOfRows(parts, table_id, range));
  std::optional<EngineState::Flushed> dropped;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(version, table_id));
    Edit edit;
    edit.last_sequence = parts.state->published_sequence();
    TableEdit table{.table_id = table_id,
                    .tablets = Excise(*state, range, [&spared](const SstableReference& reference) {
                      return spared.Contains(reference);
                    })};
    if (const auto newest = NewestDroppable(parts, table_id, range)) {
      dropped = {.table_id = table_id, .memtable = newest->memtable.get()};
      table.flushed_through = newest->memtable->last_sequence();
    }
    if (dropped.has_value() || !table.tablets.empty()) edit.tables.push_back(std::move(table));
    return edit;
  };
  STELE_RETURN_IF_ERROR(parts.installer->Install(make, dropped));
  NoteChangedRows(parts, table_id, range);
  return absl::OkStatus();
}

absl::Status ExciseRows(const Parts& parts, uint32_t table_id, const KeyRange& range) {
  std::shared_ptr<const ReadView> view = parts.state->view();
  if (view->Find(table_id) == nullptr) return NotFound("the table was deleted");
  // Most of the flush happens before the pause, so the table's writers wait only for the rest. The
  // rest is large if writers just added rows of the range and others to a new memtable: then the
  // older memtables, which need no flush otherwise, are flushed with it.
  if (IsInMemory(*view->Find(table_id), range)) {
    view.reset();
    STELE_RETURN_IF_ERROR(parts.committer->RunExclusive([&] {
      FreezeRows(parts, table_id, range);
      return absl::OkStatus();
    }));
    STELE_RETURN_IF_ERROR(AwaitFlushOfRows(parts, table_id, range));
    view = parts.state->view();
    if (view->Find(table_id) == nullptr) return NotFound("the table was deleted");
  }
  const FilesWithoutRows spared(*view->Find(table_id), range);
  view.reset();
  STELE_RETURN_IF_ERROR(parts.committer->PauseWrites(table_id, [&] {
    FreezeRows(parts, table_id, range);
    return absl::OkStatus();
  }));
  const absl::Status status = ExciseDuringPause(parts, table_id, range, spared);
  parts.committer->ResumeWrites(table_id);
  return status;
}

}  // namespace

absl::StatusOr<uint32_t> TableAdmin::CreateTable(std::string_view name,
                                                 const Schema& schema) const {
  STELE_RETURN_IF_ERROR(parts_.gate->CheckWritable());
  uint32_t table_id = 0;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    if (version.FindTable(name) != nullptr)
      return AlreadyExists("table \"{}\" exists", Printable(name));
    Edit edit;
    table_id = version.next_table_id;
    edit.next_table_id = table_id + 1;
    edit.next_family_id = version.next_family_id;
    std::vector<FamilyEntry> entries;
    for (const FamilySchema& family : schema.families())
      entries.push_back({.id = edit.next_family_id++, .name = family.name});
    edit.tables.push_back(
        {.table_id = table_id,
         .definition = MakeDefinition(table_id, std::string(name), 1, schema, entries),
         .flushed_through = parts_.state->published_sequence(),
         .tablets = TabletsOf(schema)});
    edit.last_sequence = parts_.state->published_sequence();
    return edit;
  };
  // No write can concern the table before the edit is installed, so writers do not wait for it.
  STELE_RETURN_IF_ERROR(parts_.installer->Install(make));
  return table_id;
}

absl::Status TableAdmin::DeleteTable(std::string_view name) const {
  uint32_t table_id = 0;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    const TableState* state = version.FindTable(name);
    if (state == nullptr) return NotFound("table \"{}\" does not exist", Printable(name));
    Edit edit;
    table_id = state->definition->id;
    edit.tables.push_back({.table_id = table_id, .drop = true});
    return edit;
  };
  const auto install = [&] {
    STELE_RETURN_IF_ERROR(parts_.installer->Install(make));
    parts_.committer->changes().Forget(table_id);
    return absl::OkStatus();
  };
  return parts_.gate->RunFreeing([&] { return parts_.committer->RunExclusive(install); });
}

absl::Status TableAdmin::ChangeFamilies(uint32_t table_id,
                                        std::span<const FamilyChange> changes) const {
  FamilyEffects effects;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(version, table_id));
    FamilyWorkingSet working_set(*state->definition, version.next_family_id,
                                 parts_.state->published_sequence());
    for (size_t i = 0; i < changes.size(); ++i) {
      const absl::Status status = working_set.Apply(changes[i]);
      if (!status.ok()) return WithContext(status, fmt::format("change {}", i));
    }
    effects = working_set.effects();
    Edit edit;
    edit.tables.push_back(
        {.table_id = table_id, .definition = working_set.Finish(*state->definition)});
    edit.next_family_id = working_set.next_family_id();
    return edit;
  };
  const auto install = [&] {
    STELE_RETURN_IF_ERROR(parts_.installer->Install(make));
    NoteEffects(effects, table_id, &parts_.committer->changes());
    // A memtable has a fixed set of families. Commits without fences must get into files, where a
    // compaction can see all of them.
    const bool membership_changed = effects.adds || effects.drops;
    if (membership_changed || effects.unfences) parts_.state->Freeze(table_id);
    if (membership_changed) parts_.state->ReplaceActiveMemtable(table_id);
    return absl::OkStatus();
  };
  // Dropping a family or making a rule stricter frees space.
  const bool adds = std::any_of(changes.begin(), changes.end(), [](const FamilyChange& change) {
    return change.kind() == FamilyChange::Kind::kCreate;
  });
  if (!adds)
    return parts_.gate->RunFreeing([&] { return parts_.committer->RunExclusive(install); });
  STELE_RETURN_IF_ERROR(parts_.gate->CheckWritable());
  return parts_.committer->RunExclusive(install);
}

absl::Status TableAdmin::SetTableProperty(uint32_t table_id, const std::string& property_key,
                                          const std::string& value) const {
  STELE_RETURN_IF_ERROR(parts_.gate->CheckWritable());
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(version, table_id));
    TableDefinition definition = *state->definition;
    definition.schema.SetProperty(property_key, value);
    ++definition.epoch;
    Edit edit;
    edit.tables.push_back(
        {.table_id = table_id,
         .definition = std::make_shared<const TableDefinition>(std::move(definition))});
    return edit;
  };
  // Properties do not affect writes, so writers do not wait for the edit.
  return parts_.installer->Install(make);
}

absl::Status TableAdmin::InstallFlushed(uint32_t table_id, const KeyRange& rows,
                                        const MakeFlushedEdit& make) const {
  // Most of the flush happens before, so that the table's writers wait only for the rest.
  STELE_RETURN_IF_ERROR(FlushPresent(parts_, table_id));
  STELE_RETURN_IF_ERROR(parts_.committer->PauseWrites(table_id, [&] {
    parts_.state->Freeze(table_id);
    return absl::OkStatus();
  }));
  const absl::Status status = InstallDuringPause(parts_, table_id, rows, make);
  parts_.committer->ResumeWrites(table_id);
  return status;
}

absl::Status TableAdmin::DropRows(uint32_t table_id, const KeyRange& range) const {
  STELE_RETURN_IF_ERROR(
      parts_.gate->RunFreeing([&] { return ExciseRows(parts_, table_id, range); }));
  parts_.jobs->counters().excisions.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status TableAdmin::FlushTable(uint32_t table_id) const {
  // Also while writes are refused: flushing lets the log release segments.
  STELE_RETURN_IF_ERROR(parts_.open->CheckChangeable());
  return FlushPresent(parts_, table_id);
}

absl::Status TableAdmin::CompactTable(uint32_t table_id, const KeyRange& range,
                                      const CompactOptions& options) const {
  STELE_RETURN_IF_ERROR(parts_.open->CheckChangeable());
  const auto stopped = [this]() -> absl::Status {
    STELE_RETURN_IF_ERROR(parts_.open->CheckOpen());  // stopped by Close, not by the caller
    return Cancelled(
        "the compaction was stopped by its stop token; tablets finished before stay compacted");
  };
  const WaitLimits limits{.stop = options.stop};
  const absl::Status flushed = FlushPresent(parts_, table_id, limits);
  if (absl::IsCancelled(flushed)) return stopped();
  STELE_RETURN_IF_ERROR(flushed);
  std::atomic<bool> stop{false};
  const std::stop_callback on_stop(options.stop,
                                   [&stop] { stop.store(true, std::memory_order_release); });
  // Remember the next row and not the next tablet, since tablets may split and merge meanwhile.
  KeyRange rest = range;
  while (!rest.IsEmpty()) {
    if (options.stop.stop_requested()) return stopped();
    const absl::StatusOr<KeyRange> compacted =
        CompactTablet(parts_, table_id, rest.start, &stop, limits);
    if (absl::IsCancelled(compacted.status())) return stopped();
    STELE_RETURN_IF_ERROR(compacted.status());
    if (compacted->unbounded_end) break;
    rest.start = compacted->end;
  }
  parts_.gate->NoteFreedSpace();
  return absl::OkStatus();
}

}  // namespace stele::internal
