// steled/services/hot_tablets.h: the tablets that use most of the server's processor time, for
// ListHotTablets.
//
// The engine counts the reads and writes of each tablet, not its processor time. Sample() divides
// the processor time of the whole process among the tablets, in proportion to their operations
// since the previous sample. So the figure is an estimate: a scan of one row and a write of 1 MiB
// have the same weight. A tablet is listed if its share is at least kPercentMin.
//
// Bounds:    the kTabletsPerSample hottest tablets of each of the last kSamplesMax samples, and of
//            fewer samples if their names and keys have more than kBytesMax bytes.
// Errors:    INVALID_ARGUMENT for a time range that Bigtable rejects.
// Threads:   thread-safe; Sample() by one thread at a time.
// Source:    google.bigtable.admin.v2.ListHotTabletsRequest.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "remote/wire/instance_admin.pb.h"
#include "stele/timestamp.h"
#include "steled/state/open_tables.h"

namespace stele::server {

// The processor time of this process since the previous call, as a percentage of the machine's.
std::function<double()> ProcessCpuPercent();

class HotTablets {
 public:
  // `tables` must outlive this object.
  HotTablets(OpenTables* tables, std::shared_ptr<TimestampClock> clock,
             std::function<double()> cpu_percent);

  // Records the tablets that were hot since the previous call.
  void Sample();

  // The hottest first. The caller has checked that the cluster, the request's parent, exists.
  absl::Status List(const google::bigtable::admin::v2::ListHotTabletsRequest& request,
                    google::bigtable::admin::v2::ListHotTabletsResponse* response) const;

 private:
  static constexpr double kPercentMin = 5;
  static constexpr size_t kTabletsPerSample = 10;
  static constexpr size_t kSamplesMax = 4'320;  // a day
  static constexpr size_t kBytesMax = size_t{16} << 20;

  struct Hot {
    std::string table_name;  // as in the API
    std::string start;
    std::string end;
    int64_t begin_micros = 0;
    int64_t end_micros = 0;
    double percent = 0;
  };
  // The bytes of the names and keys of a sample.
  static size_t BytesOf(const std::vector<Hot>& sample);
  // By table and first row key.
  using Counts = std::map<std::pair<std::string, std::string>, uint64_t>;

  OpenTables& tables_;
  const std::shared_ptr<TimestampClock> clock_;
  const std::function<double()> cpu_percent_;
  Counts counts_;              // of the last sample
  int64_t sample_micros_ = 0;  // the time of the last sample
  mutable std::mutex mutex_;
  std::deque<std::vector<Hot>> samples_;  // the newest last; guarded by mutex_
  size_t bytes_ = 0;                      // of the samples; guarded by mutex_
};

}  // namespace stele::server
