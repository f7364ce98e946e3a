// commit/table_changes.h: decides which writes in progress are refused because their table changed.
//
// Each change gets a number, the generation. A write takes the current generation before it reads
// the schema or a row, and passes it to the commit leader. The leader refuses the write only if a
// later change concerns it:
//   families   a family or the table was dropped. This concerns every write to the table.
//   rules      a GC rule changed. This concerns conditional writes and writes with a range delete:
//              the delete's fence was computed under the old rule (engine rule 8).
//   rows       a drop or a bulk load changed rows without a logged batch. This concerns conditional
//              writes that read one of these rows (engine rule 5).
// A property, a new family or a new table concerns no write in progress.
//
// Why:       docs/decisions/0041-what-refuses-a-write.md.
// Threads:   generation() is thread-safe. The rest is for the commit leader and for exclusive
//            sections.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>

#include "absl/status/status.h"
#include "manifest/version.h"

namespace stele::internal {

class TableChanges {
 public:
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Makes users of the schema read it again. No write is refused.
  void NoteAddition() { Raise(); }
  void NoteFamilies(uint32_t table_id) { tables_[table_id].families = Raise(); }
  void NoteRules(uint32_t table_id) { tables_[table_id].rules = Raise(); }
  void NoteRows(uint32_t table_id, const KeyRange& rows);
  void Forget(uint32_t table_id) {
    Raise();
    tables_.erase(table_id);
  }

  // Returns Aborted if a change after `generation` concerns a write to the table.
  absl::Status CheckWrite(uint32_t table_id, bool depends_on_rules, uint64_t generation) const;
  // Returns Aborted if rows changed after `generation` and the row may be one of them.
  absl::Status CheckRow(uint32_t table_id, std::string_view row_key, uint64_t generation) const;

 private:
  struct RowChange {
    uint64_t generation = 0;
    KeyRange rows;
  };
  struct Table {
    uint64_t families = 0;
    uint64_t rules = 0;
    uint64_t any_row = 0;             // the newest change that may concern any row
    std::deque<RowChange> rows = {};  // the newest changes of known rows, oldest first
  };
  // Pairs with the acquire in generation(): a thread that sees the new number sees the view that
  // was installed before.
  uint64_t Raise() { return generation_.fetch_add(1, std::memory_order_release) + 1; }

  std::atomic<uint64_t> generation_{1};
  std::map<uint32_t, Table> tables_;
};

}  // namespace stele::internal
