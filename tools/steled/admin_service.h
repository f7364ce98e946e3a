// steled/admin_service.h: google.bigtable.admin.v2.BigtableTableAdmin over the library.
//
// An instance is there as soon as it is named: its tables are those whose stored names begin with it. Requests that change tables are done
// one at a time, so that deletion protection holds for the change that it was asked about.
//
// Errors:    Bigtable's codes.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableTableAdmin.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "backups.h"
#include "iam_policies.h"
#include "instances.h"
#include "open_tables.h"
#include "operations.h"
#include "wire/table_admin.pb.h"

namespace stele::server {

// Its methods are those of the service, in unary calls: what a request asks for is done when they return.
class AdminService {
 public:
  // All have to outlive the service.
  AdminService(OpenTables* tables, Operations* operations, Backups* backups, IamPolicies* policies, const Instances* instances)
      : tables_(*tables), operations_(*operations), backups_(*backups), policies_(*policies), instances_(*instances) {}

  absl::Status CreateTable(const google::bigtable::admin::v2::CreateTableRequest& request, google::bigtable::admin::v2::Table* response);
  absl::Status ListTables(const google::bigtable::admin::v2::ListTablesRequest& request,
                          google::bigtable::admin::v2::ListTablesResponse* response);
  absl::Status GetTable(const google::bigtable::admin::v2::GetTableRequest& request, google::bigtable::admin::v2::Table* response);
  absl::Status UpdateTable(const google::bigtable::admin::v2::UpdateTableRequest& request, google::longrunning::Operation* response);
  absl::Status DeleteTable(const google::bigtable::admin::v2::DeleteTableRequest& request, google::protobuf::Empty* response);
  absl::Status ModifyColumnFamilies(const google::bigtable::admin::v2::ModifyColumnFamiliesRequest& request,
                                    google::bigtable::admin::v2::Table* response);
  absl::Status DropRowRange(const google::bigtable::admin::v2::DropRowRangeRequest& request, google::protobuf::Empty* response);
  absl::Status GenerateConsistencyToken(const google::bigtable::admin::v2::GenerateConsistencyTokenRequest& request,
                                        google::bigtable::admin::v2::GenerateConsistencyTokenResponse* response);
  absl::Status CheckConsistency(const google::bigtable::admin::v2::CheckConsistencyRequest& request,
                                google::bigtable::admin::v2::CheckConsistencyResponse* response);
  absl::Status CreateBackup(const google::bigtable::admin::v2::CreateBackupRequest& request, google::longrunning::Operation* response);
  absl::Status GetBackup(const google::bigtable::admin::v2::GetBackupRequest& request, google::bigtable::admin::v2::Backup* response);
  absl::Status UpdateBackup(const google::bigtable::admin::v2::UpdateBackupRequest& request, google::bigtable::admin::v2::Backup* response);
  absl::Status DeleteBackup(const google::bigtable::admin::v2::DeleteBackupRequest& request, google::protobuf::Empty* response);
  absl::Status ListBackups(const google::bigtable::admin::v2::ListBackupsRequest& request,
                           google::bigtable::admin::v2::ListBackupsResponse* response);
  absl::Status CopyBackup(const google::bigtable::admin::v2::CopyBackupRequest& request, google::longrunning::Operation* response);
  absl::Status RestoreTable(const google::bigtable::admin::v2::RestoreTableRequest& request, google::longrunning::Operation* response);
  absl::Status GetIamPolicy(const google::iam::v1::GetIamPolicyRequest& request, google::iam::v1::Policy* response);
  absl::Status SetIamPolicy(const google::iam::v1::SetIamPolicyRequest& request, google::iam::v1::Policy* response);
  absl::Status TestIamPermissions(const google::iam::v1::TestIamPermissionsRequest& request,
                                  google::iam::v1::TestIamPermissionsResponse* response);

 private:
  // The clusters of the table's instance, where `view` shows them: clients make backups in one of these.
  absl::Status AddClusterStates(google::bigtable::admin::v2::Table::View view, google::bigtable::admin::v2::Table* table) const;
  absl::Status Get(const std::string& name, google::bigtable::admin::v2::Table::View view, google::bigtable::admin::v2::Table* response);

  OpenTables& tables_;
  Operations& operations_;
  Backups& backups_;
  IamPolicies& policies_;
  const Instances& instances_;
};

}  // namespace stele::server
