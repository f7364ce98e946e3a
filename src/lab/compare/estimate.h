// compare/estimate.h: estimates the size of an instance of Cloud Bigtable from the figures of a
// comparison.
//
// Units:     bytes with decimal prefixes: a MB is 1,000,000 bytes.
// Threads:   Pure functions.
// Source:    cloud.google.com/bigtable/docs/performance, of November 2026: a node with SSD storage,
//            rows of 1 KB.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {

// The rate of an estimate if neither the file nor a logical trace has one: that of `trace synth`.
inline constexpr double kEstimateRateDefault = 1000;

// A node's rows per second are rows of 1,000 bytes: a larger row counts as several.
inline uint64_t RowUnits(uint64_t bytes) {
  constexpr uint64_t kUnitBytes = 1000;
  return (bytes + kUnitBytes - 1) / kUnitBytes;
}

// What the operations of a comparison did to a table.
struct LoadCounts {
  uint64_t operations = 0;
  uint64_t point_rows = 0;     // rows read by their keys; see RowUnits
  uint64_t scans = 0;          // requests
  uint64_t scanned_bytes = 0;  // of all rows that the scans passed
  uint64_t written_rows = 0;   // see RowUnits
  uint64_t table_bytes = 0;    // on disk
};

// Errors: InvalidArgument for a number that is not from 1e-9 to 1e15, a target above 1, and only
// one price.
absl::Status CheckEstimateSettings(const stele::lab::EstimateSettings& settings);

stele::lab::CompareReport::Estimate EstimateOf(const stele::lab::EstimateSettings& settings,
                                               double operations_per_second,
                                               const LoadCounts& counts);

}  // namespace stele::internal::lab
