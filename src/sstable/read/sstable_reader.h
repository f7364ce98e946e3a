// sstable/read/sstable_reader.h: an open SSTable: its cursors, bloom filter, index and summary.
//
// Used by:   read/source_chain.cc, read/row_cursors.cc, jobs/compaction_job.cc.
// Calls:     sstable/read/section_cursor.h for NewCursor, sstable/read/plain_row.h for
//            ReadPlainRow.
// Format:    docs/reference/format/sstable.md.
// Checks:    the checksum of every block, and every length and offset inside a block. Any mismatch
//            is DataLoss("000012.sst", offset, what); other row groups stay readable.
// Threads:   thread-safe; each cursor is confined to one thread. Cursors keep the reader alive
//            (hold it by shared_ptr).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "io/file_system.h"
#include "sstable/format/sstable_summary.h"
#include "sstable/read/block_cache.h"
#include "sstable/read/open_sstable.h"
#include "sstable/read/plain_row.h"

namespace stele::internal {

class SstableReader : public std::enable_shared_from_this<SstableReader> {
 public:
  // Reads footer, index and bloom filter. `expected` is the manifest's description of the file
  // (null for a single file, as in dump and salvage): a file that differs is DataLoss. `cache` may
  // be null and must outlive the reader.
  static absl::StatusOr<std::shared_ptr<SstableReader>> Open(std::unique_ptr<File> file,
                                                             std::string name,
                                                             const SstableSummary* expected,
                                                             BlockCache* cache);
  ~SstableReader();

  const SstableSummary& summary() const { return table_.footer.summary; }
  // Footer::edit, if it was opened without `expected`; "" otherwise.
  const std::string& edit() const { return table_.footer.edit; }
  // The ids of its families in index order, for FamilyList::MapFrom.
  const std::vector<uint32_t>& family_ids() const { return table_.footer.family_ids; }
  // Returns false if the file has no cell and no tombstone of the row. Rows of tombstones count as
  // rows (engine rule 12).
  bool MayContainRow(uint64_t row_hash) const;
  // Returns a cursor over the rows of the whole file. The caller must restrict it to the rows of
  // its reference.
  std::unique_ptr<CellCursor> NewCursor(const CursorOptions& options) const;
  // Reads one row without a cursor if possible (sstable/read/plain_row.h).
  absl::StatusOr<RowForm> ReadPlainRow(std::string_view row_key, const CursorOptions& options,
                                       PlainRow* row) const;
  // Starts to read what ReadPlainRow will need from the file, and does not wait.
  void StartRead(std::string_view row_key, const CursorOptions& options) const;
  // Row keys that divide the file into parts of about equal stored size, with the stored bytes
  // before each, for SampleRowKeys, tablet splits and samples of dead bytes. Large values count for
  // their rows. Ascending.
  struct Boundary {
    std::string row_key;
    uint64_t offset_bytes = 0;
  };
  std::vector<Boundary> Boundaries() const;
  // The memory of the indexes, the bloom filter and the dictionaries.
  size_t resident_bytes() const;
  // For cursors, verify and dump.
  const OpenSstable& table() const { return table_; }

 private:
  explicit SstableReader(OpenSstable table);

  OpenSstable table_;
};

}  // namespace stele::internal
