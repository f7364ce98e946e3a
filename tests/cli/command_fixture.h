// tests/cli/command_fixture.h: runs the built `stele` on a new database and returns its output.
//
// Needs:     the program's path in STELE_COMMAND, which ctest sets. The time zone is UTC.
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

// A run of the command in the background. It is killed when the object is destroyed.
class RunningCommand {
 public:
  explicit RunningCommand(pid_t pid) : pid_(pid) {}
  ~RunningCommand() { Kill(); }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  // Waits until the command stops itself (tests/preload/stop_at_rename.cc). Returns false if it
  // ends before.
  bool AwaitStop();
  // Sends SIGKILL and waits until the process is dead.
  void Kill();
  // Sends a signal, continues a command that stopped, and waits for the end. Returns the signal
  // that ended the process; 0: none.
  int EndBy(int signal);
  // Waits for the end. Returns the signal that ended the process; 0: none.
  int AwaitEnd();

 private:
  pid_t pid_;  // 0: no child to wait for
};

class CommandTest : public testing::Test {
 protected:
  CommandTest();
  ~CommandTest() override;

  // Runs stele --db <the test's database> args...
  CommandResult Run(const std::vector<std::string>& args) const;
  // Runs without --db and without STELE_DB.
  CommandResult RunPlain(const std::vector<std::string>& args) const;
  // Like RunPlain. Expects success, and returns the files and directories that the command synced
  // (tests/preload/sync_trace.cc), without symbolic links.
  std::vector<std::string> PathsSynced(const std::vector<std::string>& args) const;
  // Like RunPlain, without waiting for the end, and with more variables NAME=VALUE.
  std::unique_ptr<RunningCommand> Start(const std::vector<std::string>& args,
                                        const std::vector<std::string>& environment) const;
  // Like RunPlain, without waiting for the end.
  // The command stops itself when it has renamed `rename_count` files that end with ".new".
  std::unique_ptr<RunningCommand> StartAndStop(int rename_count,
                                               const std::vector<std::string>& args) const;
  // The command stops itself when it has opened `count` files whose names end with `suffix`.
  std::unique_ptr<RunningCommand> StartAndStopAtOpen(const std::string& suffix, int count,
                                                     const std::vector<std::string>& args) const;
  // Runs it, expects success and an empty standard error, and returns standard output.
  std::string Output(const std::vector<std::string>& args) const;
  // Expects exit status `exit_status`, an empty standard output, and `text` in one line of standard
  // error that begins with "stele: ".
  void ExpectError(const std::vector<std::string>& args, int exit_status,
                   std::string_view text) const;

  std::string Path(std::string_view name) const;
  std::string WriteFile(std::string_view name, std::string_view bytes) const;
  std::string database() const { return Path("db"); }

 private:
  CommandResult RunWith(const std::vector<std::string>& args,
                        const std::vector<std::string>& environment) const;
  // Starts it with a variable of tests/preload/stop_at_rename.cc.
  std::unique_ptr<RunningCommand> StartStopping(const std::string& variable,
                                                const std::vector<std::string>& args) const;
  // Returns the child's pid, or 0 if it could not start.
  // `environment` is added to TZ, which is the only other variable.
  pid_t Spawn(const std::vector<std::string>& args, const std::string& out, const std::string& err,
              std::vector<std::string> environment = {}) const;

  std::string directory_;
};

}  // namespace stele
