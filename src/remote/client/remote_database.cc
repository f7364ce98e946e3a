#include "remote/client/remote_database.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/process_id.h"
#include "base/status.h"
#include "model/access.h"
#include "remote/client/remote_table.h"
#include "remote/wire/names.h"
#include "remote/wire/schema_translation.h"

namespace stele::internal {

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

TimestampGranularity GranularityOf(const admin_wire::Table& table) {
  return table.granularity() == admin_wire::Table::MICROS ? TimestampGranularity::kMicros
                                                          : TimestampGranularity::kMillis;
}

absl::Status CheckName(std::string_view name) {
  if (name.find('/') == std::string_view::npos) return CheckTableId(name);
  return InvalidArgument(
      "table \"{}\": in a remote database a table has a plain name; project and instance are in "
      "its location",
      Printable(name));
}

}  // namespace

absl::StatusOr<std::shared_ptr<TableBackend>> RemoteDatabase::CreateTable(std::string_view name,
                                                                          const Schema& schema) {
  STELE_RETURN_IF_ERROR(connection_->CheckWritable());
  STELE_RETURN_IF_ERROR(CheckName(name));
  STELE_ASSIGN_OR_RETURN(admin_wire::CreateTableRequest request, ToWireCreation(schema));
  request.set_parent(connection_->location().InstanceName());
  request.set_table_id(std::string(name));
  // Not repeatable: after a lost response, a repeated call would find the table that the first call
  // created, and report it as existing.
  RemoteCall call(connection_.get(), "CreateTable");
  STELE_RETURN_IF_ERROR(CallUntilDone(&call, "parent=" + request.parent(), kAdminAttempt,
                                      /*repeatable=*/false, [&](grpc::ClientContext* context) {
                                        admin_wire::Table response;
                                        return connection_->admin().CreateTable(context, request,
                                                                                &response);
                                      }));
  return std::make_shared<RemoteTable>(connection_, name, schema.granularity());
}

absl::StatusOr<std::shared_ptr<TableBackend>> RemoteDatabase::OpenTable(std::string_view name) {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  STELE_RETURN_IF_ERROR(CheckName(name));
  admin_wire::GetTableRequest request;
  request.set_name(connection_->location().TableName(name));
  request.set_view(admin_wire::Table::SCHEMA_VIEW);
  admin_wire::Table response;
  RemoteCall call(connection_.get(), "GetTable");
  STELE_RETURN_IF_ERROR(CallUntilDone(&call, "name=" + request.name(), kAdminAttempt,
                                      /*repeatable=*/true, [&](grpc::ClientContext* context) {
                                        return connection_->admin().GetTable(context, request,
                                                                             &response);
                                      }));
  return std::make_shared<RemoteTable>(connection_, name, GranularityOf(response));
}

absl::Status RemoteDatabase::DeleteTable(std::string_view name) {
  STELE_RETURN_IF_ERROR(connection_->CheckWritable());
  STELE_RETURN_IF_ERROR(CheckName(name));
  admin_wire::DeleteTableRequest request;
  request.set_name(connection_->location().TableName(name));
  RemoteCall call(connection_.get(), "DeleteTable");
  return CallUntilDone(&call, "name=" + request.name(), kAdminAttempt, /*repeatable=*/false,
                       [&](grpc::ClientContext* context) {
                         google::protobuf::Empty response;
                         return connection_->admin().DeleteTable(context, request, &response);
                       });
}

absl::StatusOr<std::vector<std::string>> RemoteDatabase::ListTables() {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  admin_wire::ListTablesRequest request;
  request.set_parent(connection_->location().InstanceName());
  request.set_view(admin_wire::Table::NAME_ONLY);
  std::vector<std::string> names;
  RemoteCall call(connection_.get(), "ListTables");
  while (true) {
    admin_wire::ListTablesResponse response;
    STELE_RETURN_IF_ERROR(CallUntilDone(&call, "parent=" + request.parent(), kAdminAttempt,
                                        /*repeatable=*/true, [&](grpc::ClientContext* context) {
                                          return connection_->admin().ListTables(context, request,
                                                                                 &response);
                                        }));
    for (const admin_wire::Table& table : response.tables())
      names.push_back(table.name().substr(table.name().rfind('/') + 1));
    if (response.next_page_token().empty() || response.next_page_token() == request.page_token())
      break;
    request.set_page_token(response.next_page_token());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status RemoteDatabase::Apply(const WriteBatch& batch, const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(connection_->CheckWritable());
  const std::vector<Access::BatchEntry>& entries = Access::Entries(batch);
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto* const table = dynamic_cast<const RemoteTable*>(entries[i].table.get());
    if (table == nullptr || table->connection() != connection_.get()) {
      return InvalidArgument("mutation {} of the batch is for a table of another database", i);
    }
  }
  if (batch.size() == 0) return absl::OkStatus();
  if (batch.size() == 1) return entries[0].table->Apply(entries[0].mutation, options);
  return Unimplemented(
      "a batch of {} mutations: a server with Bigtable's API changes one row at a time; use "
      "BulkApply, or Apply a row's "
      "changes as one mutation",
      batch.size());
}

absl::StatusOr<std::shared_ptr<SnapshotBackend>> RemoteDatabase::GetSnapshot() {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  return Unimplemented(
      "snapshots: not supported by a server with Bigtable's API; each read returns every row as it "
      "is when it reaches it");
}

// Does nothing: a server acknowledges a write when it is as durable as the server makes it.
absl::Status RemoteDatabase::Sync() { return connection_->CheckOpen(); }

absl::Status RemoteDatabase::WaitForIdle() {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  return Unimplemented(
      "a server with Bigtable's API does not report whether flushes and compactions are due");
}

absl::Status RemoteDatabase::Checkpoint(std::string_view /*directory*/,
                                        const CheckpointOptions& /*options*/) {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  return Unimplemented(
      "the server owns the files; copy the tables, or make a backup on the server");
}

absl::StatusOr<VerifyReport> RemoteDatabase::Verify() {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  return Unimplemented("verification: the server owns the files");
}

DatabaseStats RemoteDatabase::Stats() { return {}; }

// A server does not report it. The write that is refused returns the reason.
absl::Status RemoteDatabase::WriteRefusal() { return connection_->CheckOpen(); }

absl::Status RemoteDatabase::ConfirmClock() {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  return Unimplemented("the clock is the server's; confirm it there");
}

absl::Status RemoteDatabase::Close() {
  connection_->Close();
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<DatabaseBackend>> OpenRemoteDatabase(
    std::string_view location, const DatabaseOptions& options, std::shared_ptr<Waiter> waiter) {
  const char* const emulator_host = std::getenv("BIGTABLE_EMULATOR_HOST");
  STELE_ASSIGN_OR_RETURN(
      RemoteLocation parsed,
      ParseRemoteLocation(location, emulator_host == nullptr ? "" : emulator_host));
  if (options.error_if_exists)
    return InvalidArgument(
        "location \"{}\": error_if_exists: opening an instance does not create it",
        Printable(location));
  return std::make_shared<RemoteDatabase>(
      MakeForThisProcess<RemoteConnection>(std::move(parsed), options, std::move(waiter)));
}

}  // namespace stele::internal
