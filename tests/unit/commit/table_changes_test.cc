// Tests which changes of tables restart a write.
#include "commit/table_changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stele::internal {
namespace {

constexpr uint32_t kTable = 7;

KeyRange Range(std::string start, std::string end) {
  return {std::move(start), std::move(end), false};
}

TEST(TableChangesTest, AnAdditionRefusesNothing) {
  TableChanges changes;
  const uint64_t generation = changes.generation();
  changes.NoteAddition();
  EXPECT_GT(changes.generation(), generation);
  EXPECT_TRUE(changes.CheckWrite(kTable, true, generation).ok());
  EXPECT_TRUE(changes.CheckRow(kTable, "r", generation).ok());
}

TEST(TableChangesTest, ADroppedFamilyRefusesEveryOlderWriteToTheTable) {
  TableChanges changes;
  const uint64_t generation = changes.generation();
  changes.NoteFamilies(kTable);
  EXPECT_TRUE(absl::IsAborted(changes.CheckWrite(kTable, false, generation)));
  EXPECT_TRUE(changes.CheckWrite(kTable, false, changes.generation()).ok());
  EXPECT_TRUE(changes.CheckWrite(kTable + 1, false, generation).ok());
}

TEST(TableChangesTest, ANewRuleRefusesOlderWritesThatDependOnRules) {
  TableChanges changes;
  const uint64_t generation = changes.generation();
  changes.NoteRules(kTable);
  EXPECT_TRUE(absl::IsAborted(changes.CheckWrite(kTable, true, generation)));
  EXPECT_TRUE(changes.CheckWrite(kTable, false, generation).ok());
  EXPECT_TRUE(changes.CheckWrite(kTable, true, changes.generation()).ok());
}

TEST(TableChangesTest, DroppedRowsRefuseOlderReadersOfTheseRows) {
  TableChanges changes;
  const uint64_t generation = changes.generation();
  changes.NoteRows(kTable, Range("b", "d"));
  EXPECT_TRUE(absl::IsAborted(changes.CheckRow(kTable, "b", generation)));
  EXPECT_TRUE(changes.CheckRow(kTable, "d", generation).ok());
  EXPECT_TRUE(changes.CheckRow(kTable + 1, "b", generation).ok());
  EXPECT_TRUE(changes.CheckRow(kTable, "b", changes.generation()).ok());
}

TEST(TableChangesTest, ChangesThatAreNotRememberedCountForAllRows) {
  TableChanges changes;
  const uint64_t oldest = changes.generation();
  changes.NoteRows(kTable, Range("a", "b"));
  const uint64_t after_first = changes.generation();
  for (int i = 0; i < 64; ++i)
    changes.NoteRows(kTable, Range(fmt::format("c{:02}", i), fmt::format("c{:02}x", i)));
  EXPECT_TRUE(absl::IsAborted(changes.CheckRow(kTable, "z", oldest)));
  EXPECT_TRUE(changes.CheckRow(kTable, "z", after_first).ok());
  EXPECT_TRUE(absl::IsAborted(changes.CheckRow(kTable, "c00", after_first)));
  changes.NoteRows(kTable, Range("d", std::string(2000, 'd')));
  EXPECT_TRUE(absl::IsAborted(changes.CheckRow(kTable, "z", after_first)));
}

TEST(TableChangesTest, ADeletedTableIsForgotten) {
  TableChanges changes;
  const uint64_t generation = changes.generation();
  changes.NoteFamilies(kTable);
  changes.Forget(kTable);
  EXPECT_TRUE(changes.CheckWrite(kTable, true, generation).ok())
      << "the committer finds that the table is gone";
  EXPECT_GT(changes.generation(), generation + 1);
}

}  // namespace
}  // namespace stele::internal
