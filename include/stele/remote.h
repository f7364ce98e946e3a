// stele/remote.h: opens a database on a Bigtable server. Requires the library stele::remote.
//
// stele/stele.h does not include this header.
// Threads:   thread-safe.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/options.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
inline namespace v0 {
namespace remote {

// Opens the instance of a server as a database: of steled, of Google's emulator, or of Cloud
// Bigtable.
//
// `location` is "bigtable://PROJECT/INSTANCE", with optional parameters after '?', separated by
// '&':
//   endpoint=HOST:PORT  the server, or unix:/PATH. Default: $BIGTABLE_EMULATOR_HOST if it is set,
//                       otherwise Cloud Bigtable with Google's default credentials
//   tls=1               encrypts the connection to the endpoint. Default: 0
//   app_profile=ID      the app profile of data requests. Default: none
//   retry_seconds=N     how long a call without progress is retried. 0 to 3600, default 60
//
// Of `options`, only `clock` and `read_only` have an effect; see docs/reference/remote.md. Calls
// that no server supports, such as Database::GetSnapshot, return Unimplemented.
// Open sends no request: an unreachable server is reported by the first call that needs it.
// Errors: InvalidArgument for a wrong location or option value.
[[nodiscard]] absl::StatusOr<Database> Open(std::string_view location,
                                            const DatabaseOptions& options = {});

}  // namespace remote
}  // namespace v0
}  // namespace stele
