// steled/monitoring/live_counts.h: counts reads and writes by key range and time, for the live heat
// map.
//
// A table is divided into bands, which are ranges of rows, and time into steps. An operation on a
// row counts in the band of the row. A scan counts once in each band of which it returned rows.
//
// Bounds:    kTablesMax tables of kBandsMax bands, and 1 MiB of counts for each table.
// Threads:   thread-safe. Counting adds to relaxed atomics.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/table.h"

namespace stele::server {

// How far a map looks back: 240 steps of 5 seconds, or of 6 minutes.
enum class HeatWindow : uint8_t { kMinutes, kDay };

// The counts of the last kStepsMax steps.
class StepRing {
 public:
  static constexpr int64_t kStepsMax = 240;

  StepRing(int64_t width_micros, size_t bands, int64_t now_micros);

  // A time before the newest step counts as the newest step.
  void Add(size_t band, bool is_write, int64_t now_micros);
  // Adds the counts of a ring with the same width. Band i of it is spread evenly over the bands
  // [parts[i].first, parts[i].second).
  void AddSpread(const StepRing& older, const std::vector<std::pair<size_t, size_t>>& parts);

  struct Copy {
    int64_t start_micros = 0;
    int64_t width_micros = 0;
    uint64_t steps = 0;
    // By step and band: of step 0 those of all bands, and so on.
    std::vector<double> reads;
    std::vector<double> writes;
  };
  // The steps up to `now_micros`.
  Copy CopyAt(int64_t now_micros);

 private:
  size_t IndexOf(int64_t step, size_t band, bool is_write) const {
    return (static_cast<size_t>(step % kStepsMax) * bands_ + band) * 2 + (is_write ? 1 : 0);
  }
  std::atomic<uint32_t>& Cell(int64_t step, size_t band, bool is_write) {
    return cells_[IndexOf(step, band, is_write)];
  }
  uint32_t At(int64_t step, size_t band, bool is_write) const {
    return cells_[IndexOf(step, band, is_write)].load(std::memory_order_relaxed);
  }
  // Begins all steps up to `step`. Their counts are 0.
  void Advance(int64_t step);
  int64_t OldestStep(int64_t newest) const;

  const int64_t width_micros_;
  const size_t bands_;
  int64_t first_step_;
  std::mutex mutex_;  // held while steps begin
  std::atomic<int64_t> newest_step_;
  std::vector<std::atomic<uint32_t>> cells_;
};

// The counts of a table. The bands never change: new ones need another object.
class TableCounts {
 public:
  // `starts`: the first row of each band, ascending. The first one is "".
  TableCounts(std::vector<std::string> starts, int64_t now_micros);
  // With the counts of the same table and other bands. A band's counts are spread evenly over the
  // new bands that begin in it.
  TableCounts(std::vector<std::string> starts, const TableCounts& older, int64_t now_micros);

  const std::vector<std::string>& starts() const { return starts_; }
  size_t BandOf(std::string_view row_key) const;
  bool Contains(size_t band, std::string_view row_key) const;
  void Count(size_t band, bool is_write, int64_t now_micros);
  StepRing::Copy CopyAt(HeatWindow window, int64_t now_micros);
  // True if the table was written since the last call.
  bool TakeIsWritten() { return is_written_.exchange(false, std::memory_order_relaxed); }

 private:
  const std::vector<std::string> starts_;
  std::array<StepRing, 2> rings_;  // by HeatWindow
  std::atomic<bool> is_written_{false};
};

class LiveCounts {
 public:
  static constexpr size_t kTablesMax = 16;
  static constexpr size_t kBandsMax = 256;

  // `now_micros` returns microseconds since the epoch.
  explicit LiveCounts(std::function<int64_t()> now_micros) : now_micros_(std::move(now_micros)) {}

  // Returns null if the table is not counted. Then Refresh() counts it from then on, unless there
  // are kTablesMax others that were used in the last 20 minutes.
  std::shared_ptr<TableCounts> Find(std::string_view table);
  void CountWrites(std::string_view table, std::span<const std::string_view> row_keys);
  int64_t NowMicros() const { return now_micros_(); }

  // Opens a table by its name.
  using OpenFunction = std::function<absl::StatusOr<Table>(const std::string& table)>;
  // Begins to count tables that Find() did not find, and renews the bands of tables that have
  // grown. A table that was written and cannot be opened any more is not counted from then on.
  void Refresh(const OpenFunction& open);

  using Tables = std::map<std::string, std::shared_ptr<TableCounts>, std::less<>>;
  Tables tables() const;

 private:
  void AddWanted(const std::string& table, const OpenFunction& open);
  void RenewBands(const std::string& table, TableCounts& counts, const OpenFunction& open);
  // Makes room for a table. Returns false if all tables are in use.
  bool MakeRoom();
  void Set(const std::string& table, std::shared_ptr<TableCounts> counts);

  const std::function<int64_t()> now_micros_;
  std::mutex refresh_mutex_;  // held by Refresh(); acquired before mutex_
  mutable std::shared_mutex mutex_;
  Tables tables_;                              // guarded by mutex_
  std::set<std::string, std::less<>> wanted_;  // not found; guarded by mutex_
};

// Counts one scan.
class ScanCounter {
 public:
  ScanCounter() = default;  // counts nothing
  ScanCounter(LiveCounts* live, std::shared_ptr<TableCounts> counts)
      : live_(live), counts_(std::move(counts)) {}

  void OnRow(std::string_view row_key) {
    if (counts_ != nullptr && !(is_counted_ && counts_->Contains(band_, row_key))) Enter(row_key);
  }
  // A scan that returned no row counts in the band of its start.
  void OnEnd(std::string_view start) {
    if (counts_ != nullptr && !is_counted_) Enter(start);
  }

 private:
  void Enter(std::string_view row_key);

  LiveCounts* live_ = nullptr;
  std::shared_ptr<TableCounts> counts_;
  bool is_counted_ = false;
  size_t band_ = 0;  // counted last
};

// Returns the first rows of at most kBandsMax bands with about the same size, or, in a small table,
// the same number of rows. The first is "".
absl::StatusOr<std::vector<std::string>> BandStarts(const Table& table);

}  // namespace stele::server
