#include "steled/monitoring/health_pages.h"

#include <string>
#include <utility>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr int kUnavailable = 503;

HttpPages::Page NotServing() { return {.status = kUnavailable, .body = "not serving\n"}; }

HttpPages::Page HealthPage(HealthService* health) {
  if (!health->IsServing()) return NotServing();
  const absl::Status refusal = health->WriteRefusal();
  std::string body = refusal.ok()
                         ? "serving\n"
                         : fmt::format("serving reads\nnot serving writes: {}\n", TextOf(refusal));
  if (const std::string problem = health->Problem(); !problem.empty()) body += problem + "\n";
  return {.body = std::move(body)};
}

HttpPages::Page WriteHealthPage(HealthService* health) {
  if (!health->IsServing()) return NotServing();
  const absl::Status refusal = health->WriteRefusal();
  if (refusal.ok()) return {.body = "serving\n"};
  return {.status = kUnavailable, .body = fmt::format("not serving writes: {}\n", TextOf(refusal))};
}

}  // namespace

void AddHealthPages(const std::shared_ptr<HealthService>& health, HttpPages::Pages* probes) {
  (*probes)["/healthz"] = [health] { return HealthPage(health.get()); };
  (*probes)["/healthz/writes"] = [health] { return WriteHealthPage(health.get()); };
}

}  // namespace stele::server
