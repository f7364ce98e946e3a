#include "db/view_spill.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "compaction/run_writer.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "manifest/stack_edits.h"

namespace stele::internal {
namespace {

// The file, open, from when it is written until its last view goes. Whoever holds a view keeps the engine, too.
class SpillFile : public PinnedSstable {
 public:
  SpillFile(Engine* engine, uint64_t number, uint64_t bytes) : engine_(*engine), number_(number), bytes_(bytes) {
    engine_.pins.AddFileBytes(bytes_);
  }

  ~SpillFile() override {
    reader_.reset();
    engine_.pins.SubtractFileBytes(bytes_);
    // The directory of a closed database may be another opener's, and that of a fork's parent is: what is left there goes at the next Open.
    if (engine_.closed->load(std::memory_order_acquire) || ::getpid() != pid_) return;
    engine_.file_system->Remove(path()).IgnoreError();
  }

  absl::Status OpenFile(const SstableSummary& summary) {
    STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, engine_.file_system->Open(path(), OpenMode::kReadByName));
    STELE_ASSIGN_OR_RETURN(reader_, SstableReader::Open(std::move(file), SpillName(number_), &summary, &engine_.cache));
    return absl::OkStatus();
  }

  const std::shared_ptr<SstableReader>& reader() const override { return reader_; }
  absl::Status open_status() const override { return absl::OkStatus(); }

 private:
  std::string path() const { return JoinPath(engine_.directory, SpillName(number_)); }

  Engine& engine_;
  const uint64_t number_;
  const uint64_t bytes_;
  const pid_t pid_ = ::getpid();
  std::shared_ptr<SstableReader> reader_;
};

// A memtable up to one sequence, as a source that needs no memory. No file: nothing of it was visible.
struct SpilledSource {
  std::shared_ptr<const SstableFile> summary;
  std::shared_ptr<const PinnedSstable> file;
};

class ViewSpill {
 public:
  ViewSpill(Engine& engine, PinnedViews::Spill spill) : engine_(engine), spill_(std::move(spill)) {}

  absl::Status Run() {
    for (const PinnedViews::Holder& holder : spill_.holders) {
      // Of a memtable that is older than the view, the view sees all.
      const uint64_t sequence = std::min(holder.sequence, spill_.memtable->last_sequence());
      const auto written = sources_.find(sequence);
      if (written == sources_.end()) {
        STELE_ASSIGN_OR_RETURN(sources_[sequence], Write(sequence, *holder.view->Find(spill_.table_id)));
      }
      engine_.pins.Replace(holder.pin_number, ViewWith(*holder.view, sequence));
    }
    return absl::OkStatus();
  }

  uint64_t bytes_written() const { return bytes_written_; }

 private:
  absl::StatusOr<SpilledSource> Write(uint64_t sequence, const TableView& table) {
    if (sequence < spill_.memtable->first_sequence()) return SpilledSource();
    const uint64_t number = engine_.NewFileNumber();
    // Under the memtable's own families: the views that share the file may know different ones.
    const std::vector<uint32_t>& family_ids = spill_.memtable->family_ids();
    FamilyMap same(family_ids.size() + 1);
    std::iota(same.begin(), same.end(), 0);
    std::unique_ptr<CellCursor> cursor = spill_.memtable->NewCursor(sequence, {.families = std::move(same)});
    RunTarget target{.file_system = engine_.file_system,
                     .directory = engine_.directory,
                     .file_name = SpillName(number),
                     .builder = RunBuilderOptions(table.definition().schema.compression(), /*settled=*/false),
                     .budget = &engine_.memory,
                     .stop = engine_.background->stop_flag()};
    target.builder.file_id = RandomSeed();
    target.builder.family_ids = family_ids;
    target.builder.row_group_bytes = engine_.options.sizes.row_group_bytes;
    STELE_ASSIGN_OR_RETURN(std::optional<SstableSummary> summary, WriteRun(target, [&cursor] { return std::move(cursor); }));
    if (!summary) return SpilledSource();
    bytes_written_ += summary->file_bytes;
    auto file = std::make_shared<SpillFile>(&engine_, number, summary->file_bytes);
    STELE_RETURN_IF_ERROR(file->OpenFile(*summary));
    const SstableFile described{.number = number, .summary = *std::move(summary)};
    return SpilledSource{.summary = std::make_shared<const SstableFile>(described), .file = std::move(file)};
  }

  std::shared_ptr<const ReadView> ViewWith(const ReadView& before, uint64_t sequence) {
    const std::shared_ptr<const TableView>& table = before.tables.at(spill_.table_id);
    // Views between two freezes share the table's part, and go on sharing it.
    std::shared_ptr<const TableView>& replaced = tables_[{table, sequence}];
    if (replaced == nullptr) replaced = TableWith(*table, sources_.at(sequence));
    auto view = std::make_shared<ReadView>(before);
    view->tables[spill_.table_id] = replaced;
    return view;
  }

  // The oldest memtable gives way to the newest reference: the order of sources stays.
  static std::shared_ptr<const TableView> TableWith(const TableView& before, const SpilledSource& source) {
    auto table = std::make_shared<TableView>(before);
    table->memtables.pop_back();
    if (source.file == nullptr) return table;
    const KeyRange rows = RowsOf(*source.summary);
    for (ViewTablet& tablet : table->tablets) {
      if (!tablet.range.Overlaps(rows)) continue;
      const SstableReference reference{.file = source.summary, .range = tablet.range};
      tablet.stack.insert(tablet.stack.begin(),
                          ViewReference{.reference = reference, .file = source.file, .narrowed = !tablet.range.Covers(rows)});
    }
    return table;
  }

  Engine& engine_;
  const PinnedViews::Spill spill_;
  std::map<uint64_t, SpilledSource> sources_;  // by the sequence that they show the memtable at
  std::map<std::pair<std::shared_ptr<const TableView>, uint64_t>, std::shared_ptr<const TableView>> tables_;
  uint64_t bytes_written_ = 0;
};

}  // namespace

absl::Status SpillPinnedMemtable(Engine& engine, JobCounters& counters) {
  std::optional<PinnedViews::Spill> due = engine.pins.NextSpill();
  if (!due) return absl::OkStatus();
  const std::string table = due->holders.front().view->Find(due->table_id)->definition().name;
  const uint64_t memtable_bytes = due->memtable->bytes();
  const size_t view_count = due->holders.size();
  ViewSpill spill(engine, *std::move(due));
  due.reset();
  STELE_RETURN_IF_ERROR(spill.Run());
  counters.view_spills.fetch_add(1, std::memory_order_relaxed);
  counters.bytes_spilled.fetch_add(spill.bytes_written(), std::memory_order_relaxed);
  engine.events.Report(Event::Kind::kViewSpill,
                       fmt::format("table {}: a flushed memtable of {} bytes that {} views hold written as {} bytes", table, memtable_bytes,
                                   view_count, spill.bytes_written()),
                       spill.bytes_written());
  return absl::OkStatus();
}

}  // namespace stele::internal
