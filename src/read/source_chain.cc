#include "read/source_chain.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cell/bounded_cursor.h"
#include "manifest/runs.h"
#include "merge/run_cursor.h"
#include "model/validate.h"
#include "sstable/format/bloom.h"

namespace stele::internal {
namespace {

// A row in more sources is read through a chain, which ends early if the read needs few cells; a
// guess.
constexpr size_t kPlainSourcesMax = 4;
// Most rows of a memtable need no larger array; a guess.
constexpr size_t kCommonMemtableCells = 16;

// Returns the greatest row key before `bound`, which is not empty.
std::string RowKeyBefore(std::string_view bound) {
  std::string key(bound.substr(0, bound.size() - 1));
  if (bound.back() == '\0') return key;
  key.push_back(static_cast<char>(bound.back() - 1));
  key.resize(kRowKeyBytesMax, '\xff');
  return key;
}

// A cursor over a file that cannot be opened. It fails when the scan reaches rows that the file may
// have. Before, it is on the first of them, which the manifest names.
class UnopenedFileCursor final : public CellCursor {
 public:
  UnopenedFileCursor(const SstableReference& reference, Direction direction, absl::Status why)
      : is_reverse_(direction == Direction::kReverse),
        first_(std::max(reference.file->summary.first_row, reference.range->start)),
        last_(reference.range->unbounded_end ||
                      reference.file->summary.last_row < reference.range->end
                  ? reference.file->summary.last_row
                  : RowKeyBefore(reference.range->end)),
        why_(std::move(why)) {}

  bool SeekToEdge() override { return first_ <= last_; }
  bool SeekRow(std::string_view bound) override {
    if (first_ > last_ || (is_reverse_ ? bound <= first_ : bound > last_)) return false;
    return (is_reverse_ ? bound > last_ : bound <= first_) || Fail();
  }
  bool NextRow() override { return Fail(); }
  std::string_view row_key() const override { return is_reverse_ ? last_ : first_; }
  bool ReadCells(std::vector<Cell>* /*cells*/) override { return Fail(); }
  void SkipTo(uint32_t /*family*/, std::string_view /*qualifier*/) override {}
  void Unpin() override {}
  absl::Status status() const override { return has_failed_ ? why_ : absl::OkStatus(); }

 private:
  bool Fail() {
    has_failed_ = true;
    return false;
  }

  const bool is_reverse_;
  const std::string first_;
  const std::string last_;
  const absl::Status why_;
  bool has_failed_ = false;
};

// Returns null if the reference has none of the requested rows. Not for only_row.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenReference(const TableView& table,
                                                          const ViewReference& reference,
                                                          const ChainOptions& options) {
  const absl::StatusOr<OpenedFile> found = OpenFile(table, reference, options);
  if (!found.ok()) {
    return std::make_unique<UnopenedFileCursor>(reference.reference, options.direction,
                                                found.status());
  }
  const OpenedFile& opened = *found;
  if (opened.reader == nullptr) return nullptr;
  std::unique_ptr<CellCursor> cursor =
      opened.reader->NewCursor(opened.cursor_options(table, options));
  if (!reference.narrowed) return cursor;
  const KeyRange& range = reference.reference.range;
  return NewBoundedCursor(
      std::move(cursor), options.direction, range.start,
      range.unbounded_end ? std::nullopt : std::optional<std::string>(range.end));
}

// A run of references of the tablet's stack that do not overlap. Each is opened when the cursor
// reaches its rows. Table and tablet must outlive the cursor.
std::unique_ptr<CellCursor> NewStackRun(const TableView& table, const ViewTablet& tablet,
                                        std::vector<uint32_t> run, const ChainOptions& options) {
  std::vector<RunPart> parts;
  parts.reserve(run.size());
  for (const uint32_t position : run) {
    const KeyRange& range = tablet.stack[position].reference.range;
    parts.push_back({range.start, range.end, range.unbounded_end});
  }
  const auto open = [&table, &tablet, run = std::move(run), options](size_t index) {
    return OpenReference(table, tablet.stack[run[index]], options);
  };
  return NewRunCursor(std::move(parts), open, options.direction);
}

std::vector<std::vector<uint32_t>> RunsOf(const ViewTablet& tablet) {
  std::vector<const KeyRange*> ranges;
  ranges.reserve(tablet.stack.size());
  for (const ViewReference& reference : tablet.stack) ranges.push_back(&*reference.reference.range);
  return DivideIntoRuns(ranges);
}

// True if the file has no tombstone and no version that the rules collect.
bool KeepsAll(const RetentionPolicy& policy, const TableDefinition& definition,
              const SstableSummary& summary) {
  if (summary.tombstones != 0) return false;
  return std::all_of(
      summary.families.begin(), summary.families.end(), [&](const FamilySummary& family) {
        const std::optional<uint32_t> index = definition.families.IndexOfId(family.family_id);
        return !index.has_value() ||
               policy.KeepsFamily(*index, family.versions_max, family.timestamp_min);
      });
}

// The same for a memtable. Commits after the read point can only make the result false.
bool KeepsAll(const ChainOptions& options, const TableDefinition& definition,
              const Memtable& memtable) {
  const Memtable::EntryCounts counts = memtable.entry_counts();
  if (counts.row_tombstones != 0 || counts.other_tombstones != 0) return false;
  // Without range tombstones, a source returns one version of each column to such a read.
  const uint64_t versions_max = options.latest_only ? 1 : std::numeric_limits<uint64_t>::max();
  for (uint32_t index = 1; index <= definition.families.size(); ++index) {
    if (!options.retention->KeepsFamily(index, versions_max, counts.timestamp_min)) return false;
  }
  return true;
}

// The sources of a scan, newest first.
struct ScanSources {
  std::vector<std::unique_ptr<CellCursor>> cursors;
  KeptSources kept;

  void Add(std::unique_ptr<CellCursor> cursor, bool is_kept) {
    cursors.push_back(std::move(cursor));
    kept.push_back(is_kept);
  }
};

absl::Status AddStack(const TableView& table, const ViewTablet& tablet,
                      std::vector<std::vector<uint32_t>> runs, const ChainOptions& options,
                      ScanSources* sources) {
  for (std::vector<uint32_t>& run : runs) {
    const bool is_kept =
        options.retention && std::all_of(run.begin(), run.end(), [&](uint32_t position) {
          return KeepsAll(*options.retention, table.definition(),
                          tablet.stack[position].reference.file->summary);
        });
    if (run.size() > 1) {
      sources->Add(NewStackRun(table, tablet, std::move(run), options), is_kept);
      continue;
    }
    STELE_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor,
                           OpenReference(table, tablet.stack[run.front()], options));
    if (cursor != nullptr) sources->Add(std::move(cursor), is_kept);
  }
  return absl::OkStatus();
}

void AddMemtables(const TableView& table, const ViewTablet& tablet, const ChainOptions& options,
                  ScanSources* sources) {
  for (const std::shared_ptr<const Memtable>& memtable : table.memtables) {
    if (memtable->empty()) continue;
    std::unique_ptr<CellCursor> cursor = memtable->NewCursor(
        options.sequence,
        SourceOptions(table, options, memtable->family_ids(), options.wanted_families));
    // A memtable has the rows of all tablets.
    if (table.tablets.size() > 1) {
      cursor = NewBoundedCursor(
          std::move(cursor), options.direction, tablet.range.start,
          tablet.range.unbounded_end ? std::nullopt : std::optional<std::string>(tablet.range.end));
    }
    sources->Add(std::move(cursor),
                 options.retention && KeepsAll(options, table.definition(), *memtable));
  }
}

// True if a read of the tablet's files needs no retention, provided that they are one sorted run. A
// file of several sections is read with it: its large values stay lazy until the sections are
// joined.
bool KeepsAll(const RetentionPolicy& policy, const TableDefinition& definition,
              const ViewTablet& tablet) {
  return std::all_of(tablet.stack.begin(), tablet.stack.end(), [&](const ViewReference& reference) {
    const SstableReader* const reader = reference.file->reader().get();
    return reader != nullptr && reader->table().sections.size() == 1 &&
           KeepsAll(policy, definition, reader->summary());
  });
}

absl::StatusOr<std::unique_ptr<CellCursor>> OpenRowChain(const TableView& table,
                                                         const ViewTablet& tablet,
                                                         const ChainOptions& options) {
  RowSources sources(table, *options.only_row);
  sources.Find(tablet);
  STELE_RETURN_IF_ERROR(sources.Open(options));
  PlainSources row;
  STELE_ASSIGN_OR_RETURN(const RowForm form, sources.ReadPlain(options, &row));
  if (form == RowForm::kAbsent) return nullptr;
  if (form == RowForm::kPlain)
    return NewPlainRowCursor(*options.only_row, std::move(row), options.direction,
                             options.retention);
  return sources.Merge(options);
}

// The greatest timestamp of the family's versions in the file.
int64_t GreatestTimestamp(const SstableSummary& summary, uint32_t family_id) {
  for (const FamilySummary& family : summary.families) {
    if (family.family_id == family_id && family.cells != 0) return family.timestamp_max;
  }
  return std::numeric_limits<int64_t>::min();
}

// Returns the reference that may have the row. The references to its file begin with `first`.
const ViewReference& FragmentOf(std::vector<ViewReference>::const_iterator first,
                                std::string_view row_key) {
  if (first->fragment_count == 1) return *first;
  const auto behind =
      std::upper_bound(first, first + static_cast<std::ptrdiff_t>(first->fragment_count), row_key,
                       [](std::string_view row, const ViewReference& fragment) {
                         return row < fragment.reference.range->start;
                       });
  return behind == first ? *first : *std::prev(behind);
}

// Returns false if the file has nothing of the row. `row_hash` is computed when it is needed. A
// file that cannot be opened has no bloom filter.
bool MayHaveRow(const ViewReference& reference, std::string_view row_key,
                std::optional<uint64_t>* row_hash) {
  const SstableSummary& summary = reference.reference.file->summary;
  if (row_key < summary.first_row || row_key > summary.last_row) return false;
  if (reference.narrowed && !reference.reference.range.Contains(row_key)) return false;
  const SstableReader* const reader = reference.file->reader().get();
  if (reader == nullptr) return true;
  if (!row_hash->has_value()) *row_hash = RowHash(row_key);
  return reader->MayContainRow(**row_hash);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CellCursor>> OpenChain(const TableView& table,
                                                      const ViewTablet& tablet,
                                                      const ChainOptions& options) {
  if (options.only_row) return OpenRowChain(table, tablet, options);
  ScanSources sources;
  sources.cursors.reserve(table.memtables.size() + tablet.stack.size());
  AddMemtables(table, tablet, options, &sources);
  std::vector<std::vector<uint32_t>> runs = RunsOf(tablet);
  if (!options.retention || !sources.cursors.empty() || runs.size() != 1 ||
      !KeepsAll(*options.retention, table.definition(), tablet)) {
    STELE_RETURN_IF_ERROR(AddStack(table, tablet, std::move(runs), options, &sources));
    return MergeSources(std::move(sources.cursors), options, {}, std::move(sources.kept));
  }
  ChainOptions unfiltered = options;
  unfiltered.retention.reset();
  STELE_RETURN_IF_ERROR(AddStack(table, tablet, std::move(runs), unfiltered, &sources));
  return MergeSources(std::move(sources.cursors), unfiltered);
}

size_t TabletIndexOf(const TableView& table, std::string_view row_key) {
  // The first tablet begins with the first possible row.
  return table.tablets.PartitionPoint([row_key](const ViewTablet& tablet) {
    return tablet.range.start <= row_key;
  }) - 1;
}

void StartReadOfRow(const TableView& table, std::string_view row_key, const ChainOptions& options) {
  RowSources sources(table, row_key);
  sources.Find(table.tablets[TabletIndexOf(table, row_key)]);
  sources.StartRead(options);
}

void RowSources::Find(const ViewTablet& tablet) {
  std::optional<uint64_t> row_hash;
  for (auto it = tablet.stack.begin(); it != tablet.stack.end();) {
    const ViewReference& reference = FragmentOf(it, row_key_);
    it += static_cast<std::ptrdiff_t>(it->fragment_count);
    if (MayHaveRow(reference, row_key_, &row_hash)) references_.push_back(&reference);
  }
  for (const std::shared_ptr<const Memtable>& memtable : table_.memtables) {
    if (const RowNode* const row = memtable->FindRow(row_key_); row != nullptr)
      memtable_rows_.push_back({memtable.get(), row});
  }
}

void RowSources::StartRead(const ChainOptions& options) const {
  for (const ViewReference* const reference : references_) {
    const absl::StatusOr<OpenedFile> file = OpenFile(table_, *reference, options);
    if (file.ok() && file->reader != nullptr)
      file->reader->StartRead(row_key_, file->cursor_options(table_, options));
  }
}

absl::Status RowSources::Open(const ChainOptions& options) {
  for (const ViewReference* const reference : references_) {
    STELE_ASSIGN_OR_RETURN(OpenedFile file, OpenFile(table_, *reference, options));
    if (file.reader != nullptr) files_.push_back(std::move(file));
  }
  return absl::OkStatus();
}

absl::StatusOr<RowForm> RowSources::ReadPlain(const ChainOptions& options,
                                              PlainSources* row) const {
  const size_t source_count = memtable_rows_.size() + files_.size();
  if (source_count == 0) return RowForm::kAbsent;
  // If the row turns out to need a chain, the chain finds the decoded blocks in the cache.
  if (!options.fill_cache || source_count > kPlainSourcesMax) return RowForm::kOther;
  // For one column, a chain seeks in a memtable, and reads an older source only if it needs to.
  const bool is_one_file = memtable_rows_.empty() && source_count == 1;
  if (options.sole_column != nullptr && !is_one_file) return RowForm::kOther;
  STELE_ASSIGN_OR_RETURN(const RowForm form, FillPlain(options, row));
  if (form == RowForm::kOther) row->Clear();
  return form;
}

absl::StatusOr<RowForm> RowSources::FillPlain(const ChainOptions& options,
                                              PlainSources* row) const {
  RowForm form = RowForm::kAbsent;
  row->SetLatestOnly(options.latest_only);
  for (const auto& [memtable, memtable_row] : memtable_rows_) {
    std::vector<Cell> cells;
    cells.reserve(kCommonMemtableCells);
    if (!Memtable::ReadPlainRow(
            *memtable_row, options.sequence,
            SourceOptions(table_, options, memtable->family_ids(), options.wanted_families),
            &cells))
      return RowForm::kOther;
    row->AddMemtable(std::move(cells));
    if (memtable_row->first_sequence() <= options.sequence) form = RowForm::kPlain;
  }
  for (const OpenedFile& file : files_) {
    STELE_ASSIGN_OR_RETURN(
        const RowForm in_file,
        file.reader->ReadPlainRow(row_key_, file.cursor_options(table_, options), row->AddFile()));
    if (in_file == RowForm::kOther) return in_file;
    if (in_file == RowForm::kAbsent) row->DropFile();
    if (in_file == RowForm::kPlain) form = in_file;
  }
  return row->cell_count() > kCellBatch ? RowForm::kOther : form;
}

std::unique_ptr<CellCursor> RowSources::Merge(const ChainOptions& options) const {
  std::vector<std::unique_ptr<CellCursor>> sources;
  sources.reserve(memtable_rows_.size() + files_.size());
  for (const auto& [memtable, row] : memtable_rows_) {
    sources.push_back(memtable->NewRowCursor(
        *row, options.sequence,
        SourceOptions(table_, options, memtable->family_ids(), options.wanted_families)));
  }
  for (const OpenedFile& file : files_) {
    sources.push_back(
        NewFileRowCursor(file.reader, row_key_, file.cursor_options(table_, options)));
  }
  SoleColumn sole_column = SoleColumnOf(options, sources.size());
  return MergeSources(std::move(sources), options, std::move(sole_column));
}

SoleColumn RowSources::SoleColumnOf(const ChainOptions& options, size_t source_count) const {
  if (options.sole_column == nullptr) return {};
  SoleColumn column{
      .family = options.sole_column->family,
      .qualifier = options.sole_column->first,
      .latest_only = options.latest_only,
      .older_greatest = std::vector<int64_t>(source_count, std::numeric_limits<int64_t>::max())};
  const uint32_t family_id = table_.definition().families[column.family].id;
  int64_t greatest = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i <= files_.size() && i < source_count; ++i) {  // from the oldest on
    column.older_greatest[source_count - 1 - i] = greatest;
    if (i < files_.size())
      greatest = std::max(
          greatest, GreatestTimestamp(files_[files_.size() - 1 - i].reader->summary(), family_id));
  }
  return column;
}

}  // namespace stele::internal
