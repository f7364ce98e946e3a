// remote/client/remote_table.h: implements the Table handle for a table of a server with Bigtable's
// API.
//
// Arguments that are invalid by themselves are rejected here with the messages of a local table,
// without a request. The server checks families and regexes. Cells without a timestamp get this
// side's clock, so that a write may be repeated: docs/reference/remote.md.
//
// Errors:    Unimplemented, with the reason, for operations that the API does not have.
// Threads:   thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/backend.h"
#include "model/row_ranges.h"
#include "mutation/check.h"
#include "remote/client/connection.h"

namespace stele::internal {

class RemoteTable final : public TableBackend {
 public:
  RemoteTable(std::shared_ptr<const RemoteConnection> connection, std::string_view name,
              TimestampGranularity granularity);

  const std::string& name() const override { return name_; }
  absl::StatusOr<Schema> schema() override;
  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override;
  std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations,
                                        const WriteOptions& options) override;
  absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key,
                                                   const Filter& predicate,
                                                   const RowMutation& if_matched,
                                                   const RowMutation& if_not_matched,
                                                   const WriteOptions& options) override;
  absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key,
                                         std::span<const ReadModifyWriteRule> rules,
                                         const WriteOptions& options) override;
  absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key, const Filter& filter,
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

  const RemoteConnection* connection() const { return connection_.get(); }

 private:
  // Reads the rows of `ranges`; ignores the limit and the order in the options.
  absl::StatusOr<std::unique_ptr<RowSource>> Read(std::vector<KeyRange> ranges,
                                                  const Filter& filter,
                                                  const ReadOptions& options) const;
  absl::Status CheckWrite(const WriteOptions& options, bool takes_token) const;
  absl::StatusOr<std::vector<RowKeySample>> AllSamples() const;
  MutationSchema form() const { return {.granularity = granularity_}; }

  const std::shared_ptr<const RemoteConnection> connection_;
  const std::string name_;
  const std::string wire_name_;
  const std::string routing_;       // for data requests
  const std::string name_routing_;  // for admin requests
  const TimestampGranularity granularity_;
};

// Waits until a long-running operation is done, and returns its result.
absl::Status AwaitOperation(const RemoteConnection& connection,
                            google::longrunning::Operation operation);

}  // namespace stele::internal
