// trace/prefix_scans.h: scans of a prefix that ends within a segment, and the keys that they read.
//
// Threads:   confined to one thread.
// Memory:    the bytes that Add() returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/facts/offenders.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

// True if the end of the scan is the end of the prefix `start`.
bool IsPrefixScan(const TraceRecord& record);

class PrefixScans {
 public:
  // Adds an operation of any kind. Returns the additional bytes in memory. `accepts_new`: otherwise
  // only scans of a known prefix are counted.
  size_t Add(const TraceRecord& record, bool accepts_new);

  // Begins to match keys. Prefixes that end with the delimiter, and all of them if it is empty, are
  // left out.
  void Start(std::string_view delimiter);
  // Adds the next key of the table. Keys come in order.
  void Match(std::string_view row_key);

  // The scans that read keys of one segment value and of longer values, too. The samples are the
  // prefixes. Call it after the last key.
  Offenders Clashes() const;

 private:
  struct Scan {
    uint64_t order = 0;  // the first one in the trace has the smallest
    uint64_t count = 0;
    bool has_whole = false;   // a key continues with the delimiter, or ends there
    bool has_longer = false;  // a key continues otherwise
  };
  using Scans = std::map<std::string, Scan, std::less<>>;

  Scans scans_;
  std::string delimiter_;
  Scans::iterator next_ = scans_.end();  // the first one that is above all keys so far
  std::vector<Scans::iterator> open_;    // those that the last key began with, shortest first
};

}  // namespace stele::internal::lab
