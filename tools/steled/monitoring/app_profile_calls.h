// steled/monitoring/app_profile_calls.h: counts data calls by app profile, for Prometheus.
//
// Bounds:    kSeriesMax profiles have separate series. The others share the label "other", and
//            profiles that do not exist share "unknown": a client may name any.
// Threads:   thread-safe.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stele::server {

class AppProfileCalls final : public prometheus::Collectable {
 public:
  static constexpr size_t kSeriesMax = 100;
  using Exists = std::function<bool(std::string_view instance_name, std::string_view profile_id)>;

  // `exists` is called for profiles that have no series.
  explicit AppProfileCalls(Exists exists) : exists_(std::move(exists)) {}

  // Counts a call for an existing table, by its name in the API. The profile "" is "default".
  void Count(std::string_view table_name, std::string_view profile_id);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  using Key = std::pair<std::string, std::string>;  // instance, profile
  using KeyView = std::pair<std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const { return a < b; }
  };

  bool CountKnown(const KeyView& key);

  const Exists exists_;
  mutable std::shared_mutex mutex_;
  std::map<Key, std::atomic<uint64_t>, Less> calls_;  // guarded by mutex_, except the counts
  std::atomic<uint64_t> other_ = 0;
  std::atomic<uint64_t> unknown_ = 0;
};

}  // namespace stele::server
