#include "stele/mutation.h"

#include <gtest/gtest.h>

#include <limits>

#include "model/access.h"
#include "model/mutation_ops.h"

namespace stele {
namespace {

using internal::MutationOp;
using internal::MutationOpReader;
using Kind = MutationOp::Kind;

std::vector<MutationOp> Decode(const RowMutation& mutation) {
  std::vector<MutationOp> ops;
  MutationOpReader reader(internal::Access::EncodedOps(mutation));
  MutationOp op;
  while (reader.Next(&op)) ops.push_back(op);
  return ops;
}

TEST(RowMutationTest, AnEmptyOneHasNoOps) {
  EXPECT_EQ(RowMutation().row_key(), "");
  EXPECT_EQ(RowMutation("r").count(), 0u);
  EXPECT_TRUE(Decode(RowMutation("r")).empty());
}

TEST(RowMutationTest, EveryKindComesBackWithItsFields) {
  RowMutation mutation("row");
  const Timestamp at = Timestamp::FromMicros(1'700'000'000'000'000);
  mutation.SetCell("f1", "q1", "v1")
      .SetCell("f2", "q2", at, "v2")
      .AddToCell("f3", "q3", at, int64_t{-5})
      .AddToCell("f4", "q4", at, "item")
      .MergeToCell("f5", "q5", at, "state")
      .DeleteFromColumn("f6", "q6")
      .DeleteFromColumn("f7", "q7", {.start = at})
      .DeleteFromColumn("f8", "q8", {.start = {}, .end = at})
      .DeleteFromFamily("f9")
      .DeleteFromRow();
  EXPECT_EQ(mutation.row_key(), "row");
  ASSERT_EQ(mutation.count(), 10u);
  const std::vector<MutationOp> ops = Decode(mutation);
  ASSERT_EQ(ops.size(), 10u);

  const Kind kinds[] = {Kind::kSetCell,
                        Kind::kSetCell,
                        Kind::kAddInt,
                        Kind::kAddItem,
                        Kind::kMerge,
                        Kind::kDeleteFromColumn,
                        Kind::kDeleteFromColumn,
                        Kind::kDeleteFromColumn,
                        Kind::kDeleteFromFamily,
                        Kind::kDeleteFromRow};
  const char* const families[] = {"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", ""};
  const char* const qualifiers[] = {"q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "", ""};
  const char* const values[] = {"v1", "v2", "", "item", "state", "", "", "", "", ""};
  for (size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i].kind, kinds[i]) << i;
    EXPECT_EQ(ops[i].family, families[i]) << i;
    EXPECT_EQ(ops[i].qualifier, qualifiers[i]) << i;
    EXPECT_EQ(ops[i].value, values[i]) << i;
    EXPECT_EQ(ops[i].server_time, i == 0) << i;
    EXPECT_EQ(ops[i].timestamp, i >= 1 && i <= 4 ? at.micros() : 0) << i;
    EXPECT_EQ(ops[i].amount, i == 2 ? -5 : 0) << i;
    EXPECT_EQ(ops[i].range_start, i == 6 ? at.micros() : 0) << i;
    EXPECT_EQ(ops[i].range_end, i == 7 ? std::optional<int64_t>(at.micros()) : std::nullopt) << i;
  }
}

TEST(RowMutationTest, KeepsWhatIsWrongAsItWasGiven) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  RowMutation mutation;
  mutation.SetCell("", "", Timestamp::FromMicros(kLeast), "")
      .DeleteFromColumn(
          "f", "q", {.start = Timestamp::FromMicros(kMost), .end = Timestamp::FromMicros(kLeast)})
      .AddToCell("f", "q", Timestamp::FromMicros(-1), kLeast);
  const std::vector<MutationOp> ops = Decode(mutation);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].timestamp, kLeast);
  EXPECT_EQ(ops[1].range_start, kMost);
  EXPECT_EQ(ops[1].range_end, kLeast);
  EXPECT_EQ(ops[2].timestamp, -1);
  EXPECT_EQ(ops[2].amount, kLeast);
}

TEST(RowMutationTest, HoldsAnyBytes) {
  const std::string odd("\0\xff\x80", 3);
  const std::string large(1'000'000, 'x');
  RowMutation mutation(odd);
  mutation.SetCell(odd, odd, odd).SetCell("f", "q", large).DeleteFromFamily(odd);
  const std::vector<MutationOp> ops = Decode(mutation);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].family, odd);
  EXPECT_EQ(ops[0].qualifier, odd);
  EXPECT_EQ(ops[0].value, odd);
  EXPECT_EQ(ops[1].value, large);
  EXPECT_EQ(ops[2].family, odd);
}

TEST(MutationOpReaderTest, StopsAtBytesThatNoMutationWrites) {
  RowMutation mutation;
  mutation.SetCell("family", "qualifier", Timestamp::FromMillis(1), "value");
  const std::string bytes(internal::Access::EncodedOps(mutation));
  MutationOp op;
  for (size_t length = 0; length < bytes.size(); ++length) {
    MutationOpReader reader(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(reader.Next(&op)) << length;
    EXPECT_FALSE(reader.Next(&op)) << length;
  }
  std::string unknown = bytes;
  unknown[0] = '\xff';
  EXPECT_FALSE(MutationOpReader(unknown).Next(&op));
  EXPECT_TRUE(MutationOpReader(bytes).Next(&op));
}

TEST(RowMutationTest, KnowsWhetherItDeletesRanges) {
  RowMutation mutation("r");
  mutation.SetCell("f", "q", "v").DeleteFromColumn("f", "q").DeleteFromFamily("f").DeleteFromRow();
  EXPECT_FALSE(internal::Access::DeletesRanges(mutation));
  EXPECT_TRUE(internal::Access::DeletesRanges(
      RowMutation(mutation).DeleteFromColumn("f", "q", {.start = Timestamp::FromMillis(1)})));
  EXPECT_TRUE(internal::Access::DeletesRanges(
      mutation.DeleteFromColumn("f", "q", {.end = Timestamp::FromMillis(1)})));
}

TEST(ReadModifyWriteRuleTest, HoldsWhatItWasGiven) {
  const ReadModifyWriteRule append = ReadModifyWriteRule::AppendValue("f", "q", "v");
  EXPECT_EQ(append.kind(), ReadModifyWriteRule::Kind::kAppendValue);
  EXPECT_EQ(append.family(), "f");
  EXPECT_EQ(append.qualifier(), "q");
  EXPECT_EQ(append.value(), "v");
  const ReadModifyWriteRule increment = ReadModifyWriteRule::IncrementAmount("f", "q", -7);
  EXPECT_EQ(increment.kind(), ReadModifyWriteRule::Kind::kIncrementAmount);
  EXPECT_EQ(increment.amount(), -7);
}

}  // namespace
}  // namespace stele
