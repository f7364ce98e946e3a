// tools/stele/copy_lock.h: locks a file of marks, so that two concurrent runs of `stele copy` or
// `stele archive` do not share it. Otherwise the marks would record only a part of each run.
//
// How:       flock on a separate file next to the marks, because the marks are replaced as a whole
//            file. The lock file is removed at the end. A lock file that a killed run left blocks
//            no other run.
// Errors:    FailedPrecondition while another run has the lock; errors of the file system.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::cli {

class CopyLock {
 public:
  // `user` is what uses the file, for messages.
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
