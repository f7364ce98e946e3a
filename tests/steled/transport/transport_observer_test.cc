// Tests the reports of a transport to its observer, and its figures.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "steled/transport/http2/http2_connection.h"
#include "steled/transport/transport_fixture.h"

namespace stele::server {
namespace {

class TransportObserverTest : public TransportTest {};

TEST_F(TransportObserverTest, RefusalsHaveTheirCauses) {
  Start([](TransportOptions* options) {
    options->message_bytes_max = 5000;
    options->request_memory_bytes = SmallMemoryFor(6000);
  });
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/nobody", "").Status(), "12");
  EXPECT_EQ(client.Call("/echo", std::string(4500, 'm')).Status(), "14");
  EXPECT_EQ(client.Call("/fail", std::string(5001, 'm')).Status(), "8");
  Http2Client::Headers large = Http2Client::GrpcHeaders("/echo");
  large.emplace_back("x-large", std::string(Http2Connection::kHeaderBytesMax, 'h'));
  const int32_t stream = client.Begin(large);
  client.Write(stream, Framed(""), true);
  EXPECT_EQ(client.Await(stream).Status(), "8");
  EXPECT_EQ(counter_.refused_for(RefusalCause::kUnknownMethod), 1);
  EXPECT_EQ(counter_.refused_for(RefusalCause::kMemory), 1);
  EXPECT_EQ(counter_.refused_for(RefusalCause::kBadRequest), 1);
  EXPECT_EQ(counter_.refused_for(RefusalCause::kLargeHeaders), 1);
}

TEST_F(TransportObserverTest, LimitsOfCallsHaveTheirCauses) {
  Start([](TransportOptions* options) { options->calls_max = 4; });
  Http2Client first(transport_->address());
  BeginMany(&first, "/wait", 3);
  ASSERT_TRUE(first.Until([] { return true; }));
  Await(running_, 3);
  EXPECT_EQ(first.Call("/echo", "").Status(), "14");
  counter_.Await("/echo", absl::StatusCode::kUnavailable, 1);
  EXPECT_EQ(counter_.refused_for(RefusalCause::kConnectionCallLimit), 1);
  Http2Client second(transport_->address());
  BeginMany(&second, "/wait", 1);
  ASSERT_TRUE(second.Until([] { return true; }));
  Await(running_, 4);
  EXPECT_EQ(second.Call("/echo", "").Status(), "14");
  counter_.Await("/echo", absl::StatusCode::kUnavailable, 2);
  EXPECT_EQ(counter_.refused_for(RefusalCause::kCallLimit), 1);
}

// Otherwise it would count among the latencies, as a call that took no time.
TEST_F(TransportObserverTest, AMethodCanRefuseACall) {
  methods_["/refuse"].run = [](Call* call) {
    call->SetRefused(RefusalCause::kOtherCallLimit);
    return absl::ResourceExhaustedError("too many");
  };
  methods_["/greedy"].run = [](Call* call) {
    return call->Reserve(size_t{1} << 40) ? absl::OkStatus() : absl::UnavailableError("no room");
  };
  Start();
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/refuse", "").Status(), "8");
  EXPECT_EQ(client.Call("/greedy", "").Status(), "14");
  counter_.Await("/refuse", absl::StatusCode::kResourceExhausted, 1);
  counter_.Await("/greedy", absl::StatusCode::kUnavailable, 1);
  EXPECT_EQ(counter_.refused_for(RefusalCause::kOtherCallLimit), 1);
  EXPECT_EQ(counter_.refused_for(RefusalCause::kMemory), 1);
  EXPECT_EQ(counter_.refused(), counter_.begun());
}

TEST_F(TransportObserverTest, AClientThatDoesNotSpeakHttp2IsReported) {
  Start();
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
  const std::string port = transport_->address().substr(transport_->address().rfind(':') + 1);
  const int raw = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(port)));
  ASSERT_EQ(connect(raw, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_EQ(write(raw, kRequest.data(), kRequest.size()), static_cast<ssize_t>(kRequest.size()));
  const std::string failure = counter_.NextFailure();
  close(raw);
  EXPECT_TRUE(failure.starts_with("127.0.0.1:")) << failure;
  EXPECT_TRUE(failure.ends_with(" the client does not begin with the preface of HTTP/2"))
      << failure;
}

TEST_F(TransportObserverTest, ConnectionsBeyondTheMostAreReported) {
  Start([](TransportOptions* options) { options->connections_max = 1; });
  Http2Client first(transport_->address());
  EXPECT_EQ(first.Call("/echo", "").Status(), "0");
  Http2Client second(transport_->address());
  EXPECT_FALSE(second.Until([] { return false; }));
  EXPECT_EQ(counter_.refused_connections(), 1);
}

TEST_F(TransportObserverTest, FiguresAreThoseOfTheMoment) {
  Start();
  EXPECT_EQ(transport_->Figures().accepted, 0u);
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");
  BeginMany(&client, "/wait", 3);
  ASSERT_TRUE(client.Until([] { return true; }));
  Await(running_, 3);
  const TransportFigures figures = transport_->Figures();
  EXPECT_EQ(figures.connections, 1u);
  EXPECT_EQ(figures.accepted, 1u);
  EXPECT_EQ(figures.streams, 3u);
  EXPECT_EQ(figures.paused_calls, 0u);
  EXPECT_GE(figures.request_bytes, 3 * Http2Connection::kStreamBytes);
}

}  // namespace
}  // namespace stele::server
