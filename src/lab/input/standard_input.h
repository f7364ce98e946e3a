// input/standard_input.h: standard input as a file that is read once, from its beginning.
//
// Errors:    those of read(2); Unimplemented for everything but reading.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/file_system.h"

namespace stele::internal::lab {

class StandardInput : public internal::File {
 public:
  // `offset` must be the end of the previous read.
  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override;
  absl::Status Write(uint64_t offset, std::string_view bytes) override;
  absl::Status Sync() override;
  absl::Status Truncate(uint64_t bytes) override;
  absl::Status Allocate(uint64_t bytes) override;
  absl::StatusOr<uint64_t> Size() const override;
  const std::string& path() const override { return path_; }

 private:
  const std::string path_ = "standard input";
};

}  // namespace stele::internal::lab
