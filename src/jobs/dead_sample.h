// jobs/dead_sample.h: measures the share of a tablet's bytes that a major compaction would free. It
// runs the compaction on a few small parts of the tablet and writes nothing.
// PickerInput::measure_dead calls it.
//
// Why:       docs/decisions/0047-dead-bytes-are-sampled.md.
// Sample:    up to kStripesMax row ranges (stripes) of the tablet. Each is the rows of one row
//            group of a file. They are chosen at equal distances of stored bytes. A stripe with
//            large rows is cut after a number of cells or bytes.
// Cost:      each stripe is read three times from all files of its rows. A sample is reused until
//            its stack, or the possible dead bytes, have changed much.
// Errors:    a file that cannot be read makes the result unknown. The sample is taken again after a
//            minute, since the error may be transient.
// Threads:   thread-safe; files are accessed without the lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "compaction/compaction_pick.h"
#include "read/read_view.h"

namespace stele::internal {

// The dead share (0 to 1) of the references from `input_begin` to the end of the tablet's stack, at
// the time `now`. nullopt: unknown, or `stop` was set.
std::optional<double> MeasureDeadShare(const TableView& table, const ViewTablet& tablet,
                                       size_t input_begin, int64_t now,
                                       const std::atomic<bool>& stop);

class DeadSamples {
 public:
  std::optional<double> Of(const ReadView& view, const DeadSampleRequest& request, int64_t now,
                           const std::atomic<bool>& stop);
  // The number of samples taken since construction.
  uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::vector<SstableReference> stack;  // that was sampled
    uint64_t bytes = 0;
    uint64_t dead_bytes_max = 0;
    int64_t taken_at = 0;  // by the database's clock
    std::optional<double> share;
  };
  static bool IsUsable(const Entry& entry, const std::vector<SstableReference>& stack,
                       const DeadSampleRequest& request, int64_t now);

  Mutex mutex_;
  std::map<TabletName, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> taken_{0};
};

}  // namespace stele::internal
