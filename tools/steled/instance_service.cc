#include "instance_service.h"

#include "answer.h"
#include "wire/timestamps.h"

namespace stele::server {

using internal::WireNow;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

// What was asked for, and when; the work is done by now.
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

grpc::Status InstanceService::CreateInstance(grpc::ServerContext* /*context*/, const admin_wire::CreateInstanceRequest* request,
                                             google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto instance = instances_.Create(*request);
  return AnswerDone(instance, MetadataOf<admin_wire::CreateInstanceMetadata>(*request, begin), &operations_, response);
}

grpc::Status InstanceService::GetInstance(grpc::ServerContext* /*context*/, const admin_wire::GetInstanceRequest* request,
                                          admin_wire::Instance* response) {
  return Answer(instances_.Get(request->name()), response);
}

grpc::Status InstanceService::ListInstances(grpc::ServerContext* /*context*/, const admin_wire::ListInstancesRequest* request,
                                            admin_wire::ListInstancesResponse* response) {
  const auto instances = instances_.List(request->parent());
  if (!instances.ok()) return ToGrpc(instances.status());
  for (const admin_wire::Instance& instance : *instances) *response->add_instances() = instance;
  return grpc::Status::OK;
}

// The older way: everything that can be changed is.
grpc::Status InstanceService::UpdateInstance(grpc::ServerContext* /*context*/, const admin_wire::Instance* request,
                                             admin_wire::Instance* response) {
  admin_wire::PartialUpdateInstanceRequest all;
  *all.mutable_instance() = *request;
  for (const char* const field : {"display_name", "type", "labels"}) all.mutable_update_mask()->add_paths(field);
  return Answer(instances_.Update(all), response);
}

grpc::Status InstanceService::PartialUpdateInstance(grpc::ServerContext* /*context*/,
                                                    const admin_wire::PartialUpdateInstanceRequest* request,
                                                    google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto instance = instances_.Update(*request);
  return AnswerDone(instance, MetadataOf<admin_wire::UpdateInstanceMetadata>(*request, begin), &operations_, response);
}

grpc::Status InstanceService::DeleteInstance(grpc::ServerContext* /*context*/, const admin_wire::DeleteInstanceRequest* request,
                                             google::protobuf::Empty* /*response*/) {
  absl::Status status = instances_.Delete(request->name());
  if (status.ok()) status = profiles_.Forget(request->name());
  if (status.ok()) status = policies_.Forget(request->name());
  return ToGrpc(status);
}

// ---- clusters ----

grpc::Status InstanceService::CreateCluster(grpc::ServerContext* /*context*/, const admin_wire::CreateClusterRequest* request,
                                            google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto cluster = instances_.CreateCluster(*request);
  return AnswerDone(cluster, MetadataOf<admin_wire::CreateClusterMetadata>(*request, begin), &operations_, response);
}

grpc::Status InstanceService::GetCluster(grpc::ServerContext* /*context*/, const admin_wire::GetClusterRequest* request,
                                         admin_wire::Cluster* response) {
  return Answer(instances_.GetCluster(request->name()), response);
}

grpc::Status InstanceService::ListClusters(grpc::ServerContext* /*context*/, const admin_wire::ListClustersRequest* request,
                                           admin_wire::ListClustersResponse* response) {
  const auto clusters = instances_.ListClusters(request->parent());
  if (!clusters.ok()) return ToGrpc(clusters.status());
  for (const admin_wire::Cluster& cluster : *clusters) *response->add_clusters() = cluster;
  return grpc::Status::OK;
}

grpc::Status InstanceService::UpdateCluster(grpc::ServerContext* /*context*/, const admin_wire::Cluster* request,
                                            google::longrunning::Operation* response) {
  const auto begin = WireNow();
  admin_wire::PartialUpdateClusterRequest nodes;
  *nodes.mutable_cluster() = *request;
  nodes.mutable_update_mask()->add_paths("serve_nodes");
  const auto cluster = instances_.UpdateCluster(nodes);
  return AnswerDone(cluster, MetadataOf<admin_wire::UpdateClusterMetadata>(*request, begin), &operations_, response);
}

grpc::Status InstanceService::PartialUpdateCluster(grpc::ServerContext* /*context*/, const admin_wire::PartialUpdateClusterRequest* request,
                                                   google::longrunning::Operation* response) {
  const auto begin = WireNow();
  const auto cluster = instances_.UpdateCluster(*request);
  return AnswerDone(cluster, MetadataOf<admin_wire::PartialUpdateClusterMetadata>(*request, begin), &operations_, response);
}

grpc::Status InstanceService::DeleteCluster(grpc::ServerContext* /*context*/, const admin_wire::DeleteClusterRequest* request,
                                            google::protobuf::Empty* /*response*/) {
  return ToGrpc(instances_.DeleteCluster(request->name()));
}

// ---- app profiles ----

grpc::Status InstanceService::CreateAppProfile(grpc::ServerContext* /*context*/, const admin_wire::CreateAppProfileRequest* request,
                                               admin_wire::AppProfile* response) {
  return Answer(profiles_.Create(*request), response);
}

grpc::Status InstanceService::GetAppProfile(grpc::ServerContext* /*context*/, const admin_wire::GetAppProfileRequest* request,
                                            admin_wire::AppProfile* response) {
  return Answer(profiles_.Get(request->name()), response);
}

grpc::Status InstanceService::ListAppProfiles(grpc::ServerContext* /*context*/, const admin_wire::ListAppProfilesRequest* request,
                                              admin_wire::ListAppProfilesResponse* response) {
  return ToGrpc(profiles_.List(*request, response));
}

grpc::Status InstanceService::UpdateAppProfile(grpc::ServerContext* /*context*/, const admin_wire::UpdateAppProfileRequest* request,
                                               google::longrunning::Operation* response) {
  return AnswerDone(profiles_.Update(*request), admin_wire::UpdateAppProfileMetadata(), &operations_, response);
}

grpc::Status InstanceService::DeleteAppProfile(grpc::ServerContext* /*context*/, const admin_wire::DeleteAppProfileRequest* request,
                                               google::protobuf::Empty* /*response*/) {
  return ToGrpc(profiles_.Delete(request->name()));
}

// ---- policies ----

grpc::Status InstanceService::GetIamPolicy(grpc::ServerContext* /*context*/, const google::iam::v1::GetIamPolicyRequest* request,
                                           google::iam::v1::Policy* response) {
  return Answer(policies_.Get(*request), response);
}

grpc::Status InstanceService::SetIamPolicy(grpc::ServerContext* /*context*/, const google::iam::v1::SetIamPolicyRequest* request,
                                           google::iam::v1::Policy* response) {
  return Answer(policies_.Set(*request), response);
}

grpc::Status InstanceService::TestIamPermissions(grpc::ServerContext* /*context*/,
                                                 const google::iam::v1::TestIamPermissionsRequest* request,
                                                 google::iam::v1::TestIamPermissionsResponse* response) {
  return Answer(policies_.Test(*request), response);
}

}  // namespace stele::server
