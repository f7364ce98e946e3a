// Tests that instances, clusters, app profiles and policies are stored, checked, and still there
// after a restart.
#include <grpcpp/grpcpp.h>

#include "remote/wire/instance_admin.grpc.pb.h"
#include "remote/wire/timestamps.h"
#include "steled/backups/backups.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

namespace admin_wire = ::google::bigtable::admin::v2;
using google::longrunning::Operation;
using grpc::StatusCode;

// Calls a method of the service with a request in protobuf's text form; sets `response`.
template <typename Method, typename Stub, typename Request, typename Response>
grpc::Status CallWith(Method method, Stub* stub, Request request, const std::string& text,
                      Response* response) {
  grpc::ClientContext context;
  Parse(text, &request);
  return (stub->*method)(&context, request, response);
}

using Service = admin_wire::BigtableInstanceAdmin::Stub;

#define INSTANCE_CALL(stub, Method, Request, text, response) \
  CallWith(&Service::Method, stub, Request(), text, response).error_code()

class InstanceTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    service_ = admin_wire::BigtableInstanceAdmin::NewStub(client().channel());
  }

  StatusCode Create(const std::string& instance_id, const std::string& rest) {
    return INSTANCE_CALL(service_.get(), CreateInstance, admin_wire::CreateInstanceRequest,
                         "parent: 'projects/q' instance_id: '" + instance_id + "' " + rest,
                         &operation_);
  }

  admin_wire::Instance Get(const std::string& instance_id) {
    admin_wire::Instance instance;
    EXPECT_EQ(INSTANCE_CALL(service_.get(), GetInstance, admin_wire::GetInstanceRequest,
                            "name: 'projects/q/instances/" + instance_id + "'", &instance),
              StatusCode::OK);
    return instance;
  }

  // Returns the ids of an instance's clusters.
  std::string ClustersOf(const std::string& instance_id) {
    admin_wire::ListClustersResponse response;
    EXPECT_EQ(INSTANCE_CALL(service_.get(), ListClusters, admin_wire::ListClustersRequest,
                            "parent: 'projects/q/instances/" + instance_id + "'", &response),
              StatusCode::OK);
    std::string ids;
    for (const admin_wire::Cluster& cluster : response.clusters())
      ids += cluster.name().substr(cluster.name().rfind('/'));
    return ids;
  }

  StatusCode Delete(const std::string& instance_id) {
    google::protobuf::Empty nothing;
    return INSTANCE_CALL(service_.get(), DeleteInstance, admin_wire::DeleteInstanceRequest,
                         "name: 'projects/q/instances/" + instance_id + "'", &nothing);
  }

  grpc::Status CreateTable(const std::string& instance_id, const std::string& table_id,
                           bool is_protected) {
    grpc::ClientContext context;
    admin_wire::CreateTableRequest request;
    request.set_parent("projects/q/instances/" + instance_id);
    request.set_table_id(table_id);
    request.mutable_table()->set_deletion_protection(is_protected);
    admin_wire::Table table;
    return client().admin().CreateTable(&context, request, &table);
  }

  std::unique_ptr<Service> service_;
  Operation operation_;
};

TEST_F(InstanceTest, IsRememberedAsItWasMadeAndChanged) {
  ASSERT_EQ(Create("shop",
                   "instance { display_name: 'The shop' labels { key: 'a' value: 'b' } } clusters "
                   "{ key: 'c2' value { serve_nodes: 3 } } "
                   "clusters { key: 'c1' value { location: 'projects/q/locations/z' } }"),
            StatusCode::OK);
  EXPECT_TRUE(operation_.done());
  admin_wire::Instance created;
  ASSERT_TRUE(operation_.response().UnpackTo(&created));
  EXPECT_EQ(created.name(), "projects/q/instances/shop");
  EXPECT_EQ(Get("shop").SerializeAsString(), created.SerializeAsString());
  EXPECT_EQ(created.display_name(), "The shop");
  EXPECT_EQ(created.state(), admin_wire::Instance::READY);
  EXPECT_EQ(ClustersOf("shop"), "/c1/c2");
  EXPECT_EQ(Create("shop", "clusters { key: 'c' value {} }"), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Create("bare", ""), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Create("-", "clusters { key: 'c' value {} }"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Create("wrong", "clusters { key: 'c/d' value {} }"), StatusCode::INVALID_ARGUMENT);
  const auto update = [&](const std::string& text) {
    return INSTANCE_CALL(service_.get(), PartialUpdateInstance,
                         admin_wire::PartialUpdateInstanceRequest, text, &operation_);
  };
  EXPECT_EQ(update("instance { name: 'projects/q/instances/shop' display_name: 'Another' } "
                   "update_mask { paths: 'display_name' }"),
            StatusCode::OK);
  EXPECT_EQ(Get("shop").display_name(), "Another");
  EXPECT_EQ(Get("shop").labels().at("a"), "b");
  EXPECT_EQ(
      update("instance { name: 'projects/q/instances/shop' } update_mask { paths: 'labels' }"),
      StatusCode::OK);
  EXPECT_EQ(Get("shop").labels_size(), 0);
  EXPECT_EQ(update("instance { name: 'projects/q/instances/shop' }"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(update("instance { name: 'projects/q/instances/shop' } update_mask { paths: 'name' }"),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(
      update("instance { name: 'projects/q/instances/none' } update_mask { paths: 'labels' }"),
      StatusCode::NOT_FOUND);
  admin_wire::Instance whole;
  EXPECT_EQ(INSTANCE_CALL(service_.get(), UpdateInstance, admin_wire::Instance,
                          "name: 'projects/q/instances/shop' display_name: 'Third'", &whole),
            StatusCode::OK);
  EXPECT_EQ(Get("shop").display_name(), "Third");
  EXPECT_EQ(Get("unheard-of").display_name(), "unheard-of") << "it is there as soon as it is named";
}

TEST_F(InstanceTest, GoesWithItsTablesButNotWithAProtectedOneOrABackup) {
  ASSERT_EQ(Create("gone", "clusters { key: 'c' value {} }"), StatusCode::OK);
  ASSERT_TRUE(CreateTable("gone", "plain", false).ok());
  ASSERT_TRUE(CreateTable("gone2", "other", false).ok());
  ASSERT_TRUE(CreateTable("gone", "kept", true).ok());
  EXPECT_EQ(Delete("gone"), StatusCode::FAILED_PRECONDITION);
  admin_wire::UpdateTableRequest unprotect;
  unprotect.mutable_table()->set_name("projects/q/instances/gone/tables/kept");
  unprotect.mutable_update_mask()->add_paths("deletion_protection");
  grpc::ClientContext updating;
  ASSERT_TRUE(client().admin().UpdateTable(&updating, unprotect, &operation_).ok());
  admin_wire::CreateBackupRequest create;
  create.set_parent("projects/q/instances/gone/clusters/c");
  create.set_backup_id("b");
  create.mutable_backup()->set_source_table("projects/q/instances/gone/tables/plain");
  *create.mutable_backup()->mutable_expire_time() = internal::ToWireTime(
      internal::MicrosOf(internal::WireNow()) + int64_t{7} * 3'600 * 1'000'000);
  grpc::ClientContext creating;
  ASSERT_TRUE(client().admin().CreateBackup(&creating, create, &operation_).ok());
  EXPECT_EQ(Delete("gone"), StatusCode::FAILED_PRECONDITION);
  grpc::Status deleted;
  do {
    grpc::ClientContext deleting;
    admin_wire::DeleteBackupRequest request;
    request.set_name("projects/q/instances/gone/clusters/c/backups/b");
    google::protobuf::Empty nothing;
    deleted = client().admin().DeleteBackup(&deleting, request, &nothing);
  } while (deleted.error_code() == StatusCode::FAILED_PRECONDITION);  // still being created
  ASSERT_TRUE(deleted.ok());
  EXPECT_EQ(Delete("gone"), StatusCode::OK);
  EXPECT_EQ(Delete("gone"), StatusCode::NOT_FOUND);
  EXPECT_EQ(ClustersOf("gone"), "/local");
  admin_wire::ListInstancesResponse listed;
  ASSERT_EQ(INSTANCE_CALL(service_.get(), ListInstances, admin_wire::ListInstancesRequest,
                          "parent: 'projects/q'", &listed),
            StatusCode::OK);
  std::string names;
  for (const admin_wire::Instance& instance : listed.instances()) names += instance.name() + " ";
  EXPECT_EQ(names.find("instances/gone "), std::string::npos) << names;
  EXPECT_NE(names.find("instances/gone2 "), std::string::npos) << names;
}

TEST_F(InstanceTest, ClustersComeAndGoButForTheLast) {
  const auto create = [&](const std::string& cluster_id) {
    return INSTANCE_CALL(service_.get(), CreateCluster, admin_wire::CreateClusterRequest,
                         "parent: 'projects/q/instances/many' cluster_id: '" + cluster_id +
                             "' cluster { serve_nodes: 2 }",
                         &operation_);
  };
  const auto remove = [&](const std::string& cluster_id) {
    google::protobuf::Empty nothing;
    return INSTANCE_CALL(service_.get(), DeleteCluster, admin_wire::DeleteClusterRequest,
                         "name: 'projects/q/instances/many/clusters/" + cluster_id + "'", &nothing);
  };
  EXPECT_EQ(ClustersOf("many"), "/local");
  EXPECT_EQ(remove("local"), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(create("more"), StatusCode::OK);
  EXPECT_EQ(create("more"), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(create("local"), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(create("-"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ClustersOf("many"), "/local/more");
  EXPECT_EQ(
      INSTANCE_CALL(service_.get(), PartialUpdateCluster, admin_wire::PartialUpdateClusterRequest,
                    "cluster { name: 'projects/q/instances/many/clusters/more' serve_nodes: 5 } "
                    "update_mask { paths: 'serve_nodes' }",
                    &operation_),
      StatusCode::OK);
  admin_wire::Cluster cluster;
  EXPECT_EQ(INSTANCE_CALL(service_.get(), GetCluster, admin_wire::GetClusterRequest,
                          "name: 'projects/q/instances/many/clusters/more'", &cluster),
            StatusCode::OK);
  EXPECT_EQ(cluster.serve_nodes(), 5);
  EXPECT_EQ(INSTANCE_CALL(service_.get(), GetCluster, admin_wire::GetClusterRequest,
                          "name: 'projects/q/instances/many/clusters/none'", &cluster),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(remove("local"), StatusCode::OK);
  EXPECT_EQ(ClustersOf("many"), "/more");
  EXPECT_EQ(remove("more"), StatusCode::FAILED_PRECONDITION);
}

TEST_F(InstanceTest, AClusterHasNodesOrAutoscaling) {
  ASSERT_EQ(Create("scaled", "clusters { key: 'c' value { serve_nodes: 3 } }"), StatusCode::OK);
  const std::string name = "name: 'projects/q/instances/scaled/clusters/c'";
  const auto update = [&](const std::string& cluster, const std::string& mask) {
    return INSTANCE_CALL(
        service_.get(), PartialUpdateCluster, admin_wire::PartialUpdateClusterRequest,
        "cluster { " + name + " " + cluster + " } update_mask { " + mask + " }", &operation_);
  };
  const auto get = [&] {
    admin_wire::Cluster cluster;
    EXPECT_EQ(
        INSTANCE_CALL(service_.get(), GetCluster, admin_wire::GetClusterRequest, name, &cluster),
        StatusCode::OK);
    return cluster;
  };
  const auto autoscaling = [](const std::string& limits, int cpu_percent) {
    return "cluster_config { cluster_autoscaling_config { autoscaling_limits { " + limits +
           " } autoscaling_targets { cpu_utilization_percent: " + std::to_string(cpu_percent) +
           " } } }";
  };
  const std::string of_config = "paths: 'cluster_config.cluster_autoscaling_config'";
  EXPECT_EQ(update(autoscaling("min_serve_nodes: 5 max_serve_nodes: 9", 60), of_config),
            StatusCode::OK);
  EXPECT_EQ(get().serve_nodes(), 3) << "as before: nodes change with load";
  EXPECT_EQ(get()
                .cluster_config()
                .cluster_autoscaling_config()
                .autoscaling_targets()
                .cpu_utilization_percent(),
            60);
  EXPECT_EQ(update(autoscaling("min_serve_nodes: 5 max_serve_nodes: 4", 60), of_config),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(update(autoscaling("min_serve_nodes: 1 max_serve_nodes: 4", 90), of_config),
            StatusCode::INVALID_ARGUMENT);
  // The way in which cbt and the Node.js client set the nodes.
  EXPECT_EQ(update("serve_nodes: 4", "paths: 'serve_nodes' " + of_config), StatusCode::OK);
  EXPECT_EQ(get().serve_nodes(), 4);
  EXPECT_FALSE(get().has_cluster_config());
  EXPECT_EQ(update("", "paths: 'serve_nodes' " + of_config), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(INSTANCE_CALL(service_.get(), UpdateCluster, admin_wire::Cluster,
                          name + " " + autoscaling("min_serve_nodes: 1 max_serve_nodes: 2", 10),
                          &operation_),
            StatusCode::OK);
  EXPECT_EQ(get().serve_nodes(), 4);
  ASSERT_EQ(Create("begun", "clusters { key: 'c' value { " +
                                autoscaling("min_serve_nodes: 6 max_serve_nodes: 9", 60) + " } }"),
            StatusCode::OK);
  admin_wire::Cluster begun;
  EXPECT_EQ(INSTANCE_CALL(service_.get(), GetCluster, admin_wire::GetClusterRequest,
                          "name: 'projects/q/instances/begun/clusters/c'", &begun),
            StatusCode::OK);
  EXPECT_EQ(begun.serve_nodes(), 6);
  EXPECT_EQ(
      Create("sealed", "clusters { key: 'c' value { encryption_config { kms_key_name: 'k' } } }"),
      StatusCode::UNIMPLEMENTED);
}

TEST_F(InstanceTest, AppProfilesAreKeptAndEveryInstanceHasADefault) {
  const std::string level = "projects/q/instances/profiled/appProfiles/";
  const auto list = [&](const std::string& page) {
    admin_wire::ListAppProfilesResponse response;
    std::string ids;
    std::string token;
    do {
      response.Clear();
      EXPECT_EQ(INSTANCE_CALL(service_.get(), ListAppProfiles, admin_wire::ListAppProfilesRequest,
                              "parent: 'projects/q/instances/profiled' " + page + " page_token: '" +
                                  token + "'",
                              &response),
                StatusCode::OK);
      for (const admin_wire::AppProfile& profile : response.app_profiles())
        ids += profile.name().substr(profile.name().rfind('/'));
      token = response.next_page_token();
    } while (!token.empty());
    return ids;
  };
  const auto create = [&](const std::string& profile_id, const std::string& rest) {
    admin_wire::AppProfile profile;
    return INSTANCE_CALL(service_.get(), CreateAppProfile, admin_wire::CreateAppProfileRequest,
                         "parent: 'projects/q/instances/profiled' app_profile_id: '" + profile_id +
                             "' app_profile { " + rest + " }",
                         &profile);
  };
  EXPECT_EQ(list(""), "/default");
  EXPECT_EQ(create("batch",
                   "single_cluster_routing { cluster_id: 'c' allow_transactional_writes: true } "
                   "description: 'nightly'"),
            StatusCode::OK);
  EXPECT_EQ(create("web", "multi_cluster_routing_use_any {}"), StatusCode::OK);
  EXPECT_EQ(create("web", "multi_cluster_routing_use_any {}"), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(create("default", "multi_cluster_routing_use_any {}"), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(create("none", ""), StatusCode::INVALID_ARGUMENT) << "without a routing";
  EXPECT_EQ(create("a/b", "multi_cluster_routing_use_any {}"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(list(""), "/batch/default/web");
  EXPECT_EQ(list("page_size: 1"), "/batch/default/web");
  admin_wire::AppProfile before;
  ASSERT_EQ(INSTANCE_CALL(service_.get(), GetAppProfile, admin_wire::GetAppProfileRequest,
                          "name: '" + level + "batch'", &before),
            StatusCode::OK);
  EXPECT_EQ(before.description(), "nightly");
  const auto update = [&](const std::string& etag) {
    return INSTANCE_CALL(
        service_.get(), UpdateAppProfile, admin_wire::UpdateAppProfileRequest,
        "app_profile { name: '" + level + "batch' etag: '" + etag +
            "' description: 'weekly' multi_cluster_routing_use_any {} } "
            "update_mask { paths: 'description' paths: 'multi_cluster_routing_use_any' }",
        &operation_);
  };
  EXPECT_EQ(update(before.etag()), StatusCode::OK);
  EXPECT_EQ(update(before.etag()), StatusCode::ABORTED) << "somebody was faster";
  admin_wire::AppProfile after;
  ASSERT_TRUE(operation_.response().UnpackTo(&after));
  EXPECT_EQ(after.description(), "weekly");
  EXPECT_TRUE(after.has_multi_cluster_routing_use_any());
  google::protobuf::Empty nothing;
  const auto remove = [&](const std::string& profile_id) {
    return INSTANCE_CALL(service_.get(), DeleteAppProfile, admin_wire::DeleteAppProfileRequest,
                         "name: '" + level + profile_id + "'", &nothing);
  };
  EXPECT_EQ(remove("batch"), StatusCode::OK);
  EXPECT_EQ(remove("batch"), StatusCode::NOT_FOUND);
  EXPECT_EQ(remove("default"), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(list(""), "/default/web");
}

// The words between the ids of a name may also be ids.
TEST_F(InstanceTest, AProjectMayHaveTheNameOfACollection) {
  admin_wire::Table table;
  ASSERT_TRUE(CallWith(&admin_wire::BigtableTableAdmin::Stub::CreateTable, &client().admin(),
                       admin_wire::CreateTableRequest(),
                       "parent: 'projects/tables/instances/tables' table_id: 't'", &table)
                  .ok());
  admin_wire::ListInstancesResponse instances;
  EXPECT_EQ(INSTANCE_CALL(service_.get(), ListInstances, admin_wire::ListInstancesRequest,
                          "parent: 'projects/tables'", &instances),
            StatusCode::OK);
  ASSERT_EQ(instances.instances_size(), 1);
  EXPECT_EQ(instances.instances(0).name(), "projects/tables/instances/tables");

  admin_wire::ListClustersResponse clusters;
  EXPECT_EQ(INSTANCE_CALL(service_.get(), ListClusters, admin_wire::ListClustersRequest,
                          "parent: 'projects/instances/instances/instances'", &clusters),
            StatusCode::OK);
  ASSERT_EQ(clusters.clusters_size(), 1);
  EXPECT_EQ(clusters.clusters(0).location(), "projects/instances/locations/local");

  admin_wire::AppProfile profile;
  EXPECT_EQ(INSTANCE_CALL(service_.get(), GetAppProfile, admin_wire::GetAppProfileRequest,
                          "name: 'projects/appProfiles/instances/i/appProfiles/default'", &profile),
            StatusCode::OK);

  admin_wire::ListBackupsResponse backups;
  EXPECT_TRUE(CallWith(&admin_wire::BigtableTableAdmin::Stub::ListBackups, &client().admin(),
                       admin_wire::ListBackupsRequest(),
                       "parent: 'projects/clusters/instances/clusters/clusters/-'", &backups)
                  .ok());
}

TEST_F(InstanceTest, APolicyIsRememberedUntilItsResourceGoes) {
  const std::string table = NewTable();
  const std::string resource = "resource: '" + Client::TableName(table) + "' ";
  using Tables = admin_wire::BigtableTableAdmin::Stub;
  Tables& tables = client().admin();
  google::iam::v1::Policy policy;
  ASSERT_TRUE(CallWith(&Tables::GetIamPolicy, &tables, google::iam::v1::GetIamPolicyRequest(),
                       resource, &policy)
                  .ok());
  EXPECT_EQ(policy.bindings_size(), 0);
  const std::string binding = "bindings { role: 'roles/reader' members: 'user:a@example.com' }";
  const auto set = [&](const std::string& etag) {
    return CallWith(&Tables::SetIamPolicy, &tables, google::iam::v1::SetIamPolicyRequest(),
                    resource + "policy { etag: '" + etag + "' " + binding + " }", &policy)
        .error_code();
  };
  const std::string first = policy.etag();
  EXPECT_EQ(set(first), StatusCode::OK);
  EXPECT_EQ(set(first), StatusCode::ABORTED);
  google::iam::v1::Policy found;
  ASSERT_TRUE(CallWith(&Tables::GetIamPolicy, &tables, google::iam::v1::GetIamPolicyRequest(),
                       resource, &found)
                  .ok());
  EXPECT_EQ(found.SerializeAsString(), policy.SerializeAsString());
  google::iam::v1::TestIamPermissionsResponse permissions;
  ASSERT_TRUE(
      CallWith(&Tables::TestIamPermissions, &tables, google::iam::v1::TestIamPermissionsRequest(),
               resource + "permissions: 'bigtable.tables.readRows' permissions: 'x'", &permissions)
          .ok());
  EXPECT_EQ(permissions.permissions_size(), 2);
  EXPECT_EQ(INSTANCE_CALL(service_.get(), GetIamPolicy, google::iam::v1::GetIamPolicyRequest,
                          "resource: 'nothing'", &found),
            StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext deleting;
  admin_wire::DeleteTableRequest deletion;
  deletion.set_name(Client::TableName(table));
  google::protobuf::Empty nothing;
  ASSERT_TRUE(tables.DeleteTable(&deleting, deletion, &nothing).ok());
  ASSERT_TRUE(CallWith(&Tables::GetIamPolicy, &tables, google::iam::v1::GetIamPolicyRequest(),
                       resource, &found)
                  .ok());
  EXPECT_EQ(found.bindings_size(), 0);
}

TEST(InstanceRecords, OutliveTheServerAndAreNoTableOfAnybody) {
  const ScratchDirectory directory;
  const std::string made =
      "parent: 'projects/p' instance_id: 'i' instance { display_name: 'kept' } clusters { key: 'c' "
      "value {} }";
  {
    ServerProcess server(directory.path() + "/db");
    const Client client(server.address());
    const auto service = admin_wire::BigtableInstanceAdmin::NewStub(client.channel());
    Operation operation;
    ASSERT_EQ(INSTANCE_CALL(service.get(), CreateInstance, admin_wire::CreateInstanceRequest, made,
                            &operation),
              StatusCode::OK);
    server.Kill();
  }
  ServerProcess server(directory.path() + "/db");
  Client client(server.address());
  const auto service = admin_wire::BigtableInstanceAdmin::NewStub(client.channel());
  admin_wire::ListInstancesResponse listed;
  ASSERT_EQ(INSTANCE_CALL(service.get(), ListInstances, admin_wire::ListInstancesRequest,
                          "parent: 'projects/p'", &listed),
            StatusCode::OK);
  ASSERT_EQ(listed.instances_size(), 1);
  EXPECT_EQ(listed.instances(0).display_name(), "kept");
  grpc::ClientContext listing;
  admin_wire::ListTablesRequest tables;
  tables.set_parent("projects/p/instances/i");
  admin_wire::ListTablesResponse found;
  ASSERT_TRUE(client.admin().ListTables(&listing, tables, &found).ok());
  EXPECT_EQ(found.tables_size(), 0);
}

#undef INSTANCE_CALL

}  // namespace
}  // namespace stele::server
