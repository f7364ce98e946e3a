// sstable/row_group_loader.h: gets row groups from the block cache or the file, with no more units than wanted.
//
// Path:      sstable_cursor, verify, dump -> here -> block cache -> io.
// Reading:   neighbouring units come with one read; groups loaded one after the other are read ahead, kReadaheadBytes at a time.
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
  // `table` outlives the loader. Wanted are the families that `families` does not skip.
  RowGroupLoader(const OpenSstable& table, const FamilyMap& families, bool fill_cache, CursorStats* stats);

  absl::StatusOr<std::shared_ptr<const RowGroup>> Load(size_t group_index);
  // Keys, or a family wanted.
  bool IsWanted(const UnitReference& unit) const;
  // The group may hold cells of a wanted family.
  bool HasWantedFamily(const GroupReference& group) const;

 private:
  using MissingUnits = absl::InlinedVector<size_t, 8>;
  absl::Status Decode(const GroupReference& reference, const MissingUnits& missing, bool is_sequential, RowGroup* group);
  absl::Status AddUnit(const GroupReference& reference, size_t unit, char* raw, RowGroup* group) const;
  absl::StatusOr<std::string_view> Read(uint64_t offset, size_t bytes, bool read_ahead);

  const OpenSstable& table_;
  const FamilyMap& families_;
  const bool fill_cache_;
  CursorStats* const stats_;
  // Stored bytes read last: [window_offset_, + window_bytes_).
  Buffer window_;
  uint64_t window_offset_ = 0;
  size_t window_bytes_ = 0;
  size_t group_index_next_ = 0;  // where a sequential reader goes on
  size_t sequential_count_ = 0;  // groups loaded from the file one after the other
};

}  // namespace stele::internal
