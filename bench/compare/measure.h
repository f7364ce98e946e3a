// bench/compare/measure.h: what a stretch of work costs the process: time, CPU, memory, bytes written, bytes on disk.
//
// Threads:   one at a time; the CPU and memory counted are those of all threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "figure.h"

namespace stele_compare {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Of this process so far.
double CpuSeconds();

// Starts where it is made; the peak of resident memory begins again there.
class Meter {
 public:
  Meter();
  double Seconds() const { return SecondsSince(start_); }
  // Cost until now, and what is on disk now.
  void Read(const std::string& directory, Figure* figure) const;

 private:
  Clock::time_point start_;
  double cpu_seconds_;
  uint64_t written_bytes_;
};

// Times of operations.
class Latencies {
 public:
  explicit Latencies(size_t count) { nanos_.reserve(count); }
  void Add(Clock::duration time);
  void Append(const Latencies& other) { nanos_.insert(nanos_.end(), other.nanos_.begin(), other.nanos_.end()); }
  void Read(Figure* figure);

 private:
  std::vector<uint32_t> nanos_;
};

uint64_t DiskBytes(const std::string& directory);
// Writes back every file; brings it into the page cache; out of it.
void SyncFiles(const std::string& directory);
void ReadFiles(const std::string& directory);
void DropFromPageCache(const std::string& directory);

// "Xeon ..., 2 cores, 23 GiB, Linux 6.1.0, ext4": where the figures are from.
std::string MachineText(const std::string& directory);

}  // namespace stele_compare
