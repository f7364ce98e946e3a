// steled/monitoring/health_service.h: implements grpc.health.v1.Health, which reports whether the
// server can serve.
//
// All services are NOT_SERVING once the server has to be restarted, and when it stops. While writes
// are refused, as on a full disk, only kDataService is NOT_SERVING: reads and the calls that free
// space still work, and a restart would not help.
//
// A Watch holds no thread while nothing changes: it pauses until SetServing, Stop, or a change of
// the write refusal.
//
// Errors:    NotFound for a service that the server does not have. RESOURCE_EXHAUSTED for a Watch
//            above the limit, or if the system refuses the thread. A WriteRefusal that throws is
//            called again with the next poll.
// Threads:   thread-safe. From the first Watch of kDataService to Stop a thread polls WriteRefusal.
//            Watches must have ended before the object is destroyed.
// Source:    gRPC's health checking protocol.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "remote/wire/health.pb.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

inline constexpr std::string_view kDataService = "google.bigtable.v2.Bigtable";

class HealthService {
 public:
  // Returns the reason why writes are refused; OK while they are accepted.
  using WriteRefusal = std::function<absl::Status()>;
  // The limit for Watches at one time. A Watch keeps a little memory for as long as it likes.
  static constexpr size_t kWatchesMax = 4096;

  explicit HealthService(size_t watches_max = kWatchesMax) : watches_max_(watches_max) {}

  // Called for each Check of kDataService, without a lock, so it must be thread-safe. Called once a
  // second for all Watches of it, and for each new one, with a lock that only Watches take.
  // Until it is set, writes count as accepted. It is not called for a Watch after Stop.
  void SetWriteRefusal(WriteRefusal write_refusal);
  absl::Status CurrentWriteRefusal();

  // Sets the state, which is initially serving.
  void SetServing(bool serving);
  // True if it is serving and not stopped.
  bool IsServing();
  // Ends every present and future Watch, with UNAVAILABLE. May be called again.
  void Stop();

  // The methods of the service.
  absl::Status Check(const grpc::health::v1::HealthCheckRequest& request,
                     grpc::health::v1::HealthCheckResponse* response);
  absl::Status Watch(const grpc::health::v1::HealthCheckRequest& request, Call* call);

 private:
  class Watcher;
  using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

  // These two need the lock.
  // `service`: nullopt for one that is not served.
  ServingStatus StatusOf(std::optional<std::string_view> service, bool are_writes_refused) const;
  void WakeAll() const;
  // Starts the thread that polls, unless it runs.
  absl::Status StartPolling();
  void Poll(const std::stop_token& stop);
  void UpdateWriteRefusal();

  const size_t watches_max_;
  std::mutex look_mutex_;  // held by UpdateWriteRefusal; taken before mutex_
  std::mutex mutex_;
  WriteRefusal write_refusal_;  // guarded by mutex_, like all below; may be null
  bool serving_ = true;
  bool stopped_ = false;
  bool are_writes_refused_ = false;  // as Watches know it
  std::set<const Watcher*> watchers_;
  std::condition_variable_any never_;
  std::jthread polling_;  // last: it uses the others
};

}  // namespace stele::server
