// sstable/row_group_loader.h: gets row groups of a section from the block cache or the file, with no more units than wanted.
//
// Path:      section_cursor, dump -> here -> block cache -> io.
// Reading:   neighbouring units come with one read, a point read's group too; groups loaded one after the other are read ahead,
//            kReadaheadBytes at a time. Only the units of the row asked for are decoded, or all of the group for who goes on.
// Errors:    DataLoss naming file and offset for the group that is damaged; the loader goes on working for others.
// Threads:   confined to its cursor's thread.
#pragma once

#include <cstdint>
#include <memory>
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
  // `table` and `section` outlive the loader. Wanted are the families that `families` does not skip.
  RowGroupLoader(const OpenSstable& table, const OpenSection& section, const FamilyMap& families, bool fill_cache, CursorStats* stats);

  using GroupPointer = std::shared_ptr<const RowGroup>;
  // With every unit of a wanted family. `part`, if any, is what the caller has of the group; the answer shares its memory.
  absl::StatusOr<GroupPointer> LoadAll(size_t group_index, GroupPointer part = nullptr);
  // With the units of wanted families that cover one row: forward the first >= bound (the group has one), in reverse the last below it;
  // with none, when there is no such row. `*row` is that row; in reverse the one after it.
  absl::StatusOr<GroupPointer> LoadRow(size_t group_index, std::string_view bound, Direction direction, uint32_t* row);
  // Keys, or a family wanted.
  bool IsWanted(const UnitReference& unit) const;
  // The group may hold cells of a wanted family.
  bool HasWantedFamily(const GroupReference& group) const;

 private:
  using MissingUnits = absl::InlinedVector<size_t, 8>;
  bool WantsMuchOf(const GroupReference& group) const;
  GroupPointer FindCached(size_t group_index) const;
  // `group` with the units that are missing; itself when none are. `group` may be null.
  absl::StatusOr<GroupPointer> Grow(const GroupReference& reference, const MissingUnits& missing, GroupPointer group);
  absl::Status Decode(const GroupReference& reference, const MissingUnits& missing, RowGroup* group);
  absl::Status AddUnit(const GroupReference& reference, size_t unit, char* raw, RowGroup* group) const;
  // The stored bytes of [begin, end) of the group, with more around them where that will be wanted next.
  absl::StatusOr<std::string_view> Read(const GroupReference& reference, uint64_t begin, uint64_t end);
  uint64_t CacheKey(size_t group_index) const { return group_index * kSectionsMax + section_.number; }
  void CountPages(size_t count) {
    if (stats_ != nullptr) stats_->pages += count;
  }

  const OpenSstable& table_;
  const OpenSection& section_;
  const FamilyMap& families_;
  const bool fill_cache_;
  CursorStats* const stats_;
  // Stored bytes read last: [window_offset_, + window_bytes_).
  Buffer window_;
  uint64_t window_offset_ = 0;
  size_t window_bytes_ = 0;
  size_t group_index_next_ = 0;  // where a sequential reader goes on
  size_t sequential_count_ = 0;  // groups loaded whole one after the other
};

}  // namespace stele::internal
