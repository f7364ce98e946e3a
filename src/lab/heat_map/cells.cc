#include "lab/heat_map/cells.h"

#include <algorithm>

namespace stele::internal::lab {
namespace {

bool HasSeenRatio(const TraceRecord& record) {
  return record.rows_seen.has_value() && record.rows_returned.has_value();
}

void AddToCounts(std::vector<double>* values, size_t first, size_t count, double value) {
  if (values->empty() || value == 0) return;
  for (size_t i = first; i < first + count; ++i) (*values)[i] += value;
}

}  // namespace

void MetricSet::Add(const TraceRecord& record) {
  has_rows = has_rows || record.rows_returned.has_value();
  has_bytes = has_bytes || record.bytes.has_value();
  has_latency = has_latency || record.latency_micros.has_value();
  has_seen_ratio = has_seen_ratio || HasSeenRatio(record);
}

Cells::Cells(size_t bands, uint64_t steps, const MetricSet& metrics) : bands_(bands) {
  const size_t count = bands * steps;
  for (std::vector<double>* const values : {&ops, &reads, &writes}) values->resize(count);
  if (metrics.has_rows) rows.resize(count);
  if (metrics.has_bytes) bytes.resize(count);
  if (metrics.has_latency) latency.resize(count);
  if (!metrics.has_seen_ratio) return;
  seen_ratio.resize(count);
  rows_returned_.resize(count);
}

void Cells::Add(const TraceRecord& record, uint64_t step, const BandRange& bands, double share) {
  const size_t first = step * bands_ + bands.first;
  const size_t count = bands.last - bands.first + 1;
  const auto sample = static_cast<double>(record.sample);
  const double part = sample * share / static_cast<double>(count);
  AddToCounts(&ops, first, count, sample);
  AddToCounts(record.is_read() ? &reads : &writes, first, count, sample);
  AddToCounts(&rows, first, count, static_cast<double>(record.rows_returned.value_or(0)) * part);
  AddToCounts(&bytes, first, count, static_cast<double>(record.bytes.value_or(0)) * part);
  if (HasSeenRatio(record)) {
    AddToCounts(&seen_ratio, first, count, static_cast<double>(*record.rows_seen) * part);
    AddToCounts(&rows_returned_, first, count, static_cast<double>(*record.rows_returned) * part);
  }
  if (!record.latency_micros.has_value() || latency.empty()) return;
  const auto micros = static_cast<double>(*record.latency_micros);
  for (size_t i = first; i < first + count; ++i) latency[i] = std::max(latency[i], micros);
}

void Cells::Finish() {
  // If no row was returned, the ratio is the number of rows seen.
  for (size_t i = 0; i < rows_returned_.size(); ++i)
    if (rows_returned_[i] > 0) seen_ratio[i] /= rows_returned_[i];
  std::vector<double>().swap(rows_returned_);
}

}  // namespace stele::internal::lab
