#include "steled/services/instance_service.h"

#include "remote/wire/timestamps.h"
#include "steled/services/answer.h"

namespace stele::server {

using internal::WireNow;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

// Returns the metadata of an operation that is done: its request, its begin and the present time.
template <typename Metadata, typename Request>
Metadata MetadataOf(const Request& request, const google::protobuf::Timestamp& begin) {
  Metadata metadata;
  *metadata.mutable_original_request() = request;
  *metadata.mutable_request_time() = begin;
  *metadata.mutable_finish_time() = WireNow();
  return metadata;
}

}  // namespace

// ---- instances ----

absl::Status InstanceService::CreateInstance(const admin_wire::CreateInstanceRequest& request,
                                             google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto instance = instances_.Create(request);
  return AnswerDone(instance, MetadataOf<admin_wire::CreateInstanceMetadata>(request, begin),
                    &operations_, response);
}

absl::Status InstanceService::GetInstance(const admin_wire::GetInstanceRequest& request,
                                          admin_wire::Instance* response) {
  return Answer(instances_.Get(request.name()), response);
}

absl::Status InstanceService::ListInstances(const admin_wire::ListInstancesRequest& request,
                                            admin_wire::ListInstancesResponse* response) {
  const auto instances = instances_.List(request.parent());
  if (!instances.ok()) return instances.status();
  for (const admin_wire::Instance& instance : *instances) *response->add_instances() = instance;
  return absl::OkStatus();
}

// The older method: changes all fields that can be changed.
absl::Status InstanceService::UpdateInstance(const admin_wire::Instance& request,
                                             admin_wire::Instance* response) {
  admin_wire::PartialUpdateInstanceRequest all;
  *all.mutable_instance() = request;
  for (const char* const field : {"display_name", "type", "labels"})
    all.mutable_update_mask()->add_paths(field);
  return Answer(instances_.Update(all), response);
}

absl::Status InstanceService::PartialUpdateInstance(
    const admin_wire::PartialUpdateInstanceRequest& request,
    google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto instance = instances_.Update(request);
  return AnswerDone(instance, MetadataOf<admin_wire::UpdateInstanceMetadata>(request, begin),
                    &operations_, response);
}

absl::Status InstanceService::DeleteInstance(const admin_wire::DeleteInstanceRequest& request,
                                             google::protobuf::Empty* /*response*/) {
  return instances_.Delete(request.name());
}

// ---- clusters ----

absl::Status InstanceService::CreateCluster(const admin_wire::CreateClusterRequest& request,
                                            google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto cluster = instances_.CreateCluster(request);
  return AnswerDone(cluster, MetadataOf<admin_wire::CreateClusterMetadata>(request, begin),
                    &operations_, response);
}

absl::Status InstanceService::GetCluster(const admin_wire::GetClusterRequest& request,
                                         admin_wire::Cluster* response) {
  return Answer(instances_.GetCluster(request.name()), response);
}

absl::Status InstanceService::ListClusters(const admin_wire::ListClustersRequest& request,
                                           admin_wire::ListClustersResponse* response) {
  const auto clusters = instances_.ListClusters(request.parent());
  if (!clusters.ok()) return clusters.status();
  for (const admin_wire::Cluster& cluster : *clusters) *response->add_clusters() = cluster;
  return absl::OkStatus();
}

absl::Status InstanceService::UpdateCluster(const admin_wire::Cluster& request,
                                            google::longrunning::Operation* response) {
  const auto begin = WireNow();
  admin_wire::PartialUpdateClusterRequest nodes;
  *nodes.mutable_cluster() = request;
  // With autoscaling the number of nodes may be missing.
  if (request.serve_nodes() != 0 || !request.has_cluster_config())
    nodes.mutable_update_mask()->add_paths("serve_nodes");
  nodes.mutable_update_mask()->add_paths("cluster_config");
  const auto cluster = instances_.UpdateCluster(nodes);
  return AnswerDone(cluster, MetadataOf<admin_wire::UpdateClusterMetadata>(request, begin),
                    &operations_, response);
}

absl::Status InstanceService::PartialUpdateCluster(
    const admin_wire::PartialUpdateClusterRequest& request,
    google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto cluster = instances_.UpdateCluster(request);
  return AnswerDone(cluster, MetadataOf<admin_wire::PartialUpdateClusterMetadata>(request, begin),
                    &operations_, response);
}

absl::Status InstanceService::DeleteCluster(const admin_wire::DeleteClusterRequest& request,
                                            google::protobuf::Empty* /*response*/) {
  return instances_.DeleteCluster(request.name());
}

// ---- app profiles ----

absl::Status InstanceService::CreateAppProfile(const admin_wire::CreateAppProfileRequest& request,
                                               admin_wire::AppProfile* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExists(request.parent()));
  return Answer(profiles_.Create(request), response);
}

absl::Status InstanceService::GetAppProfile(const admin_wire::GetAppProfileRequest& request,
                                            admin_wire::AppProfile* response) {
  const size_t level = request.name().rfind("/appProfiles/");
  if (level != std::string::npos)
    STELED_RETURN_IF_ERROR(instances_.CheckExists(request.name().substr(0, level)));
  return Answer(profiles_.Get(request.name()), response);
}

absl::Status InstanceService::ListAppProfiles(const admin_wire::ListAppProfilesRequest& request,
                                              admin_wire::ListAppProfilesResponse* response) {
  if (!request.parent().ends_with("/instances/-"))
    STELED_RETURN_IF_ERROR(instances_.CheckExists(request.parent()));
  return profiles_.List(request, response);
}

absl::Status InstanceService::UpdateAppProfile(const admin_wire::UpdateAppProfileRequest& request,
                                               google::longrunning::Operation* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.app_profile().name()));
  return AnswerDone(profiles_.Update(request), admin_wire::UpdateAppProfileMetadata(), &operations_,
                    response);
}

absl::Status InstanceService::DeleteAppProfile(const admin_wire::DeleteAppProfileRequest& request,
                                               google::protobuf::Empty* /*response*/) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.name()));
  return profiles_.Delete(request.name());
}

// ---- policies ----

absl::Status InstanceService::GetIamPolicy(const google::iam::v1::GetIamPolicyRequest& request,
                                           google::iam::v1::Policy* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.resource()));
  return Answer(policies_.Get(request), response);
}

absl::Status InstanceService::SetIamPolicy(const google::iam::v1::SetIamPolicyRequest& request,
                                           google::iam::v1::Policy* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.resource()));
  return Answer(policies_.Set(request), response);
}

absl::Status InstanceService::TestIamPermissions(
    const google::iam::v1::TestIamPermissionsRequest& request,
    google::iam::v1::TestIamPermissionsResponse* response) {
  STELED_RETURN_IF_ERROR(instances_.CheckExistsFor(request.resource()));
  return Answer(policies_.Test(request), response);
}

// ---- hot tablets ----

absl::Status InstanceService::ListHotTablets(const admin_wire::ListHotTabletsRequest& request,
                                             admin_wire::ListHotTabletsResponse* response) {
  if (request.parent().ends_with("/clusters/-")) {
    STELED_RETURN_IF_ERROR(
        instances_.CheckExists(request.parent().substr(0, request.parent().rfind("/clusters/"))));
  } else {
    STELED_RETURN_IF_ERROR(instances_.GetCluster(request.parent()).status());
  }
  return hot_tablets_.List(request, response);
}

}  // namespace stele::server
