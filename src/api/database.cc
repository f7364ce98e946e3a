#include "stele/database.h"

#include <utility>

#include "api/backend.h"
#include "api/recorded_call.h"
#include "base/status.h"
#include "model/access.h"
#include "model/validate.h"

namespace stele {
inline namespace v0 {
namespace {

constexpr std::string_view kMemory = "mem:";
constexpr std::string_view kRemote = "bigtable://";

absl::Status CheckHandle(const std::shared_ptr<internal::DatabaseBackend>& backend) {
  return backend != nullptr ? backend->CheckProcess()
                            : internal::FailedPrecondition("database: an empty handle");
}

absl::Status CheckLocation(std::string_view location) {
  if (location.empty())
    return internal::InvalidArgument("location: empty; it is a directory or \"mem:\"");
  if (location.find('\0') != std::string_view::npos)
    return internal::InvalidArgument("location: a path cannot contain a zero byte");
  if (location.substr(0, kMemory.size()) == kMemory && location != kMemory) {
    return internal::InvalidArgument(
        "location \"{}\": no text is allowed after \"mem:\"; for a directory with that name use "
        "\"./\" before it",
        internal::Printable(location));
  }
  if (location.starts_with(kRemote)) {
    return internal::Unimplemented(
        "location \"{}\": stele::remote::Open opens a database on a server",
        internal::Printable(location));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Database> Database::Open(std::string_view location, const DatabaseOptions& options) {
  STELE_RETURN_IF_ERROR(CheckLocation(location));
  STELE_RETURN_IF_ERROR(internal::ValidateDatabaseOptions(options));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::DatabaseBackend> backend,
                         internal::OpenLocalDatabase(location, options));
  return internal::Access::Make<Database>(std::move(backend));
}

absl::StatusOr<Table> Database::CreateTable(std::string_view name, const Schema& schema) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_RETURN_IF_ERROR(internal::ValidateTableName(name));
  STELE_RETURN_IF_ERROR(internal::ValidateSchema(schema));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::TableBackend> table,
                         backend_->CreateTable(name, schema));
  table->set_recorder(backend_->recorder());
  return internal::Access::Make<Table>(std::move(table));
}

absl::StatusOr<Table> Database::OpenTable(std::string_view name) const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::TableBackend> table, backend_->OpenTable(name));
  table->set_recorder(backend_->recorder());
  return internal::Access::Make<Table>(std::move(table));
}

absl::Status Database::DeleteTable(std::string_view name) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->DeleteTable(name);
}

absl::StatusOr<std::vector<std::string>> Database::ListTables() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->ListTables();
}

absl::Status Database::Apply(const WriteBatch& batch, const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_RETURN_IF_ERROR(internal::ValidateWriteOptions(options));
  const std::vector<internal::Access::BatchEntry>& entries = internal::Access::Entries(batch);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].table == nullptr)
      return internal::FailedPrecondition("batch entry {}: an empty table handle", i);
  }
  internal::Recorder& recorder = *backend_->recorder();
  const bool is_on = recorder.is_on() && !entries.empty();
  const uint64_t recording = is_on ? recorder.Choose(entries.size()) : 0;
  return recording == 0 ? backend_->Apply(batch, options)
                        : internal::RecordBatch(*backend_, recording, batch, options);
}

absl::StatusOr<Snapshot> Database::GetSnapshot() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::SnapshotBackend> snapshot,
                         backend_->GetSnapshot());
  return internal::Access::Make<Snapshot>(std::move(snapshot));
}

absl::Status Database::Sync() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->Sync();
}

absl::Status Database::WaitForIdle() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->WaitForIdle();
}

absl::Status Database::Checkpoint(std::string_view directory,
                                  const CheckpointOptions& options) const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  if (directory.empty()) return internal::InvalidArgument("checkpoint: an empty directory name");
  return backend_->Checkpoint(directory, options);
}

absl::StatusOr<VerifyReport> Database::Verify() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->Verify();
}

DatabaseStats Database::Stats() const {
  return CheckHandle(backend_).ok() ? backend_->Stats() : DatabaseStats();
}

absl::Status Database::WriteRefusal() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->WriteRefusal();
}

absl::Status Database::ConfirmClock() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->ConfirmClock();
}

absl::Status Database::StartTrace(std::string_view file, const TraceOptions& options) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  if (file.empty() || file.find('\0') != std::string_view::npos)
    return internal::InvalidArgument("StartTrace: the file name is empty or has a zero byte");
  if (options.sample < 1)
    return internal::InvalidArgument("TraceOptions.sample is 0, it must be at least 1");
  return backend_->recorder()->Start(
      std::string(file),
      {.sample = options.sample, .bytes_max = options.max_bytes, .appends = options.append});
}

absl::StatusOr<TraceSummary> Database::StopTrace() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_ASSIGN_OR_RETURN(const internal::Recorder::Summary summary, backend_->recorder()->Stop());
  return TraceSummary{.operations = summary.counts.operations,
                      .recorded = summary.counts.recorded,
                      .dropped = summary.counts.dropped,
                      .bytes = summary.bytes,
                      .stopped_at_limit = summary.counts.stopped_at_limit};
}

absl::Status Database::Close() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  const absl::Status closed = backend_->Close();
  backend_->recorder()->Stop().status().IgnoreError();
  return closed;
}

}  // namespace v0
}  // namespace stele
