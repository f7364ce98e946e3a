#include "steled/monitoring/health_pages.h"

#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr int kUnavailable = 503;

HttpPages::Page NotServing() { return {.status = kUnavailable, .body = "not serving\n"}; }

HttpPages::Page HealthPage(HealthService* health) {
  if (!health->IsServing()) return NotServing();
  const absl::Status refusal = health->CurrentWriteRefusal();
  if (refusal.ok()) return {.body = "serving\n"};
  return {.body = fmt::format("serving reads\nnot serving writes: {}\n", TextOf(refusal))};
}

HttpPages::Page WriteHealthPage(HealthService* health) {
  if (!health->IsServing()) return NotServing();
  const absl::Status refusal = health->CurrentWriteRefusal();
  if (refusal.ok()) return {.body = "serving\n"};
  return {.status = kUnavailable, .body = fmt::format("not serving writes: {}\n", TextOf(refusal))};
}

}  // namespace

void AddHealthPages(const std::shared_ptr<HealthService>& health, HttpPages::Pages* pages) {
  (*pages)["/healthz"] = [health] { return HealthPage(health.get()); };
  (*pages)["/healthz/writes"] = [health] { return WriteHealthPage(health.get()); };
}

}  // namespace stele::server
