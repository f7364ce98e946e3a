// Tests single-row transactions that an app profile forbids, and a server with strict instances.
#include <grpcpp/grpcpp.h>

#include "remote/wire/instance_admin.grpc.pb.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

constexpr char kForbidden[] = "Single-row transactions are not allowed by this app profile";

// A server with its own flags, and the calls of these tests.
class ProfileServer {
 public:
  explicit ProfileServer(std::vector<std::string> flags = {})
      : server_(directory_.path() + "/db", std::move(flags)),
        client_(server_.address()),
        instances_(google::bigtable::admin::v2::BigtableInstanceAdmin::NewStub(client_.channel())) {
  }

  grpc::Status CreateInstance(const std::string& instance_id, const std::string& clusters) {
    google::bigtable::admin::v2::CreateInstanceRequest request;
    Parse("parent: 'projects/p' instance_id: '" + instance_id + "' " + clusters, &request);
    google::longrunning::Operation operation;
    grpc::ClientContext context;
    return instances_->CreateInstance(&context, request, &operation);
  }

  grpc::Status CreateProfile(const std::string& profile_id, const std::string& routing) {
    google::bigtable::admin::v2::CreateAppProfileRequest request;
    Parse("parent: 'projects/p/instances/i' app_profile_id: '" + profile_id + "' app_profile { " +
              routing + " }",
          &request);
    google::bigtable::admin::v2::AppProfile profile;
    grpc::ClientContext context;
    return instances_->CreateAppProfile(&context, request, &profile);
  }

  grpc::Status CreateTable(const std::string& instance_id) {
    google::bigtable::admin::v2::CreateTableRequest request;
    Parse("parent: 'projects/p/instances/" + instance_id +
              "' table_id: 't' table { column_families { key: 'f' value {} } }",
          &request);
    google::bigtable::admin::v2::Table table;
    grpc::ClientContext context;
    return client_.admin().CreateTable(&context, request, &table);
  }

  grpc::Status Increment(const std::string& instance_id, const std::string& profile_id) {
    google::bigtable::v2::ReadModifyWriteRowRequest request;
    Parse("table_name: 'projects/p/instances/" + instance_id +
              "/tables/t' row_key: 'r' app_profile_id: '" + profile_id +
              "' rules { family_name: 'f' column_qualifier: 'n' increment_amount: 1 }",
          &request);
    google::bigtable::v2::ReadModifyWriteRowResponse response;
    grpc::ClientContext context;
    return client_.data().ReadModifyWriteRow(&context, request, &response);
  }

  grpc::Status CheckAndMutate(const std::string& instance_id, const std::string& profile_id) {
    google::bigtable::v2::CheckAndMutateRowRequest request;
    Parse("table_name: 'projects/p/instances/" + instance_id +
              "/tables/t' row_key: 'r' app_profile_id: '" + profile_id +
              "' false_mutations { set_cell { family_name: 'f' value: 'v' } }",
          &request);
    google::bigtable::v2::CheckAndMutateRowResponse response;
    grpc::ClientContext context;
    return client_.data().CheckAndMutateRow(&context, request, &response);
  }

  template <typename Stub, typename Method, typename Request, typename Response>
  grpc::StatusCode Call(Stub* stub, Method method, Request request, const std::string& text,
                        Response* response) {
    Parse(text, &request);
    grpc::ClientContext context;
    return (stub->*method)(&context, request, response).error_code();
  }
  template <typename Response, typename Method, typename Request>
  grpc::StatusCode CallInstances(Method method, const Request& request, const std::string& text) {
    Response response;
    return Call(instances_.get(), method, request, text, &response);
  }

  google::bigtable::admin::v2::BigtableInstanceAdmin::Stub& instances() { return *instances_; }
  Client& client() { return client_; }

 private:
  const ScratchDirectory directory_;
  ServerProcess server_;
  Client client_;
  const std::unique_ptr<google::bigtable::admin::v2::BigtableInstanceAdmin::Stub> instances_;
};

TEST(AppProfileTransactions, AreRefusedWhereTheProfileForbidsThem) {
  ProfileServer server;
  ASSERT_TRUE(server.CreateTable("i").ok());
  ASSERT_TRUE(server.CreateProfile("multi", "multi_cluster_routing_use_any {}").ok());
  ASSERT_TRUE(
      server.CreateProfile("single", "single_cluster_routing { cluster_id: 'local' }").ok());
  ASSERT_TRUE(
      server
          .CreateProfile(
              "able",
              "single_cluster_routing { cluster_id: 'local' allow_transactional_writes: true }")
          .ok());
  for (const char* const profile : {"multi", "single"}) {
    const grpc::Status incremented = server.Increment("i", profile);
    EXPECT_EQ(incremented.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << profile;
    EXPECT_EQ(incremented.error_message(), kForbidden);
    const grpc::Status checked = server.CheckAndMutate("i", profile);
    EXPECT_EQ(checked.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << profile;
    EXPECT_EQ(checked.error_message(), kForbidden);
  }
  EXPECT_EQ(server.client().Read("t").size(), 0u) << "a refused transaction wrote";
  for (const char* const profile : {"able", "default", "", "unknown"}) {
    EXPECT_TRUE(server.Increment("i", profile).ok()) << profile;
    EXPECT_TRUE(server.CheckAndMutate("i", profile).ok()) << profile;
  }
}

TEST(AppProfileTransactions, TheDefaultProfileDependsOnTheClustersOfTheNewInstance) {
  ProfileServer server;
  ASSERT_TRUE(server.CreateInstance("one", "clusters { key: 'a' value {} }").ok());
  ASSERT_TRUE(
      server.CreateInstance("two", "clusters { key: 'a' value {} } clusters { key: 'b' value {} }")
          .ok());
  for (const char* const instance : {"one", "two"}) ASSERT_TRUE(server.CreateTable(instance).ok());
  EXPECT_TRUE(server.Increment("one", "").ok());
  EXPECT_EQ(server.Increment("two", "").error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

// Makes the calls about policies with both services: those of tables and backups belong to the
// service of tables, those of instances to the other one. Returns the codes that differ from
// `expected`, with the call.
std::string OtherCodesOfPolicyCalls(ProfileServer* server, const std::string& resource,
                                    grpc::StatusCode expected) {
  namespace iam = google::iam::v1;
  std::string others;
  const std::string text = "resource: '" + resource + "'";
  const auto note = [&](const std::string& call, grpc::StatusCode code) {
    if (code != expected) others += call + ": " + std::to_string(code) + "; ";
  };
  const auto call = [&]<typename Stub>(const std::string& service, Stub* stub) {
    iam::Policy policy;
    note(service + " GetIamPolicy",
         server->Call(stub, &Stub::GetIamPolicy, iam::GetIamPolicyRequest(), text, &policy));
    note(service + " SetIamPolicy",
         server->Call(stub, &Stub::SetIamPolicy, iam::SetIamPolicyRequest(), text, &policy));
    iam::TestIamPermissionsResponse permissions;
    note(service + " TestIamPermissions",
         server->Call(stub, &Stub::TestIamPermissions, iam::TestIamPermissionsRequest(), text,
                      &permissions));
  };
  call("tables", &server->client().admin());
  call("instances", &server->instances());
  return others;
}

TEST(StrictInstances, PoliciesOfAnUnknownInstanceAreNotFound) {
  ProfileServer server({"--strict-instances"});
  const std::string name = "projects/p/instances/i";
  for (const char* const below : {"", "/tables/t", "/clusters/local/backups/b"}) {
    EXPECT_EQ(OtherCodesOfPolicyCalls(&server, name + below, grpc::StatusCode::NOT_FOUND), "")
        << below;
  }
  EXPECT_EQ(OtherCodesOfPolicyCalls(&server, "nothing", grpc::StatusCode::INVALID_ARGUMENT), "");
  ASSERT_TRUE(server.CreateInstance("i", "clusters { key: 'a' value {} }").ok());
  for (const char* const below : {"", "/tables/t", "/clusters/local/backups/b"})
    EXPECT_EQ(OtherCodesOfPolicyCalls(&server, name + below, grpc::StatusCode::OK), "") << below;
}

// The ids look like the words between them.
TEST(StrictInstances, PoliciesOfAProjectAndAnInstanceOfAnyName) {
  ProfileServer strict({"--strict-instances"});
  ProfileServer server;
  for (const std::string name :
       {"projects/instances/instances/i", "projects/instances/instances/instances"}) {
    for (const char* const below : {"", "/tables/t", "/clusters/local/backups/b"}) {
      EXPECT_EQ(OtherCodesOfPolicyCalls(&strict, name + below, grpc::StatusCode::NOT_FOUND), "")
          << name << below;
      EXPECT_EQ(OtherCodesOfPolicyCalls(&server, name + below, grpc::StatusCode::OK), "")
          << name << below;
    }
  }
  for (const char* const name : {"projects/instances/i", "projects/p/instances/-/tables/t"}) {
    EXPECT_EQ(OtherCodesOfPolicyCalls(&server, name, grpc::StatusCode::INVALID_ARGUMENT), "")
        << name;
  }
}

TEST(StrictInstances, AnUnknownInstanceIsNotFound) {
  namespace admin = google::bigtable::admin::v2;
  using Instances = admin::BigtableInstanceAdmin::Stub;
  ProfileServer server({"--strict-instances"});
  constexpr auto kNotFound = grpc::StatusCode::NOT_FOUND;
  const std::string name = "'projects/p/instances/i'";
  EXPECT_EQ(server.CreateTable("i").error_code(), kNotFound);
  EXPECT_EQ(server.CreateProfile("x", "multi_cluster_routing_use_any {}").error_code(), kNotFound);
  EXPECT_EQ(server.CallInstances<admin::Instance>(&Instances::GetInstance,
                                                  admin::GetInstanceRequest(), "name: " + name),
            kNotFound);
  EXPECT_EQ(server.CallInstances<admin::ListClustersResponse>(
                &Instances::ListClusters, admin::ListClustersRequest(), "parent: " + name),
            kNotFound);
  EXPECT_EQ(server.CallInstances<admin::ListAppProfilesResponse>(
                &Instances::ListAppProfiles, admin::ListAppProfilesRequest(), "parent: " + name),
            kNotFound);
  const std::string profile = "'projects/p/instances/i/appProfiles/default'";
  EXPECT_EQ(server.CallInstances<google::longrunning::Operation>(
                &Instances::UpdateAppProfile, admin::UpdateAppProfileRequest(),
                "app_profile { name: " + profile +
                    " description: 'd' } update_mask { paths: 'description' }"),
            kNotFound);
  EXPECT_EQ(server.CallInstances<google::protobuf::Empty>(
                &Instances::DeleteAppProfile, admin::DeleteAppProfileRequest(), "name: " + profile),
            kNotFound);
  grpc::ClientContext pinging;
  google::bigtable::v2::PingAndWarmRequest ping;
  ping.set_name("projects/p/instances/i");
  google::bigtable::v2::PingAndWarmResponse pong;
  EXPECT_EQ(server.client().data().PingAndWarm(&pinging, ping, &pong).error_code(), kNotFound);
  grpc::ClientContext listing;
  admin::ListTablesRequest list;
  list.set_parent("projects/p/instances/i");
  admin::ListTablesResponse tables;
  EXPECT_EQ(server.client().admin().ListTables(&listing, list, &tables).error_code(), kNotFound);

  ASSERT_TRUE(server.CreateInstance("i", "clusters { key: 'a' value {} }").ok());
  EXPECT_TRUE(server.CreateTable("i").ok());
  EXPECT_TRUE(server.Increment("i", "").ok());
  EXPECT_EQ(server.CallInstances<admin::Instance>(&Instances::GetInstance,
                                                  admin::GetInstanceRequest(), "name: " + name),
            grpc::StatusCode::OK);
}

}  // namespace
}  // namespace stele::server
