// What a server takes on and no more, who is answered though others do not read, and how calls end that nobody waits for.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>

#include "transport/transport_fixture.h"

namespace stele::server {
namespace {

TEST_F(TransportTest, RequestsThatWaitAreBounded) {
  Start([](TransportOptions* options) { options->request_memory_bytes = 100'000; });
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/take", "").Status(), "0");  // it knows the server's window now
  const int32_t holder = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(holder, Framed(std::string(90'000, 'h')).substr(0, 90'000), false);  // and the rest does not come
  // Both requests go over one connection, so the first has been read before the second.
  EXPECT_EQ(client.Call("/take", std::string(20'000, 'x')).Status(), "14");
  EXPECT_EQ(client.Call("/take", std::string(5'000, 'x')).Status(), "0");
  client.Reset(holder);
  EXPECT_EQ(client.Call("/take", std::string(90'000, 'x')).Status(), "0");
  // Nothing stays reserved, however a call ended.
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.Call(i % 2 == 0 ? "/fail" : "/take", std::string(90'000, 'x')).Status(), i % 2 == 0 ? "9" : "0");
  Http2Client lost(transport_->address());
  EXPECT_EQ(lost.Call("/echo", "").Status(), "0");  // it knows the server's window now
  const int32_t stream = lost.Begin(Http2Client::GrpcHeaders("/wait"));
  lost.Write(stream, Framed(std::string(90'000, 'l')), true);
  Await(running_, 1);
  lost.Disconnect();
  Await(stopped_, 1);
  while (client.Call("/take", std::string(90'000, 'x')).Status() != "0") std::this_thread::yield();
}

TEST_F(TransportTest, ARequestThatStopsInItsMiddleIsGivenUp) {
  Start([](TransportOptions* options) {
    options->request_memory_bytes = 9000;
    options->patience = std::chrono::milliseconds(1);
  });
  Http2Client silent(transport_->address());
  silent.Hold();
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");  // it has greeted
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, Framed(std::string(5000, 'h')).substr(0, 5000), false);
  // Of a call that runs nobody is in a hurry, nor of one that has sent nothing.
  const int32_t talk = client.Begin(Http2Client::GrpcHeaders("/talk"));
  client.Write(talk, Framed("one"), false);
  const int32_t mute = client.Begin(Http2Client::GrpcHeaders("/echo"));
  EXPECT_EQ(client.Await(stream).Status(), "14");
  counter_.Await("/echo", absl::StatusCode::kUnavailable, 1);
  EXPECT_EQ(client.Call("/take", std::string(5000, 'x')).Status(), "0");
  client.Write(talk, Framed("two"), true);
  EXPECT_EQ(client.Await(talk).Status(), "0");
  client.Write(mute, Framed("late"), true);
  EXPECT_EQ(client.Await(mute).Status(), "0");
  // Nor is a connection kept on which nothing was said at all: it reads the server's settings, and the end.
  EXPECT_FALSE(silent.Until([] { return false; }));
}

// A byte now and then does not keep what was sent before.
TEST_F(TransportTest, ARequestThatHardlyMovesIsGivenUp) {
  Start([](TransportOptions* options) { options->patience = std::chrono::milliseconds(500); });
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, Framed(std::string(20'000'000, 'h')).substr(0, 50'000), false);
  while (!client.answer(stream).is_closed) {
    client.Write(stream, "h", false);
    ASSERT_EQ(client.Call("/take", "").Status(), "0");
  }
  EXPECT_EQ(client.answer(stream).Status(), "14");
}

TEST_F(TransportTest, ARequestHasATimeToComeWhole) {
  Start([](TransportOptions* options) { options->request_time_max = std::chrono::milliseconds(1); });
  Http2Client client(transport_->address());
  const int32_t mute = client.Begin(Http2Client::GrpcHeaders("/echo"));
  EXPECT_EQ(client.Await(mute).Status(), "14");
  EXPECT_EQ(client.answer(mute).headers.at("grpc-message"), "The request takes too long");
}

TEST_F(TransportTest, StreamsWithoutARequestAreCharged) {
  Start([](TransportOptions* options) { options->request_memory_bytes = 20'000; });
  Http2Client client(transport_->address());
  std::vector<int32_t> streams;
  for (int i = 0; i < 50; ++i) streams.push_back(client.Begin(Http2Client::GrpcHeaders("/echo")));
  EXPECT_EQ(client.Await(streams.back()).Status(), "14");
  const auto is_refused = [&](int32_t stream) { return client.answer(stream).Status() == "14"; };
  EXPECT_GE(std::count_if(streams.begin(), streams.end(), is_refused), 30);
  for (const int32_t stream : streams) client.Reset(stream);
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
}

TEST_F(TransportTest, CallsBeyondTheMostAreRefused) {
  Start([](TransportOptions* options) { options->calls_max = 3; });
  Http2Client client(transport_->address());
  const std::vector<int32_t> waiting = BeginMany(&client, "/wait", 2);
  Http2Client other(transport_->address());
  BeginMany(&other, "/wait", 1);
  ASSERT_TRUE(other.Until([] { return true; }));
  Await(running_, 3);
  // Clients try UNAVAILABLE again.
  EXPECT_EQ(other.Call("/echo", "").Status(), "14");
  counter_.Await("/echo", absl::StatusCode::kUnavailable, 1);
  EXPECT_EQ(counter_.refused(), 1);
  EXPECT_EQ(counter_.begun(), 3);
  // While all threads of calls are taken, one can still be given up.
  client.Reset(waiting[1]);
  client.Until([] { return true; });
  Await(stopped_, 1);
  while (client.Call("/echo", "").Status() != "0") std::this_thread::yield();
}

TEST_F(TransportTest, AStreamThatIsNotReadStopsItsSenderAlone) {
  Start();
  Http2Client slow(transport_->address(), /*window_bytes=*/65'535);
  const int32_t stream = slow.Begin(Http2Client::GrpcHeaders("/flood"));
  slow.Write(stream, Framed(""), true);
  Await(running_, 1);
  Http2Client other(transport_->address());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.Call("/echo", "beside").Status(), "0");
  // What the stream's window, its buffer and one message more hold.
  EXPECT_LE(sent_.load(), 8);
  slow.Reset(stream);
  Await(stopped_, 1);
}

// All have put their answer down before one of them ends, and none waits for another to be read.
TEST_F(TransportTest, ManyLargeAnswersOfOneConnectionAllArrive) {
  std::latch all_sent(40);
  methods_["/large"] = LargeAnswer(&all_sent);
  Start([](TransportOptions* options) { options->calls_max = 80; });
  Http2Client client(transport_->address(), /*window_bytes=*/65'535);
  for (const int32_t stream : BeginMany(&client, "/large", 40)) {
    const Answer answer = client.Await(stream);
    EXPECT_EQ(answer.Status(), "0");
    EXPECT_EQ(answer.body.size(), kPrefixBytes + 400'000);
  }
}

TEST_F(TransportTest, ACallBesideStreamsThatAreNotReadIsAnswered) {
  Start();
  Http2Client client(transport_->address(), /*window_bytes=*/1000);
  const std::vector<int32_t> floods = BeginMany(&client, "/flood", 20);
  while (sent_.load() < 20 * 3) std::this_thread::yield();  // six megabytes that nobody reads
  EXPECT_EQ(client.Call("/echo", "beside").Status(), "0");
  for (const int32_t stream : floods) client.Reset(stream);
  Await(stopped_, 20);
}

// Else answers without number would wait for a client that reads none.
TEST_F(TransportTest, AnswersThatAreNotReadAreCharged) {
  methods_["/large"] = [](Call* call) {
    call->Send(std::string(kPrefixBytes + 400'000, 'l'), true);
    return absl::OkStatus();
  };
  Start([](TransportOptions* options) { options->request_memory_bytes = 8'000'000; });
  Http2Client slow(transport_->address(), /*window_bytes=*/1000);
  // A connection's answers have a quarter of the memory.
  const std::vector<int32_t> streams = BeginMany(&slow, "/large", 20);
  const auto is_answered = [&](int32_t stream) { return slow.answer(stream).headers.contains(":status"); };
  ASSERT_TRUE(slow.Until([&] { return std::all_of(streams.begin(), streams.end(), is_answered); }));
  const auto is_refused = [&](int32_t stream) { return slow.answer(stream).Status() == "14"; };
  EXPECT_GE(std::count_if(streams.begin(), streams.end(), is_refused), 15);
  EXPECT_EQ(slow.Call("/echo", "").Status(), "0");
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/large", "").Status(), "0");
  // What is given up holds nothing.
  for (const int32_t stream : streams) slow.Reset(stream);
  slow.Until([] { return true; });
  for (int i = 0; i < 30; ++i) EXPECT_EQ(other.Call("/large", "").Status(), "0");
  while (slow.Call("/large", "").Status() == "14") std::this_thread::yield();
}

// PING, which asks for eight bytes to be sent back.
TEST_F(TransportTest, WhoAsksForAnswersAndReadsNoneIsCutOff) {
  Start();
  Http2Client client(transport_->address());
  ASSERT_EQ(client.Call("/echo", "").Status(), "0");
  std::string pings;
  for (int i = 0; i < 1000; ++i) pings += std::string("\0\0\10\6\0\0\0\0\0eightlet", 17);
  bool is_cut_off = false;
  for (int i = 0; i < 5000 && !is_cut_off; ++i) is_cut_off = !client.TrySendRaw(pings);
  EXPECT_TRUE(is_cut_off);
}

TEST_F(TransportTest, WhoReadsAnswersMayAskForManyAtOnce) {
  Start();
  Http2Client client(transport_->address());
  ASSERT_EQ(client.Call("/echo", "").Status(), "0");
  std::string pings;
  for (int i = 0; i < 20'000; ++i) pings += std::string("\0\0\10\6\0\0\0\0\0eightlet", 17);
  EXPECT_TRUE(client.TrySendRaw(pings));
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
}

// HTTP's library counts answers to PING and SETTINGS, but not what it says of calls that it does not take, of which a client that has not
// agreed to the most there may be can make as many as it wants.
TEST_F(TransportTest, WhoBeginsCallsAndReadsNothingIsCutOff) {
  Start();
  Http2Client client(transport_->address());
  client.Hold();  // nothing is read, and so nothing agreed to
  std::string bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  bool is_cut_off = false;
  for (uint32_t stream = 1; stream < 2'000'000 && !is_cut_off; stream += 2) {
    bytes += std::string("\0\0\3\1\4", 5);  // POST http /
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(stream >> shift));
    bytes += "\x83\x86\x84";
    if (bytes.size() < 60'000) continue;
    is_cut_off = !client.TrySendRaw(bytes);
    bytes.clear();
  }
  EXPECT_TRUE(is_cut_off);
}

TEST_F(TransportTest, ALostConnectionStopsItsCalls) {
  Start();
  Http2Client client(transport_->address());
  for (const char* const path : {"/wait", "/flood"}) client.Write(client.Begin(Http2Client::GrpcHeaders(path)), Framed(""), true);
  Await(running_, 2);
  client.Disconnect();
  Await(stopped_, 2);
}

// Its bytes and its end come together, and are told of once.
TEST_F(TransportTest, AConnectionThatEndsAtOnceStopsItsCall) {
  Start();
  for (int i = 0; i < 50; ++i) {
    Http2Client client(transport_->address());
    // Everything the server sent was read, and the request goes in one piece: the end follows it in order. Else the client's side would
    // reset the connection, and a request behind that need not be looked at any more.
    ASSERT_EQ(client.Call("/echo", "").Status(), "0");
    client.Hold();
    client.Write(client.Begin(Http2Client::GrpcHeaders("/wait")), Framed(""), true);
    client.Release();
    client.Disconnect();
  }
  counter_.Await("/wait", absl::StatusCode::kCancelled, 50);
}

// The same, of a client that would go on reading.
TEST_F(TransportTest, AnEndThatComesWithTheLastBytesIsSeen) {
  Start();
  Http2Client client(transport_->address());
  ASSERT_EQ(client.Call("/echo", "").Status(), "0");
  client.JoinToEnd();
  client.Write(client.Begin(Http2Client::GrpcHeaders("/wait")), Framed(""), true);
  client.Until([] { return true; });
  client.EndSending();
  EXPECT_FALSE(client.Until([] { return false; }));  // the server ends it, too
}

// What a call was told by its headers stays, whatever comes behind the message.
TEST_F(TransportTest, TrailersChangeNothing) {
  Start([](TransportOptions* options) { options->metadata = {"x-asked"}; });
  methods_["/late"] = [](Call* call) {
    std::string message;
    call->Receive(&message);
    while (call->Receive(&message)) continue;
    call->Send(std::string(kPrefixBytes, '\0') + std::string(call->metadata("x-asked")), true);
    return absl::OkStatus();
  };
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/late"));
  client.Write(stream, Framed(""), false);
  client.WriteTrailers(stream, {{"x-asked", "late"}, {"grpc-timeout", "1n"}});
  EXPECT_EQ(client.Await(stream).body, Framed(""));
}

TEST_F(TransportTest, ADeadlineEndsASendThatWaits) {
  Start();
  Http2Client client(transport_->address(), /*window_bytes=*/1000);
  EXPECT_EQ(client.Call("/until", "").Status(), "5");
  for (const std::string path : {"/until", "/deaf"}) {
    Http2Client::Headers headers = Http2Client::GrpcHeaders(path);
    headers.emplace_back("grpc-timeout", "50m");
    const int32_t stream = client.Begin(headers);
    client.Write(stream, Framed(""), true);
    counter_.Await(path, absl::StatusCode::kDeadlineExceeded, 1);  // the client reads nothing as yet
    EXPECT_EQ(client.Await(stream).Status(), "4");
  }
  // Nobody hears how these end, but it is counted.
  for (const std::string path : {"/flood", "/deaf"}) {
    const int32_t stream = BeginMany(&client, path, 1)[0];
    client.Reset(stream);
    counter_.Await(path, absl::StatusCode::kCancelled, 1);
  }
}

// Its client would not know that it took effect after all.
TEST_F(TransportTest, ACallThatNobodyWaitsForIsNotBegun) {
  Start();
  Http2Client client(transport_->address());
  Http2Client::Headers headers = Http2Client::GrpcHeaders("/wait");
  headers.emplace_back("grpc-timeout", "1m");
  const int32_t late = client.Begin(headers);
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");  // the headers have been read, too, and the deadline is fixed
  const auto passed = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < passed) std::this_thread::yield();
  client.Write(late, Framed(""), true);
  EXPECT_EQ(client.Await(late).Status(), "4");
  client.Hold();
  const int32_t given_up = BeginMany(&client, "/wait", 1)[0];
  client.Reset(given_up);
  client.Release();
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
  EXPECT_EQ(running_.load(), 0);
}

TEST_F(TransportTest, StreamsThatAreGivenUpAtOnceDoNoHarm) {
  Start();
  Http2Client client(transport_->address());
  for (int i = 0; i < 5000; ++i) {
    const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
    if (stream < 0) break;
    client.Write(stream, Framed("x"), true);
    client.Reset(stream);
    client.Until([] { return true; });
  }
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/echo", "after").Status(), "0");
}

TEST_F(TransportTest, StopWaitsForCallsThatRun) {
  std::latch may_end(1);
  methods_["/work"] = [&](Call* call) {
    running_.fetch_add(1);
    running_.notify_all();
    may_end.wait();
    EXPECT_FALSE(call->stop().stop_requested());
    return absl::OkStatus();
  };
  Start();
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/work"));
  client.Write(stream, Framed(""), true);
  Await(running_, 1);
  std::jthread stopper([&] { transport_->Stop(std::chrono::minutes(5)); });
  ASSERT_TRUE(client.Until([&] { return client.is_told_to_go(); }));
  may_end.count_down();
  EXPECT_EQ(client.Await(stream).Status(), "0");
  EXPECT_FALSE(client.Until([] { return false; }));  // and then the connection ends
}

TEST_F(TransportTest, StopEndsCallsThatGoOn) {
  Start();
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/wait"));
  client.Write(stream, Framed(""), true);
  Await(running_, 1);
  transport_->Stop(std::chrono::milliseconds(1));
  EXPECT_EQ(stopped_.load(), 1);
  EXPECT_EQ(client.Await(stream).Status(), "14");  // which clients try again, as they do not what they gave up themselves
}

// A stream is cut off, which its client hears even if the method has nothing to say of it; an answer that is whole goes out.
TEST_F(TransportTest, StopCutsStreamsAndNotLastMessages) {
  methods_["/late"] = [wait = methods_["/wait"]](Call* call) {
    wait(call).IgnoreError();
    call->Send(std::string(kPrefixBytes, '\0') + "done", true);
    return absl::OkStatus();
  };
  Start();
  Http2Client client(transport_->address());
  std::vector<int32_t> streams;
  for (const char* const path : {"/deaf", "/flood", "/late"}) streams.push_back(BeginMany(&client, path, 1)[0]);
  Await(running_, 3);
  std::jthread stopper([&] { transport_->Stop(std::chrono::milliseconds(500)); });
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(client.Await(streams[i]).Status(), "14") << i;
  const Answer done = client.Await(streams[2]);
  EXPECT_EQ(done.Status(), "0");
  EXPECT_EQ(done.body, Framed("done"));
}

TEST_F(TransportTest, RunningOutOfDescriptorsTurnsClientsAway) {
  Start();
  Http2Client before(transport_->address());
  EXPECT_EQ(before.Call("/echo", "").Status(), "0");
  rlimit all{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &all), 0);
  // Both ends are this process's: the client's takes the last descriptor, and none is left for the server's.
  const int next = dup(0);
  ASSERT_GE(next, 0);
  close(next);
  rlimit few = all;
  few.rlim_cur = static_cast<rlim_t>(next) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  Http2Client turned_away(transport_->address());
  EXPECT_FALSE(turned_away.Until([] { return false; }));
  EXPECT_EQ(before.Call("/echo", "").Status(), "0");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
  Http2Client after(transport_->address());
  EXPECT_EQ(after.Call("/echo", "").Status(), "0");
}

}  // namespace
}  // namespace stele::server
