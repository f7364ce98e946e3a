// views/gc_fence_horizon.h: finds the oldest commit, in any source newer than a job's inputs, that
// may contain a range delete without a GC fence.
//
// A range delete gets a fence for the GC rule of its time (write/gc_fence.h). Under a later rule, a
// flush or compaction that does not see the delete could consider ordinals final although the
// delete lowered them. So a rule that counts versions records the last commit before it
// (FamilyEntry::unfenced_through), and a job uses ordinals only if everything newer than its inputs
// was committed after that.
//
// Used by:   jobs/job_runner.cc and admin/checkpoint.cc pass the result to a job, which passes it
//            to FamiliesOfUnknownOrdinals (manifest/version.h). jobs/job_scheduler.cc and
//            db/recovery.cc call AwaitsFlushOfUnfenced.
// Why:       docs/decisions/0033-a-rule-that-becomes-stricter.md.
// Threads:   pure functions of a view. A memtable that is empty in the view gets commits under the
//            view's schema or a later one. Those under the view's schema have fences for its rules;
//            a later rule does not affect the job (docs/decisions/0041-what-refuses-a-write.md).
#pragma once

#include <cstdint>
#include <span>

#include "manifest/version.h"
#include "read/read_view.h"

namespace stele::internal {

// The oldest commit in the table's memtables that are newer than `memtable`; null: in all of them.
// UINT64_MAX: there is none.
uint64_t OldestCommitInMemtables(const TableView& table, const Memtable* memtable);
// Returns the oldest commit in sources that are newer than a compaction's inputs in the tablet with
// that range. `present` is the table's view after the pick: a flush since then may have moved
// commits from a memtable to the stack. May include sources that do not overlap the inputs.
// Returns 0 if no tablet has that range.
uint64_t OldestCommitAbove(const TableView& present, const KeyRange& range,
                           std::span<const SstableReference> inputs);
// True if the memtables have commits from before the present rule of a family. Until they are
// flushed, no compaction uses ordinals of that family.
bool AwaitsFlushOfUnfenced(const TableView& table);

}  // namespace stele::internal
