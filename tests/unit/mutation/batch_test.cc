#include "mutation/batch.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace stele::internal {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::string Print(const BatchOp& op) {
  return std::to_string(static_cast<int>(op.kind)) + " " + std::to_string(op.family_id) + " " +
         std::string(op.qualifier) + " " + std::to_string(op.timestamp) + " " +
         std::to_string(op.range_start) + " " + std::string(op.value) + "\n";
}

// Prints the whole batch. The text ends with "damaged" if the reader reports damage.
std::string PrintBatch(std::string_view batch) {
  std::string text;
  BatchReader reader(batch);
  RowOps row;
  bool whole = true;
  while (reader.NextRow(&row)) {
    text += std::to_string(row.table_id()) + " " + std::string(row.row_key()) + "\n";
    whole = row.ForEach([&](const BatchOp& op) {
      text += Print(op);
      return true;
    }) && whole;
  }
  return reader.ok() && whole ? text : text + "damaged";
}

const BatchOp kOps[] = {
    {.kind = CellKind::kDeleteRow},
    {.kind = CellKind::kDeleteFamily, .family_id = 300},
    {.kind = CellKind::kDeleteRange,
     .family_id = 4'000'000'000,
     .timestamp = kMax,
     .range_start = 0,
     .qualifier = "q"},
    {.kind = CellKind::kSet,
     .family_id = 1,
     .timestamp = 1'700'000'000'000'000,
     .qualifier = "",
     .value = ""},
    {.kind = CellKind::kSet,
     .family_id = 2,
     .timestamp = 0,
     .qualifier = "qualifier",
     .value = "value"},
};

std::string SmallBatch() {
  BatchWriter writer;
  writer.StartRow(7, "row");
  for (const BatchOp& op : kOps) writer.Add(op);
  writer.StartRow(8, "other");
  writer.Add(kOps[4]);
  return writer.Finish();
}

TEST(Batch, ReadsWhatWasWritten) {
  std::string expected = "7 row\n";
  for (const BatchOp& op : kOps) expected += Print(op);
  EXPECT_EQ(PrintBatch(SmallBatch()), expected + "8 other\n" + Print(kOps[4]));
}

TEST(Batch, KeepsOperationsOfKindsApartFromFieldsTheyDoNotHave) {
  BatchWriter writer;
  writer.StartRow(1, "r");
  writer.Add({.kind = CellKind::kDeleteFamily,
              .family_id = 5,
              .timestamp = 9,
              .range_start = 8,
              .qualifier = "q",
              .value = "v"});
  EXPECT_EQ(PrintBatch(writer.Finish()),
            "1 r\n" + Print({.kind = CellKind::kDeleteFamily, .family_id = 5}));
}

TEST(Batch, AStampedTimestampIsTheClockOfTheBatch) {
  for (const int64_t clock_micros : {int64_t{7}, INT64_MAX, int64_t{-5}}) {
    BatchWriter writer;
    writer.StartRow(1, "r");
    writer.Add({.kind = CellKind::kSet,
                .family_id = 1,
                .timestamp = 4,
                .qualifier = "before",
                .value = "v"});
    const size_t place = writer.AddStamped({.kind = CellKind::kSet,
                                            .family_id = UINT32_MAX,
                                            .qualifier = "stamped",
                                            .value = std::string(300, 'v')});
    writer.Add({.kind = CellKind::kSet,
                .family_id = 1,
                .timestamp = 6,
                .qualifier = "after",
                .value = "v"});
    std::string batch = writer.Finish();
    SetBatchClock(&batch, clock_micros, place);
    BatchReader reader(batch);
    RowOps row;
    ASSERT_TRUE(reader.NextRow(&row));
    std::vector<int64_t> timestamps;
    EXPECT_TRUE(row.ForEach([&timestamps](const BatchOp& op) {
      timestamps.push_back(op.timestamp);
      return true;
    }));
    EXPECT_EQ(timestamps, (std::vector<int64_t>{4, std::max<int64_t>(clock_micros, 0), 6}))
        << "a timestamp is not negative";
    EXPECT_FALSE(reader.NextRow(&row));
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.clock_micros(), clock_micros);
  }
}

TEST(Batch, NothingFollowsTheRows) {
  BatchWriter writer;
  writer.StartRow(1, "r");
  writer.Add(kOps[0]);
  const std::string batch = writer.Finish() + '\0';
  BatchReader reader(batch);
  RowOps row;
  EXPECT_TRUE(reader.NextRow(&row));
  EXPECT_FALSE(reader.NextRow(&row));
  EXPECT_FALSE(reader.ok());
}

TEST(Batch, WriterIsEmptyAfterFinish) {
  BatchWriter writer;
  const size_t empty_bytes = writer.bytes();
  writer.StartRow(1, "r");
  writer.Add(kOps[0]);
  EXPECT_EQ(writer.row_count(), 1u);
  EXPECT_GT(writer.bytes(), empty_bytes);
  (void)writer.Finish();
  EXPECT_EQ(writer.row_count(), 0u);
  EXPECT_EQ(writer.bytes(), empty_bytes);
  EXPECT_EQ(PrintBatch(writer.Finish()), "");
}

TEST(Batch, ClockIsSetAfterEncoding) {
  std::string batch = SmallBatch();
  EXPECT_EQ(BatchReader(batch).clock_micros(), 0);
  const std::string before = PrintBatch(batch);
  SetBatchClock(&batch, 1'700'000'000'000'001);
  EXPECT_EQ(BatchReader(batch).clock_micros(), 1'700'000'000'000'001);
  EXPECT_EQ(PrintBatch(batch), before);
}

TEST(Batch, VisitStopsForEach) {
  const std::string batch = SmallBatch();
  BatchReader reader(batch);
  RowOps row;
  ASSERT_TRUE(reader.NextRow(&row));
  int visited = 0;
  EXPECT_FALSE(row.ForEach([&](const BatchOp&) { return ++visited < 2; }));
  EXPECT_EQ(visited, 2);
}

TEST(Batch, EveryShorterBatchIsDamaged) {
  const std::string batch = SmallBatch();
  for (size_t bytes = 0; bytes < batch.size(); ++bytes) {
    EXPECT_TRUE(PrintBatch(std::string(batch.substr(0, bytes))).ends_with("damaged")) << bytes;
  }
  EXPECT_TRUE(PrintBatch(batch + '\0').ends_with("damaged"));
}

// The bytes of an operation alone, as ForEach gets them.
bool Reads(std::string_view encoded_ops) {
  return RowOps(1, "r", 1, encoded_ops).ForEach([](const BatchOp&) { return true; });
}

std::string Encoded(const BatchOp& op) {
  BatchWriter writer;
  writer.StartRow(1, "r");
  const size_t start = writer.bytes();
  writer.Add(op);
  return writer.Finish().substr(start);
}

TEST(Batch, RefusesOperationsOutOfBounds) {
  const BatchOp set{
      .kind = CellKind::kSet, .family_id = 1, .timestamp = 1, .qualifier = "q", .value = "v"};
  ASSERT_TRUE(Reads(Encoded(set)));
  BatchOp no_family = set;
  no_family.family_id = 0;
  EXPECT_FALSE(Reads(Encoded(no_family)));
  const std::string longest(kBatchKeyBytesMax, 'q');
  BatchOp long_qualifier = set;
  long_qualifier.qualifier = longest;
  EXPECT_TRUE(Reads(Encoded(long_qualifier)));
  const std::string too_long(kBatchKeyBytesMax + 1, 'q');
  long_qualifier.qualifier = too_long;
  EXPECT_FALSE(Reads(Encoded(long_qualifier)));
  BatchOp range{.kind = CellKind::kDeleteRange,
                .family_id = 1,
                .timestamp = 5,
                .range_start = 5,
                .qualifier = "q"};
  EXPECT_TRUE(Reads(Encoded(range)));
  range.range_start = 6;
  EXPECT_FALSE(Reads(Encoded(range)));
  range.range_start = -1;
  EXPECT_FALSE(Reads(Encoded(range)));
  BatchOp negative = set;
  negative.timestamp = -1;
  EXPECT_FALSE(Reads(Encoded(negative)));
  std::string unknown_kind = Encoded(set);
  for (const int kind : {4, kCellKindMax + 1, 255}) {
    unknown_kind[0] = static_cast<char>(kind);
    EXPECT_FALSE(Reads(unknown_kind)) << kind;
  }
  EXPECT_FALSE(Reads(Encoded(set) + Encoded(set))) << "more than the row says it has";
}

TEST(Batch, RefusesDeltasThatAreNone) {
  BatchOp delta{.kind = CellKind::kSum,
                .family_id = 1,
                .timestamp = 1,
                .qualifier = "q",
                .value = "12345678"};
  for (const CellKind kind : {CellKind::kSum, CellKind::kMin, CellKind::kMax}) {
    delta.kind = kind;
    delta.value = "12345678";
    EXPECT_TRUE(Reads(Encoded(delta)));
    delta.value = "1234567";
    EXPECT_FALSE(Reads(Encoded(delta)));
  }
  delta.kind = CellKind::kHll;
  EXPECT_FALSE(Reads(Encoded(delta)));
  std::string state;
  AppendHllItem(&state, "item");
  delta.value = state;
  EXPECT_TRUE(Reads(Encoded(delta)));
}

TEST(Batch, RefusesRowKeysOutOfBounds) {
  const auto read = [](const std::string& row_key) {
    BatchWriter writer;
    writer.StartRow(1, row_key);
    const std::string batch = writer.Finish();
    BatchReader reader(batch);
    RowOps row;
    return reader.NextRow(&row);
  };
  EXPECT_FALSE(read(""));
  EXPECT_TRUE(read(std::string(kBatchKeyBytesMax, 'r')));
  EXPECT_FALSE(read(std::string(kBatchKeyBytesMax + 1, 'r')));
}

}  // namespace
}  // namespace stele::internal
