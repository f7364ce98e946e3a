#include "read/source_chain.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/status.h"
#include "cell/bounded_cursor.h"
#include "manifest/runs.h"
#include "merge/merge_cursor.h"
#include "merge/run_cursor.h"
#include "read/file_row_cursor.h"
#include "read/plain_row_cursor.h"

namespace stele::internal {
namespace {

FamilyMap WantedMap(const TableView& table, const std::vector<uint32_t>& source_ids, const std::vector<bool>& wanted) {
  FamilyMap map = table.definition().families.MapFrom(source_ids);
  if (wanted.empty()) return map;
  for (uint32_t& rank : map) {
    if (rank != kSkippedFamily && !wanted[rank - 1]) rank = kSkippedFamily;
  }
  return map;
}

CursorOptions SourceOptions(const ChainOptions& options, FamilyMap families) {
  CursorOptions source{.direction = options.direction,
                       .families = std::move(families),
                       .fill_cache = options.fill_cache,
                       .latest_only = options.latest_only,
                       .defers_values = options.retention.has_value(),
                       .stats = options.stats,
                       .ahead = options.ahead};
  if (options.spans.empty()) return source;
  source.spans.resize(source.families.size());
  for (size_t rank = 1; rank < source.families.size(); ++rank) {
    if (source.families[rank] != kSkippedFamily) source.spans[rank] = options.spans[source.families[rank] - 1];
  }
  return source;
}

// Of the file's families those that the statistics do not rule out: tombstones are needed whatever the cells are (engine rule 12).
std::vector<bool> NeededFamilies(const TableView& table, const SstableSummary& summary, const ChainOptions& options) {
  const FamilyList& families = table.definition().families;
  std::vector<bool> needed(families.size(), false);
  for (const FamilySummary& family : summary.families) {
    const std::optional<uint32_t> rank = families.RankOfId(family.family_id);
    if (!rank.has_value() || (!options.wanted_families.empty() && !options.wanted_families[*rank - 1])) continue;
    const bool has_versions =
        family.cells != 0 && (options.spans.empty() || options.spans[*rank - 1].Meets(family.timestamp_min, family.timestamp_max));
    needed[*rank - 1] = has_versions || family.tombstones != 0;
  }
  return needed;
}

// Which versions a read can need of each family; empty: all. A rule that counts versions counts those newer than what is asked for, too;
// older ones change no rank that matters.
std::vector<TimestampSpan> SpansOf(const TableDefinition& definition, const TimestampSpan& asked, bool apply_gc, int64_t now) {
  std::vector<TimestampSpan> spans;
  for (size_t i = 0; i < definition.families.size(); ++i) {
    const Retention& retention = definition.retentions[i];
    TimestampSpan span = asked;
    if (apply_gc && retention.CountsVersions()) span.greatest = TimestampSpan().greatest;
    if (apply_gc) span.least = std::max(span.least, retention.OldestKept(now));
    if (span.IsAll()) continue;
    spans.resize(definition.families.size());
    spans[i] = span;
  }
  return spans;
}

// What a reference has for the rows asked for.
struct Opened {
  const SstableReader* reader = nullptr;  // null: nothing
  std::vector<bool> wanted_families;      // as in ChainOptions

  CursorOptions cursor_options(const TableView& table, const ChainOptions& options) const {
    return SourceOptions(options, WantedMap(table, reader->family_ids(), wanted_families));
  }
};

absl::StatusOr<Opened> Open(const TableView& table, const ViewReference& reference, const ChainOptions& options,
                            std::optional<uint64_t>* row_hash) {
  if (options.only_row && !reference.reference.range.Contains(*options.only_row)) return Opened();
  Opened opened{.wanted_families = options.wanted_families};
  if (const SstableSummary& summary = reference.reference.file->summary; !options.wanted_families.empty() || !options.spans.empty()) {
    opened.wanted_families = NeededFamilies(table, summary, options);
    const std::vector<bool>& needed = opened.wanted_families;
    if (summary.row_tombstones == 0 && std::find(needed.begin(), needed.end(), true) == needed.end()) return Opened();
  }
  if (reference.file->reader() == nullptr) return reference.file->open_status();
  opened.reader = reference.file->reader().get();
  if (options.only_row) {
    const SstableSummary& summary = opened.reader->summary();
    if (*options.only_row < summary.first_row || *options.only_row > summary.last_row) return Opened();
    if (!row_hash->has_value()) *row_hash = RowHash(*options.only_row);
    if (!opened.reader->MayContainRow(**row_hash)) return Opened();
  }
  return opened;
}

// Null when the reference has nothing for the rows asked for; not for only_row.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenReference(const TableView& table, const ViewReference& reference,
                                                          const ChainOptions& options) {
  std::optional<uint64_t> no_hash;
  STELE_ASSIGN_OR_RETURN(const Opened opened, Open(table, reference, options, &no_hash));
  if (opened.reader == nullptr) return nullptr;
  std::unique_ptr<CellCursor> cursor = opened.reader->NewCursor(opened.cursor_options(table, options));
  if (!reference.narrowed) return cursor;
  const KeyRange& range = reference.reference.range;
  return NewBoundedCursor(std::move(cursor), options.direction, range.start,
                          range.unbounded_end ? std::nullopt : std::optional<std::string>(range.end));
}

// References of the tablet's stack that do not overlap, each opened when its rows are come to. Table and tablet outlive the cursor.
std::unique_ptr<CellCursor> NewStackRun(const TableView& table, const ViewTablet& tablet, std::vector<uint32_t> run,
                                        const ChainOptions& options) {
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

absl::Status AddStack(const TableView& table, const ViewTablet& tablet, const ChainOptions& options,
                      std::vector<std::unique_ptr<CellCursor>>* sources) {
  std::vector<const KeyRange*> ranges;
  ranges.reserve(tablet.stack.size());
  for (const ViewReference& reference : tablet.stack) ranges.push_back(&reference.reference.range);
  for (std::vector<uint32_t>& run : DivideIntoRuns(ranges)) {
    if (run.size() > 1) {
      sources->push_back(NewStackRun(table, tablet, std::move(run), options));
      continue;
    }
    STELE_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor, OpenReference(table, tablet.stack[run.front()], options));
    if (cursor != nullptr) sources->push_back(std::move(cursor));
  }
  return absl::OkStatus();
}

void AddMemtables(const TableView& table, const ViewTablet& tablet, const ChainOptions& options,
                  std::vector<std::unique_ptr<CellCursor>>* sources) {
  for (const std::shared_ptr<const Memtable>& memtable : table.memtables) {
    if (memtable->empty()) continue;
    std::unique_ptr<CellCursor> cursor =
        memtable->NewCursor(options.sequence, SourceOptions(options, WantedMap(table, memtable->family_ids(), options.wanted_families)));
    // A memtable holds the rows of all tablets.
    if (table.tablets.size() > 1) {
      cursor = NewBoundedCursor(std::move(cursor), options.direction, tablet.range.start,
                                tablet.range.unbounded_end ? std::nullopt : std::optional<std::string>(tablet.range.end));
    }
    sources->push_back(std::move(cursor));
  }
}

std::unique_ptr<CellCursor> ChainOf(std::vector<std::unique_ptr<CellCursor>> sources, const ChainOptions& options,
                                    SoleColumn sole_column = {}) {
  if (sources.empty()) return nullptr;
  std::unique_ptr<CellCursor> chain = NewMergeCursor(std::move(sources), options.direction, std::move(sole_column));
  if (!options.retention) return chain;
  RetentionPolicy policy = *options.retention;
  policy.reads_deferred = true;
  return NewRetentionCursor(std::move(chain), std::move(policy));
}

// No version of a family in the file is newer.
int64_t GreatestTimestamp(const SstableSummary& summary, uint32_t family_id) {
  for (const FamilySummary& family : summary.families) {
    if (family.family_id == family_id && family.cells != 0) return family.timestamp_max;
  }
  return std::numeric_limits<int64_t>::min();
}

// Of sources of one row, newest first, the last ones being `files`.
SoleColumn SoleColumnOf(const TableView& table, const ChainOptions& options, size_t source_count, std::span<const Opened> files) {
  if (options.sole_column == nullptr) return {};
  SoleColumn column{.family = options.sole_column->family,
                    .qualifier = options.sole_column->first,
                    .newest_alone = options.latest_only,
                    .older_greatest = std::vector<int64_t>(source_count, std::numeric_limits<int64_t>::max())};
  const uint32_t family_id = table.definition().families[column.family].id;
  int64_t greatest = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i <= files.size() && i < source_count; ++i) {  // from the oldest on
    column.older_greatest[source_count - 1 - i] = greatest;
    if (i < files.size()) greatest = std::max(greatest, GreatestTimestamp(files[files.size() - 1 - i].reader->summary(), family_id));
  }
  return column;
}

// For only_row. Most references have nothing for it; what lies in one file alone, and plainly, takes no chain.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenRowChain(const TableView& table, const ViewTablet& tablet, const ChainOptions& options) {
  const std::string_view row_key = *options.only_row;
  absl::InlinedVector<Opened, 2> opened;
  std::optional<uint64_t> row_hash;
  for (const ViewReference& reference : tablet.stack) {
    STELE_ASSIGN_OR_RETURN(Opened one, Open(table, reference, options, &row_hash));
    if (one.reader != nullptr) opened.push_back(std::move(one));
  }
  std::vector<std::unique_ptr<CellCursor>> sources;
  for (const std::shared_ptr<const Memtable>& memtable : table.memtables) {
    if (memtable->empty()) continue;
    std::unique_ptr<CellCursor> cursor = memtable->NewRowCursor(
        row_key, options.sequence, SourceOptions(options, WantedMap(table, memtable->family_ids(), options.wanted_families)));
    if (cursor != nullptr) sources.push_back(std::move(cursor));
  }
  // What is decoded only to find that it takes a chain, the chain finds in the cache.
  if (options.fill_cache && opened.size() == 1 && sources.empty()) {
    PlainRow row;
    const CursorOptions cursor_options = opened.front().cursor_options(table, options);
    STELE_ASSIGN_OR_RETURN(const RowForm form, opened.front().reader->ReadPlainRow(row_key, cursor_options, &row));
    if (form == RowForm::kAbsent) return nullptr;
    if (form == RowForm::kPlain) return NewPlainRowCursor(row_key, std::move(row), options.direction, options.retention);
  }
  for (const Opened& one : opened) sources.push_back(NewFileRowCursor(one.reader, row_key, one.cursor_options(table, options)));
  SoleColumn sole_column = SoleColumnOf(table, options, sources.size(), opened);
  return ChainOf(std::move(sources), options, std::move(sole_column));
}

}  // namespace

ChainOptions ReadChainOptions(const TableDefinition& definition, const FilterProgram& program, bool apply_gc, int64_t now) {
  ChainOptions options;
  const std::vector<bool>& wanted = program.wanted_families();
  if (std::find(wanted.begin(), wanted.end(), false) != wanted.end()) options.wanted_families = wanted;
  options.latest_only = program.latest_only();
  options.sole_column = program.sole_column();
  options.spans = SpansOf(definition, program.timestamps(), apply_gc, now);
  options.retention = RetentionPolicy{.now = now, .drop_tombstones = true};
  if (apply_gc) options.retention->rules = definition.retentions;
  return options;
}

absl::StatusOr<std::unique_ptr<CellCursor>> OpenChain(const TableView& table, const ViewTablet& tablet, const ChainOptions& options) {
  if (options.only_row) return OpenRowChain(table, tablet, options);
  std::vector<std::unique_ptr<CellCursor>> sources;
  sources.reserve(table.memtables.size() + tablet.stack.size());
  AddMemtables(table, tablet, options, &sources);
  STELE_RETURN_IF_ERROR(AddStack(table, tablet, options, &sources));
  return ChainOf(std::move(sources), options);
}

size_t TabletIndexOf(const TableView& table, std::string_view row_key) {
  const auto it = std::upper_bound(table.tablets.begin(), table.tablets.end(), row_key,
                                   [](std::string_view key, const ViewTablet& tablet) { return key < tablet.range.start; });
  return static_cast<size_t>(it - table.tablets.begin()) - 1;
}

}  // namespace stele::internal
