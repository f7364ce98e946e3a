// Tests a backup with a client of the server: it is made, restored, listed and deleted.
#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "remote/wire/operations.grpc.pb.h"
#include "remote/wire/timestamps.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

constexpr char kWireCluster[] = "projects/p/instances/i/clusters/c";

class BackupServerTest : public ServerTest {};

TEST_F(BackupServerTest, TheWholeWayByTheWire) {
  const std::string table = NewTable();
  ASSERT_TRUE(client().Set(table, "r", "f:a", 1000, "v").ok());
  google::bigtable::admin::v2::CreateBackupRequest create;
  create.set_parent(kWireCluster);
  create.set_backup_id("wire");
  create.mutable_backup()->set_source_table(Client::TableName(table));
  *create.mutable_backup()->mutable_expire_time() =
      internal::ToWireTime(internal::MicrosOf(internal::WireNow()) + 7 * 3600 * int64_t{1'000'000});
  google::longrunning::Operation operation;
  const auto operations = google::longrunning::Operations::NewStub(client().channel());
  const auto await = [&] {
    while (!operation.done()) {
      grpc::ClientContext context;
      google::longrunning::GetOperationRequest request;
      request.set_name(operation.name());
      ASSERT_TRUE(operations->GetOperation(&context, request, &operation).ok());
    }
  };
  {
    grpc::ClientContext context;
    ASSERT_TRUE(client().admin().CreateBackup(&context, create, &operation).ok());
  }
  await();
  ASSERT_TRUE(operation.has_response()) << operation.ShortDebugString();
  google::bigtable::admin::v2::RestoreTableRequest restore;
  restore.set_parent(kInstance);
  restore.set_table_id("restored");
  restore.set_backup(std::string(kWireCluster) + "/backups/wire");
  {
    grpc::ClientContext context;
    ASSERT_TRUE(client().admin().RestoreTable(&context, restore, &operation).ok());
  }
  await();
  ASSERT_TRUE(operation.has_response()) << operation.ShortDebugString();
  EXPECT_EQ(client().Read("restored"), std::vector<std::string>({"r f:a@1000=v"}));
  grpc::ClientContext listing;
  google::bigtable::admin::v2::ListBackupsRequest list;
  list.set_parent("projects/p/instances/i/clusters/-");
  google::bigtable::admin::v2::ListBackupsResponse listed;
  ASSERT_TRUE(client().admin().ListBackups(&listing, list, &listed).ok());
  ASSERT_EQ(listed.backups_size(), 1);
  EXPECT_EQ(listed.backups(0).source_table(), Client::TableName(table));
  grpc::ClientContext deleting;
  google::bigtable::admin::v2::DeleteBackupRequest deletion;
  deletion.set_name(listed.backups(0).name());
  google::protobuf::Empty nothing;
  EXPECT_TRUE(client().admin().DeleteBackup(&deleting, deletion, &nothing).ok());
}

}  // namespace
}  // namespace stele::server
