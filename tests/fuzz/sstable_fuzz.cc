// tests/fuzz/sstable_fuzz.cc: opens an SSTable of any bytes and reads it in every way that the
// engine does. It scans in both directions, skips, seeks, projects, and reads the latest versions
// and single rows. It merges the file with itself, writes the result, and verifies and dumps the
// file.
//
// Input:     A byte, then the file. If the byte is odd, checksums are corrected first, as far as
//            footer and index can be read. The reads then reach the data that the checksums
//            protect. The byte's other bits select read options.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/mem_file_system.h"
#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"
#include "sstable/format/bloom.h"
#include "sstable/inspect/sstable_dump.h"
#include "sstable/inspect/sstable_verify.h"
#include "sstable/read/block_cache.h"
#include "sstable/read/sstable_reader.h"
#include "sstable/write/sstable_builder.h"
#include "support/sstable_repair.h"

namespace stele::internal {
namespace {

constexpr size_t kRowsSoughtMax = 40;
// A file may claim millions; the maps of all families belong to the user, not to the file.
constexpr size_t kFamiliesMax = 1000;

uint64_t sum = 0;

void Touch(std::string_view bytes) {
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
}

CursorOptions OptionsOf(const SstableReader& reader, uint8_t choice) {
  CursorOptions options;
  options.families.resize(std::min(reader.family_ids().size(), kFamiliesMax) + 1, kSkippedFamily);
  const bool is_projected = (choice & 2) != 0;
  for (size_t family_index = 1; family_index < options.families.size(); ++family_index) {
    if (!is_projected || family_index % 2 == 0)
      options.families[family_index] = static_cast<uint32_t>(family_index);
  }
  options.fill_cache = (choice & 4) != 0;
  options.latest_only = (choice & 8) != 0;
  if ((choice & 16) != 0)
    options.spans.assign(options.families.size(), {.least = 2, .greatest = 1'000'000});
  return options;
}

// Reads the cells of the cursor's row and unpins after each batch.
void ReadRow(CellCursor* cursor) {
  std::vector<Cell> cells;
  for (; cursor->ReadCells(&cells); cells.clear(), cursor->Unpin()) {
    for (const Cell& cell : cells) {
      Touch(cell.qualifier);
      if (!cell.is_lazy) Touch(cell.value);
    }
  }
}

void ReadAll(CellCursor* cursor, Direction direction, bool skips) {
  std::string row_key_before;
  bool is_first = true;
  for (bool more = cursor->SeekToEdge(); more; more = cursor->NextRow()) {
    const std::string row_key(cursor->row_key());
    if (!is_first && (direction == Direction::kForward ? row_key <= row_key_before
                                                       : row_key >= row_key_before)) {
      __builtin_trap();  // rows out of order
    }
    is_first = false;
    row_key_before = row_key;
    if (skips) cursor->SkipTo(2, "history");
    ReadRow(cursor);
  }
}

// Seeks the first and last row keys of blocks, adjacent keys, and reads on from there.
void Seek(const SstableReader& reader, CursorOptions options) {
  std::vector<std::string> rows = {"", reader.summary().first_row, reader.summary().last_row,
                                   reader.summary().last_row + '\0'};
  for (const SstableReader::Boundary& boundary : reader.Boundaries()) {
    if (rows.size() < kRowsSoughtMax) rows.push_back(boundary.row_key);
  }
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    options.direction = direction;
    const auto cursor = reader.NewCursor(options);
    for (const std::string& row : rows) {
      if (!cursor->SeekRow(row)) continue;
      ReadRow(cursor.get());
      if (cursor->NextRow()) cursor->SkipTo(1, "q");
      ReadRow(cursor.get());
    }
  }
  for (const std::string& row_key : rows) {
    Touch(reader.MayContainRow(RowHash(row_key)) ? "y" : "n");
    PlainRow row;
    const absl::StatusOr<RowForm> form = reader.ReadPlainRow(row_key, options, &row);
    if (!form.ok() || *form != RowForm::kPlain) continue;
    std::vector<Cell> cells;
    row.AppendCells(&cells);
    for (const Cell& cell : cells) Touch(cell.value);
  }
}

// Compacts the file with a file of the same rows. Its cells may be in any order: the result is an
// error, or a file that opens.
void Compact(const SstableReader& reader, CursorOptions options, FileSystem* file_system) {
  options.direction = Direction::kForward;
  options.defers_values = true;
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (int i = 0; i < 2; ++i) cursors.push_back(reader.NewCursor(options));
  const auto cursor =
      NewRetentionCursor(NewMergeCursor(std::move(cursors), Direction::kForward),
                         {.drop_tombstones = !options.latest_only, .reads_lazy_values = true});
  auto file = file_system->Open("compacted", OpenMode::kCreate);
  SstableBuilderOptions builder_options{.file_id = 7, .row_group_bytes = 512};
  for (size_t family_index = 1; family_index < options.families.size(); ++family_index)
    builder_options.family_ids.push_back(static_cast<uint32_t>(family_index));
  SstableBuilder builder(file->get(), builder_options);
  std::vector<Cell> cells;
  absl::Status status;
  for (bool more = cursor->SeekToEdge(); more && status.ok(); more = cursor->NextRow()) {
    status = builder.StartRow(cursor->row_key());
    for (cells.clear(); status.ok() && cursor->ReadCells(&cells); cells.clear()) {
      status = builder.AddCells(cells);
      cursor->Unpin();
    }
  }
  if (!status.ok() || !cursor->status().ok() || !builder.Finish().ok()) return;
  const auto compacted = SstableReader::Open(*std::move(file), "compacted.sst", nullptr, nullptr);
  if (!compacted.ok()) __builtin_trap();  // its inputs would be deleted
  bool is_damaged = false;
  const absl::Status verified =
      VerifySstable(**compacted, [&is_damaged](const SstableDamage&) { is_damaged = true; });
  if (!verified.ok() || is_damaged) __builtin_trap();
}

}  // namespace
}  // namespace stele::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stele::internal;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const uint8_t choice = data[0];
  if (choice % 2 == 1) RepairChecksums(&bytes);
  MemFileSystem file_system;
  auto file = file_system.Open("fuzz", OpenMode::kCreate);
  if (!file.ok() || !(*file)->Write(0, bytes).ok()) return 0;
  BlockCache cache(size_t{64} << 10);
  const auto opened = SstableReader::Open(*std::move(file), "fuzz.sst", nullptr,
                                          (choice & 32) != 0 ? &cache : nullptr);
  if (!opened.ok()) return 0;
  const SstableReader& reader = **opened;
  CursorOptions options = OptionsOf(reader, choice);
  for (const bool skips : {false, true})
    ReadAll(reader.NewCursor(options).get(), options.direction, skips);
  Seek(reader, options);
  Compact(reader, options, &file_system);
  options.direction = Direction::kReverse;
  ReadAll(reader.NewCursor(options).get(), options.direction, false);
  static_cast<void>(VerifySstable(reader, [](const SstableDamage&) {}));
  static_cast<void>(DumpSstable(reader, true));
  volatile uint64_t sink = sum;  // so that the compiler keeps the reads
  static_cast<void>(sink);
  return 0;
}
