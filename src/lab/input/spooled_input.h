// input/spooled_input.h: standard input, or a text, as a file that can be read several times: a
// copy in the directory for temporary files ($TMPDIR), which is removed with the object.
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

  const std::string& path() const { return path_; }

 private:
  explicit SpooledInput(std::string path) : path_(std::move(path)) {}
  // Creates the file, and calls `fill` with it.
  static absl::StatusOr<std::unique_ptr<SpooledInput>> Create(
      const std::function<absl::Status(int fd, const std::string& path)>& fill);

  const std::string path_;
};

}  // namespace stele::internal::lab
