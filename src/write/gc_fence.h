// write/gc_fence.h: the GC fence of a range delete (engine rule 8).
//
// DeleteFromColumn with a start above 0 removes versions from the middle of a column, which lowers
// the ordinals of older ones. If the family's rule counts versions, a version that was garbage
// would become live again, unless a compaction removed it first. So such a delete also deletes the
// versions that were garbage before it: [0, floor), as the first operation of its batch. The floor
// is just above the newest version of the column that is garbage under the rule. Reading the floor
// makes the write conditional: the row must not be written in between.
//
// Used by:   write/write_steps.cc, write/write_path.cc and write/conditional_writes.cc. The commit
//            leader checks the fence's condition (commit/committer.h).
// Calls:     read/source_chain.h (OpenChain).
// Threads:   thread-safe; MakeGcFences is called with the rows' latches held.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "commit/committer.h"
#include "mutation/batch.h"
#include "mutation/check.h"
#include "mutation/write_entry.h"
#include "read/read_view.h"
#include "state/event_counts.h"
#include "state/read_path.h"

namespace stele::internal {

// The rows of a write that need GC fences.
struct GcFencePlan {
  struct Row {
    // The entry that needs the fence. All fences precede all entries in the batch.
    size_t entry = 0;
    uint32_t table_id = 0;
    const RowMutation* mutation = nullptr;
    std::string_view row_key;
  };
  std::vector<Row> rows;

  std::vector<std::string_view> row_keys() const;
};

struct GcFences {
  std::map<size_t, std::vector<BatchOp>> ops;  // by entry
  std::vector<RowCondition> conditions;

  std::span<const BatchOp> OpsOf(size_t entry) const;
};

bool NeedsGcFence(const TableView& table, const MutationSchema& schema,
                  const RowMutation& mutation);
absl::StatusOr<GcFencePlan> PlanGcFences(const ReadView& view, std::span<const WriteEntry> entries);

// The parts that MakeGcFences uses.
struct GcFenceSource {
  Committer* committer = nullptr;
  const ReadPath* reads = nullptr;
  EventCounts* counts = nullptr;
};
// Watches the rows of the plan, then reads their floors. Call it with their latches held.
absl::StatusOr<GcFences> MakeGcFences(const GcFenceSource& source, const GcFencePlan& plan);

}  // namespace stele::internal
