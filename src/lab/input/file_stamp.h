// input/file_stamp.h: detects that a file has changed, without reading it.
//
// Errors:    errors of stat(2).
// Threads:   values and pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace stele::internal::lab {

// Changes when the file is written or replaced, except for writes that restore its time.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modified_seconds = 0;
  int64_t modified_nanos = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Follows symbolic links.
absl::StatusOr<FileStamp> StampOf(const std::string& path);

}  // namespace stele::internal::lab
