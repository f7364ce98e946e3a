#include <gtest/gtest.h>

#include "base/memory_budget.h"
#include "db/token_table.h"

namespace stele::internal {
namespace {

constexpr int64_t kMinute = 60'000'000;

TokenUse MakeUse(std::string token, uint64_t begin, uint64_t end, TokenAnswer answer = TokenAnswer::kOk) {
  return {.token = std::move(token), .answer = answer, .entries = {{begin, end}}};
}

class TokenUseTest : public ::testing::Test {
 protected:
  bool Knows(std::string_view token, uint64_t sequence, int64_t now, uint64_t entry = 0) {
    return table_.Find(token, sequence, now).Covers(entry);
  }

  MemoryBudget memory_{uint64_t{1} << 20};
  TokenTable table_{&memory_};
};

TEST_F(TokenUseTest, AReaderIsToldOfWhatItCanRead) {
  table_.Add(MakeUse("token", 0, 1, TokenAnswer::kPredicateNotMatched), 5, kMinute);
  EXPECT_FALSE(Knows("token", 4, kMinute)) << "logged, and not to be read yet";
  EXPECT_TRUE(Knows("token", 5, kMinute));
  EXPECT_EQ(table_.Find("token", 5, kMinute).answer, TokenAnswer::kPredicateNotMatched);
  EXPECT_FALSE(Knows("another", 5, kMinute));
  EXPECT_FALSE(Knows("token", 5, kMinute, /*entry=*/1));
}

TEST_F(TokenUseTest, ATokenIsForgottenFifteenMinutesAfterItsLastUse) {
  table_.Add(MakeUse("token", 0, 1), 1, 0);
  table_.Add(MakeUse("token", 3, 4), 2, 14 * kMinute);
  table_.Add(MakeUse("behind it", 0, 1), 3, 20 * kMinute);
  EXPECT_TRUE(Knows("token", 9, 28 * kMinute, 0)) << "as long as what was applied under it last";
  EXPECT_TRUE(Knows("token", 9, 29 * kMinute - 1, 3));
  EXPECT_FALSE(Knows("token", 9, 29 * kMinute, 3));
  EXPECT_TRUE(Knows("behind it", 9, 29 * kMinute));
  const uint64_t one = table_.bytes();
  EXPECT_FALSE(Knows("behind it", 9, 35 * kMinute));
  EXPECT_GT(one, 0u);
  EXPECT_EQ(table_.bytes(), 0u) << "what is forgotten takes nothing";
}

TEST_F(TokenUseTest, OnceForgottenATokenBeginsAnew) {
  table_.Add(MakeUse("token", 0, 1, TokenAnswer::kPredicateMatched), 1, 0);
  table_.Add(MakeUse("token", 7, 8, TokenAnswer::kPredicateNotMatched), 2, 15 * kMinute);
  const TokenUse use = table_.Find("token", 9, 16 * kMinute);
  EXPECT_FALSE(use.Covers(0));
  EXPECT_TRUE(use.Covers(7));
  EXPECT_EQ(use.answer, TokenAnswer::kPredicateNotMatched);
}

TEST_F(TokenUseTest, TheLeaderAdmitsEachEntryOnce) {
  table_.Add(MakeUse("token", 2, 4), 5, kMinute);
  EXPECT_EQ(table_.Admit(MakeUse("token", 1, 2), kMinute, 0), absl::OkStatus());
  EXPECT_EQ(table_.Admit(MakeUse("token", 4, 9), kMinute, 0), absl::OkStatus());
  EXPECT_EQ(table_.Admit(MakeUse("another", 2, 4), kMinute, 0), absl::OkStatus());
  for (const uint64_t begin : {0, 2, 3}) {
    EXPECT_EQ(table_.Admit(MakeUse("token", begin, 4), kMinute, 0).code(), absl::StatusCode::kAborted) << begin;
  }
  EXPECT_EQ(table_.Admit(MakeUse("token", 2, 4), 16 * kMinute, 0), absl::OkStatus()) << "forgotten";
}

TEST_F(TokenUseTest, WhatIsUnderWayCountsForTheRoomThereIs) {
  const uint64_t room = memory_.budget_bytes() / TokenTable::kShare;
  const TokenUse use = MakeUse("token", 0, 1);
  EXPECT_EQ(table_.Admit(use, 0, room - TokenTable::BytesOf(use)), absl::OkStatus());
  EXPECT_EQ(table_.Admit(use, 0, room - TokenTable::BytesOf(use) + 1).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(TokenUseTest, TheManifestIsHandedWhatItDoesNotHave) {
  table_.Add(MakeUse("old", 0, 1), 1, 0);
  table_.Add(MakeUse("first", 0, 1), 2, 10 * kMinute);
  table_.Add(MakeUse("second", 0, 1), 3, 10 * kMinute);
  std::vector<StoredToken> tokens = table_.NotInManifest(2, 20 * kMinute);
  ASSERT_EQ(tokens.size(), 1u) << "one is forgotten, one is of a later commit";
  EXPECT_EQ(tokens[0].use.token, "first");
  table_.MarkInManifest(2);
  tokens = table_.NotInManifest(9, 20 * kMinute);
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens[0].use.token, "second");
  EXPECT_TRUE(Knows("first", 2, 20 * kMinute)) << "still remembered";
}

TEST_F(TokenUseTest, WhatTheManifestHasIsRememberedAndNotHandedToItAgain) {
  const auto chunk = [](StoredToken token) { return std::make_shared<const std::vector<StoredToken>>(1, std::move(token)); };
  table_.Load({chunk({MakeUse("gone", 0, 1), 0}), chunk({MakeUse("there", 0, 1), 10 * kMinute})}, 20 * kMinute);
  EXPECT_FALSE(Knows("gone", 0, 20 * kMinute));
  EXPECT_TRUE(Knows("there", 0, 20 * kMinute)) << "whatever is read can see it";
  EXPECT_TRUE(table_.NotInManifest(9, 20 * kMinute).empty());
}

}  // namespace
}  // namespace stele::internal
