// commit/row_watches.h: the rows that writes in progress depend on, and the last commit that wrote
// each of them.
//
// A write that depends on a row begins a Watch of it before it reads the row. From then on each
// commit that writes the row records its sequence in the watch. So the check at the write's own
// commit is exact: it reports a row as written if and only if it was written after the read. A
// commit looks up its rows only while there are watches or cached versions. It skips each row whose
// hash has a counter of zero.
//
// A watch may also keep copies of the values that commits set in the row (BeginKeepingValues).
//
// The same table caches the versions of columns that range deletes fenced recently
// (commit/column_versions.h), up to kVersionsBytesMax. Commits keep them up to date.
//
// Rules:     engine rules 5 and 8; docs/decisions/0041-what-refuses-a-write.md.
// How:       a watch begins, then its writer takes a read point. The commit leader publishes a
//            sequence, then records it here. All four steps are sequentially consistent, so a
//            commit that finds no watch of the row has published before the read point was taken.
// Threads:   thread-safe. Note and EndNote are for the commit leader.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "commit/column_versions.h"
#include "gc/retention.h"
#include "mutation/batch.h"

namespace stele::internal {

class RowWatches {
 private:
  struct RowName {
    uint32_t table_id = 0;
    std::string row_key;
  };
  struct Row;
  struct RowNameLess {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::pair<uint32_t, std::string_view>(a.table_id, a.row_key) <
             std::pair<uint32_t, std::string_view>(b.table_id, b.row_key);
    }
  };
  using Rows = std::map<RowName, Row, RowNameLess>;

 public:
  // The limit for the memory of cached versions.
  static constexpr size_t kVersionsBytesMax = size_t{1} << 20;
  // A column with more versions is not cached.
  static constexpr size_t kVersionsMax = size_t{1} << 16;

  RowWatches() = default;
  RowWatches(const RowWatches&) = delete;
  RowWatches& operator=(const RowWatches&) = delete;

  struct WrittenValues {
    uint64_t through = 0;  // the last commit that wrote the row
    std::vector<std::string> values;
  };

  // Watches one row until it is destroyed.
  class Watch {
   public:
    Watch(Watch&& other) noexcept
        : watches_(std::exchange(other.watches_, nullptr)),
          row_(other.row_),
          keeps_values_(other.keeps_values_) {}
    Watch& operator=(Watch&& other) noexcept {
      std::swap(watches_, other.watches_);
      std::swap(row_, other.row_);
      std::swap(keeps_values_, other.keeps_values_);
      return *this;
    }
    ~Watch();
    uint32_t table_id() const { return row_->first.table_id; }
    std::string_view row_key() const { return row_->first.row_key; }
    // True if a commit after `sequence` wrote the row. `sequence` must be the sequence of a read
    // since the watch began, or of a commit that wrote the row since then. Exact for the commit
    // leader; other threads may call it too, but may miss the commit in progress.
    bool WrittenAfter(uint64_t sequence) const;

    // Returns the values that commits after `sequence` set in the row, in their order. Misses the
    // commits that WrittenAfter misses. `sequence` must not decrease from call to call, since
    // returned values may be dropped. For a watch from BeginKeepingValues only.
    WrittenValues TakeValuesSetAfter(uint64_t sequence);

    // For RowWatches.
    Watch(RowWatches* watches, Rows::iterator row, bool keeps_values)
        : watches_(watches), row_(row), keeps_values_(keeps_values) {}
    Rows::iterator row() const { return row_; }

   private:
    RowWatches* watches_;  // null: moved from
    Rows::iterator row_;
    bool keeps_values_;
  };
  Watch Begin(uint32_t table_id, std::string_view row_key);
  // Like Begin. The watch also keeps a copy of each value that a commit sets in the row. For rows
  // with few and small cells.
  Watch BeginKeepingValues(uint32_t table_id, std::string_view row_key);

  // False if Note has nothing to do. The leader calls it after it published a group.
  bool HasRows() const { return row_count_.load() > 0; }
  // Records that the published commit `sequence` wrote the row. Sequences never decrease. A batch
  // may contain a row several times. Call EndNote after the last Note of a commit.
  void Note(const RowOps& row, uint64_t sequence);
  void EndNote(uint64_t sequence);

  struct ColumnName {
    uint32_t family_id = 0;
    std::string qualifier;
    friend auto operator<=>(const ColumnName&, const ColumnName&) = default;
  };
  // The floor of a column whose versions are cached: the timestamp below which all versions are
  // garbage (ColumnVersions::FloorUnder). It is valid if no commit after `sequence` wrote the row.
  // Nullopt: the caller must read the column. `generation` is that of the tables' changes
  // (commit/table_changes.h), taken before this call. Versions that were read in another generation
  // are dropped, since the rule may differ. Versions from a later time than `now` are dropped, too.
  // They exist only if the clock was corrected.
  struct Floor {
    int64_t floor = 0;
    uint64_t sequence = 0;
  };
  std::optional<Floor> FloorOf(const Watch& watch, const ColumnName& column, uint64_t generation,
                               const Retention& retention, int64_t now);
  // Caches the versions that a read at `sequence` found. The watch must have begun before that
  // read. Does nothing if the row was written since.
  void CacheVersions(const Watch& watch, const ColumnName& column, uint64_t generation,
                     uint64_t sequence, ColumnVersions versions);

 private:
  struct Column {
    Rows::iterator row;
    ColumnName name;
    uint64_t generation = 0;
    uint64_t sequence = 0;  // of the read
    ColumnVersions versions;
    size_t bytes() const;
  };
  using Columns = std::list<Column>;
  struct KeptValue {
    uint64_t sequence = 0;
    std::string value;
  };
  struct Row {
    size_t watch_count = 0;
    size_t keeping_count = 0;          // of these, the watches that keep values
    std::vector<KeptValue> kept = {};  // since the first of them began, in the order of commits
    uint64_t written = 0;              // the last commit that wrote it since it was added
    std::map<ColumnName, Columns::iterator> columns;
  };
  static constexpr size_t kCounters = 4096;

  static size_t CounterOf(uint32_t table_id, std::string_view row_key);
  Rows::iterator FindOrAdd(uint32_t table_id, std::string_view row_key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveIfUnused(Rows::iterator row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Columns::iterator column) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Forgets columns until the others fit into the limit.
  void ForgetOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ApplyToColumns(const RowOps& ops, uint64_t sequence, Row* row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Rows rows_ ABSL_GUARDED_BY(mutex_);
  Columns columns_ ABSL_GUARDED_BY(mutex_);  // the most recently used first
  size_t columns_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t noted_through_ ABSL_GUARDED_BY(mutex_) = 0;  // the last commit that was noted completely
  // The size of rows_, and for each counter the number of rows whose hash selects it. See How
  // above.
  std::atomic<size_t> row_count_{0};
  std::array<std::atomic<uint32_t>, kCounters> counters_{};
};

}  // namespace stele::internal
