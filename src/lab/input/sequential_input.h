// input/sequential_input.h: standard input or a pipe as a file that is read once, from its
// beginning.
//
// Errors:    those of open(2) and read(2); Unimplemented for everything but reading.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "io/file_system.h"

namespace stele::internal::lab {

class SequentialInput : public internal::File {
 public:
  // "-" is standard input, which stays open after the object.
  static absl::StatusOr<std::unique_ptr<SequentialInput>> Open(const std::string& path);
  ~SequentialInput() override;
  SequentialInput(const SequentialInput&) = delete;
  SequentialInput& operator=(const SequentialInput&) = delete;

  // `offset` must be the end of the previous read. Returns as soon as 16 bytes or the end of the
  // input are read, even if `bytes` is larger.
  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override;
  absl::Status Write(uint64_t offset, std::string_view bytes) override;
  absl::Status Sync() override;
  absl::Status Truncate(uint64_t bytes) override;
  absl::Status Allocate(uint64_t bytes) override;
  absl::StatusOr<uint64_t> Size() const override;
  const std::string& path() const override { return path_; }

 private:
  SequentialInput(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  const int descriptor_;
  const std::string path_;
};

}  // namespace stele::internal::lab
