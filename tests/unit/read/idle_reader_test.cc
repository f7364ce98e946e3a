// Tests that an idle reader is notified at once of a replaced view, and a reader in a call before
// it becomes idle. A destroyed reader is not touched.
#include "read/idle_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/arena.h"
#include "model/access.h"
#include "read/scan_view.h"

namespace stele::internal {
namespace {

TEST(IdleReaderTest, TakesUpAtRestAtOnceAndInACallAtItsEnd) {
  int taken_up = 0;
  IdleReader rest([&taken_up] { ++taken_up; });
  rest.ViewReplaced();
  EXPECT_EQ(taken_up, 0) << "it begins in a call";
  rest.End();
  EXPECT_EQ(taken_up, 1);
  rest.ViewReplaced();
  EXPECT_EQ(taken_up, 2);
  rest.Begin();
  rest.ViewReplaced();
  rest.ViewReplaced();
  EXPECT_EQ(taken_up, 2);
  rest.End();
  EXPECT_EQ(taken_up, 3);
  rest.Begin();
  rest.End();
  EXPECT_EQ(taken_up, 3);
}

TEST(IdleReaderTest, TakesUpOnceMoreForWhatWasReplacedMeanwhile) {
  int taken_up = 0;
  IdleReader* told = nullptr;
  IdleReader rest([&] {
    if (++taken_up == 1) told->ViewReplaced();
  });
  told = &rest;
  rest.End();
  rest.ViewReplaced();
  EXPECT_EQ(taken_up, 2);
}

TEST(IdleReaderTest, NobodyTouchesAReaderThatGoes) {
  int taken_up = 0;
  IdleReader rest([&taken_up] { ++taken_up; });
  rest.End();
  rest.Begin();
  rest.ViewReplaced();
  EXPECT_EQ(taken_up, 0);
}

// Only the reader rest guards the shared data.
TEST(IdleReaderTest, OneAtATimeAndNothingIsMissed) {
  constexpr int kReplacements = 20'000;
  std::atomic<int> view{0};
  int seen = 0;
  int calls = 0;
  IdleReader rest([&] { seen = view.load(); });
  rest.End();
  std::thread job([&] {
    for (int i = 1; i <= kReplacements; ++i) {
      view.store(i);
      rest.ViewReplaced();
    }
  });
  for (bool is_last = false; !is_last;) {
    is_last = view.load() == kReplacements;
    rest.Begin();
    ++calls;
    EXPECT_LE(seen, view.load());
    rest.End();
  }
  job.join();
  rest.Begin();
  EXPECT_EQ(seen, kReplacements);
  EXPECT_GT(calls, 0);
}

TEST(BlocksOfRowTest, AreThoseThatTheRowLiesIn) {
  Arena arena;
  const auto put = [&arena](std::string_view text, size_t bytes) {
    char* const to = arena.Allocate(bytes);
    std::copy(text.begin(), text.end(), to);
    return std::string_view(to, text.size());
  };
  // Larger than a quarter of the next block, so in a separate block.
  const std::string_view row_key = put("row", 2000);
  const std::string_view first = put("first", 100'000);
  put("nobody's", 200'000);
  const std::string_view last = put("last", 300'000);
  const std::string elsewhere = "elsewhere";
  ASSERT_EQ(arena.blocks().size(), 4u);
  const std::vector<CellView> cells = {CellView("f", first, Timestamp(), elsewhere),
                                       CellView("f", elsewhere, Timestamp(), last),
                                       CellView("f", "", Timestamp(), first)};
  ArenaBlocks kept = BlocksOfRow(arena.blocks(), Access::Make<RowView>(row_key, cells));
  EXPECT_EQ(kept.size(), 3u);
  for (const auto& block : kept) EXPECT_NE(block->size(), 200'000u);
  EXPECT_EQ(
      BlocksOfRow(arena.blocks(), Access::Make<RowView>(elsewhere, std::span(cells).subspan(0, 1)))
          .size(),
      1u);
  EXPECT_TRUE(BlocksOfRow(arena.blocks(), RowView()).empty());
  EXPECT_TRUE(BlocksOfRow({}, Access::Make<RowView>(row_key, cells)).empty());
}

}  // namespace
}  // namespace stele::internal
