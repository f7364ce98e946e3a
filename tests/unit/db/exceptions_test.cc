// Tests that an exception does not pass through the engine, whose locks it would leave locked.
#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "stele/stele.h"
#include "support/base_sanitized.h"

namespace stele::internal {
namespace {

thread_local bool now_throws = false;

class ThrowingClock final : public TimestampClock {
 public:
  Timestamp Now() override {
    if (now_throws) throw std::bad_alloc();
    return Timestamp::FromMicros(1);
  }
  bool is_authoritative() const override { return true; }
};

// Returns if the exception came through.
void WriteWithAnException() {
  auto database = Database::Open("mem:", {.clock = std::make_shared<ThrowingClock>()});
  ASSERT_TRUE(database.ok()) << database.status();
  auto table = database->CreateTable("t", Schema().AddFamily("f"));
  ASSERT_TRUE(table.ok()) << table.status();
  now_throws = true;
  try {
    table->Apply(RowMutation("r").SetCell("f", "q", "v")).IgnoreError();
  } catch (const std::bad_alloc&) {
  }
}

TEST(ExceptionsTest, AnExceptionInACallEndsTheProcess) {
  if (kSanitized) GTEST_SKIP() << "the reports of sanitizers need tables to unwind";
  EXPECT_DEATH(WriteWithAnException(), "bad_alloc");
}

}  // namespace
}  // namespace stele::internal
