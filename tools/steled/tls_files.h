// steled/tls_files.h: reads the PEM files of --tls-cert, --tls-key and --tls-client-ca.
//
// The server reads them at the start and after SIGHUP. A wrong path must not stop it: a directory,
// a FIFO and a device are errors, and so is a file system that does not respond.
//
// Errors:    InvalidArgument for a file that cannot be used; Unavailable if reading takes too long;
//            ResourceExhausted without memory.
//            Each names the flag or the variable, and the path.
// Threads:   thread-safe functions.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "steled/flags.h"
#include "steled/transport/transport.h"

namespace stele::server {

// The largest PEM file. A chain of certificates has a few KiB.
inline constexpr size_t kPemBytesMax = size_t{1} << 20;

// Returns the texts of the files that `flags` name. All are empty without --tls-cert.
absl::StatusOr<TlsFiles> ReadTlsFiles(const Flags& flags);

// Returns the result of `read`, which runs on a thread of its own. After `limit` it returns
// Unavailable and leaves the thread behind: a read from a file system that does not respond cannot
// be cancelled. An exception of `read` becomes an error (StatusOfException).
absl::StatusOr<TlsFiles> ReadWithin(std::chrono::milliseconds limit,
                                    std::function<absl::StatusOr<TlsFiles>()> read);

}  // namespace stele::server
