// support/crash_child.h: a test of this same program run in a process of its own, to be killed; and a directory that goes with the test.
//
// Path:      a parent test makes ChildProcess("Suite.Test", directory); that test asks IsChild() and tells the parent lines.
// Threads:   thread-compatible; Tell may be called from several threads (each call is one write).
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace stele::internal {

class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ChildProcess {
 public:
  ChildProcess(std::string_view test, const std::string& directory);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The next whole line, without its end; "" when the child is gone.
  std::string ReadLine();
  // SIGKILL; returns when it is dead. What it told before can still be read.
  void Kill();

  // In the child.
  static bool IsChild();
  static std::string Directory();
  static void Tell(std::string_view line);
  [[noreturn]] static void WaitForEver();

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string read_;
};

}  // namespace stele::internal
