// read/interruption.h: the reasons to end a read early: its stop token, its deadline, the
// database's Close.
//
// Used by:   read/row_stream.cc and read/row_lookup.cc check it before each row or batch.
// Errors:    Check returns Cancelled, DeadlineExceeded or FailedPrecondition.
// Threads:   confined to the read's thread. Other threads may set the flag and stop the token.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/status.h"

namespace stele::internal {

struct Interruption {
  std::stop_token stop;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::shared_ptr<const std::atomic<bool>> closed;  // set by Database::Close; null: never
  uint32_t checks = 0;                              // so far

  absl::Status Check() {
    // Reading the clock costs about as much as a row of a scan.
    constexpr uint32_t kChecksPerClock = 64;
    if (closed != nullptr && closed->load(std::memory_order_acquire)) {
      return FailedPrecondition(
          "the database was closed while this read was open; open it again and read again");
    }
    if (stop.stop_requested()) return Cancelled("the read was stopped by its stop token");
    if (deadline && checks++ % kChecksPerClock == 0 &&
        std::chrono::steady_clock::now() >= *deadline) {
      return DeadlineExceeded("the read did not finish before its deadline");
    }
    return absl::OkStatus();
  }
};

}  // namespace stele::internal
