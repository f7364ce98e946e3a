#include "health_service.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "errors.h"

namespace stele::server {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

constexpr std::array<std::string_view, 5> kServices = {"", "google.bigtable.v2.Bigtable", "google.bigtable.admin.v2.BigtableTableAdmin",
                                                       "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations"};
// Each has a thread that calls could have.
constexpr int kWatchersMax = 16;

bool IsServed(const std::string& service) { return std::find(kServices.begin(), kServices.end(), service) != kServices.end(); }

HealthCheckResponse::ServingStatus StatusOf(bool serving) {
  return serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

bool HealthService::IsServing() {
  const std::lock_guard lock(mutex_);
  return serving_ && !stopped_;
}

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

absl::Status HealthService::Check(const HealthCheckRequest& request, HealthCheckResponse* response) {
  if (!IsServed(request.service())) return NotFound("This server has no such service");
  const std::lock_guard lock(mutex_);
  response->set_status(StatusOf(serving_));
  return absl::OkStatus();
}

absl::Status HealthService::Watch(const HealthCheckRequest& request, Call* call, MessageWriter<HealthCheckResponse>* writer) {
  {
    const std::lock_guard lock(mutex_);
    if (watcher_count_ == kWatchersMax) {
      return MakeStatus(absl::StatusCode::kResourceExhausted, fmt::format("{} clients watch already; use Check", watcher_count_));
    }
    ++watcher_count_;
  }
  absl::Status status = Tell(IsServed(request.service()), call->stop(), writer);
  const std::lock_guard lock(mutex_);
  --watcher_count_;
  return status;
}

absl::Status HealthService::Tell(bool is_served, const std::stop_token& stop, MessageWriter<HealthCheckResponse>* writer) {
  std::optional<HealthCheckResponse::ServingStatus> told;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
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
    if (ends) return MakeStatus(absl::StatusCode::kUnavailable, "The server ends");
    changed_.wait(lock, stop, [&] { return stopped_ != ends || (is_served && StatusOf(serving_) != status); });
  }
  return MakeStatus(absl::StatusCode::kCancelled, "The client listens no more");
}

}  // namespace stele::server
