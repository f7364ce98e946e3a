#include "db/schema_change.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "db/spared_files.h"
#include "manifest/stack_edits.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

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

// What a set of family changes does.
struct FamilyEffects {
  bool adds = false;
  bool drops = false;
  bool updates = false;
  bool unseals = false;  // a new rule counts versions, and ranged deletes of before are not sealed for it
};

// A table's families while changes are applied one after the other.
class FamilyWorkingSet {
 public:
  // `published`: the last commit before the change.
  FamilyWorkingSet(const TableDefinition& definition, uint32_t next_family_id, uint64_t published)
      : next_family_id_(next_family_id), published_(published) {
    for (uint32_t rank = 1; rank <= definition.families.size(); ++rank) {
      const FamilyEntry& entry = definition.families[rank];
      families_.push_back({entry, *definition.schema.family(entry.name)});
    }
  }

  absl::Status Apply(const FamilyChange& change) {
    const auto it =
        std::find_if(families_.begin(), families_.end(), [&](const Member& member) { return member.schema.name == change.name(); });
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
        // Deletes up to here were sealed for the rule before, or not at all (docs/decisions/0033-a-rule-that-becomes-stricter.md).
        it->entry.unsealed_through = Retention(it->schema.gc).CountsVersions() ? published_ : 0;
        effects_.updates = true;
        effects_.unseals = effects_.unseals || it->entry.unsealed_through > 0;
        return absl::OkStatus();
      case FamilyChange::Kind::kDrop:
        if (!found) break;
        families_.erase(it);
        effects_.drops = true;
        return absl::OkStatus();
    }
    return NotFound("family \"{}\" does not exist", Printable(change.name()));
  }

  // Families that one call creates get their ids, and so their places in a row, by name.
  std::shared_ptr<const TableDefinition> Finish(const TableDefinition& before) {
    std::sort(families_.begin(), families_.end(), [](const Member& a, const Member& b) { return a.entry.name < b.entry.name; });
    for (Member& member : families_) {
      if (member.entry.id == kNewFamilyId) member.entry.id = next_family_id_++;
    }
    Schema schema;
    std::vector<FamilyEntry> entries;
    for (const Member& member : families_) {
      schema.AddFamily(member.schema);
      entries.push_back(member.entry);
    }
    schema.SetGranularity(before.schema.granularity()).SetCompression(before.schema.compression()).SetLimits(before.schema.limits());
    for (const std::string& split : before.schema.splits()) schema.AddSplit(split);
    for (const auto& [property_key, value] : before.schema.properties()) schema.SetProperty(property_key, value);
    return MakeDefinition(before.id, before.name, before.epoch + 1, schema, entries);
  }

  // After Finish.
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

// A wait for a table's memtables to be flushed: no other job of the background concerns it.
absl::Status AwaitFlush(Engine& engine, uint32_t table_id, const std::function<bool()>& done) {
  return engine.background->WaitUntil(done, [table_id](const JobSubject& subject) {
    return subject == JobSubject{.kind = JobSubject::Kind::kFlush, .table_id = table_id};
  });
}

absl::Status AwaitEmptyMemory(Engine& engine, uint32_t table_id) {
  return AwaitFlush(engine, table_id, [&engine, table_id] {
    engine.state.mutex.AssertHeld();
    const auto it = engine.state.tables.find(table_id);
    return it == engine.state.tables.end() || it->second.frozen.empty();
  });
}

bool HasRowIn(const Memtable& memtable, const KeyRange& range) {
  return memtable.ContainsRowIn(range.start, range.unbounded_end ? std::nullopt : std::optional<std::string_view>(range.end));
}

bool IsInMemory(const TableView& table, const KeyRange& range) {
  return std::any_of(table.memtables.begin(), table.memtables.end(),
                     [&range](const std::shared_ptr<const Memtable>& memtable) { return HasRowIn(*memtable, range); });
}

void FreezeRows(Engine& engine, uint32_t table_id, const KeyRange& range) {
  const std::shared_ptr<Memtable> active = engine.state.ActiveMemtable(table_id, 0);
  if (active != nullptr && HasRowIn(*active, range)) engine.state.Freeze(table_id);
}

// Waits until no frozen memtable has a row of the range that was committed so far. What has none
// stays in memory.
absl::Status AwaitFlushOfRows(Engine& engine, uint32_t table_id, const KeyRange& range) {
  const uint64_t through = engine.state.published_sequence();
  return AwaitFlush(engine, table_id, [&engine, table_id, &range, through] {
    engine.state.mutex.AssertHeld();
    const auto it = engine.state.tables.find(table_id);
    return it == engine.state.tables.end() ||
           std::none_of(it->second.frozen.begin(), it->second.frozen.end(), [&](const FrozenMemtable& frozen) {
             return frozen.memtable->first_sequence() <= through && HasRowIn(*frozen.memtable, range);
           });
  });
}

// Until all that the table's memtables hold now is in files.
absl::Status FlushPresent(Engine& engine, uint32_t table_id) {
  STELE_RETURN_IF_ERROR(engine.committer->RunExclusive([&]() -> absl::Status {
    if (engine.state.view()->Find(table_id) == nullptr) return NotFound("the table was deleted");
    engine.state.Freeze(table_id);
    return absl::OkStatus();
  }));
  const uint64_t through = engine.state.published_sequence();
  return AwaitFlush(engine, table_id, [&engine, table_id, through] {
    engine.state.mutex.AssertHeld();
    const auto it = engine.state.tables.find(table_id);
    if (it == engine.state.tables.end() || it->second.frozen.empty()) return true;
    return it->second.frozen.front().memtable->first_sequence() > through;
  });
}

// The table is held and its memtable frozen.
absl::Status InstallOverHeld(Engine& engine, uint32_t table_id, const KeyRange& rows, const MakeFlushedEdit& make) {
  STELE_RETURN_IF_ERROR(AwaitEmptyMemory(engine, table_id));
  FlushedMoment moment{.now = engine.clock.Now()};
  STELE_RETURN_IF_ERROR(engine.committer->RunExclusive([&] {
    moment.sequence = engine.committer->TakeSequence();
    return absl::OkStatus();
  }));
  STELE_RETURN_IF_ERROR(engine.installer->Install([&](const Version& version) { return make(version, moment); }));
  // Rows changed without a commit of their own: a conditional write that read one of them before begins again (engine rule 5).
  // If this fails, nothing is committed any more, and the edit stands.
  const absl::Status noted = engine.committer->RunExclusive([&] {
    engine.committer->changes().NoteRows(table_id, rows);
    return absl::OkStatus();
  });
  noted.IgnoreError();
  return absl::OkStatus();
}

// Compacts the tablet that holds the row, and answers its range.
absl::StatusOr<KeyRange> CompactTablet(Engine& engine, uint32_t table_id, const std::string& row_key, std::atomic<bool>* stop) {
  STELE_ASSIGN_OR_RETURN(const KeyRange range, engine.background->ClaimTablet(table_id, row_key, stop));
  absl::Status status;
  do {
    const int64_t now = engine.clock.Now();
    std::shared_ptr<const ReadView> view = engine.state.view();
    const TableView* table = view->Find(table_id);
    if (table == nullptr) {
      status = NotFound("the table was deleted");
      break;
    }
    const size_t stack_size = table->tablets[TabletIndexOf(*table, row_key)].stack.size();
    if (stack_size == 0) {
      status = absl::OkStatus();  // all of it was dropped
      break;
    }
    const Choice choice{.kind = ChoiceKind::kMajor,
                        .table_id = table_id,
                        .slices = {{.tablet = range, .input_begin = 0, .input_end = stack_size}},
                        .split_row = "",
                        .reason = "asked for",
                        .now = now};
    view = JobView(*view, choice);
    status = RunChoice(engine, view, choice, stop, engine.background->counters());
  } while (status.code() == absl::StatusCode::kAborted);  // its inputs were replaced
  engine.background->ReleaseTablet({table_id, range.start}, stop);
  STELE_RETURN_IF_ERROR(status);
  return range;
}

absl::Status TakeOutRows(Engine& engine, uint32_t table_id, const KeyRange& range) {
  std::shared_ptr<const ReadView> view = engine.state.view();
  if (view->Find(table_id) == nullptr) return NotFound("the table was deleted");
  // What takes long happens before the section, so that writers wait only for the rest.
  if (IsInMemory(*view->Find(table_id), range)) {
    view.reset();
    STELE_RETURN_IF_ERROR(engine.committer->RunExclusive([&] {
      FreezeRows(engine, table_id, range);
      return absl::OkStatus();
    }));
    STELE_RETURN_IF_ERROR(AwaitFlushOfRows(engine, table_id, range));
    view = engine.state.view();
    if (view->Find(table_id) == nullptr) return NotFound("the table was deleted");
  }
  const SparedFiles spared(*view->Find(table_id), range);
  view.reset();
  return engine.committer->RunExclusive([&] {
    FreezeRows(engine, table_id, range);
    STELE_RETURN_IF_ERROR(AwaitFlushOfRows(engine, table_id, range));
    STELE_RETURN_IF_ERROR(engine.installer->Install([&](const Version& version) -> absl::StatusOr<Edit> {
      STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(version, table_id));
      Edit edit;
      edit.last_sequence = engine.state.published_sequence();
      std::vector<TabletEdit> tablets =
          Excise(*state, range, [&spared](const SstableReference& reference) { return spared.Contains(reference); });
      if (!tablets.empty()) edit.tables.push_back({.table_id = table_id, .tablets = std::move(tablets)});
      return edit;
    }));
    // As of a load: see InstallOverHeld.
    engine.committer->changes().NoteRows(table_id, range);
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<uint32_t> CreateTable(Engine& engine, std::string_view name, const Schema& schema) {
  STELE_RETURN_IF_ERROR(engine.CheckWritable());
  uint32_t table_id = 0;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    if (version.FindTable(name) != nullptr) return AlreadyExists("table \"{}\" exists", Printable(name));
    Edit edit;
    table_id = version.next_table_id;
    edit.next_table_id = table_id + 1;
    edit.next_family_id = version.next_family_id;
    std::vector<FamilyEntry> entries;
    for (const FamilySchema& family : schema.families()) entries.push_back({.id = edit.next_family_id++, .name = family.name});
    edit.tables.push_back({.table_id = table_id,
                           .definition = MakeDefinition(table_id, std::string(name), 1, schema, entries),
                           .flushed_through = engine.state.published_sequence(),
                           .tablets = TabletsOf(schema)});
    edit.last_sequence = engine.state.published_sequence();
    return edit;
  };
  // No write can concern the table before the edit is installed, so writers do not wait for it.
  STELE_RETURN_IF_ERROR(engine.installer->Install(make));
  return table_id;
}

absl::Status DeleteTable(Engine& engine, std::string_view name) {
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
    STELE_RETURN_IF_ERROR(engine.installer->Install(make));
    engine.committer->changes().Forget(table_id);
    return absl::OkStatus();
  };
  return engine.RunFreeing([&] { return engine.committer->RunExclusive(install); });
}

absl::Status ChangeFamilies(Engine& engine, uint32_t table_id, std::span<const FamilyChange> changes) {
  FamilyEffects effects;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(version, table_id));
    FamilyWorkingSet working_set(*state->definition, version.next_family_id, engine.state.published_sequence());
    for (size_t i = 0; i < changes.size(); ++i) {
      const absl::Status status = working_set.Apply(changes[i]);
      if (!status.ok()) return WithContext(status, fmt::format("change {}", i));
    }
    effects = working_set.effects();
    Edit edit;
    edit.tables.push_back({.table_id = table_id, .definition = working_set.Finish(*state->definition)});
    edit.next_family_id = working_set.next_family_id();
    return edit;
  };
  const auto install = [&] {
    STELE_RETURN_IF_ERROR(engine.installer->Install(make));
    NoteEffects(effects, table_id, &engine.committer->changes());
    // A memtable knows a fixed set of families; and what was not sealed is to come into files, where a compaction may have all of it.
    const bool membership_changed = effects.adds || effects.drops;
    if (membership_changed || effects.unseals) engine.state.Freeze(table_id);
    if (membership_changed) engine.state.RenewActive(table_id);
    return absl::OkStatus();
  };
  // A family that goes, or a rule that is tighter, frees space.
  const bool adds =
      std::any_of(changes.begin(), changes.end(), [](const FamilyChange& change) { return change.kind() == FamilyChange::Kind::kCreate; });
  if (!adds) return engine.RunFreeing([&] { return engine.committer->RunExclusive(install); });
  STELE_RETURN_IF_ERROR(engine.CheckWritable());
  return engine.committer->RunExclusive(install);
}

absl::Status SetTableProperty(Engine& engine, uint32_t table_id, const std::string& property_key, const std::string& value) {
  STELE_RETURN_IF_ERROR(engine.CheckWritable());
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(version, table_id));
    TableDefinition definition = *state->definition;
    definition.schema.SetProperty(property_key, value);
    ++definition.epoch;
    Edit edit;
    edit.tables.push_back({.table_id = table_id, .definition = std::make_shared<const TableDefinition>(std::move(definition))});
    return edit;
  };
  // No write goes by a property, so writers do not wait for the edit.
  return engine.installer->Install(make);
}

absl::Status InstallFlushed(Engine& engine, uint32_t table_id, const KeyRange& rows, const MakeFlushedEdit& make) {
  // Most of the flush happens before, so that the table's writers wait only for the rest.
  STELE_RETURN_IF_ERROR(FlushPresent(engine, table_id));
  STELE_RETURN_IF_ERROR(engine.committer->Hold(table_id, [&] {
    engine.state.Freeze(table_id);
    return absl::OkStatus();
  }));
  const absl::Status status = InstallOverHeld(engine, table_id, rows, make);
  engine.committer->Release(table_id);
  return status;
}

absl::Status DropRows(Engine& engine, uint32_t table_id, const KeyRange& range) {
  STELE_RETURN_IF_ERROR(engine.RunFreeing([&] { return TakeOutRows(engine, table_id, range); }));
  engine.background->counters().excisions.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status FlushTable(Engine& engine, uint32_t table_id) {
  STELE_RETURN_IF_ERROR(engine.CheckChangeable());  // also while writes are refused: the log lets go of what is flushed
  return FlushPresent(engine, table_id);
}

absl::Status CompactTable(Engine& engine, uint32_t table_id, const KeyRange& range, const CompactOptions& options) {
  STELE_RETURN_IF_ERROR(FlushTable(engine, table_id));
  std::atomic<bool> stop{false};
  const std::stop_callback on_stop(options.stop, [&stop] { stop.store(true, std::memory_order_release); });
  // By rows and not by tablets: these may split and merge meanwhile.
  KeyRange rest = range;
  while (!rest.IsEmpty()) {
    if (options.stop.stop_requested())
      return Cancelled("the compaction was stopped by its stop token; tablets finished before stay compacted");
    const absl::StatusOr<KeyRange> compacted = CompactTablet(engine, table_id, rest.start, &stop);
    if (absl::IsCancelled(compacted.status())) STELE_RETURN_IF_ERROR(engine.CheckOpen());  // stopped by Close, not by the caller
    STELE_RETURN_IF_ERROR(compacted.status());
    if (compacted->unbounded_end) break;
    rest.start = compacted->end;
  }
  engine.NoteFreedSpace();
  return absl::OkStatus();
}

}  // namespace stele::internal
