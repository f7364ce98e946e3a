// steled/server.h: starts and stops all services of a server.
//
// Bounds:    at most Flags.calls_max data calls and kOtherCallsMax others at once, each with a
//            thread; requests of at most kRequestBytesMax, and of kRequestMemoryBytes together. A
//            call above a limit of calls or memory is refused with UNAVAILABLE, a larger request
//            with RESOURCE_EXHAUSTED.
//
// Errors:    those of Database::Open; InvalidArgument for key files; Unavailable if the address
//            cannot be used; ResourceExhausted if the process may open too few files.
// Threads:   Start and Stop by one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/database.h"
#include "steled/backups/automated_backups.h"
#include "steled/backups/backups.h"
#include "steled/descriptor_limit.h"
#include "steled/flags.h"
#include "steled/monitoring/app_profile_calls.h"
#include "steled/monitoring/call_log.h"
#include "steled/monitoring/call_metrics.h"
#include "steled/monitoring/health_service.h"
#include "steled/monitoring/http_pages.h"
#include "steled/monitoring/live_counts.h"
#include "steled/rpc/method_table.h"
#include "steled/rpc/operations.h"
#include "steled/services/admin_service.h"
#include "steled/services/data_service.h"
#include "steled/services/hot_tablets.h"
#include "steled/services/instance_service.h"
#include "steled/services/reflection_service.h"
#include "steled/state/open_tables.h"
#include "steled/transport/transport.h"
#include "steled/upkeep.h"

namespace stele::server {

// A write of the largest size is charged twice: for the request and for its parsed changes.
inline constexpr size_t kRequestBytesMax = size_t{272} << 20;
inline constexpr size_t kRequestMemoryBytes = size_t{640} << 20;

// Starts a transport, as Transport::Start does.
using TransportStarter = std::function<absl::StatusOr<std::unique_ptr<Transport>>(
    const TransportOptions& options, const MethodTable* methods, CallObserver* observer)>;

class Server {
 public:
  // Raises the limit of open files, opens the database and listens. bench/grpc_server passes
  // another transport.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const Flags& flags, const TransportStarter& start_transport = &Transport::Start);

  // The address of --listen, with the actual port.
  const std::string& address() const { return transport_->address(); }
  // The address of --metrics; "" without it.
  std::string metrics_address() const {
    return pages_ == nullptr ? std::string() : pages_->address();
  }

  // Reloads the TLS files, for connections from now on. Returns false if the server has no TLS. An
  // error changes nothing.
  absl::StatusOr<bool> ReloadTls(const Flags& flags);
  // States that the machine's clock is right now. See Database::ConfirmClock.
  absl::Status ConfirmClock();
  // Accepts no more calls, gives running ones `grace` to end, stops the others, and closes the
  // database. Returns the result of closing it.
  absl::Status Stop(std::chrono::milliseconds grace);

 private:
  Server(Database database, const Flags& flags, std::shared_ptr<HealthService> health);

  absl::Status LoadBackups(const Flags& flags);
  absl::Status StartTrace(const Flags& flags);
  void StopTrace();
  absl::Status Listen(const Flags& flags, const ConnectionLimits& limits,
                      const TransportStarter& start_transport);
  absl::Status ServePages(const std::string& listen, const ConnectionLimits& limits);
  void StartUpkeep(std::chrono::seconds undelete_period);
  void RefreshHeatMap();
  void ReportHealth();
  void UpdateClockProblem();
  void LogWriteRefusal();
  void LogClockProblem();
  void LogStart(const Flags& flags, const ConnectionLimits& limits,
                std::chrono::steady_clock::duration elapsed) const;

  const std::shared_ptr<HealthService> health_;  // the database's event callback uses it, too
  Database database_;
  OpenTables tables_;
  Backups backups_;
  Operations operations_;  // after the objects that its work uses
  Records records_;
  Instances instances_;
  AppProfiles profiles_;
  IamPolicies policies_;
  HotTablets hot_tablets_;
  AutomatedBackups automated_backups_;
  const std::shared_ptr<AppProfileCalls> profile_calls_;
  const std::shared_ptr<LiveCounts> heat_;  // null without --heatmap
  DataService data_;
  AdminService admin_;
  InstanceService instance_admin_;
  bool is_traced_ = false;           // by --trace
  bool are_writes_refused_ = false;  // at the last check; confined to upkeep_'s thread
  std::chrono::steady_clock::time_point clock_log_next_;  // confined to upkeep_'s thread
  std::mutex clock_mutex_;  // held from reading the clock's state to reporting its problem
  MethodTable methods_;
  ReflectionService reflection_{&methods_};
  std::shared_ptr<CallMetrics> call_metrics_;  // null without --metrics
  std::unique_ptr<CallLog> call_log_;
  // The threads of these use the members above. Stop() ends them.
  std::unique_ptr<Upkeep> upkeep_;
  std::unique_ptr<Upkeep> health_reports_;  // a separate thread, since a disk that hangs blocks it
  std::unique_ptr<Transport> transport_;    // calls the members above
  std::unique_ptr<HttpPages> pages_;        // null without --metrics; reads the members above
};

}  // namespace stele::server
