// steled/services/admin_service.h: implements google.bigtable.admin.v2.BigtableTableAdmin with the
// library.
//
// The tables of an instance are those whose stored names begin with its name. Requests that create,
// change or delete a table run one at a time, so that deletion protection cannot change between its
// check and the change. Restores and DropRowRange run beside them.
//
// Errors:    Bigtable's codes.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableTableAdmin.
#pragma once

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "remote/wire/table_admin.pb.h"
#include "steled/backups/backups.h"
#include "steled/rpc/operations.h"
#include "steled/state/iam_policies.h"
#include "steled/state/instances.h"
#include "steled/state/open_tables.h"

namespace stele::server {

// The methods are those of the service, as unary calls. A request is complete when its method
// returns, except CreateBackup, CopyBackup and RestoreTable: their operation may still run.
class AdminService {
 public:
  // All arguments must outlive the service. A deleted table can be restored for `undelete_period`;
  // 0: not at all.
  AdminService(OpenTables* tables, Operations* operations, Backups* backups, IamPolicies* policies,
               const Instances* instances, std::chrono::seconds undelete_period)
      : tables_(*tables),
        operations_(*operations),
        backups_(*backups),
        policies_(*policies),
        instances_(*instances),
        undelete_period_(undelete_period) {}

  absl::Status CreateTable(const google::bigtable::admin::v2::CreateTableRequest& request,
                           google::bigtable::admin::v2::Table* response);
  absl::Status ListTables(const google::bigtable::admin::v2::ListTablesRequest& request,
                          google::bigtable::admin::v2::ListTablesResponse* response);
  absl::Status GetTable(const google::bigtable::admin::v2::GetTableRequest& request,
                        google::bigtable::admin::v2::Table* response);
  absl::Status UpdateTable(const google::bigtable::admin::v2::UpdateTableRequest& request,
                           google::longrunning::Operation* response);
  absl::Status DeleteTable(const google::bigtable::admin::v2::DeleteTableRequest& request,
                           google::protobuf::Empty* response);
  absl::Status UndeleteTable(const google::bigtable::admin::v2::UndeleteTableRequest& request,
                             google::longrunning::Operation* response);
  absl::Status ModifyColumnFamilies(
      const google::bigtable::admin::v2::ModifyColumnFamiliesRequest& request,
      google::bigtable::admin::v2::Table* response);
  absl::Status DropRowRange(const google::bigtable::admin::v2::DropRowRangeRequest& request,
                            google::protobuf::Empty* response);
  absl::Status GenerateConsistencyToken(
      const google::bigtable::admin::v2::GenerateConsistencyTokenRequest& request,
      google::bigtable::admin::v2::GenerateConsistencyTokenResponse* response);
  absl::Status CheckConsistency(const google::bigtable::admin::v2::CheckConsistencyRequest& request,
                                google::bigtable::admin::v2::CheckConsistencyResponse* response);
  absl::Status CreateBackup(const google::bigtable::admin::v2::CreateBackupRequest& request,
                            google::longrunning::Operation* response);
  absl::Status GetBackup(const google::bigtable::admin::v2::GetBackupRequest& request,
                         google::bigtable::admin::v2::Backup* response);
  absl::Status UpdateBackup(const google::bigtable::admin::v2::UpdateBackupRequest& request,
                            google::bigtable::admin::v2::Backup* response);
  absl::Status DeleteBackup(const google::bigtable::admin::v2::DeleteBackupRequest& request,
                            google::protobuf::Empty* response);
  absl::Status ListBackups(const google::bigtable::admin::v2::ListBackupsRequest& request,
                           google::bigtable::admin::v2::ListBackupsResponse* response);
  absl::Status CopyBackup(const google::bigtable::admin::v2::CopyBackupRequest& request,
                          google::longrunning::Operation* response);
  absl::Status RestoreTable(const google::bigtable::admin::v2::RestoreTableRequest& request,
                            google::longrunning::Operation* response);
  absl::Status GetIamPolicy(const google::iam::v1::GetIamPolicyRequest& request,
                            google::iam::v1::Policy* response);
  absl::Status SetIamPolicy(const google::iam::v1::SetIamPolicyRequest& request,
                            google::iam::v1::Policy* response);
  absl::Status TestIamPermissions(const google::iam::v1::TestIamPermissionsRequest& request,
                                  google::iam::v1::TestIamPermissionsResponse* response);

 private:
  // Adds the clusters of the table's instance if `view` includes them: clients create backups in
  // one of these.
  absl::Status AddClusterStates(google::bigtable::admin::v2::Table::View view,
                                google::bigtable::admin::v2::Table* table) const;
  absl::Status Get(const std::string& name, google::bigtable::admin::v2::Table::View view,
                   google::bigtable::admin::v2::Table* response);

  OpenTables& tables_;
  Operations& operations_;
  Backups& backups_;
  IamPolicies& policies_;
  const Instances& instances_;
  const std::chrono::seconds undelete_period_;
};

}  // namespace stele::server
