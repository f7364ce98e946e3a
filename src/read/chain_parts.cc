#include "read/chain_parts.h"

#include <algorithm>
#include <utility>

#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"

namespace stele::internal {
namespace {

FamilyMap WantedMap(const TableView& table, std::span<const uint32_t> source_ids, const std::vector<bool>& wanted) {
  FamilyMap map = table.definition().families.MapFrom(source_ids);
  if (wanted.empty()) return map;
  for (uint32_t& rank : map) {
    if (rank != kSkippedFamily && !wanted[rank - 1]) rank = kSkippedFamily;
  }
  return map;
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

}  // namespace

CursorOptions SourceOptions(const TableView& table, const ChainOptions& options, std::span<const uint32_t> source_ids,
                            const std::vector<bool>& wanted_families) {
  CursorOptions source{.direction = options.direction,
                       .families = WantedMap(table, source_ids, wanted_families),
                       .fill_cache = options.fill_cache,
                       .latest_only = options.latest_only,
                       .defers_values = options.retention.has_value() || options.defers_values,
                       .stats = options.stats,
                       .ahead = options.ahead};
  if (options.spans.empty()) return source;
  source.spans.resize(source.families.size());
  for (size_t rank = 1; rank < source.families.size(); ++rank) {
    if (source.families[rank] != kSkippedFamily) source.spans[rank] = options.spans[source.families[rank] - 1];
  }
  return source;
}

absl::StatusOr<OpenedFile> OpenFile(const TableView& table, const ViewReference& reference, const ChainOptions& options,
                                    std::optional<uint64_t>* row_hash) {
  if (options.only_row && !reference.reference.range.Contains(*options.only_row)) return OpenedFile();
  OpenedFile opened{.wanted_families = options.wanted_families};
  if (const SstableSummary& summary = reference.reference.file->summary; !options.wanted_families.empty() || !options.spans.empty()) {
    opened.wanted_families = NeededFamilies(table, summary, options);
    const std::vector<bool>& needed = opened.wanted_families;
    if (summary.row_tombstones == 0 && std::find(needed.begin(), needed.end(), true) == needed.end()) return OpenedFile();
  }
  if (reference.file->reader() == nullptr) return reference.file->open_status();
  opened.reader = reference.file->reader().get();
  if (options.only_row) {
    const SstableSummary& summary = opened.reader->summary();
    if (*options.only_row < summary.first_row || *options.only_row > summary.last_row) return OpenedFile();
    if (!row_hash->has_value()) *row_hash = RowHash(*options.only_row);
    if (!opened.reader->MayContainRow(**row_hash)) return OpenedFile();
  }
  return opened;
}

std::unique_ptr<CellCursor> MergeSources(std::vector<std::unique_ptr<CellCursor>> sources, const ChainOptions& options,
                                         SoleColumn sole_column) {
  if (sources.empty()) return nullptr;
  std::unique_ptr<CellCursor> chain = NewMergeCursor(std::move(sources), options.direction, std::move(sole_column));
  if (!options.retention) return chain;
  RetentionPolicy policy = *options.retention;
  policy.reads_deferred = true;
  return NewRetentionCursor(std::move(chain), std::move(policy));
}

}  // namespace stele::internal
