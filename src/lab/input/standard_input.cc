#include "lab/input/standard_input.h"

#include <unistd.h>

#include <cerrno>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

absl::Status OnlyReads() { return internal::Unimplemented("standard input can only be read"); }

}  // namespace

absl::StatusOr<size_t> StandardInput::Read(uint64_t /*offset*/, size_t bytes, char* out) const {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(STDIN_FILENO, out + done, bytes - done);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return internal::ErrnoStatus("read", path_, errno);
    done += static_cast<size_t>(got);
  }
  return done;
}

absl::Status StandardInput::Write(uint64_t /*offset*/, std::string_view /*bytes*/) {
  return OnlyReads();
}
absl::Status StandardInput::Sync() { return OnlyReads(); }
absl::Status StandardInput::Truncate(uint64_t /*bytes*/) { return OnlyReads(); }
absl::Status StandardInput::Allocate(uint64_t /*bytes*/) { return OnlyReads(); }
absl::StatusOr<uint64_t> StandardInput::Size() const { return OnlyReads(); }

}  // namespace stele::internal::lab
