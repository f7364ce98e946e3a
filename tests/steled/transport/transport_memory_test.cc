// Tests that the memory of a request is freed when its charge is released, and that a burst of
// reset streams ends early.
#include <malloc.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "steled/transport/transport_fixture.h"
#include "support/base_sanitized.h"

namespace stele::server {
namespace {

constexpr size_t kMessageBytes = size_t{1} << 20;
constexpr size_t kCount = 60;
// What the server held for the requests, less what it uses for other things.
constexpr size_t kFreedBytes = 40 * kMessageBytes;

class RequestBytesTest : public TransportTest {
 protected:
  // The bytes of the heap that are in use, of this process: of the server and of the client.
  static size_t LiveBytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  // Sends requests without their ends.
  std::vector<int32_t> Upload(Http2Client* client, const std::string& timeout) {
    const std::string message = Framed(std::string(kMessageBytes, 'x'));
    std::vector<int32_t> streams;
    for (size_t i = 0; i < kCount; ++i) {
      Http2Client::Headers headers = Http2Client::GrpcHeaders("/take");
      if (!timeout.empty()) headers.emplace_back("grpc-timeout", timeout);
      streams.push_back(client->Begin(headers));
      client->Write(streams.back(), message, false);
    }
    client->Until([&] { return transport_->Figures().request_bytes >= kCount * message.size(); });
    return streams;
  }
};

TEST_F(RequestBytesTest, AreFreedWhenACallIsTooLateAndItsClientReadsNothing) {
  if (internal::kSanitized)
    GTEST_SKIP() << "a sanitizer replaces the allocator whose bytes are counted";
  Start();
  Http2Client client(transport_->address(), /*window_bytes=*/1 << 30);
  client.WidenConnection(1 << 30);
  const std::vector<int32_t> late = Upload(&client, "1n");
  const size_t bytes_before = LiveBytes();
  // Fills the connection, so that the ends of the other calls stay with the server.
  BeginMany(&client, "/flood", 1);
  Await(running_, 1);
  for (const int32_t stream : late) client.Write(stream, "", true);
  counter_.Await("/take", absl::StatusCode::kDeadlineExceeded, kCount);
  EXPECT_LT(LiveBytes() + kFreedBytes, bytes_before);
  client.Disconnect();
}

TEST_F(RequestBytesTest, AreFreedWhenACallIsRefusedBehindOneThatRuns) {
  if (internal::kSanitized)
    GTEST_SKIP() << "a sanitizer replaces the allocator whose bytes are counted";
  Start([](TransportOptions* options) { options->calls_max = 1; });
  Http2Client client(transport_->address(), /*window_bytes=*/1 << 30);
  const std::vector<int32_t> refused = Upload(&client, "");
  const size_t bytes_before = LiveBytes();
  client.Hold();  // one read of the server has the ends of all requests
  const int32_t running = BeginMany(&client, "/wait", 1)[0];
  for (const int32_t stream : refused) client.Write(stream, "", true);
  client.Release();
  for (const int32_t stream : refused) EXPECT_EQ(client.Await(stream).Status(), "14");
  EXPECT_LT(LiveBytes() + kFreedBytes, bytes_before);
  EXPECT_EQ(stopped_.load(), 0) << "the first call still runs";
  client.Reset(running);
  client.Until([] { return true; });
  Await(stopped_, 1);
}

std::string FrameHead(size_t bytes, char type, char flags, uint32_t stream) {
  std::string head = {'\0', '\0', static_cast<char>(bytes), type, flags};
  for (int shift = 24; shift >= 0; shift -= 8) head.push_back(static_cast<char>(stream >> shift));
  return head;
}

// CVE-2023-44487. Each request is complete, so its method would run.
TEST_F(TransportTest, ABurstOfResetsEndsEarly) {
  constexpr int kRequests = 40'000;
  Start();
  Http2Client client(transport_->address());
  EXPECT_EQ(client.Call("/echo", "").Status(), "0");  // uses stream 1
  const int begun_before = counter_.begun();
  // POST, http, and three literal fields.
  const std::string headers =
      std::string("\x83\x86\x01\x01x\x04\x05/take\x0f\x10\x10") + "application/grpc";
  std::string bytes;
  for (uint32_t stream = 3; stream < 2 * kRequests; stream += 2) {
    bytes += FrameHead(headers.size(), '\1', '\4', stream) + headers;
    bytes += FrameHead(kPrefixBytes, '\0', '\1', stream) + std::string(kPrefixBytes, '\0');
    bytes += FrameHead(4, '\3', '\0', stream) + std::string("\0\0\0\x8", 4);
  }
  if (client.TrySendRaw(bytes)) client.EndSending();
  while (transport_->Figures().connections > 0) std::this_thread::yield();
  const int count = counter_.begun() - begun_before + counter_.refused();
  EXPECT_GT(count, 0);
  EXPECT_LT(count, kRequests / 2);
  Http2Client other(transport_->address());
  EXPECT_EQ(other.Call("/echo", "after").Status(), "0");
}

}  // namespace
}  // namespace stele::server
