// Tests the counting of calls, without a connection.
#include "steled/monitoring/metrics.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "steled/metrics_page.h"
#include "steled/monitoring/app_profile_calls.h"
#include "steled/monitoring/call_metrics.h"

namespace stele::server {
namespace {

constexpr char kServed[] = "/package.Service/Method";

class MetricsTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<HttpPages>> pages =
        HttpPages::Serve("127.0.0.1:0", {}, {{"/metrics", MetricsPage({calls_, profiles_})}}, {});
    ASSERT_TRUE(pages.ok()) << pages.status();
    pages_ = *std::move(pages);
  }

  void Count(const std::string& path, absl::StatusCode code, size_t received_bytes = 0,
             size_t sent_bytes = 0) {
    calls_->OnBegin(path);
    calls_->OnEnd({path, kPeer, code, std::chrono::milliseconds(3), received_bytes, sent_bytes});
  }
  void Refuse(const std::string& path, absl::StatusCode code, RefusalCause cause) {
    calls_->OnRefused({path, kPeer, code, cause});
  }

  double Metric(const std::string& name) const { return MetricOf(pages_->address(), name); }
  std::string Page() const { return FetchMetrics(pages_->address()); }

  static inline const std::string kPeer = "127.0.0.1:1";
  const std::shared_ptr<CallMetrics> calls_ =
      std::make_shared<CallMetrics>(std::vector<std::string>{kServed, "/package.Service/Unused"});
  const std::shared_ptr<AppProfileCalls> profiles_ = std::make_shared<AppProfileCalls>(
      [](std::string_view /*instance*/, std::string_view profile) {
        return profile.starts_with("known") || profile == "default";
      });
  std::unique_ptr<HttpPages> pages_;
};

std::string OfMethod(const std::string& name, const std::string& method) {
  return name + "{method=\"" + method + "\"}";
}

std::string CallsOfPath(const std::string& method, const std::string& code) {
  return "steled_calls_total{code=\"" + code + "\",method=\"" + method + "\"}";
}

TEST_F(MetricsTest, ACallCountsUnderItsMethodAndCode) {
  Count(kServed, absl::StatusCode::kOk, 100, 7);
  Count(kServed, absl::StatusCode::kOk, 20, 0);
  Count(kServed, absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Metric(CallsOfPath(kServed, "OK")), 2);
  EXPECT_EQ(Metric(CallsOfPath(kServed, "UNAUTHENTICATED")), 1);
  EXPECT_EQ(Metric(OfMethod("steled_call_seconds_count", kServed)), 3);
  EXPECT_NEAR(Metric(OfMethod("steled_call_seconds_sum", kServed)), 0.009, 1e-9);
  EXPECT_EQ(Metric(OfMethod("steled_received_bytes_total", kServed)), 120);
  EXPECT_EQ(Metric(OfMethod("steled_sent_bytes_total", kServed)), 7);
}

TEST_F(MetricsTest, ARefusedCallTookNoTime) {
  Count(kServed, absl::StatusCode::kOk);
  Refuse(kServed, absl::StatusCode::kUnavailable, RefusalCause::kMemory);
  Refuse("/package.Service/None", absl::StatusCode::kUnimplemented, RefusalCause::kUnknownMethod);
  EXPECT_EQ(Metric(CallsOfPath(kServed, "UNAVAILABLE")), 1);
  EXPECT_EQ(Metric(CallsOfPath("other", "UNIMPLEMENTED")), 1);
  EXPECT_EQ(Metric("steled_refusals_total{cause=\"memory\"}"), 1);
  EXPECT_EQ(Metric("steled_refusals_total{cause=\"call_limit\"}"), 0) << "shown from the start";
  EXPECT_EQ(Metric(OfMethod("steled_call_seconds_count", kServed)), 1);
  EXPECT_EQ(Metric("steled_running_calls"), 0);
}

TEST_F(MetricsTest, ACallThatItsMethodRefusesTookNoTime) {
  const std::string path = kServed;
  calls_->OnBegin(path);
  calls_->OnRefused({path, kPeer, absl::StatusCode::kUnavailable, RefusalCause::kMemory, true});
  EXPECT_EQ(Metric(CallsOfPath(kServed, "UNAVAILABLE")), 1);
  EXPECT_EQ(Metric(OfMethod("steled_call_seconds_count", kServed)), -1);
  EXPECT_EQ(Metric("steled_running_calls"), 0);
}

TEST_F(MetricsTest, EveryCauseHasANameOfItsOwn) {
  std::set<std::string> names;
  for (size_t cause = 0; cause < kRefusalCauses; ++cause)
    names.emplace(NameOf(static_cast<RefusalCause>(cause)));
  EXPECT_EQ(names.size(), kRefusalCauses);
  EXPECT_FALSE(names.contains(""));
}

TEST_F(MetricsTest, ConnectionsThatDoNotComeAboutAreCounted) {
  calls_->OnConnectionRefused(kPeer);
  calls_->OnHandshakeFailed(kPeer, "no certificate");
  EXPECT_EQ(Metric("steled_refusals_total{cause=\"connection_limit\"}"), 1);
  EXPECT_EQ(Metric("steled_failed_handshakes_total"), 1);
}

std::string OfProfile(const std::string& instance, const std::string& profile) {
  return "steled_app_profile_calls_total{instance=\"" + instance + "\",app_profile=\"" + profile +
         "\"}";
}

TEST_F(MetricsTest, CallsCountUnderTheirAppProfile) {
  const std::string table = "projects/p/instances/i/tables/t";
  profiles_->Count(table, "");
  profiles_->Count(table, "default");
  profiles_->Count(table, "known");
  profiles_->Count("projects/p/instances/j/tables/t", "known");
  EXPECT_EQ(Metric(OfProfile("projects/p/instances/i", "default")), 2);
  EXPECT_EQ(Metric(OfProfile("projects/p/instances/i", "known")), 1);
  EXPECT_EQ(Metric(OfProfile("projects/p/instances/j", "known")), 1);
}

TEST_F(MetricsTest, ClientsCannotMakeSeriesOfAppProfiles) {
  const std::string table = "projects/p/instances/i/tables/t";
  for (int i = 0; i < 1000; ++i) profiles_->Count(table, "invented-" + std::to_string(i));
  EXPECT_EQ(Metric(OfProfile("", "unknown")), 1000);
  EXPECT_EQ(Page().find("invented"), std::string::npos);
  constexpr int kMore = 7;
  constexpr int kProfiles = static_cast<int>(AppProfileCalls::kSeriesMax) + kMore;
  for (int i = 0; i < kProfiles; ++i) profiles_->Count(table, "known-" + std::to_string(i));
  EXPECT_EQ(Metric(OfProfile("", "other")), kMore);
  EXPECT_EQ(Metric(OfProfile("projects/p/instances/i", "known-0")), 1);
}

TEST_F(MetricsTest, ACodeOfNoNameIsUnknown) {
  Count(kServed, static_cast<absl::StatusCode>(17));
  Count(kServed, static_cast<absl::StatusCode>(-1));
  EXPECT_EQ(Metric(CallsOfPath(kServed, "UNKNOWN")), 2);
}

TEST_F(MetricsTest, PathsThatNobodyServesCountTogether) {
  Count("/package.Service/None", absl::StatusCode::kUnimplemented, 5, 0);
  Count("", absl::StatusCode::kUnimplemented, 6, 0);
  EXPECT_EQ(Metric(CallsOfPath("other", "UNIMPLEMENTED")), 2);
  EXPECT_EQ(Metric(OfMethod("steled_received_bytes_total", "other")), 11);
  EXPECT_EQ(Page().find("None"), std::string::npos);
}

TEST_F(MetricsTest, WhatNobodyCalledIsNotOnThePage) {
  Count(kServed, absl::StatusCode::kOk);
  EXPECT_EQ(Page().find("Unused"), std::string::npos);
}

TEST_F(MetricsTest, RunningCallsAreThoseThatHaveNotEnded) {
  const std::string path = kServed;
  calls_->OnBegin(path);
  calls_->OnBegin("/package.Service/None");
  EXPECT_EQ(Metric("steled_running_calls"), 2);
  calls_->OnEnd({path, kPeer, absl::StatusCode::kOk, {}, 0, 0});
  EXPECT_EQ(Metric("steled_running_calls"), 1);
}

TEST_F(MetricsTest, CallsThatEndAtOnceAreAllCounted) {
  constexpr int kCalls = 2000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this] {
        for (int call = 0; call < kCalls; ++call)
          Count(kServed, call % 2 == 0 ? absl::StatusCode::kOk : absl::StatusCode::kNotFound, 1, 2);
      });
    }
  }
  EXPECT_EQ(Metric(CallsOfPath(kServed, "OK")), 2 * kCalls);
  EXPECT_EQ(Metric(CallsOfPath(kServed, "NOT_FOUND")), 2 * kCalls);
  EXPECT_EQ(Metric(OfMethod("steled_sent_bytes_total", kServed)), 8 * kCalls);
  EXPECT_EQ(Metric("steled_running_calls"), 0);
}

}  // namespace
}  // namespace stele::server
