#include "support/crash_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace stele::internal {
namespace {

constexpr const char* kDirectoryVariable = "STELE_CHILD_DIRECTORY";
constexpr const char* kPipeVariable = "STELE_CHILD_PIPE";

}  // namespace

ScratchDirectory::ScratchDirectory() {
  std::string path = (std::filesystem::temp_directory_path() / "stele-test-XXXXXX").string();
  if (::mkdtemp(path.data()) != nullptr) path_ = path;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

ChildProcess::ChildProcess(std::string_view test, const std::string& directory) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  pipe_ = ends[0];
  const int inherited = ::dup(ends[1]);  // without O_CLOEXEC
  const std::string filter = fmt::format("--gtest_filter={}", test);
  const std::string directory_variable = fmt::format("{}={}", kDirectoryVariable, directory);
  const std::string pipe_variable = fmt::format("{}={}", kPipeVariable, inherited);
  std::string program = "/proc/self/exe";
  std::vector<char*> arguments = {program.data(), const_cast<char*>(filter.c_str()), nullptr};
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.push_back(*variable);
  environment.push_back(const_cast<char*>(directory_variable.c_str()));
  environment.push_back(const_cast<char*>(pipe_variable.c_str()));
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(),
                    environment.data()) != 0)
    pid_ = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(inherited);
  ::close(ends[1]);
}

ChildProcess::~ChildProcess() {
  Kill();
  if (pipe_ >= 0) ::close(pipe_);
}

std::string ChildProcess::ReadLine() {
  size_t end = read_.find('\n');
  while (end == std::string::npos) {
    char bytes[4096];
    const ssize_t count = ::read(pipe_, bytes, sizeof(bytes));
    if (count <= 0) return "";
    read_.append(bytes, static_cast<size_t>(count));
    end = read_.find('\n');
  }
  std::string line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

void ChildProcess::Kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
}

bool ChildProcess::IsChild() { return std::getenv(kPipeVariable) != nullptr; }

std::string ChildProcess::Directory() {
  const char* directory = std::getenv(kDirectoryVariable);
  return directory == nullptr ? "" : directory;
}

void ChildProcess::Notify(std::string_view line) {
  const char* pipe = std::getenv(kPipeVariable);
  if (pipe == nullptr || ::write(std::atoi(pipe), line.data(), line.size()) < 0) std::_Exit(1);
}

void ChildProcess::WaitForEver() {
  for (;;) ::pause();
}

}  // namespace stele::internal
