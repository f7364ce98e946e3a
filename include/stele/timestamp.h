// stele/timestamp.h: points in time, ranges of them, and the clocks that give them.
//
// Units:     microseconds since 1970-01-01T00:00:00Z, signed 64 bit.
// Threads:   values; Clock is called from many threads at once.
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

namespace stele {
inline namespace v0 {

// A point in time. A strong type, so that a count of milliseconds is never taken for one of microseconds.
// Default: the epoch (0), which is a legal timestamp of a cell.
class Timestamp {
 public:
  constexpr Timestamp() = default;

  static constexpr Timestamp FromMicros(int64_t micros) { return Timestamp(micros); }
  // Saturates at the ends of the 64-bit range (about the years -290308 and 294247).
  static constexpr Timestamp FromMillis(int64_t millis) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    if (millis > kMost / 1000) return Timestamp(kMost);
    if (millis < kLeast / 1000) return Timestamp(kLeast);
    return Timestamp(millis * 1000);
  }
  // Rounds down to whole microseconds.
  static Timestamp From(std::chrono::system_clock::time_point time) {
    return Timestamp(std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count());
  }

  constexpr int64_t micros() const { return micros_; }
  // Saturates where system_clock's range is narrower than 64 bits of microseconds (nanosecond clocks end in 2262).
  std::chrono::system_clock::time_point ToTimePoint() const;

  // RFC 3339 in UTC with six digits of microseconds: "2023-11-14T22:13:20.000000Z". Years outside 0000-9999, which RFC 3339 does not
  // know, are printed with a sign and as many digits as they need: "+294247-01-10T04:00:54.775807Z".
  std::string ToString() const;

  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;

 private:
  explicit constexpr Timestamp(int64_t micros) : micros_(micros) {}

  int64_t micros_ = 0;
};

std::ostream& operator<<(std::ostream& out, Timestamp timestamp);

// The half-open range [start, end). No end: unbounded. An explicit end is meant literally, 0 too (the wire's "0 means no end" is the
// server's business). Default: everything from the epoch on.
// Errors at use: start > end, or a negative bound, is InvalidArgument everywhere. start == end reads nothing in a filter and is
// InvalidArgument in DeleteFromColumn. In a table of millisecond granularity bounds that are no multiple of 1000 are InvalidArgument.
struct TimestampRange {
  Timestamp start = {};
  std::optional<Timestamp> end = std::nullopt;

  friend bool operator==(const TimestampRange&, const TimestampRange&) = default;
};

// Eight bytes, big-endian two's complement: the form in which counters hold their value (see CellView::AsInt64).
std::string EncodeInt64(int64_t value);

// A source of time for a database: stamps cells that come without a timestamp, and measures ages. Give one in DatabaseOptions.clock to
// test rules of age; the database then reads no other clock. It never goes back: a clock that does is held at its greatest value so far.
// Threads: Now() is called from many threads at once and must be safe for that. Now() must not call into the database.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock();

  virtual Timestamp Now() = 0;
};

// A clock that stands still until it is moved. Thread-safe.
class ManualClock : public Clock {
 public:
  explicit ManualClock(Timestamp now = {}) : micros_(now.micros()) {}
  ~ManualClock() override;

  Timestamp Now() override { return Timestamp::FromMicros(micros_.load(std::memory_order_acquire)); }
  // Moves by `step`, back if it is negative.
  void Advance(std::chrono::microseconds step) { micros_.fetch_add(step.count(), std::memory_order_acq_rel); }
  void Set(Timestamp now) { micros_.store(now.micros(), std::memory_order_release); }

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace v0
}  // namespace stele
