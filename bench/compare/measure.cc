#include "measure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

namespace stele_compare {
namespace {

// Returns the number after `name` in a file of lines "name: number"; 0 if the name is absent.
uint64_t NumberIn(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10);
  }
  return 0;
}

std::string TextIn(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Calls `visit` with a descriptor of each regular file.
template <typename Visit>
void ForEachFile(const std::string& directory, Visit visit) {
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    if (!entry.is_regular_file(error)) continue;
    const int descriptor = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;
    visit(descriptor);
    close(descriptor);
  }
}

}  // namespace

void SetText(char* out, size_t out_bytes, std::string_view text) {
  const size_t bytes = std::min(out_bytes - 1, text.size());
  std::memcpy(out, text.data(), bytes);
  out[bytes] = '\0';
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

Meter::Meter() {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak to the present resident memory
  cpu_seconds_ = CpuSeconds();
  written_bytes_ = NumberIn("/proc/self/io", "wchar:");
  start_ = Clock::now();
}

void Meter::Read(const std::string& directory, Figure* figure) const {
  figure->cpu_seconds = CpuSeconds() - cpu_seconds_;
  figure->written_bytes = NumberIn("/proc/self/io", "wchar:") - written_bytes_;
  figure->rss_bytes = NumberIn("/proc/self/status", "VmHWM:") * 1024;
  figure->disk_bytes = DiskBytes(directory);
}

void Latencies::Add(Clock::duration time) {
  const int64_t nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  nanos_.push_back(static_cast<uint32_t>(std::min<int64_t>(nanos, UINT32_MAX)));
}

void Latencies::Read(Figure* figure) {
  if (nanos_.empty()) return;
  std::sort(nanos_.begin(), nanos_.end());
  const auto quantile = [this](double share) {
    return nanos_[static_cast<size_t>(share * static_cast<double>(nanos_.size() - 1))] / 1e3;
  };
  figure->p50_us = quantile(0.5);
  figure->p99_us = quantile(0.99);
  figure->p999_us = quantile(0.999);
}

uint64_t DiskBytes(const std::string& directory) {
  uint64_t bytes = 0;
  ForEachFile(directory, [&bytes](int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) == 0) bytes += static_cast<uint64_t>(status.st_blocks) * 512;
  });
  return bytes;
}

void SyncFiles(const std::string& directory) {
  ForEachFile(directory, [](int descriptor) { fsync(descriptor); });
}

void ReadFiles(const std::string& directory) {
  std::vector<char> buffer(1 << 20);
  ForEachFile(directory, [&buffer](int descriptor) {
    while (read(descriptor, buffer.data(), buffer.size()) > 0) {
    }
  });
}

void DropFromPageCache(const std::string& directory) {
  ForEachFile(directory, [](int descriptor) {
    fsync(descriptor);  // only clean pages can be evicted
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  });
}

std::string MachineText(const std::string& directory) {
  utsname system{};
  uname(&system);
  struct statfs file_system {};
  statfs(directory.c_str(), &file_system);
  std::string file_system_name =
      fmt::format("file system {:#x}", static_cast<uint64_t>(file_system.f_type));
  if (file_system.f_type == 0xEF53) file_system_name = "ext4";
  if (file_system.f_type == 0x01021994) file_system_name = "tmpfs";
  if (file_system.f_type == 0x58465342) file_system_name = "xfs";
  if (file_system.f_type == 0x794c7630) file_system_name = "overlayfs";
  return fmt::format("{}, {} cores, {} GiB, {} {}, {}", TextIn("/proc/cpuinfo", "model name"),
                     std::thread::hardware_concurrency(),
                     NumberIn("/proc/meminfo", "MemTotal:") >> 20, system.sysname, system.release,
                     file_system_name);
}

}  // namespace stele_compare
