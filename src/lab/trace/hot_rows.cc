#include "lab/trace/hot_rows.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"

namespace stele::internal::lab {
namespace {

constexpr int64_t kMinuteMicros = 60'000'000;
constexpr int kSustainedMinutes = 3;
constexpr size_t kBusyRowsMax = 65'536;
constexpr size_t kHotRowsMax = 131'072;

}  // namespace

void HotRows::StartMinute(int64_t minute) {
  if (minute == minute_ + 1) {
    busy_before_ = std::move(busy_);
  } else {
    busy_before_.clear();
  }
  busy_.clear();
  counts_.Clear();
  exact_counts_.clear();
  minute_ = minute;
}

SpaceSaving::Estimate HotRows::Count(uint64_t row, uint64_t count) {
  if (!is_recount_) return counts_.Add(row, count);
  if (candidates_.count(row) == 0) return {};
  return {.count = exact_counts_[row] += count};
}

HotRows::Busy HotRows::NoteBusy(uint64_t row, bool is_exact) {
  const auto known = busy_.find(row);
  if (known != busy_.end()) {
    known->second.is_exact = known->second.is_exact && is_exact;
    return known->second;
  }
  const auto before = busy_before_.find(row);
  Busy busy = before == busy_before_.end() ? Busy() : before->second;
  ++busy.minutes;
  busy.is_exact = busy.is_exact && is_exact;
  if (busy_.size() < kBusyRowsMax) busy_.emplace(row, busy);
  return busy;
}

void HotRows::Add(int64_t micros, const std::string& row, uint64_t count) {
  if (micros / kMinuteMicros != minute_) StartMinute(micros / kMinuteMicros);
  const uint64_t hash = Checksum64(row);
  const SpaceSaving::Estimate estimate = Count(hash, count);
  const auto writes = static_cast<double>(estimate.count);
  Busy busy;
  if (writes > sustained_max_) busy = NoteBusy(hash, estimate.error == 0);
  const bool is_above = writes > minute_max_;
  if (!is_above && busy.minutes < kSustainedMinutes) return;
  if (is_above) is_only_sustained_ = false;
  if (estimate.error > 0 || (!is_above && !busy.is_exact)) needs_recount_ = true;
  largest_ = std::max(largest_, estimate.count);
  if (hot_.size() < kHotRowsMax && hot_.insert(hash).second) rows_.Add(row);
}

void HotRows::Recount() {
  candidates_ = std::move(hot_);
  hot_.clear();
  minute_ = -1;
  StartMinute(-1);
  rows_ = {};
  largest_ = 0;
  is_only_sustained_ = true;
  needs_recount_ = false;
  is_recount_ = true;
}

}  // namespace stele::internal::lab
