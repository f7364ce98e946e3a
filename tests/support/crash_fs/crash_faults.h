// support/crash_fs/crash_faults.h: counts a file system's calls and decides which of them fail.
//
// Used by:   crash_fs/crash_file_system.cc calls it before every call.
// Threads:   thread-compatible; the file system's lock is held.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/crash_fs/crash_policy.h"

namespace stele::internal {

class CrashFaults {
 public:
  struct Outcome {
    bool crashed = false;
    int error_number = 0;
    bool partial = false;
    bool whole = false;
    bool ok() const { return !crashed && error_number == 0 && !partial; }
  };

  uint64_t calls() const { return calls_; }
  uint64_t reads() const { return reads_; }
  bool crashed() const { return crashed_; }

  void SetCrashAtCall(uint64_t call) { crash_at_call_ = call; }
  void FailCall(uint64_t call, Fault fault) {
    planned_.push_back({Planned::Counter::kCalls, CallKind::kCreate, call, 0, std::move(fault)});
  }
  void FailRead(uint64_t read, Fault fault) {
    planned_.push_back({Planned::Counter::kReads, CallKind::kRead, read, 0, std::move(fault)});
  }
  void FailKind(CallKind kind, uint64_t nth, Fault fault) {
    planned_.push_back({Planned::Counter::kKind, kind, nth, 0, std::move(fault)});
  }
  void Clear() { planned_.clear(); }

  // Counts the call, unless it is after the crash.
  Outcome Count(CallKind kind, std::string_view path);

 private:
  struct Planned {
    enum class Counter { kCalls, kReads, kKind };
    Counter counter;
    CallKind kind;
    uint64_t at;
    uint64_t seen;  // kKind: the calls of that kind and path so far
    Fault fault;
  };
  bool Hits(Planned& planned, CallKind kind, std::string_view path) const;

  uint64_t calls_ = 0;
  uint64_t reads_ = 0;
  uint64_t crash_at_call_ = 0;  // 0: never
  bool crashed_ = false;
  std::vector<Planned> planned_;
};

}  // namespace stele::internal
