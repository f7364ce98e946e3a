// Tests the server process: it ends in order, and does not end because its output is not read.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using Rows = std::vector<std::string>;

TEST(Process, AnEndInOrderKeepsTheDatabaseForTheNext) {
  const ScratchDirectory directory;
  {
    ServerProcess server(directory.path() + "/db");
    Client client(server.address());
    ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    ASSERT_TRUE(client.Set("t", "r", "f:a", 1000, "v").ok());
    EXPECT_EQ(server.Terminate(), 0);
  }
  ServerProcess server(directory.path() + "/db");
  EXPECT_EQ(Client(server.address()).Read("t"), Rows({"r f:a@1000=v"}));
  EXPECT_EQ(server.Terminate(), 0);
}

// As long as it lives, this process and its children use `descriptor`, which it owns, as standard
// error.
class StandardError {
 public:
  explicit StandardError(int descriptor) : kept_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    dup2(descriptor, STDERR_FILENO);
    close(descriptor);
  }
  ~StandardError() {
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

 private:
  const int kept_;
};

TEST(Process, ServesAlsoWhenWhatItSaysCannotBeWritten) {
  const ScratchDirectory directory;
  // A reason for a message at the start.
  std::filesystem::create_directories(directory.path() + "/db-backups/no backup");
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  for (const int descriptor : {full, ends[1]}) {
    std::unique_ptr<ServerProcess> server;
    {
      const StandardError redirected(descriptor);
      server = std::make_unique<ServerProcess>(directory.path() + "/db");
    }
    ASSERT_NE(server->address(), "");
    EXPECT_EQ(server->Terminate(), 0);
  }
}

// Records the syncs of a program that is started while it lives (preload/sync_trace.cc).
class SyncTrace {
 public:
  explicit SyncTrace(std::string path) : path_(std::move(path)) {
    const char* const library = std::getenv("SYNC_TRACE_LIBRARY");
    EXPECT_NE(library, nullptr) << "run this through ctest";
    if (library != nullptr) setenv("LD_PRELOAD", library, 1);
    setenv("STELE_SYNC_TRACE", path_.c_str(), 1);
  }
  ~SyncTrace() {
    unsetenv("LD_PRELOAD");
    unsetenv("STELE_SYNC_TRACE");
  }
  SyncTrace(const SyncTrace&) = delete;
  SyncTrace& operator=(const SyncTrace&) = delete;

  // Returns how often files with this suffix were synced.
  int Count(std::string_view suffix) const {
    std::ifstream trace(path_);
    int count = 0;
    for (std::string line; std::getline(trace, line);)
      count += line.starts_with("sync ") && line.ends_with(suffix) ? 1 : 0;
    return count;
  }

 private:
  const std::string path_;
};

// Sends one write after the other to a server with these flags. Returns how many of them returned
// after a sync of the log.
int SyncedWrites(const std::vector<std::string>& flags, int write_count) {
  const ScratchDirectory directory;
  const SyncTrace trace(directory.path() + "/trace");
  ServerProcess server(directory.path() + "/db", flags);
  Client client(server.address());
  EXPECT_TRUE(client.CreateTable("t", {"f"}).ok());
  int synced_count = 0;
  for (int i = 0; i < write_count; ++i) {
    const int before = trace.Count(".log");
    EXPECT_TRUE(client.Set("t", "r" + std::to_string(i), "f:a", 1000, "v").ok());
    if (trace.Count(".log") > before) ++synced_count;
  }
  EXPECT_EQ(server.Terminate(), 0);
  return synced_count;
}

TEST(Process, WithDurabilityDiskEveryAnswerComesAfterASync) {
  EXPECT_EQ(SyncedWrites({}, 20), 20) << "the default";
  EXPECT_EQ(SyncedWrites({"--durability=disk"}, 20), 20);
  EXPECT_LT(SyncedWrites({"--durability=process"}, 20), 20) << "the log is synced now and then";
}

// Returns the peak memory of the process, in MiB.
size_t MostResident(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) >> 10;
  }
  return 0;
}

// Returns a change of 90 MB.
google::bigtable::v2::Mutation LargeChange(const char* qualifier) {
  google::bigtable::v2::Mutation mutation;
  auto* const set = mutation.mutable_set_cell();
  set->set_family_name("f");
  set->set_column_qualifier(qualifier);
  set->set_value(std::string(90'000'000, 'v'));
  return mutation;
}

// The batch has a copy of the values, and after each other the mutation, the log's buffer and the
// memtable. The copies of the request are freed.
TEST(Process, ALargeWriteIsInMemoryTwice) {
  for (const bool is_conditional : {false, true}) {
    const ScratchDirectory directory;
    ServerProcess server(directory.path() + "/db", {"--durability=process"});
    Client client(server.address());
    ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    const size_t before = MostResident(server.pid());
    ASSERT_GT(before, 0u);
    google::bigtable::v2::MutateRowRequest request;
    request.set_table_name(Client::TableName("t"));
    request.set_row_key("r");
    google::bigtable::v2::CheckAndMutateRowRequest conditional;
    conditional.set_table_name(Client::TableName("t"));
    conditional.set_row_key("r");
    for (const char* const qualifier : {"a", "b"}) {
      if (is_conditional) {
        *conditional.add_false_mutations() = LargeChange(qualifier);
      } else {
        *request.add_mutations() = LargeChange(qualifier);
      }
    }
    grpc::ClientContext context;
    google::bigtable::v2::MutateRowResponse response;
    google::bigtable::v2::CheckAndMutateRowResponse branch;
    const grpc::Status status =
        is_conditional ? client.data().CheckAndMutateRow(&context, conditional, &branch)
                       : client.data().MutateRow(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    const size_t added = MostResident(server.pid()) - before;
    RecordProperty(is_conditional ? "CheckAndMutateRow_MiB" : "MutateRow_MiB",
                   static_cast<int>(added));
    const size_t written = std::max(request.ByteSizeLong(), conditional.ByteSizeLong()) >> 20;
    EXPECT_LT(added, written * 5 / 2)
        << "of " << written << (is_conditional ? ", CheckAndMutateRow" : ", MutateRow");
    EXPECT_EQ(server.Terminate(), 0);
  }
}

}  // namespace
}  // namespace stele::server
