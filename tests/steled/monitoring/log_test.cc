// Tests the lines of the log: their formats, their limits, and the lines about calls.
#include "steled/base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "steled/monitoring/call_log.h"

namespace stele::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// 2026-11-24T14:16:46.007Z
const std::chrono::system_clock::time_point kTime{milliseconds(1'795'529'806'007)};

std::string Line(LogFormat format, std::string_view message, const LogFields& fields) {
  return LogLine(format, kTime, LogLevel::kWarning, message, fields);
}

TEST(LogLine, TextNamesTimeLevelMessageAndFields) {
  EXPECT_EQ(Line(LogFormat::kText, "a call was slow",
                 {{"method", "/s/m"}, {"duration_ms", int64_t{2041}}, {"share", 0.5}}),
            "2026-11-24T14:16:46.007Z warning: a call was slow method=/s/m duration_ms=2041 "
            "share=0.5\n");
}

TEST(LogLine, TextQuotesWhatCouldBeMistaken) {
  EXPECT_EQ(Line(LogFormat::kText, "m", {{"a", ""}, {"b", "x y"}, {"c", "x=\"y\""}}),
            "2026-11-24T14:16:46.007Z warning: m a=\"\" b=\"x y\" c=\"x=\\\"y\\\"\"\n");
}

TEST(LogLine, TextIsOneLineWhateverIsInIt) {
  EXPECT_EQ(Line(LogFormat::kText, "a\nb\x1b", {{"k", "v\n2026 error: forged"}}),
            "2026-11-24T14:16:46.007Z warning: a\\x0ab\\x1b k=\"v\\n2026 error: forged\"\n");
}

TEST(LogLine, JsonIsOneObjectWithTypes) {
  const std::string line =
      Line(LogFormat::kJson, "m \"quoted\"\n", {{"text", "a\\b\n\t\x01"}, {"number", int64_t{-3}}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const nlohmann::json json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("time"), "2026-11-24T14:16:46.007Z");
  EXPECT_EQ(json.at("level"), "warning");
  EXPECT_EQ(json.at("message"), "m \"quoted\"\n");
  EXPECT_EQ(json.at("text"), "a\\b\n\t\x01");
  EXPECT_EQ(json.at("number"), -3);
}

TEST(LogLine, JsonIsValidWhateverBytesAreInIt) {
  const std::string line = Line(LogFormat::kJson, "\xff\xfe", {{"k", std::string("\x80\0z", 3)}});
  const nlohmann::json json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("message"), "\xef\xbf\xbd\xef\xbf\xbd") << "U+FFFD";
  EXPECT_EQ(json.at("k"), std::string("\xef\xbf\xbd\0z", 5));
}

TEST(LogLimit, ABurstAndThenOneLineASecond) {
  LogLimit limit;
  LogLimit::TimePoint now{seconds(1'000'000)};
  int64_t suppressed = -1;
  for (int i = 0; i < LogLimit::kBurst; ++i) {
    EXPECT_TRUE(limit.Take(now, &suppressed)) << i;
    EXPECT_EQ(suppressed, 0);
  }
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(limit.Take(now, &suppressed));
  now += milliseconds(999);
  EXPECT_FALSE(limit.Take(now, &suppressed));
  now += milliseconds(1);
  EXPECT_TRUE(limit.Take(now, &suppressed));
  EXPECT_EQ(suppressed, 8);
  EXPECT_FALSE(limit.Take(now, &suppressed));
  now += seconds(2 * LogLimit::kBurst);
  for (int i = 0; i < LogLimit::kBurst; ++i) EXPECT_TRUE(limit.Take(now, &suppressed)) << i;
  EXPECT_FALSE(limit.Take(now, &suppressed)) << "unused seconds do not add up beyond a burst";
  EXPECT_EQ(limit.TakeSuppressed(), 1);
  EXPECT_EQ(limit.TakeSuppressed(), 0);
}

class CallLogTest : public testing::Test {
 protected:
  // What `act` logs.
  template <typename Act>
  static std::string Logged(const Act& act) {
    testing::internal::CaptureStderr();
    act();
    return testing::internal::GetCapturedStderr();
  }
  std::string LoggedCall(const std::string& path, milliseconds elapsed) {
    return Logged([&] { log_.OnEnd({path, kPeer, absl::StatusCode::kNotFound, elapsed, 12, 34}); });
  }
  std::string LoggedRefusal(RefusalCause cause) {
    return Logged([&] { log_.OnRefused({kRead, kPeer, absl::StatusCode::kUnavailable, cause}); });
  }

  static inline const std::string kRead = "/google.bigtable.v2.Bigtable/ReadRows";
  static inline const std::string kPeer = "10.0.0.7:4711";
  CallLog log_{milliseconds(50), nullptr};
};

TEST_F(CallLogTest, ASlowCallIsALine) {
  EXPECT_EQ(LoggedCall(kRead, milliseconds(49)), "");
  const std::string line = LoggedCall(kRead, milliseconds(50));
  EXPECT_TRUE(line.ends_with(
      "Z warning: a call was slow method=/google.bigtable.v2.Bigtable/ReadRows code=NOT_FOUND "
      "duration_ms=50 received_bytes=12 sent_bytes=34 peer=10.0.0.7:4711\n"))
      << line;
}

TEST_F(CallLogTest, CallsThatWaitByDesignAreNotSlow) {
  EXPECT_EQ(LoggedCall("/grpc.health.v1.Health/Watch", seconds(100)), "");
  EXPECT_EQ(LoggedCall("/google.longrunning.Operations/WaitOperation", seconds(30)), "");
}

TEST_F(CallLogTest, ZeroLogsNoCallAsSlow) {
  CallLog log(milliseconds(0), nullptr);
  EXPECT_EQ(Logged([&] {
              log.OnEnd({kRead, kPeer, absl::StatusCode::kOk, seconds(100), 0, 0});
            }),
            "");
}

TEST_F(CallLogTest, AnExhaustedPoolIsALine) {
  for (const auto& [cause, text] : {std::pair(RefusalCause::kCallLimit, "--max-calls"),
                                    {RefusalCause::kConnectionCallLimit, "--max-calls"},
                                    {RefusalCause::kOtherCallLimit, "administration"},
                                    {RefusalCause::kMemory, "memory for requests"}}) {
    const std::string line = LoggedRefusal(cause);
    EXPECT_NE(line.find(text), std::string::npos) << line;
    EXPECT_NE(line.find(" cause=" + std::string(NameOf(cause)) + " "), std::string::npos) << line;
    EXPECT_NE(line.find(" peer=10.0.0.7:4711\n"), std::string::npos) << line;
  }
  EXPECT_NE(Logged([&] { log_.OnConnectionRefused(kPeer); }).find("limit of connections"),
            std::string::npos);
}

TEST_F(CallLogTest, ACallThatIsEndedForWantOfMemoryIsALine) {
  const std::string line = Logged([&] {
    log_.OnEnd({kRead, kPeer, absl::StatusCode::kUnavailable, milliseconds(1), 1, 2, true});
  });
  EXPECT_NE(line.find(" cause=memory "), std::string::npos) << line;
}

TEST_F(CallLogTest, WhatAClientDoesWrongIsNotALine) {
  for (const RefusalCause cause : {RefusalCause::kShutdown, RefusalCause::kGivenUp,
                                   RefusalCause::kUnknownMethod, RefusalCause::kBadRequest})
    EXPECT_EQ(LoggedRefusal(cause), "") << NameOf(cause);
}

TEST_F(CallLogTest, AFailedHandshakeIsALine) {
  const std::string line = Logged([&] { log_.OnHandshakeFailed(kPeer, "http request"); });
  EXPECT_TRUE(
      line.ends_with("Z warning: a handshake failed reason=\"http request\" peer=10.0.0.7:4711\n"))
      << line;
}

TEST_F(CallLogTest, AFloodIsNotLoggedWhole) {
  const std::string flood = Logged([&] {
    for (int i = 0; i < 10'000; ++i) log_.OnHandshakeFailed(kPeer, "x");
  });
  const auto lines = std::count(flood.begin(), flood.end(), '\n');
  EXPECT_GE(lines, LogLimit::kBurst);
  EXPECT_LT(lines, 1'000) << "a line a second";
  EXPECT_NE(Logged([&] { log_.ReportSuppressed(); }).find("kind=failed_handshake suppressed="),
            std::string::npos);
  EXPECT_EQ(Logged([&] { log_.ReportSuppressed(); }), "");
  EXPECT_NE(LoggedRefusal(RefusalCause::kMemory), "") << "other kinds have limits of their own";
}

}  // namespace
}  // namespace stele::server
