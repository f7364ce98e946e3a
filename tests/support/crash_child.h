// tests/support/crash_child.h: runs a test of the same program in a child process that can be
// killed. Also a directory that is deleted when the test ends.
//
// Use:       A parent test constructs ChildProcess("Suite.Test", directory). The test in the child
//            checks IsChild() and sends lines to the parent with Notify.
// Threads:   Thread-compatible. In the child, Notify may be called from several threads; each call
//            is one write.
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
  // Waits for the next whole line and returns it without its newline. Returns "" when the child has
  // exited.
  std::string ReadLine();
  // Sends SIGKILL and waits until the child is dead. Lines that it sent before can still be read.
  void Kill();

  // These functions are for the child.
  static bool IsChild();
  static std::string Directory();
  static void Notify(std::string_view line);
  [[noreturn]] static void WaitForEver();

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string read_;
};

}  // namespace stele::internal
