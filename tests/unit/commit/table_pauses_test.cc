// Tests the order of pauses and of the writes that they refuse.
#include "commit/table_pauses.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "base/status.h"

namespace stele::internal {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;

constexpr uint32_t kA = 1;
constexpr uint32_t kB = 2;
constexpr uint32_t kC = 3;

class TablePausesTest : public ::testing::Test {
 protected:
  // Returns the claim of a write to these tables that a pause refused now.
  std::unique_ptr<TablePauses::Claim> Refuse(const std::vector<uint32_t>& tables) {
    auto claim = std::make_unique<TablePauses::Claim>(&pauses_);
    const std::vector<uint32_t> refused = TablesOfPausedWrite(pauses_.Check(tables));
    EXPECT_FALSE(refused.empty());
    claim->Add(refused);
    return claim;
  }
  // True if a pause that is requested now may begin.
  bool MayBeginNow(uint32_t table_id) { return pauses_.MayBegin(table_id, pauses_.Request()); }

  TablePauses pauses_;
};

TEST_F(TablePausesTest, ARefusalNamesAllTablesOfTheWrite) {
  EXPECT_FALSE(pauses_.HasPauses());
  EXPECT_EQ(pauses_.Check({kA, kB}), absl::OkStatus());
  pauses_.Begin(kB);
  EXPECT_TRUE(pauses_.HasPauses());
  EXPECT_EQ(pauses_.Check({kA, kC}), absl::OkStatus());
  const absl::Status refused = pauses_.Check({kC, kB, kC, kA});
  EXPECT_TRUE(absl::IsAborted(refused)) << refused;
  EXPECT_EQ(TablesOfPausedWrite(refused), (std::vector<uint32_t>{kA, kB, kC}));
  pauses_.End(kB);
  EXPECT_EQ(pauses_.Check({kC, kB, kC, kA}), absl::OkStatus());
  for (const absl::Status& other : {absl::OkStatus(), Aborted("for another reason")})
    EXPECT_TRUE(TablesOfPausedWrite(other).empty()) << other;
}

TEST_F(TablePausesTest, PausesOfOneTableDoNotOverlap) {
  const uint64_t request = pauses_.Request();
  EXPECT_TRUE(pauses_.MayBegin(kA, request));
  pauses_.Begin(kA);
  EXPECT_FALSE(pauses_.MayBegin(kA, request));
  EXPECT_TRUE(pauses_.MayBegin(kB, request));
  pauses_.End(kA);
  EXPECT_TRUE(pauses_.MayBegin(kA, request));
}

// A write that waits for a pause of A also comes before later pauses of B, which is not paused.
TEST_F(TablePausesTest, ALaterPauseOfAnyTableOfARefusedWriteWaitsForIt) {
  pauses_.Begin(kA);
  auto claim = Refuse({kA, kB});
  EXPECT_FALSE(MayBeginNow(kB));
  EXPECT_TRUE(MayBeginNow(kC));
  pauses_.End(kA);
  EXPECT_FALSE(MayBeginNow(kA));
  EXPECT_FALSE(MayBeginNow(kB));
  claim.reset();
  EXPECT_TRUE(MayBeginNow(kA));
  EXPECT_TRUE(MayBeginNow(kB));
}

TEST_F(TablePausesTest, ARefusedWriteWaitsForAtMostOnePauseOfEachTable) {
  const uint64_t of_a = pauses_.Request();
  const uint64_t of_b = pauses_.Request();
  pauses_.Begin(kA);
  const auto claim = Refuse({kA, kB});
  // Requests that are older than the claim.
  EXPECT_TRUE(pauses_.MayBegin(kB, of_b)) << "B was not paused since the request";
  pauses_.Begin(kB);
  pauses_.End(kA);
  pauses_.End(kB);
  EXPECT_FALSE(pauses_.MayBegin(kA, of_a));
  EXPECT_FALSE(pauses_.MayBegin(kB, of_b));
}

// Otherwise writes to other tables as well, which claim the table again and again, would starve
// its pause.
TEST_F(TablePausesTest, LaterClaimsDoNotDelayAPause) {
  pauses_.Begin(kA);
  auto first = Refuse({kA, kB});
  const uint64_t request = pauses_.Request();
  const auto second = Refuse({kA, kB});
  EXPECT_FALSE(pauses_.MayBegin(kB, request));
  first.reset();
  EXPECT_TRUE(pauses_.MayBegin(kB, request));
  pauses_.Begin(kB);
  pauses_.End(kB);
  EXPECT_FALSE(pauses_.MayBegin(kB, request)) << "a pause of B ended, so the second write is next";
}

TEST_F(TablePausesTest, AClaimKeepsItsNumberWhenTheWriteIsRefusedAgain) {
  pauses_.Begin(kA);
  const auto claim = Refuse({kA, kB});
  const uint64_t request = pauses_.Request();
  claim->Add({kA, kB, kC});
  for (const uint32_t table_id : {kB, kC}) EXPECT_FALSE(pauses_.MayBegin(table_id, request));
}

TEST_F(TablePausesTest, AClaimWaitsForThePausesOfAllItsTables) {
  pauses_.Begin(kA);
  pauses_.Begin(kB);
  pauses_.Begin(kC);
  const auto claim = Refuse({kA, kB});
  EXPECT_FALSE(claim->AwaitEnd(nanoseconds(1)));
  pauses_.End(kA);
  EXPECT_FALSE(claim->AwaitEnd(nanoseconds(1)));
  pauses_.End(kB);
  EXPECT_TRUE(claim->AwaitEnd(minutes(2)));
}

TEST_F(TablePausesTest, APauseWaitsUntilTheClaimIsGone) {
  pauses_.Begin(kA);
  auto claim = Refuse({kA, kB});
  const uint64_t request = pauses_.Request();
  std::future<void> began =
      std::async(std::launch::async, [&] { pauses_.AwaitMayBegin(kB, request); });
  pauses_.End(kA);
  EXPECT_FALSE(pauses_.MayBegin(kB, request));
  claim.reset();
  began.get();
  EXPECT_TRUE(pauses_.MayBegin(kB, request));
}

TEST_F(TablePausesTest, CloseEndsAllWaits) {
  pauses_.Begin(kA);
  const auto claim = Refuse({kA, kB});
  std::future<void> began =
      std::async(std::launch::async, [&] { pauses_.AwaitMayBegin(kB, pauses_.Request()); });
  std::future<bool> end =
      std::async(std::launch::async, [&] { return claim->AwaitEnd(minutes(2)); });
  pauses_.Close();
  began.get();
  EXPECT_TRUE(end.get());
  pauses_.AwaitMayBegin(kA, pauses_.Request());
  EXPECT_TRUE(claim->AwaitEnd(minutes(2)));
}

}  // namespace
}  // namespace stele::internal
