// Tests the reported health: serving, no longer serving, and ending.
#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <memory>
#include <thread>

#include "steled/fake_call.h"
#include "steled/monitoring/health_pages.h"
#include "steled/monitoring/health_service.h"

namespace stele::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthCheckRequest Of(const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  return request;
}

// Returns the status, or the error's code as a negative number.
int Check(HealthService* health, const std::string& service) {
  HealthCheckResponse response;
  const absl::Status status = health->Check(Of(service), &response);
  return status.ok() ? static_cast<int>(response.status()) : -static_cast<int>(status.code());
}

// A Watch on a separate thread.
class Watcher {
 public:
  explicit Watcher(HealthService* health, const std::string& service = "") {
    thread_ = std::jthread([this, health, service] {
      MessageWriter<HealthCheckResponse> writer(&call_);
      status_ = health->Watch(Of(service), &call_, &writer);
    });
  }
  ~Watcher() { call_.Cancel(); }

  // Returns response number `index`.
  int Told(size_t index) { return call_.Answer<HealthCheckResponse>(index).status(); }
  void Cancel() { call_.Cancel(); }
  // Waits for its end and returns the code.
  absl::StatusCode End() {
    thread_.join();
    return status_.code();
  }
  size_t told_count() const { return call_.answer_count(); }

 private:
  FakeCall call_;
  absl::Status status_;  // written by the thread, read after it has ended
  std::jthread thread_;  // last: it uses the others
};

TEST(Health, CheckSaysWhetherItServes) {
  HealthService health;
  EXPECT_EQ(Check(&health, ""), HealthCheckResponse::SERVING);
  EXPECT_EQ(Check(&health, "google.bigtable.v2.Bigtable"), HealthCheckResponse::SERVING);
  EXPECT_EQ(Check(&health, "some.other.Service"), -static_cast<int>(absl::StatusCode::kNotFound));
  health.SetServing(false);
  EXPECT_EQ(Check(&health, ""), HealthCheckResponse::NOT_SERVING);
}

// While writes are refused a restart does not help, and reads are served.
TEST(Health, RefusedWritesConcernTheDataServiceAlone) {
  HealthService health;
  std::atomic<bool> is_full = true;
  health.SetWriteRefusal([&is_full] {
    return is_full ? absl::ResourceExhaustedError("the disk is full") : absl::OkStatus();
  });
  EXPECT_EQ(Check(&health, "google.bigtable.v2.Bigtable"), HealthCheckResponse::NOT_SERVING);
  for (const char* const service :
       {"", "google.bigtable.admin.v2.BigtableTableAdmin", "google.longrunning.Operations"})
    EXPECT_EQ(Check(&health, service), HealthCheckResponse::SERVING) << service;
  EXPECT_TRUE(health.IsServing());
  is_full = false;
  EXPECT_EQ(Check(&health, "google.bigtable.v2.Bigtable"), HealthCheckResponse::SERVING);
}

TEST(Health, AWatchOfTheDataServiceIsToldOfRefusedWrites) {
  HealthService health;
  std::atomic<bool> is_full = false;
  health.SetWriteRefusal([&is_full] {
    return is_full ? absl::ResourceExhaustedError("the disk is full") : absl::OkStatus();
  });
  Watcher watcher(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
  is_full = true;
  EXPECT_EQ(watcher.Told(1), HealthCheckResponse::NOT_SERVING);
  is_full = false;
  EXPECT_EQ(watcher.Told(2), HealthCheckResponse::SERVING);
  watcher.Cancel();
  EXPECT_EQ(watcher.End(), absl::StatusCode::kCancelled);
}

TEST(Health, PagesSayWhatIsServed) {
  const auto health = std::make_shared<HealthService>();
  bool is_full = false;
  health->SetWriteRefusal([&is_full] {
    return is_full ? absl::ResourceExhaustedError("the disk is full") : absl::OkStatus();
  });
  HttpPages::Pages pages;
  std::string problem;
  AddHealthPages(
      health, [&problem] { return problem; }, &pages);
  const auto page = [&pages](const std::string& path) {
    const HttpPages::Page made = pages.at(path)();
    return std::to_string(made.status) + " " + made.body;
  };
  EXPECT_EQ(page("/healthz"), "200 serving\n");
  EXPECT_EQ(page("/healthz/writes"), "200 serving\n");
  problem = "the clock is wrong";
  EXPECT_EQ(page("/healthz"), "200 serving\nthe clock is wrong\n");
  EXPECT_EQ(page("/healthz/writes"), "200 serving\n");
  problem = "";
  is_full = true;
  EXPECT_EQ(page("/healthz"), "200 serving reads\nnot serving writes: the disk is full\n");
  EXPECT_EQ(page("/healthz/writes"), "503 not serving writes: the disk is full\n");
  health->SetServing(false);
  EXPECT_EQ(page("/healthz"), "503 not serving\n");
  EXPECT_EQ(page("/healthz/writes"), "503 not serving\n");
}

TEST(Health, AWatchIsToldOfEachChangeAndOfTheEnd) {
  HealthService health;
  Watcher watcher(&health);
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
  health.SetServing(false);
  EXPECT_EQ(watcher.Told(1), HealthCheckResponse::NOT_SERVING);
  health.SetServing(true);
  EXPECT_EQ(watcher.Told(2), HealthCheckResponse::SERVING);
  health.Stop();
  EXPECT_EQ(watcher.Told(3), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(watcher.End(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(watcher.told_count(), 4U);
}

TEST(Health, SixteenMayWatchAndAnotherWhenOneHasGone) {
  HealthService health;
  std::list<Watcher> watchers;
  for (int i = 0; i < 16; ++i) {
    watchers.emplace_back(&health);
    EXPECT_EQ(watchers.back().Told(0), HealthCheckResponse::SERVING);
  }
  FakeCall refused;
  refused.Hang();  // an accepted Watch would end at once
  MessageWriter<HealthCheckResponse> writer(&refused);
  EXPECT_TRUE(absl::IsResourceExhausted(health.Watch(Of(""), &refused, &writer)));
  EXPECT_EQ(refused.refusal(), RefusalCause::kWatcherLimit);
  EXPECT_EQ(Check(&health, ""), HealthCheckResponse::SERVING);
  watchers.front().Cancel();
  EXPECT_EQ(watchers.front().End(), absl::StatusCode::kCancelled);
  Watcher next(&health);
  EXPECT_EQ(next.Told(0), HealthCheckResponse::SERVING);
}

TEST(Health, AWatchOfAnUnknownServiceIsToldSo) {
  HealthService health;
  Watcher watcher(&health, "some.other.Service");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVICE_UNKNOWN);
  watcher.Cancel();
  EXPECT_EQ(watcher.End(), absl::StatusCode::kCancelled);
  EXPECT_EQ(watcher.told_count(), 1U);
}

TEST(Health, AWatchEndsWithAClientThatDoesNotListen) {
  HealthService health;
  FakeCall call;
  call.Hang();
  MessageWriter<HealthCheckResponse> writer(&call);
  EXPECT_TRUE(absl::IsCancelled(health.Watch(Of(""), &call, &writer)));
}

}  // namespace
}  // namespace stele::server
