// model/access.h: the engine's access to the private members of the public classes.
//
// Used by:   every directory above model, for the private members of the classes in include/stele.
// Rule:      a public class that wraps engine data declares `friend struct internal::Access`. So no
//            public member exists for the engine alone, and no other class needs to be a friend.
// Threads:   pure functions.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "stele/database.h"

namespace stele::internal {

struct Access {
  // Calls a private constructor of a public class:
  //   Filter, GcRule       from a shared node
  //   RowView              from a row key and cells in order, which must outlive the view
  //   Database, Table, Snapshot, RowReader, BulkLoad   from a backend
  //   RowReader, BulkLoad  from an error: every call on the object returns it
  template <typename T, typename... Arguments>
  static T Make(Arguments&&... arguments) {
    return T(std::forward<Arguments>(arguments)...);
  }

  // The root of the expression. A default-constructed object has a node too.
  static const FilterNode& Node(const Filter& filter) { return filter.node(); }
  static const GcRuleNode& Node(const GcRule& rule) { return rule.node(); }

  // The backend of a handle. Null if the handle is empty.
  static const std::shared_ptr<DatabaseBackend>& Backend(const Database& database) {
    return database.backend_;
  }
  static const std::shared_ptr<TableBackend>& Backend(const Table& table) { return table.backend_; }
  static const std::shared_ptr<SnapshotBackend>& Backend(const Snapshot& snapshot) {
    return snapshot.backend_;
  }

  // The budget that a handle refers to. Null if the handle is empty.
  static const std::shared_ptr<SharedBudget>& Shared(const stele::MemoryBudget& budget) {
    return budget.shared_;
  }

  // The changes of a mutation in the encoding of model/mutation_ops.h.
  static std::string_view EncodedOps(const RowMutation& mutation) { return mutation.ops_; }
  // Removes all changes of the mutation and frees their memory.
  static void FreeOps(RowMutation* mutation) {
    std::string().swap(mutation->ops_);
    mutation->count_ = 0;
    mutation->deletes_ranges_ = false;
  }
  // True if a change deletes a range of a column's versions.
  static bool DeletesRanges(const RowMutation& mutation) { return mutation.deletes_ranges_; }

  // The entries of a batch in order. `table` of an entry is null if the handle was empty.
  using BatchEntry = WriteBatch::Entry;
  static const std::vector<BatchEntry>& Entries(const WriteBatch& batch) { return batch.entries_; }
};

}  // namespace stele::internal
