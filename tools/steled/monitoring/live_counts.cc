#include "steled/monitoring/live_counts.h"

#include <algorithm>
#include <optional>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr int64_t kMinutesStepMicros = 5'000'000;
constexpr int64_t kDayStepMicros = 360'000'000;
// A table with fewer samples of its row keys is small, so that its rows can be read.
constexpr size_t kSamplesMin = 64;
constexpr int64_t kSmallRowsMax = 20'000;
// A table gets new bands if a fresh division has kGrowth times as many bands, or if kUnevenBands of
// the fresh bands begin in one present band.
constexpr size_t kGrowth = 2;
constexpr size_t kUnevenBands = 8;
constexpr size_t kWantedMax = 64;

std::vector<std::string> Thinned(std::vector<std::string> keys) {
  std::vector<std::string> starts{""};
  const size_t bands = std::clamp<size_t>(keys.size(), 1, LiveCounts::kBandsMax);
  for (size_t band = 1; band < bands; ++band)
    starts.push_back(std::move(keys[band * keys.size() / bands]));
  return starts;
}

// The bands of `starts` that begin in each band of `older`; at least one, which contains its start.
std::vector<std::pair<size_t, size_t>> PartsOf(const std::vector<std::string>& older,
                                               const std::vector<std::string>& starts) {
  const auto first_from = [&starts](const std::string& key) {
    return static_cast<size_t>(std::lower_bound(starts.begin(), starts.end(), key) -
                               starts.begin());
  };
  std::vector<std::pair<size_t, size_t>> parts;
  for (size_t band = 0; band < older.size(); ++band) {
    const size_t first = first_from(older[band]);
    const size_t after = band + 1 < older.size() ? first_from(older[band + 1]) : starts.size();
    // Without a start of its own, its rows are in the band before.
    parts.emplace_back(first < after ? first : first - 1, first < after ? after : first);
  }
  return parts;
}

bool NeedsNewBands(const std::vector<std::string>& starts, const std::vector<std::string>& fresh) {
  if (fresh.size() >= kGrowth * starts.size()) return true;
  for (const auto& [first, after] : PartsOf(starts, fresh))
    if (after - first >= kUnevenBands) return true;
  return false;
}

}  // namespace

StepRing::StepRing(int64_t width_micros, size_t bands, int64_t now_micros)
    : width_micros_(width_micros),
      bands_(bands),
      first_step_(now_micros / width_micros),
      newest_step_(first_step_),
      cells_(static_cast<size_t>(kStepsMax) * bands * 2) {}

void StepRing::Add(size_t band, bool is_write, int64_t now_micros) {
  const int64_t step = now_micros / width_micros_;
  if (step > newest_step_.load(std::memory_order_relaxed)) Advance(step);
  Cell(newest_step_.load(std::memory_order_relaxed), band, is_write)
      .fetch_add(1, std::memory_order_relaxed);
}

void StepRing::Advance(int64_t step) {
  const std::lock_guard lock(mutex_);
  const int64_t newest = newest_step_.load(std::memory_order_relaxed);
  for (int64_t next = std::max(newest + 1, step - kStepsMax + 1); next <= step; ++next) {
    for (size_t band = 0; band < bands_; ++band) {
      Cell(next, band, false).store(0, std::memory_order_relaxed);
      Cell(next, band, true).store(0, std::memory_order_relaxed);
    }
  }
  newest_step_.store(std::max(newest, step), std::memory_order_relaxed);
}

int64_t StepRing::OldestStep(int64_t newest) const {
  return std::max(first_step_, newest - kStepsMax + 1);
}

void StepRing::AddSpread(const StepRing& older,
                         const std::vector<std::pair<size_t, size_t>>& parts) {
  const int64_t newest = older.newest_step_.load(std::memory_order_relaxed);
  Advance(newest);
  first_step_ = std::min(first_step_, older.first_step_);
  const int64_t oldest = OldestStep(newest_step_.load(std::memory_order_relaxed));
  for (int64_t step = std::max(oldest, older.OldestStep(newest)); step <= newest; ++step) {
    for (size_t i = 0; i < parts.size() * 2; ++i) {
      const auto& [first, after] = parts[i / 2];
      const bool is_write = i % 2 == 1;
      const uint32_t count = older.At(step, i / 2, is_write);
      const auto share = static_cast<uint32_t>(after - first);
      for (size_t band = first; count > 0 && band < after; ++band) {
        const uint32_t rest = band - first < count % share ? 1 : 0;
        Cell(step, band, is_write).fetch_add(count / share + rest, std::memory_order_relaxed);
      }
    }
  }
}

StepRing::Copy StepRing::CopyAt(int64_t now_micros) {
  Advance(now_micros / width_micros_);
  const int64_t newest = newest_step_.load(std::memory_order_relaxed);
  const int64_t oldest = OldestStep(newest);
  Copy copy{.start_micros = oldest * width_micros_,
            .width_micros = width_micros_,
            .steps = static_cast<uint64_t>(newest - oldest + 1)};
  for (int64_t step = oldest; step <= newest; ++step) {
    for (size_t band = 0; band < bands_; ++band) {
      copy.reads.push_back(At(step, band, false));
      copy.writes.push_back(At(step, band, true));
    }
  }
  return copy;
}

TableCounts::TableCounts(std::vector<std::string> starts, int64_t now_micros)
    : starts_(std::move(starts)),
      rings_{StepRing(kMinutesStepMicros, starts_.size(), now_micros),
             StepRing(kDayStepMicros, starts_.size(), now_micros)} {}

TableCounts::TableCounts(std::vector<std::string> starts, const TableCounts& older,
                         int64_t now_micros)
    : TableCounts(std::move(starts), now_micros) {
  const auto parts = PartsOf(older.starts_, starts_);
  for (size_t i = 0; i < rings_.size(); ++i) rings_[i].AddSpread(older.rings_[i], parts);
}

size_t TableCounts::BandOf(std::string_view row_key) const {
  const auto after = std::upper_bound(starts_.begin() + 1, starts_.end(), row_key);
  return static_cast<size_t>(after - starts_.begin()) - 1;
}

bool TableCounts::Contains(size_t band, std::string_view row_key) const {
  return row_key >= starts_[band] && (band + 1 == starts_.size() || row_key < starts_[band + 1]);
}

void TableCounts::Count(size_t band, bool is_write, int64_t now_micros) {
  for (StepRing& ring : rings_) ring.Add(band, is_write, now_micros);
  if (is_write && !is_written_.load(std::memory_order_relaxed))
    is_written_.store(true, std::memory_order_relaxed);
}

StepRing::Copy TableCounts::CopyAt(HeatWindow window, int64_t now_micros) {
  return rings_[static_cast<size_t>(window)].CopyAt(now_micros);
}

std::shared_ptr<TableCounts> LiveCounts::Find(std::string_view table) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = tables_.find(table); found != tables_.end()) return found->second;
    if (wanted_.size() >= kWantedMax || wanted_.find(table) != wanted_.end()) return nullptr;
  }
  const std::lock_guard lock(mutex_);
  wanted_.emplace(table);
  return nullptr;
}

void LiveCounts::CountWrites(std::string_view table, std::span<const std::string_view> row_keys) {
  const std::shared_ptr<TableCounts> counts = Find(table);
  if (counts == nullptr) return;
  const int64_t now_micros = now_micros_();
  for (const std::string_view row_key : row_keys)
    counts->Count(counts->BandOf(row_key), /*is_write=*/true, now_micros);
}

void LiveCounts::Refresh(const OpenFunction& open) {
  const std::lock_guard refresh_lock(refresh_mutex_);
  std::set<std::string, std::less<>> wanted;
  {
    const std::lock_guard lock(mutex_);
    wanted.swap(wanted_);
  }
  for (const auto& [table, counts] : tables())
    if (counts->TakeIsWritten()) RenewBands(table, *counts, open);
  for (const std::string& table : wanted) AddWanted(table, open);
}

void LiveCounts::AddWanted(const std::string& table, const OpenFunction& open) {
  const absl::StatusOr<Table> opened = open(table);
  if (!opened.ok() || !MakeRoom()) return;
  absl::StatusOr<std::vector<std::string>> starts = BandStarts(*opened);
  if (starts.ok()) Set(table, std::make_shared<TableCounts>(*std::move(starts), now_micros_()));
}

void LiveCounts::RenewBands(const std::string& table, TableCounts& counts,
                            const OpenFunction& open) {
  const absl::StatusOr<Table> opened = open(table);
  if (!opened.ok()) return Set(table, nullptr);
  absl::StatusOr<std::vector<std::string>> starts = BandStarts(*opened);
  if (starts.ok() && NeedsNewBands(counts.starts(), *starts))
    Set(table, std::make_shared<TableCounts>(*std::move(starts), counts, now_micros_()));
}

bool LiveCounts::MakeRoom() {
  const Tables all = tables();
  if (all.size() < kTablesMax) return true;
  for (const auto& [table, counts] : all) {
    const StepRing::Copy copy = counts->CopyAt(HeatWindow::kMinutes, now_micros_());
    const auto is_zero = [](double count) { return count == 0; };
    if (!std::all_of(copy.reads.begin(), copy.reads.end(), is_zero) ||
        !std::all_of(copy.writes.begin(), copy.writes.end(), is_zero))
      continue;
    Set(table, nullptr);
    return true;
  }
  return false;
}

void LiveCounts::Set(const std::string& table, std::shared_ptr<TableCounts> counts) {
  const std::lock_guard lock(mutex_);
  if (counts == nullptr) {
    tables_.erase(table);
  } else {
    tables_.insert_or_assign(table, std::move(counts));
  }
}

LiveCounts::Tables LiveCounts::tables() const {
  const std::shared_lock lock(mutex_);
  return tables_;
}

void ScanCounter::Enter(std::string_view row_key) {
  band_ = counts_->BandOf(row_key);
  is_counted_ = true;
  counts_->Count(band_, /*is_write=*/false, live_->NowMicros());
}

absl::StatusOr<std::vector<std::string>> BandStarts(const Table& table) {
  STELED_ASSIGN_OR_RETURN(const std::vector<RowKeySample> samples, table.SampleRowKeys());
  std::vector<std::string> keys;
  if (samples.size() < kSamplesMin) {
    RowReader rows = table.ReadRows(RowRange::All(),
                                    Filter::Chain({Filter::CellsRowLimit(1), Filter::StripValue()}),
                                    {.limit = kSmallRowsMax + 1, .tag = "stele:heatmap"});
    while (rows.Next()) keys.emplace_back(rows.row().row_key());
    STELED_RETURN_IF_ERROR(rows.status());
    if (keys.size() <= static_cast<size_t>(kSmallRowsMax)) return Thinned(std::move(keys));
    keys.clear();
  }
  for (const RowKeySample& sample : samples)
    if (!sample.row_key.empty()) keys.push_back(sample.row_key);
  return Thinned(std::move(keys));
}

}  // namespace stele::server
