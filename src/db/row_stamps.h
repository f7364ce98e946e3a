// db/row_stamps.h: when each row was written last, to the precision that conditional writes need.
//
// A table of kSlots sequences. A write notes its sequence in the slot of its row, so the table needs neither the row's memtable nor its
// key, and a frozen or flushed memtable changes nothing. Rows that share a slot make a check say "written" too often, and the
// conditional write is attempted again. If W rows are written while it reads, that happens with a probability of about W / kSlots.
// A check never says "not written" of a row that was written.
//
// Rules:     engine rule 5; docs/decisions/0041-what-refuses-a-write.md.
// Threads:   not thread-safe. The commit leader alone uses it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/checksum.h"

namespace stele::internal {

class RowStamps {
 public:
  static constexpr size_t kSlots = size_t{1} << 16;  // 512 KiB

  // The commit `sequence` writes the row. Sequences never fall.
  void Note(uint32_t table_id, std::string_view row_key, uint64_t sequence) { slots_[SlotOf(table_id, row_key)] = sequence; }
  // False only if no commit after `sequence` wrote the row.
  bool MayBeWrittenAfter(uint32_t table_id, std::string_view row_key, uint64_t sequence) const {
    return slots_[SlotOf(table_id, row_key)] > sequence;
  }

 private:
  static size_t SlotOf(uint32_t table_id, std::string_view row_key) { return Checksum64(row_key, table_id) % kSlots; }

  std::vector<uint64_t> slots_ = std::vector<uint64_t>(kSlots, 0);
};

}  // namespace stele::internal
