// Tests a server with methods for tests, and clients that follow or violate the protocol.
// transport_bounds_test.cc has the limits.
#include "steled/transport/transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "steled/transport/calls/call_threads.h"
#include "steled/transport/calls/method.h"
#include "steled/transport/transport_fixture.h"

namespace stele::server {
namespace {

TEST_F(TransportTest, AnswersCallAfterCall) {
  Start();
  Http2Client client(transport_->address());
  for (int i = 0; i < 100; ++i) {
    const std::string message(static_cast<size_t>(i) * 997, 'm');
    const Answer answer = client.Call("/echo", message);
    EXPECT_EQ(answer.Status(), "0");
    EXPECT_EQ(answer.headers.at(":status"), "200");
    EXPECT_EQ(answer.headers.at("content-type"), "application/grpc");
    EXPECT_FALSE(answer.headers.contains("grpc-message"));
    EXPECT_EQ(answer.body, Framed(message));
    EXPECT_EQ(answer.error, 0U);
  }
}

TEST_F(TransportTest, ManyCallsOfOneConnectionRunAtOnce) {
  Start();
  Http2Client client(transport_->address());
  std::vector<int32_t> waiting;
  for (int i = 0; i < 50; ++i) {
    waiting.push_back(client.Begin(Http2Client::GrpcHeaders("/wait")));
    client.Write(waiting.back(), Framed(""), true);
  }
  Await(running_, 50);
  EXPECT_EQ(client.Call("/echo", "beside").Status(), "0");
  for (const int32_t stream : waiting) client.Reset(stream);
  Await(stopped_, 50);
}

TEST_F(TransportTest, ManyConnectionsAreServed) {
  Start();
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Http2Client client(transport_->address());
      for (int i = 0; i < 200; ++i) {
        std::vector<int32_t> streams;
        for (int s = 0; s < 3; ++s) {
          streams.push_back(client.Begin(Http2Client::GrpcHeaders("/echo")));
          client.Write(streams.back(), Framed(std::to_string(t * 1000 + i * 3 + s)), true);
        }
        for (int s = 0; s < 3; ++s) {
          const Answer answer = client.Await(streams[static_cast<size_t>(s)]);
          if (answer.Status() == "0" && answer.body == Framed(std::to_string(t * 1000 + i * 3 + s)))
            right.fetch_add(1);
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(right.load(), 8 * 200 * 3);
}

TEST_F(TransportTest, ARequestMayComeByteByByte) {
  Start();
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  const std::string request = Framed("slowly");
  for (size_t i = 0; i < request.size(); ++i) client.Write(stream, request.substr(i, 1), false);
  client.Write(stream, "", true);
  const Answer answer = client.Await(stream);
  EXPECT_EQ(answer.Status(), "0");
  EXPECT_EQ(answer.body, request);
}

TEST_F(TransportTest, LargeMessagesGoBothWays) {
  Start();
  Http2Client client(transport_->address());
  const std::string message(20 << 20, 'L');
  const Answer answer = client.Call("/echo", message);
  EXPECT_EQ(answer.Status(), "0");
  EXPECT_TRUE(answer.body == Framed(message));
}

TEST_F(TransportTest, AStreamOfMessagesComesWholeAndInOrder) {
  Start();
  Http2Client client(transport_->address());
  const Answer answer = client.Call("/count", "");
  EXPECT_EQ(answer.Status(), "0");
  std::string expected;
  for (int i = 0; i < 1000; ++i)
    expected += Framed(std::string(1000, static_cast<char>('a' + i % 26)));
  EXPECT_TRUE(answer.body == expected);
}

TEST_F(TransportTest, BothSidesMayTalkInTurns) {
  Start();
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/talk"));
  std::string expected;
  for (const char* const word : {"one", "two", "three"}) {
    client.Write(stream, Framed(word), false);
    expected += Framed(word);
    ASSERT_TRUE(client.Until([&] { return client.answer(stream).body == expected; }));
  }
  client.Write(stream, "", true);
  EXPECT_EQ(client.Await(stream).Status(), "0");
}

TEST_F(TransportTest, KeepsTheMetadataThatIsAskedFor) {
  Start([](TransportOptions* options) { options->metadata = {"x-asked"}; });
  Http2Client client(transport_->address());
  Http2Client::Headers headers = Http2Client::GrpcHeaders("/metadata");
  headers.emplace_back("x-asked", "yes");
  headers.emplace_back("x-other", "no");
  const int32_t stream = client.Begin(headers);
  client.Write(stream, Framed(""), true);
  EXPECT_EQ(client.Await(stream).body, Framed("yes,"));
  EXPECT_EQ(client.Call("/metadata", "").body, Framed(","));
}

TEST_F(TransportTest, ErrorsComeWithTheirText) {
  Start();
  Http2Client client(transport_->address());
  const Answer failed = client.Call("/fail", "");
  EXPECT_EQ(failed.Status(), "9");
  EXPECT_EQ(failed.headers.at("grpc-message"), "50%25 of it%0A");
  EXPECT_EQ(client.Call("/throw", "").Status(), "13");
  EXPECT_EQ(client.Call("/nobody", "").Status(), "12");
}

TEST_F(TransportTest, RefusedCallsAreCounted) {
  Start([](TransportOptions* options) {
    options->message_bytes_max = 5000;
    options->request_memory_bytes = SmallMemoryFor(6000);
  });
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/nobody", "").Status(), "12");
  EXPECT_EQ(client.Call("/echo", std::string(4500, 'm')).Status(), "14");
  EXPECT_EQ(client.Call("/fail", std::string(5001, 'm')).Status(), "8");
  counter_.Await("/nobody", absl::StatusCode::kUnimplemented, 1);
  counter_.Await("/echo", absl::StatusCode::kUnavailable, 1);
  counter_.Await("/fail", absl::StatusCode::kResourceExhausted, 1);
  // They took no time, and do not count as begun.
  EXPECT_EQ(counter_.refused(), 3);
  EXPECT_EQ(counter_.begun(), 0);
  // A refused request holds no memory, even before its end has arrived.
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, Framed(std::string(4500, 'm')), false);
  EXPECT_EQ(client.Await(stream).Status(), "14");
  EXPECT_EQ(client.Call("/take", std::string(1500, 'm')).Status(), "0");
}

TEST_F(TransportTest, WhatIsNotGrpcIsRefusedAsHttp) {
  Start();
  Http2Client client(transport_->address());
  Http2Client::Headers get = Http2Client::GrpcHeaders("/echo");
  get[0].second = "GET";
  Http2Client::Headers json = Http2Client::GrpcHeaders("/echo");
  json.back().second = "application/json";
  int32_t stream = client.Begin(get);
  client.Write(stream, "", true);
  EXPECT_EQ(client.Await(stream).headers.at(":status"), "405");
  EXPECT_EQ(client.answer(stream).body, "Only gRPC is served here.\n");
  EXPECT_FALSE(client.answer(stream).headers.contains("grpc-status"));
  stream = client.Begin(json);
  client.Write(stream, "{", false);
  EXPECT_EQ(client.Await(stream).headers.at(":status"), "415");
  EXPECT_EQ(client.answer(stream).error, 0U) << "it need not be sent to its end";
  EXPECT_EQ(client.Call("/echo", "after").Status(), "0");
}

TEST_F(TransportTest, RequestsThatBreakGrpcsRulesGetAStatus) {
  Start([](TransportOptions* options) { options->message_bytes_max = 1000; });
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", std::string(1000, 'x')).Status(), "0");
  EXPECT_EQ(client.Call("/echo", std::string(1001, 'x')).Status(), "8");
  const auto send = [&](const std::string& bytes) {
    const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
    client.Write(stream, bytes, true);
    return client.Await(stream).Status();
  };
  EXPECT_EQ(send(std::string("\1\0\0\0\0", 5)), "13");  // compressed, without an encoding
  EXPECT_EQ(send(std::string("\7\0\0\0\0", 5)), "13");
  EXPECT_EQ(send(Framed("cut").substr(0, 6)), "13");
  EXPECT_EQ(send(""), "13");  // from the method: no message
  Http2Client::Headers timeout = Http2Client::GrpcHeaders("/echo");
  timeout.emplace_back("grpc-timeout", "soon");
  const int32_t stream = client.Begin(timeout);
  client.Write(stream, Framed(""), true);
  EXPECT_EQ(client.Await(stream).Status(), "13");
  EXPECT_EQ(client.Call("/echo", "after").Status(), "0");
}

TEST_F(TransportTest, ASecondMessageOfAUnaryCallIsRefused) {
  Start();
  Http2Client client(transport_->address());
  const int32_t both = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(both, Framed("one") + Framed("two"), true);
  EXPECT_EQ(client.Await(both).Status(), "12");
  const int32_t late = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(late, Framed("one"), false);
  // The server has read the first message before this call.
  EXPECT_EQ(client.Call("/take", "").Status(), "0");
  EXPECT_EQ(counter_.begun(), 1);
  client.Write(late, Framed("two").substr(0, 1), false);
  EXPECT_EQ(client.Await(late).Status(), "12");
  EXPECT_EQ(client.answer(late).body, "");
  EXPECT_EQ(counter_.begun(), 1);
}

// The response does not wait for the rest of the request.
TEST_F(TransportTest, ARefusedRequestNeedNotBeSentToItsEnd) {
  Start([](TransportOptions* options) { options->message_bytes_max = 1000; });
  Http2Client client(transport_->address());
  const int32_t stream = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(stream, std::string("\0\0\1\0\0", 5), false);
  const Answer answer = client.Await(stream);
  EXPECT_EQ(answer.Status(), "8");
  EXPECT_TRUE(answer.is_closed);
}

TEST_F(TransportTest, TooManyHeadersEndTheirStreamAlone) {
  Start();
  Http2Client client(transport_->address());
  Http2Client::Headers headers = Http2Client::GrpcHeaders("/echo");
  for (int i = 0; i < 30; ++i)
    headers.emplace_back("x-" + std::to_string(i), std::string(1000, 'h'));
  const int32_t stream = client.Begin(headers);
  client.Write(stream, Framed(""), true);
  EXPECT_EQ(client.Await(stream).Status(), "8");
  EXPECT_EQ(client.answer(stream).headers.at("grpc-message"),
            "Headers of more than 16384 bytes; send fewer");
  // A client that sends far too many headers gets no status.
  for (int i = 0; i < 50; ++i)
    headers.emplace_back("y-" + std::to_string(i), std::string(1000, 'h'));
  EXPECT_NE(client.Await(client.Begin(headers)).error, 0U);
  EXPECT_EQ(client.Call("/echo", "after").Status(), "0");
}

TEST_F(TransportTest, WhatIsNotHttpLosesItsConnection) {
  Start();
  Http2Client garbage(transport_->address());
  garbage.SendRaw("GET / HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_FALSE(garbage.Until([] { return false; }));
  Http2Client broken(transport_->address());
  EXPECT_EQ(broken.Call("/echo", "before").Status(), "0");
  broken.SendRaw(std::string("\xff\xff\xff\1\4\0\0\0\1", 9));  // a frame of sixteen million bytes
  EXPECT_FALSE(broken.Until([] { return false; }));
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "after").Status(), "0");
}

TEST(CallThreads, OneIsThereForEventsHoweverManyRunCalls) {
  std::latch may_end(1);
  std::atomic<int> turns = 0;
  std::atomic<bool> stops = false;
  std::unique_ptr<CallThreads> threads;
  const auto turn = [&] {
    if (turns.fetch_add(1) < 2) {  // two calls that keep running
      threads->BeginCall(/*is_short=*/false);
      may_end.wait();
      threads->EndCall();
      return CallThreads::Turn::kDidWork;
    }
    threads->StartsWaiting();
    threads->StopsWaiting();
    turns.notify_all();
    return stops ? CallThreads::Turn::kStop : CallThreads::Turn::kHadNothing;
  };
  threads = std::make_unique<CallThreads>(turn, 8);
  ASSERT_TRUE(threads->Start());
  for (int seen = turns.load(); seen < 100; seen = turns.load()) turns.wait(seen);
  stops = true;
  may_end.count_down();
  threads->Wait();
}

TEST(CallThreads, ACallThatShouldBeShortKeepsNobodyWaiting) {
  const int call_count = 3 + static_cast<int>(std::thread::hardware_concurrency());
  std::latch may_end(1);
  std::atomic<bool> may_begin = false;
  std::atomic<bool> stops = false;
  std::atomic<int> turns = 0;
  std::unique_ptr<CallThreads> threads;
  const auto turn = [&] {
    if (may_begin && turns.fetch_add(1) < call_count) {
      threads->BeginCall(/*is_short=*/true);
      may_end.wait();
      threads->EndCall();
      return CallThreads::Turn::kDidWork;
    }
    threads->StartsWaiting();
    std::this_thread::yield();
    threads->StopsWaiting();
    turns.notify_all();
    return stops ? CallThreads::Turn::kStop : CallThreads::Turn::kHadNothing;
  };
  threads = std::make_unique<CallThreads>(turn, call_count + 2);
  ASSERT_TRUE(threads->Start());
  while (!threads->IsMonitorAsleep()) std::this_thread::yield();
  may_begin = true;
  for (int seen = turns.load(); seen < call_count + 100; seen = turns.load()) turns.wait(seen);
  stops = true;
  may_end.count_down();
  threads->Wait();
}

TEST(Method, IsShortIfMostCallsAre) {
  using std::chrono::microseconds;
  const Method method;
  EXPECT_FALSE(method.IsShort(/*is_alone=*/true)) << "not known yet";
  for (int i = 0; i < 100; ++i) method.time.Add(microseconds(20));
  EXPECT_TRUE(method.IsShort(/*is_alone=*/false));
  for (int i = 0; i < 100; ++i) {
    method.time.Add(i % 10 == 0 ? std::chrono::seconds(1) : microseconds(20));
    EXPECT_TRUE(method.IsShort(/*is_alone=*/false)) << "one in ten had to wait";
  }
  for (int i = 0; i < 100; ++i) method.time.Add(microseconds(400));
  EXPECT_FALSE(method.IsShort(/*is_alone=*/false));
}

// A call that waits for the disk leaves its permit to others that would share the sync.
TEST(Method, ThatSyncsIsShortForACallThatIsAlone) {
  Method method;
  for (int i = 0; i < 100; ++i) method.time.Add(std::chrono::microseconds(20));
  EXPECT_TRUE(method.IsShort(/*is_alone=*/false));
  method.syncs = true;
  EXPECT_TRUE(method.IsShort(/*is_alone=*/true));
  EXPECT_FALSE(method.IsShort(/*is_alone=*/false));
}

TEST(TransportStart, SaysWhatIsWrong) {
  struct Nobody : Router {
    const Method* Find(std::string_view) const override { return nullptr; }
  } nobody;
  TransportOptions options;
  const auto start = [&](const std::string& listen) {
    options.listen = listen;
    return Transport::Start(options, &nobody, nullptr);
  };
  EXPECT_EQ(start("nothing").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(start("127.0.0.1:http/2").status().code(), absl::StatusCode::kInvalidArgument);
  const auto first = start("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(start((*first)->address()).status().code(), absl::StatusCode::kUnavailable);
  options.tls.certificate_chain = "x";
  options.tls.private_key = "y";
  EXPECT_EQ(start("127.0.0.1:0").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace stele::server
