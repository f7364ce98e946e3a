// state/read_path.h: the entry of all reads. It takes the read point, compiles the filter, and then
// opens a row stream for a scan, or looks up single rows.
//
// Used by:   db/local_table.cc, write/conditional_writes.cc, write/gc_fence.cc.
// Calls:     read/row_stream.h (scans), read/row_lookup.h (rows by key).
// Errors:    those of Table::ReadRows and Table::ReadRow.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "api/backend.h"
#include "base/memory_tracker.h"
#include "cell/prefetch_runner.h"
#include "read/row_lookup.h"
#include "read/row_stream.h"
#include "state/database_clock.h"
#include "state/engine_state.h"
#include "state/open_check.h"
#include "views/pinned_views.h"

namespace stele::internal {

class ReadPath;

// Implements Snapshot.
class LocalSnapshot : public SnapshotBackend {
 public:
  // A snapshot of the present state. It keeps `database`, which owns `reads`, alive.
  LocalSnapshot(std::shared_ptr<const void> database, const ReadPath& reads);
  Timestamp time() const override { return Timestamp::FromMicros(now_); }
  bool IsOf(const ReadPath& reads) const { return reads_ == &reads; }
  ReadPoint point() const;

 private:
  LocalSnapshot(std::shared_ptr<const void> database, const ReadPath& reads, ReadPoint point);

  const std::shared_ptr<const void> database_;  // first, so that it is destroyed last
  const ReadPath* const reads_;
  const uint64_t sequence_;
  const int64_t now_;
  const std::shared_ptr<const PinnedView> pin_;
};

struct ColumnName {
  std::string_view family;
  std::string_view qualifier;
};

class ReadPath {
 public:
  // All parts must outlive it.
  struct Parts {
    EngineState* state = nullptr;
    DatabaseClock* clock = nullptr;
    PinnedViews* pins = nullptr;
    MemoryTracker* memory = nullptr;
    const OpenCheck* open = nullptr;
    PrefetchRunner* prefetch = nullptr;  // may be null
  };
  explicit ReadPath(const Parts& parts) : parts_(parts) {}

  ReadPoint TakeReadPoint() const { return parts_.state->TakeReadPoint(parts_.clock->Now()); }
  // Like TakeReadPoint, at the commit time: ages at this point agree with the times of commits.
  ReadPoint TakeCommitPoint() const {
    return parts_.state->TakeReadPoint(parts_.clock->CommitTime());
  }
  // Like TakeReadPoint, at the time of a GC fence.
  ReadPoint TakeFencePoint() const {
    return parts_.state->TakeReadPoint(parts_.clock->FenceTime());
  }
  int64_t CollectionTime() const { return parts_.clock->CollectionTime(); }
  std::shared_ptr<const ReadView> view() const { return parts_.state->view(); }
  std::shared_ptr<const PinnedView> Pin(ReadPoint point, PinnedViews::Kind kind) const {
    return parts_.pins->Pin(std::move(point), kind);
  }
  // The snapshot's read point if the options have one, otherwise the present one. InvalidArgument
  // for a snapshot of another database.
  absl::StatusOr<ReadPoint> ReadPointOf(const ReadOptions& options) const;
  // Pins the point's view of the table, for a read that may take long, unless a snapshot pins it
  // already.
  ReadPoint PinTable(uint32_t table_id, ReadPoint point) const;

  // `database` may be null. The stream keeps it alive. `ranges` are the result of Normalize.
  absl::StatusOr<std::unique_ptr<RowStream>> OpenRowStream(
      std::shared_ptr<const void> database, uint32_t table_id, const ReadPoint& point,
      std::vector<KeyRange> ranges, const Filter& filter, const ReadOptions& options) const;

  // Returns true if the row has a cell that passes the filter.
  absl::StatusOr<bool> RowPasses(uint32_t table_id, const ReadPoint& point,
                                 std::string_view row_key, const Filter& filter,
                                 const ReadOptions& options) const;

  // Returns the complete row; nullopt if none of its cells passes. ResourceExhausted if it exceeds
  // the limit for results.
  absl::StatusOr<std::optional<Row>> LookUpOneRow(uint32_t table_id, const ReadPoint& point,
                                                  std::string_view row_key, const Filter& filter,
                                                  const ReadOptions& options) const;

  // Calls `visit` with the complete row, and returns true; returns false if none of its cells
  // passes. Errors as above.
  absl::StatusOr<bool> VisitOneRow(uint32_t table_id, const ReadPoint& point,
                                   std::string_view row_key, const RowVisitor& visit,
                                   const Filter& filter, const ReadOptions& options) const;

  // The newest visible cell of a column. None if there is none.
  absl::StatusOr<std::optional<stele::Cell>> LookUpNewestCell(uint32_t table_id,
                                                              const ReadPoint& point,
                                                              std::string_view row_key,
                                                              const ColumnName& column,
                                                              const ReadOptions& options) const;

  // Returns these complete rows, in the given order. ResourceExhausted if one, or all together,
  // exceed the limit for results.
  absl::StatusOr<std::vector<std::optional<Row>>> LookUpRows(
      uint32_t table_id, const ReadPoint& point, std::span<const std::string_view> row_keys,
      const Filter& filter, const ReadOptions& options) const;

 private:
  absl::StatusOr<RowStreamOptions> StreamOptionsOf(uint32_t table_id, const ReadPoint& point,
                                                   std::vector<KeyRange> ranges,
                                                   const Filter& filter,
                                                   const ReadOptions& options) const;
  RowLookup LookupAt(const ReadPoint& point, const ReadOptions& options) const;

  const Parts parts_;
};

}  // namespace stele::internal
