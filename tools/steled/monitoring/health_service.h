// steled/monitoring/health_service.h: implements grpc.health.v1.Health, which reports whether the
// server can serve.
//
// All services are NOT_SERVING once the server has to be restarted, and when it stops. While writes
// are refused, as on a full disk, only kDataService is NOT_SERVING: reads and the calls that free
// space still work, and a restart would not help.
//
// The service never calls the database, since a system call on a disk that hangs would hold the
// thread of a probe. Other threads look at the database and report what they found. A report that
// is too old counts as refused writes.
//
// A Watch holds no thread while nothing changes: it pauses until SetServing, Stop, or a report that
// changes something. It gets no message while reports are missing.
//
// Errors:    NotFound for a service that the server does not have. RESOURCE_EXHAUSTED for a Watch
//            above the limit.
// Threads:   thread-safe; no call waits for a disk. Watches must have ended before the object is
//            destroyed.
// Source:    gRPC's health checking protocol.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "remote/wire/health.pb.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

inline constexpr std::string_view kDataService = "google.bigtable.v2.Bigtable";

class HealthService {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  // The limit for Watches at one time. A Watch keeps a little memory for as long as it likes.
  static constexpr size_t kWatchesMax = 4096;
  // Call Report several times within this time. An older report is too old.
  static constexpr std::chrono::seconds kReportAgeMax{10};

  // `now` returns the time, which tests set.
  explicit HealthService(size_t watches_max = kWatchesMax,
                         std::function<TimePoint()> now = &std::chrono::steady_clock::now)
      : watches_max_(watches_max), now_(std::move(now)) {}

  // Sets the reason why the database refuses writes, OK if it accepts them. Before the first report
  // writes count as accepted.
  void Report(absl::Status write_refusal);
  // Returns the reason of the last report. UNAVAILABLE if that is too old.
  absl::Status WriteRefusal();
  // Sets a problem that does not keep the server from serving; "" if there is none. It stays until
  // the next call.
  void SetProblem(std::string problem);
  std::string Problem();

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

  // All of these need the lock.
  // `service`: nullopt for one that is not served.
  ServingStatus StatusOf(std::optional<std::string_view> service) const;
  absl::Status CurrentWriteRefusal() const;
  // Returns how old the last report is; 0 if there was none.
  std::chrono::seconds ReportAge() const;
  void WakeAll() const;

  const size_t watches_max_;
  const std::function<TimePoint()> now_;
  std::mutex mutex_;
  absl::Status write_refusal_;  // of the last report; guarded by mutex_, like all below
  std::string problem_;
  std::optional<TimePoint> reported_at_;  // nullopt before the first report
  bool serving_ = true;
  bool stopped_ = false;
  std::set<const Watcher*> watchers_;
};

}  // namespace stele::server
