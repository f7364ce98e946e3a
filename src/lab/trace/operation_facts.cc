#include "lab/trace/operation_facts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "lab/trace/prefix_scans.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kOrderedRowsMax = 200'000;
constexpr size_t kOrderedBytesMax = size_t{16} << 20;
constexpr size_t kBatchesMax = 50'000;
constexpr size_t kBatchBytesMax = size_t{4} << 20;
constexpr size_t kColumnNamesMax = 20'000;
constexpr size_t kColumnBytesMax = size_t{4} << 20;
constexpr size_t kFamilyNamesMax = 1'000;
constexpr size_t kFamilyBytesMax = size_t{64} << 10;
constexpr uint16_t kOtherFamily = UINT16_MAX;
constexpr size_t kTagsMax = 1'000;
constexpr size_t kTagBytesMax = 256;

// An empty bound is no bound.
std::string_view BoundOf(const std::optional<std::string>& bound) {
  return bound.has_value() ? std::string_view(*bound) : std::string_view();
}

// Returns true if the range of a scan, or its ranges together, are the whole table.
bool CoversTable(const TraceRecord& scan) {
  if (!scan.has_ranges)
    return BoundOf(scan.start).empty() && BoundOf(scan.end).empty() && scan.keys.empty();
  std::vector<std::pair<std::string_view, std::string_view>> ranges;
  ranges.reserve(scan.ranges.size());
  for (const TraceRecord::Range& range : scan.ranges)
    ranges.emplace_back(BoundOf(range.start), BoundOf(range.end));
  std::sort(ranges.begin(), ranges.end());
  std::string_view covered_end;  // the ranges so far have all rows before it
  for (const auto& [start, end] : ranges) {
    if (start > covered_end) return false;
    if (end.empty()) return true;
    covered_end = std::max(covered_end, end);
  }
  return false;
}

}  // namespace

void WriteOrder::Add(const std::string& row) {
  if (rows_.size() >= kOrderedRowsMax || bytes_ >= kOrderedBytesMax) return;
  if (!seen_.insert(row).second) return;
  if (rows_.empty()) smallest_ = largest_ = row;
  if (row > largest_) {
    ++above_;
    largest_ = row;
  } else if (row < smallest_) {
    ++below_;
    smallest_ = row;
  }
  bytes_ += 2 * row.size();
  rows_.push_back(row);
}

double WriteOrder::MonotoneShare() const {
  return rows_.size() < 2 ? 0
                          : static_cast<double>(std::max(above_, below_)) /
                                static_cast<double>(rows_.size() - 1);
}

// All rows are different, so there are no ties: 1 - 6 * sum(d * d) / (n * (n * n - 1)).
double WriteOrder::RankCorrelation() const {
  const auto count = static_cast<double>(rows_.size());
  if (rows_.size() < 2) return 0;
  std::vector<size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rows_[a] < rows_[b]; });
  double sum = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const double distance = static_cast<double>(rank) - static_cast<double>(order[rank]);
    sum += distance * distance;
  }
  return std::abs(1 - 6 * sum / (count * (count * count - 1)));
}

void OperationFacts::Add(const TraceRecord& record) {
  operations_ += record.sample;
  if (record.cells.has_value() && !record.is_read())
    large_mutations_.Check(*record.cells, limits_.mutation_cells, record.row);
  if (record.is_read()) AddRead(record);
  if (record.op == TraceOp::kScan) AddScan(record);
  if (record.is_row_write()) AddWrite(record);
  spread_.Add(record);
}

void OperationFacts::Recount(const TraceRecord& record) {
  if (record.is_row_write()) hot_rows_.Add(record.micros, record.row, record.sample);
}

void OperationFacts::AddRead(const TraceRecord& record) {
  reads_ += record.sample;
  if (record.filter.empty()) {
    unfiltered_reads_ += record.sample;
  } else if (record.cells_seen.has_value()) {
    filtered_reads_ += record.sample;
    filtered_cells_seen_ += *record.cells_seen;
    filtered_cells_returned_ += record.cells_returned.value_or(0);
  }
  AddFamilies(record);
}

void OperationFacts::AddFamilies(const TraceRecord& record) {
  std::set<uint16_t> places;
  if (record.families.has_value()) {
    for (const std::string& name : *record.families) {
      auto known = family_places_.find(name);
      if (known == family_places_.end() && family_names_.size() < kFamilyNamesMax &&
          family_bytes_ + name.size() <= kFamilyBytesMax) {
        known = family_places_.emplace(name, static_cast<uint16_t>(family_names_.size())).first;
        family_names_.push_back(name);
        family_bytes_ += name.size();
      }
      places.insert(known == family_places_.end() ? kOtherFamily : known->second);
    }
  }
  std::string set;
  for (const uint16_t place : places)
    set.append({static_cast<char>(place >> 8), static_cast<char>(place & 0xff)});
  family_sets_.Add(set, record.sample);
}

OperationFacts::FamilySet OperationFacts::MostReadFamilies() const {
  const FrequentItems::Item most = family_sets_.Largest();
  FamilySet set{.has_all = most.text.empty(), .names = {}, .reads = most.count};
  for (size_t at = 0; at + 1 < most.text.size(); at += 2) {
    const size_t place = static_cast<unsigned char>(most.text[at]) * size_t{256} +
                         static_cast<unsigned char>(most.text[at + 1]);
    set.names.push_back(place < family_names_.size() ? family_names_[place] : "");
  }
  return set;
}

void OperationFacts::AddScan(const TraceRecord& record) {
  const bool has_seen_half = table_rows_ > 0 && record.rows_seen.has_value() &&
                             *record.rows_seen >= table_rows_ - table_rows_ / 2;
  const bool is_unlimited = record.limit.value_or(0) == 0;
  if ((is_unlimited && CoversTable(record)) || has_seen_half) full_scans_ += record.sample;
  if (!delimiter_.empty() && IsPrefixScan(record) && record.start->ends_with(delimiter_) &&
      record.rows_returned.value_or(0) >= 2 &&
      static_cast<double>(record.bytes.value_or(0)) < limits_.small_bytes)
    entity_scans_ += record.sample;
  if (record.filter.find("row_regex(") == std::string::npos || !record.rows_seen.has_value())
    return;
  const std::string tag = record.tag.substr(0, kTagBytesMax);
  if (regex_scans_.size() >= kTagsMax && regex_scans_.count(tag) == 0) return;
  RegexScans& scans = regex_scans_[tag];
  scans.scans += record.sample;
  scans.rows_seen += *record.rows_seen;
  scans.rows_returned += record.rows_returned.value_or(0);
}

void OperationFacts::AddWrite(const TraceRecord& record) {
  hot_rows_.Add(record.micros, record.row, record.sample);
  write_order_.Add(record.row);
  AddBatch(record);
  const std::set<std::string_view> increments(record.increments.begin(), record.increments.end());
  std::set<std::string_view> columns(record.columns.begin(), record.columns.end());
  columns.insert(increments.begin(), increments.end());
  for (const std::string_view column : columns)
    AddColumn(column, record.sample, increments.contains(column));
}

void OperationFacts::AddBatch(const TraceRecord& record) {
  if (!record.batch.has_value()) return;
  const auto [first, is_new] = batches_.emplace(*record.batch, record.row);
  if (is_new) batch_bytes_ += record.row.size();
  if (!is_new && !first->second.empty() && first->second != record.row) {
    wide_batches_.Add(first->second);
    batch_bytes_ -= first->second.size();
    first->second.clear();
  }
  while (batches_.size() > kBatchesMax || (batch_bytes_ > kBatchBytesMax && batches_.size() > 1)) {
    batch_bytes_ -= batches_.begin()->second.size();
    batches_.erase(batches_.begin());
  }
}

void OperationFacts::AddColumn(std::string_view name, uint64_t count, bool is_increment) {
  auto known = columns_.find(name);
  if (known == columns_.end()) {
    if (columns_.size() >= kColumnNamesMax || column_bytes_ + name.size() > kColumnBytesMax) return;
    known = columns_.try_emplace(std::string(name)).first;
    column_bytes_ += name.size();
  }
  known->second.writes += count;
  if (is_increment) known->second.increments += count;
}

}  // namespace stele::internal::lab
