// Tests the reported health: serving, no longer serving, and ending.
#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <memory>
#include <string>

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

// A Watch, which runs on the test's thread.
class Watcher {
 public:
  explicit Watcher(HealthService* health, const std::string& service = "")
      : status_(health->Watch(Of(service), &call_)) {}

  // Waits until the call is woken, and resumes it.
  void Resume() {
    call_.AwaitWake();
    status_ = call_.TakeContinuation()->Resume(&call_);
  }
  // Returns response number `index`.
  int Told(size_t index) { return call_.Answer<HealthCheckResponse>(index).status(); }
  size_t told_count() const { return call_.answer_count(); }
  absl::StatusCode code() const { return status_.code(); }
  FakeCall& call() { return call_; }

 private:
  FakeCall call_;
  absl::Status status_;  // ignored while the call is paused
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
  health.Report(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_EQ(Check(&health, "google.bigtable.v2.Bigtable"), HealthCheckResponse::NOT_SERVING);
  for (const char* const service :
       {"", "google.bigtable.admin.v2.BigtableTableAdmin", "google.longrunning.Operations"})
    EXPECT_EQ(Check(&health, service), HealthCheckResponse::SERVING) << service;
  EXPECT_TRUE(health.IsServing());
  health.Report(absl::OkStatus());
  EXPECT_EQ(Check(&health, "google.bigtable.v2.Bigtable"), HealthCheckResponse::SERVING);
}

TEST(Health, AWatchOfTheDataServiceIsToldOfRefusedWrites) {
  HealthService health;
  Watcher watcher(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
  health.Report(absl::ResourceExhaustedError("the disk is full"));
  watcher.Resume();
  EXPECT_EQ(watcher.Told(1), HealthCheckResponse::NOT_SERVING);
  Watcher late(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(late.Told(0), HealthCheckResponse::NOT_SERVING);
  health.Report(absl::OkStatus());
  watcher.Resume();
  EXPECT_EQ(watcher.Told(2), HealthCheckResponse::SERVING);
  late.Resume();
  EXPECT_EQ(late.Told(1), HealthCheckResponse::SERVING);
  health.Report(absl::OkStatus());
  EXPECT_FALSE(watcher.call().is_woken());
}

// The pages of a service, as text.
class HealthPagesOf {
 public:
  explicit HealthPagesOf(const std::shared_ptr<HealthService>& health) {
    AddHealthPages(health, &pages_);
  }
  std::string Text(const std::string& path) {
    const HttpPages::Page made = pages_.at(path)();
    return std::to_string(made.status) + " " + made.body;
  }

 private:
  HttpPages::Pages pages_;
};

TEST(Health, PagesSayWhatIsServed) {
  const auto health = std::make_shared<HealthService>();
  HealthPagesOf pages(health);
  EXPECT_EQ(pages.Text("/healthz"), "200 serving\n");
  EXPECT_EQ(pages.Text("/healthz/writes"), "200 serving\n");
  health->SetProblem("the clock is wrong");
  EXPECT_EQ(pages.Text("/healthz"), "200 serving\nthe clock is wrong\n");
  EXPECT_EQ(pages.Text("/healthz/writes"), "200 serving\n");
  health->Report(absl::ResourceExhaustedError("the disk is full"));
  const std::string refused = "200 serving reads\nnot serving writes: the disk is full\n";
  EXPECT_EQ(pages.Text("/healthz"), refused + "the clock is wrong\n");
  health->SetProblem("");
  EXPECT_EQ(pages.Text("/healthz"), refused);
  EXPECT_EQ(pages.Text("/healthz/writes"), "503 not serving writes: the disk is full\n");
  health->SetServing(false);
  EXPECT_EQ(pages.Text("/healthz"), "503 not serving\n");
  EXPECT_EQ(pages.Text("/healthz/writes"), "503 not serving\n");
}

// As when a system call of the thread that reports does not return.
TEST(Health, AReportThatIsTooOldCountsAsRefusedWrites) {
  HealthService::TimePoint now;
  const auto health =
      std::make_shared<HealthService>(HealthService::kWatchesMax, [&now] { return now; });
  HealthPagesOf pages(health);
  now += std::chrono::seconds(100);
  EXPECT_EQ(pages.Text("/healthz/writes"), "200 serving\n") << "nothing was reported yet";
  health->Report(absl::OkStatus());
  Watcher watcher(health.get(), "google.bigtable.v2.Bigtable");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
  now += HealthService::kReportAgeMax;
  EXPECT_EQ(pages.Text("/healthz/writes"), "200 serving\n");
  now += std::chrono::seconds(1);
  const std::string text =
      "not serving writes: the server has not looked at the database for 11 s: a system call "
      "hangs, "
      "or the process was stopped";
  EXPECT_EQ(pages.Text("/healthz"), "200 serving reads\n" + text + "\n");
  EXPECT_EQ(pages.Text("/healthz/writes"), "503 " + text + "\n");
  EXPECT_EQ(Check(health.get(), "google.bigtable.v2.Bigtable"), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Check(health.get(), ""), HealthCheckResponse::SERVING);
  Watcher late(health.get(), "google.bigtable.v2.Bigtable");
  EXPECT_EQ(late.Told(0), HealthCheckResponse::NOT_SERVING);
  health->Report(absl::OkStatus());
  late.Resume();
  EXPECT_EQ(late.Told(1), HealthCheckResponse::SERVING);

  health->Report(absl::ResourceExhaustedError("the disk is full"));
  now += HealthService::kReportAgeMax + std::chrono::seconds(1);
  EXPECT_EQ(pages.Text("/healthz/writes"), "503 " + text + "; before that: the disk is full\n");
}

TEST(Health, AWatchIsToldOfEachChangeAndOfTheEnd) {
  HealthService health;
  Watcher watcher(&health);
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
  EXPECT_EQ(watcher.call().pause_kind(), PauseKind::kForEvent);
  health.SetServing(false);
  watcher.Resume();
  EXPECT_EQ(watcher.Told(1), HealthCheckResponse::NOT_SERVING);
  health.SetServing(true);
  watcher.Resume();
  EXPECT_EQ(watcher.Told(2), HealthCheckResponse::SERVING);
  health.Stop();
  watcher.Resume();
  EXPECT_EQ(watcher.Told(3), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(watcher.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(watcher.told_count(), 4U);
  EXPECT_EQ(watcher.call().TakeContinuation(), nullptr);
  Watcher late(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(late.Told(0), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(late.code(), absl::StatusCode::kUnavailable);
}

TEST(Health, AWatchThatIsWokenWithoutAChangeSendsNothing) {
  HealthService health;
  Watcher watcher(&health);
  health.SetServing(true);
  watcher.Resume();
  EXPECT_EQ(watcher.told_count(), 1U);
  EXPECT_EQ(watcher.call().pause_kind(), PauseKind::kForEvent);
  EXPECT_NE(watcher.call().TakeContinuation(), nullptr);
}

TEST(Health, ManyMayWatch) {
  HealthService health;
  std::list<Watcher> watchers;
  for (int i = 0; i < 1000; ++i) watchers.emplace_back(&health);
  health.SetServing(false);
  for (Watcher& watcher : watchers) {
    watcher.Resume();
    EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
    EXPECT_EQ(watcher.Told(1), HealthCheckResponse::NOT_SERVING);
  }
}

TEST(Health, AWatchAboveTheLimitIsRefusedUntilAnotherEnds) {
  HealthService health(/*watches_max=*/2);
  Watcher first(&health);
  const Watcher second(&health, "some.other.Service");
  for (int i = 0; i < 3; ++i) {
    Watcher refused(&health);
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(refused.told_count(), 0U);
    EXPECT_EQ(refused.call().TakeContinuation(), nullptr);
    EXPECT_EQ(refused.call().refusal(), RefusalCause::kOtherCallLimit);
  }
  ASSERT_NE(first.call().TakeContinuation(), nullptr);  // and is destroyed, as at the end of a call
  Watcher next(&health);
  EXPECT_EQ(next.Told(0), HealthCheckResponse::SERVING);
  const Watcher refused(&health);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
}

TEST(Health, AWatchThatHasEndedIsNotWoken) {
  HealthService health;
  Watcher watcher(&health);
  ASSERT_NE(watcher.call().TakeContinuation(),
            nullptr);  // and is destroyed, as at the end of a call
  health.SetServing(false);
  EXPECT_FALSE(watcher.call().is_woken());
}

TEST(Health, AWatchOfAnUnknownServiceIsToldSo) {
  HealthService health;
  Watcher watcher(&health, "some.other.Service");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVICE_UNKNOWN);
  health.SetServing(false);
  watcher.Resume();
  EXPECT_EQ(watcher.told_count(), 1U);
}

TEST(Health, AWatchOfAClientThatDoesNotReadWaitsWithoutAThread) {
  HealthService health;
  FakeCall call;
  call.SetRoom(0);
  EXPECT_TRUE(health.Watch(Of(""), &call).ok());
  EXPECT_EQ(call.pause_kind(), PauseKind::kForRoom);
  EXPECT_EQ(call.answer_count(), 0U);
  call.SetRoom(1);
  EXPECT_TRUE(call.TakeContinuation()->Resume(&call).ok());
  EXPECT_EQ(call.Answer<HealthCheckResponse>(0).status(), HealthCheckResponse::SERVING);
}

TEST(Health, AWatchEndsWithAClientThatDoesNotListen) {
  HealthService health;
  FakeCall call;
  call.Hang();
  EXPECT_TRUE(absl::IsCancelled(health.Watch(Of(""), &call)));
}

}  // namespace
}  // namespace stele::server
