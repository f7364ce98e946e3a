// Tests the end of connections and of the server: no response is lost, and nothing waits forever.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "steled/transport/transport_fixture.h"

namespace stele::server {
namespace {

constexpr int32_t kWide = 32 << 20;
// The error of a call that the server did not process; clients retry it elsewhere.
constexpr uint32_t kRefusedStream = 7;

class TransportEndTest : public TransportTest {
 protected:
  // Returns a stream whose response of `bytes` was sent as far as possible, and that the client has
  // not read yet.
  int32_t AskForTail(Http2Client* client, size_t bytes) {
    client->WidenConnection(kWide);
    answer_bytes_ = bytes;
    const int32_t stream = BeginMany(client, "/tail", 1)[0];
    counter_.Await("/tail", absl::StatusCode::kOk, ++tail_count_);
    return stream;
  }

  // Reads a little at a time, and sends something each time, as clients with moving windows do.
  static const Answer& ReadTail(Http2Client* client, int32_t stream) {
    client->Until([&] {
      client->Ping();
      return client->answer(stream).is_closed;
    });
    return client->answer(stream);
  }

  void StartWithTail() {
    methods_["/tail"].run = [this](Call* call) {
      call->Send(std::string(kPrefixBytes + answer_bytes_, 't'), true);
      return absl::OkStatus();
    };
    Start();
  }

  std::atomic<size_t> answer_bytes_ = 0;
  int tail_count_ = 0;
};

// The system has taken all of the small response when the server has nothing more to send; the
// server still has most of the large one.
TEST_F(TransportEndTest, WhoSaysGoawayReadsItsAnswerToTheEnd) {
  for (const size_t bytes : {400'000, 12'000'000}) {
    StartWithTail();
    Http2Client client(transport_->address(), kWide);
    const int32_t stream = AskForTail(&client, bytes);
    client.SayGoaway();
    const Answer& answer = ReadTail(&client, stream);
    EXPECT_EQ(answer.Status(), "0");
    EXPECT_EQ(answer.body.size(), kPrefixBytes + bytes);
    EXPECT_FALSE(client.Until([] { return false; }));  // and then the connection ends
    transport_.reset();
  }
}

TEST_F(TransportEndTest, AnAnswerIsReadToTheEndWhileTheServerEnds) {
  for (const size_t bytes : {400'000, 12'000'000}) {
    StartWithTail();
    Http2Client client(transport_->address(), kWide);
    const int32_t stream = AskForTail(&client, bytes);
    Http2Client other(transport_->address());
    ASSERT_EQ(other.Call("/echo", "").Status(), "0");
    std::jthread stopper([&] { transport_->Stop(std::chrono::minutes(5)); });
    ASSERT_TRUE(other.Until([&] { return other.is_end_announced(); }));
    const Answer& answer = ReadTail(&client, stream);
    EXPECT_EQ(answer.Status(), "0");
    EXPECT_EQ(answer.body.size(), kPrefixBytes + bytes);
    EXPECT_FALSE(client.Until([] { return false; }));
    stopper.join();
    transport_.reset();
  }
}

// A call that delays the end of the server, and two notified clients; `first` has not read that
// yet.
class TransportDrainTest : public TransportTest {
 protected:
  void BeginToEnd(std::chrono::milliseconds goaway_timeout, bool (Http2Client::*is_told)() const) {
    methods_["/work"].run = [this](Call*) {
      running_.fetch_add(1);
      running_.notify_all();
      may_end_.wait();
      return absl::OkStatus();
    };
    Start([&](TransportOptions* options) { options->goaway_timeout = goaway_timeout; });
    first_.emplace(transport_->address());
    ASSERT_EQ(first_->Call("/echo", "").Status(), "0");
    half_ = first_->Begin(Http2Client::GrpcHeaders("/echo"));
    ASSERT_EQ(first_->Call("/echo", "").Status(), "0");  // the headers before it were read, too
    second_.emplace(transport_->address());
    work_ = BeginMany(&*second_, "/work", 1)[0];
    Await(running_, 1);
    stopper_ = std::jthread([this] { transport_->Stop(std::chrono::minutes(5)); });
    // Connections are notified in order.
    ASSERT_TRUE(second_->Until([&] { return ((*second_).*is_told)(); }));
  }

  // Returns once no more calls are accepted.
  void BeginToEnd() { BeginToEnd(std::chrono::milliseconds(1), &Http2Client::is_asked_to_stop); }
  // Returns once the end is announced, which lasts until `first` reads it.
  void AnnounceEnd() { BeginToEnd(std::chrono::minutes(5), &Http2Client::is_end_announced); }

  void TearDown() override {
    if (!may_end_.try_wait()) may_end_.count_down();
    TransportTest::TearDown();
  }

  void End() {
    may_end_.count_down();
    EXPECT_EQ(second_->Await(work_).Status(), "0");
    EXPECT_FALSE(first_->Until([] { return false; }));
    EXPECT_FALSE(second_->Until([] { return false; }));
    stopper_.join();
  }

  std::latch may_end_{1};
  std::optional<Http2Client> first_;
  std::optional<Http2Client> second_;
  int32_t half_ = 0;
  int32_t work_ = 0;
  std::jthread stopper_;
};

TEST_F(TransportDrainTest, ARequestThatBecomesWholeWhileTheServerEndsIsUnavailable) {
  BeginToEnd();
  first_->Write(half_, Framed("late"), true);
  ASSERT_EQ(first_->Await(half_).Status(), "14");
  counter_.Await("/echo", absl::StatusCode::kUnavailable, 1);
  End();
}

// Its client knows then that it had no effect.
TEST_F(TransportDrainTest, ARequestThatIsIncompleteAtTheEndIsUnavailable) {
  BeginToEnd();
  may_end_.count_down();
  EXPECT_EQ(first_->Await(half_).Status(), "14");
  EXPECT_EQ(first_->answer(half_).headers.at("grpc-message"), "The server ends");
  stopper_.join();
}

TEST_F(TransportDrainTest, ACallThatBeginsWhileTheServerEndsIsRefused) {
  BeginToEnd();
  const int32_t late = BeginMany(&*first_, "/echo", 1)[0];
  const Answer answer = first_->Await(late);
  ASSERT_TRUE(answer.is_closed);
  ASSERT_EQ(answer.error, kRefusedStream);
  EXPECT_TRUE(first_->is_asked_to_stop());
  End();
}

// Its client cannot know better: clients of gRPC 1.51 hang if such a call is lost.
TEST_F(TransportDrainTest, ACallThatIsOnItsWayWhenTheEndIsAnnouncedIsServed) {
  AnnounceEnd();
  const int32_t late = BeginMany(&*first_, "/echo", 1)[0];
  first_->Write(half_, Framed("half"), true);
  EXPECT_EQ(first_->Await(late).Status(), "0");
  EXPECT_EQ(first_->Await(half_).Status(), "0");
  EXPECT_TRUE(first_->is_end_announced());
  End();
}

// Also one that is accepted right after the others were notified.
TEST_F(TransportTest, NoConnectionOutlivesTheServersEnd) {
  for (int i = 0; i < 100; ++i) {
    Start();
    std::latch both(2);
    std::jthread stopper([&] {
      both.arrive_and_wait();
      transport_->Stop(std::chrono::milliseconds(0));
    });
    both.arrive_and_wait();
    std::unique_ptr<Http2Client> client = Http2Client::TryConnect(transport_->address());
    if (client == nullptr) continue;
    EXPECT_FALSE(client->Until([] { return false; }));
  }
}

}  // namespace
}  // namespace stele::server
