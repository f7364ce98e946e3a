#include "steled/server_fixture.h"

#include <fcntl.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "steled/row_merger.h"

namespace stele::server {
namespace {

// Returns the child's output up to its next newline; "" if it ends without one.
std::string NextLine(int pipe_end) {
  std::string line;
  char c = 0;
  while (read(pipe_end, &c, 1) == 1) {
    if (c == '\n') return line;
    line.push_back(c);
  }
  return {};
}

}  // namespace

ServerProcess::ServerProcess(const std::string& database, std::vector<std::string> flags) {
  const char* const program = std::getenv("STELED_COMMAND");
  if (program == nullptr) {
    ADD_FAILURE() << "STELED_COMMAND is not set: run this through ctest";
    return;
  }
  std::vector<std::string> words = {program, "--db", database};
  if (std::find(flags.begin(), flags.end(), "--listen") == flags.end())
    words.insert(words.end(), {"--listen", "127.0.0.1:0"});
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "no pipe";
    return;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int error = posix_spawn(&pid_, program, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string line = error == 0 ? NextLine(ends[0]) : "";
  constexpr std::string_view kMetricsPrefix = "metrics on ";
  if (line.starts_with(kMetricsPrefix)) {
    metrics_address_ = line.substr(kMetricsPrefix.size());
    line = NextLine(ends[0]);
  }
  close(ends[0]);
  constexpr std::string_view kPrefix = "listening on ";
  EXPECT_TRUE(line.starts_with(kPrefix)) << program << ": " << line;
  if (line.starts_with(kPrefix)) address_ = line.substr(kPrefix.size());
}

ServerProcess::~ServerProcess() { Kill(); }

int ServerProcess::Wait() {
  int how = 0;
  waitpid(pid_, &how, 0);
  pid_ = 0;
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

void ServerProcess::Kill() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

int ServerProcess::Terminate() {
  if (pid_ == 0) return -1;  // it did not start; a signal to 0 would go to the whole process group
  kill(pid_, SIGTERM);
  return Wait();
}

ScratchDirectory::ScratchDirectory() : path_(testing::TempDir() + "steled-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

void Parse(const std::string& text, google::protobuf::Message* message) {
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, message)) << text;
}

Client::Client(const std::string& address) {
  grpc::ChannelArguments arguments;
  // A killed and restarted server is another one, even on the same port.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  data_ = google::bigtable::v2::Bigtable::NewStub(channel_);
  admin_ = google::bigtable::admin::v2::BigtableTableAdmin::NewStub(channel_);
}

grpc::Status Client::CreateTable(const std::string& table_id,
                                 const std::vector<std::string>& families) {
  grpc::ClientContext context;
  google::bigtable::admin::v2::CreateTableRequest request;
  request.set_parent(kInstance);
  request.set_table_id(table_id);
  for (const std::string& family : families)
    (*request.mutable_table()->mutable_column_families())[family];
  google::bigtable::admin::v2::Table response;
  return admin_->CreateTable(&context, request, &response);
}

grpc::Status Client::Mutate(const std::string& table_id, const std::string& row_key,
                            const std::vector<std::string>& mutations) {
  grpc::ClientContext context;
  google::bigtable::v2::MutateRowRequest request;
  request.set_table_name(TableName(table_id));
  request.set_row_key(row_key);
  for (const std::string& mutation : mutations) Parse(mutation, request.add_mutations());
  google::bigtable::v2::MutateRowResponse response;
  return data_->MutateRow(&context, request, &response);
}

grpc::Status Client::Set(const std::string& table_id, const std::string& row_key,
                         const std::string& column, int64_t micros, const std::string& value) {
  grpc::ClientContext context;
  google::bigtable::v2::MutateRowRequest request;
  request.set_table_name(TableName(table_id));
  request.set_row_key(row_key);
  auto* const set = request.add_mutations()->mutable_set_cell();
  set->set_family_name(column.substr(0, column.find(':')));
  set->set_column_qualifier(column.substr(column.find(':') + 1));
  set->set_timestamp_micros(micros);
  set->set_value(value);
  google::bigtable::v2::MutateRowResponse response;
  return data_->MutateRow(&context, request, &response);
}

std::vector<std::string> Client::Read(const std::string& table_id, const std::string& text,
                                      google::bigtable::v2::ReadRowsResponse* last) {
  grpc::ClientContext context;
  google::bigtable::v2::ReadRowsRequest request;
  Parse(text, &request);
  request.set_table_name(TableName(table_id));
  const auto reader = data_->ReadRows(&context, request);
  RowMerger merger(request.reversed());
  google::bigtable::v2::ReadRowsResponse message;
  while (reader->Read(&message)) {
    merger.Take(message);
    if (last != nullptr) *last = message;
  }
  const grpc::Status status = reader->Finish();
  if (status.ok()) merger.End();
  EXPECT_EQ(merger.errors(), std::vector<std::string>()) << text;
  std::vector<std::string> rows = merger.rows();
  if (!status.ok()) rows.push_back("[" + std::to_string(status.error_code()) + "]");
  return rows;
}

void ServerTest::SetUpTestSuite() {
  directory_ = std::make_unique<ScratchDirectory>();
  // These tests need data to survive a process at most; waiting for the disk would only be slow.
  server_ = std::make_unique<ServerProcess>(directory_->path() + "/db",
                                            std::vector<std::string>{"--durability=process"});
  client_ = std::make_unique<Client>(server_->address());
}

void ServerTest::TearDownTestSuite() {
  client_.reset();
  EXPECT_EQ(server_->Terminate(), 0);
  server_.reset();
  directory_.reset();
}

void ServerTest::SetUp() { ASSERT_NE(server_->address(), ""); }

std::string ServerTest::NewTable() {
  const std::string table_id = "t" + std::to_string(++table_count_);
  EXPECT_TRUE(client_->CreateTable(table_id, {"f", "g"}).ok());
  return table_id;
}

}  // namespace stele::server
