// steled/server.h: the services together, listening.
//
// Bounds:    at most Flags.calls_max calls at once, each with a thread; requests of at most kRequestBytesMax, and of kRequestMemoryBytes
//            together. A call beyond a limit of calls or memory is refused with UNAVAILABLE, a larger request with RESOURCE_EXHAUSTED.
//
// Errors:    those of Database::Open; InvalidArgument for files of keys; Unavailable where the address cannot be had.
// Threads:   Start and Stop by one thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "admin_service.h"
#include "backups.h"
#include "data_service.h"
#include "flags.h"
#include "health_service.h"
#include "instance_service.h"
#include "method_table.h"
#include "metrics.h"
#include "open_tables.h"
#include "operations.h"
#include "reflection_service.h"
#include "stele/database.h"
#include "transport/transport.h"

namespace stele::server {

inline constexpr size_t kRequestBytesMax = size_t{272} << 20;
inline constexpr size_t kRequestMemoryBytes = size_t{512} << 20;

class Server {
 public:
  // Opens the database and listens.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Flags& flags);

  // Of --listen, with the port that was taken.
  const std::string& address() const { return transport_->address(); }
  // The same of --metrics; "" without it.
  std::string metrics_address() const { return metrics_ == nullptr ? std::string() : metrics_->address(); }

  // Reads the TLS files again, for connections from now on. False: the server has no TLS. An error changes nothing.
  absl::StatusOr<bool> ReloadTls(const Flags& flags);
  // Takes no more calls, lets those that run end for `grace`, stops the rest, and closes the database. What Close answers.
  absl::Status Stop(std::chrono::milliseconds grace);

 private:
  Server(Database database, const Flags& flags, std::shared_ptr<HealthService> health);

  absl::Status Listen(const Flags& flags);

  const std::shared_ptr<HealthService> health_;  // the database's events know it, too
  Database database_;
  OpenTables tables_;
  Backups backups_;
  Operations operations_;  // after what its work uses
  Records records_;
  Instances instances_;
  AppProfiles profiles_;
  IamPolicies policies_;
  DataService data_;
  AdminService admin_;
  InstanceService instance_admin_;
  MethodTable methods_;
  ReflectionService reflection_{&methods_};
  std::unique_ptr<Metrics> metrics_;      // may be null
  std::unique_ptr<Transport> transport_;  // last: it calls the others
};

}  // namespace stele::server
