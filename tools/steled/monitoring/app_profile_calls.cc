#include "steled/monitoring/app_profile_calls.h"

#include <mutex>

#include "steled/monitoring/metrics.h"

namespace stele::server {

void AppProfileCalls::Count(std::string_view table_name, std::string_view profile_id) {
  const std::string_view instance_name = table_name.substr(0, table_name.rfind("/tables/"));
  const KeyView key(instance_name, profile_id.empty() ? "default" : profile_id);
  if (CountKnown(key)) return;
  if (!exists_(key.first, key.second)) {
    unknown_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (calls_.size() < kSeriesMax) calls_.try_emplace(Key(key.first, key.second), 0);
  }
  if (!CountKnown(key)) other_.fetch_add(1, std::memory_order_relaxed);
}

bool AppProfileCalls::CountKnown(const KeyView& key) {
  const std::shared_lock lock(mutex_);
  const auto known = calls_.find(key);
  if (known == calls_.end()) return false;
  known->second.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::vector<prometheus::MetricFamily> AppProfileCalls::Collect() const {
  FamilyBuilder families;
  families.AddFamily("steled_app_profile_calls_total",
                     "Data calls of existing tables, by instance and app profile",
                     prometheus::MetricType::Counter);
  const auto add = [&](const std::string& instance, const std::string& profile, uint64_t count) {
    families.Add({{"instance", instance}, {"app_profile", profile}}, static_cast<double>(count));
  };
  const std::shared_lock lock(mutex_);
  for (const auto& [key, count] : calls_) add(key.first, key.second, count.load());
  if (const uint64_t count = other_.load(); count > 0) add("", "other", count);
  if (const uint64_t count = unknown_.load(); count > 0) add("", "unknown", count);
  return families.Take();
}

}  // namespace stele::server
