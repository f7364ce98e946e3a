// Tests responses of many messages: whole ones, paused ones, and those that nobody reads.
#include "steled/rpc/answer_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "steled/fake_call.h"

namespace stele::server {
namespace {

// Sends the messages "0" to "4".
std::shared_ptr<AnswerStream> FiveMessages() {
  return std::make_shared<AnswerStream>([next = 0](bool* is_last) mutable {
    *is_last = next == 4;
    return std::string(kPrefixBytes, '\0') + std::to_string(next++);
  });
}

TEST(AnswerStream, SendsAllMessages) {
  FakeCall call;
  EXPECT_TRUE(FiveMessages()->Run(&call).ok());
  EXPECT_EQ(call.answer_count(), 5u);
  EXPECT_EQ(call.last_index(), 4u);
  EXPECT_EQ(call.TakeContinuation(), nullptr);
}

TEST(AnswerStream, APauseHoldsNoThread) {
  FakeCall call;
  call.SetRoom(2);
  EXPECT_TRUE(FiveMessages()->Run(&call).ok());
  EXPECT_EQ(call.answer_count(), 2u);
  EXPECT_EQ(call.pause_kind(), PauseKind::kForRoom);
  std::shared_ptr<PausedCall> continuation = call.TakeContinuation();
  ASSERT_NE(continuation, nullptr);
  call.SetRoom(3);
  EXPECT_TRUE(continuation->Resume(&call).ok());
  EXPECT_EQ(call.answer_count(), 3u);
  continuation = call.TakeContinuation();
  ASSERT_NE(continuation, nullptr);
  call.SetRoom(100);
  EXPECT_TRUE(continuation->Resume(&call).ok());
  EXPECT_EQ(call.answer_count(), 5u);
  EXPECT_EQ(call.last_index(), 4u);
  EXPECT_EQ(call.TakeContinuation(), nullptr);
}

TEST(AnswerStream, EndsWhenNobodyListens) {
  FakeCall call;
  call.SetRoom(1);
  EXPECT_TRUE(FiveMessages()->Run(&call).ok());
  const std::shared_ptr<PausedCall> continuation = call.TakeContinuation();
  ASSERT_NE(continuation, nullptr);
  call.Hang();
  EXPECT_TRUE(absl::IsCancelled(continuation->Resume(&call)));
  EXPECT_EQ(call.answer_count(), 1u);
}

}  // namespace
}  // namespace stele::server
