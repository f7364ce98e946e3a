// Tests RowStream: ranges, limits, partial rows, skipped sources, and reads that end early.
#include "read/row_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/status.h"
#include "support/read_fixture.h"

namespace stele::internal {
namespace {

std::vector<KeyRange> Ranges(std::vector<std::pair<std::string, std::string>> bounds) {
  std::vector<KeyRange> ranges;
  for (auto& [start, end] : bounds) {
    const bool unbounded = end.empty();
    ranges.push_back({std::move(start), std::move(end), unbounded});
  }
  return ranges;
}

std::string ShowRanges(const HandmadeTable& table, std::vector<KeyRange> ranges,
                       bool reverse = false, int64_t limit = 0, const Filter& filter = {}) {
  RowStreamOptions options = table.Options(filter);
  options.ranges = std::move(ranges);
  options.reverse = reverse;
  options.limit = limit;
  return Show(table, std::move(options));
}

// Rows r0 to r9. Odd ones are in a file, even ones in a memtable. Tablets are divided at r3 and r6.
HandmadeTable TenRows() {
  HandmadeTable table({"r3", "r6"});
  table.AddFile("r1 a:q @1 = 1\nr3 a:q @1 = 3\nr5 a:q @1 = 5\nr7 a:q @1 = 7\nr9 a:q @1 = 9\n");
  table.AddMemtable("r0 a:q @1 = 0\nr2 a:q @1 = 2\nr4 a:q @1 = 4\nr6 a:q @1 = 6\nr8 a:q @1 = 8\n");
  return table;
}

// Returns "r1 a:q@1=1; r2 ..." for the given numbers.
std::string RowsOf(const std::string& numbers) {
  std::string text;
  for (const char number : numbers)
    text += fmt::format("{}r{} a:q@1={}", text.empty() ? "" : "; ", number, number);
  return text;
}

TEST(RowStreamTest, RangesOverTabletsInBothDirections) {
  const HandmadeTable table = TenRows();
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}), RowsOf("0123456789"));
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, true), RowsOf("9876543210"));
  const std::vector<KeyRange> several =
      Ranges({{"r1", "r3"}, {"r31", "r4"}, {"r5", "r8"}, {"r9", ""}});
  EXPECT_EQ(ShowRanges(table, several), RowsOf("125679"));
  EXPECT_EQ(ShowRanges(table, several, true), RowsOf("976521"));
  EXPECT_EQ(ShowRanges(table, {}), "");
  EXPECT_EQ(ShowRanges(table, Ranges({{"r4", "r4"}, {"r6", "r6"}})), "") << "empty ranges";
  EXPECT_EQ(ShowRanges(table, Ranges({{"s", ""}})), "");
  EXPECT_EQ(ShowRanges(table, Ranges({{"s", ""}}), true), "");
}

TEST(RowStreamTest, SingleRowsBetweenRanges) {
  const HandmadeTable table = TenRows();
  // A cursor tree for one row omits sources. It must not be reused for the next range in the same
  // tablet.
  const std::vector<KeyRange> mixed = {
      KeyRange::Single("r0"),  {"r1", "r2", false}, KeyRange::Single("r2"), KeyRange::Single("r4"),
      KeyRange::Single("r41"), {"r5", "r7", false}, KeyRange::Single("r9")};
  EXPECT_EQ(ShowRanges(table, mixed), RowsOf("0124569"));
  EXPECT_EQ(ShowRanges(table, mixed, true), RowsOf("9654210"));
}

TEST(RowStreamTest, TheLimitCountsRowsThatAreReturned) {
  HandmadeTable table;
  table.AddFile("r1 a:q @1 = 1\nr2 a:q @1 = 2\nr3 b:q @1 = 3\nr4 a:q @1 = 4\nr5 a:q @1 = 5\n");
  table.AddMemtable("r1 DELETE\n");
  const Filter family = Filter::Family("a");
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, false, 2, family), RowsOf("24"));
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, true, 2, family), RowsOf("54"));
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, false, 3, family), RowsOf("245"));
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, false, 9, family), RowsOf("245"));
  EXPECT_EQ(ShowRanges(table, Ranges({{"r1", "r3"}, {"r5", ""}}), true, 1), RowsOf("5"));
}

TEST(RowStreamTest, RowsWithoutACellToShowAreLeftOut) {
  HandmadeTable table;
  table.AddFile(
      "deleted a:q @1 = v\nempty c:q @1 = v\nfamily a:q @1 = v\nkept a:q @1 = v\nranged a:q @1 = "
      "v\n");
  table.AddMemtable("deleted DELETE\nfamily a DELETE\nonly DELETE\nranged a:q DELETE [0,max]\n");
  RowStreamOptions options = table.Options(Filter::Family("a"));
  const auto stream = table.Open(std::move(options));
  EXPECT_EQ(Show(stream.get()), "kept a:q@1=v");
  EXPECT_EQ(stream->stats().rows_returned, 1u);
  EXPECT_EQ(stream->stats().rows_seen, 1u);
  EXPECT_EQ(stream->stats().cells_seen, 1u)
      << "cells of families that nobody asked for are not read";
  EXPECT_EQ(stream->stats().cells_returned, 1u);
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, false, 0,
                       Filter::Chain(Filter::Family("a"), Filter::Family("b"))),
            "");
}

// The cells of these rows are not read, so a deleted row counts as well.
TEST(RowStreamTest, RowsThatAFilterRejectsByTheirKeyAreSeen) {
  HandmadeTable table;
  table.AddFile("a1 a:q @1 = v\na2 a:q @1 = v\nb1 a:q @1 = v\nb2 a:q @1 = v\nb3 a:q @1 = v\n");
  table.AddMemtable("b3 DELETE\n");
  const Filter ones = Filter::RowKeyRegex(".*1");
  // The second filter needs passes over a row.
  for (const Filter& filter :
       {ones, Filter::Chain(ones, Filter::Condition(Filter::ValueRegex("v"), Filter::PassAll(),
                                                    Filter::BlockAll()))}) {
    for (const bool reverse : {false, true}) {
      RowStreamOptions options = table.Options(filter);
      options.reverse = reverse;
      const auto stream = table.Open(std::move(options));
      EXPECT_EQ(Show(stream.get()), reverse ? "b1 a:q@1=v; a1 a:q@1=v" : "a1 a:q@1=v; b1 a:q@1=v");
      EXPECT_EQ(stream->stats().rows_seen, 5u) << filter;
      EXPECT_EQ(stream->stats().rows_returned, 2u) << filter;
      EXPECT_EQ(stream->stats().cells_seen, 2u) << filter;
    }
  }
  RowStreamOptions options = table.Options(ones);
  options.limit = 1;
  const auto limited = table.Open(std::move(options));
  EXPECT_EQ(Show(limited.get()), "a1 a:q@1=v");
  EXPECT_EQ(limited->stats().rows_seen, 1u) << "what follows the last row is not visited";
  const auto bounded = table.Open(table.Options(Filter::RowKeyRegex("a[13]")));
  EXPECT_EQ(Show(bounded.get()), "a1 a:q@1=v");
  EXPECT_EQ(bounded->stats().rows_seen, 2u) << "keys outside of a1 to a3 are not visited";
}

// A row is rejected before a cell of it is read, so its families do not matter. Only an SSTable
// without a cell of the passed families is not read.
TEST(RowStreamTest, RowsOfOtherFamiliesThatAFilterRejectsByTheirKeyAreSeen) {
  HandmadeTable table;
  table.AddMemtable("a1 a:q @1 = v\nb2 b:q @1 = v\nc2 a:q @1 = v\nd2 a:q @1 = v\n");
  table.Commit("d2 DELETE\n");
  HandmadeTable files;
  files.AddFile("b2 b:q @1 = v\n");
  files.AddFile("a1 a:q @1 = v\nc2 a:q @1 = v\n");
  const Filter family = Filter::Family("a");
  const Filter chain = Filter::Chain(family, Filter::RowKeyRegex(".*1"));
  const auto rows_seen = [](const HandmadeTable& of, const Filter& filter,
                            const std::string& shown) {
    const auto stream = of.Open(of.Options(filter));
    EXPECT_EQ(Show(stream.get()), shown) << filter;
    return stream->stats().rows_seen;
  };
  EXPECT_EQ(rows_seen(table, chain, "a1 a:q@1=v"), 4u) << "b2 and the deleted d2, too";
  EXPECT_EQ(rows_seen(table, family, "a1 a:q@1=v; c2 a:q@1=v"), 2u);
  EXPECT_EQ(rows_seen(files, chain, "a1 a:q@1=v"), 2u) << "the file of b2 is not read";
  EXPECT_EQ(rows_seen(files, family, "a1 a:q@1=v; c2 a:q@1=v"), 2u);
}

TEST(RowStreamTest, AFilterThatDropsWholeRowsGoesOnBehindThem) {
  HandmadeTable table;
  std::string lines;
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    lines += fmt::format("r{:03} a:{} @{} = v\n", i, i % 7 == 3 ? "wanted" : "other", i + 1);
    if (i % 7 == 3)
      expected += fmt::format("{}r{:03} a:wanted@{}=v", expected.empty() ? "" : "; ", i, i + 1);
  }
  table.AddMemtable(lines);
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, false, 0, Filter::Column("a", "wanted")),
            expected);
}

TEST(RowStreamTest, GcHidesUnlessItIsSwitchedOff) {
  HandmadeTable table;
  table.AddFile("r b:q @1 = 1\nr b:q @2 = 2\n");
  table.AddMemtable("r b:q @3 = 3\n");
  RowStreamOptions options = table.Options();
  EXPECT_EQ(Show(table, options), "r b:q@3=3 b:q@2=2");
  options.apply_gc = false;
  EXPECT_EQ(Show(table, options), "r b:q@3=3 b:q@2=2 b:q@1=1");
}

TEST(RowStreamTest, WhatIsCommittedAfterTheReadPointIsNotSeen) {
  HandmadeTable table;
  table.AddMemtable("r1 a:q @1 = old\nr2 a:q @1 = old\n");
  RowStreamOptions before = table.Options();
  table.Commit("r1 DELETE\nr2 a:q @2 = new\nr3 a:q @1 = new\n");
  EXPECT_EQ(Show(table, before), "r1 a:q@1=old; r2 a:q@1=old");
  before.ranges = {KeyRange::Single("r1"), KeyRange::Single("r3")};
  EXPECT_EQ(Show(table, before), "r1 a:q@1=old");
  EXPECT_EQ(Show(table, table.Options()), "r2 a:q@2=new a:q@1=old; r3 a:q@1=new");
}

// A row of ten cells of twenty bytes each, between two small rows.
HandmadeTable TableWithALargeRow() {
  HandmadeTable table;
  std::string lines = "a a:q @1 = v\nz a:q @1 = v\n";
  for (int i = 0; i < 10; ++i) lines += fmt::format("m a:q{:02} @1 = {:017}\n", i, i);
  table.AddMemtable(lines);
  return table;
}

TEST(RowStreamTest, ARowIsHandedOutInPiecesThatAreFullButForTheLast) {
  const HandmadeTable table = TableWithALargeRow();
  const std::vector<std::pair<uint64_t, std::string>> cells_of_pieces = {
      {1, "1+1+1+1+1+1+1+1+1+1"},
      {20, "1+1+1+1+1+1+1+1+1+1"},
      {21, "2+2+2+2+2"},
      {60, "3+3+3+1"},
      {180, "9+1"},
      {181, "10"},
      {200, "10"}};
  for (const auto& [piece_bytes, expected] : cells_of_pieces) {
    RowStreamOptions options = table.Options();
    options.piece_bytes = piece_bytes;
    const auto stream = table.Open(std::move(options));
    std::string seen;
    int next_cell = 0;
    while (stream->Next()) {
      if (stream->row().row_key() != "m") {
        EXPECT_TRUE(stream->row().is_last_piece());
        continue;
      }
      for (const CellView& cell : stream->row().cells())
        EXPECT_EQ(cell.qualifier(), fmt::format("q{:02}", next_cell++));
      seen += fmt::format("{}{}", stream->row().cells().size(),
                          stream->row().is_last_piece() ? "" : "+");
    }
    EXPECT_EQ(stream->status(), absl::OkStatus());
    EXPECT_EQ(seen, expected) << piece_bytes;
    EXPECT_EQ(next_cell, 10);
    EXPECT_EQ(stream->stats().rows_returned, 3u) << "a row in pieces counts once";
    EXPECT_EQ(stream->stats().cells_returned, 12u);
  }
}

TEST(RowStreamTest, APieceIsTheLastWhenNoFurtherCellPasses) {
  const HandmadeTable table = TableWithALargeRow();
  RowStreamOptions options =
      table.Options(Filter::ColumnRange("a", ByteRange::RightOpen("q00", "q03")));
  options.ranges = {KeyRange::Single("m")};
  options.piece_bytes = 60;
  EXPECT_EQ(Show(table, options),
            "m a:q00@1=00000000000000000 a:q01@1=00000000000000001 a:q02@1=00000000000000002");
}

TEST(RowStreamTest, TheLimitLetsTheLastRowEnd) {
  const HandmadeTable table = TableWithALargeRow();
  RowStreamOptions options = table.Options();
  options.limit = 2;
  options.piece_bytes = 100;
  EXPECT_EQ(Show(table, options),
            "a a:q@1=v; "
            "m a:q00@1=00000000000000000 a:q01@1=00000000000000001 a:q02@1=00000000000000002 "
            "a:q03@1=00000000000000003 "
            "a:q04@1=00000000000000004 +; "
            "m a:q05@1=00000000000000005 a:q06@1=00000000000000006 a:q07@1=00000000000000007 "
            "a:q08@1=00000000000000008 "
            "a:q09@1=00000000000000009");
}

// Thousands of cells in several sources: partial rows end inside batches, and batches inside
// partial rows.
TEST(RowStreamTest, AGiantRowOfSeveralSourcesComesWhole) {
  HandmadeTable table;
  constexpr int kCells = 3000;
  for (int source = 0; source < 3; ++source) {
    std::string lines;
    for (int i = source; i < kCells; i += 3)
      lines += fmt::format("giant a:q{:05} @{} = value {}\n", i, i + 1, i);
    if (source == 2) {
      table.AddMemtable(lines);
    } else {
      table.AddFile(lines);
    }
  }
  for (const uint64_t piece_bytes :
       {uint64_t{1}, uint64_t{1000}, uint64_t{5000}, uint64_t{1} << 20}) {
    for (const bool half : {false, true}) {
      RowStreamOptions options = table.Options(
          half ? Filter::ColumnRange("a", ByteRange::StartingAt("q01500")) : Filter());
      options.piece_bytes = piece_bytes;
      const auto stream = table.Open(std::move(options));
      int next_cell = half ? 1500 : 0;
      bool ended = false;
      while (stream->Next()) {
        ASSERT_FALSE(ended) << "a piece behind the last";
        ended = stream->row().is_last_piece();
        for (const CellView& cell : stream->row().cells()) {
          ASSERT_EQ(cell.qualifier(), fmt::format("q{:05}", next_cell));
          ASSERT_EQ(cell.value(), fmt::format("value {}", next_cell++));
        }
      }
      EXPECT_EQ(stream->status(), absl::OkStatus());
      EXPECT_TRUE(ended);
      EXPECT_EQ(next_cell, kCells);
    }
  }
}

// No cell passes for many batches between the first and the last one.
TEST(RowStreamTest, ADesertInAGiantRowIsCrossed) {
  HandmadeTable table;
  std::string lines = "giant a:first @7 = v\n";
  for (int i = 0; i < 20'000; ++i) lines += fmt::format("giant a:m{:05} @1 = {}\n", i, i);
  table.AddFile(lines + "giant a:z @7 = w\n");
  const Filter filter = Filter::TimestampRange(TimestampRange{.start = Timestamp::FromMicros(5)});
  EXPECT_EQ(ShowRanges(table, {KeyRange::All()}, false, 0, filter), "giant a:first@7=v a:z@7=w");
}

TEST(RowStreamTest, AStopTokenEndsTheReadBetweenRowsAndPieces) {
  const HandmadeTable table = TableWithALargeRow();
  for (const int pieces_before : {0, 1, 2, 3}) {
    std::stop_source source;
    RowStreamOptions options = table.Options();
    options.piece_bytes = 60;
    options.interruption.stop = source.get_token();
    const auto stream = table.Open(std::move(options));
    for (int i = 0; i < pieces_before; ++i) ASSERT_TRUE(stream->Next());
    source.request_stop();
    EXPECT_FALSE(stream->Next());
    EXPECT_TRUE(absl::IsCancelled(stream->status())) << stream->status();
    EXPECT_TRUE(stream->row().cells().empty());
    EXPECT_FALSE(stream->Next()) << "an error stays";
  }
}

TEST(RowStreamTest, ClosingTheDatabaseEndsTheRead) {
  const HandmadeTable table = TenRows();
  auto closed = std::make_shared<std::atomic<bool>>(false);
  RowStreamOptions options = table.Options();
  options.interruption.closed = closed;
  const auto stream = table.Open(std::move(options));
  ASSERT_TRUE(stream->Next());
  closed->store(true);
  EXPECT_FALSE(stream->Next());
  EXPECT_TRUE(absl::IsFailedPrecondition(stream->status())) << stream->status();
}

TEST(RowStreamTest, ADeadlineThatPassedEndsTheRead) {
  const HandmadeTable table = TenRows();
  RowStreamOptions options = table.Options();
  options.interruption.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(Show(table, options), "DEADLINE_EXCEEDED");
}

TEST(RowStreamTest, ADeadlineThatPassesMeanwhileIsNoticed) {
  HandmadeTable table;
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += fmt::format("r{:03} a:q @1 = v\n", i);
  table.AddMemtable(lines);
  RowStreamOptions options = table.Options();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  options.interruption.deadline = deadline;
  const auto stream = table.Open(std::move(options));
  int rows = stream->Next() ? 1 : 0;  // none on a machine that needed more time for this
  while (std::chrono::steady_clock::now() < deadline) {
  }
  while (stream->Next()) ++rows;
  EXPECT_TRUE(absl::IsDeadlineExceeded(stream->status())) << stream->status();
  EXPECT_LT(rows, 500);
}

// Makes each read fail in turn. The rows before it are correct, the error is returned, and nothing
// follows it. A failed readahead may go unnoticed: the stream then reads less.
TEST(RowStreamTest, AFailureInTheMiddleOfASourceIsTold) {
  HandmadeTable table({"r10"});
  Random random(1);
  std::string newer;
  std::string older;
  for (int i = 0; i < 20; ++i) {
    const int cells = i == 12 ? 600 : 3;
    for (int j = 0; j < cells; ++j) {
      // Incompressible, so that the row takes many reads.
      const std::string value =
          fmt::format("{:016x}{:016x}{:016x}", random.Next(), random.Next(), random.Next());
      (j % 2 == 0 ? newer : older) += fmt::format("r{:02} a:q{:04} @1 = {}\n", i, j, value);
    }
  }
  table.AddFile(older);
  table.AddFile(newer);
  for (const bool reverse : {false, true}) {
    for (const std::vector<KeyRange>& ranges :
         {std::vector<KeyRange>{KeyRange::All()}, std::vector<KeyRange>{KeyRange::Single("r12")}}) {
      RowStreamOptions options = table.Options();
      options.reverse = reverse;
      options.ranges = ranges;
      options.piece_bytes = 6000;
      const uint64_t reads_before = table.files().reads();
      const std::string expected = Show(table, options);
      const uint64_t reads = table.files().reads() - reads_before;
      ASSERT_GT(reads, 4u);
      uint64_t told = 0;
      for (uint64_t at = 1; at <= reads; ++at) {
        table.files().FailKind(CallKind::kRead, at, {.error_number = EIO});
        const std::string seen = Show(table, options);
        table.files().ClearFaults();
        if (seen == expected) continue;
        ++told;
        ASSERT_GE(seen.size(), 11u) << at;
        ASSERT_EQ(seen.substr(seen.size() - 11), "UNAVAILABLE") << "read " << at << " failed";
        // All parts are complete and correct. The last one also says whether more follows.
        const std::string before = seen.substr(0, seen.size() - 11);
        ASSERT_EQ((expected + "; ").substr(0, before.size()), before) << "read " << at << " failed";
      }
      EXPECT_GT(told, 0u);
    }
  }
}

}  // namespace
}  // namespace stele::internal
