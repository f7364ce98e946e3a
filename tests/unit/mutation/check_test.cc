#include "mutation/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "base/status.h"
#include "support/cell_naive_fold.h"
#include "support/cell_text.h"

namespace stele::internal {
namespace {

constexpr int64_t kIntMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kNow = 1'700'000'000'123'456;

MutationSchema SmallSchema(TimestampGranularity granularity = TimestampGranularity::kMillis) {
  return {.table_id = 9,
          .families = &TestFamilies(),
          .limits = {.row_key_bytes = 8,
                     .qualifier_bytes = 4,
                     .value_bytes = 16,
                     .row_bytes = 60,
                     .mutations = 5},
          .granularity = granularity};
}

Timestamp Micros(int64_t micros) { return Timestamp::FromMicros(micros); }

// Returns the batch's operations as cell text.
std::string PrintOps(const std::string& batch) {
  std::string text;
  BatchReader reader(batch);
  RowOps row;
  while (reader.NextRow(&row)) {
    EXPECT_EQ(row.table_id(), 9u);
    EXPECT_TRUE(row.ForEach([&](const BatchOp& op) {
      const uint32_t family_index = TestFamilies().IndexOfId(op.family_id).value_or(kRowFamily);
      text += PrintCell(row.row_key(), {.family = family_index,
                                        .kind = op.kind,
                                        .timestamp = op.timestamp,
                                        .range_start = op.range_start,
                                        .qualifier = op.qualifier,
                                        .value = op.value}) +
              "\n";
      return true;
    }));
  }
  EXPECT_TRUE(reader.ok());
  return text;
}

std::string Appended(const RowMutation& mutation, const MutationSchema& schema = SmallSchema()) {
  BatchWriter writer;
  const absl::Status status = AppendMutation(mutation, schema, kNow, &writer);
  return status.ok() ? PrintOps(writer.Finish()) : status.ToString();
}

TEST(AppendMutation, TurnsChangesIntoOperationsInOrder) {
  EXPECT_EQ(Appended(RowMutation("r")
                         .SetCell("b", "q", Micros(5'000), "v")
                         .DeleteFromColumn("a", "")
                         .DeleteFromFamily("d")
                         .DeleteFromRow()),
            "r b:q @5000 = v\n"
            "r a: DELETE [0,max]\n"
            "r d DELETE\n"
            "r DELETE\n");
}

TEST(AppendMutation, SemanticsRow2ServerTimeIsCutToTheGranularity) {
  const RowMutation mutation = RowMutation("r").SetCell("a", "q", "v");
  EXPECT_EQ(Appended(mutation), "r a:q @1700000000123000 = v\n");
  EXPECT_EQ(Appended(mutation, SmallSchema(TimestampGranularity::kMicros)),
            "r a:q @1700000000123456 = v\n");
  BatchWriter writer;
  ASSERT_TRUE(AppendMutation(mutation, SmallSchema(), -1, &writer).ok());
  EXPECT_EQ(PrintOps(writer.Finish()), "r a:q @0 = v\n") << "a clock before 1970";
}

TEST(AppendMutation, AClockBefore1970StampsZero) {
  BatchWriter writer;
  ASSERT_EQ(AppendMutation(RowMutation("r").SetCell("a", "q", "v"), SmallSchema(), -5'000, &writer),
            absl::OkStatus());
  EXPECT_EQ(PrintOps(writer.Finish()), "r a:q @0 = v\n");
}

TEST(AppendMutation, RangesBecomeInclusive) {
  const auto deleted = [](TimestampRange range) {
    return Appended(RowMutation("r").DeleteFromColumn("a", "q", range));
  };
  EXPECT_EQ(deleted({Micros(2'000), Micros(3'000)}), "r a:q DELETE [2000,2999]\n");
  EXPECT_EQ(deleted({Micros(2'000), std::nullopt}), "r a:q DELETE [2000,max]\n");
  EXPECT_EQ(deleted({}), "r a:q DELETE [0,max]\n");
}

struct Case {
  const char* name;
  RowMutation mutation;
  absl::StatusCode code;
  const char* text;  // part of the message
};

RowMutation Set(Timestamp timestamp) { return RowMutation("r").SetCell("a", "q", timestamp, "v"); }
RowMutation DeleteRange(int64_t start, std::optional<int64_t> end) {
  TimestampRange range{.start = Micros(start)};
  if (end.has_value()) range.end = Micros(*end);
  return RowMutation("r").DeleteFromColumn("a", "q", range);
}
RowMutation Repeat(int times) {
  RowMutation mutation("r");
  for (int i = 0; i < times; ++i) mutation.DeleteFromFamily("a");
  return mutation;
}

constexpr absl::StatusCode kOk = absl::StatusCode::kOk;
constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

const Case kCases[] = {
    {"semantics row 3: negative", Set(Micros(-2)), kInvalid, "element #0: timestamp"},
    {"semantics row 3: negative millisecond", Set(Micros(-1'000)), kInvalid, "negative"},
    {"semantics row 6: greatest millisecond", Set(Micros(9'223'372'036'854'775'000)), kOk, ""},
    {"semantics row 7: greatest microsecond", Set(Micros(kIntMax)), kInvalid,
     "9223372036854775807"},
    {"not a millisecond", Set(Micros(1'234'567)), kInvalid, "1234567"},
    {"semantics row 10: nothing in qualifier and value",
     RowMutation("r").SetCell("a", "", Micros(0), ""), kOk, ""},
    {"semantics row 11: longest key", RowMutation("12345678").DeleteFromRow(), kOk, ""},
    {"semantics row 11: too long a key", RowMutation("123456789").DeleteFromRow(), kInvalid,
     "row key has 9 bytes, at most 8"},
    {"semantics row 13: no key", RowMutation("").DeleteFromRow(), kInvalid,
     "Row keys must be non-empty"},
    {"semantics row 15: no changes", RowMutation("r"), kInvalid, "No mutations provided"},
    {"as many changes as allowed", Repeat(5), kOk, ""},
    {"too many changes", Repeat(6), kInvalid, "6 changes, at most 5"},
    {"longest qualifier", RowMutation("r").SetCell("a", "1234", Micros(0), ""), kOk, ""},
    {"too long a qualifier", RowMutation("r").SetCell("a", "12345", Micros(0), ""), kInvalid,
     "qualifier has 5 bytes, at most 4"},
    {"too long a qualifier to delete", RowMutation("r").DeleteFromColumn("a", "12345"), kInvalid,
     "qualifier has 5 bytes"},
    {"longest value", RowMutation("r").SetCell("a", "q", std::string(16, 'v')), kOk, ""},
    {"too long a value", RowMutation("r").SetCell("a", "q", std::string(17, 'v')), kInvalid,
     "value has 17 bytes, at most 16"},
    // 1 + 3 * (1 + 1 + 16) bytes, and at most 5 more.
    {"as many bytes as allowed",
     RowMutation("r")
         .SetCell("a", "q", std::string(16, 'v'))
         .SetCell("a", "q", std::string(16, 'v'))
         .SetCell("a", "q", std::string(16, 'v'))
         .SetCell("a", "q", "123"),
     kOk, ""},
    {"too many bytes",
     RowMutation("r")
         .SetCell("a", "q", std::string(16, 'v'))
         .SetCell("a", "q", std::string(16, 'v'))
         .SetCell("a", "q", std::string(16, 'v'))
         .SetCell("a", "q", "1234"),
     kInvalid, "mutation has 61 bytes, at most 60"},
    {"semantics row 18: unknown family", RowMutation("r").SetCell("x", "q", "v"),
     absl::StatusCode::kNotFound, "element #0: Requested column family not found: \"x\""},
    {"unknown family to delete", RowMutation("r").DeleteFromFamily("x"),
     absl::StatusCode::kNotFound, "\"x\""},
    {"semantics row 19: good change, unknown family",
     RowMutation("r").SetCell("a", "q", "v").DeleteFromColumn("x", "q"),
     absl::StatusCode::kNotFound, "element #1"},
    {"wrong in itself before unknown",
     RowMutation("r").SetCell("x", "q", "v").SetCell("a", "q", Micros(-5), "v"), kInvalid,
     "element #1"},
    {"semantics row 26: empty range", DeleteRange(3'000, 3'000), kInvalid, "empty"},
    {"semantics row 26: inverted range", DeleteRange(3'000, 2'000), kInvalid, "element #0"},
    {"an end of 0 is meant", DeleteRange(0, 0), kInvalid, "empty"},
    {"semantics row 27: start not a millisecond", DeleteRange(2'500, std::nullopt), kInvalid,
     "2500"},
    {"semantics row 27: end not a millisecond", DeleteRange(2'000, 2'500), kInvalid, "2500"},
    {"negative start", DeleteRange(-1'000, std::nullopt), kInvalid, "negative"},
    {"negative end", DeleteRange(0, -1'000), kInvalid, "negative"},
    {"semantics row 121: a number added to bytes",
     RowMutation("r").AddToCell("a", "q", Micros(0), 1), kInvalid, "family type mismatch"},
    {"an item added to bytes", RowMutation("r").AddToCell("a", "q", Micros(0), "item"), kInvalid,
     "has bytes; use SetCell"},
    {"a state folded into bytes", RowMutation("r").MergeToCell("a", "q", Micros(0), "state"),
     kInvalid, "family type mismatch"},
    {"wrong in itself before the type", RowMutation("r").AddToCell("a", "q", Micros(-5), 1),
     kInvalid, "negative"},
    {"added in between two milliseconds", RowMutation("r").AddToCell("a", "q", Micros(1'500), 1),
     kInvalid, "multiple of 1000"},
};

TEST(AppendMutation, AnErrorLeavesTheBatchAsItWas) {
  for (const Case& c : kCases) {
    BatchWriter writer;
    const size_t empty_bytes = writer.bytes();
    const absl::Status status = AppendMutation(c.mutation, SmallSchema(), kNow, &writer);
    EXPECT_EQ(status.code(), c.code) << c.name << ": " << status;
    EXPECT_NE(ToStd(status.message()).find(c.text), std::string_view::npos)
        << c.name << ": " << status;
    EXPECT_EQ(writer.row_count(), status.ok() ? 1u : 0u) << c.name;
    EXPECT_EQ(writer.bytes() == empty_bytes, !status.ok()) << c.name;
    if (status.ok()) continue;
    // Also between other rows.
    const RowMutation before = RowMutation("p").SetCell("a", "q", Micros(1'000), "1");
    const RowMutation behind = RowMutation("s").SetCell("b", "q", Micros(2'000), "2");
    BatchWriter others;
    for (BatchWriter* const batch : {&writer, &others}) {
      ASSERT_TRUE(AppendMutation(before, SmallSchema(), kNow, batch).ok());
      EXPECT_TRUE(batch == &others || !AppendMutation(c.mutation, SmallSchema(), kNow, batch).ok())
          << c.name;
      ASSERT_TRUE(AppendMutation(behind, SmallSchema(), kNow, batch).ok());
    }
    EXPECT_EQ(writer.Finish(), others.Finish()) << c.name;
  }
}

TEST(AppendMutation, OfALargeOneNothingIsCopiedBeforeItIsJudged) {
  MutationSchema schema = SmallSchema();
  schema.limits = {};
  BatchWriter writer;
  const std::string value(size_t{2} << 20, 'v');
  const RowMutation good = RowMutation("r").SetCell("a", "q", Micros(0), value);
  EXPECT_TRUE(absl::IsNotFound(
      AppendMutation(RowMutation(good).DeleteFromFamily("x"), schema, kNow, &writer)));
  EXPECT_EQ(writer.row_count(), 0u);
  EXPECT_TRUE(AppendMutation(good, schema, kNow, &writer).ok());
  EXPECT_GT(writer.bytes(), value.size());
}

// Families a, b, c and d: a sum, a minimum, a maximum and a sketch.
const std::vector<FamilySchema>& AggregateFamilies() {
  static const std::vector<FamilySchema> families = {
      {.name = "a", .value_type = ValueType::kInt64Sum},
      {.name = "b", .value_type = ValueType::kInt64Min},
      {.name = "c", .value_type = ValueType::kInt64Max},
      {.name = "d", .value_type = ValueType::kHll}};
  return families;
}

MutationSchema AggregateSchema() {
  MutationSchema schema = SmallSchema();
  schema.limits = {};
  schema.family_schemas = AggregateFamilies();
  return schema;
}

TEST(AppendMutation, ChangesOfAggregatesAreDeltas) {
  const MutationSchema schema = AggregateSchema();
  EXPECT_EQ(Appended(RowMutation("r")
                         .AddToCell("a", "q", Micros(1'000), int64_t{-5})
                         .AddToCell("b", "q", Micros(2'000), 7)
                         .AddToCell("c", "q", Micros(0), std::numeric_limits<int64_t>::min())
                         .MergeToCell("a", "q", Micros(1'000), EncodeInt64(12))
                         .DeleteFromColumn("a", "q")
                         .DeleteFromRow(),
                     schema),
            "r a:q @1000 sum -5\nr b:q @2000 min 7\nr c:q @0 max -9223372036854775808\nr a:q @1000 "
            "sum 12\n"
            "r a:q DELETE [0,max]\nr DELETE\n");
  EXPECT_EQ(Appended(RowMutation("r")
                         .AddToCell("d", "q", Micros(0), "item")
                         .MergeToCell("d", "q", Micros(0), NaiveSketch({"x", "y"})),
                     schema),
            "r d:q @0 hll of about 1\nr d:q @0 hll of about 2\n");
}

TEST(AppendMutation, AggregatesTakeWhatFitsTheirType) {
  const MutationSchema schema = AggregateSchema();
  const RowMutation row("r");
  const RowMutation wrong[] = {
      RowMutation(row).SetCell("a", "q", EncodeInt64(1)),
      RowMutation(row).SetCell("d", "q", Micros(0), NaiveSketch({"x"})),
      RowMutation(row).AddToCell("a", "q", Micros(0), "item"),
      RowMutation(row).AddToCell("d", "q", Micros(0), 1),
      RowMutation(row).MergeToCell("a", "q", Micros(0), "123"),  // row 118
      RowMutation(row).MergeToCell("b", "q", Micros(0), "123456789"),
      RowMutation(row).MergeToCell("c", "q", Micros(0), NaiveSketch({"x"})),
      RowMutation(row).MergeToCell("d", "q", Micros(0), EncodeInt64(1))};
  for (const RowMutation& mutation : wrong) {
    EXPECT_EQ(CheckMutation("r", mutation, schema).code(), kInvalid);
    RowMutation after_good = RowMutation("r").AddToCell("a", "q", Micros(0), 1);
    after_good.SetCell("a", "q", "v");
    BatchWriter writer;
    EXPECT_EQ(AppendMutation(after_good, schema, kNow, &writer).code(), kInvalid);
    EXPECT_EQ(writer.row_count(), 0u) << "nothing is applied";
  }
  std::vector<Cell> cells;
  EXPECT_EQ(
      ReadSetCells(RowMutation(row).AddToCell("a", "q", Micros(0), 1), schema, kNow, &cells).code(),
      kInvalid);
  EXPECT_EQ(
      ReadSetCells(RowMutation(row).SetCell("a", "q", "12345678"), schema, kNow, &cells).code(),
      kInvalid);
}

TEST(AppendMutation, AStateOfNoBytesChangesNothing) {
  const MutationSchema schema = AggregateSchema();
  for (const std::string_view family : {"a", "b", "c", "d"}) {
    EXPECT_EQ(
        Appended(RowMutation("r").MergeToCell(family, "q", Micros(0), "").DeleteFromRow(), schema),
        "r DELETE\n");
    EXPECT_EQ(Appended(RowMutation("r").MergeToCell(family, "q", Micros(0), ""), schema), "");
    EXPECT_TRUE(
        CheckMutation("r", RowMutation().MergeToCell(family, "q", Micros(0), ""), schema).ok());
  }
  const RowMutation wrong[] = {RowMutation("r").MergeToCell("a", "q", Micros(-1), ""),
                               RowMutation("r").MergeToCell("none", "q", Micros(0), "")};
  for (const RowMutation& mutation : wrong) EXPECT_FALSE(CheckMutation("r", mutation, schema).ok());
  EXPECT_EQ(
      CheckMutation("r", RowMutation().MergeToCell("a", "q", Micros(0), ""), SmallSchema()).code(),
      kInvalid)
      << "no aggregate";
}

TEST(AppendMutation, MicrosTakeEveryTimestamp) {
  const MutationSchema schema = SmallSchema(TimestampGranularity::kMicros);
  EXPECT_EQ(Appended(Set(Micros(kIntMax)), schema), "r a:q @max = v\n");
  EXPECT_EQ(Appended(DeleteRange(1, 2), schema), "r a:q DELETE [1,1]\n");
}

TEST(AppendMutation, TakesTheRowKeyOfTheCallForABranch) {
  BatchWriter writer;
  ASSERT_TRUE(
      AppendMutation("other", RowMutation().DeleteFromRow(), SmallSchema(), kNow, &writer).ok());
  EXPECT_EQ(PrintOps(writer.Finish()), "other DELETE\n");
}

TEST(AppendMutation, TheBoundsOfTheBatchAreThoseOfTheGreatestLimits) {
  MutationSchema schema = SmallSchema();
  schema.limits = {.row_key_bytes = kBatchKeyBytesMax,
                   .qualifier_bytes = kBatchKeyBytesMax,
                   .row_bytes = uint64_t{256} << 20};
  const std::string longest(kBatchKeyBytesMax, 'k');
  EXPECT_EQ(Appended(RowMutation(longest).SetCell("a", longest, Micros(0), "v"), schema),
            fmt::format("{} a:{} @0 = v\n", longest, longest));
}

TEST(RangedDeletes, ListsColumnsDeletedFromAStart) {
  const RowMutation mutation = RowMutation("r")
                                   .DeleteFromColumn("b", "q", {Micros(1'000), std::nullopt})
                                   .DeleteFromColumn("a", "z", {Micros(1'000), Micros(2'000)})
                                   .DeleteFromColumn("a", "y", {Micros(0), Micros(2'000)})
                                   .DeleteFromColumn("a", "x")
                                   .DeleteFromColumn("b", "q", {Micros(5'000), std::nullopt})
                                   .SetCell("c", "q", "v")
                                   .DeleteFromFamily("d");
  const std::vector<ColumnRef> expected = {{1, "z"}, {2, "q"}};
  EXPECT_EQ(RangedDeletes(mutation, SmallSchema()), expected);
}

}  // namespace
}  // namespace stele::internal
