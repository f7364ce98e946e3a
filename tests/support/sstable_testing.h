// support/sstable_testing.h: rows as plain values, random or by hand, and SSTables made from them: what sstable tests compare against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "cell/cell_cursor.h"
#include "io/file_system.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_reader.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {

// For failure messages.
std::string ToText(const OwnedCell& cell);

// What random rows look like.
struct RowShape {
  size_t row_count = 100;
  uint32_t family_count = 3;
  size_t cells_per_row = 6;          // about
  size_t qualifier_count = 8;        // to choose from; 0: all different
  size_t value_bytes = 40;           // at most
  int tombstone_percent = 10;        // of cells
  int large_value_percent = 0;       // of cells
  uint32_t narrow_family_count = 0;  // so many of the first families have values of a byte at most
  uint32_t delta_family_count = 0;   // so many of the last families hold sums and sketches
  bool is_key_length_fixed = true;   // else 0 .. 40 bytes, any bytes
};
// Sorted and resolved, as a builder wants them.
std::vector<OwnedRow> RandomRows(uint64_t seed, const RowShape& shape);
void SortCells(std::vector<OwnedCell>* cells);
// In row groups of 200 bytes they have sections: family 1 is narrow, and 2 has a history.
std::vector<OwnedRow> RowsOfSections();
// In row groups of 64 bytes, with zstd, they are worth a dictionary: their values are alike.
std::vector<OwnedRow> RowsAlike();

// Families' ids are 100 + rank.
SstableBuilderOptions OptionsForTest(uint32_t family_count, Codec codec = Codec::kLz4, uint32_t row_group_bytes = 1024);
absl::StatusOr<SstableSummary> WriteSstable(FileSystem* file_system, const std::string& path, const std::vector<OwnedRow>& rows,
                                            const SstableBuilderOptions& options);
absl::StatusOr<std::shared_ptr<SstableReader>> OpenSstableFile(FileSystem* file_system, const std::string& path,
                                                               const SstableSummary* expected = nullptr, BlockCache* cache = nullptr);

// Every family under its own rank.
FamilyMap AllFamilies(size_t family_count);
// What a cursor with this map should hand out of these cells.
std::vector<OwnedCell> Projected(const std::vector<OwnedCell>& cells, const FamilyMap& map);
// The rest of the cursor's row, copied only when all of it was handed out: it must stay valid together.
std::vector<OwnedCell> ReadPinnedRow(CellCursor* cursor);
// From where the cursor stands to its end.
std::vector<OwnedRow> ReadRows(CellCursor* cursor);
// All of it, or the first error.
absl::StatusOr<std::vector<OwnedRow>> ReadWholeSstable(const SstableReader& reader);

// A file of these bytes; must not be there yet.
absl::Status WriteBytes(FileSystem* file_system, const std::string& path, std::string_view bytes);
absl::StatusOr<std::string> ReadBytes(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
