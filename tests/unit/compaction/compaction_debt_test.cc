// The debt by tablet: it agrees with the debt of the whole Version, and an edit counts only the
// tablets that it changed.
#include "compaction/compaction_debt.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "compaction/picker.h"
#include "manifest/stack_edits.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

TEST(CompactionDebtTest, AgreesWithTheDebtOfTheWholeVersion) {
  uint64_t bytes_max = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VersionHistory history(seed);
    CompactionDebt debt;
    debt.Reset(*history.version(), {});
    for (int step = 0; step < 300; ++step) {
      const std::shared_ptr<const Version> before = history.version();
      history.Next();
      debt.Follow(*before, *history.version(), {});
      ASSERT_EQ(debt.bytes(), CompactionDebtBytes(*history.version()))
          << "seed " << seed << " step " << step;
      bytes_max = std::max(bytes_max, debt.bytes());
    }
  }
  EXPECT_GT(bytes_max, 0u);
}

std::string RowInTablet(size_t i) { return fmt::format("{:05}", i); }

// Each flush has one row, and so changes one tablet.
TEST(CompactionDebtTest, AnEditCountsTheTabletsThatItChanged) {
  for (const size_t tablet_count : {10, 1'000, 10'000}) {
    std::vector<std::string> splits;
    for (size_t i = 1; i < tablet_count; ++i) splits.push_back(RowInTablet(i));
    Edit create;
    create.tables.push_back(NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}}), splits));
    create.next_table_id = 2;
    create.next_family_id = 10;
    std::shared_ptr<const Version> version = Apply(Version(), create).value();
    CompactionDebt debt;
    debt.Reset(*version, {});
    const uint64_t counted_before = debt.tablets_counted();
    for (uint64_t number = 1; number <= 20; ++number) {
      const std::string row = RowInTablet(number % 3);
      Edit edit;
      edit.new_files.push_back(TestFile(number, row, row));
      edit.last_sequence = number;
      edit.next_file_number = number + 1;
      edit.tables.push_back(
          {.table_id = 1,
           .tablets = InstallFlush(*version->tables.at(1), edit.new_files[0], number, number)});
      const std::shared_ptr<const Version> before = version;
      version = Apply(*before, edit).value();
      debt.Follow(*before, *version, {});
    }
    EXPECT_EQ(debt.tablets_counted() - counted_before, 20u) << tablet_count;
    EXPECT_EQ(debt.bytes(), CompactionDebtBytes(*version)) << tablet_count;
    EXPECT_GT(debt.bytes(), 0u);
  }
}

// Files that only wait to become one file, and files that overlap and wait for merges by size.
TEST(CompactionDebtTest, FilesBeyond64Count) {
  const CompactionSizes sizes{.file_debt_bytes = uint64_t{1} << 20};
  for (const bool overlap : {false, true}) {
    Edit create;
    create.tables.push_back(NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}})));
    create.next_table_id = 2;
    create.next_family_id = 10;
    std::shared_ptr<const Version> version = Apply(Version(), create).value();
    for (uint64_t number = 1; number <= 100; ++number) {
      Edit edit;
      edit.new_files.push_back(
          TestFile(number, overlap ? "a" : RowInTablet(number), RowInTablet(number)));
      if (overlap) edit.new_files[0].summary.last_row = "b";
      edit.last_sequence = number;
      edit.next_file_number = number + 1;
      edit.tables.push_back(
          {.table_id = 1,
           .tablets = InstallFlush(*version->tables.at(1), edit.new_files[0], number, number)});
      version = Apply(*version, edit).value();
      const uint64_t debt_bytes = CompactionDebtBytes(*version, {}, sizes);
      if (number <= 64) {
        EXPECT_LT(debt_bytes, uint64_t{1} << 20) << number << " " << overlap;
      } else if (!overlap) {
        EXPECT_EQ(debt_bytes, (number - 64) << 20) << number;
      }
    }
    EXPECT_GE(CompactionDebtBytes(*version, {}, sizes), uint64_t{36} << 20) << overlap;
    EXPECT_EQ(CompactionDebtBytes(*version, {}, {.small_file_bytes = 1}) == 0, !overlap)
        << "files that no compaction combines are no debt";
  }
}

}  // namespace
}  // namespace stele::internal
