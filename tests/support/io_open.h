// tests/support/io_open.h: opens files of a CrashFileSystem in tests that expect every open to
// succeed.
//
// Threads:   As the file system.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "support/crash_fs/crash_file_system.h"

namespace stele::internal {

inline std::unique_ptr<File> Open(CrashFileSystem& fs, const std::string& path,
                                  OpenMode mode = OpenMode::kReadWrite) {
  absl::StatusOr<std::unique_ptr<File>> file = fs.Open(path, mode);
  EXPECT_TRUE(file.ok()) << file.status();
  return std::move(*file);
}

}  // namespace stele::internal
