// Searches of changed tablets: they find what PickCompaction finds, and their cost does not depend
// on the number of tablets.
#include "compaction/due_changes.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/status.h"
#include "manifest/stack_edits.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

std::string RowAt(size_t i) { return fmt::format("{:05}", i); }

// A table of tablets at split rows, each with one row.
class DueChangesTest : public ::testing::Test {
 protected:
  void Begin(size_t tablet_count, const std::vector<std::pair<std::string, GcRule>>& families = {
                                      {"cf", GcRule::None()}}) {
    std::vector<std::string> splits;
    for (size_t i = 1; i < tablet_count; ++i) splits.push_back(RowAt(i));
    Edit create;
    create.tables.push_back(NewTable(TestDefinition(1, "t", 1, families), splits));
    create.next_table_id = 2;
    create.next_family_id = 10;
    version_ = Apply(Version(), create).value();
    number_ = 1;
  }
  const TableState& table() const { return *version_->tables.at(1); }
  void Take(Edit edit) {
    edit.last_sequence = number_;
    edit.next_file_number = ++number_;
    version_ = Apply(*version_, edit).value();
  }
  void Flush(size_t first, size_t last) {
    Edit edit;
    edit.new_files.push_back(TestFile(number_, RowAt(first), RowAt(last)));
    SstableSummary& summary = edit.new_files[0].summary;
    summary.families = {{.family_id = 1, .cells = 10, .logical_bytes = 1'000, .versions_max = 1}};
    summary.cells = 10;
    summary.row_tombstones = summary.tombstones = 0;
    summary.logical_bytes = summary.file_bytes = 1'000;
    edit.new_files[0].newest_commit_time = kNow;
    edit.tables.push_back(
        {.table_id = 1, .tablets = InstallFlush(table(), edit.new_files[0], number_, number_)});
    Take(std::move(edit));
  }
  PickerInput Input() const {
    return {.version = version_.get(),
            .busy = busy_,
            .now = kNow,
            .tablet_bytes_max = tablet_bytes_max_};
  }
  IdleSearch Search() const {
    return {.version = version_, .busy = busy_, .busy_tables = {}, .unreadable = {}};
  }
  bool IsDue(const IdleSearch& last) {
    examined_ = 0;
    return IsAnyDueSince(last, Input(), &examined_);
  }

  static constexpr int64_t kNow = 1'000'000;
  std::shared_ptr<const Version> version_;
  std::set<TabletName> busy_;
  uint64_t tablet_bytes_max_ = 0;
  uint64_t number_ = 1;
  uint64_t examined_ = 0;
};

TEST_F(DueChangesTest, ASearchExaminesTheChangedTabletsAndTheirNeighbours) {
  for (const size_t tablet_count : {10, 1'000, 10'000}) {
    Begin(tablet_count);
    const IdleSearch last = Search();
    EXPECT_FALSE(IsDue(last));
    EXPECT_EQ(examined_, 0u) << tablet_count;
    Flush(5, 5);
    EXPECT_FALSE(IsDue(last));
    EXPECT_EQ(examined_, 3u) << tablet_count;
    Flush(0, 0);
    EXPECT_FALSE(IsDue(last));
    EXPECT_EQ(examined_, 5u) << tablet_count;
    busy_ = {{1, RowAt(7)}};
    const IdleSearch while_busy = Search();
    busy_.clear();
    EXPECT_FALSE(IsDue(while_busy));
    EXPECT_EQ(examined_, 3u) << tablet_count << ": a job ended";
  }
}

// Compares with PickCompaction after random flushes. The last search is renewed after
// each flush.
TEST_F(DueChangesTest, FindsWhatFlushesMakeDue) {
  size_t due_count = 0;
  size_t idle_count = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Begin(40);
    IdleSearch last = Search();
    for (int step = 0; step < 100; ++step) {
      const size_t first = random.Below(40);
      Flush(first, std::min<size_t>(39, first + random.Below(3)));
      const bool is_due = PickCompaction(Input()).has_value();
      ASSERT_TRUE(IsDue(last) || !is_due) << "seed " << seed << " step " << step;
      ++(is_due ? due_count : idle_count);
      if (is_due) Begin(40);
      last = Search();
    }
  }
  EXPECT_GT(due_count, 20u);
  EXPECT_GT(idle_count, 20u);
}

TEST_F(DueChangesTest, FindsTabletsToMerge) {
  Begin(10);
  Edit edit;
  const std::vector<TabletEdit> split_point = *SplitTablet(table().tablets[4], RowAt(4) + "x");
  const IdleSearch last = Search();
  edit.tables.push_back({.table_id = 1, .tablets = split_point});
  Take(std::move(edit));
  tablet_bytes_max_ = 1 << 20;
  ASSERT_TRUE(PickCompaction(Input()).has_value());
  EXPECT_TRUE(IsDue(last));
}

// A new GC rule may make any file of the table garbage.
TEST_F(DueChangesTest, ASchemaChangeIsAChangeOfEachTablet) {
  Begin(10);
  for (size_t i = 0; i < 10; ++i) Flush(i, i);
  const IdleSearch last = Search();
  ASSERT_FALSE(PickCompaction(Input()).has_value());
  Edit edit;
  const GcRule rule = GcRule::MaxAge(std::chrono::microseconds(1));  // the cells have timestamp 0
  edit.tables.push_back({.table_id = 1, .definition = TestDefinition(1, "t", 2, {{"cf", rule}})});
  Take(std::move(edit));
  ASSERT_TRUE(PickCompaction(Input()).has_value());
  EXPECT_TRUE(IsDue(last));
}

TEST_F(DueChangesTest, TheEndOfAJobIsAChange) {
  Begin(10);
  for (int i = 0; i < 6; ++i) Flush(5, 5);
  busy_ = {{1, RowAt(5)}};
  const IdleSearch while_busy = Search();
  ASSERT_FALSE(PickCompaction(Input()).has_value());
  EXPECT_FALSE(IsDue(while_busy));
  busy_.clear();
  ASSERT_TRUE(PickCompaction(Input()).has_value());
  EXPECT_TRUE(IsDue(while_busy));
  const IdleSearch while_table_busy{
      .version = version_, .busy = {}, .busy_tables = {1}, .unreadable = {}};
  EXPECT_TRUE(IsDue(while_table_busy));
  PickerInput input = Input();
  input.busy_tables = {1};
  EXPECT_FALSE(PickCompaction(input).has_value());
  EXPECT_FALSE(IsAnyDueSince(
      {.version = version_, .busy = {{1, RowAt(5)}}, .busy_tables = {}, .unreadable = {}}, input,
      &examined_));
}

TEST_F(DueChangesTest, AFileThatIsReadAgainIsAChange) {
  Begin(10);
  for (int i = 0; i < 6; ++i) Flush(5, 5);
  IdleSearch last = Search();
  last.unreadable = {{{1, RowAt(5)}, {1, 2, 3, 4, 5, 6}}};
  EXPECT_TRUE(IsDue(last));
}

}  // namespace
}  // namespace stele::internal
