#include "remote/client/backoff.h"

#include <gtest/gtest.h>

#include <thread>

#include "remote/client/row_source.h"

namespace stele::internal {
namespace {

using grpc::StatusCode;

TEST(Transient, AreFailuresOfTheMoment) {
  EXPECT_TRUE(IsTransient(grpc::Status(StatusCode::UNAVAILABLE, "")));
  EXPECT_TRUE(IsTransient(grpc::Status(StatusCode::DEADLINE_EXCEEDED, "")));
  EXPECT_TRUE(IsTransient(grpc::Status(StatusCode::ABORTED, "")));
  EXPECT_TRUE(IsTransient(
      grpc::Status(StatusCode::INTERNAL, "stream terminated by RST_STREAM with error code 2")));
  EXPECT_TRUE(IsTransient(grpc::Status(StatusCode::INTERNAL,
                                       "HTTP/2 error code: INTERNAL_ERROR\nReceived Rst Stream")));
  EXPECT_TRUE(IsTransient(
      grpc::Status(StatusCode::INTERNAL, "Received unexpected EOS on DATA frame from server")));
  EXPECT_TRUE(
      IsTransient(grpc::Status(StatusCode::RESOURCE_EXHAUSTED, "Server Threadpool Exhausted")));
  EXPECT_TRUE(IsTransient(
      grpc::Status(StatusCode::RESOURCE_EXHAUSTED, "256 calls run already; try again later")));
  EXPECT_FALSE(IsTransient(grpc::Status(StatusCode::RESOURCE_EXHAUSTED, "the disk is full")));
  EXPECT_FALSE(IsTransient(grpc::Status(StatusCode::INTERNAL, "a bug")));
  EXPECT_FALSE(IsTransient(grpc::Status::OK));
  for (const StatusCode code :
       {StatusCode::CANCELLED, StatusCode::UNKNOWN, StatusCode::INVALID_ARGUMENT,
        StatusCode::NOT_FOUND, StatusCode::PERMISSION_DENIED, StatusCode::RESOURCE_EXHAUSTED,
        StatusCode::FAILED_PRECONDITION, StatusCode::UNIMPLEMENTED, StatusCode::DATA_LOSS,
        StatusCode::UNAUTHENTICATED}) {
    EXPECT_FALSE(IsTransient(grpc::Status(code, "rst_stream"))) << code;
  }
}

TEST(Backoff, DoublesUpToItsMostAndBeginsAnew) {
  Backoff backoff(1);
  std::chrono::microseconds whole = Backoff::kPauseMin;
  for (int i = 0; i < 20; ++i) {
    const std::chrono::microseconds pause = backoff.Next();
    EXPECT_GE(pause, whole / 2) << i;
    EXPECT_LE(pause, whole) << i;
    whole = std::min(2 * whole, Backoff::kPauseMax);
  }
  EXPECT_EQ(whole, Backoff::kPauseMax);
  backoff.Reset();
  EXPECT_LE(backoff.Next(), Backoff::kPauseMin);
}

TEST(Backoff, TwoThatBeganTogetherDoNotStayTogether) {
  Backoff a(1);
  Backoff b(2);
  bool differs = false;
  for (int i = 0; i < 10; ++i) differs = a.Next() != b.Next() || differs;
  EXPECT_TRUE(differs);
}

TEST(SystemWaiter, ReturnsWhenItIsTimeOrStopped) {
  const std::shared_ptr<Waiter> waiter = SystemWaiter();
  std::stop_source stop;
  EXPECT_TRUE(
      waiter->WaitUntil(waiter->Now() + std::chrono::milliseconds(1), stop.get_token(), {}));
  const SteadyClock::time_point far = waiter->Now() + std::chrono::hours(24);
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(waiter->WaitUntil(far, stop.get_token(), {}));
  EXPECT_FALSE(waiter->WaitUntil(far, {}, stop.get_token()));
}

TEST(RowsAfter, CutsOffWhatWasRead) {
  const auto range = [](const char* start, const char* end) { return KeyRange{start, end, false}; };
  const std::vector<KeyRange> all = {range("a", "c"), range("m", "p"), KeyRange{"x", "", true}};
  EXPECT_EQ(RowsAfter(all, "", false), all);
  EXPECT_EQ(RowsAfter(all, "b", false),
            (std::vector<KeyRange>{KeyRange{std::string("b\0", 2), "c", false}, all[1], all[2]}));
  EXPECT_EQ(RowsAfter(all, "d", false), (std::vector<KeyRange>{all[1], all[2]}));
  EXPECT_EQ(RowsAfter({KeyRange::Single("k")}, "k", false), std::vector<KeyRange>());
  EXPECT_EQ(RowsAfter(all, "y", false),
            (std::vector<KeyRange>{KeyRange{std::string("y\0", 2), "", true}}));
  EXPECT_EQ(RowsAfter(all, "n", true), (std::vector<KeyRange>{all[0], range("m", "n")}));
  EXPECT_EQ(RowsAfter(all, "z", true), (std::vector<KeyRange>{all[0], all[1], range("x", "z")}));
  EXPECT_EQ(RowsAfter(all, "a", true), std::vector<KeyRange>());
}

}  // namespace
}  // namespace stele::internal
