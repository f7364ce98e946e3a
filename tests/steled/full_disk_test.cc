// Tests the built server on a full disk: reads, refused writes, its health, and calls that free
// space.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "remote/wire/health.grpc.pb.h"
#include "steled/metrics_page.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using grpc::health::v1::HealthCheckResponse;

constexpr char kDataService[] = "google.bigtable.v2.Bigtable";

// A file system in memory, of 96 MiB. The rows of a test, a compaction of all of them and the log
// fit together.
class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (mount("tmpfs", disk_.path().c_str(), "tmpfs", 0, "size=96m") != 0)
      GTEST_SKIP() << "this user cannot mount a file system: " << std::strerror(errno);
    is_mounted_ = true;
    server_ = std::make_unique<ServerProcess>(
        disk_.path() + "/db",
        std::vector<std::string>{"--durability=process", "--memory-budget=16MiB",
                                 "--metrics=127.0.0.1:0"});
    client_ = std::make_unique<Client>(server_->address());
    ASSERT_TRUE(client_->CreateTable("t", {"f"}).ok());
  }
  void TearDown() override {
    server_.reset();
    if (is_mounted_) EXPECT_EQ(umount2(disk_.path().c_str(), MNT_DETACH), 0);
  }

  // Incompressible.
  grpc::Status Write(int row) {
    std::string value(100'000, '\0');
    for (char& c : value) c = static_cast<char>(random_());
    return client_->Set("t", "row" + std::to_string(1'000 + row), "f:q", 1'000, value);
  }
  // Writes rows, and fills the disk until writes are refused. Jobs that were running may free some
  // space again, so it is filled several times.
  void Fill() {
    int row = 0;
    for (; row < 200; ++row) ASSERT_TRUE(Write(row).ok()) << row;
    for (int round = 0; round < 3; ++round) {
      FillWithOtherFiles();
      grpc::Status status = Write(row);
      while (status.ok()) status = Write(++row);
      ASSERT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED)
          << status.error_message();
    }
  }
  void FillWithOtherFiles() const {
    const std::string path = disk_.path() + "/filler";
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const std::string zeros(4096, '\0');
    while (write(file, zeros.data(), zeros.size()) > 0) continue;
    close(file);
  }
  // Waits until a condition is true, which happens soon: a job that runs still holds the files that
  // a drop removes, and needs room for its output until it ends.
  static void Await(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::yield();
  }
  // The same on a full disk. A job may free space after Fill, and then writes are accepted again.
  // So each round fills the disk, and needs a refused write.
  void AwaitOnFullDisk(const std::function<bool()>& condition) {
    Await([&] {
      FillWithOtherFiles();
      return !Write(1'000).ok() && condition();
    });
  }
  int Health(const std::string& service) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const auto stub = grpc::health::v1::Health::NewStub(client_->channel());
    EXPECT_TRUE(stub->Check(&context, request, &response).ok());
    return response.status();
  }
  std::string Page(const std::string& path) {
    return FetchPage(server_->metrics_address(), "GET " + path + " HTTP/1.0\r\n\r\n");
  }
  grpc::Status DropRows(const std::string& prefix) {
    grpc::ClientContext context;
    google::bigtable::admin::v2::DropRowRangeRequest request;
    request.set_name(Client::TableName("t"));
    request.set_row_key_prefix(prefix);
    google::protobuf::Empty response;
    return client_->admin().DropRowRange(&context, request, &response);
  }

  const ScratchDirectory disk_;
  bool is_mounted_ = false;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> client_;
  std::minstd_rand random_{1};
};

TEST_F(FullDisk, HealthTellsThatWritesAreRefusedAndDroppedRowsMakeRoom) {
  EXPECT_EQ(Health(kDataService), HealthCheckResponse::SERVING);
  EXPECT_TRUE(Page("/healthz/writes").starts_with("HTTP/1.1 200 "));
  ASSERT_NO_FATAL_FAILURE(Fill());

  AwaitOnFullDisk([&] { return Health(kDataService) == HealthCheckResponse::NOT_SERVING; });
  EXPECT_EQ(Health(""), HealthCheckResponse::SERVING) << "reads are served";
  EXPECT_EQ(Health("google.bigtable.admin.v2.BigtableTableAdmin"), HealthCheckResponse::SERVING);
  AwaitOnFullDisk([&] { return Page("/healthz/writes").starts_with("HTTP/1.1 503 "); });
  AwaitOnFullDisk([&] {
    const std::string page = Page("/healthz");
    EXPECT_TRUE(page.starts_with("HTTP/1.1 200 ")) << page;
    return page.find("not serving writes: ") != std::string::npos;
  });
  AwaitOnFullDisk(
      [&] { return MetricOf(server_->metrics_address(), "stele_writes_refused") == 1; });
  EXPECT_EQ(client_->Read("t", "rows_limit: 1").size(), 1u);

  EXPECT_TRUE(client_->Mutate("t", "row1001", {"delete_from_row {}"}).ok());
  const grpc::Status dropped = DropRows("row10");
  EXPECT_TRUE(dropped.ok()) << dropped.error_message();
  Await([&] { return Write(1'000).ok(); });
  Await([&] { return Health(kDataService) == HealthCheckResponse::SERVING; });
  Await([&] { return Page("/healthz/writes").starts_with("HTTP/1.1 200 "); });
  Await([&] { return MetricOf(server_->metrics_address(), "stele_writes_refused") == 0; });
  EXPECT_EQ(server_->Terminate(), 0);
}

TEST_F(FullDisk, ACreationThatIsRefusedKeepsTheDeletedTable) {
  ASSERT_TRUE(client_->CreateTable("old", {"f"}).ok());
  ASSERT_TRUE(client_->Set("old", "r", "f:q", 1'000, "v").ok());
  google::bigtable::admin::v2::DeleteTableRequest deletion;
  deletion.set_name(Client::TableName("old"));
  google::protobuf::Empty nothing;
  grpc::ClientContext delete_context;
  ASSERT_TRUE(client_->admin().DeleteTable(&delete_context, deletion, &nothing).ok());
  ASSERT_NO_FATAL_FAILURE(Fill());
  EXPECT_EQ(client_->CreateTable("old", {"f"}).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(DropRows("row").ok());
  google::bigtable::admin::v2::UndeleteTableRequest request;
  request.set_name(Client::TableName("old"));
  google::longrunning::Operation operation;
  Await([&] {
    grpc::ClientContext context;
    return client_->admin().UndeleteTable(&context, request, &operation).ok();
  });
  EXPECT_EQ(client_->Read("old"), std::vector<std::string>({"r f:q@1000=v"}));
}

TEST_F(FullDisk, AServerThatIsStartedOnAFullDiskCanFreeSpace) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  server_->Kill();
  server_ = std::make_unique<ServerProcess>(
      disk_.path() + "/db",
      std::vector<std::string>{"--durability=process", "--memory-budget=16MiB",
                               "--metrics=127.0.0.1:0"});
  client_ = std::make_unique<Client>(server_->address());
  EXPECT_FALSE(client_->Read("t", "rows_limit: 1").empty());
  EXPECT_TRUE(DropRows("row").ok());
  Await([&] { return Write(1).ok(); });
  Await([&] { return Health(kDataService) == HealthCheckResponse::SERVING; });
  EXPECT_EQ(server_->Terminate(), 0);
}

}  // namespace
}  // namespace stele::server
