// steled/monitoring/health_pages.h: /healthz and /healthz/writes, for orchestrators that probe by
// HTTP.
//
// /healthz is 503 once the server has to be restarted, and when it stops: probes that restart
// servers ask here. Its text says whether writes are refused, and whether there is another problem.
// /healthz/writes is 503 also while they are.
//
// Threads:   thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "steled/monitoring/health_service.h"
#include "steled/monitoring/http_pages.h"

namespace stele::server {

// Adds them to `pages`. `problem` returns a line for /healthz, without its end, or "".
void AddHealthPages(const std::shared_ptr<HealthService>& health,
                    std::function<std::string()> problem, HttpPages::Pages* pages);

}  // namespace stele::server
