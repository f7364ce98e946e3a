// Tests UndeleteTable: the restored table, conflicts of names, and the removal of the data.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "remote/wire/schema_translation.h"
#include "steled/server_fixture.h"
#include "steled/services/admin_service.h"
#include "steled/state/open_tables.h"
#include "support/model_leaping_clock.h"

namespace stele::server {
namespace {

// Return status codes of DeleteTable and UndeleteTable for tables of kInstance.
grpc::StatusCode DeleteIt(Client* client, const std::string& table_id) {
  google::bigtable::admin::v2::DeleteTableRequest request;
  request.set_name(Client::TableName(table_id));
  google::protobuf::Empty nothing;
  grpc::ClientContext context;
  return client->admin().DeleteTable(&context, request, &nothing).error_code();
}

grpc::StatusCode UndeleteIt(Client* client, const std::string& table_id,
                            google::longrunning::Operation* operation = nullptr) {
  google::bigtable::admin::v2::UndeleteTableRequest request;
  request.set_name(Client::TableName(table_id));
  google::longrunning::Operation unused;
  grpc::ClientContext context;
  return client->admin()
      .UndeleteTable(&context, request, operation == nullptr ? &unused : operation)
      .error_code();
}

TEST(UndeleteTest, ADeletedTableIsHiddenAndComesBackProtectedAlsoAfterARestart) {
  const ScratchDirectory directory;
  for (const bool restarts : {false, true}) {
    const std::string table = restarts ? "kept" : "t";
    {
      ServerProcess server(directory.path() + "/db");
      Client client(server.address());
      ASSERT_TRUE(client.CreateTable(table, {"f"}).ok());
      ASSERT_TRUE(client.Set(table, "r", "f:q", 1000, "v").ok());
      ASSERT_EQ(DeleteIt(&client, table), grpc::StatusCode::OK);
      EXPECT_EQ(client.Read(table), std::vector<std::string>({"[5]"}));
      EXPECT_EQ(DeleteIt(&client, table), grpc::StatusCode::NOT_FOUND);
      if (restarts) server.Kill();
      std::unique_ptr<ServerProcess> second;
      if (restarts) second = std::make_unique<ServerProcess>(directory.path() + "/db");
      Client later(restarts ? second->address() : server.address());
      EXPECT_EQ(later.Read(table), std::vector<std::string>({"[5]"}));
      google::longrunning::Operation operation;
      ASSERT_EQ(UndeleteIt(&later, table, &operation), grpc::StatusCode::OK);
      EXPECT_TRUE(operation.done());
      google::bigtable::admin::v2::UndeleteTableMetadata metadata;
      ASSERT_TRUE(operation.metadata().UnpackTo(&metadata));
      EXPECT_EQ(metadata.name(), Client::TableName(table));
      google::bigtable::admin::v2::Table restored;
      ASSERT_TRUE(operation.response().UnpackTo(&restored));
      EXPECT_TRUE(restored.deletion_protection());
      EXPECT_EQ(later.Read(table), std::vector<std::string>({"r f:q@1000=v"}));
      EXPECT_EQ(DeleteIt(&later, table), grpc::StatusCode::FAILED_PRECONDITION)
          << "it comes back protected";
    }
  }
}

TEST(UndeleteTest, ATableOfTheNameIsInTheWay) {
  const ScratchDirectory directory;
  ServerProcess server(directory.path() + "/db");
  Client client(server.address());
  EXPECT_EQ(UndeleteIt(&client, "t"), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  EXPECT_EQ(UndeleteIt(&client, "t"), grpc::StatusCode::ALREADY_EXISTS);
  ASSERT_TRUE(client.Set("t", "old", "f:", 0, "v").ok());
  ASSERT_EQ(DeleteIt(&client, "t"), grpc::StatusCode::OK);
  ASSERT_TRUE(client.CreateTable("t", {"g"}).ok()) << "the name is free again";
  EXPECT_EQ(UndeleteIt(&client, "t"), grpc::StatusCode::ALREADY_EXISTS);
  ASSERT_TRUE(client.Set("t", "new", "g:", 0, "v").ok());
  ASSERT_EQ(DeleteIt(&client, "t"), grpc::StatusCode::OK);
  ASSERT_EQ(UndeleteIt(&client, "t"), grpc::StatusCode::OK);
  EXPECT_EQ(client.Read("t"), std::vector<std::string>({"new g:@0=v"}))
      << "the table that was deleted last";
}

TEST(UndeleteTest, AnInvalidCreationOfTheNameLeavesTheDeletedTable) {
  const ScratchDirectory directory;
  ServerProcess server(directory.path() + "/db");
  Client client(server.address());
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  ASSERT_TRUE(client.Set("t", "r", "f:q", 1000, "v").ok());
  ASSERT_EQ(DeleteIt(&client, "t"), grpc::StatusCode::OK);
  EXPECT_EQ(client.CreateTable("t", {"no family"}).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(UndeleteIt(&client, "t"), grpc::StatusCode::OK);
  EXPECT_EQ(client.Read("t"), std::vector<std::string>({"r f:q@1000=v"}));
}

TEST(UndeleteTest, WithoutAPeriodADeletedTableIsGone) {
  const ScratchDirectory directory;
  ServerProcess server(directory.path() + "/db", {"--undelete-period", "0"});
  Client client(server.address());
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  ASSERT_EQ(DeleteIt(&client, "t"), grpc::StatusCode::OK);
  EXPECT_EQ(UndeleteIt(&client, "t"), grpc::StatusCode::NOT_FOUND);
}

TEST(SoftDeletedTables, GoWhenTheirTimeIsOver) {
  const ScratchDirectory directory;
  absl::StatusOr<Database> opened = Database::Open(directory.path() + "/db");
  ASSERT_TRUE(opened.ok()) << opened.status();
  Database database = *opened;
  OpenTables tables(database);
  for (const char* const name : {"p/i/early", "p/i/late"})
    ASSERT_TRUE(tables.Create(name, Schema().AddFamily("f")).ok());
  ASSERT_TRUE(tables.SoftDelete("p/i/early", 100).ok());
  ASSERT_TRUE(tables.SoftDelete("p/i/late", 200).ok());
  EXPECT_TRUE(tables.List("")->empty());
  EXPECT_FALSE(tables.IsTaken("p/i/early"));
  std::stop_source stop;
  stop.request_stop();
  ASSERT_TRUE(tables.PurgeSoftDeleted(150, stop.get_token()).ok());
  EXPECT_EQ(database.ListTables()->size(), 2u) << "it was stopped";
  ASSERT_TRUE(tables.PurgeSoftDeleted(150).ok());
  EXPECT_EQ(*database.ListTables(), std::vector<std::string>({"p/i/late"}));
  EXPECT_TRUE(absl::IsNotFound(tables.Undelete("p/i/early")));
  // The next process finds the soft-deleted tables and their times.
  OpenTables next(database);
  ASSERT_TRUE(next.LoadSoftDeleted().ok());
  EXPECT_TRUE(next.List("")->empty());
  ASSERT_TRUE(next.PurgeSoftDeleted(199).ok());
  EXPECT_TRUE(next.Undelete("p/i/late").ok());
  EXPECT_EQ(next.List("")->size(), 1u);
  EXPECT_TRUE(next.IsTaken("p/i/late"));
  ASSERT_TRUE(next.PurgeSoftDeleted(300).ok()) << "what came back stays";
  EXPECT_EQ(database.ListTables()->size(), 1u);
  EXPECT_TRUE(database.Close().ok());
}

// A clock that leaps ahead ends no period: the leap is not trusted.
TEST(SoftDeletedTables, AreRestoredBesideAClockThatLeaps) {
  const ScratchDirectory directory;
  const auto clock = std::make_shared<LeapingClock>(Timestamp::FromMicros(1'700'000'000'000'000));
  absl::StatusOr<Database> opened = Database::Open(directory.path() + "/db", {.clock = clock});
  ASSERT_TRUE(opened.ok()) << opened.status();
  Database database = *opened;
  OpenTables tables(database);
  Operations operations;
  Records records(database);
  IamPolicies policies(&records);
  Backups backups(database, &tables, &operations, "", clock);
  const Instances instances(
      &tables, &records, [](std::string_view) { return false; },
      /*is_strict=*/false);
  constexpr std::chrono::hours kPeriod(24 * 7);
  AdminService admin(&tables, &operations, &backups, &policies, &instances, kPeriod);
  google::bigtable::admin::v2::DeleteTableRequest deletion;
  google::bigtable::admin::v2::UndeleteTableRequest restoration;
  google::protobuf::Empty nothing;
  google::longrunning::Operation operation;
  for (const char* const id : {"t", "other"}) {
    ASSERT_TRUE(tables.Create("p/i/" + std::string(id), Schema().AddFamily("f")).ok());
    deletion.set_name(Client::TableName(id));
    ASSERT_EQ(admin.DeleteTable(deletion, &nothing), absl::OkStatus());
  }
  clock->Leap(std::chrono::hours(24 * 365));
  restoration.set_name(Client::TableName("t"));
  EXPECT_EQ(admin.UndeleteTable(restoration, &operation), absl::OkStatus());
  clock->Leap(-std::chrono::hours(24 * 365));
  clock->Pass(kPeriod);
  restoration.set_name(Client::TableName("other"));
  EXPECT_TRUE(absl::IsNotFound(admin.UndeleteTable(restoration, &operation)));
  EXPECT_EQ(database.Close(), absl::OkStatus());
}

// A backup may be made of a table while it is being deleted, so its schema has the mark.
TEST(SoftDeletedTables, ARestoredOneIsNotSoftDeleted) {
  const ScratchDirectory directory;
  absl::StatusOr<Database> opened = Database::Open(directory.path() + "/db");
  ASSERT_TRUE(opened.ok()) << opened.status();
  Database database = *opened;
  OpenTables tables(database);
  absl::StatusOr<Table> source = tables.Create("p/i/source", Schema().AddFamily("f"));
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_TRUE(tables.SoftDelete("p/i/source", 100).ok());
  ASSERT_TRUE(tables.CreateHidden("p/i/restored", *source->schema()).ok());
  ASSERT_TRUE(tables.Reveal("p/i/restored").ok());
  OpenTables next(database);
  ASSERT_TRUE(next.LoadSoftDeleted().ok());
  ASSERT_TRUE(next.PurgeSoftDeleted(300).ok());
  EXPECT_EQ(*next.List(""), std::vector<std::string>({"p/i/restored"}));
  EXPECT_TRUE(database.Close().ok());
}

TEST(HiddenTables, ADeletionOfOneLeavesANewTableOfItsName) {
  const ScratchDirectory directory;
  absl::StatusOr<Database> opened = Database::Open(directory.path() + "/db");
  ASSERT_TRUE(opened.ok()) << opened.status();
  Database database = *opened;
  OpenTables tables(database);
  ASSERT_TRUE(tables.CreateHidden("p/i/t", Schema().AddFamily("f")).ok());
  ASSERT_TRUE(tables.Delete("p/i/t").ok());  // with its instance
  ASSERT_TRUE(tables.Create("p/i/t", Schema().AddFamily("g")).ok());
  EXPECT_TRUE(tables.DeleteHidden("p/i/t").ok());
  EXPECT_EQ(tables.List("")->size(), 1u);
  ASSERT_TRUE(tables.CreateHidden("p/i/other", Schema().AddFamily("f")).ok());
  EXPECT_TRUE(tables.DeleteHidden("p/i/other").ok());
  EXPECT_EQ(database.ListTables()->size(), 1u);
  EXPECT_TRUE(database.Close().ok());
}

}  // namespace
}  // namespace stele::server
