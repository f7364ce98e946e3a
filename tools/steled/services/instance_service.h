// steled/services/instance_service.h: implements google.bigtable.admin.v2.BigtableInstanceAdmin
// with the server's records.
//
// Errors:    Bigtable's codes.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include "absl/status/status.h"
#include "remote/wire/instance_admin.pb.h"
#include "steled/rpc/operations.h"
#include "steled/services/hot_tablets.h"
#include "steled/state/app_profiles.h"
#include "steled/state/iam_policies.h"
#include "steled/state/instances.h"

namespace stele::server {

// The methods are those of the service, as unary calls.
class InstanceService {
 public:
  // All arguments must outlive the service.
  InstanceService(Instances* instances, AppProfiles* profiles, IamPolicies* policies,
                  Operations* operations, const HotTablets* hot_tablets)
      : instances_(*instances),
        profiles_(*profiles),
        policies_(*policies),
        operations_(*operations),
        hot_tablets_(*hot_tablets) {}

  absl::Status CreateInstance(const google::bigtable::admin::v2::CreateInstanceRequest& request,
                              google::longrunning::Operation* response);
  absl::Status GetInstance(const google::bigtable::admin::v2::GetInstanceRequest& request,
                           google::bigtable::admin::v2::Instance* response);
  absl::Status ListInstances(const google::bigtable::admin::v2::ListInstancesRequest& request,
                             google::bigtable::admin::v2::ListInstancesResponse* response);
  absl::Status UpdateInstance(const google::bigtable::admin::v2::Instance& request,
                              google::bigtable::admin::v2::Instance* response);
  absl::Status PartialUpdateInstance(
      const google::bigtable::admin::v2::PartialUpdateInstanceRequest& request,
      google::longrunning::Operation* response);
  absl::Status DeleteInstance(const google::bigtable::admin::v2::DeleteInstanceRequest& request,
                              google::protobuf::Empty* response);
  absl::Status CreateCluster(const google::bigtable::admin::v2::CreateClusterRequest& request,
                             google::longrunning::Operation* response);
  absl::Status GetCluster(const google::bigtable::admin::v2::GetClusterRequest& request,
                          google::bigtable::admin::v2::Cluster* response);
  absl::Status ListClusters(const google::bigtable::admin::v2::ListClustersRequest& request,
                            google::bigtable::admin::v2::ListClustersResponse* response);
  absl::Status UpdateCluster(const google::bigtable::admin::v2::Cluster& request,
                             google::longrunning::Operation* response);
  absl::Status PartialUpdateCluster(
      const google::bigtable::admin::v2::PartialUpdateClusterRequest& request,
      google::longrunning::Operation* response);
  absl::Status DeleteCluster(const google::bigtable::admin::v2::DeleteClusterRequest& request,
                             google::protobuf::Empty* response);
  absl::Status CreateAppProfile(const google::bigtable::admin::v2::CreateAppProfileRequest& request,
                                google::bigtable::admin::v2::AppProfile* response);
  absl::Status GetAppProfile(const google::bigtable::admin::v2::GetAppProfileRequest& request,
                             google::bigtable::admin::v2::AppProfile* response);
  absl::Status ListAppProfiles(const google::bigtable::admin::v2::ListAppProfilesRequest& request,
                               google::bigtable::admin::v2::ListAppProfilesResponse* response);
  absl::Status UpdateAppProfile(const google::bigtable::admin::v2::UpdateAppProfileRequest& request,
                                google::longrunning::Operation* response);
  absl::Status DeleteAppProfile(const google::bigtable::admin::v2::DeleteAppProfileRequest& request,
                                google::protobuf::Empty* response);
  absl::Status GetIamPolicy(const google::iam::v1::GetIamPolicyRequest& request,
                            google::iam::v1::Policy* response);
  absl::Status SetIamPolicy(const google::iam::v1::SetIamPolicyRequest& request,
                            google::iam::v1::Policy* response);
  absl::Status TestIamPermissions(const google::iam::v1::TestIamPermissionsRequest& request,
                                  google::iam::v1::TestIamPermissionsResponse* response);
  absl::Status ListHotTablets(const google::bigtable::admin::v2::ListHotTabletsRequest& request,
                              google::bigtable::admin::v2::ListHotTabletsResponse* response);

 private:
  Instances& instances_;
  AppProfiles& profiles_;
  IamPolicies& policies_;
  Operations& operations_;
  const HotTablets& hot_tablets_;
};

}  // namespace stele::server
