// tools/stele/compare/work_directory.h: the directory of the temporary databases of a command.
//
// A temporary directory is removed by the destructor, and before SIGINT, SIGTERM or SIGHUP end the
// process. Make it before the process has other threads: they must not get these signals. Without
// free descriptors, a signal ends the process and the directory stays.
//
// A directory to keep is removed only if it is empty.
//
// Errors:    those of the file system; AlreadyExists for a directory to keep that exists.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::cli {

class WorkDirectory {
 public:
  // Creates the directory `keep`, or for "" a temporary one.
  static absl::StatusOr<std::unique_ptr<WorkDirectory>> Make(const std::string& keep);
  // Creates a temporary directory with the name stele_VERB_XXXXXX.
  static absl::StatusOr<std::unique_ptr<WorkDirectory>> MakeTemporary(std::string_view verb);
  // Returns ResourceExhausted if the file system of this directory has less free space.
  static absl::Status CheckSpace(const std::string& keep, uint64_t bytes);
  virtual ~WorkDirectory() = default;

  virtual const std::string& path() const = 0;

 protected:
  WorkDirectory() = default;
};

}  // namespace stele::cli
