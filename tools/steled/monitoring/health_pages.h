// steled/monitoring/health_pages.h: /healthz and /healthz/writes, for orchestrators that probe by
// HTTP.
//
// /healthz is for probes that restart servers: it returns 503 once the server must be restarted,
// and when it stops. Its text reports whether writes are refused, and other problems.
// /healthz/writes also returns 503 while writes are refused.
//
// Threads:   thread-safe.
#pragma once

#include <memory>

#include "steled/monitoring/health_service.h"
#include "steled/monitoring/http_pages.h"

namespace stele::server {

// Adds both to `probes`.
void AddHealthPages(const std::shared_ptr<HealthService>& health, HttpPages::Pages* probes);

}  // namespace stele::server
