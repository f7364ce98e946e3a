// api/remote_opener.h: how Database::Open reaches a backend that the engine does not link.
//
// Path:      stele::remote, when linked -> here, before main -> Database::Open.
// Threads:   thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "api/backend.h"

namespace stele::internal {

// Opens "bigtable://..."; the options are valid.
using RemoteOpener = absl::StatusOr<std::shared_ptr<DatabaseBackend>> (*)(std::string_view location, const DatabaseOptions& options);

// The last one holds. Exported by the shared library, alone of this namespace (cmake/stele_exports.map).
void SetRemoteOpener(RemoteOpener opener);
// Null if there is none.
RemoteOpener GetRemoteOpener();

}  // namespace stele::internal
