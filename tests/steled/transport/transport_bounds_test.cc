// Tests the limits of a server, service to other clients while some do not read, and the end of
// abandoned calls.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>

#include "steled/transport/transport_fixture.h"

namespace stele::server {
namespace {

TEST_F(TransportTest, RequestsThatWaitAreBounded) {
  Start([](TransportOptions* options) { options->request_memory_bytes = MemoryFor(100'000); });
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/take", "").Status(), "0");  // it knows the server's window now
  const int32_t holder = client.Begin(Http2Client::GrpcHeaders("/echo"));
  // The rest of the message is never sent.
  client.Write(holder, Framed(std::string(90'000, 'h')).substr(0, 90'000), false);
  // Both requests use one connection, so the first has been read before the second.
  EXPECT_EQ(client.Call("/take", std::string(20'000, 'x')).Status(), "14");
  EXPECT_EQ(client.Call("/take", std::string(5'000, 'x')).Status(), "0");
  client.Reset(holder);
  EXPECT_EQ(client.Call("/take", std::string(90'000, 'x')).Status(), "0");
  // Nothing stays reserved, however a call ended.
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.Call(i % 2 == 0 ? "/fail" : "/take", std::string(90'000, 'x')).Status(),
              i % 2 == 0 ? "9" : "0");
  Http2Client lost(transport_->address());
  EXPECT_EQ(lost.Call("/echo", "").Status(), "0");  // it knows the server's window now
  const int32_t stream = lost.Begin(Http2Client::GrpcHeaders("/wait"));
  lost.Write(stream, Framed(std::string(50'000, 'l')), true);
  Await(running_, 1);
  lost.Disconnect();
  Await(stopped_, 1);
  while (client.Call("/take", std::string(90'000, 'x')).Status() != "0") std::this_thread::yield();
}

TEST_F(TransportTest, ARequestThatStopsInItsMiddleIsGivenUp) {
  StartWithoutLooks([](TransportOptions* options) {
    options->request_memory_bytes = MemoryFor(70'000);
    options->client_timeout = std::chrono::milliseconds(1);
  });
  Http2Client silent(transport_->address());
  silent.Hold();
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");  // it has sent the preface
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, Framed(std::string(60'000, 'h')).substr(0, 60'000), false);
  // There is no such timeout for a running call.
  const int32_t talk = client.Begin(Http2Client::GrpcHeaders("/talk"));
  client.Write(talk, Framed("one"), false);
  ASSERT_TRUE(client.Until([&] { return client.answer(talk).body == Framed("one"); }));
  {
    const Looks looks(transport_.get());
    EXPECT_EQ(client.Await(stream).Status(), "14");
    counter_.Await("/echo", absl::StatusCode::kUnavailable, 1);
  }
  EXPECT_EQ(client.Call("/take", std::string(60'000, 'x')).Status(), "0");
  client.Write(talk, Framed("two"), true);
  EXPECT_EQ(client.Await(talk).Status(), "0");
  // A connection without any bytes is not kept either: it gets the server's settings, and then the
  // end.
  const Looks looks(transport_.get());
  EXPECT_FALSE(silent.Until([] { return false; }));
}

// Each stream is charged, so a client could use up the memory for requests with headers alone.
TEST_F(TransportTest, ARequestOfHeadersAloneIsGivenUp) {
  StartWithoutLooks([](TransportOptions* options) {
    options->request_memory_bytes = SmallMemoryFor(3 * Http2Connection::kStreamBytes + 100);
    options->client_timeout = std::chrono::milliseconds(1);
  });
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");  // it has sent the preface
  for (const char* const path : {"/echo", "/talk"}) {
    std::vector<int32_t> streams;
    while (streams.size() < 3) streams.push_back(client.Begin(Http2Client::GrpcHeaders(path)));
    const Looks looks(transport_.get());
    for (const int32_t stream : streams) {
      EXPECT_EQ(client.Await(stream).Status(), "14");
      EXPECT_EQ(client.answer(stream).headers.at("grpc-message"),
                "The request has headers and no message");
    }
  }
  EXPECT_EQ(counter_.refused_for(RefusalCause::kSlowRequest), 6);
  EXPECT_EQ(client.Call("/echo", "").Status(), "0") << "its charge was released";
}

// The frame with the headers says that more of them follow.
TEST_F(TransportTest, HeadersThatStopInTheirMiddleAreGivenUp) {
  StartWithoutLooks(
      [](TransportOptions* options) { options->client_timeout = std::chrono::milliseconds(1); });
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
  client.SendRaw(std::string("\0\0\1\1\0\0\0\0\x65\x83", 10));  // POST
  while (counter_.refused_for(RefusalCause::kSlowRequest) == 0) transport_->EndStalled();
  client.SendRaw(std::string("\0\0\2\x9\4\0\0\0\x65\x86\x84", 11));  // http /
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/echo", "").Status(), "0");
}

// A few bytes now and then do not keep a request alive.
TEST_F(TransportTest, ARequestThatHardlyMovesIsGivenUp) {
  StartWithoutLooks(
      [](TransportOptions* options) { options->client_timeout = std::chrono::milliseconds(500); });
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, Framed(std::string(20'000'000, 'h')).substr(0, 50'000), false);
  // At most a byte a millisecond, however fast the machine is.
  while (!client.answer(stream).is_closed) {
    client.Write(stream, "h", false);
    const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    do {
      ASSERT_EQ(client.Call("/take", "").Status(), "0");
    } while (std::chrono::steady_clock::now() < next);
    transport_->EndStalled();
  }
  EXPECT_EQ(client.answer(stream).Status(), "14");
}

// A large request must bring a part of what it holds. Otherwise a few clients could fill the memory
// for requests and keep it.
TEST_F(TransportTest, ALargeRequestThatSlowsDownIsGivenUp) {
  StartWithoutLooks(
      [](TransportOptions* options) { options->client_timeout = std::chrono::milliseconds(500); });
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, Framed(std::string(16'000'000, 'h')).substr(0, 8'000'000), false);
  // The client is slow: 1 MB a second at most.
  for (int i = 0; i < 200 && !client.answer(stream).is_closed; ++i) {
    client.Write(stream, std::string(30'000, 'h'), false);
    const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
    do {
      ASSERT_EQ(client.Call("/take", "").Status(), "0");
    } while (std::chrono::steady_clock::now() < next);
    transport_->EndStalled();
  }
  EXPECT_EQ(client.answer(stream).Status(), "14");
  EXPECT_EQ(client.answer(stream).headers.at("grpc-message"), "The request stopped in its middle");
}

// The server holds a whole message whose request does not end. No thread waits for the end.
TEST_F(TransportTest, ARequestThatDoesNotEndIsGivenUp) {
  StartWithoutLooks(
      [](TransportOptions* options) { options->client_timeout = std::chrono::milliseconds(1); });
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, Framed("whole"), false);
  EXPECT_EQ(client.Call("/take", "").Status(), "0");  // the server has the message
  const Looks looks(transport_.get());
  EXPECT_EQ(client.Await(stream).Status(), "14");
  EXPECT_EQ(counter_.begun(), 1) << "only the other call";
}

TEST_F(TransportTest, ARequestHasATimeToComeWhole) {
  StartWithoutLooks(
      [](TransportOptions* options) { options->request_timeout = std::chrono::milliseconds(1); });
  Http2Client client(transport_->address());
  const int32_t mute = client.Begin(Http2Client::GrpcHeaders("/echo"));
  const Looks looks(transport_.get());
  EXPECT_EQ(client.Await(mute).Status(), "14");
  EXPECT_EQ(client.answer(mute).headers.at("grpc-message"), "The request takes too long");
}

TEST_F(TransportTest, StreamsWithoutARequestAreCharged) {
  Start([](TransportOptions* options) { options->request_memory_bytes = SmallMemoryFor(20'000); });
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
  // Clients retry UNAVAILABLE.
  EXPECT_EQ(other.Call("/echo", "").Status(), "14");
  counter_.Await("/echo", absl::StatusCode::kUnavailable, 1);
  EXPECT_EQ(counter_.refused(), 1);
  EXPECT_EQ(counter_.begun(), 3);
  // While all threads run calls, a call can still be cancelled.
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
  // The capacity of the stream's window, its buffer and one more message.
  EXPECT_LE(sent_.load(), 8);
  slow.Reset(stream);
  Await(stopped_, 1);
}

// All send their response before one of them ends, and none waits for another to be read.
TEST_F(TransportTest, ManyLargeAnswersOfOneConnectionAllArrive) {
  std::latch all_sent(40);
  methods_["/large"].run = LargeAnswer(&all_sent);
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
  while (sent_.load() < 20 * 3) std::this_thread::yield();  // six megabytes that are not read
  EXPECT_EQ(client.Call("/echo", "beside").Status(), "0");
  for (const int32_t stream : floods) client.Reset(stream);
  Await(stopped_, 20);
}

// Otherwise an unlimited number of responses would wait for a client that does not read.
TEST_F(TransportTest, AnswersThatAreNotReadAreCharged) {
  methods_["/large"].run = [](Call* call) {
    call->Send(std::string(kPrefixBytes + 400'000, 'l'), true);
    return absl::OkStatus();
  };
  Start([](TransportOptions* options) { options->request_memory_bytes = 8'000'000; });
  Http2Client slow(transport_->address(), /*window_bytes=*/1000);
  // Responses may use half of the memory, and those of one connection as much as is left then.
  const std::vector<int32_t> streams = BeginMany(&slow, "/large", 20);
  const auto is_answered = [&](int32_t stream) {
    return slow.answer(stream).headers.contains(":status");
  };
  ASSERT_TRUE(slow.Until([&] { return std::all_of(streams.begin(), streams.end(), is_answered); }));
  const auto is_refused = [&](int32_t stream) { return slow.answer(stream).Status() == "14"; };
  EXPECT_GE(std::count_if(streams.begin(), streams.end(), is_refused), 15);
  EXPECT_EQ(slow.Call("/echo", "").Status(), "0");
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/large", "").Status(), "0");
  // Cancelled calls hold nothing.
  for (const int32_t stream : streams) slow.Reset(stream);
  slow.Until([] { return true; });
  for (int i = 0; i < 30; ++i) EXPECT_EQ(other.Call("/large", "").Status(), "0");
  while (slow.Call("/large", "").Status() == "14") std::this_thread::yield();
}

// PING, which requests eight bytes to be sent back.
TEST_F(TransportTest, SmallMessagesThatAreNotReadAreCharged) {
  methods_["/drip"].run = [this](Call* call) {
    while (call->CanSend() && call->Send(std::string(kPrefixBytes + 1000, 'd'), false)) continue;
    running_.fetch_add(1);
    running_.notify_all();
    while (call->Send(std::string(kPrefixBytes, 'd'), false)) continue;
    return absl::CancelledError("nobody reads");
  };
  Start([](TransportOptions* options) { options->request_memory_bytes = MemoryFor(4'000'000); });
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/take", std::string(3'900'000, 'x')).Status(), "0");
  Http2Client slow(transport_->address(), /*window_bytes=*/1000);
  const int32_t stream = BeginMany(&slow, "/drip", 1)[0];
  ASSERT_TRUE(slow.Until([&] { return slow.answer(stream).headers.contains(":status"); }));
  Await(running_, 1);
  EXPECT_EQ(other.Call("/take", std::string(3'900'000, 'x')).Status(), "14");
  slow.Reset(stream);
  slow.Until([] { return true; });
  while (other.Call("/take", std::string(3'900'000, 'x')).Status() != "0")
    std::this_thread::yield();
}

// The bytes on their way to a socket are charged, too. Without room for that charge a connection
// sends less at once.
TEST_F(TransportTest, AClientThatReadsKeepsItsConnectionWhileTheMemoryIsUsedUp) {
  constexpr size_t kAnswerBytes = 32'000'000;  // more than the buffers of two sockets
  methods_["/large"].run = [](Call* call) {
    call->Send(std::string(kPrefixBytes + kAnswerBytes, 'l'), true);
    return absl::OkStatus();
  };
  methods_["/little"].run = [](Call* call) {
    call->Send(std::string(kPrefixBytes + 100'000, 'l'), true);
    return absl::OkStatus();
  };
  Start([](TransportOptions* options) {
    // Half is for responses, and all but an eighth of it for those of one connection.
    options->request_memory_bytes = 2 * (kAnswerBytes + kAnswerBytes / 7 + 10'000);
  });
  Http2Client reader(transport_->address(), /*window_bytes=*/1 << 30);
  reader.WidenConnection(1 << 30);
  const int32_t stream = BeginMany(&reader, "/large", 1)[0];
  counter_.Await("/large", absl::StatusCode::kOk, 1);
  // Now the socket takes no more. Small responses of others fill the rest.
  std::vector<std::unique_ptr<Http2Client>> others;
  for (std::string status = "none"; status != "14";) {
    others.push_back(std::make_unique<Http2Client>(transport_->address(), /*window_bytes=*/1000));
    Http2Client& filler = *others.back();
    const int32_t little = BeginMany(&filler, "/little", 1)[0];
    filler.Until([&] { return filler.answer(little).headers.contains(":status"); });
    status = filler.answer(little).Status();
  }
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/large", "").Status(), "14");
  EXPECT_EQ(other.Call("/take", std::string(200'000, 'x')).Status(), "0");
  const Answer answer = reader.Await(stream);
  EXPECT_EQ(answer.Status(), "0");
  EXPECT_EQ(answer.body.size(), kPrefixBytes + kAnswerBytes);
  others.clear();
  while (reader.Call("/large", "").Status() != "0") std::this_thread::yield();
}

// Nor do other uses of the memory.
TEST_F(TransportTest, LargeRequestsLeaveMemoryToSmallOnesAndToHealthChecks) {
  constexpr size_t kClients = 4;
  methods_["/echo"].uses_all_memory = true;
  Start([](TransportOptions* options) { options->request_memory_bytes = MemoryFor(950'000); });
  Http2Client greedy(transport_->address());
  EXPECT_EQ(greedy.Call("/take", "").Status(), "0");  // it knows the server's window now
  std::vector<std::unique_ptr<Http2Client>> clients;
  while (clients.size() < kClients) {
    clients.push_back(std::make_unique<Http2Client>(transport_->address()));
    EXPECT_EQ(clients.back()->Call("/take", "").Status(), "0");
  }
  const int32_t holder = greedy.Begin(Http2Client::GrpcHeaders("/take"));
  greedy.Write(holder, Framed(std::string(940'000, 'h')).substr(0, 930'000), false);
  EXPECT_EQ(greedy.Call("/take", std::string(100'000, 'x')).Status(), "14");
  EXPECT_EQ(greedy.Call("/take", std::string(10'000, 'x')).Status(), "0");
  // Headers alone, until there is no room for small requests.
  bool is_full = false;
  for (const auto& client : clients) {
    for (int i = 0; i < 90 && !is_full; ++i) {
      client->Begin(Http2Client::GrpcHeaders("/take"));
      is_full = client->Call("/take", std::string(1000, 'x')).Status() == "14";
    }
  }
  EXPECT_TRUE(is_full);
  EXPECT_EQ(greedy.Call("/echo", "").Status(), "0");
  Http2Client probe(transport_->address());
  EXPECT_EQ(probe.Call("/echo", "").Status(), "0") << "over a new connection";
}

TEST_F(TransportTest, WhoAsksForAnswersAndReadsNoneIsCutOff) {
  Start();
  Http2Client client(transport_->address());
  ASSERT_EQ(client.Call("/echo", "").Status(), "0");
  std::string pings;
  for (int i = 0; i < 1000; ++i) pings += std::string("\0\0\10\6\0\0\0\0\0eightlet", 17);
  bool is_cut_off = false;
  // Far more than the buffers of the sockets hold, whatever limits the system has for them.
  for (int i = 0; i < 50'000 && !is_cut_off; ++i) is_cut_off = !client.TrySendRaw(pings);
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

// The HTTP/2 library limits queued responses to PING and SETTINGS, but not those for refused
// streams. A client that has not acknowledged the stream limit can open any number of them.
TEST_F(TransportTest, WhoBeginsCallsAndReadsNothingIsCutOff) {
  Start();
  Http2Client client(transport_->address());
  client.Hold();  // nothing is read, and so nothing is acknowledged
  std::string bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  bool is_cut_off = false;
  // Far more than the buffers of the sockets hold, whatever limits the system has for them.
  for (uint32_t stream = 1; stream < 100'000'000 && !is_cut_off; stream += 2) {
    bytes += std::string("\0\0\3\1\4", 5);  // POST http /
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(stream >> shift));
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
  for (const char* const path : {"/wait", "/flood"})
    client.Write(client.Begin(Http2Client::GrpcHeaders(path)), Framed(""), true);
  Await(running_, 2);
  client.Disconnect();
  Await(stopped_, 2);
}

// Its bytes and its end arrive together and are reported once.
TEST_F(TransportTest, AConnectionThatEndsAtOnceStopsItsCall) {
  Start();
  for (int i = 0; i < 50; ++i) {
    Http2Client client(transport_->address());
    // Everything the server sent was read, and the request is sent at once, so the end follows it
    // in order. Otherwise the client would reset the connection, and the request after that might
    // be ignored.
    ASSERT_EQ(client.Call("/echo", "").Status(), "0");
    client.Hold();
    client.Write(client.Begin(Http2Client::GrpcHeaders("/wait")), Framed(""), true);
    client.Release();
    client.Disconnect();
  }
  counter_.Await("/wait", absl::StatusCode::kCancelled, 50);
}

// The same for a client that continues to read.
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

// The metadata from a call's headers stays, whatever follows the message.
TEST_F(TransportTest, TrailersChangeNothing) {
  Start([](TransportOptions* options) { options->metadata = {"x-asked"}; });
  methods_["/late"].run = [](Call* call) {
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
    // The client reads nothing yet.
    counter_.Await(path, absl::StatusCode::kDeadlineExceeded, 1);
    EXPECT_EQ(client.Await(stream).Status(), "4");
  }
  // No client gets the end of these calls, but they are counted.
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
  // The headers have been read, too, and the deadline is fixed.
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
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
  methods_["/work"].run = [&](Call* call) {
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
  ASSERT_TRUE(client.Until([&] { return client.is_asked_to_stop(); }));
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
  // Clients retry this code, but not calls that they cancelled themselves.
  EXPECT_EQ(client.Await(stream).Status(), "14");
}

// A running stream is stopped, and its client gets that status even if the method returns nothing
// about it; a complete response is sent.
TEST_F(TransportTest, StopCutsStreamsAndNotLastMessages) {
  methods_["/late"].run = [wait = methods_["/wait"].run](Call* call) {
    wait(call).IgnoreError();
    call->Send(std::string(kPrefixBytes, '\0') + "done", true);
    return absl::OkStatus();
  };
  Start([](TransportOptions* options) {
    options->final_response_timeout = std::chrono::minutes(10);
  });
  Http2Client client(transport_->address());
  std::vector<int32_t> streams;
  for (const char* const path : {"/deaf", "/flood", "/late"})
    streams.push_back(BeginMany(&client, path, 1)[0]);
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
  // Both ends are in this process: the client takes the last descriptor, so none is left for the
  // server.
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
