// heat_map/cells.h: the counts of a heat map by band and step.
//
// Threads:   confined to one thread.
// Memory:    8 bytes per cell for each metric that the trace has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/heat_map/bands.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

// The metrics of a trace besides ops, reads and writes.
struct MetricSet {
  bool has_rows = false;
  bool has_bytes = false;
  bool has_latency = false;
  bool has_seen_ratio = false;

  void Add(const TraceRecord& record);
};

class Cells {
 public:
  Cells(size_t bands, uint64_t steps, const MetricSet& metrics);

  // Counts the operation in each band of a range, as often as its sample says. Spreads `share` of
  // its rows and bytes evenly over the range. `share` is less than 1 for one of several keys or
  // ranges of the operation.
  void Add(const TraceRecord& record, uint64_t step, const BandRange& bands, double share);
  // Divides rows_seen by rows_returned. Must follow the last Add().
  void Finish();

  // The values by step and band: of step 0 those of all bands, and so on. Empty: not in the trace.
  std::vector<double> ops;
  std::vector<double> reads;
  std::vector<double> writes;
  std::vector<double> rows;
  std::vector<double> bytes;
  std::vector<double> latency;
  std::vector<double> seen_ratio;

 private:
  const size_t bands_;
  std::vector<double> rows_returned_;
};

}  // namespace stele::internal::lab
