// Tests the trace of the built server: its operations, their tags, a restart, and wrong flags.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steled/logged_server.h"
#include "support/trace_testing.h"

namespace stele::server {
namespace {

using internal::TraceOp;
using internal::TraceRecord;

namespace wire = google::bigtable::v2;

class ServerTrace : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::unique_ptr<LoggedServer> Start(std::vector<std::string> flags) {
    flags.emplace_back("--durability=process");
    return std::make_unique<LoggedServer>(Path("db"), std::move(flags));
  }
  // Returns what a server that cannot start prints.
  std::string ErrorOfStart(const std::string& trace) const {
    const char* const program = std::getenv("STELED_COMMAND");
    EXPECT_NE(program, nullptr) << "run this through ctest";
    if (program == nullptr) return "";
    const std::string command = std::string(program) + " --listen 127.0.0.1:0 --db " + Path("db") +
                                " --trace " + trace + " >/dev/null 2>" + Path("errors");
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
    std::ifstream errors(Path("errors"));
    return {std::istreambuf_iterator<char>(errors), {}};
  }
  // Returns the operations on the table "t", by time. The server's threads record by themselves, so
  // the file has another order.
  std::vector<TraceRecord> Read() const {
    std::ifstream file(Path("trace"), std::ios::binary);
    const auto read =
        internal::ReadTraceBytes(std::string(std::istreambuf_iterator<char>(file), {}));
    std::vector<TraceRecord> records;
    EXPECT_TRUE(read.ok()) << read.status();
    if (!read.ok()) return records;
    for (const TraceRecord& record : read->records)
      if (record.table == "p/i/t") records.push_back(record);
    std::stable_sort(
        records.begin(), records.end(),
        [](const TraceRecord& a, const TraceRecord& b) { return a.micros < b.micros; });
    return records;
  }

 private:
  const ScratchDirectory directory_;
};

TEST_F(ServerTrace, HasTheOperationsOfClients) {
  const auto server = Start({"--trace", Path("trace")});
  Client client(server->process().address());
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  const std::string table = "table_name: '" + Client::TableName("t") + "' ";
  const std::string profile = "app_profile_id: 'default' ";
  const std::string change = "mutations { set_cell { family_name: 'f' timestamp_micros: 0 } } ";
  wire::MutateRowRequest write;
  Parse(table + profile + "row_key: 'a' " + change, &write);
  wire::MutateRowResponse written;
  grpc::ClientContext write_context;
  ASSERT_TRUE(client.data().MutateRow(&write_context, write, &written).ok());
  wire::MutateRowsRequest bulk;
  Parse(table + profile + "entries { row_key: 'b' " + change + "} entries { row_key: 'c' " +
            change + "}",
        &bulk);
  wire::MutateRowsResponse verdicts;
  grpc::ClientContext bulk_context;
  const auto stream = client.data().MutateRows(&bulk_context, bulk);
  while (stream->Read(&verdicts)) {
  }
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_EQ(client.Read("t", profile + "rows { row_keys: 'a' } rows_limit: 5").size(), 1u);
  EXPECT_EQ(server->Terminate(), 0);
  EXPECT_NE(server->NextLineWith("the trace has ended operations="), "");
  const std::vector<TraceRecord> records = Read();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].op, TraceOp::kSet);
  EXPECT_EQ(records[0].row + records[1].row + records[2].row, "abc");
  EXPECT_TRUE(records[1].call.has_value());
  EXPECT_EQ(records[1].call, records[2].call);
  EXPECT_EQ(records[3].op, TraceOp::kGet);
  EXPECT_EQ(records[3].row, "a");
  EXPECT_EQ(records[3].limit, 5u);
  for (const TraceRecord& record : records) EXPECT_EQ(record.tag, "default");
}

TEST_F(ServerTrace, IsContinuedAfterAKill) {
  for (const std::string row_key : {"first", "second"}) {
    const auto server = Start({"--trace", Path("trace")});
    Client client(server->process().address());
    if (row_key == "first") ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    ASSERT_TRUE(client.Set("t", row_key, "f:q", 0, "v").ok());
    if (row_key == "first") {
      while (Read().empty()) std::this_thread::yield();
      server->process().Kill();
    } else {
      EXPECT_EQ(server->Terminate(), 0);
    }
  }
  const std::vector<TraceRecord> records = Read();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].row, "first");
  EXPECT_EQ(records[1].row, "second");
}

TEST_F(ServerTrace, ALongProfileIsATagOfItsStart) {
  const auto server = Start({"--trace", Path("trace")});
  Client client(server->process().address());
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  EXPECT_TRUE(client.Read("t", "app_profile_id: '" + std::string(50, 'p') + "'").empty());
  EXPECT_EQ(server->Terminate(), 0);
  ASSERT_EQ(Read().size(), 1u);
  EXPECT_EQ(Read()[0].tag, std::string(32, 'p'));
}

TEST_F(ServerTrace, AnUnusableFileIsAnErrorOfTheStart) {
  std::ofstream(Path("trace")) << "no trace";
  EXPECT_NE(
      ErrorOfStart(Path("trace")).find("error: the server cannot start: --trace: " + Path("trace")),
      std::string::npos);
  const std::string inside = Path("db") + "/000004.sst";
  EXPECT_NE(ErrorOfStart(inside).find("--trace: " + inside + " is inside "), std::string::npos);
  std::filesystem::create_directory(Path("db-backups"));
  const std::string backup = Path("db-backups") + "/trace";
  EXPECT_NE(ErrorOfStart(backup).find("--trace: " + backup + " is inside "), std::string::npos);
}

}  // namespace
}  // namespace stele::server
