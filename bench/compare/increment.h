// bench/compare/increment.h: increments of counters, one thread, zipfian.
//
// Counters:  one cell of 8 bytes, big-endian, per row. One version is kept.
// Same data: every counter is compared with the number of its increments. Engines stamp the cells
//            with the time, so the hash excludes timestamps.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/random.h"
#include "contender.h"
#include "measure.h"
#include "scan.h"
#include "tally.h"

namespace stele_compare {

constexpr uint64_t kIncrementsMax = 1'000'000;

template <typename Engine>
class IncrementRunner {
 public:
  // `rows`: the number of counters.
  IncrementRunner(Engine* engine, const WorkloadRun& run, uint64_t rows)
      : engine_(*engine), run_(run), counts_(rows) {
    for (uint64_t i = 0; i < rows; ++i) row_keys_.push_back(RowKeyOf(i));
    stele::cli::BenchRandom random(run.seed);
    stele::cli::RowChooser chooser({.kind = stele::cli::Distribution::Kind::kZipfian}, rows, 0);
    order_.resize(std::min(kIncrementsMax, 10 * rows));
    for (uint32_t& row : order_) {
      row = static_cast<uint32_t>(chooser.Next(&random, rows));
      ++counts_[row];
    }
  }

  absl::Status Run(Figure* figure) {
    Latencies latencies(order_.size());
    const Meter meter;
    for (const uint32_t row : order_) {
      const Clock::time_point start = Clock::now();
      const absl::Status status = engine_.Increment(row_keys_[row]);
      if (!status.ok()) return status;
      latencies.Add(Clock::now() - start);
    }
    figure->seconds = meter.Seconds();
    const absl::Status settled = engine_.Settle();
    figure->settle_seconds = meter.Seconds() - figure->seconds;
    meter.Read(run_.settings.directory, figure);
    latencies.Read(figure);
    figure->operation_count = order_.size();
    figure->user_bytes = order_.size() * UserBytes({row_keys_.front(), {&kCounterOfOne, 1}});
    figure->value = static_cast<double>(figure->operation_count) / figure->seconds;
    return settled.ok() ? Check(figure) : settled;
  }

 private:
  static constexpr CellData kCounterOfOne = {kCounterFamily, kCounterQualifier, 0,
                                             std::string_view("\0\0\0\0\0\0\0\1", kCounterBytes)};

  // Checks that each counter is the number of its increments.
  absl::Status Check(Figure* figure) const {
    Tally expected(Tally::Timestamps::kIgnored);
    for (size_t row = 0; row < counts_.size(); ++row) {
      if (counts_[row] == 0) continue;
      expected.Row(row_keys_[row]);
      expected.Cell(kCounterFamily, kCounterQualifier, 0, EncodedCounter(counts_[row]));
    }
    expected.Finish();
    Tally found(Tally::Timestamps::kIgnored);
    typename Engine::Reader reader(&engine_);
    const absl::Status status = reader.Run({.latest_only = true}, &found);
    if (!status.ok()) return status;
    found.Finish();
    figure->hash = found.hash();
    figure->cell_count = found.cells();
    if (found.hash() == expected.hash() && found.cells() == expected.cells())
      return absl::OkStatus();
    return absl::InternalError("the counters are not the numbers of increments");
  }

  Engine& engine_;
  const WorkloadRun& run_;
  std::vector<std::string> row_keys_;
  std::vector<uint32_t> order_;   // the row of each increment
  std::vector<uint64_t> counts_;  // the increments of each row
};

}  // namespace stele_compare
