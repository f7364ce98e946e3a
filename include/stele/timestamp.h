// stele/timestamp.h: timestamps, timestamp ranges and clocks.
//
// Units:     microseconds since 1970-01-01T00:00:00Z, signed 64-bit.
// Threads:   values, except TimestampClock.
// Source:    google.bigtable.v2 `timestamp_micros`, `TimestampRange`.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>

#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
inline namespace v0 {

// A point in time. A distinct type, so that milliseconds are never mistaken for microseconds.
// Default: the epoch (0), which is a valid timestamp of a cell.
class Timestamp {
 public:
  constexpr Timestamp() = default;

  // Constructs a timestamp from microseconds since the epoch.
  static constexpr Timestamp FromMicros(int64_t micros) { return Timestamp(micros); }
  // Constructs a timestamp from milliseconds since the epoch. Saturates at the limits of 64 bits,
  // about the years -290308 and 294247.
  static constexpr Timestamp FromMillis(int64_t millis) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    if (millis > kMost / 1000) return Timestamp(kMost);
    if (millis < kLeast / 1000) return Timestamp(kLeast);
    return Timestamp(millis * 1000);
  }
  // Converts a time of the system clock. Rounds down to whole microseconds.
  static Timestamp From(std::chrono::system_clock::time_point time) {
    return Timestamp(
        std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count());
  }

  // Microseconds since the epoch.
  constexpr int64_t micros() const { return micros_; }
  // Converts to a time of the system clock. Saturates if the range of system_clock is smaller; a
  // clock in nanoseconds ends in 2262.
  std::chrono::system_clock::time_point ToTimePoint() const;

  // Formats as RFC 3339 in UTC with microseconds: "2023-11-14T22:13:20.000000Z". A year outside
  // 0000-9999, which RFC 3339 does not define, has a sign and all its digits:
  // "+294247-01-10T04:00:54.775807Z".
  std::string ToString() const;

  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;

 private:
  explicit constexpr Timestamp(int64_t micros) : micros_(micros) {}

  int64_t micros_ = 0;
};

std::ostream& operator<<(std::ostream& out, Timestamp timestamp);

// The half-open range [start, end). Default: all timestamps from the epoch on. If `end` is not set,
// the range is unbounded. An explicit end of 0 is literal; only the wire format reads 0 as "no
// end".
//
// Errors when used: InvalidArgument for start > end, and for a negative bound. In a table with
// millisecond granularity, also for a bound that is not a multiple of 1000. start == end matches
// nothing in a filter and is InvalidArgument in DeleteFromColumn.
struct TimestampRange {
  Timestamp start = {};
  std::optional<Timestamp> end = std::nullopt;

  friend bool operator==(const TimestampRange&, const TimestampRange&) = default;
};

// Encodes a number as eight bytes, big-endian two's complement, as counters store it. The inverse
// is CellView::AsInt64.
[[nodiscard]] std::string EncodeInt64(int64_t value);

// The interface of a database's clock, which stamps cells that have no timestamp and measures ages.
//
// Implement it and set DatabaseOptions.clock; the database then uses no other clock. Reads, and
// cells without a timestamp, use Now(), even after it went back. Flushes and compactions remove
// cells by age only while Now() agrees with Elapsed(), or if the clock is authoritative
// (docs/guide/schema-and-gc.md).
// Threads:   all functions are called from several threads concurrently. They must not call into
//            the database.
class TimestampClock {
 public:
  TimestampClock() = default;
  TimestampClock(const TimestampClock&) = delete;
  TimestampClock& operator=(const TimestampClock&) = delete;
  virtual ~TimestampClock();

  // Returns the current time.
  virtual Timestamp Now() = 0;
  // Returns the time since some fixed moment. It never goes back, and does not jump when Now() is
  // set. Default: the machine's time since it started, with the time that it was suspended.
  virtual std::chrono::microseconds Elapsed();
  // Returns true if Now() is right by definition, as in tests and replays. It is then not compared
  // with Elapsed(). The answer must never change. Default: false.
  virtual bool is_authoritative() const { return false; }
};

// A clock for tests that changes only by Advance() and Set(). It is authoritative: cells are
// collected at the age that it states. Thread-safe.
class ManualClock : public TimestampClock {
 public:
  // Constructs a clock whose time is `now`.
  explicit ManualClock(Timestamp now = {}) : micros_(now.micros()) {}
  ~ManualClock() override;

  // Returns the time that was set last.
  Timestamp Now() override {
    return Timestamp::FromMicros(micros_.load(std::memory_order_acquire));
  }
  bool is_authoritative() const override { return true; }
  // Adds `step`, which may be negative.
  void Advance(std::chrono::microseconds step) {
    micros_.fetch_add(step.count(), std::memory_order_acq_rel);
  }
  // Sets the time, also to an earlier one.
  void Set(Timestamp now) { micros_.store(now.micros(), std::memory_order_release); }

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace v0
}  // namespace stele
