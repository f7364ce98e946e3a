// tools/stele/replay/pace.h: when the operations of a trace are due: the flag --rate.
//
// Threads:   A plain value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace stele::cli {

class Pace {
 public:
  // A closed loop: an operation begins when the one before it has ended.
  static Pace Max() { return {}; }
  // An open loop at the recorded times.
  static Pace Recorded();
  // Parses "recorded", a factor such as "2x", operations per second such as "500/s", or "max".
  // Errors: a usage error.
  static absl::StatusOr<Pace> Parse(const std::string& text);

  bool is_open_loop() const { return speed_.has_value() || rate_.has_value(); }
  bool needs_times() const { return speed_.has_value(); }
  // Returns when an operation is due in an open loop, after the start: at most 100 years.
  // `number`: of the operations before it. `micros`: its recorded time after that of the first one.
  std::chrono::nanoseconds DueAfter(uint64_t number, int64_t micros) const;
  // "open loop at the recorded times", "open loop, 500 operations/s", "closed loop".
  std::string Text() const;

 private:
  std::optional<double> speed_;  // the recorded times, so many times as fast
  std::optional<double> rate_;   // operations per second
};

}  // namespace stele::cli
