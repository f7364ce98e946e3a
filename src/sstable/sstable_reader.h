// sstable/sstable_reader.h: an open SSTable: cursors over it, its bloom, its statistics, and its check.
//
// Path:      read, compaction -> NewCursor -> block cache -> io.
// Format:    docs/format/sstable.md.
// Checks:    every block against the checksum in the reference to it, seeded with the file's id and the block's offset; every length and
//            offset inside a block against its bounds. Any mismatch is DataLoss("000012.sst", offset, what); other row groups stay
//            readable.
// Threads:   thread-safe; cursors are confined each to one thread. Cursors keep the reader alive (hold it by shared_ptr).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "io/file_system.h"
#include "sstable/block_cache.h"
#include "sstable/plain_row.h"
#include "sstable/sstable_summary.h"

namespace stele::internal {

// The hash a bloom is asked with; computed once per row key and used for every SSTable.
uint64_t RowHash(std::string_view row_key);

class SstableReader : public std::enable_shared_from_this<SstableReader> {
 public:
  // Reads footer, index and bloom. `expected` is what the manifest says of the file (null for a file looked at alone, as dump and salvage
  // do): a file that disagrees is DataLoss. `cache` may be null and outlives the reader.
  static absl::StatusOr<std::shared_ptr<SstableReader>> Open(std::unique_ptr<File> file, std::string name, const SstableSummary* expected,
                                                             BlockCache* cache);
  ~SstableReader();

  const SstableSummary& summary() const;
  // Its families' ids by rank, for FamilyList::MapFrom.
  const std::vector<uint32_t>& family_ids() const;
  // False: no cell and no tombstone of the row is here. Rows of tombstones count as rows (engine rule 12).
  bool MayContainRow(uint64_t row_hash) const;
  // Cells of rows in the whole file; who sees only a part of it (a reference) bounds the rows itself.
  std::unique_ptr<CellCursor> NewCursor(const CursorOptions& options) const;
  // One row, where no cursor is needed for it (sstable/plain_row.h).
  absl::StatusOr<RowForm> ReadPlainRow(std::string_view row_key, const CursorOptions& options, PlainRow* row) const;
  // Row keys that cut the file into about equal stored parts, with the stored bytes before each: for SampleRowKeys and slices. Ascending.
  struct Boundary {
    std::string row_key;
    uint64_t offset_bytes = 0;
  };
  std::vector<Boundary> Boundaries() const;
  // Memory held by index and bloom.
  size_t resident_bytes() const;

  // Reads every byte of the file and checks everything; each damage found is reported and checking goes on.
  struct Damage {
    uint64_t offset = 0;
    std::string first_row;  // of the row group hit; empty strings when not known
    std::string last_row;
    std::vector<uint32_t> family_ids;  // hit by it; empty: all
    std::string what;
  };
  absl::Status Verify(const std::function<void(const Damage&)>& report) const;
  // The whole file as stable text: header, each row group with its pages, and with `cells` every cell.
  absl::StatusOr<std::string> Dump(bool cells) const;

 private:
  class State;
  explicit SstableReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stele::internal
