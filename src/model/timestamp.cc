#include "stele/timestamp.h"

#include <fmt/format.h>
#include <time.h>

#include <ostream>

namespace stele {
inline namespace v0 {
namespace {

constexpr int64_t kMicrosPerDay = int64_t{86'400} * 1'000'000;
constexpr int64_t kDaysPer400Years = 146'097;

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

TimestampClock::~TimestampClock() = default;

std::chrono::microseconds TimestampClock::Elapsed() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::duration_cast<std::chrono::microseconds>(
                                                 std::chrono::nanoseconds(time.tv_nsec));
}

ManualClock::~ManualClock() = default;

std::chrono::system_clock::time_point Timestamp::ToTimePoint() const {
  using std::chrono::microseconds;
  using Duration = std::chrono::system_clock::duration;
  constexpr int64_t kMost = std::chrono::floor<microseconds>(Duration::max()).count();
  constexpr int64_t kLeast = std::chrono::ceil<microseconds>(Duration::min()).count();
  if (micros_ > kMost) return std::chrono::system_clock::time_point::max();
  if (micros_ < kLeast) return std::chrono::system_clock::time_point::min();
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<Duration>(microseconds(micros_)));
}

std::string Timestamp::ToString() const {
  const int64_t days = FloorDivide(micros_, kMicrosPerDay);
  const int64_t micros_of_day =
      micros_ % kMicrosPerDay + (micros_ % kMicrosPerDay < 0 ? kMicrosPerDay : 0);
  // The calendar repeats every 400 years, and std::chrono's years end at 32767. So convert the date
  // within one cycle and add the cycles.
  const int64_t cycles = FloorDivide(days, kDaysPer400Years);
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{days - cycles * kDaysPer400Years}}};
  const int64_t year = static_cast<int>(date.year()) + 400 * cycles;
  const int64_t seconds_of_day = micros_of_day / 1'000'000;
  const std::string year_text =
      year >= 0 && year <= 9999 ? fmt::format("{:04}", year) : fmt::format("{:+05}", year);
  return fmt::format("{}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", year_text,
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     seconds_of_day / 3600, seconds_of_day / 60 % 60, seconds_of_day % 60,
                     micros_of_day % 1'000'000);
}

std::ostream& operator<<(std::ostream& out, Timestamp timestamp) {
  return out << timestamp.ToString();
}

std::string EncodeInt64(int64_t value) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i)
    out[i] = static_cast<char>(static_cast<uint64_t>(value) >> (56 - 8 * i));
  return out;
}

}  // namespace v0
}  // namespace stele
