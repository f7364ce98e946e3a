#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "fmt/format.h"

namespace stele::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::seconds kQuiet{1};
constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

Progress::Progress(std::string what, std::string unit, uint64_t total)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      next_draw_(start_ + kQuiet) {}

void Progress::Set(uint64_t done) {
  done_ = done;
  if (!is_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + kRedraw;
  Draw(now);
}

void Progress::Draw(std::chrono::steady_clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  std::string line = fmt::format("\r{} ", what_);
  if (total_ > 0) {
    const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    const int filled = static_cast<int>(part * kBarWidth);
    line +=
        fmt::format("[{:#<{}}{:.<{}}] {:3.0f}% ", "", filled, "", kBarWidth - filled, part * 100);
  }
  line += fmt::format("{} {} ({:.0f}/s)\x1b[K", done_, unit_, rate);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::End() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace stele::cli
