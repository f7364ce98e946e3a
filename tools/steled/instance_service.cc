#include "instance_service.h"

#include <set>
#include <string>
#include <string_view>

#include "errors.h"
#include "status.h"
#include "wire/names.h"

namespace stele::server {

using internal::StoredPrefix;
using internal::StoredProjectPrefix;
using internal::WireTableName;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr std::string_view kClusterSuffix = "/clusters/local";

admin_wire::Instance ToInstance(const std::string& name) {
  admin_wire::Instance instance;
  instance.set_name(name);
  instance.set_display_name(name.substr(name.rfind('/') + 1));
  instance.set_state(admin_wire::Instance::READY);
  instance.set_type(admin_wire::Instance::PRODUCTION);
  return instance;
}

admin_wire::Cluster ToCluster(const std::string& instance_name) {
  admin_wire::Cluster cluster;
  cluster.set_name(instance_name + std::string(kClusterSuffix));
  cluster.set_location(instance_name.substr(0, instance_name.find("/instances/")) + "/locations/local");
  cluster.set_state(admin_wire::Cluster::READY);
  cluster.set_serve_nodes(1);
  return cluster;
}

}  // namespace

grpc::Status InstanceService::GetInstance(grpc::ServerContext* /*context*/, const admin_wire::GetInstanceRequest* request,
                                          admin_wire::Instance* response) {
  if (const auto prefix = StoredPrefix(request->name()); !prefix.ok()) return ToGrpc(prefix.status());
  *response = ToInstance(request->name());
  return grpc::Status::OK;
}

grpc::Status InstanceService::ListInstances(grpc::ServerContext* /*context*/, const admin_wire::ListInstancesRequest* request,
                                            admin_wire::ListInstancesResponse* response) {
  const absl::StatusOr<std::string> prefix = StoredProjectPrefix(request->parent());
  if (!prefix.ok()) return ToGrpc(prefix.status());
  const absl::StatusOr<std::vector<std::string>> names = tables_.List(*prefix);
  if (!names.ok()) return ToGrpc(names.status());
  std::set<std::string> instances;
  for (const std::string& name : *names) {
    const std::string wire_name = WireTableName(name);
    if (!wire_name.empty()) instances.insert(wire_name.substr(0, wire_name.find("/tables/")));
  }
  for (const std::string& name : instances) *response->add_instances() = ToInstance(name);
  return grpc::Status::OK;
}

grpc::Status InstanceService::GetCluster(grpc::ServerContext* /*context*/, const admin_wire::GetClusterRequest* request,
                                         admin_wire::Cluster* response) {
  if (!request->name().ends_with(kClusterSuffix)) return ToGrpc(NotFound("Cluster not found: {}", request->name()));
  const std::string instance_name = request->name().substr(0, request->name().size() - kClusterSuffix.size());
  if (const auto prefix = StoredPrefix(instance_name); !prefix.ok()) return ToGrpc(prefix.status());
  *response = ToCluster(instance_name);
  return grpc::Status::OK;
}

// "projects/P/instances/-" is all instances of a project.
grpc::Status InstanceService::ListClusters(grpc::ServerContext* context, const admin_wire::ListClustersRequest* request,
                                           admin_wire::ListClustersResponse* response) {
  constexpr std::string_view kAnyInstance = "/instances/-";
  if (request->parent().ends_with(kAnyInstance)) {
    admin_wire::ListInstancesRequest of_project;
    of_project.set_parent(request->parent().substr(0, request->parent().size() - kAnyInstance.size()));
    admin_wire::ListInstancesResponse instances;
    if (const grpc::Status status = ListInstances(context, &of_project, &instances); !status.ok()) return status;
    for (const admin_wire::Instance& instance : instances.instances()) *response->add_clusters() = ToCluster(instance.name());
    return grpc::Status::OK;
  }
  if (const auto prefix = StoredPrefix(request->parent()); !prefix.ok()) return ToGrpc(prefix.status());
  *response->add_clusters() = ToCluster(request->parent());
  return grpc::Status::OK;
}

}  // namespace stele::server
