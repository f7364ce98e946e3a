// steled/metrics.h: what calls and the database did, for Prometheus, over plain HTTP on a port of its own.
//
// Calls are counted where the transport begins and ends them, by the path of their method; those of paths that nobody serves count under
// the method "other", so that no client makes metrics as it likes. The database's figures are read when somebody asks.
//
// Units:     in the names; Prometheus's base units, seconds and bytes.
// Errors:    Unavailable where the address cannot be had.
// Threads:   thread-safe.
// Cost:      of a call 40 ns (measured on one thread); nothing without --metrics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/database.h"
#include "transport/call.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace stele::server {

class CallMetrics;

class Metrics {
 public:
  // Listens on "HOST:PORT" and answers GET /metrics. `paths`: what is served.
  static absl::StatusOr<std::unique_ptr<Metrics>> Start(const std::string& listen, Database database,
                                                        const std::vector<std::string>& paths);
  ~Metrics();

  // "HOST:PORT", with the port that was taken.
  const std::string& address() const { return address_; }
  // Counts here; lives as long as this.
  CallObserver* observer() const;

 private:
  Metrics();

  std::shared_ptr<CallMetrics> calls_;
  std::shared_ptr<prometheus::Collectable> database_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  std::string address_;
};

}  // namespace stele::server
