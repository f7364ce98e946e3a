#include "steled/monitoring/health_service.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "steled/base/errors.h"
#include "steled/rpc/message_writer.h"
#include "steled/rpc/method_table.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

constexpr std::array<std::string_view, 5> kServices = {
    "", kDataService, "google.bigtable.admin.v2.BigtableTableAdmin",
    "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations"};

// Returns the name, which lives as long as the program; nullopt for a service that is not served.
std::optional<std::string_view> ServedName(std::string_view service) {
  const auto* const found = std::find(kServices.begin(), kServices.end(), service);
  return found == kServices.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

// A Watch. The thread that runs its call uses it; WakeAll only wakes the call.
class HealthService::Watcher final : public PausedCall,
                                     public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(HealthService* health, std::optional<std::string_view> service, Call* call)
      : health_(*health), service_(service), wake_(call->Waker()) {}
  ~Watcher() override {
    const std::lock_guard lock(health_.mutex_);
    health_.watchers_.erase(this);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Takes a place among the Watches until the end. Returns false if none is free.
  bool TakePlace() {
    const std::lock_guard lock(health_.mutex_);
    if (health_.watchers_.size() >= health_.watches_max_) return false;
    health_.watchers_.insert(this);
    return true;
  }
  void Wake() const { wake_(); }

  // Sends the status if it has changed. A change after this wakes the call again.
  absl::Status Resume(Call* call) override {
    if (!call->CanSend()) return Pause(PauseKind::kForRoom, call);
    HealthCheckResponse response;
    bool ends = false;
    {
      const std::lock_guard lock(health_.mutex_);
      response.set_status(health_.StatusOf(service_));
      ends = health_.stopped_;
    }
    if (response.status() != told_) {
      if (!MessageWriter<HealthCheckResponse>(call).Write(response)) return ClientGone();
      told_ = response.status();
    }
    if (ends) return MakeStatus(absl::StatusCode::kUnavailable, "The server ends");
    return Pause(PauseKind::kForEvent, call);
  }

 private:
  absl::Status Pause(PauseKind kind, Call* call) {
    call->Pause(kind, shared_from_this());
    return absl::OkStatus();
  }

  HealthService& health_;
  const std::optional<std::string_view> service_;  // nullopt: not served
  const std::function<void()> wake_;
  std::optional<ServingStatus> told_;
};

void HealthService::Report(absl::Status write_refusal) {
  const std::lock_guard lock(mutex_);
  // A Watch compares the status with what it told its client.
  const bool may_change = write_refusal.ok() != write_refusal_.ok() || ReportAge() > kReportAgeMax;
  write_refusal_ = std::move(write_refusal);
  reported_at_ = now_();
  if (may_change) WakeAll();
}

absl::Status HealthService::WriteRefusal() {
  const std::lock_guard lock(mutex_);
  return CurrentWriteRefusal();
}

void HealthService::SetProblem(std::string problem) {
  const std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
}

std::string HealthService::Problem() {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::chrono::seconds HealthService::ReportAge() const {
  if (!reported_at_.has_value()) return std::chrono::seconds(0);
  return std::chrono::duration_cast<std::chrono::seconds>(now_() - *reported_at_);
}

absl::Status HealthService::CurrentWriteRefusal() const {
  const std::chrono::seconds age = ReportAge();
  if (age <= kReportAgeMax) return write_refusal_;
  return MakeStatus(
      absl::StatusCode::kUnavailable,
      fmt::format(
          "the server has not looked at the database for {} s: a system call hangs, or the process "
          "was stopped{}",
          age.count(),
          write_refusal_.ok() ? "" : fmt::format("; before that: {}", TextOf(write_refusal_))));
}

HealthService::ServingStatus HealthService::StatusOf(
    std::optional<std::string_view> service) const {
  if (!service.has_value()) return HealthCheckResponse::SERVICE_UNKNOWN;
  const bool is_refused = service == kDataService && !CurrentWriteRefusal().ok();
  return serving_ && !stopped_ && !is_refused ? HealthCheckResponse::SERVING
                                              : HealthCheckResponse::NOT_SERVING;
}

void HealthService::WakeAll() const {
  for (const Watcher* const watcher : watchers_) watcher->Wake();
}

bool HealthService::IsServing() {
  const std::lock_guard lock(mutex_);
  return serving_ && !stopped_;
}

void HealthService::SetServing(bool serving) {
  const std::lock_guard lock(mutex_);
  serving_ = serving;
  WakeAll();
}

void HealthService::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  WakeAll();
}

absl::Status HealthService::Check(const HealthCheckRequest& request,
                                  HealthCheckResponse* response) {
  const std::optional<std::string_view> service = ServedName(request.service());
  if (!service.has_value()) return NotFound("This server has no such service");
  const std::lock_guard lock(mutex_);
  response->set_status(StatusOf(service));
  return absl::OkStatus();
}

absl::Status HealthService::Watch(const HealthCheckRequest& request, Call* call) {
  const auto watcher = std::make_shared<Watcher>(this, ServedName(request.service()), call);
  if (!watcher->TakePlace()) {
    call->SetRefused(RefusalCause::kOtherCallLimit);
    return Overloaded(fmt::format("{} calls watch the health already, which is the limit; end one, "
                                  "or poll with Check",
                                  watches_max_),
                      absl::StatusCode::kResourceExhausted);
  }
  return watcher->Resume(call);
}

}  // namespace stele::server
