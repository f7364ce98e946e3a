// steled/monitoring/process_metrics.h: figures of the process, its build and its transport for
// Prometheus.
//
// The names of the process's figures are those that Prometheus's client libraries use.
//
// Threads:   thread-safe.
// Source:    proc(5); "process metrics" of Prometheus's guide for client libraries.
#pragma once

#include <prometheus/collectable.h>

#include <functional>
#include <memory>

#include "steled/transport/transport.h"

namespace stele::server {

// Returns process_* and steled_build_info, without figures that the system does not provide.
std::shared_ptr<prometheus::Collectable> NewProcessMetrics();

// The limits that the figures of a transport approach.
struct TransportLimits {
  size_t connections = 0;
  size_t request_bytes = 0;
};

// Returns the figures of connections, streams, paused calls and the memory for requests.
std::shared_ptr<prometheus::Collectable> NewTransportMetrics(
    std::function<TransportFigures()> figures, TransportLimits limits);

}  // namespace stele::server
