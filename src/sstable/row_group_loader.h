// sstable/row_group_loader.h: gets row groups of a section from the block cache or the file, with no more units than wanted.
//
// Path:      section_cursor, dump -> here -> block cache -> io.
// Reading:   neighbouring units come with one read, a point read's group too. Who goes from group to group, in either direction, is read
//            ahead for: as many groups as he went by so far, up to 256 KiB and to the end of the section's extent. While the memory budget
//            is exceeded, a group at a time, and what was read of it goes once it is decoded.
//            Only the units of the row asked for are decoded, or all of the group for who goes on.
// Errors:    DataLoss naming file and offset for the group that is damaged; the loader goes on working for others. A read that fails for
//            what it would have taken in around the units asked for is done again without.
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
#include "sstable/open_sstable.h"
#include "sstable/row_group.h"

namespace stele::internal {

class RowGroupLoader {
 public:
  // All outlive the loader. Wanted are the families that the options do not skip, and of them what their spans do not rule out.
  RowGroupLoader(const OpenSstable& table, const OpenSection& section, const CursorOptions& options);

  using GroupPointer = std::shared_ptr<const RowGroup>;
  // With every unit of a wanted family. `part`, if any, is what the caller has of the group; the answer keeps its memory.
  absl::StatusOr<GroupPointer> LoadAll(size_t group_index, GroupPointer part = nullptr);
  // With the units of wanted families that cover one row: forward the first >= bound (the group has one), in reverse the last below it;
  // with none, when there is no such row, or when it goes on in the next group and may be entered there. `*row` is that row; in reverse the
  // one after it.
  absl::StatusOr<GroupPointer> LoadRow(size_t group_index, std::string_view bound, Direction direction, uint32_t* row);
  // Whoever will load every group that ends at or before `end_offset`, and none behind it, has them read at once.
  void ReadUpTo(uint64_t end_offset) { read_up_to_ = end_offset; }
  // Groups of which something was decoded, not found in the cache.
  size_t decoded_count() const { return decoded_count_; }
  // Keys, or a family with versions or tombstones wanted.
  bool IsWanted(const UnitReference& unit) const;
  // The group may hold cells that are wanted.
  bool HasWantedCells(const GroupReference& group) const;

 private:
  using MissingUnits = absl::InlinedVector<size_t, 8>;
  bool WantsMuchOf(const GroupReference& group) const;
  GroupPointer FindCached(size_t group_index) const;
  // A stretch of the file: [begin, end).
  struct Stretch {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t bytes() const { return end - begin; }
  };
  void NoteStep(size_t group_index);
  // `group` with the units that are missing, or another that shows its units too. `group` may be null; then the keys are missing.
  absl::StatusOr<GroupPointer> Grow(size_t group_index, const GroupReference& reference, const MissingUnits& missing, GroupPointer group);
  // Keys go to `new_group`, which else may be null.
  absl::StatusOr<std::unique_ptr<DecodedUnits>> Decode(size_t group_index, const GroupReference& reference, const MissingUnits& missing,
                                                       RowGroup* new_group);
  // The cache learns of the group, or that it grew.
  void Cache(size_t group_index, const GroupPointer& group) const;
  // The stored bytes of a stretch of the group, read with more around them where that will be wanted next; of the group what comes before
  // `last_end` will be.
  absl::StatusOr<std::string_view> Read(size_t group_index, const GroupReference& reference, Stretch wanted, uint64_t last_end);
  absl::Status FillWindow(Stretch stretch);
  void DropWindow(const GroupReference& reference);
  Stretch StretchToRead(size_t group_index, const GroupReference& reference, Stretch wanted, uint64_t last_end) const;
  Stretch StretchAhead(size_t group_index, Stretch stretch) const;
  uint64_t CacheKey(size_t group_index) const { return group_index * kSectionsMax + section_.number; }
  void CountPages(size_t count) {
    if (stats_ != nullptr) stats_->pages += count;
  }

  const OpenSstable& table_;
  const OpenSection& section_;
  const CursorOptions& options_;
  CursorStats* const stats_;
  Buffer window_memory_;  // begins with the bytes read last, those of window_
  MemoryCharge window_charge_;
  Stretch window_;
  std::optional<size_t> group_index_before_;  // the group loaded last
  size_t step_count_ = 0;                     // how many times in a row the reader went on to the next group
  bool is_reverse_ = false;                   // ... backwards
  uint64_t read_up_to_ = 0;                   // 0: not known
  size_t decoded_count_ = 0;
};

// One unit of a group from its stored bytes: to `units`, or, if it is the keys, to `group`, whose memory is in `units`.
absl::Status DecodeUnit(const OpenSstable& table, const OpenSection& section, const GroupReference& reference, size_t unit,
                        std::string_view stored, DecodedUnits* units, RowGroup* group);

}  // namespace stele::internal
