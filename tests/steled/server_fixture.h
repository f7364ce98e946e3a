// steled/server_fixture.h: runs the built steled as a child process, with a client for it.
#pragma once

#include <grpcpp/channel.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "remote/wire/bigtable.grpc.pb.h"
#include "remote/wire/table_admin.grpc.pb.h"

namespace stele::server {

// A steled process. It is killed with the object.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& database, std::vector<std::string> flags = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // "127.0.0.1:PORT"; "" if it did not start.
  const std::string& address() const { return address_; }
  // The address of --metrics; "" without it.
  const std::string& metrics_address() const { return metrics_address_; }
  pid_t pid() const { return pid_; }
  // Sends SIGKILL and waits for its end.
  void Kill();
  // Sends SIGTERM. Returns its exit status, -1 if a signal ended it.
  int Terminate();

 private:
  int Wait();

  pid_t pid_ = 0;
  std::string address_;
  std::string metrics_address_;
};

// A directory that is removed with the object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline constexpr char kInstance[] = "projects/p/instances/i";

// A client with the calls that tests use often. Tables have ids in kInstance.
class Client {
 public:
  explicit Client(const std::string& address);

  static std::string TableName(const std::string& table_id) {
    return std::string(kInstance) + "/tables/" + table_id;
  }

  grpc::Status CreateTable(const std::string& table_id, const std::vector<std::string>& families);
  // `mutations` are protobuf text: "set_cell {...}" each.
  grpc::Status Mutate(const std::string& table_id, const std::string& row_key,
                      const std::vector<std::string>& mutations);
  // Sets "f:q" at that timestamp.
  grpc::Status Set(const std::string& table_id, const std::string& row_key,
                   const std::string& column, int64_t micros, const std::string& value);
  // Returns the rows (RowMerger's text) for `request`, a ReadRowsRequest as protobuf text without
  // the table's name. Fails the test if a chunk violates a rule. After an error the rows end with
  // the code's number in brackets: "[3]".
  std::vector<std::string> Read(const std::string& table_id, const std::string& request = "",
                                google::bigtable::v2::ReadRowsResponse* last = nullptr);

  google::bigtable::v2::Bigtable::Stub& data() { return *data_; }
  google::bigtable::admin::v2::BigtableTableAdmin::Stub& admin() { return *admin_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<google::bigtable::v2::Bigtable::Stub> data_;
  std::unique_ptr<google::bigtable::admin::v2::BigtableTableAdmin::Stub> admin_;
};

// Parses a message from protobuf's text form.
void Parse(const std::string& text, google::protobuf::Message* message);

// One server for all tests of a suite; each test creates separate tables.
class ServerTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;

  // Creates the table of the test, with families f and g.
  std::string NewTable();

  static Client& client() { return *client_; }
  static const std::string& address() { return server_->address(); }

 private:
  static inline std::unique_ptr<ScratchDirectory> directory_;
  static inline std::unique_ptr<ServerProcess> server_;
  static inline std::unique_ptr<Client> client_;
  static inline int table_count_ = 0;
};

}  // namespace stele::server
