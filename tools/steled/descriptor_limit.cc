#include "steled/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr uint64_t kDatabaseFilesMax = 4096;  // as in io/posix_descriptor.cc
constexpr uint64_t kOtherFilesMax = 256;

}  // namespace

absl::StatusOr<ConnectionLimits> LimitConnections(uint64_t descriptors_max, bool serves_pages) {
  if (descriptors_max < kDescriptorsMin) {
    return MakeStatus(absl::StatusCode::kResourceExhausted,
                      fmt::format("the process may have {} open files, and needs {} or more: raise "
                                  "the limit (ulimit -n, or LimitNOFILE= of systemd)",
                                  descriptors_max, kDescriptorsMin));
  }
  const uint64_t files = std::min(descriptors_max / 2, kDatabaseFilesMax) +
                         std::min(descriptors_max / 8, kOtherFilesMax);
  const uint64_t connections = descriptors_max - files;
  ConnectionLimits limits;
  if (serves_pages) limits.pages = std::min<uint64_t>(connections / 4, kPageConnectionsMax);
  limits.clients = std::min<uint64_t>(connections - limits.pages, kConnectionsMax);
  return limits;
}

uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace stele::server
