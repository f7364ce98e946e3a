// steled/health_service.h: grpc.health.v1.Health: can the server serve?
//
// Errors:    NotFound for a service that the server does not have; RESOURCE_EXHAUSTED for a Watch beyond sixteen.
// Threads:   thread-safe. A Watch takes a thread as long as its client listens.
// Source:    gRPC's health checking protocol.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "absl/status/status.h"
#include "message_writer.h"
#include "transport/call.h"
#include "wire/health.pb.h"

namespace stele::server {

class HealthService {
 public:
  // Until then it is serving.
  void SetServing(bool serving);
  // Neither stopped nor told that it cannot serve.
  bool IsServing();
  // Ends every Watch, now and later.
  void Stop();

  // The methods of the service.
  absl::Status Check(const grpc::health::v1::HealthCheckRequest& request, grpc::health::v1::HealthCheckResponse* response);
  absl::Status Watch(const grpc::health::v1::HealthCheckRequest& request, Call* call,
                     MessageWriter<grpc::health::v1::HealthCheckResponse>* writer);

 private:
  // Every change, until the client or the server ends.
  absl::Status Tell(bool is_served, const std::stop_token& stop, MessageWriter<grpc::health::v1::HealthCheckResponse>* writer);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool serving_ = true;    // guarded by mutex_
  bool stopped_ = false;   // likewise
  int watcher_count_ = 0;  // likewise
};

}  // namespace stele::server
