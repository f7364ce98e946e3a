// steled/health_service.h: grpc.health.v1.Health: can the server serve?
//
// gRPC has one of its own, on threads that wait for every connection of the server beside those that its calls run on; each call would then
// be handed from one to the other (docs/decisions/0025).
//
// Errors:    NotFound for a service that the server does not have; RESOURCE_EXHAUSTED for a Watch beyond sixteen.
// Threads:   thread-safe. A Watch takes a thread as long as its client listens.
// Source:    gRPC's health checking protocol.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "wire/health.grpc.pb.h"

namespace stele::server {

class HealthService final : public grpc::health::v1::Health::Service {
 public:
  // Until then it is serving.
  void SetServing(bool serving);
  // Ends every Watch, now and later.
  void Stop();

  grpc::Status Check(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;
  grpc::Status Watch(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::ServerWriter<grpc::health::v1::HealthCheckResponse>* writer) override;

 private:
  // Every change, until the client or the server ends.
  grpc::Status Tell(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                    grpc::ServerWriter<grpc::health::v1::HealthCheckResponse>* writer);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool serving_ = true;    // guarded by mutex_
  bool stopped_ = false;   // likewise
  int watcher_count_ = 0;  // likewise
};

}  // namespace stele::server
