// Tests compressed messages.
#include <gtest/gtest.h>
#include <zlib.h>

#include "steled/transport/http2/grpc_protocol.h"
#include "steled/transport/transport_fixture.h"

namespace stele::server {
namespace {

std::string Zip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string zipped(deflateBound(&stream, text.size()) + 32, 0);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  return zipped;
}

std::string Compressed(const std::string& message) {
  std::string framed = Framed(message);
  framed[0] = 1;
  return framed;
}

TEST(Unzip, GivesWhatWasCompressed) {
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{16'384}, size_t{16'385}, size_t{5'000'000}}) {
    std::string text(bytes, 'x');
    for (size_t i = 0; i < bytes; i += 7) text[i] = static_cast<char>(i * 31);
    size_t reserved = 0;
    std::string message;
    const auto reserve = [&](size_t part) {
      reserved += part;
      return true;
    };
    EXPECT_EQ(Unzip(Zip(text), 5'000'000, reserve, &message), absl::OkStatus()) << bytes;
    EXPECT_EQ(message, text);
    EXPECT_GE(reserved, bytes);
  }
}

TEST(Unzip, RefusesWhatIsTooLargeAndWhatIsNoGzip) {
  const auto code = [](const std::string& zipped, size_t most, size_t memory) {
    std::string message;
    size_t reserved = 0;
    const auto reserve = [&](size_t part) { return (reserved += part) <= memory; };
    return Unzip(zipped, most, reserve, &message).code();
  };
  const std::string zipped = Zip(std::string(1'000'000, 'x'));
  EXPECT_EQ(code(zipped, 1'000'000, 8'000'000), absl::StatusCode::kOk);
  EXPECT_EQ(code(zipped, 999'999, 8'000'000), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(zipped, 1'000'000, 100'000), absl::StatusCode::kUnavailable);
  for (const std::string& broken :
       {std::string(), std::string("no gzip"), zipped.substr(0, zipped.size() - 1),
        zipped.substr(0, zipped.size() / 2), zipped + "x"}) {
    EXPECT_EQ(code(broken, 1'000'000, 8'000'000), absl::StatusCode::kInternal) << broken.size();
  }
}

class GzipTest : public TransportTest {
 protected:
  static Answer Send(Http2Client* client, const std::string& bytes, const std::string& encoding) {
    Http2Client::Headers headers = Http2Client::GrpcHeaders("/echo");
    headers.emplace_back("grpc-encoding", encoding);
    const int32_t stream = client->Begin(headers);
    client->Write(stream, bytes, true);
    return client->Await(stream);
  }
};

TEST_F(GzipTest, ACompressedRequestIsServed) {
  Start([](TransportOptions* options) { options->message_bytes_max = 100'000; });
  Http2Client client(transport_->address());
  const Answer answer = Send(&client, Compressed(Zip(std::string(90'000, 'z'))), "gzip");
  EXPECT_EQ(answer.Status(), "0");
  EXPECT_EQ(answer.body, Framed(std::string(90'000, 'z')));
  EXPECT_EQ(answer.headers.at("grpc-accept-encoding"), "identity,gzip");
  EXPECT_EQ(Send(&client, Framed("plain"), "gzip").body, Framed("plain"));
  EXPECT_EQ(Send(&client, Framed("plain"), "identity").Status(), "0");
}

TEST_F(GzipTest, WhatCannotBeDecompressedGetsAStatus) {
  Start([](TransportOptions* options) { options->message_bytes_max = 100'000; });
  Http2Client client(transport_->address());
  EXPECT_EQ(Send(&client, Compressed(Zip(std::string(100'001, 'z'))), "gzip").Status(), "8");
  EXPECT_EQ(Send(&client, Compressed("no gzip"), "gzip").Status(), "13");
  const Answer unknown = Send(&client, Compressed("x"), "snappy");
  EXPECT_EQ(unknown.Status(), "12");
  EXPECT_EQ(unknown.headers.at("grpc-accept-encoding"), "identity,gzip");
  EXPECT_EQ(client.Call("/echo", "after").Status(), "0");
}

// Otherwise a small request could make any method decompress the largest message.
TEST_F(GzipTest, AMethodsOwnLimitHoldsWhileItsRequestIsDecompressed) {
  methods_["/echo"].bytes_max = 10'000;
  Start();
  Http2Client client(transport_->address());
  for (const size_t bytes : {size_t{10'001}, size_t{100'000'000}}) {
    const Answer answer = Send(&client, Compressed(Zip(std::string(bytes, 'z'))), "gzip");
    EXPECT_EQ(answer.Status(), "8") << bytes;
    EXPECT_NE(answer.headers.at("grpc-message").find("10000"), std::string::npos);
  }
  EXPECT_EQ(client.Call("/echo", std::string(10'001, 'z')).Status(), "8");
  EXPECT_EQ(client.Call("/echo", std::string(10'000, 'z')).Status(), "0");
  EXPECT_EQ(client.Call("/take", std::string(10'001, 'z')).Status(), "0");
}

TEST_F(GzipTest, WhatADecompressedRequestReservedIsReleased) {
  Start([](TransportOptions* options) { options->request_memory_bytes = MemoryFor(200'000); });
  Http2Client client(transport_->address());
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(Send(&client, Compressed(Zip(std::string(50'000, 'z'))), "gzip").Status(), "0");
  EXPECT_EQ(Send(&client, Compressed(Zip(std::string(500'000, 'z'))), "gzip").Status(), "14");
}

TEST_F(GzipTest, AnswersTellHowLongAndWhere) {
  Start([](TransportOptions* options) { options->trailers = {{"x-where", "here"}}; });
  Http2Client client(transport_->address());
  for (const char* const path : {"/echo", "/fail", "/talk"}) {
    const Answer answer = client.Call(path, "");
    const std::string timing = answer.headers.at("server-timing");
    EXPECT_TRUE(timing.starts_with("gfet4t7; dur=")) << path;
    EXPECT_GE(std::stoi(timing.substr(timing.find('=') + 1)), 1) << "clients take 0 for no value";
    EXPECT_EQ(answer.headers.at("x-where"), "here") << path;
  }
}

}  // namespace
}  // namespace stele::server
