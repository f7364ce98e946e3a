// db/local_table.h: Table on a local database: each call handed to the part that does it.
//
// Path:      stele::Table -> api -> here -> write_path, conditional_writes, bulk_load, read_path, schema_change, table_stats.
// Lifetime:  keeps the engine open; refers to the table by id, so that a table deleted and made anew is another one.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/backend.h"
#include "db/engine_state.h"
#include "read/read_view.h"

namespace stele::internal {

class Engine;

class LocalTable : public TableBackend {
 public:
  LocalTable(std::shared_ptr<Engine> engine, uint32_t table_id, std::string name);

  const Engine* engine() const { return engine_.get(); }
  uint32_t table_id() const { return table_id_; }
  // For TableStats, of mutations that were applied.
  void CountWrites(uint64_t count) const { counters_->writes.fetch_add(count, std::memory_order_relaxed); }

  const std::string& name() const override { return name_; }
  absl::StatusOr<Schema> schema() override;
  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override;
  std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations, const WriteOptions& options) override;
  absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key, const Filter& predicate, const RowMutation& if_matched,
                                                   const RowMutation& if_not_matched, const WriteOptions& options) override;
  absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key, std::span<const ReadModifyWriteRule> rules,
                                         const WriteOptions& options) override;
  absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key, const Filter& filter, const ReadOptions& options) override;
  absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(std::span<const std::string_view> row_keys, const Filter& filter,
                                                           const ReadOptions& options) override;
  absl::StatusOr<std::unique_ptr<RowSource>> ReadRows(const RowSet& rows, const Filter& filter, const ReadOptions& options) override;
  absl::StatusOr<bool> Exists(std::string_view row_key, const Filter& filter, const ReadOptions& options) override;
  absl::Status ModifyColumnFamilies(std::span<const FamilyChange> changes) override;
  absl::Status SetProperty(std::string property_key, std::string value) override;
  absl::Status DropRowRange(const RowRange& range) override;
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const RowRange& range) override;
  absl::StatusOr<std::unique_ptr<BulkLoadBackend>> NewBulkLoad() override;
  absl::Status Flush() override;
  absl::Status Compact(const RowRange& range, const CompactOptions& options) override;
  absl::StatusOr<TableStats> Stats() override;

 private:
  // The table as it is now. FailedPrecondition when closed, NotFound when deleted.
  absl::StatusOr<std::shared_ptr<const TableView>> Present() const;

  const std::shared_ptr<Engine> engine_;
  const uint32_t table_id_;
  const std::string name_;
  const std::shared_ptr<TableCounters> counters_;
};

}  // namespace stele::internal
