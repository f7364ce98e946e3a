#include "health_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace stele::server {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

constexpr std::array<std::string_view, 5> kServices = {"", "google.bigtable.v2.Bigtable", "google.bigtable.admin.v2.BigtableTableAdmin",
                                                       "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations"};
// How often a Watch looks whether its client is still there.
constexpr std::chrono::milliseconds kLook(200);
// Each has a thread that calls could have.
constexpr int kWatchersMax = 16;

bool IsServed(const std::string& service) { return std::find(kServices.begin(), kServices.end(), service) != kServices.end(); }

HealthCheckResponse::ServingStatus StatusOf(bool serving) {
  return serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

void HealthService::SetServing(bool serving) {
  const std::lock_guard lock(mutex_);
  serving_ = serving;
  changed_.notify_all();
}

void HealthService::Stop() {
  const std::lock_guard lock(mutex_);
  serving_ = false;
  stopped_ = true;
  changed_.notify_all();
}

grpc::Status HealthService::Check(grpc::ServerContext* /*context*/, const HealthCheckRequest* request, HealthCheckResponse* response) {
  if (!IsServed(request->service())) return grpc::Status(grpc::StatusCode::NOT_FOUND, "This server has no such service");
  const std::lock_guard lock(mutex_);
  response->set_status(StatusOf(serving_));
  return grpc::Status::OK;
}

grpc::Status HealthService::Watch(grpc::ServerContext* context, const HealthCheckRequest* request,
                                  grpc::ServerWriter<HealthCheckResponse>* writer) {
  {
    const std::lock_guard lock(mutex_);
    if (watcher_count_ == kWatchersMax) {
      return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, fmt::format("{} clients watch already; use Check", watcher_count_));
    }
    ++watcher_count_;
  }
  grpc::Status status = Tell(context, request, writer);
  const std::lock_guard lock(mutex_);
  --watcher_count_;
  return status;
}

grpc::Status HealthService::Tell(grpc::ServerContext* context, const HealthCheckRequest* request,
                                 grpc::ServerWriter<HealthCheckResponse>* writer) {
  const bool is_served = IsServed(request->service());
  std::optional<HealthCheckResponse::ServingStatus> told;
  std::unique_lock lock(mutex_);
  while (!context->IsCancelled()) {
    const HealthCheckResponse::ServingStatus status = is_served ? StatusOf(serving_) : HealthCheckResponse::SERVICE_UNKNOWN;
    const bool ends = stopped_;
    if (status != told) {
      lock.unlock();
      HealthCheckResponse response;
      response.set_status(status);
      if (!writer->Write(response)) break;
      told = status;
      lock.lock();
    }
    if (ends) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "The server ends");
    changed_.wait_for(lock, kLook, [&] { return stopped_ != ends || (is_served && StatusOf(serving_) != status); });
  }
  return grpc::Status::CANCELLED;
}

}  // namespace stele::server
