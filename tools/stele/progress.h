// tools/stele/progress.h: a progress bar on standard error for work that takes longer than a
// second. Prints nothing if standard error is not a terminal.
//
// Threads:   Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stele::cli {

class Progress {
 public:
  // `total` 0: unknown; a count is printed instead of a bar.
  Progress(std::string what, std::string unit, uint64_t total);
  ~Progress() { End(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Set(uint64_t done);
  // Removes the bar from the terminal.
  void End();

 private:
  void Draw(std::chrono::steady_clock::time_point now);

  const std::string what_;
  const std::string unit_;
  const uint64_t total_;
  const bool is_terminal_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_draw_;
  uint64_t done_ = 0;
  bool drawn_ = false;
};

// Draws one bar per phase of a longer work.
class PhaseProgress {
 public:
  void Set(std::string_view phase, uint64_t done, uint64_t total) {
    if (phase != phase_) {
      phase_ = phase;
      progress_ = std::make_unique<Progress>(phase_, "bytes", total);
    }
    progress_->Set(done);
  }
  // Removes the bar from the terminal.
  void End() { progress_.reset(); }

 private:
  std::string phase_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace stele::cli
