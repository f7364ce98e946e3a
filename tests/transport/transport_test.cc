// A server of methods made for the purpose, and clients that behave and that do not.
#include "transport/transport.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include "transport/call_threads.h"
#include "transport/http2_client.h"

namespace stele::server {
namespace {

using Answer = Http2Client::Answer;

class TransportTest : public testing::Test, public Router {
 protected:
  TransportTest() {
    methods_["/echo"] = [](Call* call) {
      std::string message;
      if (!call->Receive(&message)) return absl::InternalError("no message");
      call->Send(std::string(kPrefixBytes, '\0') + message, true);
      return absl::OkStatus();
    };
    methods_["/fail"] = [](Call*) { return absl::FailedPreconditionError("50% of it\n"); };
    methods_["/throw"] = [](Call*) -> absl::Status { throw std::runtime_error("thrown"); };
    // Until its client or the server gives it up.
    methods_["/wait"] = [this](Call* call) {
      running_.fetch_add(1);
      running_.notify_all();
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait(lock, call->stop(), [] { return false; });
      stopped_.fetch_add(1);
      stopped_.notify_all();
      return absl::CancelledError("stopped");
    };
    // Messages for as long as somebody reads them.
    methods_["/flood"] = [this](Call* call) {
      running_.fetch_add(1);
      running_.notify_all();
      while (call->Send(std::string(kPrefixBytes + 100'000, 'f'), false)) sent_.fetch_add(1);
      stopped_.fetch_add(1);
      stopped_.notify_all();
      return absl::CancelledError("nobody reads");
    };
    // Each message as it comes, until there is none.
    methods_["/talk"] = [](Call* call) {
      for (std::string message; call->Receive(&message);) call->Send(std::string(kPrefixBytes, '\0') + message, false);
      return absl::OkStatus();
    };
    methods_["/count"] = [](Call* call) {
      std::string message;
      call->Receive(&message);
      for (int i = 0; i < 1000; ++i) {
        if (!call->Send(std::string(kPrefixBytes + 1000, static_cast<char>('a' + i % 26)), i == 999)) return absl::CancelledError("");
      }
      return absl::OkStatus();
    };
    methods_["/metadata"] = [](Call* call) {
      call->Send(std::string(kPrefixBytes, '\0') + std::string(call->metadata("x-asked")) + "," + std::string(call->metadata("x-other")),
                 true);
      return absl::OkStatus();
    };
    methods_["/until"] = [](Call* call) {
      if (!call->deadline().has_value()) return absl::NotFoundError("no deadline");
      while (call->Send(std::string(kPrefixBytes + 100'000, 'f'), false)) {
      }
      return absl::DeadlineExceededError("passed");
    };
  }

  void Start(const std::function<void(TransportOptions*)>& change = [](TransportOptions*) {}) {
    TransportOptions options;
    options.listen = "127.0.0.1:0";
    change(&options);
    absl::StatusOr<std::unique_ptr<Transport>> transport = Transport::Start(options, this, nullptr);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
  }

  void TearDown() override { transport_.reset(); }  // it asks for methods until its end, which this object is to see whole

  const Method* Find(std::string_view path) const override {
    const auto found = methods_.find(path);
    return found == methods_.end() ? nullptr : &found->second;
  }

  // Returns once a counter has come so far.
  static void Await(const std::atomic<int>& counter, int value) {
    for (int seen = counter.load(); seen < value; seen = counter.load()) counter.wait(seen);
  }

  std::map<std::string, Method, std::less<>> methods_;
  std::atomic<int> running_ = 0;
  std::atomic<int> stopped_ = 0;
  std::atomic<int> sent_ = 0;
  std::unique_ptr<Transport> transport_;
};

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
          if (answer.Status() == "0" && answer.body == Framed(std::to_string(t * 1000 + i * 3 + s))) right.fetch_add(1);
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
  for (int i = 0; i < 1000; ++i) expected += Framed(std::string(1000, static_cast<char>('a' + i % 26)));
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
  stream = client.Begin(json);
  client.Write(stream, "", true);
  EXPECT_EQ(client.Await(stream).headers.at(":status"), "415");
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
  EXPECT_EQ(send(std::string("\1\0\0\0\0", 5)), "12");
  EXPECT_EQ(send(std::string("\7\0\0\0\0", 5)), "13");
  EXPECT_EQ(send(Framed("cut").substr(0, 6)), "13");
  EXPECT_EQ(send(""), "13");  // the method's: no message
  Http2Client::Headers timeout = Http2Client::GrpcHeaders("/echo");
  timeout.emplace_back("grpc-timeout", "soon");
  const int32_t stream = client.Begin(timeout);
  client.Write(stream, Framed(""), true);
  EXPECT_EQ(client.Await(stream).Status(), "13");
  EXPECT_EQ(client.Call("/echo", "after").Status(), "0");
}

// An answer that does not wait for the rest of the request.
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
  for (int i = 0; i < 30; ++i) headers.emplace_back("x-" + std::to_string(i), std::string(1000, 'h'));
  const int32_t stream = client.Begin(headers);
  client.Write(stream, Framed(""), true);
  EXPECT_NE(client.Await(stream).error, 0U);
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

TEST_F(TransportTest, RequestsThatWaitAreBounded) {
  Start([](TransportOptions* options) { options->request_memory_bytes = 100'000; });
  Http2Client client(transport_->address());
  const int32_t holder = client.Begin(Http2Client::GrpcHeaders("/echo"));
  client.Write(holder, Framed(std::string(90'000, 'h')).substr(0, 90'000), false);  // and the rest does not come
  // Both requests go over one connection, so the first has been read before the second.
  EXPECT_EQ(client.Call("/echo", std::string(20'000, 'x')).Status(), "8");
  EXPECT_EQ(client.Call("/echo", std::string(5'000, 'x')).Status(), "0");
  client.Reset(holder);
  EXPECT_EQ(client.Call("/echo", std::string(90'000, 'x')).Status(), "0");
  // Nothing stays reserved, however a call ended.
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.Call(i % 2 == 0 ? "/fail" : "/echo", std::string(90'000, 'x')).Status(), i % 2 == 0 ? "9" : "0");
  Http2Client lost(transport_->address());
  EXPECT_EQ(lost.Call("/echo", "").Status(), "0");  // it knows the server's window now
  const int32_t stream = lost.Begin(Http2Client::GrpcHeaders("/wait"));
  lost.Write(stream, Framed(std::string(90'000, 'l')), true);
  Await(running_, 1);
  lost.Disconnect();
  Await(stopped_, 1);
  while (client.Call("/echo", std::string(90'000, 'x')).Status() != "0") std::this_thread::yield();
}

TEST_F(TransportTest, CallsBeyondTheMostAreRefused) {
  Start([](TransportOptions* options) { options->calls_max = 3; });
  Http2Client client(transport_->address());
  std::vector<int32_t> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(client.Begin(Http2Client::GrpcHeaders("/wait")));
    client.Write(waiting.back(), Framed(""), true);
  }
  Await(running_, 3);
  EXPECT_EQ(client.Call("/echo", "").Status(), "8");
  // While all threads of calls are taken, one can still be given up.
  client.Reset(waiting[1]);
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
    client.Write(client.Begin(Http2Client::GrpcHeaders("/wait")), Framed(""), true);
    client.Disconnect();
  }
  Await(stopped_, 50);
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
  Http2Client::Headers headers = Http2Client::GrpcHeaders("/until");
  headers.emplace_back("grpc-timeout", "50m");
  const int32_t stream = client.Begin(headers);
  client.Write(stream, Framed(""), true);
  EXPECT_EQ(client.Await(stream).Status(), "4");
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
  EXPECT_EQ(client.Await(stream).Status(), "1");
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

TEST(CallThreads, OneIsThereForEventsHoweverManyRunCalls) {
  std::latch may_end(1);
  std::atomic<int> turns = 0;
  std::atomic<bool> stops = false;
  std::unique_ptr<CallThreads> threads;
  const auto turn = [&] {
    if (turns.fetch_add(1) < 2) {  // two calls that go on
      threads->Leave();
      may_end.wait();
      return CallThreads::Turn::kDidWork;
    }
    threads->StartsWaiting();
    threads->StopsWaiting();
    turns.notify_all();
    return stops ? CallThreads::Turn::kStop : CallThreads::Turn::kHadNothing;
  };
  threads = std::make_unique<CallThreads>(turn, 8);
  threads->Start();
  for (int seen = turns.load(); seen < 100; seen = turns.load()) turns.wait(seen);
  stops = true;
  may_end.count_down();
  threads->Wait();
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
  options.certificate_chain = "x";
  options.private_key = "y";
  EXPECT_EQ(start("127.0.0.1:0").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace stele::server
