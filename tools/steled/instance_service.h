// steled/instance_service.h: as much of google.bigtable.admin.v2.BigtableInstanceAdmin as clients ask before they use an instance.
//
// Every instance that is asked for by name is there, with one cluster; those with tables are listed.
//
// Errors:    INVALID_ARGUMENT for a name.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include "open_tables.h"
#include "wire/instance_admin.grpc.pb.h"

namespace stele::server {

class InstanceService final : public google::bigtable::admin::v2::BigtableInstanceAdmin::Service {
 public:
  // It has to outlive the service.
  explicit InstanceService(OpenTables* tables) : tables_(*tables) {}

  grpc::Status GetInstance(grpc::ServerContext* context, const google::bigtable::admin::v2::GetInstanceRequest* request,
                           google::bigtable::admin::v2::Instance* response) override;
  grpc::Status ListInstances(grpc::ServerContext* context, const google::bigtable::admin::v2::ListInstancesRequest* request,
                             google::bigtable::admin::v2::ListInstancesResponse* response) override;
  grpc::Status GetCluster(grpc::ServerContext* context, const google::bigtable::admin::v2::GetClusterRequest* request,
                          google::bigtable::admin::v2::Cluster* response) override;
  grpc::Status ListClusters(grpc::ServerContext* context, const google::bigtable::admin::v2::ListClustersRequest* request,
                            google::bigtable::admin::v2::ListClustersResponse* response) override;

 private:
  OpenTables& tables_;
};

}  // namespace stele::server
