// Tests the sorted runs that installs write: single cases, and random histories against a model
// that knows the files of each row.
#include "manifest/stack_edits.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "base/status.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

std::string Text(const std::vector<TabletEdit>& edits) {
  Edit edit;
  edit.tables.emplace_back().tablets = edits;
  const std::string text = EditText(edit);
  return text.substr(text.find("  table 0\n") + 10);
}

class StackTest : public ::testing::Test {
 protected:
  StackTest() {
    Edit edit;
    edit.tables.push_back(
        NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}}), {"h", "p"}));
    edit.last_sequence = 2000;
    edit.next_file_number = 1000;
    edit.next_table_id = 2;
    edit.next_family_id = 2;
    Take(edit);
  }
  const TableState& table() const { return *version_->tables.at(1); }
  void Take(const Edit& edit) {
    const auto next = Apply(*version_, edit);
    ASSERT_TRUE(next.ok()) << next.status();
    version_ = *next;
    const absl::Status checked = CheckVersion(*version_);
    ASSERT_TRUE(checked.ok()) << checked << "\n" << VersionText(*version_);
  }
  void Take(std::vector<TabletEdit> tablets, std::vector<SstableFile> files = {}) {
    Edit edit;
    edit.new_files = std::move(files);
    edit.tables.push_back({.table_id = 1, .tablets = std::move(tablets)});
    Take(edit);
  }
  void Flush(uint64_t number, const std::string& first, const std::string& last,
             uint64_t sequence) {
    const SstableFile file = TestFile(number, first, last);
    Take(InstallFlush(table(), file, sequence, sequence + 4), {file});
  }
  std::shared_ptr<const Version> version_ = std::make_shared<const Version>();
};

TEST_F(StackTest, AFlushIsSharedByTheTabletsItsRowsTouch) {
  EXPECT_EQ(Text(InstallFlush(table(), TestFile(5, "c", "k"), 1, 5)),
            "    tablet [\"\", \"h\")\n      file 5 [\"c\", \"h\") sequences 1-5\n"
            "    tablet [\"h\", \"p\")\n      file 5 [\"h\", \"k\\x00\") sequences 1-5\n");
  EXPECT_EQ(Text(InstallFlush(table(), TestFile(5, "p", "p"), 1, 5)),
            "    tablet [\"p\", end)\n      file 5 [\"p\", \"p\\x00\") sequences 1-5\n");
}

TEST_F(StackTest, TheNewestComesFirst) {
  Flush(5, "a", "b", 1);
  EXPECT_EQ(Text(InstallFlush(table(), TestFile(6, "b", "c"), 6, 7)),
            "    tablet [\"\", \"h\")\n      file 6 [\"b\", \"c\\x00\") sequences 6-7\n      file "
            "5 [\"a\", \"b\\x00\") sequences 1-5\n");
}

TEST_F(StackTest, AnExcisionDropsNarrowsAndCuts) {
  Flush(5, "a", "b", 1);   // before the gap
  Flush(6, "c", "d", 11);  // inside
  Flush(7, "a", "g", 21);  // cut in the middle
  Flush(8, "d", "z", 31);  // narrowed, and shared with the other tablets
  const std::vector<TabletEdit> edits = Excise(table(), KeyRange{"c", "e", false});
  EXPECT_EQ(Text(edits),
            "    tablet [\"\", \"h\")\n"
            "      file 8 [\"e\", \"h\") sequences 31-35\n"
            "      file 7 [\"a\", \"c\") sequences 21-25\n"
            "      file 7 [\"e\", \"g\\x00\") sequences 21-25\n"
            "      file 5 [\"a\", \"b\\x00\") sequences 1-5\n");
  Take(edits);
  EXPECT_TRUE(Excise(table(), KeyRange{"c", "e", false}).empty()) << "nothing is left there";
  EXPECT_TRUE(Excise(table(), KeyRange{"c", "c", false}).empty());
  Take(Excise(table(), KeyRange::All()));
  EXPECT_TRUE(version_->Files().empty());
}

TEST_F(StackTest, APieceWithoutARowOfTheFileIsNotKept) {
  Flush(5, "b", "d", 1);
  Take(Excise(table(), KeyRange{"a", "d", false}));
  EXPECT_EQ(Text(Excise(table(), KeyRange{"d", "e", false})), "    tablet [\"\", \"h\")\n");
}

TEST_F(StackTest, ACompactionTakesItsInputsPlace) {
  for (uint64_t i = 0; i < 4; ++i) Flush(5 + i, "a", "c", 1 + 10 * i);
  const Tablet& tablet = table().tablets[0];
  const std::vector<SstableReference> middle(tablet.stack.begin() + 1, tablet.stack.begin() + 3);
  const auto merged = InstallCompaction(table(), tablet.range, middle, TestFile(20, "b", "c"));
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(Text({*merged}),
            "    tablet [\"\", \"h\")\n"
            "      file 8 [\"a\", \"c\\x00\") sequences 31-35\n"
            "      file 20 [\"b\", \"c\\x00\") sequences 11-25\n"
            "      file 5 [\"a\", \"c\\x00\") sequences 1-5\n");
  const auto emptied = InstallCompaction(table(), tablet.range, tablet.stack, std::nullopt);
  ASSERT_TRUE(emptied.ok());
  EXPECT_TRUE(emptied->stack.empty());
}

TEST_F(StackTest, ACompactionWhoseInputsMovedIsRefused) {
  for (uint64_t i = 0; i < 3; ++i) Flush(5 + i, "a", "c", 1 + 10 * i);
  const KeyRange range = table().tablets[0].range;
  const std::vector<SstableReference> all = table().tablets[0].stack;
  const std::vector<SstableReference> newest(all.begin(), all.begin() + 2);
  const std::vector<SstableReference> gap = {all[0], all[2]};
  EXPECT_TRUE(
      absl::IsFailedPrecondition(InstallCompaction(table(), range, gap, std::nullopt).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      InstallCompaction(table(), KeyRange::All(), newest, std::nullopt).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(InstallCompaction(table(), range, {}, std::nullopt).status()));
  Flush(9, "a", "c", 41);
  const SstableFile output = TestFile(20, "a", "c");
  const auto installed = InstallCompaction(table(), range, newest, output);
  ASSERT_TRUE(installed.ok()) << "a newer flush is no obstacle";
  Take({*installed}, {output});
  EXPECT_TRUE(
      absl::IsFailedPrecondition(InstallCompaction(table(), range, newest, std::nullopt).status()))
      << "replaced";
  EXPECT_TRUE(absl::IsFailedPrecondition(InstallMetadataMerge(table(), range, newest).status()))
      << "replaced";
}

TEST_F(StackTest, ACompactionShowsWhatDropsLeftOfItsInputs) {
  Flush(5, "a", "c", 1);
  Flush(6, "e", "g", 11);
  const Tablet before = table().tablets[0];
  const SstableFile output = TestFile(20, "a", "g");
  // File 5 loses its end, and with it a range without its rows. File 6 has rows there and keeps
  // them.
  Take(Excise(table(), KeyRange{"b", "d", false}));
  Take(Excise(table(), KeyRange{"f", "fm", false}));
  Flush(7, "a", "g", 21);
  const auto installed = InstallCompaction(table(), before.range, before.stack, output);
  ASSERT_TRUE(installed.ok()) << installed.status();
  EXPECT_EQ(Text({*installed}),
            "    tablet [\"\", \"h\")\n"
            "      file 7 [\"a\", \"g\\x00\") sequences 21-25\n"
            "      file 20 [\"a\", \"b\") sequences 1-15\n"
            "      file 20 [\"c\\x00\", \"f\") sequences 1-15\n"
            "      file 20 [\"fm\", \"g\\x00\") sequences 1-15\n");
  Take(Excise(table(), KeyRange{"e", "h", false}));
  EXPECT_EQ(Text({*InstallCompaction(table(), before.range, before.stack, output)}),
            "    tablet [\"\", \"h\")\n"
            "      file 7 [\"a\", \"e\") sequences 21-25\n"
            "      file 20 [\"a\", \"b\") sequences 1-15\n");
  Take(Excise(table(), KeyRange{"a", "b", false}));
  const auto emptied = InstallCompaction(table(), before.range, before.stack, output);
  ASSERT_TRUE(emptied.ok()) << emptied.status();
  EXPECT_EQ(Text({*emptied}),
            "    tablet [\"\", \"h\")\n      file 7 [\"b\", \"e\") sequences 21-25\n");
}

TEST_F(StackTest, AnIntervalIsNotDivided) {
  Flush(5, "a", "g", 1);
  Flush(6, "a", "g", 11);
  Take(Excise(table(), KeyRange{"c", "d", false}));  // two references each
  const Tablet& tablet = table().tablets[0];
  ASSERT_EQ(tablet.stack.size(), 4u);
  const std::vector<SstableReference> three(tablet.stack.begin(), tablet.stack.begin() + 3);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      InstallCompaction(table(), tablet.range, three, TestFile(20, "a", "g")).status()));
  EXPECT_TRUE(InstallCompaction(table(), tablet.range, tablet.stack, TestFile(20, "a", "g")).ok());
  // A reference has its rows for itself: no other reference with its commits is between them.
  const std::vector<SstableReference> last(tablet.stack.begin() + 3, tablet.stack.end());
  EXPECT_TRUE(InstallCompaction(table(), tablet.range, last, TestFile(20, "d", "g")).ok());
}

TEST_F(StackTest, AMoveJoinsWhatLiesApart) {
  Flush(5, "e", "f", 1);
  Flush(6, "a", "b", 11);
  Flush(7, "c", "d", 21);
  Flush(8, "a", "b", 31);
  const Tablet& tablet = table().tablets[0];
  const std::vector<SstableReference> three(tablet.stack.begin() + 1, tablet.stack.end());
  const auto edit = InstallMetadataMerge(table(), tablet.range, three);
  ASSERT_TRUE(edit.ok()) << edit.status();
  EXPECT_EQ(Text({*edit}),
            "    tablet [\"\", \"h\")\n      file 8 [\"a\", \"b\\x00\") sequences 31-35\n"
            "      file 6 [\"a\", \"b\\x00\") sequences 1-25\n      file 7 [\"c\", \"d\\x00\") "
            "sequences 1-25\n"
            "      file 5 [\"e\", \"f\\x00\") sequences 1-25\n");
  // Two of the files have rows in common: one hides the other, and only their commits determine
  // which.
  EXPECT_TRUE(
      absl::IsInvalidArgument(InstallMetadataMerge(table(), tablet.range, tablet.stack).status()));
  const std::shared_ptr<const Version> unmoved = version_;
  Take({*edit});
  EXPECT_TRUE(absl::IsFailedPrecondition(
      InstallMetadataMerge(table(), table().tablets[0].range, three).status()))
      << "they were moved already";
  version_ = unmoved;
  Take(Excise(table(), KeyRange{"aa", "b", false}));
  const auto narrowed = InstallMetadataMerge(table(), table().tablets[0].range, three);
  ASSERT_TRUE(narrowed.ok()) << narrowed.status();
  EXPECT_EQ(Text({*narrowed}),
            "    tablet [\"\", \"h\")\n"
            "      file 8 [\"a\", \"aa\") sequences 31-35\n      file 8 [\"b\", \"b\\x00\") "
            "sequences 31-35\n"
            "      file 6 [\"a\", \"aa\") sequences 1-25\n      file 6 [\"b\", \"b\\x00\") "
            "sequences 1-25\n"
            "      file 7 [\"c\", \"d\\x00\") sequences 1-25\n      file 5 [\"e\", \"f\\x00\") "
            "sequences 1-25\n");
}

TEST_F(StackTest, ADropTakesJustWhatItNames) {
  for (uint64_t i = 0; i < 3; ++i) Flush(5 + i, "a", "c", 1 + 10 * i);
  const Tablet& tablet = table().tablets[0];
  const std::vector<SstableReference> ends = {tablet.stack[0], tablet.stack[2]};
  const auto edit = InstallDrop(table(), tablet.range, ends);
  ASSERT_TRUE(edit.ok());
  EXPECT_EQ(Text({*edit}),
            "    tablet [\"\", \"h\")\n      file 6 [\"a\", \"c\\x00\") sequences 11-15\n");
  std::vector<SstableReference> wider = ends;
  wider[0].range = KeyRange{"b", wider[0].range->end, wider[0].range->unbounded_end};
  EXPECT_TRUE(absl::IsFailedPrecondition(InstallDrop(table(), tablet.range, wider).status()));
  Take(Excise(table(), KeyRange{"b", "bm", false}));
  EXPECT_EQ(Text({*InstallDrop(table(), table().tablets[0].range, ends)}),
            "    tablet [\"\", \"h\")\n      file 6 [\"a\", \"b\") sequences 11-15\n"
            "      file 6 [\"bm\", \"c\\x00\") sequences 11-15\n");
}

TEST_F(StackTest, ASplitNarrowsAndLeavesOutWhatAHalfDoesNotShow) {
  Flush(5, "a", "b", 1);
  Flush(6, "a", "g", 11);
  Flush(7, "d", "f", 21);
  const auto halves = SplitTablet(table().tablets[0], "d");
  ASSERT_TRUE(halves.ok());
  EXPECT_EQ(Text(*halves),
            "    tablet [\"\", \"d\")\n"
            "      file 6 [\"a\", \"d\") sequences 11-15\n"
            "      file 5 [\"a\", \"b\\x00\") sequences 1-5\n"
            "    tablet [\"d\", \"h\")\n"
            "      file 7 [\"d\", \"f\\x00\") sequences 21-25\n"
            "      file 6 [\"d\", \"g\\x00\") sequences 11-15\n");
  Take(*halves);
  EXPECT_EQ(table().tablets.size(), 4u);
  for (const char* row : {"h", "z"})
    EXPECT_TRUE(absl::IsInvalidArgument(SplitTablet(table().tablets[1], row).status())) << row;
  EXPECT_TRUE(absl::IsInvalidArgument(SplitTablet(table().tablets[1], "d").status()))
      << "a tablet without rows";
  EXPECT_TRUE(SplitTablet(table().tablets[3], "z").ok());
}

TEST_F(StackTest, AMergeJoinsWhatASplitCut) {
  Flush(5, "a", "z", 1);
  Flush(6, "a", "z", 11);
  const std::string before = VersionText(*version_);
  Take(*SplitTablet(table().tablets[1], "k"));
  Take(*SplitTablet(table().tablets[2], "m"));
  EXPECT_EQ(table().tablets.size(), 5u);
  const auto merged = MergeTablets(table().tablets.Slice(1, 3));
  ASSERT_TRUE(merged.ok());
  Take({*merged});
  EXPECT_EQ(VersionText(*version_), before);
  const auto all = MergeTablets(table().tablets.Slice(0, table().tablets.size()));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(Text({*all}),
            "    tablet [\"\", end)\n"
            "      file 6 [\"a\", \"z\\x00\") sequences 11-15\n"
            "      file 5 [\"a\", \"z\\x00\") sequences 1-5\n");
  EXPECT_TRUE(absl::IsInvalidArgument(MergeTablets({}).status()));
  const std::vector<Tablet> apart = {table().tablets[0], table().tablets[2]};
  EXPECT_TRUE(absl::IsInvalidArgument(MergeTablets(apart).status()));
  Take(Excise(table(), KeyRange{"g", "i", false}));
  EXPECT_EQ(MergeTablets(table().tablets.Slice(0, 2))->stack.size(), 4u)
      << "what does not touch stays apart";
}

// The left tablet was compacted into one file, the right one was not. Their references then form
// one overlap cluster.
TEST_F(StackTest, AMergePutsStacksSideBySide) {
  for (uint64_t i = 0; i < 3; ++i) Flush(5 + i, "a", "k", 1 + 10 * i);
  const Tablet left = table().tablets[0];
  const std::vector<SstableReference> older(left.stack.begin() + 1, left.stack.end());
  Take({*InstallCompaction(table(), left.range, older, TestFile(20, "a", "g"))},
       {TestFile(20, "a", "g")});
  Take({*MergeTablets(table().tablets.Slice(0, 2))});
  const Tablet& merged = table().tablets[0];
  EXPECT_EQ(Text({TabletEditOf(merged)}),
            "    tablet [\"\", \"p\")\n"
            "      file 7 [\"a\", \"k\\x00\") sequences 21-25\n"
            "      file 20 [\"a\", \"g\\x00\") sequences 1-15\n"
            "      file 6 [\"h\", \"k\\x00\") sequences 11-15\n"
            "      file 5 [\"h\", \"k\\x00\") sequences 1-5\n");
  const SstableFile output = TestFile(21, "a", "k");
  for (size_t begin = 0; begin < 4; ++begin) {
    for (size_t end = begin + 1; end <= 4; ++end) {
      const std::vector<SstableReference> inputs(
          merged.stack.begin() + static_cast<std::ptrdiff_t>(begin),
          merged.stack.begin() + static_cast<std::ptrdiff_t>(end));
      // The inputs must be whole clusters, or have their rows for themselves. File 7 with a part of
      // the older ones, or 20 and 6 without 5, would overlap the remaining ones.
      const bool fits = begin == 0 ? end == 1 || end == 4 : !(begin == 1 && end == 3);
      EXPECT_EQ(InstallCompaction(table(), merged.range, inputs, output).ok(), fits)
          << begin << " to " << end;
    }
  }
}

// Records, for every row of a small row space, the files that contain it, newest first. The sorted
// runs must agree.
class RowModel {
 public:
  RowModel() {
    for (char a = 'a'; a <= 'j'; ++a) {
      for (const char* tail : {"", "m"}) files_by_row_[std::string(1, a) + tail];
    }
  }
  void Flush(const SstableFile& file) {
    for (auto& [row, files] : files_by_row_) {
      if (RowsOf(file).Contains(row)) files.insert(files.begin(), file.number);
    }
  }
  void Excise(const KeyRange& range) {
    for (auto& [row, files] : files_by_row_) {
      if (range.Contains(row)) files.clear();
    }
  }
  // The output replaces the inputs: it comes after all files that are newer than they are.
  void Compact(const KeyRange& output_range, const std::set<uint64_t>& newer,
               const std::set<uint64_t>& inputs, uint64_t output) {
    for (auto& [row, files] : files_by_row_) {
      if (!output_range.Contains(row)) continue;
      std::erase_if(files, [&](uint64_t number) { return inputs.contains(number); });
      const auto behind = std::find_if(files.begin(), files.end(),
                                       [&](uint64_t number) { return !newer.contains(number); });
      files.insert(behind, output);
    }
  }
  std::string Compare(const TableState& table) const {
    for (const auto& [row, expected] : files_by_row_) {
      std::vector<uint64_t> actual;
      for (const Tablet& tablet : table.tablets) {
        for (const SstableReference& reference : tablet.stack) {
          if (reference.range.Contains(row) && RowsOf(*reference.file).Contains(row))
            actual.push_back(reference.file->number);
        }
      }
      if (actual != expected)
        return fmt::format("row {}: [{}] instead of [{}]", row, fmt::join(actual, " "),
                           fmt::join(expected, " "));
    }
    return "";
  }

 private:
  std::map<std::string, std::vector<uint64_t>> files_by_row_;
};

// Returns a file with the smallest row range that covers the references.
SstableFile MergedFile(uint64_t number, const std::vector<SstableReference>& inputs) {
  SstableFile output = TestFile(number, "~", "");
  for (const SstableReference& input : inputs) {
    const KeyRange rows = Intersect(input.range, RowsOf(*input.file));
    output.summary.first_row = std::min(output.summary.first_row, rows.start);
    output.summary.last_row = std::max(output.summary.last_row, rows.end);
  }
  return output;
}

std::string AnyRow(Random& random) {
  return std::string(1, static_cast<char>('a' + random.Below(10))) + (random.OneIn(2) ? "m" : "");
}

TEST_F(StackTest, RandomHistoriesKeepEveryRowsFilesInOrder) {
  int compaction_count = 0;
  int split_count = 0;
  int merge_count = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Take(Excise(table(), KeyRange::All()));
    Random random(seed);
    RowModel model;
    uint64_t number = 10;
    for (uint64_t step = 0; step < 60; ++step) {
      std::string first = AnyRow(random);
      std::string last = AnyRow(random);
      if (last < first) std::swap(first, last);
      const uint64_t kind = random.Below(14);
      if (kind < 5) {
        const SstableFile file = TestFile(number++, first, last);
        Take(InstallFlush(table(), file, 20 * step + 1, 20 * step + 9), {file});
        model.Flush(file);
      } else if (kind < 7) {
        Take(Excise(table(), KeyRange{first, last, false}));
        model.Excise(KeyRange{first, last, false});
      } else if (kind < 9) {
        const Tablet& tablet = table().tablets[table().TabletIndexOf(first)];
        if (tablet.range.start == first) continue;
        ++split_count;
        Take(*SplitTablet(tablet, first));
      } else if (kind < 11) {
        const size_t begin = random.Below(table().tablets.size());
        const size_t count = std::min(table().tablets.size() - begin, 1 + random.Below(3));
        if (count > 1) ++merge_count;
        Take({*MergeTablets(table().tablets.Slice(begin, count))});
      } else {
        const Tablet tablet = table().tablets[random.Below(table().tablets.size())];
        if (tablet.stack.empty()) continue;
        const auto begin =
            tablet.stack.begin() + static_cast<std::ptrdiff_t>(random.Below(tablet.stack.size()));
        const auto end = begin + 1 +
                         static_cast<std::ptrdiff_t>(
                             random.Below(static_cast<uint64_t>(tablet.stack.end() - begin)));
        const std::vector<SstableReference> inputs(begin, end);
        const SstableFile output = MergedFile(number++, inputs);
        const auto installed = InstallCompaction(table(), tablet.range, inputs, output);
        if (!installed.ok()) {
          ASSERT_NE(ToStd(installed.status().message()).find("shares commits"),
                    std::string_view::npos)
              << installed.status();
          continue;
        }
        ++compaction_count;
        std::set<uint64_t> newer;
        std::set<uint64_t> merged;
        for (auto it = tablet.stack.begin(); it != begin; ++it) newer.insert(it->file->number);
        for (const SstableReference& input : inputs) merged.insert(input.file->number);
        const auto written = std::find_if(
            installed->stack.begin(), installed->stack.end(),
            [&](const ReferenceEdit& reference) { return reference.file_number == output.number; });
        ASSERT_NE(written, installed->stack.end());
        model.Compact(written->range, newer, merged, output.number);
        Take({*installed}, {output});
      }
      ASSERT_EQ(model.Compare(table()), "") << "seed " << seed << " step " << step << "\n"
                                            << VersionText(*version_);
    }
  }
  EXPECT_GT(compaction_count, 150);
  EXPECT_GT(split_count, 200);
  EXPECT_GT(merge_count, 150);
}

// Splits random tablets at every row, and merges the results.
TEST_F(StackTest, WhatIsSplitAtAnyRowAndMergedShowsTheSame) {
  int joined_count = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Take(Excise(table(), KeyRange::All()));
    Take({*MergeTablets(table().tablets.Slice(0, table().tablets.size()))});
    Random random(seed);
    RowModel model;
    for (uint64_t step = 0; step < 1 + random.Below(8); ++step) {
      std::string first(1, static_cast<char>('a' + random.Below(10)));
      std::string last(1, static_cast<char>('a' + random.Below(10)));
      if (last < first) std::swap(first, last);
      if (random.OneIn(4)) {
        Take(Excise(table(), KeyRange{first, last, false}));
        model.Excise(KeyRange{first, last, false});
      } else {
        Flush(10 + step, first, last, 1 + 10 * step);
        model.Flush(TestFile(10 + step, first, last));
      }
    }
    const std::shared_ptr<const Version> before = version_;
    for (char letter = 'a'; letter <= 'k'; ++letter) {
      for (const char* tail : {"", "m"}) {
        const std::string row = std::string(1, letter) + tail;
        version_ = before;
        Take(*SplitTablet(table().tablets[0], row));
        ASSERT_EQ(model.Compare(table()), "") << "seed " << seed << " split at " << row << "\n"
                                              << VersionText(*version_);
        Take({*MergeTablets(table().tablets.Slice(0, table().tablets.size()))});
        ASSERT_EQ(model.Compare(table()), "") << "seed " << seed << " merged at " << row << "\n"
                                              << VersionText(*version_);
        EXPECT_LE(table().tablets[0].stack.size(), before->tables.at(1)->tablets[0].stack.size());
        joined_count += static_cast<int>(table().tablets[0].stack.size());
      }
    }
  }
  EXPECT_GT(joined_count, 1000);
}

}  // namespace
}  // namespace stele::internal
