// Tests the client of stele_server_load against servers that respond correctly, incorrectly, or
// never.
#include "server/connection.h"

#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "canned_server.h"
#include "server/message.h"

namespace stele_load {
namespace {

constexpr char kPath[] = "/google.bigtable.v2.Bigtable/MutateRow";

std::string Headers(uint32_t stream_id) {
  return Frame(FrameType::kHeaders, kEndHeaders, stream_id,
               Fields({{":status", "200"}, {"content-type", "application/grpc"}}));
}
std::string Trailers(uint32_t stream_id, const std::string& code) {
  return Frame(FrameType::kHeaders, kEndHeaders | kEndStream, stream_id,
               Fields({{"grpc-status", code}}));
}
std::string Data(uint32_t stream_id, std::string_view bytes) {
  return Frame(FrameType::kData, 0, stream_id, bytes);
}
std::string Whole(uint32_t stream_id, std::string_view bytes) {
  return Headers(stream_id) + Data(stream_id, bytes) + Trailers(stream_id, "0");
}
std::string GoAway(uint32_t last_stream_id, const std::string& why) {
  return Frame(FrameType::kGoAway, 0, 0, BigEndian(last_stream_id) + BigEndian(0) + why);
}

std::string Message(const std::string& text) {
  google::protobuf::StringValue message;
  message.set_value(text);
  return Serialised(message);
}
std::vector<std::string> TextsOf(std::string_view answer) {
  std::vector<std::string> texts;
  for (const std::string_view bytes :
       MessagesOf(answer).value_or(std::vector<std::string_view>())) {
    google::protobuf::StringValue message;
    texts.push_back(Parse(bytes, &message) ? message.value() : "unreadable");
  }
  return texts;
}

TEST(LoadConnectionTest, AnAnswerIsReadAcrossFramesAndPackets) {
  const std::string bytes = Message("one") + Message("") + Message(std::string(300, 'x'));
  std::string frames = Headers(1);
  for (size_t i = 0; i < bytes.size(); i += 3)
    frames += Data(1, std::string_view(bytes).substr(i, 3));
  CannedServer server({.answers = {frames + Trailers(1, "0")}, .piece_bytes = 1});
  std::string answer;
  {
    Connection connection(server.address());
    ASSERT_TRUE(connection.Call(kPath, Message("what?"), &answer).ok());
  }
  EXPECT_EQ(TextsOf(answer), (std::vector<std::string>{"one", "", std::string(300, 'x')}));
  EXPECT_EQ(TextsOf(server.Received()), std::vector<std::string>{"what?"});
}

TEST(LoadConnectionTest, OneConnectionMakesManyCalls) {
  CannedServer server(
      {.answers = {Whole(1, Message("a")), Whole(3, Message("b")), Whole(5, Message("c"))}});
  Connection connection(server.address());
  std::string answers;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(connection.Call(kPath, Message("x"), &answers).ok());
  EXPECT_EQ(TextsOf(answers), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(LoadConnectionTest, NeitherSideWaitsForTheClientsWindows) {
  // HTTP/2's default window is 64 KiB less one byte. This server ignores the client's window; the
  // client must respect the server's.
  const std::string large = Message(std::string(1'000'000, 'y'));
  std::string frames = Headers(1);
  for (size_t i = 0; i < large.size(); i += 16'384)
    frames += Data(1, std::string_view(large).substr(i, 16'384));
  CannedServer server({.answers = {frames + Trailers(1, "0")}});
  std::string answer;
  {
    Connection connection(server.address());
    ASSERT_EQ(connection.Call(kPath, large, &answer).ToString(), "OK");
  }
  EXPECT_EQ(answer, large);
  EXPECT_EQ(server.Received(), large);
}

// One thread makes the calls of several connections.
TEST(LoadConnectionTest, WhoDoesNotWaitGetsTheSameAnswers) {
  // More than a socket accepts at once.
  const std::string large = Message(std::string(8'000'000, 'z'));
  CannedServer slow(
      {.answers = {Whole(1, Message("a")), Whole(3, Message("b"))}, .piece_bytes = 1});
  CannedServer other({.answers = {Whole(1, Message("c")), Whole(3, Message("d"))}});
  std::vector<std::string> answers(2);
  {
    std::array<Connection, 2> connections = {Connection(slow.address()),
                                             Connection(other.address())};
    for (int call = 0; call < 2; ++call) {
      for (size_t i = 0; i < 2; ++i) connections[i].Begin(kPath, large, &answers[i]);
      while (!connections[0].IsOver() || !connections[1].IsOver()) {
        for (Connection& connection : connections) {
          pollfd ready = {.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
          if (connection.HasUnsent()) ready.events |= POLLOUT;
          if (!connection.IsOver() && poll(&ready, 1, 1) == 1) connection.Advance();
        }
      }
      for (Connection& connection : connections) ASSERT_EQ(connection.End().ToString(), "OK");
    }
  }
  EXPECT_EQ(TextsOf(answers[0]), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(TextsOf(answers[1]), (std::vector<std::string>{"c", "d"}));
  for (CannedServer* const server : {&slow, &other}) EXPECT_EQ(server->Received(), large + large);
}

TEST(LoadConnectionTest, WhoDoesNotWaitHearsOfALostConnection) {
  CannedServer server({.answers = {Headers(1)}});
  Connection connection(server.address());
  std::string answer;
  connection.Begin(kPath, Message("x"), &answer);
  while (!connection.IsOver()) connection.Advance();
  EXPECT_EQ(connection.End().ToString(), "UNAVAILABLE: the server closed the connection");
  connection.Begin(kPath, Message("x"), &answer);
  EXPECT_TRUE(connection.IsOver());
  EXPECT_EQ(connection.End().code(), absl::StatusCode::kUnavailable);
}

TEST(LoadConnectionTest, TheServersStatusComesWithItsText) {
  const std::string fields = Fields({{":status", "200"},
                                     {"grpc-status", "5"},
                                     {"grpc-message", "no table%3A %2x %22t\xC3%a9%22"}});
  CannedServer server({.answers = {Frame(FrameType::kHeaders, kEndHeaders | kEndStream, 1, fields),
                                   Whole(3, Message("a"))}});
  Connection connection(server.address());
  std::string answer;
  EXPECT_EQ(connection.Call(kPath, Message("x"), &answer).ToString(),
            "NOT_FOUND: no table: %2x \"t\xC3\xA9\"");
  EXPECT_TRUE(connection.Call(kPath, Message("x"), &answer).ok())
      << "the connection is as good as before";
}

TEST(LoadConnectionTest, ACodeThatGrpcDoesNotHaveIsUnknown) {
  for (const char* const code : {"17", "-1", "", "5x"})
    EXPECT_EQ(GrpcStatus(code, "").code(), absl::StatusCode::kUnknown) << code;
  EXPECT_EQ(GrpcStatus("16", "").code(), absl::StatusCode::kUnauthenticated);
}

TEST(LoadConnectionTest, ALostConnectionIsTold) {
  CannedServer server({.answers = {Headers(1) + Data(1, Message("a"))}});
  Connection connection(server.address());
  std::string answer;
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = connection.Call(kPath, Message("x"), &answer);
    EXPECT_EQ(status.ToString(), "UNAVAILABLE: the server closed the connection");
  }
}

TEST(LoadConnectionTest, AStreamThatIsResetIsToldAndTheConnectionGoesOn) {
  CannedServer server({.answers = {Headers(1) + Frame(FrameType::kResetStream, 0, 1, BigEndian(2)),
                                   Whole(3, Message("a"))}});
  Connection connection(server.address());
  std::string answer;
  EXPECT_EQ(connection.Call(kPath, Message("x"), &answer).ToString(),
            "UNAVAILABLE: the stream ended early: INTERNAL_ERROR");
  EXPECT_TRUE(connection.Call(kPath, Message("x"), &answer).ok());
}

TEST(LoadConnectionTest, AServerThatWantsNoMoreCallsIsTold) {
  CannedServer server({.answers = {GoAway(0, "too old"), ""}});
  Connection connection(server.address());
  std::string answer;
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = connection.Call(kPath, Message("x"), &answer);
    EXPECT_EQ(status.ToString(),
              "UNAVAILABLE: the server takes no more calls on this connection: NO_ERROR too old");
  }
}

TEST(LoadConnectionTest, ACallThatIsAnsweredBeforeTheEndIsGood) {
  CannedServer server({.answers = {GoAway(1, "enough") + Whole(1, Message("a"))}});
  Connection connection(server.address());
  std::string answer;
  EXPECT_EQ(connection.Call(kPath, Message("x"), &answer).ToString(), "OK");
  EXPECT_EQ(TextsOf(answer), std::vector<std::string>{"a"});
  EXPECT_EQ(connection.Call(kPath, Message("x"), &answer).code(), absl::StatusCode::kUnavailable);
}

TEST(LoadConnectionTest, AnAnswerWithoutAStatusIsNotGrpc) {
  const std::string headers =
      Frame(FrameType::kHeaders, kEndHeaders | kEndStream, 1, Fields({{":status", "404"}}));
  CannedServer server({.answers = {headers}});
  Connection connection(server.address());
  std::string answer;
  const absl::Status status = connection.Call(kPath, Message("x"), &answer);
  EXPECT_EQ(status.ToString(), "INTERNAL: an answer without grpc-status, its HTTP status is '404'");
}

TEST(LoadConnectionTest, WhatIsNotHttp2EndsTheCall) {
  const std::string other = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  // Neither closes the connection.
  CannedServer greets_otherwise({.greeting = other, .answers = {""}});
  CannedServer answers_otherwise({.answers = {other, ""}});
  std::string answer;
  for (const CannedServer* const server : {&greets_otherwise, &answers_otherwise}) {
    const absl::Status status = Connection(server->address()).Call(kPath, Message("x"), &answer);
    EXPECT_EQ(status.ToString(), "INTERNAL: what the server sent is not HTTP/2");
  }
}

TEST(LoadConnectionTest, WhereNobodyListensTheFirstCallSaysSo) {
  std::string address;
  {
    const CannedServer gone({});
    address = gone.address();
  }
  std::string answer;
  const absl::Status status = Connection(address).Call(kPath, Message("x"), &answer);
  EXPECT_EQ(status.ToString(), "UNAVAILABLE: connecting to " + address + ": Connection refused");
  EXPECT_EQ(Connection("nowhere").Call(kPath, Message("x"), &answer).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(LoadMessageTest, BytesThatAreNotMessagesAreTold) {
  const std::string bytes = Message("a") + Message("b");
  for (size_t i = 0; i <= bytes.size(); ++i) {
    const bool is_between = i == 0 || i == bytes.size() || i == bytes.size() / 2;
    EXPECT_EQ(MessagesOf(std::string_view(bytes).substr(0, i)).has_value(), is_between) << i;
  }
  std::string compressed = bytes;
  compressed[0] = '\1';
  EXPECT_FALSE(MessagesOf(compressed).has_value());
}

}  // namespace
}  // namespace stele_load
