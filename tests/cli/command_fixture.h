// tests/cli/command_fixture.h: runs the built `stele` on a database of the test's own and hands back what it said.
//
// Needs:     the program's path in STELE_COMMAND, as ctest sets it. Time zone: UTC.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stele {

struct CommandResult {
  int exit_status = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

// One run of the command that was begun and not waited for. Killed with the object.
class RunningCommand {
 public:
  explicit RunningCommand(pid_t pid) : pid_(pid) {}
  ~RunningCommand() { Kill(); }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  // Whether it has ended by itself.
  bool HasEnded();
  // SIGKILL; returns when it is dead.
  void Kill();

 private:
  pid_t pid_;  // 0: waited for
};

class CommandTest : public testing::Test {
 protected:
  CommandTest();
  ~CommandTest() override;

  // stele --db <the test's database> args...
  CommandResult Run(const std::vector<std::string>& args) const;
  // Without --db and without STELE_DB.
  CommandResult RunPlain(const std::vector<std::string>& args) const;
  // Like RunPlain, without waiting for the end.
  std::unique_ptr<RunningCommand> Start(const std::vector<std::string>& args) const;
  // Runs it, expects success and silence on standard error, and answers its output.
  std::string Output(const std::vector<std::string>& args) const;
  // Expects exit status `exit_status`, nothing on standard output, and `text` somewhere in one line that begins with "stele: ".
  void ExpectError(const std::vector<std::string>& args, int exit_status, std::string_view text) const;

  std::string Path(std::string_view name) const;
  std::string WriteFile(std::string_view name, std::string_view bytes) const;
  std::string database() const { return Path("db"); }

 private:
  // The child's pid; 0 if there is none.
  pid_t Spawn(const std::vector<std::string>& args, const std::string& out, const std::string& err) const;

  std::string directory_;
};

}  // namespace stele
