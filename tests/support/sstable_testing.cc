#include "support/sstable_testing.h"

#include <algorithm>
#include <set>

#include "base/status.h"
#include "support/cell_naive_fold.h"

namespace stele::internal {

std::string ToText(const OwnedCell& cell) {
  return fmt::format("family {} kind {} \"{}\" @{} from {} = \"{}\"", cell.family,
                     static_cast<int>(cell.kind), Printable(cell.qualifier), cell.timestamp,
                     cell.range_start, Printable(cell.value));
}

void SortCells(std::vector<OwnedCell>* cells) {
  std::stable_sort(cells->begin(), cells->end(), [](const OwnedCell& a, const OwnedCell& b) {
    return CompareCells(a.View(), b.View()) < 0;
  });
  const auto same = [](const OwnedCell& a, const OwnedCell& b) {
    return CompareCells(a.View(), b.View()) == 0;
  };
  cells->erase(std::unique(cells->begin(), cells->end(), same), cells->end());
}

std::vector<OwnedRow> RowsOfSections() {
  std::vector<OwnedRow> rows;
  for (int i = 0; i < 12; ++i) {
    OwnedRow row{fmt::format("row{:02}", i),
                 {{1, CellKind::kSet, 5, 0, "n", fmt::format("{}", i % 10)}}};
    for (int version = 8; version > 0; --version) {
      row.cells.push_back(
          {2, CellKind::kSet, version, 0, "h", fmt::format("version {} of {}", version, i)});
    }
    row.cells.push_back(
        {3, CellKind::kSet, 5, 0, "w", std::string(150, static_cast<char>('a' + i))});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<OwnedRow> RowsAlike() {
  std::vector<OwnedRow> rows;
  for (uint32_t i = 0; i < 60; ++i) {
    std::string value =
        fmt::format("what all the values of this file have in common, before their number, {:08x}",
                    i * 2'654'435'761U);
    rows.push_back(
        {fmt::format("row{:02}", i), {{1, CellKind::kSet, i, 0, "q", std::move(value)}}});
  }
  return rows;
}

namespace {

std::string RandomBytes(Random& random, size_t bytes) {
  std::string text(bytes, '\0');
  // Half of the texts are compressible.
  const uint64_t alphabet = random.OneIn(2) ? 4 : 256;
  for (char& c : text) c = static_cast<char>(random.Below(alphabet) + (alphabet == 4 ? 'a' : 0));
  return text;
}

int64_t RandomTimestamp(Random& random) {
  switch (random.Below(8)) {
    case 0:
      return INT64_MIN + static_cast<int64_t>(random.Below(3));
    case 1:
      return INT64_MAX - static_cast<int64_t>(random.Below(3));
    case 2:
      return static_cast<int64_t>(random.Next());
    default:
      return 1'700'000'000'000'000 + static_cast<int64_t>(random.Below(1000)) * 1000;
  }
}

OwnedCell RandomCell(Random& random, const RowShape& shape) {
  OwnedCell cell;
  cell.family = 1 + static_cast<uint32_t>(random.Below(shape.family_count));
  cell.timestamp = RandomTimestamp(random);
  const uint64_t column =
      shape.qualifier_count == 0 ? random.Next() : random.Below(shape.qualifier_count);
  if (column != 0) cell.qualifier = fmt::format("q{}", column);
  if (random.Below(100) < static_cast<uint64_t>(shape.tombstone_percent)) {
    const uint64_t which = random.Below(4);
    if (which == 0) return {};  // the default cell with a tombstone kind set below: a row tombstone
    if (which == 1) return {cell.family, CellKind::kDeleteFamily, 0, 0, "", ""};
    cell.kind = CellKind::kDeleteRange;
    cell.range_start = std::min(cell.timestamp, RandomTimestamp(random));
    return cell;
  }
  if (cell.family + shape.delta_family_count > shape.family_count) {
    cell.kind = cell.family % 2 == 0 ? CellKind::kSum : CellKind::kHll;
    cell.value = cell.kind == CellKind::kSum
                     ? NaiveNumber(static_cast<int64_t>(random.Next()))
                     : NaiveSketch(std::vector<std::string>(1 + random.Below(2),
                                                            fmt::format("{}", random.Next())));
    return cell;
  }
  const bool is_narrow = cell.family <= shape.narrow_family_count;
  const bool is_large =
      !is_narrow && random.Below(100) < static_cast<uint64_t>(shape.large_value_percent);
  cell.value = RandomBytes(random, is_large ? 64 * 1024 + random.Below(200'000)
                                            : random.Below(is_narrow ? 2 : shape.value_bytes + 1));
  return cell;
}

}  // namespace

std::vector<OwnedRow> RandomRows(uint64_t seed, const RowShape& shape) {
  Random random(seed);
  std::set<std::string> keys;
  while (keys.size() < shape.row_count) {
    keys.insert(shape.is_key_length_fixed
                    ? fmt::format("row{:08}", random.Below(shape.row_count * 20))
                    : RandomBytes(random, random.Below(41)));
  }
  std::vector<OwnedRow> rows;
  for (const std::string& key : keys) {
    OwnedRow row{key, {}};
    for (size_t i = 1 + random.Below(2 * shape.cells_per_row); i > 0; --i) {
      OwnedCell cell = RandomCell(random, shape);
      if (cell.family == kRowFamily) cell.kind = CellKind::kDeleteRow;
      row.cells.push_back(std::move(cell));
    }
    SortCells(&row.cells);
    rows.push_back(std::move(row));
  }
  return rows;
}

SstableBuilderOptions OptionsForTest(uint32_t family_count, Codec codec, uint32_t row_group_bytes) {
  SstableBuilderOptions options;
  options.file_id = 0x1122334455667788;
  for (uint32_t family_index = 1; family_index <= family_count; ++family_index)
    options.family_ids.push_back(100 + family_index);
  options.codec = codec;
  options.row_group_bytes = row_group_bytes;
  return options;
}

absl::StatusOr<SstableSummary> WriteSstable(FileSystem* file_system, const std::string& path,
                                            const std::vector<OwnedRow>& rows,
                                            const SstableBuilderOptions& options) {
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         file_system->Open(path, OpenMode::kCreate));
  SstableBuilder builder(file.get(), options);
  std::vector<Cell> batch;
  for (const OwnedRow& row : rows) {
    STELE_RETURN_IF_ERROR(builder.StartRow(row.row_key));
    // The batch size varies; it must not change the result.
    for (size_t i = 0; i < row.cells.size(); i += batch.size()) {
      batch.clear();
      for (size_t j = i; j < row.cells.size() && batch.size() <= i % 7; ++j)
        batch.push_back(row.cells[j].View());
      STELE_RETURN_IF_ERROR(builder.AddCells(batch));
    }
  }
  return builder.Finish();
}

absl::StatusOr<std::shared_ptr<SstableReader>> OpenSstableFile(FileSystem* file_system,
                                                               const std::string& path,
                                                               const SstableSummary* expected,
                                                               BlockCache* cache) {
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, file_system->Open(path, OpenMode::kRead));
  return SstableReader::Open(std::move(file), "000007.sst", expected, cache);
}

FamilyMap AllFamilies(size_t family_count) {
  FamilyMap map(family_count + 1);
  for (size_t family_index = 0; family_index < map.size(); ++family_index)
    map[family_index] = static_cast<uint32_t>(family_index);
  return map;
}

std::vector<OwnedCell> Projected(const std::vector<OwnedCell>& cells, const FamilyMap& map) {
  std::vector<OwnedCell> result;
  for (const OwnedCell& cell : cells) {
    const bool is_row = cell.family == kRowFamily;
    if (!is_row && map[cell.family] == kSkippedFamily) continue;
    result.push_back(cell);
    result.back().family = is_row ? kRowFamily : map[cell.family];
  }
  return result;
}

std::vector<OwnedCell> ReadPinnedRow(CellCursor* cursor) {
  std::vector<OwnedCell> result;
  std::vector<Cell> cells;
  while (ReadNextCells(cursor, &cells)) {
  }
  for (const Cell& cell : cells) result.push_back(OwnedCell::Copy(cell));
  return result;
}

std::vector<OwnedRow> ReadRows(CellCursor* cursor) {
  std::vector<OwnedRow> rows;
  do {
    std::string key(cursor->row_key());
    rows.push_back({std::move(key), ReadPinnedRow(cursor)});
  } while (cursor->status().ok() && cursor->NextRow());
  return rows;
}

absl::StatusOr<std::vector<OwnedRow>> ReadWholeSstable(const SstableReader& reader) {
  CursorOptions options;
  options.families = AllFamilies(reader.family_ids().size());
  const auto cursor = reader.NewCursor(options);
  std::vector<OwnedRow> rows;
  if (cursor->SeekToEdge()) rows = ReadRows(cursor.get());
  if (!cursor->status().ok()) return cursor->status();
  return rows;
}

absl::Status WriteBytes(FileSystem* file_system, const std::string& path, std::string_view bytes) {
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         file_system->Open(path, OpenMode::kCreate));
  return file->Write(0, bytes);
}

absl::StatusOr<std::string> ReadBytes(FileSystem* file_system, const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         file_system->Open(path, OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
  std::string text(bytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(0, bytes, text.data()));
  text.resize(got);
  return text;
}

}  // namespace stele::internal
