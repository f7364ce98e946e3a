// db/local_database.h: Database on a directory or in memory: each call handed to the part that does it.
//
// Path:      stele::Database -> api -> here -> schema_change, write_path, verify, checkpoint.
// Lifetime:  keeps the engine open.
// Threads:   thread-safe.
#pragma once

#include <memory>

#include "api/backend.h"
#include "db/engine_options.h"

namespace stele::internal {

class Engine;

class LocalDatabase : public DatabaseBackend {
 public:
  explicit LocalDatabase(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  const std::shared_ptr<Engine>& engine() const { return engine_; }

  absl::StatusOr<std::shared_ptr<TableBackend>> CreateTable(std::string_view name, const Schema& schema) override;
  absl::StatusOr<std::shared_ptr<TableBackend>> OpenTable(std::string_view name) override;
  absl::Status DeleteTable(std::string_view name) override;
  absl::StatusOr<std::vector<std::string>> ListTables() override;
  absl::Status Apply(const WriteBatch& batch, const WriteOptions& options) override;
  absl::StatusOr<std::shared_ptr<SnapshotBackend>> GetSnapshot() override;
  absl::Status Sync() override;
  absl::Status WaitForIdle() override;
  absl::Status Checkpoint(std::string_view directory) override;
  absl::StatusOr<VerifyReport> Verify() override;
  DatabaseStats Stats() override;
  absl::Status Close() override;

 private:
  const std::shared_ptr<Engine> engine_;
};

// As OpenLocalDatabase of api/backend.h, on components of the caller's: for tests and for tools that look at a database in a strange place.
absl::StatusOr<std::shared_ptr<LocalDatabase>> OpenDatabase(std::string directory, EngineOptions options);

}  // namespace stele::internal
