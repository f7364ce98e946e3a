// Calls as they are counted, without a connection.
#include "metrics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "steled/metrics_page.h"

namespace stele::server {
namespace {

constexpr char kServed[] = "/package.Service/Method";

class MetricsTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Database> database = Database::Open("mem:");
    ASSERT_TRUE(database.ok()) << database.status();
    absl::StatusOr<std::unique_ptr<Metrics>> metrics =
        Metrics::Start("127.0.0.1:0", *database, {kServed, "/package.Service/Unused"}, [this] { return is_serving_.load(); });
    ASSERT_TRUE(metrics.ok()) << metrics.status();
    metrics_ = *std::move(metrics);
  }

  void Count(const std::string& path, absl::StatusCode code, size_t received_bytes = 0, size_t sent_bytes = 0) {
    metrics_->observer()->OnBegin(path);
    metrics_->observer()->OnEnd(path, code, std::chrono::milliseconds(3), received_bytes, sent_bytes);
  }

  double Metric(const std::string& name) const { return MetricOf(metrics_->address(), name); }

  std::atomic<bool> is_serving_{true};
  std::unique_ptr<Metrics> metrics_;
};

TEST_F(MetricsTest, HealthFollowsTheServer) {
  const std::string request = "GET /healthz HTTP/1.0\r\n\r\n";
  EXPECT_TRUE(FetchPage(metrics_->address(), request).starts_with("HTTP/1.1 200 OK\r\n"));
  is_serving_ = false;
  EXPECT_TRUE(FetchPage(metrics_->address(), request).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
}

std::string OfMethod(const std::string& name, const std::string& method) { return name + "{method=\"" + method + "\"}"; }

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
  metrics_->observer()->OnRefused(kServed, absl::StatusCode::kUnavailable);
  metrics_->observer()->OnRefused("/package.Service/None", absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Metric(CallsOfPath(kServed, "UNAVAILABLE")), 1);
  EXPECT_EQ(Metric(CallsOfPath("other", "UNIMPLEMENTED")), 1);
  EXPECT_EQ(Metric(OfMethod("steled_call_seconds_count", kServed)), 1);
  EXPECT_EQ(Metric("steled_running_calls"), 0);
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
  EXPECT_EQ(FetchMetrics(metrics_->address()).find("None"), std::string::npos);
}

TEST_F(MetricsTest, WhatNobodyCalledIsNotOnThePage) {
  Count(kServed, absl::StatusCode::kOk);
  EXPECT_EQ(FetchMetrics(metrics_->address()).find("Unused"), std::string::npos);
}

TEST_F(MetricsTest, RunningCallsAreThoseThatHaveNotEnded) {
  metrics_->observer()->OnBegin(kServed);
  metrics_->observer()->OnBegin("/package.Service/None");
  EXPECT_EQ(Metric("steled_running_calls"), 2);
  metrics_->observer()->OnEnd(kServed, absl::StatusCode::kOk, {}, 0, 0);
  EXPECT_EQ(Metric("steled_running_calls"), 1);
}

TEST_F(MetricsTest, CallsThatEndAtOnceAreAllCounted) {
  constexpr int kCalls = 2000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this] {
        for (int call = 0; call < kCalls; ++call) Count(kServed, call % 2 == 0 ? absl::StatusCode::kOk : absl::StatusCode::kNotFound, 1, 2);
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
