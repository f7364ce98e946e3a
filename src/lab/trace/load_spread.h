// trace/load_spread.h: how the operations on a table are spread over its known keys.
//
// Threads:   confined to one thread.
// Memory:    24 KiB, and the bands that a MultiGet touches.
// Source:    docs/lab/lint.md, "Bands".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/trace/known_keys.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

class LoadSpread {
 public:
  // `keys` is finished, and must outlive the object.
  explicit LoadSpread(const KnownKeys& keys);

  void Add(const TraceRecord& record);
  // Call it after the last operation.
  void Finish();

  uint64_t known_keys() const { return keys_.count(); }
  // The operations in each band. Each band has an equal share of the known keys. A scan counts in
  // every band that it reads.
  const std::vector<uint64_t>& bands() const { return bands_; }
  // The first known key of the band with the most operations.
  const std::string& hottest_key() const;
  // The operations of the hottest band, divided by those of the mean band. 0 without operations.
  double LargestToMean() const;
  // The Gini coefficient of the bands: 0 if all are equal.
  double Gini() const;

  // The MultiGets of four or more keys. touched_sum() adds, for each of them, the number of ranges
  // that it reads divided by the number of its keys. The ranges divide the known keys evenly, with
  // 64 or more keys each. Both are 0 if fewer than 640 keys are known.
  uint64_t multi_gets() const { return multi_gets_; }
  double touched_sum() const { return touched_sum_; }

 private:
  size_t BandOf(std::string_view key) const;
  // The band of the greatest known key below `end`.
  size_t BandBefore(std::string_view end) const;
  void AddBands(size_t first, size_t last, uint64_t count);
  void AddScan(const TraceRecord& record);
  void AddMultiGet(const TraceRecord& record);

  const KnownKeys& keys_;
  std::vector<uint64_t> bands_;
  std::vector<uint64_t> begins_;  // scans whose first band this is
  std::vector<uint64_t> ends_;    // scans whose last band is the one before
  uint64_t multi_gets_ = 0;
  double touched_sum_ = 0;
};

}  // namespace stele::internal::lab
