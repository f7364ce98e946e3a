#include "state_file.h"

#include "io/file_names.h"
#include "io/file_system.h"
#include "io/output_file.h"
#include "session.h"

namespace stele::cli {

absl::Status WriteStateFile(const std::string& path, const Json& json, const std::string& context) {
  return Within(context, internal::ReplaceFileDurably(
                             internal::PosixFileSystem(), path,
                             json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"));
}

absl::Status RemoveStateFile(const std::string& path) {
  internal::FileSystem* const files = internal::PosixFileSystem();
  const absl::Status removed = files->Remove(path);
  if (!removed.ok())
    return removed.code() == absl::StatusCode::kNotFound ? absl::OkStatus() : removed;
  return files->SyncDirectory(internal::ParentDirectory(path));
}

}  // namespace stele::cli
