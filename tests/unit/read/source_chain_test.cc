// Tests OpenChain: the sources that reads of a tablet use, and the visible part of each.
#include "read/source_chain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "support/cell_text.h"
#include "support/read_fixture.h"

namespace stele::internal {
namespace {

constexpr char kNothing[] = "no source";

std::string Read(const HandmadeTable& table, size_t tablet_index, ChainOptions options) {
  options.sequence = table.sequence();
  const auto chain = OpenChain(table.view(), table.view().tablets[tablet_index], options);
  if (!chain.ok()) return std::string(ToStd(chain.status().message()));
  if (*chain == nullptr) return kNothing;
  const std::string text = PrintAll(chain->get());
  return text + std::string(ToStd((*chain)->status().message()));
}

// Returns the result of a cursor tree for this row alone.
std::string ReadRowAlone(const HandmadeTable& table, std::string_view row_key) {
  ChainOptions options{.sequence = table.sequence(), .only_row = row_key};
  const auto chain =
      OpenChain(table.view(), table.view().tablets[TabletIndexOf(table.view(), row_key)], options);
  if (!chain.ok()) return std::string(ToStd(chain.status().message()));
  if (*chain == nullptr) return kNothing;
  if (!(*chain)->SeekRow(row_key) || (*chain)->row_key() != row_key) return "no such row";
  std::string text;
  std::vector<Cell> cells;
  while ((*chain)->ReadCells(&cells)) {
  }
  for (const Cell& cell : cells) text += PrintCell(row_key, cell) + "\n";
  return text;
}

TEST(SourceChainTest, TabletsAreFoundByTheirBounds) {
  const HandmadeTable table({"c", "f"});
  const std::vector<std::pair<std::string, size_t>> places = {
      {"", 0}, {"a", 0}, {"bzz", 0}, {"c", 1}, {"e", 1}, {"f", 2}, {"z", 2}};
  for (const auto& [row_key, index] : places)
    EXPECT_EQ(TabletIndexOf(table.view(), row_key), index) << row_key;
}

TEST(SourceChainTest, ATabletShowsItsRowsOnly) {
  HandmadeTable table({"c"});
  table.AddFile("a a:q @1 = file\nb a:q @1 = file\nc a:q @1 = file\nd a:q @1 = file\n");
  table.AddMemtable("b a:q @2 = memory\nc a:q @2 = memory\n");
  EXPECT_EQ(Read(table, 0, {}), "a a:q @1 = file\nb a:q @2 = memory\nb a:q @1 = file\n");
  EXPECT_EQ(Read(table, 1, {}), "c a:q @2 = memory\nc a:q @1 = file\nd a:q @1 = file\n");
  EXPECT_EQ(Read(table, 1, {.direction = Direction::kReverse}),
            "d a:q @1 = file\nc a:q @2 = memory\nc a:q @1 = file\n");
}

TEST(SourceChainTest, NewerSourcesComeBeforeOlderOnes) {
  HandmadeTable table;
  table.AddFile("r a:q @1 = oldest\n");
  table.AddFile("r a:q @1 = older\n");
  table.AddMemtable("r a:q @1 = newer\n");
  EXPECT_EQ(Read(table, 0, {}), "r a:q @1 = newer\n");
  table.AddMemtable("r a:q @1 = newest\n");
  EXPECT_EQ(Read(table, 0, {}), "r a:q @1 = newest\n");
  EXPECT_EQ(ReadRowAlone(table, "r"), "r a:q @1 = newest\n");
}

// The rows that a drop left of a file, in a scan and by key.
TEST(SourceChainTest, RowsOutsideANarrowedReferenceDoNotShow) {
  HandmadeTable table;
  table.AddFile("a a:q @1 = v\nb a:q @1 = v\nc a:q @1 = v\nd a:q @1 = v\n", {"b", "d", false});
  EXPECT_EQ(Read(table, 0, {}), "b a:q @1 = v\nc a:q @1 = v\n");
  EXPECT_EQ(Read(table, 0, {.direction = Direction::kReverse}), "c a:q @1 = v\nb a:q @1 = v\n");
  EXPECT_EQ(ReadRowAlone(table, "a"), kNothing);
  EXPECT_EQ(ReadRowAlone(table, "b"), "b a:q @1 = v\n");
  EXPECT_EQ(ReadRowAlone(table, "d"), kNothing);
}

TEST(SourceChainTest, ARowAloneOpensOnlyWhatMayHaveIt) {
  HandmadeTable table;
  table.AddFile("b a:q @1 = v\nd a:q @1 = v\n");
  for (const char* row : {"b", "d"})
    EXPECT_EQ(ReadRowAlone(table, row), fmt::format("{} a:q @1 = v\n", row))
        << "a file's first and last row";
  for (const char* row : {"a", "e"})
    EXPECT_EQ(ReadRowAlone(table, row), kNothing) << "outside of the file";
  CursorStats stats;
  ChainOptions options{.sequence = table.sequence(), .stats = &stats, .only_row = "d"};
  ASSERT_TRUE((*OpenChain(table.view(), table.view().tablets[0], options))->SeekRow("d"));
  EXPECT_GT(stats.blocks, 0u);
}

// Engine rule 12: a bloom filter contains the rows of tombstones.
TEST(SourceChainTest, ATombstoneOfANewerFileIsFoundByKey) {
  HandmadeTable table;
  table.AddFile("a a:q @1 = v\nb a:q @1 = old\nc a:q @1 = v\n");
  table.AddFile("a a:q @2 = v\nb DELETE\nc a:q @2 = v\n");
  EXPECT_EQ(ReadRowAlone(table, "b"), "b DELETE\n");
  RowStreamOptions options = table.Options();
  options.ranges = {KeyRange::Single("b")};
  EXPECT_EQ(Show(table, std::move(options)), "");
}

// Engine rule 12: skipping a family skips its cells, but never the tombstones of whole rows.
TEST(SourceChainTest, UnwantedFamiliesAreLeftOutAndTombstonesOfRowsAreNot) {
  HandmadeTable table;
  table.AddFile("r a:q @1 = v\nr b:q @1 = v\nr c:q @1 = v\ns a:q @1 = v\ns b:q @1 = v\n");
  table.AddMemtable("s DELETE\ns a:q @2 = v\n");
  EXPECT_EQ(Read(table, 0, {.wanted_families = {false, true, false, false}}),
            "r b:q @1 = v\ns DELETE\n");
  RowStreamOptions options = table.Options(Filter::Family("b"));
  EXPECT_EQ(Show(table, std::move(options)), "r b:q@1=v");
}

TEST(SourceChainTest, AFileThatCannotBeOpenedFailsReadsOfItsRowsOnly) {
  HandmadeTable table({"m"});
  table.AddFile("a a:q @1 = v\nz a:q @1 = v\n");
  table.AddLostFile("p a:q @1 = v\nq a:q @1 = v\n", Unavailable("no descriptor left"));
  EXPECT_EQ(Read(table, 0, {}), "a a:q @1 = v\n");
  EXPECT_EQ(Read(table, 1, {}), "no descriptor left");
  EXPECT_EQ(ReadRowAlone(table, "p"), "no descriptor left");
  EXPECT_EQ(ReadRowAlone(table, "z"), "z a:q @1 = v\n");
  RowStreamOptions options = table.Options();
  EXPECT_EQ(Show(table, std::move(options)), "a a:q@1=v; UNAVAILABLE");
}

// Files that do not overlap are one source, and only the file in the read set is opened.
TEST(SourceChainTest, AFileOfARunThatCannotBeOpenedFailsWhereItIsComeTo) {
  HandmadeTable table;
  table.AddFile("a a:q @1 = v\nb a:q @1 = v\n");
  table.AddLostFile("p a:q @1 = v\nq a:q @1 = v\n", Unavailable("no descriptor left"));
  table.AddFile("y a:q @1 = v\nz a:q @1 = v\n");
  RowStreamOptions behind = table.Options();
  behind.ranges = {{"r", "", true}};
  EXPECT_EQ(Show(table, std::move(behind)), "y a:q@1=v; z a:q@1=v");
  RowStreamOptions all = table.Options();
  EXPECT_EQ(Show(table, std::move(all)), "a a:q@1=v; b a:q@1=v; UNAVAILABLE");
  RowStreamOptions reversed = table.Options();
  reversed.reverse = true;
  EXPECT_EQ(Show(table, std::move(reversed)), "z a:q@1=v; y a:q@1=v; UNAVAILABLE");
}

// Rows that a drop took from the file before it was lost: [b, d) is left of rows a to z.
TEST(SourceChainTest, ALostFileHasNoRowsOutsideOfANarrowedReference) {
  HandmadeTable table;
  table.AddLostFile("a a:q @1 = v\nz a:q @1 = v\n", Unavailable("no descriptor left"),
                    {"b", "d", false});
  table.AddFile("a a:q @1 = v\nc a:q @1 = v\nd a:q @1 = v\ne a:q @1 = v\n");
  const auto scan = [&table](const KeyRange& range, bool reverse) {
    RowStreamOptions options = table.Options();
    options.ranges = {range};
    options.reverse = reverse;
    return Show(table, std::move(options));
  };
  EXPECT_EQ(scan({"d", "", true}, false), "d a:q@1=v; e a:q@1=v");
  EXPECT_EQ(scan({"d", "", true}, true), "e a:q@1=v; d a:q@1=v");
  EXPECT_EQ(scan({"", "b", false}, false), "a a:q@1=v");
  EXPECT_EQ(scan({"", "b", false}, true), "a a:q@1=v");
  EXPECT_EQ(scan(KeyRange::All(), false), "a a:q@1=v; UNAVAILABLE");
  EXPECT_EQ(scan(KeyRange::All(), true), "e a:q@1=v; d a:q@1=v; UNAVAILABLE");
  EXPECT_EQ(scan({"c", "d", false}, false), "UNAVAILABLE");
  EXPECT_EQ(scan({"c", "d", false}, true), "UNAVAILABLE");
}

TEST(SourceChainTest, RunsKeepRecencyWhereverTheirFilesStand) {
  HandmadeTable table;
  table.AddFile("a a:q @1 = 1\nm a:q @1 = 1\nz a:q @1 = 1\n");
  table.AddFile("a a:q @1 = 2\nb a:q @1 = 2\n");
  table.AddFile("m a:q @1 = 3\nn a:q @1 = 3\n");
  table.AddFile("b a:q @1 = 4\nc a:q @1 = 4\n", {"b", "c", false});
  table.AddFile("y a:q @1 = 5\nz DELETE\n");
  const std::string rows =
      "a a:q @1 = 2\nb a:q @1 = 4\nm a:q @1 = 3\nn a:q @1 = 3\ny a:q @1 = 5\nz DELETE\n";
  EXPECT_EQ(Read(table, 0, {}), rows);
  EXPECT_EQ(Read(table, 0, {.direction = Direction::kReverse}),
            "z DELETE\ny a:q @1 = 5\nn a:q @1 = 3\nm a:q @1 = 3\nb a:q @1 = 4\na a:q @1 = 2\n");
}

TEST(SourceChainTest, ARowIsDoneAfterItsLastCells) {
  HandmadeTable table;
  table.AddFile("r a:q @1 = v\nr a:r @1 = v\ns a:q @1 = v\n");
  for (const bool has_retention : {false, true}) {
    ChainOptions options{.sequence = table.sequence()};
    if (has_retention) options.retention.emplace();
    const auto chain = *OpenChain(table.view(), table.view().tablets[0], options);
    size_t rows = 0;
    for (bool found = chain->SeekToEdge(); found; found = chain->NextRow(), ++rows) {
      std::vector<Cell> cells;
      EXPECT_FALSE(chain->IsRowDone()) << chain->row_key();
      EXPECT_TRUE(chain->ReadCells(&cells));
      EXPECT_TRUE(chain->IsRowDone()) << chain->row_key();
    }
    EXPECT_EQ(rows, 2u);
  }
}

// Returns the rows of a table with these files, oldest first. Family a keeps one version, and
// family b those from @1000000 on.
std::string ShowKept(const std::vector<std::string>& files, const std::string& memtable = "") {
  HandmadeTable table({}, {GcRule::MaxNumVersions(1), GcRule::MaxAge(std::chrono::seconds(1))});
  for (const std::string& file : files) table.AddFile(file);
  if (!memtable.empty()) table.AddMemtable(memtable);
  return Show(table, table.Options({}, /*now=*/2'000'000));
}

// A read of one sorted run needs no retention if it would remove nothing. Each of these tables has
// one reason for which it would.
TEST(SourceChainTest, WhateverRetentionRemovesIsNotShown) {
  EXPECT_EQ(ShowKept({"r a:q @1 = v\nr b:q @1000000 = v\ns a:q @2 = v\n"}),
            "r a:q@1=v b:q@1000000=v; s a:q@2=v")
      << "nothing is removed";
  EXPECT_EQ(ShowKept({"r a:q @1 = v\n", "s a:q @1 = v\n"}), "r a:q@1=v; s a:q@1=v") << "nothing";
  EXPECT_EQ(ShowKept({"r a:q @2 = new\nr a:q @1 = old\n"}), "r a:q@2=new") << "versions";
  EXPECT_EQ(ShowKept({"r a:q @1 = v\n", "s a:q @2 = new\ns a:q @1 = old\n"}),
            "r a:q@1=v; s a:q@2=new")
      << "versions in a later file of the run";
  EXPECT_EQ(ShowKept({"r b:q @999999 = old\nr b:r @1000000 = v\n"}), "r b:r@1000000=v") << "age";
  EXPECT_EQ(ShowKept({"r DELETE\nr a:q @1 = v\ns DELETE\n"}), "r a:q@1=v") << "tombstones of rows";
  EXPECT_EQ(ShowKept({"r a:q @1 = v\nr b DELETE\ns c DELETE\n"}), "r a:q@1=v") << "of families";
  EXPECT_EQ(ShowKept({"r a:q @1 = old\n", "r a:q @2 = new\n"}), "r a:q@2=new") << "two runs";
  EXPECT_EQ(ShowKept({"r a:q @1 = old\n"}, "r a:q @2 = new\n"), "r a:q@2=new") << "a memtable";
}

// The same for a row that one of several sources has.
TEST(SourceChainTest, WhateverRetentionRemovesOfARowOfOneSourceIsNotShown) {
  const std::string around = "a a:q @1 = v\nz a:q @1 = v\n";
  const std::string inside = "m a:q @1 = v\n";
  EXPECT_EQ(ShowKept({around, inside}, "n a:q @1 = v\n"),
            "a a:q@1=v; m a:q@1=v; n a:q@1=v; z a:q@1=v")
      << "nothing is removed";
  const std::vector<std::string> rows_with_garbage = {
      "r a:q @2 = new\nr a:q @1 = old\n",                   // versions
      "r a:q @2 = new\nr b:q @999999 = old\n",              // age
      "n DELETE\nr a:q @2 = new\n",                         // a row's tombstone
      "r a:q @2 = new\nr b DELETE\n",                       // a family's
      "r a:q @2 = new\nr a:q DELETE [1,1]\n",               // a range's
      "r b:r @999999 = old\nn a DELETE\nr a:q @2 = new\n",  // two reasons
  };
  for (const std::string& rows : rows_with_garbage) {
    const std::string shown = "a a:q@1=v; m a:q@1=v; r a:q@2=new; z a:q@1=v";
    EXPECT_EQ(ShowKept({around, inside}, rows), shown) << "in a memtable: " << rows;
    EXPECT_EQ(ShowKept({around, inside, rows}), shown) << "in a later file of a run: " << rows;
    EXPECT_EQ(ShowKept({around, rows, "j a:q @1 = v\nx a:q @1 = v\n"}),
              "a a:q@1=v; j a:q@1=v; r a:q@2=new; x a:q@1=v; z a:q@1=v")
        << "in a file: " << rows;
  }
}

// A memtable returns one version of each column to such a read.
TEST(SourceChainTest, OfAMemtableTheNewestVersionIsShown) {
  HandmadeTable table({}, std::vector<GcRule>(4, GcRule::MaxNumVersions(1)));
  table.AddFile("a a:q @1 = v\n");
  table.AddMemtable("m a:q @1 = old\nm b:q @1 = v\n");
  table.Commit("m a:q @2 = new\nn a:q @1 = v\n");
  EXPECT_EQ(Show(table, table.Options()), "a a:q@1=v; m a:q@2=new b:q@1=v; n a:q@1=v");
  table.Commit("n a:q DELETE [2,2]\nn a:q @2 = newer\n");
  EXPECT_EQ(Show(table, table.Options()), "a a:q@1=v; m a:q@2=new b:q@1=v; n a:q@2=newer");
}

TEST(SourceChainTest, NoSourceIsNoChain) {
  HandmadeTable table({"m"});
  EXPECT_EQ(Read(table, 0, {}), kNothing);
  table.AddFile("a a:q @1 = v\n");
  EXPECT_EQ(Read(table, 1, {}), kNothing);
}

}  // namespace
}  // namespace stele::internal
