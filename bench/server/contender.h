// bench/server/contender.h: starts the servers in the comparison, and measures the CPU time and
// memory of each.
//
// Threads:   Confined to one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stele_load {

// A server that can be started.
struct Contender {
  std::string name;
  std::string settings;              // its command line, for readers of the figures
  std::vector<std::string> command;  // prints a line that ends in HOST:PORT when it is ready
};

struct Programs {
  std::string steled;
  std::string grpc_server;  // bench/grpc_server
  std::string emulator;
};

// Returns steled with each durability setting, and those of the other programs that exist. Their
// databases are in `directory`.
std::vector<Contender> Contenders(const Programs& programs, const std::string& directory);

struct CpuTime {
  double total_seconds = 0;
  double kernel_seconds = 0;  // a part of the total: in the kernel
};

// A running server. It is killed when the object is destroyed or this process ends.
class RunningServer {
 public:
  explicit RunningServer(const Contender& contender);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  // "HOST:PORT"; "" if the server did not start.
  const std::string& address() const { return address_; }
  // CPU time of all its threads so far. Resolution: a hundredth of a second.
  CpuTime Cpu() const;
  // Peak of resident memory so far.
  uint64_t PeakBytes() const;
  // Waits until the server is almost idle for a while, but at most some seconds. Returns the time
  // that took.
  double Settle() const;

 private:
  pid_t pid_ = 0;
  std::string address_;
};

}  // namespace stele_load
