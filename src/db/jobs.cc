#include "db/jobs.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "compaction/compaction_job.h"
#include "compaction/stack_shape.h"
#include "db/engine.h"
#include "db/unsealed_deletes.h"
#include "flush/flush_job.h"
#include "io/file_names.h"
#include "manifest/stack_edits.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

// A written file that no edit came to reference. After a poisoned install its edit may be durable all the same: then it stays.
void RemoveUnreferenced(Engine& engine, const std::optional<SstableFile>& file) {
  if (!file || !engine.committer->poison().ok()) return;
  engine.file_system->Remove(JoinPath(engine.directory, SstableName(file->number))).IgnoreError();
}

bool HasNoFiles(const TableState& state) {
  return std::all_of(state.tablets.begin(), state.tablets.end(), [](const Tablet& tablet) { return tablet.stack.empty(); });
}

// A job installs its result also after the schema changed. What it dropped was garbage under the rule of a time before the change (it took
// the time before the schema); families are known by ids, which are never reused (engine rules 6 and 10).
absl::StatusOr<const TableState*> FindTable(Engine& engine, const Version& version, const TableDefinition& definition) {
  const auto it = version.tables.find(definition.id);
  if (it == version.tables.end()) return Aborted("the table was deleted meanwhile");
  if (it->second->definition->epoch != definition.epoch) EventCounts::Add(engine.state.event_counts.jobs_over_changes);
  return it->second.get();
}

// A stack in which the job's inputs were replaced is no failure of the job: its result is
// discarded, and it is chosen again if it is still due.
absl::StatusOr<TabletEdit> OrDiscard(absl::StatusOr<TabletEdit> tablet_edit) {
  if (!absl::IsFailedPrecondition(tablet_edit.status())) return tablet_edit;
  return Aborted("{}", ToStd(tablet_edit.status().message()));
}

// The slice's tablet as it was when it was chosen; null when the choice does not fit it.
const Tablet* FindSlice(const TableView& table, const ChoiceSlice& slice) {
  const Tablet* tablet = table.state->FindTablet(slice.tablet);
  return tablet != nullptr && slice.input_begin < slice.input_end && slice.input_end <= tablet->stack.size() ? tablet : nullptr;
}

std::vector<SstableReference> InputsOf(const Tablet& tablet, const ChoiceSlice& slice) {
  return {tablet.stack.begin() + static_cast<ptrdiff_t>(slice.input_begin), tablet.stack.begin() + static_cast<ptrdiff_t>(slice.input_end)};
}

// Where a compaction notes which of its inputs it could not read.
class UnreadableInputs {
 public:
  UnreadableInputs(Engine& engine, const Choice& choice) : engine_(engine), choice_(choice) {}

  void Add(size_t slice, uint64_t file_number, const absl::Status& why) {
    const TabletName tablet{choice_.table_id, choice_.slices[slice].tablet.start};
    MutexLock lock(engine_.state.mutex);
    any_ = engine_.state.unreadable.Add(file_number, tablet, why, std::chrono::steady_clock::now()) || any_;
  }
  // After a job that ended with `status`. Damage that no input owns up to is taken for that of all.
  void Finish(const absl::Status& status, const CompactionInput& input) {
    if (absl::IsDataLoss(status) && !any_) {
      for (size_t i = 0; i < input.slices.size(); ++i) {
        for (const SstableReference& reference : input.slices[i].inputs) Add(i, reference.file->number, status);
      }
    }
    if (any_) engine_.installer->CountDebt();
  }

 private:
  Engine& engine_;
  const Choice& choice_;
  bool any_ = false;
};

absl::StatusOr<CompactionSlice> PlanSlice(const TableView& table, const TableView& now, const Choice& choice, size_t slice_index,
                                          UnreadableInputs* unreadable) {
  const ChoiceSlice& slice = choice.slices[slice_index];
  const Tablet* tablet = FindSlice(table, slice);
  if (tablet == nullptr) return Aborted("the stack changed meanwhile");
  CompactionSlice planned{.inputs = InputsOf(*tablet, slice),
                          .readers = {},
                          .range = tablet->range,
                          .reaches_end = ReachesEnd(*tablet, slice.input_begin, slice.input_end)};
  planned.newer_since = OldestCommitAbove(now, tablet->range, planned.inputs);
  const ViewTablet& open = table.tablets[TabletIndexOf(table, slice.tablet.start)];
  for (size_t i = slice.input_begin; i < slice.input_end; ++i) {
    const ViewReference& reference = open.stack[i];
    if (reference.file->reader() == nullptr) {
      const absl::Status why = reference.file->open_status();
      unreadable->Add(slice_index, planned.inputs[i - slice.input_begin].file->number, why);
      return why;
    }
    planned.readers.push_back(reference.file->reader());
  }
  return planned;
}

// Rows that came in order are compressed as those of a bulk load are: half the time for a tenth more bytes (docs/decisions/0019).
ZstdEffort EffortOf(const Choice& choice) { return choice.kind == ChoiceKind::kSettle ? ZstdEffort::kQuick : ZstdEffort::kThorough; }

// Others may have taken the space that there was when the job began.
absl::Status CheckRoomForFlushes(Engine& engine) {
  const uint64_t free_bytes = engine.reserve.FreeBytes();
  const uint64_t unflushed_bytes = engine.state.memtable_bytes();
  if (free_bytes >= unflushed_bytes) return absl::OkStatus();
  return ResourceExhausted("a compaction was given up: {} bytes are free on the disk, and {} in memory are to be flushed; make room",
                           free_bytes, unflushed_bytes);
}

absl::StatusOr<CompactionInput> PlanCompaction(Engine& engine, const ReadView& view, const Choice& choice, const std::atomic<bool>* stop,
                                               UnreadableInputs* unreadable) {
  const TableView* table = view.Find(choice.table_id);
  const std::shared_ptr<const ReadView> view_now = engine.state.view();
  const TableView* table_now = view_now->Find(choice.table_id);
  if (table == nullptr || table_now == nullptr) return Aborted("the table was deleted meanwhile");
  CompactionInput input{.file_system = engine.file_system,
                        .directory = engine.directory,
                        .file_number = engine.NewFileNumber(),
                        .file_id = RandomSeed(),
                        .definition = table->state->definition,
                        .now = choice.now,
                        .row_group_bytes = engine.options.sizes.row_group_bytes,
                        .zstd_effort = EffortOf(choice),
                        .budget = &engine.memory,
                        .stop = stop};
  input.on_progress = [&engine](uint64_t /*bytes_written*/) { return CheckRoomForFlushes(engine); };
  input.on_unreadable = [unreadable](size_t slice, uint64_t number, const absl::Status& why) { unreadable->Add(slice, number, why); };
  for (size_t i = 0; i < choice.slices.size(); ++i) {
    STELE_ASSIGN_OR_RETURN(CompactionSlice planned, PlanSlice(*table, *table_now, choice, i, unreadable));
    input.slices.push_back(std::move(planned));
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

// A change of the tablet's stack alone.
using EditStack = absl::StatusOr<TabletEdit> (*)(const TableState&, const KeyRange&, std::span<const SstableReference>);

absl::Status ChangeStack(Engine& engine, const ReadView& view, const Choice& choice, EditStack edit_stack) {
  const TableView* table = view.Find(choice.table_id);
  if (table == nullptr) return Aborted("the table was deleted meanwhile");
  const ChoiceSlice& slice = choice.slices.front();
  const Tablet* tablet = FindSlice(*table, slice);
  if (tablet == nullptr) return Aborted("the stack changed meanwhile");
  const std::vector<SstableReference> inputs = InputsOf(*tablet, slice);
  return engine.installer->Install([&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(engine, version, table->definition()));
    // A file that was garbage as a whole is spared by a rule that came since: looking once more costs nothing.
    if (choice.kind == ChoiceKind::kDropFiles && state->definition->schema.families() != table->definition().schema.families()) {
      return Aborted("the column families changed meanwhile");
    }
    STELE_ASSIGN_OR_RETURN(TabletEdit tablet_edit, OrDiscard(edit_stack(*state, slice.tablet, inputs)));
    Edit edit;
    edit.tables.push_back({.table_id = choice.table_id, .tablets = {std::move(tablet_edit)}});
    return edit;
  });
}

bool Shows(const TabletEdit& tablet, uint64_t file_number) {
  return std::any_of(tablet.stack.begin(), tablet.stack.end(),
                     [file_number](const ReferenceEdit& reference) { return reference.file_number == file_number; });
}

// Rows of the inputs were dropped since the job began.
bool LostRows(const TableState& state, const CompactionSlice& slice) {
  const Tablet* tablet = state.FindTablet(slice.range);
  const auto is_same = [](const SstableReference& a, const SstableReference& b) { return a.file == b.file && a.range == b.range; };
  return tablet != nullptr &&
         std::search(tablet->stack.begin(), tablet->stack.end(), slice.inputs.begin(), slice.inputs.end(), is_same) == tablet->stack.end();
}

// All slices change together or not at all. An output of which every row was dropped meanwhile is
// not in the edit.
absl::StatusOr<Edit> EditOf(Engine& engine, const Version& version, const CompactionInput& input,
                            const std::optional<SstableFile>& output) {
  const uint32_t table_id = input.definition->id;
  STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(engine, version, *input.definition));
  Edit edit;
  TableEdit& table_edit = edit.tables.emplace_back(TableEdit{.table_id = table_id});
  bool lost_rows = false;
  for (const CompactionSlice& slice : input.slices) {
    STELE_ASSIGN_OR_RETURN(TabletEdit tablet_edit, OrDiscard(InstallCompaction(*state, slice.range, slice.inputs, output)));
    lost_rows = lost_rows || LostRows(*state, slice);
    if (output && edit.new_files.empty() && Shows(tablet_edit, output->number)) edit.new_files.push_back(*output);
    table_edit.tablets.push_back(std::move(tablet_edit));
  }
  if (lost_rows) EventCounts::Add(engine.state.event_counts.jobs_over_drops);
  return edit;
}

absl::Status Compact(Engine& engine, const ReadView& view, const Choice& choice, const std::atomic<bool>* stop, JobCounters& counters) {
  UnreadableInputs unreadable(engine, choice);
  const absl::StatusOr<CompactionInput> planned = PlanCompaction(engine, view, choice, stop, &unreadable);
  if (!planned.ok()) {
    unreadable.Finish(planned.status(), {});
    return planned.status();
  }
  const CompactionInput& input = *planned;
  const absl::StatusOr<CompactionOutput> ran = RunCompaction(input);
  if (!ran.ok()) {
    unreadable.Finish(ran.status(), input);
    return ran.status();
  }
  const CompactionOutput& output = *ran;
  bool is_shown = false;
  const absl::Status status = engine.installer->Install([&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(Edit edit, EditOf(engine, version, input, output.file));
    is_shown = !edit.new_files.empty();
    return edit;
  });
  if (!status.ok() || !is_shown) RemoveUnreferenced(engine, output.file);
  STELE_RETURN_IF_ERROR(status);
  size_t input_count = 0;
  for (const CompactionSlice& slice : input.slices) input_count += slice.inputs.size();
  const uint64_t bytes = output.file ? output.file->summary.file_bytes : 0;
  counters.compactions.fetch_add(1, std::memory_order_relaxed);
  counters.bytes_compacted.fetch_add(bytes, std::memory_order_relaxed);
  engine.events.Report(Event::Kind::kCompaction,
                       fmt::format("table {}: {} SSTables merged into {} bytes, {} cells condemned ({})", input.definition->name,
                                   input_count, bytes, output.retention.cells_condemned, choice.reason),
                       bytes);
  return absl::OkStatus();
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
  const int64_t now = engine.clock.Now();  // before the schema is read: a rule that changes later judges nothing at an earlier time
  std::shared_ptr<const TableState> table_state;
  uint64_t newer_since = UINT64_MAX;
  {
    const std::shared_ptr<const ReadView> view = engine.state.view();  // let go before the file is written: it holds other memtables
    const TableView* table = view->Find(table_id);
    if (table == nullptr) return absl::OkStatus();
    table_state = table->state;
    newer_since = OldestCommitInMemtables(*table, frozen.memtable.get());
  }
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const TableDefinition> definition = table_state->definition;
  const FlushInput input{.file_system = engine.file_system,
                         .directory = engine.directory,
                         .file_number = engine.NewFileNumber(),
                         .file_id = RandomSeed(),
                         .memtable = frozen.memtable.get(),
                         .definition = definition,
                         .now = now,
                         .newest_commit_time = frozen.newest_commit_time,
                         .newer_since = newer_since,
                         .reaches_end = HasNoFiles(*table_state),
                         .row_group_bytes = engine.options.sizes.row_group_bytes,
                         .budget = &engine.memory,
                         .stop = engine.background->stop_flag()};
  STELE_ASSIGN_OR_RETURN(const FlushOutput output, RunFlush(input));
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(engine, version, *definition));
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

std::shared_ptr<const ReadView> JobView(const ReadView& view, const Choice& choice) {
  auto job_view = std::make_shared<ReadView>();
  const TableView* table = view.Find(choice.table_id);
  if (table == nullptr) return job_view;
  auto job_table = std::make_shared<TableView>(TableView{.state = table->state, .memtables = {}, .tablets = table->tablets});
  for (ViewTablet& tablet : job_table->tablets) {
    const auto slice = std::find_if(choice.slices.begin(), choice.slices.end(),
                                    [&tablet](const ChoiceSlice& chosen) { return chosen.tablet == tablet.range; });
    if (slice == choice.slices.end()) {
      tablet.stack.clear();
      continue;
    }
    for (size_t i = 0; i < tablet.stack.size(); ++i) {  // positions in the stack stay
      if (i < slice->input_begin || i >= slice->input_end) tablet.stack[i].file = nullptr;
    }
  }
  job_view->tables.emplace(choice.table_id, std::move(job_table));
  return job_view;
}

absl::Status RunChoice(Engine& engine, const std::shared_ptr<const ReadView>& view, const Choice& choice, const std::atomic<bool>* stop,
                       JobCounters& counters) {
  const auto count = [](absl::Status status, std::atomic<uint64_t>& counter, uint64_t by = 1) {
    if (status.ok()) counter.fetch_add(by, std::memory_order_relaxed);
    return status;
  };
  switch (choice.kind) {
    case ChoiceKind::kMerge:
      return count(Compact(engine, *view, choice, stop, counters), counters.merging_compactions);
    case ChoiceKind::kMajor:
      return count(Compact(engine, *view, choice, stop, counters), counters.major_compactions);
    case ChoiceKind::kSettle:
      return count(Compact(engine, *view, choice, stop, counters), counters.settlings);
    case ChoiceKind::kGather:
      return count(Compact(engine, *view, choice, stop, counters), counters.gatherings);
    case ChoiceKind::kMove:
      return count(ChangeStack(engine, *view, choice, InstallMove), counters.moves);
    case ChoiceKind::kSplitTablet:
    case ChoiceKind::kMergeTablets:
      return ChangeTablets(engine, choice, counters);
    case ChoiceKind::kDropFiles: {
      const ChoiceSlice& slice = choice.slices.front();
      return count(ChangeStack(engine, *view, choice, InstallDrop), counters.files_dropped, slice.input_end - slice.input_begin);
    }
  }
  return InvalidArgument("a choice of no kind");
}

}  // namespace stele::internal
