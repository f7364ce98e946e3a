// tools/stele/compare/estimate.h: estimates the size of an instance of Cloud Bigtable from the
// figures of a comparison.
//
// Units:     bytes with decimal prefixes: a MB is 1,000,000 bytes.
// Threads:   Pure functions.
// Source:    cloud.google.com/bigtable/docs/performance, of November 2026: a node with SSD storage,
//            rows of 1 KB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace stele::cli {

// The limits of a node, and the needs of the application.
struct EstimateSettings {
  double reads = 17'000;  // rows per second
  double writes = 14'000;
  double scan_mb = 220;   // per second
  double storage_tb = 5;  // per node
  double target = 0.7;    // the share of a node that is used; at most 1

  std::optional<double> rate;  // operations per second of the whole workload
  double data_factor = 1;      // how many times the data of the comparison

  // Prices, in any currency.
  std::optional<double> node_hour;
  std::optional<double> gb_month;  // of storage

  bool has_prices() const { return node_hour.has_value() && gb_month.has_value(); }
};

// Reads a YAML file whose members are named as those of EstimateSettings.
// Errors: InvalidArgument with "FILE:LINE:COLUMN: what" for unknown members, and numbers that are
// not positive; those of the file.
absl::StatusOr<EstimateSettings> ReadEstimateFile(const std::string& path);

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

struct Estimate {
  double reads = 0;  // per second; a scan counts as one, too
  double writes = 0;
  double scan_mb = 0;
  double storage_gb = 0;
  double load = 0;  // in nodes that are used completely
  uint64_t nodes = 1;
  std::optional<double> month_price;
};

// `rate`: operations per second.
Estimate EstimateOf(const EstimateSettings& settings, double rate, const LoadCounts& counts);

}  // namespace stele::cli
