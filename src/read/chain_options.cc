#include "read/chain_options.h"

#include <algorithm>
#include <utility>

#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"

namespace stele::internal {
namespace {

// The versions of each family that a read can need; empty: all. For a rule that counts versions,
// the span includes newer versions than the requested ones. Older ones do not affect ordinals.
std::vector<TimestampSpan> SpansOf(const TableDefinition& definition, const TimestampSpan& asked,
                                   bool apply_gc, int64_t now) {
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

// True if the rule of each wanted family keeps only the newest version of a column.
bool KeepOnlyNewest(const TableDefinition& definition, const FamilySet& wanted_families) {
  for (size_t i = 0; i < definition.retentions.size(); ++i) {
    const bool is_wanted = wanted_families.empty() || wanted_families[i];
    if (is_wanted && !definition.retentions[i].KeepsOnlyNewest()) return false;
  }
  return true;
}

FamilyMap WantedMap(const TableView& table, std::span<const uint32_t> source_ids,
                    const FamilySet& wanted) {
  FamilyMap map = table.definition().families.MapFrom(source_ids);
  if (wanted.empty()) return map;
  for (uint32_t& family_index : map) {
    if (family_index != kSkippedFamily && !wanted[family_index - 1]) family_index = kSkippedFamily;
  }
  return map;
}

// The file's families that its statistics do not rule out. Tombstones are always needed (engine
// rule 12).
FamilySet NeededFamilies(const TableView& table, const SstableSummary& summary,
                         const ChainOptions& options) {
  const FamilyList& families = table.definition().families;
  FamilySet needed(families.size(), false);
  for (const FamilySummary& family : summary.families) {
    const std::optional<uint32_t> family_index = families.IndexOfId(family.family_id);
    if (!family_index.has_value() ||
        (!options.wanted_families.empty() && !options.wanted_families[*family_index - 1]))
      continue;
    const bool has_versions =
        family.cells != 0 &&
        (options.spans.empty() ||
         options.spans[*family_index - 1].Meets(family.timestamp_min, family.timestamp_max));
    needed[*family_index - 1] = has_versions || family.tombstones != 0;
  }
  return needed;
}

}  // namespace

ChainOptions ReadChainOptions(const TableDefinition& definition, const FilterProgram& program,
                              bool apply_gc, int64_t now) {
  ChainOptions options;
  const FamilySet& wanted = program.wanted_families();
  if (std::find(wanted.begin(), wanted.end(), false) != wanted.end())
    options.wanted_families = wanted;
  options.latest_only =
      program.latest_only() || (apply_gc && KeepOnlyNewest(definition, options.wanted_families));
  options.sole_column = program.sole_column();
  options.spans = SpansOf(definition, program.timestamps(), apply_gc, now);
  options.retention = RetentionPolicy{.now = now, .drop_tombstones = true};
  if (apply_gc) options.retention->rules = definition.retentions;
  return options;
}

CursorOptions SourceOptions(const TableView& table, const ChainOptions& options,
                            std::span<const uint32_t> source_ids,
                            const FamilySet& wanted_families) {
  CursorOptions source{.direction = options.direction,
                       .families = WantedMap(table, source_ids, wanted_families),
                       .fill_cache = options.fill_cache,
                       .latest_only = options.latest_only,
                       .defers_values = options.retention.has_value() || options.defers_values,
                       .reserve_large_value = options.reserve_large_value,
                       .stats = options.stats,
                       .prefetch_runner = options.prefetch_runner};
  if (options.spans.empty()) return source;
  source.spans.resize(source.families.size());
  for (size_t family_index = 1; family_index < source.families.size(); ++family_index) {
    if (source.families[family_index] != kSkippedFamily)
      source.spans[family_index] = options.spans[source.families[family_index] - 1];
  }
  return source;
}

absl::StatusOr<OpenedFile> OpenFile(const TableView& table, const ViewReference& reference,
                                    const ChainOptions& options) {
  OpenedFile opened;
  if (!options.wanted_families.empty() || !options.spans.empty()) {
    const SstableSummary& summary = reference.reference.file->summary;
    opened.wanted_families = NeededFamilies(table, summary, options);
    const FamilySet& needed = opened.wanted_families;
    if (summary.row_tombstones == 0 &&
        std::find(needed.begin(), needed.end(), true) == needed.end())
      return OpenedFile();
  }
  if (reference.file->reader() == nullptr) return reference.file->open_status();
  opened.reader = reference.file->reader().get();
  return opened;
}

std::unique_ptr<CellCursor> MergeSources(std::vector<std::unique_ptr<CellCursor>> sources,
                                         const ChainOptions& options, SoleColumn sole_column,
                                         KeptSources kept_sources) {
  if (sources.empty()) return nullptr;
  std::unique_ptr<CellCursor> chain =
      NewMergeCursor(std::move(sources), options.direction, std::move(sole_column));
  if (!options.retention) return chain;
  RetentionPolicy policy = *options.retention;
  policy.reads_lazy_values = true;
  policy.kept_sources = std::move(kept_sources);
  return NewRetentionCursor(std::move(chain), std::move(policy));
}

}  // namespace stele::internal
