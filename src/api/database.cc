#include "stele/database.h"

#include <utility>

#include "api/backend.h"
#include "api/remote_opener.h"
#include "base/status.h"
#include "model/validate.h"

namespace stele {
inline namespace v0 {
namespace {

constexpr std::string_view kMemory = "mem:";
constexpr std::string_view kRemote = "bigtable://";

absl::Status CheckHandle(const std::shared_ptr<internal::DatabaseBackend>& backend) {
  return backend != nullptr ? absl::OkStatus() : internal::FailedPrecondition("database: an empty handle");
}

absl::Status CheckLocation(std::string_view location) {
  if (location.empty()) return internal::InvalidArgument("location: empty; it is a directory, \"mem:\" or \"bigtable://PROJECT/INSTANCE\"");
  if (location.find('\0') != std::string_view::npos) return internal::InvalidArgument("location: a path holds no zero byte");
  if (location.substr(0, kMemory.size()) == kMemory && location != kMemory) {
    return internal::InvalidArgument("location \"{}\": nothing may follow \"mem:\"; for a directory of that name put \"./\" before it",
                                     internal::Printable(location));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<internal::DatabaseBackend>> OpenBackend(std::string_view location, const DatabaseOptions& options) {
  if (!location.starts_with(kRemote)) return internal::OpenLocalDatabase(location, options);
  if (const internal::RemoteOpener open = internal::GetRemoteOpener(); open != nullptr) return open(location, options);
  return internal::Unimplemented("location \"{}\": to open a remote database, link stele::remote", internal::Printable(location));
}

}  // namespace

absl::StatusOr<Database> Database::Open(std::string_view location, DatabaseOptions options) {
  STELE_RETURN_IF_ERROR(CheckLocation(location));
  STELE_RETURN_IF_ERROR(internal::ValidateDatabaseOptions(options));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::DatabaseBackend> backend, OpenBackend(location, options));
  return Database(std::move(backend));
}

absl::StatusOr<Table> Database::CreateTable(std::string_view name, const Schema& schema) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_RETURN_IF_ERROR(internal::ValidateTableName(name));
  STELE_RETURN_IF_ERROR(internal::ValidateSchema(schema));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::TableBackend> table, backend_->CreateTable(name, schema));
  return Table(std::move(table));
}

absl::StatusOr<Table> Database::OpenTable(std::string_view name) const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::TableBackend> table, backend_->OpenTable(name));
  return Table(std::move(table));
}

absl::Status Database::DeleteTable(std::string_view name) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->DeleteTable(name);
}

absl::StatusOr<std::vector<std::string>> Database::ListTables() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->ListTables();
}

absl::Status Database::Apply(const WriteBatch& batch, WriteOptions options) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_RETURN_IF_ERROR(internal::ValidateWriteOptions(options));
  for (size_t i = 0; i < batch.entries().size(); ++i) {
    if (batch.entries()[i].table == nullptr) return internal::FailedPrecondition("batch entry {}: an empty table handle", i);
  }
  return backend_->Apply(batch, options);
}

absl::StatusOr<Snapshot> Database::GetSnapshot() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::SnapshotBackend> snapshot, backend_->GetSnapshot());
  return Snapshot(std::move(snapshot));
}

absl::Status Database::Sync() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->Sync();
}

absl::Status Database::WaitForIdle() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->WaitForIdle();
}

absl::Status Database::Checkpoint(std::string_view directory) const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  if (directory.empty()) return internal::InvalidArgument("checkpoint: an empty directory name");
  return backend_->Checkpoint(directory);
}

absl::StatusOr<VerifyReport> Database::Verify() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->Verify();
}

DatabaseStats Database::Stats() const { return backend_ == nullptr ? DatabaseStats() : backend_->Stats(); }

absl::Status Database::Close() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->Close();
}

}  // namespace v0
}  // namespace stele
