// db/seal.h: the seal of a ranged delete (engine rule 8).
//
// DeleteFromColumn with a start above 0 takes versions out of the middle of a column, which lowers the ranks of older ones: in a family
// whose rule counts versions, one that was condemned would be live again, unless a compaction had come first. So such a delete also
// deletes what was condemned before it: [0, floor), as the first act of its batch, where floor lies just above the newest version of the
// column that the rule condemned. Reading the floor makes the write conditional: the row must not be written in between.
//
// Path:      db/write_attempt.cc -> here -> read/source_chain.h; the condition is checked by db/committer.cc.
// Threads:   thread-safe; MakeSeals is called with the rows' latches held.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "db/committer.h"
#include "db/write_entry.h"
#include "mutation/batch.h"
#include "mutation/check.h"
#include "read/read_view.h"

namespace stele::internal {

class Engine;

// The rows of a write that need sealing, by entry.
struct SealPlan {
  struct Row {
    size_t entry = 0;  // the first of the row in the batch: there the seal goes, before all that the batch does to the row
    uint32_t table_id = 0;
    const RowMutation* mutation = nullptr;
    std::string_view row_key;
  };
  std::vector<Row> rows;

  std::vector<std::string_view> row_keys() const;
};

struct Seals {
  std::map<size_t, std::vector<BatchOp>> ops;  // by entry
  std::vector<RowCondition> conditions;

  std::span<const BatchOp> OpsOf(size_t entry) const;
};

bool NeedsSeal(const TableView& table, const MutationSchema& schema, const RowMutation& mutation);
absl::StatusOr<SealPlan> PlanSeals(const ReadView& view, std::span<const WriteEntry> entries);
absl::StatusOr<Seals> MakeSeals(Engine& engine, const SealPlan& plan);

}  // namespace stele::internal
