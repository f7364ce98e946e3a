// steled/metrics.h: what calls and the database did, for Prometheus, as the page /metrics of a port of its own; /healthz beside it.
//
// Calls are counted where the transport begins and ends them, by the path of their method; those of paths that nobody serves count under
// the method "other", so that no client makes metrics as it likes. The database's figures are read when somebody asks.
//
// Units:     in the names; Prometheus's base units, seconds and bytes.
// Errors:    Unavailable where the address cannot be had.
// Threads:   thread-safe.
// Cost:      of a call 40 ns (measured on one thread); nothing without --metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "http_pages.h"
#include "stele/database.h"
#include "transport/call.h"

namespace prometheus {
class Collectable;
}  // namespace prometheus

namespace stele::server {

class CallMetrics;

class Metrics {
 public:
  // Listens on "HOST:PORT". `paths`: what the server serves. /healthz is 200 while `is_serving` returns true, else 503.
  static absl::StatusOr<std::unique_ptr<Metrics>> Start(const std::string& listen, Database database, const std::vector<std::string>& paths,
                                                        std::function<bool()> is_serving);
  ~Metrics();

  // "HOST:PORT", with the port that was taken.
  const std::string& address() const { return pages_->address(); }
  // Counts here; lives as long as this.
  CallObserver* observer() const;

 private:
  Metrics();

  std::shared_ptr<CallMetrics> calls_;
  std::shared_ptr<prometheus::Collectable> database_;
  std::unique_ptr<HttpPages> pages_;  // last: it asks the others
};

}  // namespace stele::server
