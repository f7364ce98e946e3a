// remote/location.h: what "bigtable://PROJECT/INSTANCE?endpoint=HOST:PORT&..." says.
//
// Errors:    InvalidArgument naming the part and what is allowed.
// Threads:   values and pure functions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::internal {

struct RemoteLocation {
  std::string project;
  std::string instance;
  std::string data_endpoint;   // HOST:PORT
  std::string admin_endpoint;  // HOST:PORT
  bool is_google = false;      // Google's own service, with the credentials that its clients find by default
  bool tls = false;            // of an endpoint that was named
  std::string app_profile;
  std::chrono::seconds retry_time{60};  // how long a call is tried again without getting on

  // "projects/PROJECT/instances/INSTANCE".
  std::string InstanceName() const;
  std::string TableName(std::string_view table_id) const;
  // For messages: "bigtable://PROJECT/INSTANCE at HOST:PORT".
  std::string ToString() const;
};

// `emulator_host`: $BIGTABLE_EMULATOR_HOST, "" if it is not set; where no endpoint is named it is the endpoint.
absl::StatusOr<RemoteLocation> ParseRemoteLocation(std::string_view location, std::string_view emulator_host);

}  // namespace stele::internal
