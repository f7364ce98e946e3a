#include "jobs/job_runner.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compaction/stack_shape.h"
#include "io/file_names.h"
#include "jobs/compaction_job.h"
#include "jobs/flush_job.h"
#include "manifest/stack_edits.h"
#include "read/source_chain.h"
#include "views/gc_fence_horizon.h"

namespace stele::internal {
namespace {

using Parts = JobRunner::Parts;

// Removes a written file that no edit references. After a poisoned install its edit may be durable;
// then the file is kept.
void RemoveUnreferenced(const Parts& parts, const std::optional<SstableFile>& file) {
  if (!file || !parts.committer->poison().ok()) return;
  DatabaseDirectory& directory = *parts.context.directory;
  directory.file_system()->Remove(directory.PathOf(SstableName(file->number))).IgnoreError();
}

void AddTo(std::atomic<uint64_t>& counter, uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

bool HasNoFiles(const TableState& state) {
  return std::all_of(state.tablets.begin(), state.tablets.end(),
                     [](const Tablet& tablet) { return tablet.stack.empty(); });
}

// A job may install its result after the schema changed. The versions that it dropped were garbage
// under the earlier rule, which was in force at the job's time. Ids of families are never reused
// (engine rules 6 and 10).
absl::StatusOr<const TableState*> FindTable(const Parts& parts, const Version& version,
                                            const TableDefinition& definition) {
  const auto it = version.tables.find(definition.id);
  if (it == version.tables.end()) return Aborted("the table was deleted meanwhile");
  if (it->second->definition->epoch != definition.epoch)
    EventCounts::Add(parts.state->event_counts().jobs_over_changes);
  return it->second.get();
}

// If the job's inputs were replaced in the stack, the job has not failed: its result is discarded,
// and it is picked again if it is still due.
absl::StatusOr<TabletEdit> OrDiscard(absl::StatusOr<TabletEdit> tablet_edit) {
  if (!absl::IsFailedPrecondition(tablet_edit.status())) return tablet_edit;
  return Aborted("{}", ToStd(tablet_edit.status().message()));
}

// Returns the subcompaction's tablet in the view of the pick; null if the view has no such tablet.
const Tablet* FindSubcompaction(const TableView& table, const PlannedSubcompaction& subcompaction) {
  const Tablet* tablet = table.state->FindTablet(subcompaction.tablet);
  return tablet != nullptr && subcompaction.input_begin < subcompaction.input_end &&
                 subcompaction.input_end <= tablet->stack.size()
             ? tablet
             : nullptr;
}

std::vector<SstableReference> InputsOf(const Tablet& tablet,
                                       const PlannedSubcompaction& subcompaction) {
  return {tablet.stack.begin() + static_cast<ptrdiff_t>(subcompaction.input_begin),
          tablet.stack.begin() + static_cast<ptrdiff_t>(subcompaction.input_end)};
}

// Records which inputs a compaction could not read.
class UnreadableInputs {
 public:
  UnreadableInputs(const Parts& parts, const CompactionPick& pick) : parts_(parts), pick_(pick) {}

  void Add(size_t subcompaction, uint64_t file_number, const absl::Status& why) {
    const TabletName tablet{pick_.table_id, pick_.subcompactions[subcompaction].tablet.start};
    any_ = parts_.state->AddUnreadable(file_number, tablet, why) || any_;
  }
  // Called after a job that ended with `status`. Corruption that no input has reported is recorded
  // for all inputs.
  void Finish(const absl::Status& status, const CompactionInput& input) {
    if (absl::IsDataLoss(status) && !any_) {
      for (size_t i = 0; i < input.subcompactions.size(); ++i) {
        for (const SstableReference& reference : input.subcompactions[i].inputs)
          Add(i, reference.file->number, status);
      }
    }
    if (any_) parts_.installer->CountDebt();
  }

 private:
  const Parts& parts_;
  const CompactionPick& pick_;
  bool any_ = false;
};

absl::StatusOr<Subcompaction> PlanSubcompaction(const TableView& table, const TableView& now,
                                                const CompactionPick& pick,
                                                size_t subcompaction_index,
                                                UnreadableInputs* unreadable) {
  const PlannedSubcompaction& subcompaction = pick.subcompactions[subcompaction_index];
  const Tablet* tablet = FindSubcompaction(table, subcompaction);
  if (tablet == nullptr) return Aborted("the stack changed meanwhile");
  Subcompaction planned{
      .inputs = InputsOf(*tablet, subcompaction),
      .readers = {},
      .range = tablet->range,
      .reaches_end = ReachesEnd(*tablet, subcompaction.input_begin, subcompaction.input_end)};
  planned.newer_since = OldestCommitAbove(now, tablet->range, planned.inputs);
  const ViewTablet& open = table.tablets[TabletIndexOf(table, subcompaction.tablet.start)];
  for (size_t i = subcompaction.input_begin; i < subcompaction.input_end; ++i) {
    const ViewReference& reference = open.stack[i];
    if (reference.file->reader() == nullptr) {
      const absl::Status why = reference.file->open_status();
      unreadable->Add(subcompaction_index,
                      planned.inputs[i - subcompaction.input_begin].file->number, why);
      return why;
    }
    planned.readers.push_back(reference.file->reader());
  }
  return planned;
}

// Rows written in order are compressed like those of a bulk load: half the time for a tenth more
// bytes (docs/decisions/0019-bulk-load.md).
ZstdEffort EffortOf(const CompactionPick& pick) {
  return pick.kind == CompactionKind::kRecompress ? ZstdEffort::kQuick : ZstdEffort::kThorough;
}

absl::StatusOr<CompactionInput> PlanCompaction(const Parts& parts, const ReadView& view,
                                               const CompactionPick& pick,
                                               const std::atomic<bool>* stop,
                                               UnreadableInputs* unreadable) {
  const TableView* table = view.Find(pick.table_id);
  const std::shared_ptr<const ReadView> view_now = parts.state->view();
  const TableView* table_now = view_now->Find(pick.table_id);
  if (table == nullptr || table_now == nullptr) return Aborted("the table was deleted meanwhile");
  CompactionInput input{.job = parts.context.NewJob(stop),
                        .definition = table->state->definition,
                        .now = pick.now,
                        .zstd_effort = EffortOf(pick)};
  // Other writers may have used the space that was free when the job began. A job that reclaims
  // space may use the space for flushes up to the expected size, since it soon frees more.
  const uint64_t expected_bytes =
      pick.reclaims ? pick.output_bytes + pick.output_bytes / 4 : uint64_t{0};
  input.on_progress = [&parts, expected_bytes, written = uint64_t{0}](uint64_t bytes) mutable {
    written += bytes;
    return written <= expected_bytes
               ? absl::OkStatus()
               : parts.gate->CheckRoomForFlushes("a compaction was stopped", 0);
  };
  input.on_unreadable = [unreadable](size_t subcompaction, uint64_t number,
                                     const absl::Status& why) {
    unreadable->Add(subcompaction, number, why);
  };
  for (size_t i = 0; i < pick.subcompactions.size(); ++i) {
    STELE_ASSIGN_OR_RETURN(Subcompaction planned,
                           PlanSubcompaction(*table, *table_now, pick, i, unreadable));
    input.subcompactions.push_back(std::move(planned));
  }
  return input;
}

// A split or a merge of tablets: one edit, made from the tablets at install. They are busy (engine
// rule 17), so no job runs on them, but a flush or an excision may have been installed since the
// pick.
absl::Status ChangeTablets(const Parts& parts, const CompactionPick& pick, JobCounters& counters) {
  const bool splits = pick.kind == CompactionKind::kSplitTablet;
  std::string table_name;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    const auto it = version.tables.find(pick.table_id);
    if (it == version.tables.end()) return Aborted("the table was deleted meanwhile");
    table_name = it->second->definition->name;
    std::vector<Tablet> tablets;
    for (const PlannedSubcompaction& subcompaction : pick.subcompactions) {
      const Tablet* tablet = it->second->FindTablet(subcompaction.tablet);
      if (tablet == nullptr)
        return Aborted("tablet {} no longer exists", RangeText(subcompaction.tablet));
      tablets.push_back(*tablet);
    }
    Edit edit;
    TableEdit& table_edit = edit.tables.emplace_back(TableEdit{.table_id = pick.table_id});
    if (splits) {
      STELE_ASSIGN_OR_RETURN(table_edit.tablets, SplitTablet(tablets.front(), pick.split_row));
    } else {
      STELE_ASSIGN_OR_RETURN(table_edit.tablets.emplace_back(), MergeTablets(tablets));
    }
    return edit;
  };
  STELE_RETURN_IF_ERROR(parts.installer->Install(make, std::nullopt, [&] {
    AddTo(splits ? counters.tablet_splits : counters.tablet_merges);
  }));
  const std::string rows = RangeText(pick.subcompactions.front().tablet);
  parts.events->Report(
      splits ? DatabaseEvent::Kind::kTabletSplit : DatabaseEvent::Kind::kTabletMerge,
      splits ? fmt::format("table {}: tablet {} split at \"{}\" ({})", table_name, rows,
                           Printable(pick.split_row), pick.reason)
             : fmt::format("table {}: tablet {} merged with the next {} ({})", table_name, rows,
                           pick.subcompactions.size() - 1, pick.reason));
  return absl::OkStatus();
}

// Changes only the tablet's stack.
using EditStack = absl::StatusOr<TabletEdit> (*)(const TableState&, const KeyRange&,
                                                 std::span<const SstableReference>);

absl::Status ChangeStack(const Parts& parts, const ReadView& view, const CompactionPick& pick,
                         EditStack edit_stack, const std::function<void()>& count) {
  const TableView* table = view.Find(pick.table_id);
  if (table == nullptr) return Aborted("the table was deleted meanwhile");
  const PlannedSubcompaction& subcompaction = pick.subcompactions.front();
  const Tablet* tablet = FindSubcompaction(*table, subcompaction);
  if (tablet == nullptr) return Aborted("the stack changed meanwhile");
  const std::vector<SstableReference> inputs = InputsOf(*tablet, subcompaction);
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(parts, version, table->definition()));
    // A changed rule may keep cells of a file that was all garbage. Discarding the pick costs
    // nothing.
    if (pick.kind == CompactionKind::kDropFiles &&
        state->definition->schema.families() != table->definition().schema.families()) {
      return Aborted("the column families changed meanwhile");
    }
    STELE_ASSIGN_OR_RETURN(TabletEdit tablet_edit,
                           OrDiscard(edit_stack(*state, subcompaction.tablet, inputs)));
    Edit edit;
    edit.tables.push_back({.table_id = pick.table_id, .tablets = {std::move(tablet_edit)}});
    return edit;
  };
  return parts.installer->Install(make, std::nullopt, count);
}

bool Shows(const TabletEdit& tablet, uint64_t file_number) {
  return std::any_of(tablet.stack.begin(), tablet.stack.end(),
                     [file_number](const ReferenceEdit& reference) {
                       return reference.file_number == file_number;
                     });
}

// True if rows of the inputs were dropped since the job began.
bool LostRows(const TableState& state, const Subcompaction& subcompaction) {
  const Tablet* tablet = state.FindTablet(subcompaction.range);
  const auto is_same = [](const SstableReference& a, const SstableReference& b) {
    return a.file == b.file && a.range == b.range;
  };
  return tablet != nullptr &&
         std::search(tablet->stack.begin(), tablet->stack.end(), subcompaction.inputs.begin(),
                     subcompaction.inputs.end(), is_same) == tablet->stack.end();
}

// All subcompactions are installed together or not at all. An output whose rows were all dropped
// meanwhile is not in the edit.
absl::StatusOr<Edit> JobEditOf(const Parts& parts, const Version& version,
                               const CompactionInput& input,
                               const std::optional<SstableFile>& output) {
  const uint32_t table_id = input.definition->id;
  STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(parts, version, *input.definition));
  Edit edit;
  TableEdit& table_edit = edit.tables.emplace_back(TableEdit{.table_id = table_id});
  bool lost_rows = false;
  for (const Subcompaction& subcompaction : input.subcompactions) {
    STELE_ASSIGN_OR_RETURN(
        TabletEdit tablet_edit,
        OrDiscard(InstallCompaction(*state, subcompaction.range, subcompaction.inputs, output)));
    lost_rows = lost_rows || LostRows(*state, subcompaction);
    if (output && edit.new_files.empty() && Shows(tablet_edit, output->number))
      edit.new_files.push_back(*output);
    table_edit.tablets.push_back(std::move(tablet_edit));
  }
  if (lost_rows) EventCounts::Add(parts.state->event_counts().jobs_over_drops);
  return edit;
}

// Runs a compaction that reads and writes. `of_kind` counts the compactions of its kind.
absl::Status Compact(const Parts& parts, const ReadView& view, const CompactionPick& pick,
                     const std::atomic<bool>* stop, JobCounters& counters,
                     std::atomic<uint64_t>& of_kind) {
  UnreadableInputs unreadable(parts, pick);
  const absl::StatusOr<CompactionInput> planned =
      PlanCompaction(parts, view, pick, stop, &unreadable);
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
  const uint64_t bytes = output.file ? output.file->summary.file_bytes : 0;
  bool is_shown = false;
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(Edit edit, JobEditOf(parts, version, input, output.file));
    is_shown = !edit.new_files.empty();
    return edit;
  };
  const absl::Status status = parts.installer->Install(make, std::nullopt, [&] {
    AddTo(counters.compactions);
    AddTo(of_kind);
    AddTo(counters.bytes_compacted, bytes);
  });
  if (!status.ok() || !is_shown) RemoveUnreferenced(parts, output.file);
  STELE_RETURN_IF_ERROR(status);
  size_t input_count = 0;
  for (const Subcompaction& subcompaction : input.subcompactions)
    input_count += subcompaction.inputs.size();
  parts.events->Report(
      DatabaseEvent::Kind::kCompaction,
      fmt::format("table {}: {} SSTables merged into {} bytes, {} cells garbage ({})",
                  input.definition->name, input_count, bytes, output.retention.garbage_cells,
                  pick.reason),
      bytes);
  return absl::OkStatus();
}

}  // namespace

TimedView TakeTimedView(const EngineState& state, DatabaseClock* clock, uint32_t table_id) {
  const auto epoch = [table_id](const ReadView& view) -> std::optional<uint64_t> {
    const TableView* table = view.Find(table_id);
    return table == nullptr ? std::nullopt : std::optional(table->state->definition->epoch);
  };
  TimedView taken{.view = state.view()};
  while (true) {
    taken.now = clock->CollectionTime();
    std::shared_ptr<const ReadView> later = state.view();
    if (epoch(*later) == epoch(*taken.view)) return taken;
    taken.view = std::move(later);  // the schema changed, perhaps before the time was read
  }
}

absl::Status JobRunner::FlushOldestMemtable(uint32_t table_id, const std::atomic<bool>* stop) {
  const Parts& parts = parts_;
  const std::optional<FrozenMemtable> oldest = parts.state->OldestFrozen(table_id);
  if (!oldest) return absl::OkStatus();
  const FrozenMemtable& frozen = *oldest;
  std::shared_ptr<const TableState> table_state;
  int64_t now = 0;
  uint64_t newer_since = UINT64_MAX;
  {
    // Destroyed before the file is written, since it keeps other memtables.
    const TimedView taken = TakeTimedView(*parts.state, parts.clock, table_id);
    const TableView* table = taken.view->Find(table_id);
    if (table == nullptr) return absl::OkStatus();
    table_state = table->state;
    now = taken.now;
    newer_since = OldestCommitInMemtables(*table, frozen.memtable.get());
  }
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const TableDefinition> definition = table_state->definition;
  const FlushInput input{.job = parts.context.NewJob(stop),
                         .memtable = frozen.memtable.get(),
                         .definition = definition,
                         .now = now,
                         .newest_commit_time = frozen.newest_commit_time,
                         .newer_since = newer_since,
                         .reaches_end = HasNoFiles(*table_state)};
  STELE_ASSIGN_OR_RETURN(const FlushOutput output, RunFlush(input));
  const auto make = [&](const Version& version) -> absl::StatusOr<Edit> {
    STELE_ASSIGN_OR_RETURN(const TableState* state, FindTable(parts, version, *definition));
    const std::optional<FrozenMemtable> oldest_now = parts.state->OldestFrozen(table_id);
    if (!oldest_now || oldest_now->memtable != frozen.memtable)
      return Aborted("the rows of the memtable were dropped meanwhile");
    const uint64_t last = frozen.memtable->last_sequence();
    Edit edit;
    edit.last_sequence = last;
    TableEdit table_edit{.table_id = table_id, .flushed_through = last};
    if (output.file) {
      edit.new_files.push_back(*output.file);
      table_edit.tablets =
          InstallFlush(*state, *output.file, frozen.memtable->first_sequence(), last);
    }
    edit.tables.push_back(std::move(table_edit));
    return edit;
  };
  const uint64_t bytes = output.file ? output.file->summary.file_bytes : 0;
  const absl::Status status = parts.installer->Install(
      make, EngineState::Flushed{.table_id = table_id, .memtable = frozen.memtable.get()}, [&] {
        AddTo(counters_.flushes);
        AddTo(counters_.bytes_flushed, bytes);
      });
  if (!status.ok()) {
    RemoveUnreferenced(parts, output.file);
    return status;
  }
  parts.throttle->Drained(frozen.memtable->bytes(), std::chrono::steady_clock::now() - start);
  parts.events->Report(DatabaseEvent::Kind::kFlush,
                       fmt::format("table {}: {} cells of a memtable written as {} bytes",
                                   definition->name, frozen.memtable->cell_count(), bytes),
                       bytes);
  return absl::OkStatus();
}

std::shared_ptr<const ReadView> JobView(const ReadView& view, const CompactionPick& pick) {
  auto job_view = std::make_shared<ReadView>();
  const TableView* table = view.Find(pick.table_id);
  if (table == nullptr) return job_view;
  std::vector<ViewTablet> tablets;
  for (const PlannedSubcompaction& subcompaction : pick.subcompactions) {
    ViewTablet tablet = table->tablets[TabletIndexOf(*table, subcompaction.tablet.start)];
    if (tablet.range != subcompaction.tablet) continue;
    for (size_t i = 0; i < tablet.stack.size(); ++i) {  // positions in the stack stay the same
      if (i < subcompaction.input_begin || i >= subcompaction.input_end)
        tablet.stack[i].file = nullptr;
    }
    tablets.push_back(std::move(tablet));
  }
  // The view has only the picked tablets, which TabletIndexOf finds.
  auto job_table = std::make_shared<TableView>(
      TableView{.state = table->state, .memtables = {}, .tablets = std::move(tablets)});
  job_view->tables.Set(pick.table_id, std::move(job_table));
  return job_view;
}

absl::Status JobRunner::RunPick(const std::shared_ptr<const ReadView>& view,
                                const CompactionPick& pick, const std::atomic<bool>* stop) {
  const Parts& parts = parts_;
  JobCounters& counters = counters_;
  switch (pick.kind) {
    case CompactionKind::kMerge:
      return Compact(parts, *view, pick, stop, counters, counters.merging_compactions);
    case CompactionKind::kMajor:
      return Compact(parts, *view, pick, stop, counters, counters.major_compactions);
    case CompactionKind::kRecompress:
      return Compact(parts, *view, pick, stop, counters, counters.recompressions);
    case CompactionKind::kSmallFiles:
      return Compact(parts, *view, pick, stop, counters, counters.small_file_compactions);
    case CompactionKind::kMetadataMerge:
      return ChangeStack(parts, *view, pick, InstallMetadataMerge,
                         [&] { AddTo(counters.metadata_merges); });
    case CompactionKind::kSplitTablet:
    case CompactionKind::kMergeTablets:
      return ChangeTablets(parts, pick, counters);
    case CompactionKind::kDropFiles: {
      const PlannedSubcompaction& subcompaction = pick.subcompactions.front();
      const uint64_t file_count = subcompaction.input_end - subcompaction.input_begin;
      return ChangeStack(parts, *view, pick, InstallDrop,
                         [&] { AddTo(counters.files_dropped, file_count); });
    }
  }
  return InvalidArgument("a pick without a kind");
}

}  // namespace stele::internal
