// tools/stele/state_file_lock.h: locks a state file: that of `stele archive`, or the file of
// marks of `stele copy`. Without the lock, two concurrent runs could share the file, which would
// then record only a part of each run.
//
// How:       flock on the file PATH.stele.lock, because the file PATH is replaced as a whole. The
//            lock file is empty, and is removed at the end. A lock file that a killed run left
//            blocks no other run.
// Errors:    FailedPrecondition while another run has the lock, or if the lock file is not an empty
//            regular file, which is kept; errors of the file system.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::cli {

class StateFileLock {
 public:
  // Returns the path of the lock file.
  static std::string PathOf(const std::string& state_path);
  // `user` names the kind of run in messages.
  static absl::StatusOr<std::unique_ptr<StateFileLock>> Take(const std::string& state_path,
                                                             std::string_view user = "copy");
  ~StateFileLock();
  StateFileLock(const StateFileLock&) = delete;
  StateFileLock& operator=(const StateFileLock&) = delete;

 private:
  StateFileLock(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  const std::string path_;
  const int descriptor_;
};

}  // namespace stele::cli
