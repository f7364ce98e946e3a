// cell/timestamp_span.h: the range of timestamps that a read can need.
//
// Used by:   filter/reach.cc derives it from a filter, read/chain_options.cc from that and the GC
//            rules. By their statistics, sources may skip versions outside of it without reading
//            them. They never leave out tombstones for it (engine rule 12).
// Units:     microseconds, both ends inclusive.
// Threads:   plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace stele::internal {

struct TimestampSpan {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t greatest = std::numeric_limits<int64_t>::max();

  bool IsAll() const { return *this == TimestampSpan(); }
  bool IsEmpty() const { return least > greatest; }
  bool Contains(int64_t timestamp) const { return timestamp >= least && timestamp <= greatest; }
  // True if the span overlaps [other_least, other_greatest].
  bool Meets(int64_t other_least, int64_t other_greatest) const {
    return other_least <= greatest && other_greatest >= least;
  }

  friend bool operator==(const TimestampSpan&, const TimestampSpan&) = default;
};

}  // namespace stele::internal
