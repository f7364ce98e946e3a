// steled/monitoring/health_pages.h: /healthz and /healthz/writes, for orchestrators that probe by
// HTTP.
//
// /healthz is 503 once the server has to be restarted, and when it stops: probes that restart
// servers ask here. Its text says whether writes are refused. /healthz/writes is 503 also while
// they are.
//
// Threads:   thread-safe.
#pragma once

#include <memory>

#include "steled/monitoring/health_service.h"
#include "steled/monitoring/http_pages.h"

namespace stele::server {

// Adds them to `pages`.
void AddHealthPages(const std::shared_ptr<HealthService>& health, HttpPages::Pages* pages);

}  // namespace stele::server
