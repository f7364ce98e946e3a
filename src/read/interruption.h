// read/interruption.h: what ends a read early: its stop token, its deadline, the database's Close.
//
// Path:      row_stream, row_lookup ask before each row or batch.
// Errors:    Check answers Cancelled, DeadlineExceeded or FailedPrecondition.
// Threads:   confined to the read's thread; the flag, and whoever stops the token, may be on another.
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
    constexpr uint32_t kChecksPerClock = 64;  // reading the clock costs about as much as a row of a scan
    if (closed != nullptr && closed->load(std::memory_order_acquire)) {
      return FailedPrecondition("the database was closed while this read was open; open it again and read again");
    }
    if (stop.stop_requested()) return Cancelled("the read was stopped by its stop token");
    if (deadline && checks++ % kChecksPerClock == 0 && std::chrono::steady_clock::now() >= *deadline) {
      return DeadlineExceeded("the read did not finish before its deadline");
    }
    return absl::OkStatus();
  }
};

}  // namespace stele::internal
