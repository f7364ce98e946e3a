// tools/stele/copy_lock.h: locks the file of marks of `stele copy`, or the state file of
// `stele archive`, so that two concurrent runs do not share it. Otherwise it would record only a
// part of each run.
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

class CopyLock {
 public:
  // Returns the path of the lock file.
  static std::string PathOf(const std::string& mark_path);
  // `user` names the kind of run in messages.
  static absl::StatusOr<std::unique_ptr<CopyLock>> Take(const std::string& mark_path,
                                                        std::string_view user = "copy");
  ~CopyLock();
  CopyLock(const CopyLock&) = delete;
  CopyLock& operator=(const CopyLock&) = delete;

 private:
  CopyLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  const std::string path_;
  const int descriptor_;
};

}  // namespace stele::cli
