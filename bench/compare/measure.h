// bench/compare/measure.h: measures the cost of a section of work to the process: time, CPU,
// memory, bytes written, and bytes on disk.
//
// Threads:   One measurement at a time. CPU time and memory include all threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "figure.h"

namespace stele_compare {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// CPU time of this process so far.
double CpuSeconds();

// Starts at construction and resets the peak of resident memory.
class Meter {
 public:
  Meter();
  double Seconds() const { return SecondsSince(start_); }
  // Sets the cost since construction, and the present size on disk.
  void Read(const std::string& directory, Figure* figure) const;

 private:
  Clock::time_point start_;
  double cpu_seconds_;
  uint64_t written_bytes_;
};

// The latencies of operations.
class Latencies {
 public:
  explicit Latencies(size_t count) { nanos_.reserve(count); }
  void Add(Clock::duration time);
  void Append(const Latencies& other) {
    nanos_.insert(nanos_.end(), other.nanos_.begin(), other.nanos_.end());
  }
  void Read(Figure* figure);

 private:
  std::vector<uint32_t> nanos_;
};

uint64_t DiskBytes(const std::string& directory);
// SyncFiles writes back every file. ReadFiles brings the files into the page cache, and
// DropFromPageCache removes them from it.
void SyncFiles(const std::string& directory);
void ReadFiles(const std::string& directory);
void DropFromPageCache(const std::string& directory);

// Describes the machine, such as "Xeon ..., 2 cores, 23 GiB, Linux 6.1.0, ext4".
std::string MachineText(const std::string& directory);

}  // namespace stele_compare
