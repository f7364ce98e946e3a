// db/unsealed_deletes.h: how far back goes what lies above a job's inputs, and may hold ranged deletes that no seal followed.
//
// A ranged delete is sealed for the GC rule of its time (db/seal.h). Under a rule that came later, a flush or compaction that does not see
// the delete would take ranks for final that it lowers. So a rule that counts versions remembers which commit was the last before it
// (FamilyEntry::unsealed_through), and a job judges ranks only where everything newer than its inputs came after that.
//
// Path:      db jobs, checkpoint -> here -> manifest/version.h FamiliesOfUnknownRank; background, recovery -> AwaitsFlushOfUnsealed.
// Why:       docs/decisions/0033-a-rule-that-becomes-stricter.md.
// Threads:   pure functions of a view. A memtable that is empty in it gets commits of the view's schema or a later one. Those of the view's
//            schema are sealed for its rules; a later rule changes nothing for the job (docs/decisions/0041-what-refuses-a-write.md).
#pragma once

#include <cstdint>
#include <span>

#include "manifest/version.h"
#include "read/read_view.h"

namespace stele::internal {

// The oldest commit in the table's memtables that are newer than `memtable`; null: in all of them. UINT64_MAX: there is none.
uint64_t OldestCommitInMemtables(const TableView& table, const Memtable* memtable);
// The oldest commit newer than a compaction's inputs in the tablet of that range: in memtables, and in its stack as it is `now`, for a
// flush that came since the inputs were chosen moved things there. What does not overlap the inputs may be counted, too.
uint64_t OldestCommitAbove(const TableView& now, const KeyRange& range, std::span<const SstableReference> inputs);
// The memtables hold commits of before a family's rule: until they are flushed no compaction judges that family's ranks.
bool AwaitsFlushOfUnsealed(const TableView& table);

}  // namespace stele::internal
