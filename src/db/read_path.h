// db/read_path.h: from the public read calls to a row stream: check the filter and the rows, take the read point, open.
//
// Path:      local_table -> here -> read/row_stream.h.
// Errors:    those of Table::ReadRows.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "api/backend.h"
#include "read/row_stream.h"

namespace stele::internal {

class Engine;

// Behind Snapshot.
class LocalSnapshot : public SnapshotBackend {
 public:
  LocalSnapshot(std::shared_ptr<Engine> engine, ReadPoint point);
  ~LocalSnapshot() override;
  Timestamp time() const override;
  const Engine* engine() const { return engine_.get(); }
  const ReadPoint& point() const { return point_; }

 private:
  std::shared_ptr<Engine> engine_;  // first: goes last
  ReadPoint point_;
};

// The snapshot's moment if the options have one, else now. InvalidArgument for a snapshot of another database.
absl::StatusOr<ReadPoint> ReadPointOf(Engine& engine, const ReadOptions& options);

// `ranges` as Normalize gives them.
absl::StatusOr<std::unique_ptr<RowStream>> OpenRowStream(const std::shared_ptr<Engine>& engine, uint32_t table_id, const ReadPoint& point,
                                                         std::vector<KeyRange> ranges, const Filter& filter, const ReadOptions& options);

}  // namespace stele::internal
