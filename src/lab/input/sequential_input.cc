#include "lab/input/sequential_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

// The number of bytes from which the compression of a file is recognized. A read returns fewer only
// at the end.
constexpr size_t kLeastBytes = 16;

absl::Status OnlyReads() { return internal::Unimplemented("a pipe can only be read"); }

}  // namespace

absl::StatusOr<std::unique_ptr<SequentialInput>> SequentialInput::Open(const std::string& path) {
  const bool is_standard_input = path == "-";
  const int descriptor =
      is_standard_input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return internal::ErrnoStatus("open", path, errno);
  return std::unique_ptr<SequentialInput>(
      new SequentialInput(descriptor, is_standard_input ? "standard input" : path));
}

SequentialInput::~SequentialInput() {
  if (descriptor_ != STDIN_FILENO) close(descriptor_);
}

absl::StatusOr<size_t> SequentialInput::Read(uint64_t /*offset*/, size_t bytes, char* out) const {
  size_t done = 0;
  while (done < std::min(bytes, kLeastBytes)) {
    const ssize_t got = read(descriptor_, out + done, bytes - done);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return internal::ErrnoStatus("read", path_, errno);
    done += static_cast<size_t>(got);
  }
  return done;
}

absl::Status SequentialInput::Write(uint64_t /*offset*/, std::string_view /*bytes*/) {
  return OnlyReads();
}
absl::Status SequentialInput::Sync() { return OnlyReads(); }
absl::Status SequentialInput::Truncate(uint64_t /*bytes*/) { return OnlyReads(); }
absl::Status SequentialInput::Allocate(uint64_t /*bytes*/) { return OnlyReads(); }
absl::StatusOr<uint64_t> SequentialInput::Size() const { return OnlyReads(); }

}  // namespace stele::internal::lab
