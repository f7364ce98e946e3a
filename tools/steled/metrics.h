// steled/metrics.h: what calls and the database did, for Prometheus, over plain HTTP on a port of its own.
//
// Calls are counted where gRPC begins and ends them, whatever service they are of. The database's figures are read when somebody asks.
//
// Units:     in the names; Prometheus's base units, seconds and bytes.
// Errors:    Unavailable where the address cannot be had.
// Threads:   thread-safe.
// Cost:      of a call about two microseconds; nothing without --metrics.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "stele/database.h"

namespace prometheus {
class Collectable;
class Exposer;
class Registry;
}  // namespace prometheus

namespace stele::server {

class CallMetrics;

class Metrics {
 public:
  // Listens on "HOST:PORT" and answers GET /metrics.
  static absl::StatusOr<std::unique_ptr<Metrics>> Start(const std::string& listen, Database database);
  ~Metrics();

  // "HOST:PORT", with the port that was taken.
  const std::string& address() const { return address_; }
  // To be given to the server's builder; it counts here, also after this is gone.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> NewInterceptorFactory() const;

 private:
  Metrics();

  std::shared_ptr<CallMetrics> calls_;
  std::shared_ptr<prometheus::Collectable> database_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  std::string address_;
};

}  // namespace stele::server
