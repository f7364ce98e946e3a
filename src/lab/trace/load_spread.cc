#include "lab/trace/load_spread.h"

#include <algorithm>
#include <set>

namespace stele::internal::lab {
namespace {

constexpr size_t kBandsMax = 1'000;
constexpr size_t kMultiGetKeysMin = 4;
constexpr uint64_t kRangeKeysMin = 64;
constexpr uint64_t kRangesMin = 10;

}  // namespace

LoadSpread::LoadSpread(const KnownKeys& keys) : keys_(keys) {
  bands_.resize(std::min(kBandsMax, keys.keys().size()));
  begins_.resize(bands_.size());
  ends_.resize(bands_.size() + 1);
}

// Key number i is in band i * bands / keys, rounded down.
size_t LoadSpread::BandOf(std::string_view key) const {
  return keys_.IndexOf(key) * bands_.size() / keys_.keys().size();
}

size_t LoadSpread::BandBefore(std::string_view end) const {
  const auto& keys = keys_.keys();
  const auto at = std::lower_bound(keys.begin(), keys.end(), end);
  const size_t index = at == keys.begin() ? 0 : static_cast<size_t>(at - keys.begin()) - 1;
  return index * bands_.size() / keys.size();
}

void LoadSpread::AddBands(size_t first, size_t last, uint64_t count) {
  if (first > last) return;
  begins_[first] += count;
  ends_[last + 1] += count;
}

void LoadSpread::AddScan(const TraceRecord& record) {
  size_t next = 0;  // each band counts once, also if two ranges are in it
  const auto add = [&](size_t first, size_t last) {
    AddBands(std::max(first, next), last, record.sample);
    next = std::max(next, last + 1);
  };
  const auto end_of = [&](const std::optional<std::string>& end) {
    return end.has_value() && !end->empty() ? BandBefore(*end) : bands_.size() - 1;
  };
  if (!record.has_ranges) {
    const size_t first = BandOf(record.start.value_or(""));
    if (!record.last.has_value()) {
      add(first, end_of(record.end));
    } else if (record.is_reverse) {
      add(BandOf(*record.last), end_of(record.end));
    } else {
      add(first, BandOf(*record.last));
    }
    return;
  }
  for (const TraceRecord::Range& range : record.ranges) {
    size_t first = BandOf(range.start.value_or(""));
    size_t last = end_of(range.end);
    if (record.last.has_value() && record.is_reverse) first = std::max(first, BandOf(*record.last));
    if (record.last.has_value() && !record.is_reverse) last = std::min(last, BandOf(*record.last));
    add(first, last);
  }
}

void LoadSpread::AddMultiGet(const TraceRecord& record) {
  if (record.keys.size() < kMultiGetKeysMin || keys_.count() < kRangeKeysMin * kRangesMin) return;
  const uint64_t kept = keys_.keys().size();
  const uint64_t ranges = std::min(kept, std::max(kRangesMin, keys_.count() / kRangeKeysMin));
  std::set<uint64_t> touched;
  for (const std::string& key : record.keys) touched.insert(keys_.IndexOf(key) * ranges / kept);
  multi_gets_ += record.sample;
  touched_sum_ += static_cast<double>(record.sample) * static_cast<double>(touched.size()) /
                  static_cast<double>(record.keys.size());
}

void LoadSpread::Add(const TraceRecord& record) {
  if (bands_.empty()) return;
  if (record.op == TraceOp::kScan) {
    AddScan(record);
  } else if (record.op == TraceOp::kMget) {
    for (const std::string& key : record.keys) bands_[BandOf(key)] += record.sample;
    AddMultiGet(record);
  } else if (record.op != TraceOp::kDrop && !record.row.empty()) {
    bands_[BandOf(record.row)] += record.sample;
  }
}

void LoadSpread::Finish() {
  uint64_t scans = 0;
  for (size_t band = 0; band < bands_.size(); ++band) {
    scans += begins_[band] - ends_[band];
    bands_[band] += scans;
  }
}

const std::string& LoadSpread::hottest_key() const {
  const auto hottest =
      static_cast<size_t>(std::max_element(bands_.begin(), bands_.end()) - bands_.begin());
  // The first key of a band: the smallest i with i * bands / keys = band.
  const size_t kept = keys_.keys().size();
  return keys_.keys()[(hottest * kept + bands_.size() - 1) / bands_.size()];
}

double LoadSpread::LargestToMean() const {
  double sum = 0;
  for (const uint64_t count : bands_) sum += static_cast<double>(count);
  if (sum == 0) return 0;
  return static_cast<double>(*std::max_element(bands_.begin(), bands_.end())) *
         static_cast<double>(bands_.size()) / sum;
}

// 2 * sum(i * x_i) / (n * sum(x)) - (n + 1) / n, with x ascending and i from 1.
double LoadSpread::Gini() const {
  std::vector<uint64_t> sorted = bands_;
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  double weighted = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += static_cast<double>(sorted[i]);
    weighted += static_cast<double>(i + 1) * static_cast<double>(sorted[i]);
  }
  const auto count = static_cast<double>(sorted.size());
  return sum == 0 ? 0 : 2 * weighted / (count * sum) - (count + 1) / count;
}

}  // namespace stele::internal::lab
