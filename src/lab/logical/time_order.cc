#include "lab/logical/time_order.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

// Returns the memory of a waiting line, with its text.
size_t WaitingBytes(const std::string& line) { return 64 + line.capacity(); }

}  // namespace

bool TimeOrder::IsLater(const Waiting& a, const Waiting& b) {
  return a.micros != b.micros ? a.micros > b.micros : a.number > b.number;
}

absl::Status TimeOrder::Add(int64_t micros, std::string line) {
  if (micros < passed_micros_) {
    return InvalidArgument(
        "the time is before that of an operation more than {} MiB further up: sort the records",
        bytes_max_ >> 20);
  }
  bytes_ += WaitingBytes(line);
  waiting_.push_back({.micros = micros, .number = count_++, .line = std::move(line)});
  std::push_heap(waiting_.begin(), waiting_.end(), IsLater);
  while (bytes_ > bytes_max_) PassOne();
  return absl::OkStatus();
}

void TimeOrder::PassOne() {
  std::pop_heap(waiting_.begin(), waiting_.end(), IsLater);
  const Waiting& first = waiting_.back();
  passed_micros_ = first.micros;
  bytes_ -= WaitingBytes(first.line);
  sink_(first.line);
  waiting_.pop_back();
}

void TimeOrder::Finish() {
  while (!waiting_.empty()) PassOne();
}

}  // namespace stele::internal::lab
