// steled/descriptor_limit.h: divides the open files that the process may have between the database
// and the connections of clients.
//
// Rule:      half of the limit is for the database's SSTables, 4,096 at most, as in
//            io/posix_descriptor.h. An eighth, 256 at most, is for its other files and for backups.
//            Connections get what remains. So idle clients never take the descriptor that a flush
//            needs.
// Errors:    ResourceExhausted for a limit that is too low to serve with.
// Threads:   LimitConnections is a pure function. Call RaiseDescriptorLimit before other threads
//            open files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace stele::server {

inline constexpr uint64_t kDescriptorsMin = 256;
inline constexpr size_t kConnectionsMax = 4096;
inline constexpr size_t kPageConnectionsMax = 1024;

// How many connections may be open at once.
struct ConnectionLimits {
  size_t clients = 0;  // of the API
  size_t pages = 0;    // of --metrics
};

// `descriptors_max` is the soft RLIMIT_NOFILE. Without pages, clients get their connections, too.
absl::StatusOr<ConnectionLimits> LimitConnections(uint64_t descriptors_max, bool serves_pages);

// Raises the soft RLIMIT_NOFILE to the hard limit. Returns the soft limit that is in force, 0 if it
// cannot be read.
uint64_t RaiseDescriptorLimit();

}  // namespace stele::server
