#include "steled/monitoring/health_service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "steled/base/errors.h"

namespace stele::server {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

constexpr std::array<std::string_view, 5> kServices = {
    "", kDataService, "google.bigtable.admin.v2.BigtableTableAdmin",
    "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations"};
// The limit for Watches, since each occupies a thread that other calls could use.
constexpr int kWatchersMax = 16;
// The interval of polling: no event reports that writes are refused or accepted again.
constexpr std::chrono::seconds kRefusalLook(1);

bool IsServed(const std::string& service) {
  return std::find(kServices.begin(), kServices.end(), service) != kServices.end();
}

}  // namespace

void HealthService::SetWriteRefusal(WriteRefusal write_refusal) {
  const std::lock_guard lock(mutex_);
  write_refusal_ = std::move(write_refusal);
}

absl::Status HealthService::CurrentWriteRefusal() {
  WriteRefusal write_refusal;
  {
    const std::lock_guard lock(mutex_);
    write_refusal = write_refusal_;
  }
  return write_refusal == nullptr ? absl::OkStatus() : write_refusal();
}

HealthService::ServingStatus HealthService::StatusOf(const std::string& service) {
  if (!IsServed(service)) return HealthCheckResponse::SERVICE_UNKNOWN;
  const bool serves = service != kDataService || CurrentWriteRefusal().ok();
  return serves && IsServing() ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

bool HealthService::IsServing() {
  const std::lock_guard lock(mutex_);
  return serving_ && !stopped_;
}

void HealthService::SetServing(bool serving) {
  const std::lock_guard lock(mutex_);
  serving_ = serving;
  ++change_count_;
  changed_.notify_all();
}

void HealthService::Stop() {
  const std::lock_guard lock(mutex_);
  serving_ = false;
  stopped_ = true;
  ++change_count_;
  changed_.notify_all();
}

absl::Status HealthService::Check(const HealthCheckRequest& request,
                                  HealthCheckResponse* response) {
  if (!IsServed(request.service())) return NotFound("This server has no such service");
  response->set_status(StatusOf(request.service()));
  return absl::OkStatus();
}

absl::Status HealthService::Watch(const HealthCheckRequest& request, Call* call,
                                  MessageWriter<HealthCheckResponse>* writer) {
  {
    const std::lock_guard lock(mutex_);
    if (watcher_count_ == kWatchersMax) {
      call->SetRefused(RefusalCause::kWatcherLimit);
      return MakeStatus(absl::StatusCode::kResourceExhausted,
                        fmt::format("{} clients watch already; use Check", watcher_count_));
    }
    ++watcher_count_;
  }
  absl::Status status = Notify(request.service(), call->stop(), writer);
  const std::lock_guard lock(mutex_);
  --watcher_count_;
  return status;
}

absl::Status HealthService::Notify(const std::string& service, const std::stop_token& stop,
                                   MessageWriter<HealthCheckResponse>* writer) {
  std::optional<ServingStatus> told;
  while (!stop.stop_requested()) {
    bool ends = false;
    uint64_t seen = 0;
    {
      const std::lock_guard lock(mutex_);
      ends = stopped_;
      seen = change_count_;
    }
    const ServingStatus status = StatusOf(service);
    if (status != told) {
      HealthCheckResponse response;
      response.set_status(status);
      if (!writer->Write(response)) break;
      told = status;
    }
    if (ends) return MakeStatus(absl::StatusCode::kUnavailable, "The server ends");
    std::unique_lock lock(mutex_);
    const auto has_changed = [&] { return change_count_ != seen; };
    if (service == kDataService) {
      changed_.wait_for(lock, stop, kRefusalLook, has_changed);
    } else {
      changed_.wait(lock, stop, has_changed);
    }
  }
  return MakeStatus(absl::StatusCode::kCancelled, "The client listens no more");
}

}  // namespace stele::server
