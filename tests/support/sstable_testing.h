// tests/support/sstable_testing.h: rows as plain values, random or handmade, and SSTables written
// from them, for the tests of sstable/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "cell/cell_cursor.h"
#include "io/file_system.h"
#include "sstable/read/sstable_reader.h"
#include "sstable/write/sstable_builder.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {

// Prints a cell for failure messages.
std::string ToText(const OwnedCell& cell);

// The distribution of random rows.
struct RowShape {
  size_t row_count = 100;
  uint32_t family_count = 3;
  size_t cells_per_row = 6;     // average
  size_t qualifier_count = 8;   // distinct qualifiers; 0: every cell has its own
  size_t value_bytes = 40;      // maximum
  int tombstone_percent = 10;   // share of cells
  int large_value_percent = 0;  // share of cells
  // This many of the first families have values of at most one byte.
  uint32_t narrow_family_count = 0;
  uint32_t delta_family_count = 0;  // this many of the last families contain sums and sketches
  bool is_key_length_fixed = true;  // false: keys of 0 to 40 arbitrary bytes
};
// Returns sorted rows without redundant cells, as a builder requires them.
std::vector<OwnedRow> RandomRows(uint64_t seed, const RowShape& shape);
void SortCells(std::vector<OwnedCell>* cells);
// Returns rows that get sections in row groups of 200 bytes: family 1 is narrow, and family 2 has
// old versions.
std::vector<OwnedRow> RowsOfSections();
// Returns rows with similar values. In row groups of 64 bytes with zstd, a dictionary pays for
// itself.
std::vector<OwnedRow> RowsAlike();

// The family ids are 100 + family index.
SstableBuilderOptions OptionsForTest(uint32_t family_count, Codec codec = Codec::kLz4,
                                     uint32_t row_group_bytes = 1024);
absl::StatusOr<SstableSummary> WriteSstable(FileSystem* file_system, const std::string& path,
                                            const std::vector<OwnedRow>& rows,
                                            const SstableBuilderOptions& options);
absl::StatusOr<std::shared_ptr<SstableReader>> OpenSstableFile(
    FileSystem* file_system, const std::string& path, const SstableSummary* expected = nullptr,
    BlockCache* cache = nullptr);

// Maps every family to its own family index.
FamilyMap AllFamilies(size_t family_count);
// Returns the cells that a cursor with this map returns.
std::vector<OwnedCell> Projected(const std::vector<OwnedCell>& cells, const FamilyMap& map);
// Reads the remaining cells of the cursor's row and copies them only after the last batch: all of
// them must stay valid until then.
std::vector<OwnedCell> ReadPinnedRow(CellCursor* cursor);
// Reads from the cursor's position to its end.
std::vector<OwnedRow> ReadRows(CellCursor* cursor);
// Returns all rows, or the first error.
absl::StatusOr<std::vector<OwnedRow>> ReadWholeSstable(const SstableReader& reader);

// Creates a file with these bytes. The file must not exist.
absl::Status WriteBytes(FileSystem* file_system, const std::string& path, std::string_view bytes);
absl::StatusOr<std::string> ReadBytes(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
