#include "base/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

namespace stele::internal {
namespace {

TEST(Buffer, HoldsWhatIsWrittenAndMoves) {
  absl::StatusOr<Buffer> allocated = Buffer::Allocate(5);
  ASSERT_TRUE(allocated.ok());
  Buffer buffer = *std::move(allocated);
  std::memcpy(buffer.data(), "hello", 5);
  EXPECT_EQ(buffer.view(), "hello");
  Buffer moved = std::move(buffer);
  EXPECT_EQ(moved.view(), "hello");
  Buffer assigned;
  EXPECT_EQ(assigned.size(), 0u);
  assigned = std::move(moved);
  EXPECT_EQ(assigned.view(), "hello");
}

TEST(Buffer, NothingNeedsNoMemory) {
  FailBufferAllocation(1);
  const absl::StatusOr<Buffer> buffer = Buffer::Allocate(0);
  FailBufferAllocation(0);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer->view(), "");
}

TEST(Buffer, ImpossibleSizeIsAnErrorThatNamesIt) {
  const size_t bytes = SIZE_MAX / 2;
  const absl::StatusOr<Buffer> buffer = Buffer::Allocate(bytes);
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(std::string(buffer.status().message()).find(std::to_string(bytes)), std::string::npos)
      << buffer.status();
}

TEST(Buffer, TheNthAllocationFailsOnDemand) {
  FailBufferAllocation(3);
  EXPECT_TRUE(Buffer::Allocate(10).ok());
  EXPECT_TRUE(Buffer::Allocate(10).ok());
  EXPECT_EQ(Buffer::Allocate(10).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Buffer::Allocate(10).ok());
  FailBufferAllocation(1);
  FailBufferAllocation(0);
  EXPECT_TRUE(Buffer::Allocate(10).ok());
}

}  // namespace
}  // namespace stele::internal
