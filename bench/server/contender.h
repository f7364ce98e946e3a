// server/contender.h: the servers that are compared: how each is started, and what it costs while it runs.
//
// Threads:   confined to one.
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
  std::vector<std::string> command;  // it prints a line that ends in HOST:PORT once it serves
};

// steled with each durability, its databases in `directory`, and the emulator where `emulator` is a program.
std::vector<Contender> Contenders(const std::string& steled, const std::string& emulator, const std::string& directory);

// One that runs. Killed with the object, or when this process ends.
class RunningServer {
 public:
  explicit RunningServer(const Contender& contender);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  // "HOST:PORT"; "" if it did not come up.
  const std::string& address() const { return address_; }
  // Of all its threads so far, to the hundredth of a second.
  double CpuSeconds() const;
  // The most memory that was resident so far.
  uint64_t PeakBytes() const;
  // Returns when it has done next to nothing for a while, or after some seconds. How long that took.
  double Settle() const;

 private:
  pid_t pid_ = 0;
  std::string address_;
};

}  // namespace stele_load
