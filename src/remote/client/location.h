// remote/client/location.h: parses "bigtable://PROJECT/INSTANCE?endpoint=HOST:PORT&...".
//
// Errors:    InvalidArgument naming the part and the allowed values.
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
  // Google's service, with the default credentials of Google's clients.
  bool is_google = false;
  bool tls = false;  // for an explicit endpoint
  std::string app_profile;
  std::chrono::seconds retry_time{60};  // how long a call is retried without progress

  // Returns "projects/PROJECT/instances/INSTANCE".
  std::string InstanceName() const;
  std::string TableName(std::string_view table_id) const;
  // For messages: "bigtable://PROJECT/INSTANCE at HOST:PORT".
  std::string ToString() const;
};

// `emulator_host` is $BIGTABLE_EMULATOR_HOST, or "". It is the endpoint if the location has none.
absl::StatusOr<RemoteLocation> ParseRemoteLocation(std::string_view location,
                                                   std::string_view emulator_host);

}  // namespace stele::internal
