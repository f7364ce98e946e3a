#include "backends/backends.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "stele/remote.h"

namespace stele {
namespace {

constexpr char kEmulator[] = "/usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator";

// Returns the child's output up to the first newline.
std::string FirstLine(int pipe_end) {
  std::string line;
  char c = 0;
  while (read(pipe_end, &c, 1) == 1 && c != '\n') line.push_back(c);
  return line;
}

std::string NewDirectory() {
  std::string path = testing::TempDir() + "stele-backends-XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path;
}

void RemoveDirectory(const std::string& path) {
  std::error_code error;
  if (!path.empty()) std::filesystem::remove_all(path, error);
}

std::string ValueText(std::string_view value) {
  return value.size() <= 40 ? std::string(value) : "<" + std::to_string(value.size()) + " bytes>";
}

}  // namespace

std::string NameOf(Backend backend) {
  switch (backend) {
    case Backend::kMemory:
      return "memory";
    case Backend::kDirectory:
      return "directory";
    case Backend::kSteled:
      return "steled";
    case Backend::kEmulator:
      return "emulator";
  }
  return {};
}

ChildServer::ChildServer(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int error =
      posix_spawn(&pid_, words.front().c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  const std::string line = error == 0 ? FirstLine(ends[0]) : "";
  close(ends[0]);
  address_ = line.substr(line.rfind(' ') + 1);
}

ChildServer::~ChildServer() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  int how = 0;
  waitpid(pid_, &how, 0);
}

int ChildServer::Terminate() {
  if (pid_ == 0) return -1;
  kill(pid_, SIGTERM);
  int how = 0;
  waitpid(std::exchange(pid_, 0), &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

void BackendTest::TearDownTestSuite() {
  steled_.reset();
  emulator_.reset();
  RemoveDirectory(steled_directory_);
  steled_directory_.clear();
}

void BackendTest::SetUp() {
  std::string location = "mem:";
  const std::string instance = "bigtable://p/i" + std::to_string(++instance_count_) + "?endpoint=";
  if (GetParam() == Backend::kDirectory) {
    directory_ = NewDirectory();
    location = directory_ + "/db";
  } else if (GetParam() == Backend::kSteled) {
    const char* const program = std::getenv("STELED_COMMAND");
    ASSERT_NE(program, nullptr) << "STELED_COMMAND is not set: run this through ctest";
    if (steled_ == nullptr) {
      steled_directory_ = NewDirectory();
      steled_ = std::make_unique<ChildServer>(
          std::vector<std::string>{program, "--db", steled_directory_ + "/db", "--listen",
                                   "127.0.0.1:0", "--durability", "process"});
    }
    ASSERT_NE(steled_->address(), "");
    location = instance + steled_->address();
  } else if (GetParam() == Backend::kEmulator) {
    if (!std::filesystem::exists(kEmulator))
      GTEST_SKIP() << "Google's emulator is not installed: " << kEmulator;
    if (emulator_ == nullptr) {
      emulator_ = std::make_unique<ChildServer>(
          std::vector<std::string>{kEmulator, "-host", "127.0.0.1", "-port", "0"});
    }
    ASSERT_NE(emulator_->address(), "");
    location = instance + emulator_->address();
  }
  absl::StatusOr<Database> database =
      location.starts_with("bigtable://") ? remote::Open(location) : Database::Open(location);
  ASSERT_TRUE(database.ok()) << database.status();
  database_ = *std::move(database);
}

void BackendTest::TearDown() {
  database_ = Database();
  RemoveDirectory(directory_);
}

Table BackendTest::NewTable(const std::string& name, Schema schema) {
  // A property states the value type of a family, which the emulator accepts only with the family
  // itself.
  if (!is_emulator() || !schema.properties().empty()) {
    absl::StatusOr<Table> table = database_.CreateTable(name, schema);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? *std::move(table) : Table();
  }
  // The emulator orders families that one call creates arbitrarily.
  Schema without_families;
  without_families.SetGranularity(schema.granularity());
  for (const std::string& split : schema.splits()) without_families.AddSplit(split);
  absl::StatusOr<Table> table = database_.CreateTable(name, without_families);
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return Table();
  for (const FamilySchema& family : schema.families()) {
    const absl::Status created = table->ModifyColumnFamilies({FamilyChange::Create(family)});
    EXPECT_TRUE(created.ok()) << created;
  }
  return *std::move(table);
}

std::string TextOf(const RowView& row) {
  std::string text(row.row_key());
  for (const CellView& cell : row.cells()) {
    text += " " + std::string(cell.family()) + ":" + std::string(cell.qualifier()) + "@" +
            std::to_string(cell.timestamp().micros()) + "=" + ValueText(cell.value());
    for (const std::string& label : cell.labels()) text += "#" + label;
  }
  return row.is_last_piece() ? text : text + " ...";
}

std::vector<std::string> TextsOf(RowReader reader) {
  std::vector<std::string> texts;
  for (const RowView& row : reader) texts.push_back(TextOf(row));
  if (!reader.status().ok()) texts.push_back("[" + CodeOf(reader.status()) + "]");
  return texts;
}

std::string CodeOf(const absl::Status& status) { return absl::StatusCodeToString(status.code()); }

}  // namespace stele
