// db/read_path.h: from the public read calls to a row stream: check the filter and the rows, take the read point, open.
//
// Path:      local_table -> here -> read/row_stream.h.
// Errors:    those of Table::ReadRows.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/backend.h"
#include "read/row_lookup.h"
#include "read/row_stream.h"

namespace stele::internal {

class Engine;

// Behind Snapshot.
class LocalSnapshot : public SnapshotBackend {
 public:
  // Of now.
  explicit LocalSnapshot(std::shared_ptr<Engine> engine);
  Timestamp time() const override;
  const Engine* engine() const { return engine_.get(); }
  ReadPoint point() const;

 private:
  LocalSnapshot(std::shared_ptr<Engine> engine, ReadPoint point);

  const std::shared_ptr<Engine> engine_;  // first: goes last
  const uint64_t sequence_;
  const int64_t now_;
  const std::shared_ptr<const PinnedView> pin_;
};

// The snapshot's moment if the options have one, else now. InvalidArgument for a snapshot of another database.
absl::StatusOr<ReadPoint> ReadPointOf(Engine& engine, const ReadOptions& options);
// For a read that may last: its view of the table is pinned, if not by a snapshot then as a scan's own.
ReadPoint PinTable(Engine& engine, uint32_t table_id, ReadPoint point);

// `ranges` as Normalize gives them.
absl::StatusOr<std::unique_ptr<RowStream>> OpenRowStream(const std::shared_ptr<Engine>& engine, uint32_t table_id, const ReadPoint& point,
                                                         std::vector<KeyRange> ranges, const Filter& filter, const ReadOptions& options);

// Whether the row has a cell that passes.
absl::StatusOr<bool> RowPasses(const std::shared_ptr<Engine>& engine, uint32_t table_id, const ReadPoint& point, std::string_view row_key,
                               const Filter& filter, const ReadOptions& options);

// The row, whole; none when no cell of it passes. ResourceExhausted when it is above what a result may hold.
absl::StatusOr<std::optional<Row>> LookUpOneRow(Engine& engine, uint32_t table_id, const ReadPoint& point, std::string_view row_key,
                                                const Filter& filter, const ReadOptions& options);

// These rows, whole, in the order asked for. ResourceExhausted when one, or all together, are above what a result may hold.
absl::StatusOr<std::vector<std::optional<Row>>> LookUpRows(Engine& engine, uint32_t table_id, const ReadPoint& point,
                                                           std::span<const std::string_view> row_keys, const Filter& filter,
                                                           const ReadOptions& options);

}  // namespace stele::internal
