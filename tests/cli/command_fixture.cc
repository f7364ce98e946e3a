#include "cli/command_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace stele {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace

bool RunningCommand::AwaitStop() {
  int how = 0;
  if (pid_ == 0 || waitpid(pid_, &how, WUNTRACED) != pid_) return false;
  if (!WIFSTOPPED(how)) pid_ = 0;
  return WIFSTOPPED(how);
}

void RunningCommand::Kill() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

int RunningCommand::EndBy(int signal) {
  return pid_ == 0 || kill(pid_, signal) != 0 || kill(pid_, SIGCONT) != 0 ? 0 : AwaitEnd();
}

int RunningCommand::AwaitEnd() {
  int how = 0;
  if (pid_ == 0 || waitpid(pid_, &how, 0) != pid_) return 0;
  pid_ = 0;
  return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

CommandTest::CommandTest() : directory_(testing::TempDir() + "stele-cli-XXXXXX") {
  if (mkdtemp(directory_.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
}

CommandTest::~CommandTest() {
  std::error_code error;
  std::filesystem::remove_all(directory_, error);
}

std::string CommandTest::Path(std::string_view name) const {
  return directory_ + "/" + std::string(name);
}

std::string CommandTest::WriteFile(std::string_view name, std::string_view bytes) const {
  const std::string path = Path(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

pid_t CommandTest::Spawn(const std::vector<std::string>& args, const std::string& out,
                         const std::string& err, std::vector<std::string> environment) const {
  const char* const program = std::getenv("STELE_COMMAND");
  if (program == nullptr) {
    ADD_FAILURE() << "STELE_COMMAND is not set: run this through ctest";
    return 0;
  }
  std::vector<std::string> words = {program};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  environment.emplace_back("TZ=UTC");
  std::vector<char*> variables;
  for (std::string& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program, &actions, nullptr, argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << program;
  return error == 0 ? pid : 0;
}

CommandResult CommandTest::RunPlain(const std::vector<std::string>& args) const {
  return RunWith(args, {});
}

std::vector<std::string> CommandTest::PathsSynced(const std::vector<std::string>& args) const {
  const char* const library = std::getenv("SYNC_TRACE_LIBRARY");
  EXPECT_NE(library, nullptr) << "run this through ctest";
  const std::string path = Path("sync-trace");
  const CommandResult result =
      RunWith(args, {std::string("LD_PRELOAD=") + (library == nullptr ? "" : library),
                     "STELE_SYNC_TRACE=" + path});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  std::vector<std::string> synced;
  std::ifstream trace(path);
  for (std::string line; std::getline(trace, line);)
    if (line.starts_with("sync ")) synced.push_back(line.substr(5));
  return synced;
}

CommandResult CommandTest::RunWith(const std::vector<std::string>& args,
                                   const std::vector<std::string>& environment) const {
  const std::string out = Path("stdout");
  const std::string err = Path("stderr");
  const pid_t pid = Spawn(args, out, err, environment);
  if (pid == 0) return {};
  int how = 0;
  waitpid(pid, &how, 0);
  return CommandResult{WIFEXITED(how) ? WEXITSTATUS(how) : -1, ReadAll(out), ReadAll(err)};
}

std::unique_ptr<RunningCommand> CommandTest::Start(
    const std::vector<std::string>& args, const std::vector<std::string>& environment) const {
  return std::make_unique<RunningCommand>(
      Spawn(args, Path("stdout-started"), Path("stderr-started"), environment));
}

std::unique_ptr<RunningCommand> CommandTest::StartAndStop(
    int rename_count, const std::vector<std::string>& args) const {
  return StartStopping("STELE_STOP_AT_RENAME=.new " + std::to_string(rename_count), args);
}

std::unique_ptr<RunningCommand> CommandTest::StartAndStopAtOpen(
    const std::string& suffix, int count, const std::vector<std::string>& args) const {
  return StartStopping("STELE_STOP_AT_OPEN=" + suffix + " " + std::to_string(count), args);
}

std::unique_ptr<RunningCommand> CommandTest::StartStopping(
    const std::string& variable, const std::vector<std::string>& args) const {
  const char* const library = std::getenv("STOP_AT_RENAME_LIBRARY");
  EXPECT_NE(library, nullptr) << "run this through ctest";
  return std::make_unique<RunningCommand>(
      Spawn(args, Path("stdout-started"), Path("stderr-started"),
            {std::string("LD_PRELOAD=") + (library == nullptr ? "" : library), variable}));
}

CommandResult CommandTest::Run(const std::vector<std::string>& args) const {
  std::vector<std::string> all = {"--db", database()};
  all.insert(all.end(), args.begin(), args.end());
  return RunPlain(all);
}

std::string CommandTest::Output(const std::vector<std::string>& args) const {
  const CommandResult result = Run(args);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

void CommandTest::ExpectError(const std::vector<std::string>& args, int exit_status,
                              std::string_view text) const {
  const CommandResult result = Run(args);
  EXPECT_EQ(result.exit_status, exit_status) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.rfind("stele: ", 0), 0u) << result.err;
  EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
}

}  // namespace stele
