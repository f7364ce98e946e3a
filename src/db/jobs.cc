#include "db/jobs.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "compaction/compaction_job.h"
#include "db/engine.h"
#include "flush/flush_job.h"
#include "io/file_names.h"
#include "manifest/stack_edits.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

// A written file that no edit came to reference. After a poisoned install its edit may be durable all the same: then it stays.
void RemoveUnreferenced(Engine& engine, const std::optional<SstableFile>& file) {
  if (!file || !engine.committer->poison().ok()) return;
  engine.options.file_system->Remove(JoinPath(engine.directory, SstableName(file->number))).IgnoreError();
}

bool HasNoFiles(const TableState& state) {
  return std::all_of(state.tablets.begin(), state.tablets.end(), [](const Tablet& tablet) { return tablet.stack.empty(); });
}

absl::StatusOr<const TableState*> FindUnchanged(const Version& version, uint32_t table_id, uint64_t epoch) {
  const auto it = version.tables.find(table_id);
  if (it == version.tables.end()) return Aborted("the table was deleted meanwhile");
  if (it->second->definition->epoch != epoch) return Aborted("the schema changed meanwhile");
  return it->second.get();
}

// A stack that is no longer the one the job read (an excision narrowed it) is no failure of the job: it is thrown away, and chosen anew.
absl::StatusOr<TabletEdit> OrDiscard(absl::StatusOr<TabletEdit> tablet_edit) {
  if (!absl::IsFailedPrecondition(tablet_edit.status())) return tablet_edit;
  return Aborted("{}", ToStd(tablet_edit.status().message()));
}

absl::StatusOr<CompactionInput> PlanCompaction(Engine& engine, const ReadView& view, const Choice& choice, const std::atomic<bool>* stop) {
  const TableView* table = view.Find(choice.table_id);
  if (table == nullptr) return Aborted("the table was deleted meanwhile");
  const ChoiceSlice& slice = choice.slices.front();
  const ViewTablet& tablet = table->tablets[TabletIndexOf(*table, slice.tablet.start)];
  if (tablet.range != slice.tablet || slice.input_end > tablet.stack.size() || slice.input_begin >= slice.input_end) {
    return Aborted("the stack changed meanwhile");
  }
  CompactionInput input{.file_system = engine.options.file_system,
                        .directory = engine.directory,
                        .file_number = engine.NewFileNumber(),
                        .file_id = RandomSeed(),
                        .definition = table->state->definition,
                        .range = tablet.range,
                        .reaches_end = slice.input_end == tablet.stack.size(),
                        .now = engine.clock.Now(),
                        .row_group_bytes = engine.options.sizes.row_group_bytes,
                        .stop = stop};
  for (size_t i = slice.input_begin; i < slice.input_end; ++i) {
    const ViewReference& reference = tablet.stack[i];
    if (reference.file->reader() == nullptr) return reference.file->open_status();
    input.inputs.push_back(reference.reference);
    input.readers.push_back(reference.file->reader());
  }
  return input;
}

// A split or a merge of tablets: one edit, made from the tablets as they are at install. No job runs on them, for they are busy (engine
// rule 17), but a flush or an excision may have come since the choice was made.
absl::Status ChangeTablets(Engine& engine, const Choice& choice, JobCounters& counters) {
  const bool splits = choice.kind == ChoiceKind::kSplitTablet;
  std::string table_name;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    const auto it = version.tables.find(choice.table_id);
    if (it == version.tables.end()) return Aborted("the table was deleted meanwhile");
    table_name = it->second->definition->name;
    std::vector<Tablet> tablets;
    for (const ChoiceSlice& slice : choice.slices) {
      const Tablet* tablet = it->second->FindTablet(slice.tablet);
      if (tablet == nullptr) return Aborted("tablet {} is not there any more", RangeText(slice.tablet));
      tablets.push_back(*tablet);
    }
    Edit edit;
    TableEdit& table_edit = edit.tables.emplace_back(TableEdit{.table_id = choice.table_id});
    if (splits) {
      STELE_ASSIGN_OR_RETURN(table_edit.tablets, SplitTablet(tablets.front(), choice.split_row));
    } else {
      STELE_ASSIGN_OR_RETURN(table_edit.tablets.emplace_back(), MergeTablets(tablets));
    }
    return edit;
  };
  STELE_RETURN_IF_ERROR(engine.installer->Install(make));
  (splits ? counters.tablet_splits : counters.tablet_merges).fetch_add(1, std::memory_order_relaxed);
  const std::string rows = RangeText(choice.slices.front().tablet);
  engine.events.Report(
      splits ? Event::Kind::kTabletSplit : Event::Kind::kTabletMerge,
      splits ? fmt::format("table {}: tablet {} split at \"{}\" ({})", table_name, rows, Printable(choice.split_row), choice.reason)
             : fmt::format("table {}: tablet {} merged with {} behind it ({})", table_name, rows, choice.slices.size() - 1, choice.reason));
  return absl::OkStatus();
}

absl::Status DropFiles(Engine& engine, const ReadView& view, const Choice& choice) {
  const TableView* table = view.Find(choice.table_id);
  if (table == nullptr) return Aborted("the table was deleted meanwhile");
  const ChoiceSlice& slice = choice.slices.front();
  const Tablet* tablet = table->state->FindTablet(slice.tablet);
  if (tablet == nullptr || slice.input_end > tablet->stack.size()) return Aborted("the stack changed meanwhile");
  const std::vector<SstableReference> inputs(tablet->stack.begin() + static_cast<ptrdiff_t>(slice.input_begin),
                                             tablet->stack.begin() + static_cast<ptrdiff_t>(slice.input_end));
  const uint64_t epoch = table->definition().epoch;
  return engine.installer->Install([&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindUnchanged(version, choice.table_id, epoch));
    STELE_ASSIGN_OR_RETURN(TabletEdit tablet_edit, OrDiscard(InstallDrop(*state, slice.tablet, inputs)));
    Edit edit;
    edit.tables.push_back({.table_id = choice.table_id, .tablets = {std::move(tablet_edit)}});
    return edit;
  });
}

}  // namespace

absl::Status FlushOldestMemtable(Engine& engine, uint32_t table_id, JobCounters& counters) {
  FrozenMemtable frozen;
  {
    MutexLock lock(engine.state.mutex);
    const auto it = engine.state.tables.find(table_id);
    if (it == engine.state.tables.end() || it->second.frozen.empty()) return absl::OkStatus();
    frozen = it->second.frozen.front();
  }
  const std::shared_ptr<const ReadView> view = engine.state.view();
  const TableView* table = view->Find(table_id);
  if (table == nullptr) return absl::OkStatus();
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const TableDefinition> definition = table->state->definition;
  const FlushInput input{.file_system = engine.options.file_system,
                         .directory = engine.directory,
                         .file_number = engine.NewFileNumber(),
                         .file_id = RandomSeed(),
                         .memtable = frozen.memtable.get(),
                         .definition = definition,
                         .now = engine.clock.Now(),
                         .newest_commit_time = frozen.newest_commit_time,
                         .reaches_end = HasNoFiles(*table->state),
                         .row_group_bytes = engine.options.sizes.row_group_bytes,
                         .stop = engine.background->stop_flag()};
  STELE_ASSIGN_OR_RETURN(const FlushOutput output, RunFlush(input));
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindUnchanged(version, table_id, definition->epoch));
    const uint64_t last = frozen.memtable->last_sequence();
    Edit edit;
    edit.last_sequence = last;
    TableEdit table_edit{.table_id = table_id, .flushed_through = last};
    if (output.file) {
      edit.new_files.push_back(*output.file);
      table_edit.tablets = InstallFlush(*state, *output.file, frozen.memtable->first_sequence(), last);
    }
    edit.tables.push_back(std::move(table_edit));
    return edit;
  };
  const absl::Status status =
      engine.installer->Install(make, EngineState::Flushed{.table_id = table_id, .memtable = frozen.memtable.get()});
  if (!status.ok()) {
    RemoveUnreferenced(engine, output.file);
    return status;
  }
  const uint64_t bytes = output.file ? output.file->summary.file_bytes : 0;
  engine.throttle.Drained(frozen.memtable->bytes(), std::chrono::steady_clock::now() - start);
  counters.flushes.fetch_add(1, std::memory_order_relaxed);
  counters.bytes_flushed.fetch_add(bytes, std::memory_order_relaxed);
  engine.events.Report(
      Event::Kind::kFlush,
      fmt::format("table {}: {} cells of a memtable written as {} bytes", definition->name, frozen.memtable->cell_count(), bytes), bytes);
  return absl::OkStatus();
}

absl::Status RunChoice(Engine& engine, const std::shared_ptr<const ReadView>& view, const Choice& choice, const std::atomic<bool>* stop,
                       JobCounters& counters) {
  switch (choice.kind) {
    case ChoiceKind::kDropFiles:
      return DropFiles(engine, *view, choice);
    case ChoiceKind::kSplitTablet:
    case ChoiceKind::kMergeTablets:
      return ChangeTablets(engine, choice, counters);
    case ChoiceKind::kMerge:
    case ChoiceKind::kMajor:
      break;
  }
  STELE_ASSIGN_OR_RETURN(const CompactionInput input, PlanCompaction(engine, *view, choice, stop));
  STELE_ASSIGN_OR_RETURN(const CompactionOutput output, RunCompaction(input));
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindUnchanged(version, choice.table_id, input.definition->epoch));
    STELE_ASSIGN_OR_RETURN(TabletEdit tablet_edit, OrDiscard(InstallCompaction(*state, input.range, input.inputs, output.file)));
    Edit edit;
    if (output.file) edit.new_files.push_back(*output.file);
    edit.tables.push_back({.table_id = choice.table_id, .tablets = {std::move(tablet_edit)}});
    return edit;
  };
  if (absl::Status status = engine.installer->Install(make); !status.ok()) {
    RemoveUnreferenced(engine, output.file);
    return status;
  }
  const uint64_t bytes = output.file ? output.file->summary.file_bytes : 0;
  counters.compactions.fetch_add(1, std::memory_order_relaxed);
  counters.bytes_compacted.fetch_add(bytes, std::memory_order_relaxed);
  engine.events.Report(Event::Kind::kCompaction,
                       fmt::format("table {}: {} SSTables merged into {} bytes, {} cells condemned ({})", input.definition->name,
                                   input.inputs.size(), bytes, output.retention.cells_condemned, choice.reason),
                       bytes);
  return absl::OkStatus();
}

}  // namespace stele::internal
