#include "lab/heat_map/table_map.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/heat_map/complete_map.h"
#include "lab/heat_map/touched_bands.h"
#include "lab/values/number_text.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;

constexpr uint64_t kStepsMax = 20'000;

std::vector<HeatMap::Band> BandsOfMap(const Bands& bands) {
  std::vector<HeatMap::Band> all(bands.size());
  for (size_t i = 0; i < bands.size(); ++i) {
    all[i] = {.start = bands.start(i), .keys = bands.keys(i)};
    if (i + 1 < bands.size()) all[i].end = bands.start(i + 1);
  }
  return all;
}

}  // namespace

void TableMap::NoteOperation(const TraceRecord& record) {
  first_ = has_operations_ ? std::min(first_, record.micros) : record.micros;
  last_ = has_operations_ ? std::max(last_, record.micros) : record.micros;
  has_operations_ = true;
  metrics_.Add(record);
}

void TableMap::AddKnownKey(std::string_view key) {
  bands_->AddKnownKey(key);
  if (!tablets_.empty()) ++tablets_[TabletOf(key)].keys;
}

void TableMap::NoteRow(std::string_view row, uint64_t operations) {
  if (operations == 0 || operations < hottest_operations_) return;
  hottest_row_ = row;
  hottest_operations_ = operations;
}

absl::Status TableMap::BeginCells(const stele::lab::HeatMapOptions& options) {
  if (!has_operations_ && options.from.has_value()) {
    first_ = std::max<int64_t>(0, options.from->micros());
    last_ = first_;
  }
  const int64_t width = options.step.count();
  steps_ =
      width == 0 ? ChooseSteps(first_, last_, options.columns) : StepsOfWidth(first_, last_, width);
  if (steps_.count <= kStepsMax) return absl::OkStatus();
  return internal::InvalidArgument(
      "table {}: {} steps, at most {}; choose a longer step, or operations of a shorter time",
      internal::Printable(table_), WithCommas(steps_.count), WithCommas(kStepsMax));
}

size_t TableMap::TabletOf(std::string_view row) const {
  const auto after = std::upper_bound(
      tablets_.begin() + 1, tablets_.end(), row,
      [](std::string_view key, const TabletLoad& tablet) { return key < tablet.start; });
  return static_cast<size_t>(after - tablets_.begin()) - 1;
}

void TableMap::CountPoint(const TraceRecord& record, uint64_t step, const std::string& row,
                          double share) {
  const size_t band = bands_->BandOf(row);
  cells_->Add(record, step, {.first = band, .last = band}, share);
  if (!tablets_.empty()) tablets_[TabletOf(row)].operations += static_cast<double>(record.sample);
}

void TableMap::CountRanges(const TraceRecord& record, uint64_t step) {
  const std::vector<BandRange> touched = TouchedBands(*bands_, record);
  size_t sum = 0;
  for (const BandRange& range : touched) sum += range.last - range.first + 1;
  for (const BandRange& range : touched) {
    const size_t size = range.last - range.first + 1;
    cells_->Add(record, step, range, static_cast<double>(size) / static_cast<double>(sum));
    if (tablets_.empty()) continue;
    for (size_t band = range.first; band <= range.last; ++band)
      tablets_[tablet_of_band_[band]].operations += static_cast<double>(record.sample);
  }
  if (record.op == TraceOp::kScan && 2 * sum >= bands_->size()) full_scans_ += record.sample;
}

void TableMap::Count(const TraceRecord& record) {
  if (record.micros < steps_.start) return;
  const uint64_t step = steps_.StepOf(record.micros);
  if (step >= steps_.count) return;
  if (!tablets_.empty() && tablet_of_band_.empty())
    for (size_t band = 0; band < bands_->size(); ++band)
      tablet_of_band_.push_back(TabletOf(bands_->first_key(band)));
  if (!record.is_point()) {
    CountRanges(record, step);
  } else if (record.op == TraceOp::kMget) {
    for (const std::string& key : record.keys)
      CountPoint(record, step, key, 1 / static_cast<double>(record.keys.size()));
  } else {
    CountPoint(record, step, record.row, 1);
  }
}

HeatMap TableMap::Finish(std::string title, uint64_t keys_per_known_key) {
  cells_->Finish();
  HeatMap::Parts parts = {.table = table_,
                          .title = std::move(title),
                          .start_micros = steps_.start,
                          .step_micros = steps_.width,
                          .steps = steps_.count,
                          .bands = BandsOfMap(*bands_),
                          .hottest_row = hottest_row_,
                          .hottest_operations = hottest_operations_,
                          .keys_per_known_key = keys_per_known_key};
  for (auto& [metric, values] : {std::pair(HeatMetric::kOps, &cells_->ops),
                                 {HeatMetric::kReads, &cells_->reads},
                                 {HeatMetric::kWrites, &cells_->writes},
                                 {HeatMetric::kRows, &cells_->rows},
                                 {HeatMetric::kBytes, &cells_->bytes},
                                 {HeatMetric::kLatency, &cells_->latency},
                                 {HeatMetric::kSeenRatio, &cells_->seen_ratio}})
    if (!values->empty()) parts.values.emplace(metric, std::move(*values));
  cells_.reset();
  const PatternFacts facts = {.hottest_band = bands_->BandOf(hottest_row_),
                              .full_scans = full_scans_,
                              .tablets = std::move(tablets_)};
  return CompleteMap(std::move(parts), facts);
}

}  // namespace stele::internal::lab
