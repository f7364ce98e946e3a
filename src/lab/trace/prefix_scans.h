// trace/prefix_scans.h: finds scans of a prefix that does not end with a delimiter, and so read the
// keys of other segment values, too.
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
  // Adds an operation of any kind. Only scans of a prefix count. Returns the additional bytes in
  // memory. If `accepts_new` is false, only scans of a known prefix count.
  size_t Add(const TraceRecord& record, bool accepts_new);

  // Begins to match keys. Drops the prefixes that end with the delimiter, or all of them if the
  // delimiter is empty.
  void Start(std::string_view delimiter);
  // Adds the next key of the table. Keys come in order.
  void Match(std::string_view row_key);

  // Returns the scans whose prefix ends with a whole segment value in one key, and within a longer
  // value in another key. For instance "u#1" reads u#1#a and u#12#a. The samples are the prefixes.
  // Call it after the last key.
  Offenders Clashes() const;

 private:
  struct Scan {
    uint64_t order = 0;  // the first one in the trace has the smallest
    uint64_t count = 0;
    bool has_whole = false;   // a key continues with the delimiter, or ends there
    bool has_longer = false;  // a key continues with another byte
  };
  using Scans = std::map<std::string, Scan, std::less<>>;

  Scans scans_;
  std::string delimiter_;
  Scans::iterator next_ = scans_.end();  // the first one that is above all keys so far
  std::vector<Scans::iterator> open_;    // the prefixes of the last key, shortest first
};

}  // namespace stele::internal::lab
