// Tests a cursor over a sorted run against one source with all rows, and counts the opened sources.
#include "merge/run_cursor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/status/status.h"
#include "base/random.h"
#include "support/base_sanitized.h"
#include "support/cell_text.h"

namespace stele::internal {
namespace {

struct Opened {
  size_t count = 0;    // opened so far
  size_t at_once = 0;  // open now
  size_t at_once_max = 0;
};

class CountedCursor final : public CellCursor {
 public:
  CountedCursor(std::unique_ptr<CellCursor> input, Opened* opened)
      : input_(std::move(input)), opened_(*opened) {
    ++opened_.count;
    opened_.at_once_max = std::max(opened_.at_once_max, ++opened_.at_once);
  }
  ~CountedCursor() override { --opened_.at_once; }

  bool SeekToEdge() override { return input_->SeekToEdge(); }
  bool SeekRow(std::string_view bound) override { return input_->SeekRow(bound); }
  bool NextRow() override { return input_->NextRow(); }
  std::string_view row_key() const override { return input_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override { return input_->ReadCells(cells); }
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    input_->SkipTo(family, qualifier);
  }
  void Unpin() override { input_->Unpin(); }
  absl::Status status() const override { return input_->status(); }

 private:
  const std::unique_ptr<CellCursor> input_;
  Opened& opened_;
};

// Rows divided into parts. Some parts have no row, and some are not wanted.
struct Parts {
  OwnedRows all;  // visible rows
  std::vector<OwnedRows> rows;
  std::vector<std::string> bounds;  // part i: [bounds[2i], bounds[2i + 1])
  std::vector<bool> wanted;
  bool unbounded_end = false;  // of the last part
};

OwnedRow RowOf(const std::string& row_key) {
  return {row_key,
          {{.family = 1,
            .kind = CellKind::kSet,
            .timestamp = 1,
            .qualifier = "q",
            .value = "of " + row_key}}};
}

Parts RandomParts(Random& random) {
  Parts parts;
  const uint64_t count = 1 + random.Below(8);
  uint64_t next = 0;
  for (uint64_t i = 0; i < count; ++i) {
    next += random.Below(3);  // parts touch, or leave a gap
    parts.bounds.push_back(fmt::format("{:03}", next));
    OwnedRows& rows = parts.rows.emplace_back();
    parts.wanted.push_back(!random.OneIn(6));
    for (uint64_t left = 1 + random.Below(6); left > 0; --left, ++next) {
      if (random.OneIn(3)) continue;
      rows.push_back(RowOf(fmt::format("{:03}", next)));
      if (parts.wanted.back()) parts.all.push_back(rows.back());
    }
    parts.bounds.push_back(fmt::format("{:03}", next));
  }
  parts.unbounded_end = random.OneIn(3);
  return parts;
}

std::unique_ptr<CellCursor> RunOf(const Parts& parts, Direction direction, Opened* opened) {
  std::vector<RunPart> run;
  for (size_t i = 0; i < parts.rows.size(); ++i)
    run.push_back({parts.bounds[2 * i], parts.bounds[2 * i + 1], false});
  if (parts.unbounded_end) run.back() = {run.back().start, {}, true};
  const auto open = [&parts, direction,
                     opened](size_t index) -> absl::StatusOr<std::unique_ptr<CellCursor>> {
    if (!parts.wanted[index]) return nullptr;
    return std::make_unique<CountedCursor>(
        NewVectorCursor(parts.rows[index], {.direction = direction}), opened);
  };
  return NewRunCursor(std::move(run), open, direction);
}

TEST(RunCursorTest, WalksAndSeeksAsOneSource) {
  for (uint64_t seed = 1; seed <= ReducedPart(500); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Parts parts = RandomParts(random);
    for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
      Opened opened;
      const auto run = RunOf(parts, direction, &opened);
      const auto whole = NewVectorCursor(parts.all, {.direction = direction});
      ASSERT_EQ(PrintAll(run.get()), PrintAll(whole.get()));
      ASSERT_LE(opened.count, parts.rows.size()) << "each part is opened once";
      bool found = false;
      for (int i = 0; i < 40; ++i) {
        if (found && random.OneIn(2)) {
          found = whole->NextRow();
          ASSERT_EQ(run->NextRow(), found);
        } else {
          const std::string bound =
              fmt::format("{:03}", random.Below(60)) + (random.OneIn(3) ? "x" : "");
          found = whole->SeekRow(bound);
          ASSERT_EQ(run->SeekRow(bound), found) << bound;
        }
        if (found) {
          ASSERT_EQ(run->row_key(), whole->row_key());
        }
        if (found && random.OneIn(2)) {
          ASSERT_EQ(ReadRow(run.get()), ReadRow(whole.get()));
        }
      }
      ASSERT_LE(opened.at_once_max, 1u);
    }
  }
}

Parts HundredParts() {
  Parts parts;
  for (int i = 0; i < 100; ++i) {
    parts.bounds.push_back(fmt::format("{:03}0", i));
    parts.bounds.push_back(fmt::format("{:03}9", i));
    parts.rows.push_back({RowOf(fmt::format("{:03}1", i)), RowOf(fmt::format("{:03}5", i))});
    parts.wanted.push_back(true);
  }
  return parts;
}

TEST(RunCursorTest, OnlyThePartInReachIsOpened) {
  const Parts parts = HundredParts();
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    Opened opened;
    const auto run = RunOf(parts, direction, &opened);
    EXPECT_EQ(opened.count, 0u) << "before anything is asked for";
    ASSERT_TRUE(run->SeekRow("0503"));
    EXPECT_EQ(run->row_key(), direction == Direction::kForward ? "0505" : "0501");
    EXPECT_EQ(opened.count, 1u);
    ASSERT_TRUE(run->SeekRow("0505"));
    EXPECT_EQ(opened.count, 1u) << "it is open already";
    // After the last row of its part: the cursor opens that part, and then the next one, which has
    // the row.
    ASSERT_TRUE(run->SeekRow(direction == Direction::kForward ? "0208" : "0201"));
    EXPECT_EQ(run->row_key(), direction == Direction::kForward ? "0211" : "0195");
    EXPECT_EQ(opened.count, 3u);
    // Between two parts: only one of them can have the row.
    ASSERT_TRUE(run->SeekRow("0309"));
    EXPECT_EQ(run->row_key(), direction == Direction::kForward ? "0311" : "0305");
    EXPECT_EQ(opened.count, 4u);
    EXPECT_FALSE(run->SeekRow(direction == Direction::kForward ? "0999" : "0000"));
    EXPECT_EQ(opened.count, 4u) << "no part can have it";
    EXPECT_TRUE(run->status().ok());
    EXPECT_EQ(opened.at_once_max, 1u);
  }
}

TEST(RunCursorTest, APartThatCannotBeOpenedFailsWhereItIsComeTo) {
  const Parts parts = HundredParts();
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    std::vector<RunPart> bounds;
    for (size_t i = 0; i < parts.rows.size(); ++i)
      bounds.push_back({parts.bounds[2 * i], parts.bounds[2 * i + 1], false});
    const auto open = [&](size_t index) -> absl::StatusOr<std::unique_ptr<CellCursor>> {
      if (index == 50) return absl::UnavailableError("no descriptor left");
      return NewVectorCursor(parts.rows[index],
                             {.direction = direction,
                              .failing_call = index == 10 ? uint64_t{2} : uint64_t{index == 80}});
    };
    auto run = NewRunCursor(bounds, open, direction);
    ASSERT_TRUE(run->SeekRow(direction == Direction::kForward ? "0490" : "0520"));
    int rows = 1;
    while (run->NextRow()) ++rows;
    EXPECT_EQ(rows, 2) << "of the part before";
    EXPECT_EQ(run->status().code(), absl::StatusCode::kUnavailable);
    EXPECT_FALSE(run->NextRow());
    EXPECT_FALSE(run->SeekToEdge());
    EXPECT_FALSE(run->SeekRow("0100"));
    run = NewRunCursor(bounds, open, direction);
    ASSERT_TRUE(run->SeekRow("0103"));
    EXPECT_FALSE(run->NextRow()) << "a part that fails while it is read is no part that ended";
    EXPECT_EQ(run->status().code(), absl::StatusCode::kDataLoss);
    run = NewRunCursor(bounds, open, direction);
    ASSERT_TRUE(run->SeekRow(direction == Direction::kForward ? "0795" : "0812"));
    EXPECT_FALSE(run->NextRow()) << "nor is one that fails at its first row";
    EXPECT_EQ(run->status().code(), absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace stele::internal
