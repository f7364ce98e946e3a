// Tests that the deletion of an instance is all or nothing, also if the process ends or the disk
// fails during it.
#include <grpcpp/grpcpp.h>

#include <memory>
#include <thread>

#include "remote/wire/instance_admin.grpc.pb.h"
#include "steled/server_fixture.h"
#include "steled/state/instances.h"

namespace stele::server {
namespace {

namespace admin_wire = ::google::bigtable::admin::v2;

constexpr char kDeletedInstance[] = "projects/q/instances/gone";

template <typename Request>
Request RequestOf(const std::string& text) {
  Request request;
  Parse(text, &request);
  return request;
}

// The tables and instances of a server, without the server.
struct Parts {
  explicit Parts(const Database& database)
      : tables(database),
        records(database),
        instances(
            &tables, &records, [](std::string_view) { return false; }, /*is_strict=*/false) {}

  OpenTables tables;
  Records records;
  Instances instances;
};

size_t TableCount(Client* client) {
  grpc::ClientContext context;
  admin_wire::ListTablesResponse listed;
  EXPECT_TRUE(client->admin()
                  .ListTables(&context,
                              RequestOf<admin_wire::ListTablesRequest>(
                                  "parent: '" + std::string(kDeletedInstance) + "'"),
                              &listed)
                  .ok());
  return static_cast<size_t>(listed.tables_size());
}

TEST(InstanceDeletion, IsWholeAfterAKillInItsMiddle) {
  constexpr size_t kTables = 100;
  const ScratchDirectory directory;
  auto server = std::make_unique<ServerProcess>(directory.path() + "/db",
                                                std::vector<std::string>{"--durability=process"});
  auto client = std::make_unique<Client>(server->address());
  auto service = admin_wire::BigtableInstanceAdmin::NewStub(client->channel());
  grpc::ClientContext creating;
  google::longrunning::Operation operation;
  const auto creation = RequestOf<admin_wire::CreateInstanceRequest>(
      "parent: 'projects/q' instance_id: 'gone' clusters { key: 'c1' value {} } clusters { key: "
      "'c2' value {} }");
  ASSERT_TRUE(service->CreateInstance(&creating, creation, &operation).ok());
  grpc::ClientContext profiling;
  admin_wire::AppProfile profile;
  const auto with_profile = RequestOf<admin_wire::CreateAppProfileRequest>(
      "parent: '" + std::string(kDeletedInstance) +
      "' app_profile_id: 'web' app_profile { multi_cluster_routing_use_any {} }");
  ASSERT_TRUE(service->CreateAppProfile(&profiling, with_profile, &profile).ok());
  for (size_t i = 0; i < kTables; ++i) {
    grpc::ClientContext context;
    admin_wire::Table table;
    const auto request = RequestOf<admin_wire::CreateTableRequest>(
        "parent: '" + std::string(kDeletedInstance) + "' table_id: 't" + std::to_string(i) + "'");
    ASSERT_TRUE(client->admin().CreateTable(&context, request, &table).ok());
  }
  std::thread deletion([&service] {
    grpc::ClientContext context;
    google::protobuf::Empty nothing;
    const auto request = RequestOf<admin_wire::DeleteInstanceRequest>(
        "name: '" + std::string(kDeletedInstance) + "'");
    service->DeleteInstance(&context, request, &nothing).ok();  // the server ends
  });
  while (TableCount(client.get()) == kTables) {
  }
  server->Kill();
  deletion.join();
  server = std::make_unique<ServerProcess>(directory.path() + "/db");
  client = std::make_unique<Client>(server->address());
  service = admin_wire::BigtableInstanceAdmin::NewStub(client->channel());
  EXPECT_EQ(TableCount(client.get()), 0u);
  grpc::ClientContext listing;
  admin_wire::ListInstancesResponse listed;
  ASSERT_TRUE(service
                  ->ListInstances(
                      &listing, RequestOf<admin_wire::ListInstancesRequest>("parent: 'projects/q'"),
                      &listed)
                  .ok());
  EXPECT_EQ(listed.instances_size(), 0);
  grpc::ClientContext profiles;
  const auto named = RequestOf<admin_wire::GetAppProfileRequest>(
      "name: '" + std::string(kDeletedInstance) + "/appProfiles/web'");
  EXPECT_EQ(service->GetAppProfile(&profiles, named, &profile).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST(InstanceDeletion, IsFinishedByTheNextStart) {
  const Database database = Database::Open("mem:").value();
  Parts parts(database);
  for (const char* const name : {"q/gone/a", "q/gone/b", "q/gone2/a"})
    ASSERT_TRUE(parts.tables.Create(name, Schema()).ok());
  const std::string name = kDeletedInstance;
  admin_wire::Instance mark;
  mark.set_name(name);
  for (const std::string& instance : {name, name + "2"}) {
    const std::string below[] = {"instance/" + instance, "cluster/" + instance + "/clusters/c",
                                 "app_profile/" + instance + "/appProfiles/web",
                                 "policy/" + instance, "policy/" + instance + "/tables/a"};
    for (const std::string& record_key : below)
      ASSERT_TRUE(parts.records.Put(record_key, admin_wire::Instance()).ok());
  }
  ASSERT_TRUE(parts.records.Put("deleting/" + name, mark).ok());
  const auto creation = RequestOf<admin_wire::CreateInstanceRequest>(
      "parent: 'projects/q' instance_id: 'gone3' clusters { key: 'c' value {} }");
  mark.set_name(name + "3");
  ASSERT_TRUE(parts.records.Put("deleting/" + mark.name(), mark).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(parts.instances.Create(creation).status()))
      << "it would be deleted at once";
  ASSERT_TRUE(parts.instances.FinishDeletions().ok());
  EXPECT_EQ(parts.tables.List("").value(), (std::vector<std::string>{"_steled", "q/gone2/a"}));
  EXPECT_EQ(parts.records.List<admin_wire::Instance>("").value().size(), 5u)
      << "the other instance's";
  EXPECT_TRUE(parts.instances.Create(creation).ok());
}

TEST(InstanceDeletion, HidesTheTablesAndTakesNoneUntilItIsDone) {
  const Database database = Database::Open("mem:").value();
  OpenTables tables(database);
  for (const char* const name : {"q/gone/a", "q/gone/b", "q/gone2/a"})
    ASSERT_TRUE(tables.Create(name, Schema()).ok());
  const std::string wire_name = std::string(kDeletedInstance) + "/tables/a";
  ASSERT_TRUE(tables.Find(wire_name).ok());
  ASSERT_TRUE(tables.CloseAndDelete("q/gone/").ok());
  EXPECT_TRUE(absl::IsNotFound(tables.Find(wire_name).status()));
  EXPECT_EQ(tables.List("").value(), std::vector<std::string>{"q/gone2/a"});
  EXPECT_TRUE(absl::IsFailedPrecondition(tables.Create("q/gone/a", Schema()).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(tables.CreateHidden("q/gone/a", Schema()).status()));
  EXPECT_TRUE(tables.Create("q/gone2/b", Schema()).ok());
  tables.Reopen("q/gone/");
  EXPECT_TRUE(tables.Create("q/gone/a", Schema()).ok());
  EXPECT_TRUE(tables.Find(wire_name).ok());
}

}  // namespace
}  // namespace stele::server
