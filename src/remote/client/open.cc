#include "base/status.h"
#include "model/access.h"
#include "model/validate.h"
#include "remote/client/remote_database.h"
#include "stele/remote.h"

namespace stele {
inline namespace v0 {
namespace remote {

absl::StatusOr<Database> Open(std::string_view location, const DatabaseOptions& options) {
  if (!location.starts_with("bigtable://")) {
    return internal::InvalidArgument(
        "location \"{}\": a remote location is bigtable://PROJECT/INSTANCE; Database::Open opens "
        "directories",
        internal::Printable(location));
  }
  STELE_RETURN_IF_ERROR(internal::ValidateDatabaseOptions(options));
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<internal::DatabaseBackend> backend,
                         internal::OpenRemoteDatabase(location, options, nullptr));
  return internal::Access::Make<Database>(std::move(backend));
}

}  // namespace remote
}  // namespace v0
}  // namespace stele
