// Tests clients that read slowly or not at all: their memory, service to other clients, and their
// end.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "steled/transport/transport_fixture.h"

namespace stele::server {
namespace {

// HTTP/2's INTERNAL_ERROR. REFUSED_STREAM would promise that the call had no effect.
constexpr uint32_t kInternalError = 2;
constexpr int kMessageCount = 40;

// Sends kMessageCount messages of 100,000 bytes, and pauses if Send would wait.
class Sender final : public PausedCall, public std::enable_shared_from_this<Sender> {
 public:
  explicit Sender(std::atomic<int>* shrunk) : shrunk_(*shrunk) {}

  absl::Status Resume(Call* call) override {
    while (sent_ < kMessageCount) {
      if (!call->CanSend()) {
        call->Pause(PauseKind::kForRoom, shared_from_this());
        return absl::InternalError("nobody looks at this");
      }
      if (!call->Send(std::string(kPrefixBytes + 100'000, 's'), ++sent_ == kMessageCount)) break;
    }
    return absl::OkStatus();
  }
  std::shared_ptr<void> Shrink() override {
    shrunk_.fetch_add(1);
    shrunk_.notify_all();
    return nullptr;
  }

 private:
  std::atomic<int>& shrunk_;
  int sent_ = 0;
};

class PauseTest : public TransportTest {
 protected:
  PauseTest() {
    methods_["/pause"].run = [this](Call* call) {
      return std::make_shared<Sender>(&shrunk_)->Resume(call);
    };
  }

  static bool HasHeaders(Http2Client* client, const std::vector<int32_t>& streams) {
    return client->Until([&] {
      return std::all_of(streams.begin(), streams.end(), [&](int32_t stream) {
        return client->answer(stream).headers.contains(":status");
      });
    });
  }

  std::atomic<int> shrunk_ = 0;
};

TEST_F(PauseTest, PausedCallsTakeNoPlaceAndGoOnWhereTheyWere) {
  Start([](TransportOptions* options) { options->calls_max = 2; });
  Http2Client slow(transport_->address(), /*window_bytes=*/1000);
  std::vector<int32_t> streams;
  while (streams.size() < 50) {
    const int32_t stream = BeginMany(&slow, "/pause", 1)[0];
    ASSERT_TRUE(HasHeaders(&slow, {stream}));
    // Its headers may have arrived before those of the one that began before the pause.
    if (slow.answer(stream).Status() != "14") streams.push_back(stream);
  }
  Http2Client other(transport_->address());
  while (other.Call("/echo", "beside").Status() != "0") std::this_thread::yield();
  const size_t bytes = kMessageCount * (kPrefixBytes + 100'000);
  for (int i = 0; i < 2; ++i) {
    const Answer answer = slow.Await(streams[static_cast<size_t>(i)]);
    EXPECT_EQ(answer.Status(), "0");
    EXPECT_EQ(answer.body.size(), bytes);
  }
  counter_.Await("/pause", absl::StatusCode::kOk, 2);
}

TEST_F(PauseTest, ACallThatIsGivenUpWhileItIsPausedEnds) {
  Start();
  {
    Http2Client slow(transport_->address(), /*window_bytes=*/1000);
    const std::vector<int32_t> streams = BeginMany(&slow, "/pause", 3);
    ASSERT_TRUE(HasHeaders(&slow, streams));
    Await(shrunk_, 1);
    slow.Reset(streams[0]);
    slow.Until([] { return true; });
    counter_.Await("/pause", absl::StatusCode::kCancelled, 1);
  }
  counter_.Await("/pause", absl::StatusCode::kCancelled, 3);  // with the connection
}

TEST_F(PauseTest, ADeadlineEndsAPausedCall) {
  Start();
  Http2Client slow(transport_->address(), /*window_bytes=*/1000);
  Http2Client::Headers headers = Http2Client::GrpcHeaders("/pause");
  headers.emplace_back("grpc-timeout", "50m");
  const int32_t stream = slow.Begin(headers);
  slow.Write(stream, Framed(""), true);
  ASSERT_TRUE(HasHeaders(&slow, {stream}));
  counter_.Await("/pause", absl::StatusCode::kDeadlineExceeded, 1);
}

TEST_F(PauseTest, TheServersEndEndsPausedCalls) {
  Start();
  Http2Client slow(transport_->address(), /*window_bytes=*/1000);
  ASSERT_TRUE(HasHeaders(&slow, BeginMany(&slow, "/pause", 3)));
  transport_->Stop(std::chrono::milliseconds(1));
  counter_.Await("/pause", absl::StatusCode::kUnavailable, 3);
}

// Neither a paused call nor one that waits in Send.
TEST_F(PauseTest, ACallThatNobodyReadsIsEnded) {
  StartWithoutLooks(
      [](TransportOptions* options) { options->stall_timeout = std::chrono::milliseconds(1); });
  for (const char* const path : {"/pause", "/flood"}) {
    Http2Client slow(transport_->address(), /*window_bytes=*/1000);
    const int32_t stream = BeginMany(&slow, path, 1)[0];
    // Its reads move the stream's window, but not enough.
    ASSERT_TRUE(slow.Until([&] { return slow.answer(stream).headers.contains(":status"); }));
    {
      const Looks looks(transport_.get());
      counter_.Await(path, absl::StatusCode::kCancelled, 1);
    }
    EXPECT_EQ(slow.Await(stream).error, kInternalError) << path;
    EXPECT_EQ(slow.Call("/echo", "").Status(), "0");
  }
}

// The client is silent, so no read of its connection tells the call.
TEST_F(PauseTest, ACallOfAnEndedStreamIsStopped) {
  methods_["/notify"].run = [this](Call* call) {
    call->Send(std::string(kPrefixBytes + 5'000, 'n'), false);
    return methods_["/wait"].run(call);
  };
  StartWithoutLooks(
      [](TransportOptions* options) { options->stall_timeout = std::chrono::milliseconds(1); });
  Http2Client silent(transport_->address(), /*window_bytes=*/1000);
  const int32_t stream = BeginMany(&silent, "/notify", 1)[0];
  ASSERT_TRUE(HasHeaders(&silent, {stream}));
  const Looks looks(transport_.get());
  Await(stopped_, 1);
}

TEST_F(PauseTest, AnAnswerThatNobodyReadsIsLetGoOf) {
  methods_["/large"].run = [](Call* call) {
    call->Send(std::string(kPrefixBytes + 400'000, 'l'), true);
    return absl::OkStatus();
  };
  StartWithoutLooks([](TransportOptions* options) {
    options->stall_timeout = std::chrono::milliseconds(1);
    options->request_memory_bytes = 1'200'000;
  });
  Http2Client slow(transport_->address(), /*window_bytes=*/1000);
  const int32_t stream = BeginMany(&slow, "/large", 1)[0];
  ASSERT_TRUE(HasHeaders(&slow, {stream}));
  Http2Client other(transport_->address());
  while (other.Call("/large", "").Status() == "14") transport_->EndStalled();
  EXPECT_EQ(slow.Await(stream).error, kInternalError);
}

// Each of them has as much memory as is left for others.
TEST_F(PauseTest, ClientsThatDoNotReadLeaveMemoryToOthers) {
  Start([](TransportOptions* options) { options->request_memory_bytes = 60'000'000; });
  std::vector<std::unique_ptr<Http2Client>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<Http2Client>(transport_->address(), /*window_bytes=*/1000));
    for (const int32_t stream : BeginMany(slow.back().get(), "/pause", 30))
      ASSERT_TRUE(HasHeaders(slow.back().get(), {stream}));
  }
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/pause", "").Status(), "0");
  EXPECT_EQ(other.Call("/take", std::string(20'000'000, 'x')).Status(), "0");
}

TEST_F(PauseTest, WhileMemoryIsScarceClientsThatDoNotReadAreEndedEarlier) {
  methods_["/large"].run = [](Call* call) {
    call->Send(std::string(kPrefixBytes + 2'000'000, 'l'), true);
    return absl::OkStatus();
  };
  StartWithoutLooks([](TransportOptions* options) {
    options->request_memory_bytes = 8'000'000;
    options->scarce_memory_timeout = std::chrono::milliseconds(1);
  });
  std::vector<std::unique_ptr<Http2Client>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<Http2Client>(transport_->address(), /*window_bytes=*/1000));
    BeginMany(slow.back().get(), "/pause", 10);
    ASSERT_TRUE(slow.back()->Until([] { return true; }));
  }
  Http2Client other(transport_->address());
  while (other.Call("/large", "").Status() != "0") transport_->EndStalled();
}

TEST_F(PauseTest, OtherPathsHavePlacesOfTheirOwn) {
  methods_["/echo"].kind = CallKind::kOther;
  Start([](TransportOptions* options) { options->calls_max = 2; });
  Http2Client first(transport_->address());
  Http2Client second(transport_->address());
  for (Http2Client* const client : {&first, &second}) {
    BeginMany(client, "/wait", 1);
    ASSERT_TRUE(client->Until([] { return true; }));
  }
  Await(running_, 2);
  EXPECT_EQ(first.Call("/wait", "").Status(), "14");
  EXPECT_EQ(first.Call("/echo", "").Status(), "0");
}

TEST_F(PauseTest, AConnectionLeavesPlacesToOthers) {
  Start([](TransportOptions* options) { options->calls_max = 4; });
  Http2Client greedy(transport_->address());
  BeginMany(&greedy, "/wait", 3);
  ASSERT_TRUE(greedy.Until([] { return true; }));
  Await(running_, 3);
  EXPECT_EQ(greedy.Call("/echo", "").Status(), "14");
  EXPECT_EQ(counter_.refused_for(RefusalCause::kConnectionCallLimit), 1);
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/echo", "").Status(), "0");
}

// A probe that fails restarts the server.
TEST_F(PauseTest, HealthChecksNeedNoPlace) {
  methods_["/echo"].kind = CallKind::kHealth;
  Start([](TransportOptions* options) { options->calls_max = 4; });
  std::vector<std::unique_ptr<Http2Client>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<Http2Client>(transport_->address()));
    BeginMany(clients.back().get(), "/wait", 1);
    ASSERT_TRUE(clients.back()->Until([] { return true; }));
    Await(running_, i + 1);
  }
  EXPECT_EQ(clients[0]->Call("/take", "").Status(), "14");
  EXPECT_EQ(clients[0]->Call("/echo", "").Status(), "0");
}

// Returns each message as it arrives, and needs no thread between them.
class Echoes final : public PausedCall, public std::enable_shared_from_this<Echoes> {
 public:
  absl::Status Resume(Call* call) override {
    if (std::exchange(is_paused_, false) && !call->CanReceive())
      return absl::DeadlineExceededError("silent");
    for (std::string message; call->CanReceive();) {
      if (!call->Receive(&message)) return absl::OkStatus();
      if (!call->Send(std::string(kPrefixBytes, '\0') + message, false)) break;
    }
    is_paused_ = true;
    call->Pause(PauseKind::kForMessage, shared_from_this());
    return absl::InternalError("nobody looks at this");
  }

 private:
  bool is_paused_ = false;
};

class MessagePauseTest : public PauseTest {
 protected:
  MessagePauseTest() {
    methods_["/talk"].run = [](Call* call) { return std::make_shared<Echoes>()->Resume(call); };
  }

  // Begins a stream and waits for its first response.
  static int32_t BeginTalk(Http2Client* client) {
    const int32_t talk = client->Begin(Http2Client::GrpcHeaders("/talk"));
    client->Write(talk, Framed("one"), false);
    EXPECT_TRUE(client->Until([&] { return client->answer(talk).body == Framed("one"); }));
    return talk;
  }
};

TEST_F(MessagePauseTest, ACallThatWaitsForAMessageTakesNoPlace) {
  Start([](TransportOptions* options) { options->calls_max = 2; });
  Http2Client client(transport_->address());
  std::vector<int32_t> talks;
  for (int i = 0; i < 20; ++i) {
    talks.push_back(BeginTalk(&client));
    while (transport_->Figures().paused_calls < talks.size()) std::this_thread::yield();
  }
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
  for (const int32_t talk : talks) {
    client.Write(talk, Framed("two"), false);
    ASSERT_TRUE(
        client.Until([&] { return client.answer(talk).body == Framed("one") + Framed("two"); }));
    client.Write(talk, Framed("three"), true);
    EXPECT_EQ(client.Await(talk).Status(), "0");
    EXPECT_EQ(client.answer(talk).body, Framed("one") + Framed("two") + Framed("three"));
  }
}

TEST_F(MessagePauseTest, ACallThatGetsNoMessageIsEnded) {
  StartWithoutLooks(
      [](TransportOptions* options) { options->stall_timeout = std::chrono::milliseconds(1); });
  Http2Client client(transport_->address());
  const int32_t talk = BeginTalk(&client);
  const Looks looks(transport_.get());
  EXPECT_EQ(client.Await(talk).Status(), "4");
}

// Otherwise a long stream of small messages would fill the memory for requests.
TEST_F(MessagePauseTest, AStreamIsChargedForWaitingMessagesOnly) {
  Start([](TransportOptions* options) { options->request_memory_bytes = MemoryFor(100'000); });
  Http2Client client(transport_->address());
  const int32_t talk = BeginTalk(&client);
  std::string body = Framed("one");
  for (int i = 0; i < 50; ++i) {
    while (transport_->Figures().paused_calls == 0) std::this_thread::yield();
    const std::string message = Framed(std::string(10'000, static_cast<char>('a' + i % 26)));
    client.Write(talk, message, false);
    body += message;
    ASSERT_TRUE(client.Until([&] { return client.answer(talk).body.size() == body.size(); })) << i;
  }
  EXPECT_EQ(client.answer(talk).body, body);
}

TEST_F(MessagePauseTest, AStopDoesNotWaitForCallsThatWaitForAMessage) {
  Start();
  Http2Client client(transport_->address());
  const int32_t talk = BeginTalk(&client);
  while (transport_->Figures().paused_calls == 0) std::this_thread::yield();
  std::jthread stopper([&] { transport_->Stop(std::chrono::hours(1)); });
  EXPECT_EQ(client.Await(talk).Status(), "14");
}

TEST_F(MessagePauseTest, TheServersEndEndsCallsThatWaitForAMessage) {
  Start();
  Http2Client client(transport_->address());
  const int32_t talk = BeginTalk(&client);
  transport_->Stop(std::chrono::milliseconds(1));
  EXPECT_EQ(client.Await(talk).Status(), "14");
}

// Wakes the calls of /listen.
class Bell {
 public:
  int rings() {
    const std::lock_guard lock(mutex_);
    return rings_;
  }
  size_t listener_count() {
    const std::lock_guard lock(mutex_);
    return wakers_.size();
  }
  void Ring() {
    const std::lock_guard lock(mutex_);
    ++rings_;
    for (const auto& [listener, wake] : wakers_) wake();
  }
  void Add(const PausedCall* listener, std::function<void()> waker) {
    const std::lock_guard lock(mutex_);
    wakers_.emplace(listener, std::move(waker));
  }
  void Remove(const PausedCall* listener) {
    const std::lock_guard lock(mutex_);
    wakers_.erase(listener);
  }

 private:
  std::mutex mutex_;
  int rings_ = 0;  // guarded by mutex_, like the next
  std::map<const PausedCall*, std::function<void()>> wakers_;
};

// Sends the number of rings, and again after each change, and needs no thread between them.
class Listener final : public PausedCall, public std::enable_shared_from_this<Listener> {
 public:
  // `rings_itself`: once, while the call still runs.
  Listener(Bell* bell, Call* call, bool rings_itself) : bell_(*bell), rings_itself_(rings_itself) {
    bell_.Add(this, call->Waker());
  }
  ~Listener() override { bell_.Remove(this); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  absl::Status Resume(Call* call) override {
    const int rings = bell_.rings();
    if (std::exchange(told_, rings) != rings)
      call->Send(std::string(kPrefixBytes, '\0') + std::to_string(rings), false);
    if (std::exchange(rings_itself_, false)) bell_.Ring();
    call->Pause(PauseKind::kForEvent, shared_from_this());
    return absl::InternalError("nobody looks at this");
  }

 private:
  Bell& bell_;
  int told_ = -1;
  bool rings_itself_;
};

class EventPauseTest : public PauseTest {
 protected:
  EventPauseTest() {
    for (const bool rings_itself : {false, true}) {
      methods_[rings_itself ? "/ring" : "/listen"].run = [this, rings_itself](Call* call) {
        return std::make_shared<Listener>(&bell_, call, rings_itself)->Resume(call);
      };
    }
  }

  // Begins a call and waits for its first response and its pause.
  int32_t BeginToListen(Http2Client* client) {
    const size_t before = transport_->Figures().paused_calls;
    const int32_t stream = BeginMany(client, "/listen", 1)[0];
    EXPECT_TRUE(client->Until([&] { return !client->answer(stream).body.empty(); }));
    while (transport_->Figures().paused_calls <= before) std::this_thread::yield();
    return stream;
  }

  Bell bell_;
};

TEST_F(EventPauseTest, CallsThatWaitForAnEventTakeNoPlaceAndAllHearOfIt) {
  Start([](TransportOptions* options) { options->calls_max = 4; });
  Http2Client client(transport_->address());
  std::vector<int32_t> streams;
  while (streams.size() < 64) streams.push_back(BeginToListen(&client));
  EXPECT_EQ(client.Call("/echo", "beside").Status(), "0");
  for (int ring = 1; ring <= 2; ++ring) {
    bell_.Ring();
    for (const int32_t stream : streams) {
      const std::string last = Framed(std::to_string(ring));
      ASSERT_TRUE(client.Until([&] { return client.answer(stream).body.ends_with(last); }));
    }
  }
  for (const int32_t stream : streams)
    EXPECT_EQ(client.answer(stream).body, Framed("0") + Framed("1") + Framed("2"));
}

TEST_F(EventPauseTest, AnEventBeforeThePauseIsNotLost) {
  Start();
  Http2Client client(transport_->address());
  const int32_t stream = BeginMany(&client, "/ring", 1)[0];
  EXPECT_TRUE(
      client.Until([&] { return client.answer(stream).body == Framed("0") + Framed("1"); }));
}

TEST_F(EventPauseTest, ACallThatWaitsForAnEventEndsWithItsClient) {
  Start();
  {
    Http2Client client(transport_->address());
    const int32_t cancelled = BeginToListen(&client);
    BeginToListen(&client);
    client.Reset(cancelled);
    client.Until([] { return true; });
    counter_.Await("/listen", absl::StatusCode::kCancelled, 1);
    EXPECT_EQ(bell_.listener_count(), 1U);
  }
  counter_.Await("/listen", absl::StatusCode::kCancelled, 2);
  EXPECT_EQ(bell_.listener_count(), 0U);
}

TEST_F(EventPauseTest, ADeadlineEndsACallThatWaitsForAnEvent) {
  Start();
  Http2Client client(transport_->address());
  std::string body;
  // A slow machine may need longer to begin the call, which sends "0" and pauses.
  for (int seconds = 1; body.empty() && seconds < 256; seconds *= 2) {
    Http2Client::Headers headers = Http2Client::GrpcHeaders("/listen");
    headers.emplace_back("grpc-timeout", std::to_string(seconds) + "S");
    const int32_t stream = client.Begin(headers);
    client.Write(stream, Framed(""), true);
    EXPECT_EQ(client.Await(stream).Status(), "4");
    body = client.answer(stream).body;
  }
  EXPECT_EQ(body, Framed("0"));
  counter_.Await("/listen", absl::StatusCode::kDeadlineExceeded, 1);
  EXPECT_EQ(bell_.listener_count(), 0U);
}

// Ends at its time, if nothing wakes it before.
class Sleeper final : public PausedCall, public std::enable_shared_from_this<Sleeper> {
 public:
  explicit Sleeper(std::chrono::steady_clock::time_point until) : until_(until) {}

  absl::Status Resume(Call* call) override {
    if (std::chrono::steady_clock::now() >= until_) return absl::OkStatus();
    call->Pause(PauseKind::kForEvent, shared_from_this());
    return absl::InternalError("nobody looks at this");
  }
  std::chrono::steady_clock::time_point until() const override { return until_; }

 private:
  const std::chrono::steady_clock::time_point until_;
};

TEST_F(EventPauseTest, APauseEndsAtItsTime) {
  methods_["/sleep"].run = [](Call* call) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    return std::make_shared<Sleeper>(until)->Resume(call);
  };
  Start();
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/sleep", "").Status(), "0");
}

TEST_F(EventPauseTest, TheServersEndEndsCallsThatWaitForAnEvent) {
  Start();
  Http2Client client(transport_->address());
  const int32_t stream = BeginToListen(&client);
  transport_->Stop(std::chrono::milliseconds(1));
  EXPECT_EQ(client.Await(stream).Status(), "14");
  EXPECT_EQ(bell_.listener_count(), 0U);
}

TEST_F(PauseTest, ConnectionsBeyondTheMostAreClosed) {
  Start([](TransportOptions* options) { options->connections_max = 2; });
  Http2Client first(transport_->address());
  EXPECT_EQ(first.Call("/echo", "").Status(), "0");
  {
    Http2Client second(transport_->address());
    EXPECT_EQ(second.Call("/echo", "").Status(), "0");
    Http2Client third(transport_->address());
    EXPECT_FALSE(third.Until([] { return false; }));
  }
  // One ended, and another takes its place.
  while (true) {
    Http2Client next(transport_->address());
    if (next.Call("/echo", "").Status() == "0") break;
  }
}

// Its system still acknowledges bytes, but no process reads them.
TEST_F(PauseTest, AClientThatAnswersNoPingIsGone) {
  StartWithoutLooks([](TransportOptions* options) {
    options->ping_delay = std::chrono::milliseconds(1);
    options->client_timeout = std::chrono::milliseconds(1);
  });
  Http2Client silent(transport_->address());
  EXPECT_EQ(silent.Call("/echo", "").Status(), "0");
  BeginMany(&silent, "/wait", 1);
  ASSERT_TRUE(silent.Until([] { return true; }));
  Await(running_, 1);
  const Looks looks(transport_.get());
  Await(stopped_, 1);  // and it was closed
}

}  // namespace
}  // namespace stele::server
