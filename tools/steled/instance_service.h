// steled/instance_service.h: google.bigtable.admin.v2.BigtableInstanceAdmin over what the server remembers.
//
// Errors:    Bigtable's codes.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include "app_profiles.h"
#include "iam_policies.h"
#include "instances.h"
#include "operations.h"
#include "wire/instance_admin.grpc.pb.h"

namespace stele::server {

class InstanceService final : public google::bigtable::admin::v2::BigtableInstanceAdmin::Service {
 public:
  // All have to outlive the service.
  InstanceService(Instances* instances, AppProfiles* profiles, IamPolicies* policies, Operations* operations)
      : instances_(*instances), profiles_(*profiles), policies_(*policies), operations_(*operations) {}

  grpc::Status CreateInstance(grpc::ServerContext* context, const google::bigtable::admin::v2::CreateInstanceRequest* request,
                              google::longrunning::Operation* response) override;
  grpc::Status GetInstance(grpc::ServerContext* context, const google::bigtable::admin::v2::GetInstanceRequest* request,
                           google::bigtable::admin::v2::Instance* response) override;
  grpc::Status ListInstances(grpc::ServerContext* context, const google::bigtable::admin::v2::ListInstancesRequest* request,
                             google::bigtable::admin::v2::ListInstancesResponse* response) override;
  grpc::Status UpdateInstance(grpc::ServerContext* context, const google::bigtable::admin::v2::Instance* request,
                              google::bigtable::admin::v2::Instance* response) override;
  grpc::Status PartialUpdateInstance(grpc::ServerContext* context, const google::bigtable::admin::v2::PartialUpdateInstanceRequest* request,
                                     google::longrunning::Operation* response) override;
  grpc::Status DeleteInstance(grpc::ServerContext* context, const google::bigtable::admin::v2::DeleteInstanceRequest* request,
                              google::protobuf::Empty* response) override;
  grpc::Status CreateCluster(grpc::ServerContext* context, const google::bigtable::admin::v2::CreateClusterRequest* request,
                             google::longrunning::Operation* response) override;
  grpc::Status GetCluster(grpc::ServerContext* context, const google::bigtable::admin::v2::GetClusterRequest* request,
                          google::bigtable::admin::v2::Cluster* response) override;
  grpc::Status ListClusters(grpc::ServerContext* context, const google::bigtable::admin::v2::ListClustersRequest* request,
                            google::bigtable::admin::v2::ListClustersResponse* response) override;
  grpc::Status UpdateCluster(grpc::ServerContext* context, const google::bigtable::admin::v2::Cluster* request,
                             google::longrunning::Operation* response) override;
  grpc::Status PartialUpdateCluster(grpc::ServerContext* context, const google::bigtable::admin::v2::PartialUpdateClusterRequest* request,
                                    google::longrunning::Operation* response) override;
  grpc::Status DeleteCluster(grpc::ServerContext* context, const google::bigtable::admin::v2::DeleteClusterRequest* request,
                             google::protobuf::Empty* response) override;
  grpc::Status CreateAppProfile(grpc::ServerContext* context, const google::bigtable::admin::v2::CreateAppProfileRequest* request,
                                google::bigtable::admin::v2::AppProfile* response) override;
  grpc::Status GetAppProfile(grpc::ServerContext* context, const google::bigtable::admin::v2::GetAppProfileRequest* request,
                             google::bigtable::admin::v2::AppProfile* response) override;
  grpc::Status ListAppProfiles(grpc::ServerContext* context, const google::bigtable::admin::v2::ListAppProfilesRequest* request,
                               google::bigtable::admin::v2::ListAppProfilesResponse* response) override;
  grpc::Status UpdateAppProfile(grpc::ServerContext* context, const google::bigtable::admin::v2::UpdateAppProfileRequest* request,
                                google::longrunning::Operation* response) override;
  grpc::Status DeleteAppProfile(grpc::ServerContext* context, const google::bigtable::admin::v2::DeleteAppProfileRequest* request,
                                google::protobuf::Empty* response) override;
  grpc::Status GetIamPolicy(grpc::ServerContext* context, const google::iam::v1::GetIamPolicyRequest* request,
                            google::iam::v1::Policy* response) override;
  grpc::Status SetIamPolicy(grpc::ServerContext* context, const google::iam::v1::SetIamPolicyRequest* request,
                            google::iam::v1::Policy* response) override;
  grpc::Status TestIamPermissions(grpc::ServerContext* context, const google::iam::v1::TestIamPermissionsRequest* request,
                                  google::iam::v1::TestIamPermissionsResponse* response) override;

 private:
  Instances& instances_;
  AppProfiles& profiles_;
  IamPolicies& policies_;
  Operations& operations_;
};

}  // namespace stele::server
