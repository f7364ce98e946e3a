#include "jobs/memtable_spill.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "io/file_names.h"
#include "jobs/sstable_writer.h"
#include "manifest/stack_edits.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

// An open spill file. It exists until its last view is destroyed. A holder of a view keeps the
// engine alive, too.
class SpillFile : public PinnedSstable {
 public:
  SpillFile(const MemtableSpillParts& parts, uint64_t number, uint64_t bytes)
      : parts_(parts), number_(number), bytes_(bytes) {
    parts_.pins->AddFileBytes(bytes_);
  }

  ~SpillFile() override {
    reader_.reset();
    parts_.pins->SubtractFileBytes(bytes_);
    // After Close the directory may belong to another process, and in a forked child it belongs to
    // the parent. Then the next Open removes the file.
    if (parts_.open->is_closed() || !parts_.open->IsOpener()) return;
    directory().file_system()->Remove(path()).IgnoreError();
  }

  absl::Status OpenFile(const SstableSummary& summary) {
    STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file,
                           directory().file_system()->Open(path(), OpenMode::kReadByName));
    STELE_ASSIGN_OR_RETURN(
        reader_, SstableReader::Open(std::move(file), SpillName(number_), &summary, parts_.cache));
    return absl::OkStatus();
  }

  const std::shared_ptr<SstableReader>& reader() const override { return reader_; }
  absl::Status open_status() const override { return absl::OkStatus(); }

 private:
  const DatabaseDirectory& directory() const { return *parts_.context.directory; }
  std::string path() const { return directory().PathOf(SpillName(number_)); }

  const MemtableSpillParts parts_;
  const uint64_t number_;
  const uint64_t bytes_;
  std::shared_ptr<SstableReader> reader_;
};

// The file that replaces a memtable as seen at one sequence. Without a file: no operation was
// visible.
struct SpilledSource {
  std::shared_ptr<const SstableFile> summary;
  std::shared_ptr<const PinnedSstable> file;
};

class MemtableSpill {
 public:
  MemtableSpill(const MemtableSpillParts& parts, const std::atomic<bool>* stop,
                PinnedViews::Spill spill)
      : parts_(parts), stop_(stop), spill_(std::move(spill)) {}

  absl::Status Run() {
    for (const PinnedViews::Holder& holder : spill_.holders) {
      // If the memtable is older than the view, the view sees all of it.
      const uint64_t sequence = std::min(holder.sequence, spill_.memtable->last_sequence());
      const auto written = sources_.find(sequence);
      if (written == sources_.end()) {
        STELE_ASSIGN_OR_RETURN(sources_[sequence],
                               Write(sequence, *holder.view->Find(spill_.table_id)));
      }
      parts_.pins->Replace(holder.pin_number, ViewWith(*holder.view, sequence));
    }
    return absl::OkStatus();
  }

  uint64_t bytes_written() const { return bytes_written_; }

 private:
  absl::StatusOr<SpilledSource> Write(uint64_t sequence, const TableView& table) {
    if (sequence < spill_.memtable->first_sequence()) return SpilledSource();
    const SstableJob job = parts_.context.NewJob(stop_);
    // Use the memtable's own families, since the views that share the file may have different ones.
    const std::vector<uint32_t>& family_ids = spill_.memtable->family_ids();
    FamilyMap same(family_ids.size() + 1);
    std::iota(same.begin(), same.end(), 0);
    std::unique_ptr<CellCursor> cursor =
        spill_.memtable->NewCursor(sequence, {.families = std::move(same)});
    SstableTarget target{.job = job,
                         .file_name = SpillName(job.file_number),
                         .builder = job.BuilderOptions(table.definition().schema.compression(),
                                                       /*bottommost_codec=*/false)};
    target.builder.family_ids = family_ids;
    STELE_ASSIGN_OR_RETURN(std::optional<SstableSummary> summary,
                           WriteSstable(target, [&cursor] { return std::move(cursor); }));
    if (!summary) return SpilledSource();
    bytes_written_ += summary->file_bytes;
    auto file = std::make_shared<SpillFile>(parts_, job.file_number, summary->file_bytes);
    STELE_RETURN_IF_ERROR(file->OpenFile(*summary));
    const SstableFile described{.number = job.file_number, .summary = *std::move(summary)};
    return SpilledSource{.summary = std::make_shared<const SstableFile>(described),
                         .file = std::move(file)};
  }

  std::shared_ptr<const ReadView> ViewWith(const ReadView& before, uint64_t sequence) {
    const std::shared_ptr<const TableView>& table = before.tables.at(spill_.table_id);
    // Views from between two freezes share one TableView, before and after the replacement.
    std::shared_ptr<const TableView>& replaced = tables_[{table, sequence}];
    if (replaced == nullptr) replaced = TableWith(*table, sources_.at(sequence));
    auto view = std::make_shared<ReadView>(before);
    view->tables.Set(spill_.table_id, replaced);
    return view;
  }

  // The oldest memtable is replaced by the newest reference, so the order of sources stays the
  // same.
  static std::shared_ptr<const TableView> TableWith(const TableView& before,
                                                    const SpilledSource& source) {
    auto table = std::make_shared<TableView>(before);
    table->memtables.pop_back();
    if (source.file == nullptr) return table;
    const KeyRange rows = RowsOf(*source.summary);
    std::vector<SharedSequence<ViewTablet>::Change> changes;
    for (size_t i = TabletIndexOf(*table, rows.start); i < table->tablets.size(); ++i) {
      ViewTablet tablet = table->tablets[i];
      if (tablet.range.start >= rows.end) break;
      const SstableReference reference{.file = source.summary, .range = tablet.range};
      tablet.stack.insert(
          tablet.stack.begin(),
          ViewReference{
              .reference = reference, .file = source.file, .narrowed = !tablet.range.Covers(rows)});
      changes.push_back({.begin = i,
                         .end = i + 1,
                         .with = {std::make_shared<const ViewTablet>(std::move(tablet))}});
    }
    table->tablets.Replace(std::move(changes));
    return table;
  }

  const MemtableSpillParts& parts_;
  const std::atomic<bool>* const stop_;
  const PinnedViews::Spill spill_;
  std::map<uint64_t, SpilledSource> sources_;  // by the sequence at which they show the memtable
  std::map<std::pair<std::shared_ptr<const TableView>, uint64_t>, std::shared_ptr<const TableView>>
      tables_;
  uint64_t bytes_written_ = 0;
};

}  // namespace

absl::Status SpillPinnedMemtable(const MemtableSpillParts& parts, const std::atomic<bool>* stop) {
  std::optional<PinnedViews::Spill> due = parts.pins->NextSpill();
  if (!due) return absl::OkStatus();
  const std::string table = due->holders.front().view->Find(due->table_id)->definition().name;
  const uint64_t memtable_bytes = due->memtable->bytes();
  const size_t view_count = due->holders.size();
  MemtableSpill spill(parts, stop, *std::move(due));
  due.reset();
  STELE_RETURN_IF_ERROR(spill.Run());
  parts.counters->memtable_spills.fetch_add(1, std::memory_order_relaxed);
  parts.counters->bytes_spilled.fetch_add(spill.bytes_written(), std::memory_order_relaxed);
  parts.events->Report(
      DatabaseEvent::Kind::kMemtableSpill,
      fmt::format("table {}: a flushed memtable of {} bytes that {} views hold written as {} bytes",
                  table, memtable_bytes, view_count, spill.bytes_written()),
      spill.bytes_written());
  return absl::OkStatus();
}

}  // namespace stele::internal
