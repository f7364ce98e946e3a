// db/local_database.h: implements the Database handle for a directory or memory. Passes each call
// to a component.
//
// Used by:   stele::Database, as a DatabaseBackend (api/backend.h).
// Calls:     db/engine.h.
// Lifetime:  keeps the engine open.
// Threads:   thread-safe.
#pragma once

#include <memory>

#include "api/backend.h"
#include "state/engine_options.h"

namespace stele::internal {

class Engine;

class LocalDatabase : public DatabaseBackend {
 public:
  explicit LocalDatabase(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  const std::shared_ptr<Engine>& engine() const { return engine_; }

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
  const std::shared_ptr<Engine> engine_;
};

// Like OpenLocalDatabase of api/backend.h, with the caller's components: for tests, and for tools
// that inspect a database in another file system.
absl::StatusOr<std::shared_ptr<LocalDatabase>> OpenDatabase(std::string directory,
                                                            EngineOptions options);

}  // namespace stele::internal
