// tests/support/io_descriptor_limit.h: lowers the process's limit of open files for a scope, and
// uses up all descriptors below it.
//
// Threads:   The limit applies to the whole process. Use one instance at a time.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace stele::internal {

class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t descriptors) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit low{.rlim_cur = descriptors, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Opens files until no more can be opened. The destructor closes them.
class DescriptorHog {
 public:
  DescriptorHog() { Take(); }
  DescriptorHog(const DescriptorHog&) = delete;
  DescriptorHog& operator=(const DescriptorHog&) = delete;
  ~DescriptorHog() {
    for (const int fd : taken_) ::close(fd);
  }
  // Also takes the descriptors that were freed since the last call.
  void Take() {
    for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0;
         fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC))
      taken_.push_back(fd);
  }
  size_t count() const { return taken_.size(); }

 private:
  std::vector<int> taken_;
};

inline int OpenDescriptorCount() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace stele::internal
