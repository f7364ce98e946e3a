#include "stele/timestamp.h"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

namespace stele {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(TimestampTest, MillisAreThousandsOfMicrosAndSaturate) {
  EXPECT_EQ(Timestamp::FromMillis(5).micros(), 5'000);
  EXPECT_EQ(Timestamp::FromMillis(-5).micros(), -5'000);
  EXPECT_EQ(Timestamp::FromMillis(kMost / 1000).micros(), kMost / 1000 * 1000);
  EXPECT_EQ(Timestamp::FromMillis(kMost / 1000 + 1).micros(), kMost);
  EXPECT_EQ(Timestamp::FromMillis(kLeast).micros(), kLeast);
}

TEST(TimestampTest, TimePointsRoundDownAndComeBack) {
  const std::chrono::system_clock::time_point time{std::chrono::nanoseconds(1'999)};
  EXPECT_EQ(Timestamp::From(time).micros(), 1);
  EXPECT_EQ(Timestamp::From(std::chrono::system_clock::time_point{-1ns}).micros(), -1);
  EXPECT_EQ(Timestamp::FromMicros(1'700'000'000'123'456).ToTimePoint().time_since_epoch(),
            1'700'000'000'123'456us);
}

TEST(TimestampTest, TimePointsSaturateWhereTheClockEnds) {
  EXPECT_EQ(Timestamp::FromMicros(kMost).ToTimePoint(),
            std::chrono::system_clock::time_point::max());
  EXPECT_EQ(Timestamp::FromMicros(kLeast).ToTimePoint(),
            std::chrono::system_clock::time_point::min());
}

TEST(TimestampTest, PrintsRfc3339) {
  struct Case {
    int64_t micros;
    const char* text;
  };
  const Case cases[] = {
      {0, "1970-01-01T00:00:00.000000Z"},
      {-1, "1969-12-31T23:59:59.999999Z"},
      {1'700'000'000'000'000, "2023-11-14T22:13:20.000000Z"},
      {951'782'400'000'001, "2000-02-29T00:00:00.000001Z"},
      {253'402'300'799'999'999, "9999-12-31T23:59:59.999999Z"},
      {253'402'300'800'000'000, "+10000-01-01T00:00:00.000000Z"},
      {-62'167'219'200'000'000, "0000-01-01T00:00:00.000000Z"},
      {-62'167'219'200'000'001, "-0001-12-31T23:59:59.999999Z"},
      {kMost, "+294247-01-10T04:00:54.775807Z"},
      {kLeast, "-290308-12-21T19:59:05.224192Z"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Timestamp::FromMicros(c.micros).ToString(), c.text);
    std::ostringstream out;
    out << Timestamp::FromMicros(c.micros);
    EXPECT_EQ(out.str(), c.text);
  }
}

TEST(TimestampTest, EncodeInt64IsBigEndianTwosComplement) {
  EXPECT_EQ(EncodeInt64(0), std::string(8, '\0'));
  EXPECT_EQ(EncodeInt64(0x0102030405060708), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(EncodeInt64(-2), "\xff\xff\xff\xff\xff\xff\xff\xfe");
}

TEST(ManualClockTest, MovesOnlyWhenMoved) {
  ManualClock clock(Timestamp::FromMicros(10));
  EXPECT_EQ(clock.Now().micros(), 10);
  EXPECT_EQ(clock.Now().micros(), 10);
  clock.Advance(1h);
  EXPECT_EQ(clock.Now().micros(), 3'600'000'010);
  clock.Advance(-1h);
  EXPECT_EQ(clock.Now().micros(), 10);
  clock.Set(Timestamp::FromMillis(7));
  EXPECT_EQ(clock.Now().micros(), 7'000);
}

TEST(ManualClockTest, LosesNoStepOfManyThreads) {
  ManualClock clock;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&clock] {
      for (int step = 0; step < 10'000; ++step) clock.Advance(1us);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.Now().micros(), 40'000);
}

}  // namespace
}  // namespace stele
