// export/gzip_file.h: writes a gzip file, and computes its MD5.
//
// Errors:    errors of the file system.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "lab/input/md5.h"

namespace stele::internal::lab {

class GzipFile {
 public:
  // The file must not exist.
  static absl::StatusOr<std::unique_ptr<GzipFile>> Create(const std::string& path);
  ~GzipFile();

  absl::Status Add(std::string_view bytes);
  // Completes the file, makes it durable, and returns its MD5 as base64.
  absl::StatusOr<std::string> Finish();
  // How many bytes the file has so far.
  uint64_t stored_bytes() const { return offset_; }

 private:
  struct Stream;

  explicit GzipFile(std::unique_ptr<File> file);
  absl::Status Deflate(std::string_view bytes, int flush);

  const std::unique_ptr<File> file_;
  std::unique_ptr<Stream> stream_;
  Md5 md5_;
  uint64_t offset_ = 0;
};

}  // namespace stele::internal::lab
