// Tests the reported health: serving, no longer serving, and ending.
#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "steled/fake_call.h"
#include "steled/monitoring/health_pages.h"
#include "steled/monitoring/health_service.h"
#include "steled/no_threads.h"

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
    status_ = call_.TakeRest()->Resume(&call_);
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
  std::atomic<bool> is_full = false;  // read by a thread of the service
  HealthService health;
  health.SetWriteRefusal([&is_full] {
    return is_full ? absl::ResourceExhaustedError("the disk is full") : absl::OkStatus();
  });
  Watcher watcher(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
  is_full = true;
  watcher.Resume();
  EXPECT_EQ(watcher.Told(1), HealthCheckResponse::NOT_SERVING);
  Watcher late(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(late.Told(0), HealthCheckResponse::NOT_SERVING);
  is_full = false;
  watcher.Resume();
  EXPECT_EQ(watcher.Told(2), HealthCheckResponse::SERVING);
  late.Resume();
  EXPECT_EQ(late.Told(1), HealthCheckResponse::SERVING);
}

TEST(Health, ALookThatFindsNoMemoryIsRepeated) {
  enum class Disk { kHasRoom, kCannotBeSeen, kIsFull };
  std::atomic<Disk> disk = Disk::kHasRoom;  // read by a thread of the service
  std::atomic<int> failures = 0;
  HealthService health;
  health.SetWriteRefusal([&] {
    if (disk == Disk::kCannotBeSeen) {
      ++failures;
      failures.notify_all();
      throw std::bad_alloc();
    }
    return disk == Disk::kIsFull ? absl::ResourceExhaustedError("the disk is full")
                                 : absl::OkStatus();
  });
  Watcher watcher(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
  disk = Disk::kCannotBeSeen;
  failures.wait(0);
  disk = Disk::kIsFull;
  watcher.Resume();
  EXPECT_EQ(watcher.Told(1), HealthCheckResponse::NOT_SERVING);
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
  EXPECT_EQ(watcher.call().TakeRest(), nullptr);
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
  EXPECT_NE(watcher.call().TakeRest(), nullptr);
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
    EXPECT_EQ(refused.call().TakeRest(), nullptr);
    EXPECT_EQ(refused.call().refusal(), RefusalCause::kOtherCallLimit);
  }
  ASSERT_NE(first.call().TakeRest(), nullptr);  // and is destroyed, as at the end of a call
  Watcher next(&health);
  EXPECT_EQ(next.Told(0), HealthCheckResponse::SERVING);
  const Watcher refused(&health);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
}

TEST(Health, WithoutAThreadAWatchOfTheDataServiceIsRefusedAndTakesNoPlace) {
  HealthService health(/*watches_max=*/1);
  {
    const NoThreads none;
    for (int i = 0; i < 2; ++i) {
      Watcher watcher(&health, "google.bigtable.v2.Bigtable");
      EXPECT_EQ(watcher.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_EQ(watcher.call().refusal(), std::nullopt);  // not by the limit
    }
  }
  Watcher watcher(&health, "google.bigtable.v2.Bigtable");
  EXPECT_EQ(watcher.Told(0), HealthCheckResponse::SERVING);
}

// Two looks at once could store the older answer last.
TEST(Health, LooksForWatchesHappenOneAfterTheOther) {
  HealthService health;
  std::atomic<int> looks = 0;
  std::atomic<bool> is_concurrent = false;
  health.SetWriteRefusal([&] {
    if (++looks > 1) is_concurrent = true;
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    --looks;
    return absl::OkStatus();
  });
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&health] {
      for (int j = 0; j < 200; ++j) const Watcher watcher(&health, "google.bigtable.v2.Bigtable");
    });
  }
  threads.clear();  // joined
  health.Stop();
  EXPECT_FALSE(is_concurrent);
}

TEST(Health, AWatchThatHasEndedIsNotWoken) {
  HealthService health;
  Watcher watcher(&health);
  ASSERT_NE(watcher.call().TakeRest(), nullptr);  // and is destroyed, as at the end of a call
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
  EXPECT_TRUE(call.TakeRest()->Resume(&call).ok());
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
