// heat_map/table_map.h: the map of one table while it is built.
//
// Used by:   lab/heat_map/heat_map.cc calls NoteOperation() for all operations, AddKnownKey() for
//            all keys, Count() for all operations, and then Finish().
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lab/heat_map/bands.h"
#include "lab/heat_map/cells.h"
#include "lab/heat_map/patterns.h"
#include "lab/heat_map/steps.h"
#include "lab/trace/trace_record.h"
#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

class TableMap {
 public:
  TableMap(std::string table, uint16_t number) : table_(std::move(table)), number_(number) {}

  const std::string& table() const { return table_; }
  // The number of the table in the store of keys.
  uint16_t number() const { return number_; }

  // Call in the first pass, for each operation.
  void NoteOperation(const TraceRecord& record);
  // The tablets of the table; without this call they are not known.
  void SetTablets(std::vector<TabletLoad> tablets) { tablets_ = std::move(tablets); }

  void BeginBands(uint64_t known_keys, uint64_t bands_max) {
    bands_.emplace(known_keys, bands_max);
  }
  void AddKnownKey(std::string_view key);
  // A row of point operations. Rows come in order.
  void NoteRow(std::string_view row, uint64_t operations);

  // Returns InvalidArgument if the width of the options gives too many steps.
  absl::Status BeginCells(const stele::lab::HeatMapOptions& options);
  uint64_t cells() const { return bands_->size() * steps_.count; }
  void AllocateCells() { cells_.emplace(bands_->size(), steps_.count, metrics_); }
  // Call in the second pass, for each operation.
  void Count(const TraceRecord& record);
  stele::lab::HeatMap Finish(std::string title, uint64_t keys_per_known_key);

 private:
  size_t TabletOf(std::string_view row) const;
  void CountPoint(const TraceRecord& record, uint64_t step, const std::string& row, double share);
  void CountRanges(const TraceRecord& record, uint64_t step);

  const std::string table_;
  const uint16_t number_;
  bool has_operations_ = false;
  int64_t first_ = 0;
  int64_t last_ = 0;
  MetricSet metrics_;
  std::string hottest_row_;
  uint64_t hottest_operations_ = 0;
  std::vector<TabletLoad> tablets_;
  std::vector<size_t> tablet_of_band_;  // of the first known key
  std::optional<Bands> bands_;
  Steps steps_;
  std::optional<Cells> cells_;
  uint64_t full_scans_ = 0;
};

}  // namespace stele::internal::lab
