// db/local_table.h: implements the Table handle of a local database. Passes each call to a
// component.
//
// Used by:   db/local_database.cc makes it. stele::Table calls it as a TableBackend
//            (api/backend.h).
// Calls:     db/engine.h, which has the components: write/write_path.h, write/conditional_writes.h,
//            state/read_path.h, admin/table_admin.h.
// Lifetime:  keeps the engine open. It refers to the table by id, so a table that was deleted and
//            created again is another table.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/backend.h"
#include "mutation/write_entry.h"
#include "read/read_view.h"
#include "state/engine_state.h"
#include "write/conditional_writes.h"

namespace stele::internal {

class Engine;

class LocalTable : public TableBackend {
 public:
  LocalTable(std::shared_ptr<Engine> engine, uint32_t table_id, std::string name);

  const Engine* engine() const { return engine_.get(); }
  uint32_t table_id() const { return table_id_; }
  // Counts applied mutations for TableStats.
  void CountWrites(uint64_t count) const {
    counters_->writes.fetch_add(count, std::memory_order_relaxed);
  }

  const std::string& name() const override { return name_; }
  absl::StatusOr<Schema> schema() override;
  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override;
  absl::Status ApplyOwned(RowMutation* mutation, const WriteOptions& options) override;
  std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations,
                                        const WriteOptions& options) override;
  absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key,
                                                   const Filter& predicate,
                                                   const RowMutation& if_matched,
                                                   const RowMutation& if_not_matched,
                                                   const WriteOptions& options) override;
  absl::StatusOr<MutationBranch> CheckAndMutateRowOwned(std::string_view row_key,
                                                        const Filter& predicate,
                                                        RowMutation* if_matched,
                                                        RowMutation* if_not_matched,
                                                        const WriteOptions& options) override;
  absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key,
                                         std::span<const ReadModifyWriteRule> rules,
                                         const WriteOptions& options) override;
  absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key, const Filter& filter,
                                             const ReadOptions& options) override;
  absl::StatusOr<bool> VisitRow(std::string_view row_key, const RowVisitor& visit,
                                const Filter& filter, const ReadOptions& options) override;
  absl::StatusOr<std::optional<stele::Cell>> ReadCell(std::string_view row_key,
                                                      std::string_view family,
                                                      std::string_view qualifier,
                                                      const ReadOptions& options) override;
  absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(
      std::span<const std::string_view> row_keys, const Filter& filter,
      const ReadOptions& options) override;
  absl::StatusOr<std::unique_ptr<RowSource>> ReadRows(const RowSet& rows, const Filter& filter,
                                                      const ReadOptions& options) override;
  absl::StatusOr<bool> Exists(std::string_view row_key, const Filter& filter,
                              const ReadOptions& options) override;
  absl::Status ModifyColumnFamilies(std::span<const FamilyChange> changes) override;
  absl::Status SetProperty(std::string property_key, std::string value) override;
  absl::Status DropRowRange(const RowRange& range) override;
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const RowRange& range) override;
  absl::StatusOr<std::unique_ptr<BulkLoadBackend>> NewBulkLoad() override;
  absl::Status Flush() override;
  absl::Status Compact(const RowRange& range, const CompactOptions& options) override;
  absl::StatusOr<TableStats> Stats() override;

 private:
  absl::Status ApplyEntry(const WriteEntry& entry, const WriteOptions& options);
  absl::StatusOr<MutationBranch> CheckAndMutateBranches(std::string_view row_key,
                                                        const Filter& predicate,
                                                        const ConditionalMutations& mutations,
                                                        const WriteOptions& options);
  // The present table. Returns FailedPrecondition when closed, NotFound when deleted.
  absl::StatusOr<std::shared_ptr<const TableView>> Present() const;

  const std::shared_ptr<Engine> engine_;
  const uint32_t table_id_;
  const std::string name_;
  const std::shared_ptr<TableCounters> counters_;
};

}  // namespace stele::internal
