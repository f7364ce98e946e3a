// input/spooled_input.h: standard input, or a text, as a file that can be read several times: a
// copy in the directory for temporary files ($TMPDIR). The file has no name, so it ends with the
// object, and also with a process that a signal ends.
//
// Errors:    errors of the file system.
// Threads:   confined to one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::internal::lab {

class SpooledInput {
 public:
  // Reads standard input to its end.
  static absl::StatusOr<std::unique_ptr<SpooledInput>> Read();
  // Writes `text`.
  static absl::StatusOr<std::unique_ptr<SpooledInput>> Write(std::string_view text);
  ~SpooledInput();
  SpooledInput(const SpooledInput&) = delete;
  SpooledInput& operator=(const SpooledInput&) = delete;

  // The path of the descriptor, which opens the file while the object exists.
  const std::string& path() const { return path_; }

 private:
  SpooledInput(int fd, std::string path, bool has_name)
      : fd_(fd), path_(std::move(path)), has_name_(has_name) {}
  // Creates the file, and calls `fill` with it.
  static absl::StatusOr<std::unique_ptr<SpooledInput>> Create(
      const std::function<absl::Status(int fd, const std::string& path)>& fill);

  const int fd_;
  const std::string path_;
  const bool has_name_;  // in the directory, on a system without /proc
};

}  // namespace stele::internal::lab
