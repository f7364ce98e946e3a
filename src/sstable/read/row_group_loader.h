// sstable/read/row_group_loader.h: loads row groups of a section from the block cache or the file,
// with only the needed blocks.
//
// Used by:   sstable/read/section_cursor.cc, sstable/read/plain_row.cc,
//            sstable/read/row_group_prefetch.cc, sstable/inspect/sstable_dump.cc,
//            sstable/inspect/sstable_verify.cc.
// Calls:     sstable/read/block_cache.h, and on a miss sstable/read/open_sstable.h to read the
//            file.
// Reading:   adjacent blocks are read together. A small group is read as a whole if much of it is
//            needed. A caller that goes from group to group, in either direction, gets readahead:
//            as many groups as it has passed, up to 256 KiB, and up to the end of the section's
//            extent. While the memory budget is exceeded, one group is read at a time, and its
//            bytes are freed once it is decoded. Only the blocks of the requested row are decoded,
//            or all blocks of the group for a scan.
// Errors:    DataLoss naming file and offset for a corrupt group; other groups can still be loaded.
//            If a read fails that includes bytes around the requested blocks, it is repeated
//            without them.
// Threads:   confined to its cursor's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "cell/cell_cursor.h"
#include "sstable/read/open_sstable.h"
#include "sstable/read/row_group.h"

namespace stele::internal {

class RowGroupLoader {
 public:
  // All arguments must outlive the loader. The needed blocks are those of families that the options
  // do not skip, except blocks that the families' spans rule out.
  RowGroupLoader(const OpenSstable& table, const OpenSection& section,
                 const CursorOptions& options);

  using GroupPointer = std::shared_ptr<const RowGroup>;
  // Loads every block of a needed family. `part`, if not null, is the part of the group that the
  // caller has; the result keeps its memory.
  absl::StatusOr<GroupPointer> LoadAll(size_t group_index, GroupPointer part = nullptr);
  // Loads the blocks of one row, without unneeded families. In forward direction, the row is the
  // first one >= bound, which the group must have. In reverse it is the last one < bound. Loads
  // only the keys if there is no such row, or if the row continues in the next group and may be
  // entered there. Sets `*row` to the row, or in reverse to the row after it.
  absl::StatusOr<GroupPointer> LoadRow(size_t group_index, std::string_view bound,
                                       Direction direction, uint32_t* row);
  // Starts to read the wanted blocks of the group, up to 64 KiB from its start, and does not wait.
  // LoadRow needs these. Does nothing if the cache has the row.
  void StartRead(size_t group_index, std::string_view row_key) const;
  // A caller that will load every group that ends at or before `end_offset`, and none after it,
  // lets the loader read them together.
  void ReadUpTo(uint64_t end_offset) { read_up_to_ = end_offset; }
  // The number of groups whose blocks were decoded, not found in the cache.
  size_t decoded_count() const { return decoded_count_; }
  // True for keys, and for families whose versions or tombstones are needed.
  bool IsWanted(const BlockEntry& block) const;
  // True if the group may have needed cells.
  bool HasWantedCells(const GroupReference& group) const;

 private:
  using MissingBlocks = absl::InlinedVector<size_t, 8>;
  bool WantsMuchOf(const GroupReference& group) const;
  GroupPointer FindCached(size_t group_index) const;
  // A range of bytes of the file: [begin, end).
  struct ByteRange {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t bytes() const { return end - begin; }
  };
  void NoteStep(size_t group_index);
  // Returns `group` with the missing blocks added, or another group that also shows its blocks. If
  // `group` is null, the keys are missing, too.
  absl::StatusOr<GroupPointer> Grow(size_t group_index, const GroupReference& reference,
                                    const MissingBlocks& missing, GroupPointer group);
  // Keys are added to `new_group`, which may be null if no keys are missing.
  absl::StatusOr<std::unique_ptr<DecodedBlocks>> Decode(size_t group_index,
                                                        const GroupReference& reference,
                                                        const MissingBlocks& missing,
                                                        RowGroup* new_group);
  // Inserts the group into the cache, or updates its size.
  void Cache(size_t group_index, const GroupPointer& group) const;
  // Returns the stored bytes of a range of the group. Also reads bytes around the range that will
  // be needed next. The group's bytes before `last_end` will be needed.
  absl::StatusOr<std::string_view> Read(size_t group_index, const GroupReference& reference,
                                        ByteRange wanted, uint64_t last_end);
  absl::Status FillWindow(ByteRange byte_range);
  void DropWindow(const GroupReference& reference);
  ByteRange RangeToRead(size_t group_index, const GroupReference& reference, ByteRange wanted,
                        uint64_t last_end) const;
  ByteRange PrefetchedRange(size_t group_index, ByteRange byte_range) const;
  uint64_t CacheKey(size_t group_index) const {
    return group_index * kSectionsMax + section_.number;
  }
  void CountBlocks(size_t count) {
    if (stats_ != nullptr) stats_->blocks += count;
  }

  const OpenSstable& table_;
  const OpenSection& section_;
  const CursorOptions& options_;
  CursorStats* const stats_;
  Buffer window_memory_;  // begins with the bytes read last, those of window_
  MemoryCharge window_charge_;
  ByteRange window_;
  std::optional<size_t> group_index_before_;  // the group loaded last
  // How many times in a row the reader continued with the next group.
  size_t step_count_ = 0;
  bool is_reverse_ = false;  // ... backwards
  uint64_t read_up_to_ = 0;  // 0: unknown
  size_t decoded_count_ = 0;
};

// Decodes one block of a group from its stored bytes: into `blocks`, or, if it is the keys block,
// into `group`, whose memory is in `blocks`.
absl::Status DecodeGroupBlock(const OpenSstable& table, const OpenSection& section,
                              const GroupReference& reference, size_t block,
                              std::string_view stored, DecodedBlocks* blocks, RowGroup* group);

}  // namespace stele::internal
