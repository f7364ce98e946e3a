// Refusals for overload: clients learn that they may retry, and when.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "steled/transport/calls/call_errors.h"
#include "steled/transport/transport_fixture.h"

namespace stele::server {
namespace {

std::string Decoded(const std::string& base64) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(base64, &bytes)) << base64;
  return bytes;
}

TEST(Overload, ItsDetailsAreAStatusWithARetryInfo) {
  const absl::Status status = Overloaded("full", absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  const std::string details = StatusDetails(status);
  EXPECT_EQ(details.find('='), std::string::npos) << "gRPC leaves out the padding";
  const std::string bytes = Decoded(details);
  // The code 8, the message "full", and an Any: a type of 40 bytes and a value.
  const std::string type = "type.googleapis.com/google.rpc.RetryInfo";
  const std::string head = std::string("\x08\x08\x12\x04") + "full\x1a";
  ASSERT_TRUE(bytes.starts_with(head)) << absl::BytesToHexString(bytes);
  EXPECT_EQ(static_cast<size_t>(bytes[head.size()]), bytes.size() - head.size() - 1);
  EXPECT_EQ(bytes.substr(head.size() + 1, 2 + type.size()), "\x0a\x28" + type);
}

TEST(Overload, DelaysAreWithinTheirBoundsAndDiffer) {
  std::set<uint64_t> delays;
  for (int i = 0; i < 200; ++i) {
    const std::string bytes = Decoded(StatusDetails(Overloaded("")));
    const size_t nanos = bytes.rfind('\x10') + 1;  // the field's number; no delay has this byte
    uint64_t delay = 0;
    for (size_t at = bytes.size(); at-- > nanos;)
      delay = delay << 7 | (static_cast<unsigned char>(bytes[at]) & 0x7fU);
    delays.insert(delay / 1'000'000);
  }
  EXPECT_GE(*delays.begin(), static_cast<uint64_t>(kRetryMillisMin));
  EXPECT_LE(*delays.rbegin(), static_cast<uint64_t>(kRetryMillisMax));
  EXPECT_GT(delays.size(), 100U);
}

TEST(Overload, AStatusWithoutDetailsHasNone) {
  EXPECT_EQ(StatusDetails(absl::OkStatus()), "");
  EXPECT_EQ(StatusDetails(absl::UnavailableError("no details")), "");
}

TEST(Overload, ATextIsReplacedAndTheDetailsRemain) {
  const absl::Status status = Overloaded("one");
  const absl::Status changed = WithText(status, "two");
  EXPECT_EQ(changed.message(), "two");
  EXPECT_NE(StatusDetails(changed), "");
  EXPECT_EQ(StatusDetails(WithText(changed, "one")), StatusDetails(status));
}

TEST_F(TransportTest, ARefusalForOverloadAsksTheClientToRetry) {
  Start([](TransportOptions* options) {
    options->calls_max = 1;
    options->request_memory_bytes = MemoryFor(20'000);
  });
  Http2Client client(transport_->address());
  const auto is_retry = [](const Answer& answer) {
    const auto found = answer.headers.find("grpc-status-details-bin");
    return found != answer.headers.end() &&
           Decoded(found->second).find("google.rpc.RetryInfo") != std::string::npos;
  };
  const Answer large = client.Call("/take", std::string(50'000, 'x'));
  EXPECT_EQ(large.Status(), "14");
  EXPECT_TRUE(is_retry(large)) << "no memory for the request";
  const int32_t waiting = client.Begin(Http2Client::GrpcHeaders("/wait"));
  client.Write(waiting, Framed(""), true);
  ASSERT_TRUE(client.Until([] { return true; }));
  Await(running_, 1);
  const Answer refused = client.Call("/take", "");
  EXPECT_EQ(refused.Status(), "14");
  EXPECT_TRUE(is_retry(refused)) << "too many calls";
  client.Reset(waiting);
  ASSERT_TRUE(client.Until([] { return true; }));
  Await(stopped_, 1);
  Answer failed;
  do {
    failed = client.Call("/fail", "");
  } while (failed.Status() == "14");
  EXPECT_EQ(failed.Status(), "9");
  EXPECT_FALSE(is_retry(failed)) << "what the method says";
}

}  // namespace
}  // namespace stele::server
