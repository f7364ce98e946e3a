// remote/client/remote_database.h: implements the Database handle for an instance of a server with
// Bigtable's API.
//
// Errors:    Unimplemented, with the reason, for operations that the API does not have, such as
//            snapshots, batches of several mutations, checkpoints, verification and WaitForIdle.
// Threads:   thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/backend.h"
#include "remote/client/connection.h"

namespace stele::internal {

class RemoteDatabase final : public DatabaseBackend {
 public:
  explicit RemoteDatabase(std::shared_ptr<RemoteConnection> connection)
      : connection_(std::move(connection)) {}

  absl::StatusOr<std::shared_ptr<TableBackend>> CreateTable(std::string_view name,
                                                            const Schema& schema) override;
  absl::StatusOr<std::shared_ptr<TableBackend>> OpenTable(std::string_view name) override;
  absl::Status DeleteTable(std::string_view name) override;
  absl::StatusOr<std::vector<std::string>> ListTables() override;
  absl::Status Apply(const WriteBatch& batch, const WriteOptions& options) override;
  absl::StatusOr<std::shared_ptr<SnapshotBackend>> GetSnapshot() override;
  absl::Status Sync() override;
  absl::Status WaitForIdle() override;
  absl::Status Checkpoint(std::string_view directory, const CheckpointOptions& options) override;
  absl::StatusOr<VerifyReport> Verify() override;
  DatabaseStats Stats() override;
  absl::Status WriteRefusal() override;
  absl::Status ConfirmClock() override;
  absl::Status Close() override;

 private:
  const std::shared_ptr<RemoteConnection> connection_;
};

// `waiter` is null for the system's clock.
absl::StatusOr<std::shared_ptr<DatabaseBackend>> OpenRemoteDatabase(std::string_view location,
                                                                    const DatabaseOptions& options,
                                                                    std::shared_ptr<Waiter> waiter);

}  // namespace stele::internal
