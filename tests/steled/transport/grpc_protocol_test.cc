// Tests the encoding of gRPC over HTTP/2: timeouts, content types, texts, and messages cut
// anywhere.
#include "steled/transport/http2/grpc_protocol.h"

#include <gtest/gtest.h>

#include "steled/transport/http2_client.h"

namespace stele::server {
namespace {

using std::chrono::nanoseconds;

TEST(GrpcProtocol, ReadsTimeoutsOfEveryUnit) {
  EXPECT_EQ(ParseTimeout("2H"), nanoseconds(std::chrono::hours(2)));
  EXPECT_EQ(ParseTimeout("3M"), nanoseconds(std::chrono::minutes(3)));
  EXPECT_EQ(ParseTimeout("10S"), nanoseconds(std::chrono::seconds(10)));
  EXPECT_EQ(ParseTimeout("250m"), nanoseconds(std::chrono::milliseconds(250)));
  EXPECT_EQ(ParseTimeout("7u"), nanoseconds(7000));
  EXPECT_EQ(ParseTimeout("99999999n"), nanoseconds(99'999'999));
  EXPECT_EQ(ParseTimeout("0n"), nanoseconds(0));
  // A timeout that would overflow nanoseconds becomes a year.
  EXPECT_EQ(ParseTimeout("99999999H"), nanoseconds(std::chrono::hours(24 * 365)));
}

TEST(GrpcProtocol, RefusesWhatIsNoTimeout) {
  for (const char* const text :
       {"", "S", "5", "5x", "-5S", "-0S", "5 S", "123456789S", "5SS", "+5S", "0x5S"}) {
    EXPECT_EQ(ParseTimeout(text), std::nullopt) << text;
  }
}

TEST(GrpcProtocol, KnowsItsContentTypes) {
  for (const char* const text :
       {"application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"}) {
    EXPECT_TRUE(IsGrpcContentType(text)) << text;
  }
  for (const char* const text :
       {"", "application/json", "application/grpc-web", "application/grp"}) {
    EXPECT_FALSE(IsGrpcContentType(text)) << text;
  }
}

TEST(GrpcProtocol, EncodesTextsForAHeader) {
  EXPECT_EQ(PercentEncoded("row 'a' ~"), "row 'a' ~");
  EXPECT_EQ(PercentEncoded("100%\n\xc3\xa4"), "100%25%0A%C3%A4");
  EXPECT_EQ(PercentEncoded(std::string(10'000, 'x')).size(), kStatusTextBytes);
}

TEST(MessageSplitter, FindsMessagesHoweverTheyAreCut) {
  const std::vector<std::string> messages = {"", "a", std::string(300, 'b'), "",
                                             std::string(70'000, 'c')};
  std::string bytes;
  for (const std::string& message : messages) bytes += Framed(message);
  for (const size_t step :
       {size_t{1}, size_t{2}, size_t{5}, size_t{7}, size_t{4096}, bytes.size()}) {
    MessageSplitter splitter(1 << 20);
    std::vector<std::string> found;
    for (size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(splitter.Add(std::string_view(bytes).substr(at, step)).ok());
      bool is_compressed = true;
      for (std::string message; splitter.Take(&message, &is_compressed);) {
        EXPECT_FALSE(is_compressed);
        found.push_back(message);
      }
    }
    EXPECT_EQ(found, messages) << step;
    EXPECT_FALSE(splitter.IsInside());
  }
}

TEST(MessageSplitter, KnowsThatAMessageIsNotWhole) {
  const std::string bytes = Framed("hello");
  for (size_t count = 1; count < bytes.size(); ++count) {
    MessageSplitter splitter(100);
    ASSERT_TRUE(splitter.Add(bytes.substr(0, count)).ok());
    EXPECT_TRUE(splitter.IsInside()) << count;
    EXPECT_EQ(splitter.whole_count(), 0U);
  }
}

TEST(MessageSplitter, RefusesWhatItCannotTake) {
  MessageSplitter small(10);
  EXPECT_TRUE(small.Add(Framed("0123456789")).ok());
  EXPECT_EQ(small.Add(Framed("0123456789a")).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(MessageSplitter(10).Add(std::string("\1\0\0\0\0", 5)).code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(MessageSplitter(10).Add(std::string("\2\0\0\0\0", 5)).code(),
            absl::StatusCode::kInternal);
}

TEST(Prefix, IsWhatASplitterReads) {
  std::string framed(kPrefixBytes + 70'000, 'x');
  WritePrefix(&framed);
  EXPECT_EQ(framed, Framed(std::string(70'000, 'x')));
}

}  // namespace
}  // namespace stele::server
