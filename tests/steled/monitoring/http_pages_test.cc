// Tests the pages by HTTP with clients that send nothing, little or nonsense, or do not read, and
// with pages that take long.
#include "steled/monitoring/http_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <new>
#include <thread>

#include "steled/descriptor_limit.h"
#include "steled/raw_client.h"

namespace stele::server {
namespace {

// More than the buffers of a connection hold.
constexpr size_t kLargeBytes = size_t{32} << 20;

// A busy machine delays clients that read and send.
constexpr HttpExchange::Times kPatient = {.request = std::chrono::minutes(10),
                                          .response = std::chrono::minutes(10)};

class HttpPagesTest : public testing::Test {
 protected:
  void Serve(HttpPages::Limits limits = {.times = kPatient}) {
    HttpPages::Pages probes;
    probes["/healthz"] = [] { return HttpPages::Page{.body = "serving\n"}; };
    probes["/slow-probe"] = [this] {
      slow_count_.fetch_add(1);
      slow_count_.notify_all();
      is_released_.wait(false);
      return HttpPages::Page{.body = "slow\n"};
    };
    HttpPages::Pages pages;
    pages["/no-memory"] = []() -> HttpPages::Page { throw std::bad_alloc(); };
    pages["/keys"] = [] { return HttpPages::Page{.body = "keys\n", .needs_known_host = true}; };
    pages["/large"] = [this] {
      large_count_.fetch_add(1);
      large_count_.notify_all();
      return HttpPages::Page{.body = std::string(kLargeBytes, 'l')};
    };
    pages["/slow"] = [this] {
      slow_count_.fetch_add(1);
      slow_count_.notify_all();
      is_released_.wait(false);
      return HttpPages::Page{.body = "slow\n"};
    };
    absl::StatusOr<std::unique_ptr<HttpPages>> served =
        HttpPages::Serve("127.0.0.1:0", std::move(probes), std::move(pages), limits);
    ASSERT_TRUE(served.ok()) << served.status();
    pages_ = *std::move(served);
  }
  const std::string& address() const { return pages_->address(); }
  // Returns the response to these bytes.
  std::string Ask(std::string_view request) const {
    const RawClient client(address());
    client.Send(request);
    return client.ReadAll();
  }
  bool IsHealthy() const {
    return Ask("GET /healthz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nserving\n");
  }
  static void Await(const std::atomic<int>& value, int count) {
    for (int seen = value; seen < count; seen = value) value.wait(seen);
  }
  void AwaitConnections(size_t count) const {
    while (pages_->ConnectionCount() != count) std::this_thread::yield();
  }

  // Waits until so many requests for /large have come.
  void AwaitLarge(int count) const { Await(large_count_, count); }

  // Connects so many clients that ask for /slow.
  void AskForSlow(int count, std::list<RawClient>* clients) const {
    for (int i = 0; i < count; ++i) {
      clients->emplace_back(address());
      clients->back().Send("GET /slow HTTP/1.1\r\n\r\n");
    }
  }
  // Waits until each thread for pages makes /slow.
  void AwaitBlockedThreads() const { Await(slow_count_, HttpPages::kThreads); }
  // Lets /slow end.
  void Release() {
    is_released_ = true;
    is_released_.notify_all();
  }

  std::atomic<int> large_count_ = 0;
  std::atomic<int> slow_count_ = 0;
  std::atomic<bool> is_released_ = false;
  std::unique_ptr<HttpPages> pages_;  // last: its threads use the others
};

TEST_F(HttpPagesTest, APageForKnownHostsIsNotServedToOtherNames) {
  Serve();
  for (const std::string host :
       {"", "Host:\r\n", "Host: 127.0.0.1:9090\r\n", "Accept: x\r\nhOST:10.0.0.7\r\n",
        "Host: [::1]:9090\r\n", "Host: LocalHost:1\r\n", "Host:\tlocalhost \r\n",
        "Host: steled:9090\r\n"}) {
    EXPECT_TRUE(Ask("GET /keys HTTP/1.1\r\n" + host + "\r\n").ends_with("\r\n\r\nkeys\n")) << host;
  }
  for (const std::string host :
       {"attacker.example", "attacker.example:9090", "localhost.attacker.example",
        "127.0.0.1.example", "[attacker.example]:80", "1:2:3"}) {
    const std::string host_line = "Host: " + host + "\r\n";
    const std::string response = Ask("GET /keys HTTP/1.1\r\n" + host_line + "\r\n");
    EXPECT_TRUE(response.starts_with("HTTP/1.1 421 Misdirected Request\r\n")) << response;
    EXPECT_NE(response.find("open http://ADDRESS:PORT/keys with"), std::string::npos) << response;
    // Other programs may use any name, for example Prometheus in a cluster.
    EXPECT_TRUE(Ask("GET /healthz HTTP/1.1\r\n" + host_line + "\r\n").ends_with("serving\n"));
  }
}

TEST_F(HttpPagesTest, AThousandIdleClientsDoNotDelayAProbe) {
  // Both ends of a connection are in this process.
  const auto count =
      static_cast<int>(std::min<uint64_t>(1'000, (RaiseDescriptorLimit() - 100) / 2));
  Serve();
  std::list<RawClient> idle;
  for (int i = 0; i < count; ++i) {
    idle.emplace_back(address());
    // Half of them are in the middle of a request.
    if (i % 2 == 1) idle.back().Send("GET /healthz HTTP/1.1\r\nHost: ");
  }
  EXPECT_TRUE(IsHealthy());
  EXPECT_TRUE(std::all_of(idle.begin(), idle.end(), [](const auto& each) {
    return each.IsQuiet();
  })) << "no connection had to end for the probe";
  // Bytes that come one by one keep no thread.
  for (const RawClient& each : idle) each.Send("x");
  EXPECT_TRUE(IsHealthy());
}

TEST_F(HttpPagesTest, AProbeDoesNotWaitForOtherPages) {
  Serve();
  std::list<RawClient> slow;
  AskForSlow(HttpPages::kThreads, &slow);
  AwaitBlockedThreads();
  AskForSlow(HttpPages::kThreads, &slow);  // which wait for a thread
  EXPECT_TRUE(IsHealthy());
  EXPECT_TRUE(Ask("GET /none HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_EQ(slow_count_, HttpPages::kThreads);
  Release();
  for (const RawClient& each : slow) EXPECT_TRUE(each.ReadAll().ends_with("\r\n\r\nslow\n"));
}

TEST_F(HttpPagesTest, RequestsThatWaitForAThreadAreBounded) {
  Serve({.connections_max = HttpPages::kThreads + 2, .times = kPatient});
  std::list<RawClient> blocked;
  AskForSlow(HttpPages::kThreads, &blocked);
  AwaitBlockedThreads();
  std::list<RawClient> waiting;
  AskForSlow(3, &waiting);
  EXPECT_EQ(waiting.front().ReadAll(), "");
  EXPECT_TRUE(IsHealthy());
  Release();
  EXPECT_TRUE(waiting.back().ReadAll().ends_with("slow\n"));
}

TEST_F(HttpPagesTest, AProbeThatWaitsIsClosedAfterIdleConnections) {
  Serve({.connections_max = 3, .times = kPatient});
  const RawClient slow(address());
  slow.Send("GET /slow-probe HTTP/1.1\r\n\r\n");
  Await(slow_count_, 1);
  const RawClient probe(address());
  probe.Send("GET /healthz HTTP/1.1\r\n\r\n");
  while (pages_->WaitingProbeCount() != 1) std::this_thread::yield();
  const RawClient idle(address());
  AwaitConnections(3);
  const RawClient later(address());
  EXPECT_EQ(idle.ReadAll(), "");
  Release();
  EXPECT_TRUE(probe.ReadAll().ends_with("\r\n\r\nserving\n"));
}

TEST_F(HttpPagesTest, TheEndMakesNoPageThatWaitsForAThread) {
  Serve();
  std::list<RawClient> slow;
  AskForSlow(HttpPages::kThreads, &slow);
  AwaitBlockedThreads();
  AskForSlow(HttpPages::kThreads, &slow);
  const RawClient idle(address());
  AwaitConnections(slow.size() + 1);
  std::jthread end([this] { pages_.reset(); });
  EXPECT_EQ(idle.ReadAll(), "");  // the end has begun
  Release();
  end.join();
  EXPECT_EQ(slow_count_, HttpPages::kThreads);
}

TEST_F(HttpPagesTest, AConnectionTooManyEndsTheOldestIdleOne) {
  Serve({.connections_max = 3, .times = kPatient});
  std::list<RawClient> idle;
  for (int i = 0; i < 3; ++i) idle.emplace_back(address());
  AwaitConnections(3);
  EXPECT_TRUE(IsHealthy());
  EXPECT_EQ(idle.front().ReadAll(), "");
  EXPECT_TRUE(idle.back().IsQuiet());
}

TEST_F(HttpPagesTest, ResponsesThatNobodyReadsAreBounded) {
  Serve({.unsent_bytes_max = kLargeBytes, .times = kPatient});
  const RawClient first(address());
  first.Send("GET /large HTTP/1.1\r\n\r\n");
  const RawClient second(address());
  second.Send("GET /large HTTP/1.1\r\n\r\n");
  AwaitLarge(2);
  AwaitConnections(1);
  EXPECT_TRUE(IsHealthy());
  const std::string one = first.ReadAll();
  const std::string other = second.ReadAll();
  EXPECT_GT(std::max(one.size(), other.size()), kLargeBytes);
  EXPECT_LT(std::min(one.size(), other.size()), kLargeBytes);
}

TEST_F(HttpPagesTest, ALateRequestEndsItsConnection) {
  Serve({.times = {.request = std::chrono::milliseconds(0)}});
  const RawClient idle(address());
  idle.Send("GET ");
  EXPECT_EQ(idle.ReadAll(), "");
}

TEST_F(HttpPagesTest, AResponseThatNobodyReadsEndsItsConnection) {
  Serve({.times = {.response = std::chrono::milliseconds(0)}});
  const RawClient slow(address());
  slow.Send("GET /large HTTP/1.1\r\n\r\n");
  AwaitLarge(1);
  AwaitConnections(0);
  EXPECT_LT(slow.ReadAll().size(), kLargeBytes);
}

TEST_F(HttpPagesTest, ALargeResponseIsSentWhole) {
  Serve();
  EXPECT_GT(Ask("GET /large HTTP/1.1\r\n\r\n").size(), kLargeBytes);
  EXPECT_LT(Ask("HEAD /large HTTP/1.1\r\n\r\n").size(), 1000u);
}

TEST_F(HttpPagesTest, RequestsAreReadAsTheRulesSay) {
  Serve();
  for (const char* const request :
       {"GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz?probe=1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://127.0.0.1:9090/healthz HTTP/1.1\r\n\r\n", "GET /healthz HTTP/1.1\n\n"}) {
    EXPECT_TRUE(Ask(request).starts_with("HTTP/1.1 200 OK\r\n")) << request;
  }
  for (const char* const request : {"\r\n\r\n", "GET /healthz\r\n\r\n", "GET  HTTP/1.1\r\n\r\n",
                                    "PRI * HTTP/2.0\r\n\r\n", "GET /healthz HTTP/1.12\r\n\r\n"}) {
    EXPECT_TRUE(Ask(request).starts_with("HTTP/1.1 400 ")) << request;
  }
  EXPECT_TRUE(Ask("GET http://host HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(
      Ask("POST /healthz HTTP/1.1\r\nContent-Length: 200000\r\n\r\n" + std::string(200'000, 'b'))
          .ends_with("only GET and HEAD\n"));
  const std::string head = "GET /healthz HTTP/1.1\r\nX: " + std::string(20'000, 'x');
  EXPECT_TRUE(Ask(head).starts_with("HTTP/1.1 431 "));
}

TEST_F(HttpPagesTest, APageWithoutMemoryEndsOnlyItsConnection) {
  Serve();
  for (int i = 0; i < 2 * HttpPages::kThreads; ++i)
    EXPECT_EQ(Ask("GET /no-memory HTTP/1.1\r\n\r\n"), "");
  EXPECT_TRUE(IsHealthy());
  AwaitConnections(0);
}

TEST_F(HttpPagesTest, AHeadMayComeByteByByte) {
  Serve();
  const RawClient client(address());
  for (const char byte : std::string("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
    client.Send(std::string(1, byte));
  EXPECT_TRUE(client.ReadAll().ends_with("serving\n"));
}

TEST_F(HttpPagesTest, TheAddressMayBeOfIpv6) {
  const auto served = HttpPages::Serve("[::1]:0", {}, {}, {});
  if (!served.ok()) GTEST_SKIP() << "this machine has no IPv6: " << served.status();
  EXPECT_TRUE((*served)->address().starts_with("[::1]:"));
  const RawClient client((*served)->address());
  client.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(client.ReadAll().starts_with("HTTP/1.1 404 "));
}

}  // namespace
}  // namespace stele::server
