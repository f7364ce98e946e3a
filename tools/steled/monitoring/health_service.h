// steled/monitoring/health_service.h: implements grpc.health.v1.Health, which reports whether the
// server can serve.
//
// All services are NOT_SERVING once the server has to be restarted, and when it stops. While writes
// are refused, as on a full disk, only kDataService is NOT_SERVING: reads and the calls that free
// space still work, and a restart would not help.
//
// Errors:    NotFound for a service that the server does not have; RESOURCE_EXHAUSTED for a Watch
//            beyond sixteen.
// Threads:   thread-safe. A Watch takes a thread as long as its client listens.
// Source:    gRPC's health checking protocol.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "remote/wire/health.pb.h"
#include "steled/rpc/message_writer.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

inline constexpr std::string_view kDataService = "google.bigtable.v2.Bigtable";

class HealthService {
 public:
  // Returns the reason why writes are refused; OK while they are accepted.
  using WriteRefusal = std::function<absl::Status()>;

  // Called without a lock for each Check of kDataService, and once a second for each Watch of it.
  // Until it is set, writes count as accepted.
  void SetWriteRefusal(WriteRefusal write_refusal);
  absl::Status CurrentWriteRefusal();

  // Sets the state, which is initially serving.
  void SetServing(bool serving);
  // True if it is serving and not stopped.
  bool IsServing();
  // Ends every present and future Watch.
  void Stop();

  // The methods of the service.
  absl::Status Check(const grpc::health::v1::HealthCheckRequest& request,
                     grpc::health::v1::HealthCheckResponse* response);
  absl::Status Watch(const grpc::health::v1::HealthCheckRequest& request, Call* call,
                     MessageWriter<grpc::health::v1::HealthCheckResponse>* writer);

 private:
  using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

  ServingStatus StatusOf(const std::string& service);
  // Sends every change, until the client or the server ends.
  absl::Status Notify(const std::string& service, const std::stop_token& stop,
                      MessageWriter<grpc::health::v1::HealthCheckResponse>* writer);

  std::mutex mutex_;
  WriteRefusal write_refusal_;  // guarded by mutex_; may be null
  std::condition_variable_any changed_;
  bool serving_ = true;        // guarded by mutex_
  bool stopped_ = false;       // likewise
  uint64_t change_count_ = 0;  // likewise; of the two before
  int watcher_count_ = 0;      // likewise
};

}  // namespace stele::server
