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

#include "backups.h"
#include "iam_policies.h"
#include "open_tables.h"
#include "operations.h"
#include "wire/table_admin.grpc.pb.h"

namespace stele::server {

class AdminService final : public google::bigtable::admin::v2::BigtableTableAdmin::Service {
 public:
  // All have to outlive the service.
  AdminService(OpenTables* tables, Operations* operations, Backups* backups, IamPolicies* policies)
      : tables_(*tables), operations_(*operations), backups_(*backups), policies_(*policies) {}

  grpc::Status CreateTable(grpc::ServerContext* context, const google::bigtable::admin::v2::CreateTableRequest* request,
                           google::bigtable::admin::v2::Table* response) override;
  grpc::Status ListTables(grpc::ServerContext* context, const google::bigtable::admin::v2::ListTablesRequest* request,
                          google::bigtable::admin::v2::ListTablesResponse* response) override;
  grpc::Status GetTable(grpc::ServerContext* context, const google::bigtable::admin::v2::GetTableRequest* request,
                        google::bigtable::admin::v2::Table* response) override;
  grpc::Status UpdateTable(grpc::ServerContext* context, const google::bigtable::admin::v2::UpdateTableRequest* request,
                           google::longrunning::Operation* response) override;
  grpc::Status DeleteTable(grpc::ServerContext* context, const google::bigtable::admin::v2::DeleteTableRequest* request,
                           google::protobuf::Empty* response) override;
  grpc::Status ModifyColumnFamilies(grpc::ServerContext* context, const google::bigtable::admin::v2::ModifyColumnFamiliesRequest* request,
                                    google::bigtable::admin::v2::Table* response) override;
  grpc::Status DropRowRange(grpc::ServerContext* context, const google::bigtable::admin::v2::DropRowRangeRequest* request,
                            google::protobuf::Empty* response) override;
  grpc::Status GenerateConsistencyToken(grpc::ServerContext* context,
                                        const google::bigtable::admin::v2::GenerateConsistencyTokenRequest* request,
                                        google::bigtable::admin::v2::GenerateConsistencyTokenResponse* response) override;
  grpc::Status CheckConsistency(grpc::ServerContext* context, const google::bigtable::admin::v2::CheckConsistencyRequest* request,
                                google::bigtable::admin::v2::CheckConsistencyResponse* response) override;
  grpc::Status CreateBackup(grpc::ServerContext* context, const google::bigtable::admin::v2::CreateBackupRequest* request,
                            google::longrunning::Operation* response) override;
  grpc::Status GetBackup(grpc::ServerContext* context, const google::bigtable::admin::v2::GetBackupRequest* request,
                         google::bigtable::admin::v2::Backup* response) override;
  grpc::Status UpdateBackup(grpc::ServerContext* context, const google::bigtable::admin::v2::UpdateBackupRequest* request,
                            google::bigtable::admin::v2::Backup* response) override;
  grpc::Status DeleteBackup(grpc::ServerContext* context, const google::bigtable::admin::v2::DeleteBackupRequest* request,
                            google::protobuf::Empty* response) override;
  grpc::Status ListBackups(grpc::ServerContext* context, const google::bigtable::admin::v2::ListBackupsRequest* request,
                           google::bigtable::admin::v2::ListBackupsResponse* response) override;
  grpc::Status CopyBackup(grpc::ServerContext* context, const google::bigtable::admin::v2::CopyBackupRequest* request,
                          google::longrunning::Operation* response) override;
  grpc::Status RestoreTable(grpc::ServerContext* context, const google::bigtable::admin::v2::RestoreTableRequest* request,
                            google::longrunning::Operation* response) override;
  grpc::Status GetIamPolicy(grpc::ServerContext* context, const google::iam::v1::GetIamPolicyRequest* request,
                            google::iam::v1::Policy* response) override;
  grpc::Status SetIamPolicy(grpc::ServerContext* context, const google::iam::v1::SetIamPolicyRequest* request,
                            google::iam::v1::Policy* response) override;
  grpc::Status TestIamPermissions(grpc::ServerContext* context, const google::iam::v1::TestIamPermissionsRequest* request,
                                  google::iam::v1::TestIamPermissionsResponse* response) override;

 private:
  absl::Status Create(const google::bigtable::admin::v2::CreateTableRequest& request, google::bigtable::admin::v2::Table* response);
  absl::Status List(const google::bigtable::admin::v2::ListTablesRequest& request,
                    google::bigtable::admin::v2::ListTablesResponse* response) const;
  absl::Status Get(const std::string& name, google::bigtable::admin::v2::Table::View view, google::bigtable::admin::v2::Table* response);
  absl::Status Update(const google::bigtable::admin::v2::UpdateTableRequest& request, google::longrunning::Operation* response);
  absl::Status Delete(const std::string& name);
  absl::Status ModifyFamilies(const google::bigtable::admin::v2::ModifyColumnFamiliesRequest& request,
                              google::bigtable::admin::v2::Table* response);
  absl::Status DropRows(const google::bigtable::admin::v2::DropRowRangeRequest& request);

  OpenTables& tables_;
  Operations& operations_;
  Backups& backups_;
  IamPolicies& policies_;
};

}  // namespace stele::server
