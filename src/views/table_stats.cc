#include "views/table_stats.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "views/index_boundaries.h"

namespace stele::internal {
namespace {

constexpr uint64_t kSamplesMax = 128;
constexpr uint64_t kSampleBytesMin = uint64_t{64} << 10;  // closer samples are not useful

constexpr size_t kMemtablePartsMax = 256;

// Divides a memtable into parts with about the same number of rows. Its bytes are those before
// compression, since the compressed size is not known yet.
std::vector<StoredPart> PartsOf(const Memtable& memtable, const KeyRange& rows) {
  std::vector<StoredPart> parts;
  const std::vector<std::string_view> row_keys = memtable.SampleRowKeys(kMemtablePartsMax);
  const uint64_t bytes = memtable.logical_bytes();
  for (size_t i = 0; i < row_keys.size(); ++i) {
    if (!rows.Contains(row_keys[i])) continue;
    parts.push_back({std::string(row_keys[i]),
                     bytes * (i + 1) / row_keys.size() - bytes * i / row_keys.size()});
  }
  return parts;
}

uint64_t SharedBytes(const ViewReference& reference, StoredParts* stored_parts) {
  if (!reference.narrowed) return reference.reference.file->summary.file_bytes;
  uint64_t bytes = 0;
  for (const StoredPart& part : stored_parts->Of(reference, KeyRange::All())) bytes += part.bytes;
  return bytes;
}

void AddFamilies(const TableDefinition& definition, const SstableSummary& summary,
                 std::map<std::string, FamilyStats>* families) {
  for (const FamilySummary& family : summary.families) {
    const std::optional<uint32_t> family_index = definition.families.IndexOfId(family.family_id);
    if (!family_index) continue;
    FamilyStats& stats = (*families)[definition.families[*family_index].name];
    stats.cells += family.cells;
    stats.bytes += family.logical_bytes;
  }
}

// Divides the cells of a file among its tablets by their bytes. Nothing is lost by rounding.
struct CellsLeft {
  CellsLeft(uint64_t file_cells, uint64_t file_bytes) : cells(file_cells), bytes(file_bytes) {}

  uint64_t Take(uint64_t part_bytes) {
    part_bytes = std::min(part_bytes, bytes);
    const uint64_t part = bytes == 0 ? 0 : cells * part_bytes / bytes;
    cells -= part;
    bytes -= part_bytes;
    return part;
  }

  uint64_t cells;
  uint64_t bytes;
};

void AddFamilies(const TableDefinition& definition, const Memtable& memtable,
                 std::map<std::string, FamilyStats>* families) {
  for (uint32_t i = 1; i <= memtable.family_ids().size(); ++i) {
    const std::optional<uint32_t> family_index =
        definition.families.IndexOfId(memtable.family_ids()[i - 1]);
    if (!family_index) continue;
    const Memtable::FamilyCounts counts = memtable.family_counts(i);
    FamilyStats& stats = (*families)[definition.families[*family_index].name];
    stats.cells += counts.cells;
    stats.bytes += counts.bytes;
  }
}

}  // namespace

uint64_t FileBytesOf(const TableView& table) {
  std::map<uint64_t, uint64_t> bytes_of_files;  // tablets share files
  for (const ViewTablet& tablet : table.tablets) {
    for (const ViewReference& reference : tablet.stack) {
      const SstableFile& file = *reference.reference.file;
      bytes_of_files.emplace(file.number, file.summary.file_bytes);
    }
  }
  uint64_t bytes = 0;
  for (const auto& [number, file_bytes] : bytes_of_files) bytes += file_bytes;
  return bytes;
}

TableStats StatsOf(const TableView& table) {
  TableStats stats;
  std::map<std::string, FamilyStats> families;
  for (uint32_t family_index = 1; family_index <= table.definition().families.size();
       ++family_index)
    families[table.definition().families[family_index].name] = {};
  std::set<uint64_t> counted;
  std::map<uint64_t, CellsLeft> left;
  StoredParts stored_parts;
  for (const ViewTablet& tablet : table.tablets) {
    TabletStats tablet_stats{.start = tablet.range.start, .end = tablet.range.end};
    if (tablet.counters != nullptr) {
      tablet_stats.reads = tablet.counters->reads.load(std::memory_order_relaxed);
      tablet_stats.writes = tablet.counters->writes.load(std::memory_order_relaxed);
    }
    std::set<uint64_t> in_tablet;
    for (const ViewReference& reference : tablet.stack) {
      const SstableFile& file = *reference.reference.file;
      const uint64_t bytes = SharedBytes(reference, &stored_parts);
      tablet_stats.bytes_on_disk += bytes;
      const auto [cells_left, is_new] =
          left.try_emplace(file.number, file.summary.cells, file.summary.file_bytes);
      tablet_stats.cells +=
          reference.narrowed ? cells_left->second.Take(bytes) : file.summary.cells;
      in_tablet.insert(file.number);
      if (!counted.insert(file.number).second) continue;
      stats.rows += file.summary.rows;
      stats.cells += file.summary.cells;
      stats.bytes_logical += file.summary.logical_bytes;
      stats.bytes_on_disk += file.summary.file_bytes;
      AddFamilies(table.definition(), file.summary, &families);
    }
    tablet_stats.files = in_tablet.size();
    stats.tablets.push_back(std::move(tablet_stats));
  }
  stats.files = counted.size();
  for (const std::shared_ptr<const Memtable>& memtable : table.memtables) {
    stats.rows += memtable->row_count();
    stats.cells += memtable->cell_count();
    stats.memtable_cells += memtable->cell_count();
    stats.bytes_logical += memtable->logical_bytes();
    AddFamilies(table.definition(), *memtable, &families);
  }
  for (auto& [name, family] : families) {
    family.name = name;
    stats.families.push_back(std::move(family));
  }
  return stats;
}

std::vector<RowKeySample> SampleTable(const TableView& table, const KeyRange& rows) {
  std::map<std::string, uint64_t> bytes_at;  // bytes that begin at a row key, over all sources
  std::set<std::string> tablet_starts;
  StoredParts stored_parts;
  uint64_t total = 0;
  const auto add = [&](const std::vector<StoredPart>& parts) {
    for (const StoredPart& part : parts) {
      bytes_at[part.row_key] += part.bytes;
      total += part.bytes;
    }
  };
  for (const std::shared_ptr<const Memtable>& memtable : table.memtables)
    add(PartsOf(*memtable, rows));
  for (const ViewTablet& tablet : table.tablets) {
    if (!tablet.range.start.empty() && rows.Contains(tablet.range.start))
      tablet_starts.insert(tablet.range.start);
    for (const ViewReference& reference : tablet.stack) add(stored_parts.Of(reference, rows));
  }
  for (const std::string& start : tablet_starts) bytes_at.try_emplace(start, 0);
  const uint64_t step = std::max(kSampleBytesMin, total / kSamplesMax);
  std::vector<RowKeySample> samples;
  uint64_t offset = 0;
  uint64_t sampled = 0;
  for (const auto& [row_key, bytes] : bytes_at) {
    if (tablet_starts.contains(row_key) || offset - sampled >= step) {
      samples.push_back({.row_key = row_key, .offset_bytes = offset});
      sampled = offset;
    }
    offset += bytes;
  }
  samples.push_back({.row_key = rows.end, .offset_bytes = total});
  return samples;
}

}  // namespace stele::internal
