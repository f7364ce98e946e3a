// tools/stele/copy_lock.h: keeps two runs of `stele copy` from sharing one file of marks, which would speak of what only one of them
// copied.
//
// How:       flock on a file beside the marks, for they are replaced whole. It is removed at the end; one that a killed run left locks
//            nobody out.
// Errors:    FailedPrecondition while another run has it; what the file system answers.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace stele::cli {

class CopyLock {
 public:
  static absl::StatusOr<std::unique_ptr<CopyLock>> Take(const std::string& mark_path);
  ~CopyLock();
  CopyLock(const CopyLock&) = delete;
  CopyLock& operator=(const CopyLock&) = delete;

 private:
  CopyLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  const std::string path_;
  const int descriptor_;
};

}  // namespace stele::cli
