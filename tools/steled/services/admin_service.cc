#include "steled/services/admin_service.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "model/validate.h"
#include "remote/wire/names.h"
#include "remote/wire/schema_translation.h"
#include "remote/wire/timestamps.h"
#include "steled/base/errors.h"
#include "steled/services/answer.h"
#include "steled/services/row_errors.h"

namespace stele::server {

using internal::BackupPolicyText;
using internal::CheckTableId;
using internal::FamiliesOf;
using internal::IsProtected;
using internal::kAutomatedBackupPolicy;
using internal::kDeletionProtection;
using internal::ProtectionText;
using internal::StoredPrefix;
using internal::StoredTableName;
using internal::ToFamilyChange;
using internal::ToSchema;
using internal::ToWireTable;
using internal::TypedFamilies;
using internal::TypeProperty;
using internal::ValidateSchema;
using internal::WireNow;
using internal::WireTableName;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

// The default and the maximum for the tables on one page of a list.
constexpr int kTablesPerPage = 1000;

bool IsOfBackupPolicy(const std::string& path) {
  return path == kAutomatedBackupPolicy || path == "automated_backup_policy.retention_period" ||
         path == "automated_backup_policy.frequency";
}

absl::Status ProtectedError(const std::string& name) {
  return FailedPrecondition(
      "The table {} is protected against deletion; clear deletion_protection first", name);
}

// A single node is always consistent with itself, so a check only needs to know whether the token
// was issued for this table.
std::string ConsistencyToken(const std::string& name) { return "consistent:" + name; }

// Only deletion_protection and automated_backup_policy can be updated.
absl::Status CheckTableUpdateMask(const google::protobuf::FieldMask& mask) {
  static constexpr const char* kNotOffered[] = {
      "change_stream_config", "change_stream_config.retention_period", "row_key_schema",
      "tiered_storage_config", "column_families"};
  if (mask.paths().empty()) return InvalidArgument("update_mask must not be empty");
  for (const std::string& path : mask.paths()) {
    if (path == kDeletionProtection || IsOfBackupPolicy(path)) continue;
    for (const char* const field : kNotOffered) {
      if (path == field) return Unimplemented("\"{}\" cannot be updated by UpdateTable here", path);
    }
    return InField(InvalidArgument("\"{}\" cannot be updated", path), "update_mask");
  }
  return absl::OkStatus();
}

// Returns the value of the backup policy's property after an update: each field in the mask comes
// from `table`. Empty: no policy.
absl::StatusOr<std::string> UpdatedBackupPolicy(const Schema& schema,
                                                const admin_wire::Table& table,
                                                const google::protobuf::FieldMask& mask) {
  admin_wire::Table updated = ToWireTable("", schema, admin_wire::Table::SCHEMA_VIEW);
  for (const std::string& path : mask.paths()) {
    const admin_wire::AutomatedBackupPolicy& asked = table.automated_backup_policy();
    if (path == kAutomatedBackupPolicy) {
      updated.clear_automated_backup_policy();
      if (table.has_automated_backup_policy()) *updated.mutable_automated_backup_policy() = asked;
    } else if (path == "automated_backup_policy.retention_period") {
      *updated.mutable_automated_backup_policy()->mutable_retention_period() =
          asked.retention_period();
    } else if (path == "automated_backup_policy.frequency") {
      *updated.mutable_automated_backup_policy()->mutable_frequency() = asked.frequency();
    }
  }
  if (!updated.has_automated_backup_policy()) return std::string();
  return BackupPolicyText(updated.automated_backup_policy());
}

struct PropertyChange {
  std::string property_key;
  std::string before;
  std::string after;
};
using PropertyChanges = std::vector<PropertyChange>;

// Returns the changes of the families' type properties for a request that results in `families`.
// They become durable before the families change. So a request may not create an hll family again
// for other items: after a crash in between it would count items wrongly.
absl::StatusOr<PropertyChanges> TypeChanges(const Schema& schema, const TypedFamilies& families) {
  PropertyChanges changes;
  for (const auto& [name, family] : families) {
    std::string property_key = TypeProperty(family.schema);
    if (property_key.empty()) continue;
    const auto property = schema.properties().find(property_key);
    std::string before = property == schema.properties().end() ? std::string() : property->second;
    if (before == family.type_text) continue;
    const FamilySchema* const there = schema.family(name);
    if (there != nullptr && there->value_type == ValueType::kHll &&
        family.schema.value_type == ValueType::kHll) {
      return Unimplemented(
          "Family {} cannot be dropped and made for other items in one request; make it anew in a "
          "second one",
          name);
    }
    changes.push_back({std::move(property_key), std::move(before), family.type_text});
  }
  return changes;
}

absl::Status WithTableName(const absl::Status& status, const std::string& name) {
  return WithBigtableText(status, {}, name);
}

// Checks everything before it changes anything.
absl::Status SetProperties(const admin_wire::UpdateTableRequest& request, Table* table) {
  STELED_ASSIGN_OR_RETURN(const Schema schema, table->schema());
  const google::protobuf::FieldMask& mask = request.update_mask();
  STELED_ASSIGN_OR_RETURN(const std::string policy,
                          UpdatedBackupPolicy(schema, request.table(), mask));
  const auto names = [&](const auto& is_field) {
    return std::any_of(mask.paths().begin(), mask.paths().end(), is_field);
  };
  if (names(IsOfBackupPolicy))
    STELED_RETURN_IF_ERROR(table->SetProperty(std::string(kAutomatedBackupPolicy), policy));
  if (!names([](const std::string& path) { return path == kDeletionProtection; }))
    return absl::OkStatus();
  return table->SetProperty(std::string(kDeletionProtection),
                            ProtectionText(request.table().deletion_protection()));
}

}  // namespace

absl::Status AdminService::CreateTable(const admin_wire::CreateTableRequest& request,
                                       admin_wire::Table* response) {
  STELED_ASSIGN_OR_RETURN(const std::string prefix, StoredPrefix(request.parent()));
  STELED_RETURN_IF_ERROR(CheckTableId(request.table_id()));
  STELED_RETURN_IF_ERROR(instances_.CheckExists(request.parent()));
  STELED_ASSIGN_OR_RETURN(const Schema schema, ToSchema(request));
  // Before Create, which first deletes a soft-deleted table of that name.
  STELED_RETURN_IF_ERROR(ValidateSchema(schema));
  const std::string stored_name = prefix + request.table_id();
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(const Table table, tables_.Create(stored_name, schema));
  STELED_ASSIGN_OR_RETURN(const Schema created, table.schema());
  *response = ToWireTable(WireTableName(stored_name), created, admin_wire::Table::SCHEMA_VIEW);
  return absl::OkStatus();
}

absl::Status AdminService::ListTables(const admin_wire::ListTablesRequest& request,
                                      admin_wire::ListTablesResponse* response) {
  STELED_ASSIGN_OR_RETURN(const std::string prefix, StoredPrefix(request.parent()));
  STELED_RETURN_IF_ERROR(instances_.CheckExists(request.parent()));
  if (request.page_size() < 0) return InvalidArgument("page_size must not be negative");
  const int page =
      request.page_size() == 0 ? kTablesPerPage : std::min(request.page_size(), kTablesPerPage);
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, tables_.List(prefix));
  const admin_wire::Table::View view = request.view() == admin_wire::Table::VIEW_UNSPECIFIED
                                           ? admin_wire::Table::NAME_ONLY
                                           : request.view();
  // The token of a page is the last name of the previous page.
  for (auto name = std::upper_bound(names.begin(), names.end(), request.page_token());
       name != names.end(); ++name) {
    if (response->tables_size() == page) {
      response->set_next_page_token(*std::prev(name));
      break;
    }
    Schema schema;
    if (view != admin_wire::Table::NAME_ONLY) {
      const absl::StatusOr<Table> table = tables_.Open(*name);
      const absl::StatusOr<Schema> found = table.ok() ? table->schema() : table.status();
      if (absl::IsNotFound(found.status())) continue;  // deleted meanwhile
      if (!found.ok()) return found.status();
      schema = *found;
    }
    admin_wire::Table* const listed = response->add_tables();
    *listed = ToWireTable(WireTableName(*name), schema, view);
    STELED_RETURN_IF_ERROR(AddClusterStates(view, listed));
  }
  return absl::OkStatus();
}

absl::Status AdminService::Get(const std::string& name, admin_wire::Table::View view,
                               admin_wire::Table* response) {
  STELED_ASSIGN_OR_RETURN(const OpenTable table, tables_.Find(name));
  const absl::StatusOr<Schema> schema = table.table.schema();
  if (!schema.ok()) return WithTableName(schema.status(), name);
  *response = ToWireTable(name, *schema, view);
  return AddClusterStates(view, response);
}

absl::Status AdminService::AddClusterStates(admin_wire::Table::View view,
                                            admin_wire::Table* table) const {
  if (view != admin_wire::Table::FULL && view != admin_wire::Table::REPLICATION_VIEW &&
      view != admin_wire::Table::ENCRYPTION_VIEW) {
    return absl::OkStatus();
  }
  const std::string instance_name = table->name().substr(0, table->name().rfind("/tables/"));
  STELED_ASSIGN_OR_RETURN(const std::vector<admin_wire::Cluster> clusters,
                          instances_.ListClusters(instance_name));
  for (const admin_wire::Cluster& cluster : clusters) {
    const std::string id = cluster.name().substr(cluster.name().rfind('/') + 1);
    (*table->mutable_cluster_states())[id].set_replication_state(
        admin_wire::Table::ClusterState::READY);
  }
  return absl::OkStatus();
}

absl::Status AdminService::GetTable(const admin_wire::GetTableRequest& request,
                                    admin_wire::Table* response) {
  return Get(request.name(), request.view(), response);
}

absl::Status AdminService::UpdateTable(const admin_wire::UpdateTableRequest& request,
                                       google::longrunning::Operation* response) {
  admin_wire::UpdateTableMetadata metadata;
  *metadata.mutable_start_time() = WireNow();
  STELED_RETURN_IF_ERROR(CheckTableUpdateMask(request.update_mask()));
  const std::string& name = request.table().name();
  admin_wire::Table updated;
  {
    const std::lock_guard lock(tables_.changes());
    STELED_ASSIGN_OR_RETURN(OpenTable table, tables_.Find(name));
    STELED_RETURN_IF_ERROR(WithTableName(SetProperties(request, &table.table), name));
    STELED_RETURN_IF_ERROR(Get(name, admin_wire::Table::SCHEMA_VIEW, &updated));
  }
  metadata.set_name(name);
  *metadata.mutable_end_time() = WireNow();
  *response = operations_.AddDone(name, metadata, updated);
  return absl::OkStatus();
}

absl::Status AdminService::DeleteTable(const admin_wire::DeleteTableRequest& request,
                                       google::protobuf::Empty* /*response*/) {
  const std::string& name = request.name();
  STELED_ASSIGN_OR_RETURN(const std::string stored_name, StoredTableName(name));
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(const OpenTable table, tables_.Find(name));
  STELED_ASSIGN_OR_RETURN(const Schema schema, table.table.schema());
  if (IsProtected(schema)) return ProtectedError(name);
  if (undelete_period_.count() > 0) {
    STELED_RETURN_IF_ERROR(tables_.SoftDelete(stored_name, tables_.CollectionMicros()));
  } else {
    STELED_RETURN_IF_ERROR(tables_.Delete(stored_name));
  }
  return policies_.Forget(name);
}

absl::Status AdminService::UndeleteTable(const admin_wire::UndeleteTableRequest& request,
                                         google::longrunning::Operation* response) {
  admin_wire::UndeleteTableMetadata metadata;
  *metadata.mutable_start_time() = WireNow();
  const std::string& name = request.name();
  STELED_ASSIGN_OR_RETURN(const std::string stored_name, StoredTableName(name));
  admin_wire::Table restored;
  {
    const std::lock_guard lock(tables_.changes());
    STELED_RETURN_IF_ERROR(tables_.Undelete(
        stored_name,
        tables_.CollectionMicros() - std::chrono::microseconds(undelete_period_).count()));
    STELED_RETURN_IF_ERROR(Get(name, admin_wire::Table::SCHEMA_VIEW, &restored));
  }
  metadata.set_name(name);
  *metadata.mutable_end_time() = WireNow();
  *response = operations_.AddDone(name, metadata, restored);
  return absl::OkStatus();
}

absl::Status AdminService::ModifyColumnFamilies(
    const admin_wire::ModifyColumnFamiliesRequest& request, admin_wire::Table* response) {
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(OpenTable table, tables_.Find(request.name()));
  STELED_ASSIGN_OR_RETURN(const Schema schema, table.table.schema());
  if (request.modifications().empty()) return InvalidArgument("No modifications provided");
  std::vector<FamilyChange> changes;
  TypedFamilies families = FamiliesOf(schema);
  for (const admin_wire::ModifyColumnFamiliesRequest::Modification& modification :
       request.modifications()) {
    if (modification.drop() && IsProtected(schema)) return ProtectedError(request.name());
    STELED_ASSIGN_OR_RETURN(std::optional<FamilyChange> change,
                            ToFamilyChange(modification, &families));
    if (change.has_value()) changes.push_back(*std::move(change));
  }
  STELED_ASSIGN_OR_RETURN(const PropertyChanges types, TypeChanges(schema, families));
  // Before the families, since a new family must have its item type from the start. A crash in
  // between leaves a property without a family.
  for (const PropertyChange& type : types)
    STELED_RETURN_IF_ERROR(table.table.SetProperty(type.property_key, type.after));
  const absl::Status modified =
      WithTableName(table.table.ModifyColumnFamilies(changes), request.name());
  if (!modified.ok()) {
    for (const PropertyChange& type : types)
      STELED_RETURN_IF_ERROR(table.table.SetProperty(type.property_key, type.before));
    return modified;
  }
  tables_.Forget(request.name());
  return Get(request.name(), admin_wire::Table::SCHEMA_VIEW, response);
}

absl::Status AdminService::DropRowRange(const admin_wire::DropRowRangeRequest& request,
                                        google::protobuf::Empty* /*response*/) {
  STELED_ASSIGN_OR_RETURN(OpenTable table, tables_.Find(request.name()));
  switch (request.target_case()) {
    case admin_wire::DropRowRangeRequest::kRowKeyPrefix:
      if (request.row_key_prefix().empty())
        return InvalidArgument("row_key_prefix must not be empty");
      return WithTableName(table.table.DropRowRange(RowRange::Prefix(request.row_key_prefix())),
                           request.name());
    case admin_wire::DropRowRangeRequest::kDeleteAllDataFromTable:
      if (!request.delete_all_data_from_table()) return absl::OkStatus();
      return WithTableName(table.table.DropRowRange(RowRange::All()), request.name());
    case admin_wire::DropRowRangeRequest::TARGET_NOT_SET:
      break;
  }
  return InvalidArgument("No target: set row_key_prefix or delete_all_data_from_table");
}

absl::Status AdminService::GenerateConsistencyToken(
    const admin_wire::GenerateConsistencyTokenRequest& request,
    admin_wire::GenerateConsistencyTokenResponse* response) {
  const absl::StatusOr<OpenTable> table = tables_.Find(request.name());
  if (!table.ok()) return table.status();
  response->set_consistency_token(ConsistencyToken(request.name()));
  return absl::OkStatus();
}

absl::Status AdminService::CheckConsistency(const admin_wire::CheckConsistencyRequest& request,
                                            admin_wire::CheckConsistencyResponse* response) {
  const absl::StatusOr<OpenTable> table = tables_.Find(request.name());
  if (!table.ok()) return table.status();
  if (request.consistency_token() != ConsistencyToken(request.name())) {
    return InvalidArgument("The consistency token was not given for {}", request.name());
  }
  response->set_consistent(true);
  return absl::OkStatus();
}

// ---- backups ----

absl::Status AdminService::CreateBackup(const admin_wire::CreateBackupRequest& request,
                                        google::longrunning::Operation* response) {
  return Answer(backups_.Create(request), response);
}

absl::Status AdminService::GetBackup(const admin_wire::GetBackupRequest& request,
                                     admin_wire::Backup* response) {
  return Answer(backups_.Get(request.name()), response);
}

absl::Status AdminService::UpdateBackup(const admin_wire::UpdateBackupRequest& request,
                                        admin_wire::Backup* response) {
  return Answer(backups_.Update(request), response);
}

absl::Status AdminService::DeleteBackup(const admin_wire::DeleteBackupRequest& request,
                                        google::protobuf::Empty* /*response*/) {
  absl::Status status = backups_.Delete(request.name());
  if (status.ok()) status = policies_.Forget(request.name());
  return status;
}

absl::Status AdminService::ListBackups(const admin_wire::ListBackupsRequest& request,
                                       admin_wire::ListBackupsResponse* response) {
  if (const size_t level = request.parent().rfind("/clusters/"); level != std::string::npos) {
    STELED_RETURN_IF_ERROR(instances_.CheckExists(request.parent().substr(0, level)));
  }
  return backups_.List(request, response);
}

absl::Status AdminService::CopyBackup(const admin_wire::CopyBackupRequest& request,
                                      google::longrunning::Operation* response) {
  const std::string& parent = request.parent();
  STELED_RETURN_IF_ERROR(instances_.CheckExists(parent.substr(0, parent.rfind("/clusters/"))));
  return Answer(backups_.Copy(request), response);
}

absl::Status AdminService::RestoreTable(const admin_wire::RestoreTableRequest& request,
                                        google::longrunning::Operation* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExists(request.parent()));
  return Answer(backups_.Restore(request), response);
}

// ---- policies ----

absl::Status AdminService::GetIamPolicy(const google::iam::v1::GetIamPolicyRequest& request,
                                        google::iam::v1::Policy* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.resource()));
  return Answer(policies_.Get(request), response);
}

absl::Status AdminService::SetIamPolicy(const google::iam::v1::SetIamPolicyRequest& request,
                                        google::iam::v1::Policy* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.resource()));
  return Answer(policies_.Set(request), response);
}

absl::Status AdminService::TestIamPermissions(
    const google::iam::v1::TestIamPermissionsRequest& request,
    google::iam::v1::TestIamPermissionsResponse* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.resource()));
  return Answer(policies_.Test(request), response);
}

}  // namespace stele::server
