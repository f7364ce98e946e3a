// logical/time_order.h: sorts the lines of a logical trace by time.
//
// Errors:    InvalidArgument for a time before that of a line that was passed on.
// Threads:   confined to one thread.
// Memory:    the lines that wait, up to 128 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace stele::internal::lab {

class TimeOrder {
 public:
  using Sink = std::function<void(std::string_view line)>;
  explicit TimeOrder(Sink sink, size_t bytes_max = size_t{128} << 20)
      : sink_(std::move(sink)), bytes_max_(bytes_max) {}

  // Keeps the line. If the kept lines need more than `bytes_max`, passes the earliest ones to the
  // sink. Lines of one time keep their order.
  absl::Status Add(int64_t micros, std::string line);
  // Passes all remaining lines to the sink. Call it at the end.
  void Finish();

  uint64_t count() const { return count_; }  // of the lines that were added

 private:
  struct Waiting {
    int64_t micros;
    uint64_t number;
    std::string line;
  };
  static bool IsLater(const Waiting& a, const Waiting& b);
  void PassOne();

  const Sink sink_;
  const size_t bytes_max_;
  std::vector<Waiting> waiting_;  // a heap: the earliest line is first
  size_t bytes_ = 0;
  uint64_t count_ = 0;
  int64_t passed_micros_ = INT64_MIN;
};

}  // namespace stele::internal::lab
