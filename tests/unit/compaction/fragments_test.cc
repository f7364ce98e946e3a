// Tests that files which drops cut into many file references are rewritten, once the references are
// too many for their bytes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "compaction/file_shares.h"
#include "compaction/picker.h"
#include "manifest/stack_edits.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class FragmentsTest : public ::testing::Test {
 protected:
  // Makes one file with all rows. It gives no other reason for a compaction.
  void Begin(uint64_t file_bytes, const std::vector<std::string>& splits = {}) {
    Edit edit;
    edit.tables.push_back(NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}}), splits));
    edit.next_table_id = 2;
    edit.next_family_id = 2;
    version_ = Apply(Version(), edit).value();
    SstableFile file = TestFile(1, "a", "z");
    file.summary.file_bytes = file_bytes;
    file.bottommost_codec = true;
    for (FamilySummary& family : file.summary.families) family.tombstones = 0;
    file.summary.tombstones = file.summary.row_tombstones = 0;
    Take(InstallFlush(table(), file, 1, 5), file);
  }
  const TableState& table() const { return *version_->tables.at(1); }
  void Take(std::vector<TabletEdit> tablets,
            const std::optional<SstableFile>& file = std::nullopt) {
    Edit edit;
    if (file) edit.new_files = {*file};
    edit.last_sequence = 1000;
    edit.next_file_number = 1000;
    edit.tables.push_back({.table_id = 1, .tablets = std::move(tablets)});
    version_ = Apply(*version_, edit).value();
  }
  // Drops the nth of several separate ranges within the letter's rows.
  void Drop(char letter, int n) {
    const std::string start = fmt::format("{}{:04}", letter, n);
    Take(Excise(table(), KeyRange{start, start + "m", false}));
  }
  std::optional<CompactionPick> Pick() const {
    return PickCompaction({.version = version_.get(), .now = 1'000'000});
  }

  std::shared_ptr<const Version> version_;
};

TEST_F(FragmentsTest, AFileThatDropsCutUpIsRewritten) {
  struct Case {
    uint64_t bytes;
    int fragments_max;
  };
  for (const Case& size :
       {Case{100'000, 32}, Case{10 * kMiB + kMiB / 8, 40}, Case{100 * kMiB + kMiB / 8, 400}}) {
    Begin(size.bytes);
    for (int n = 0; n < size.fragments_max; ++n) Drop('m', n);
    EXPECT_FALSE(Pick().has_value()) << size.bytes;
    EXPECT_EQ(CompactionDebtBytes(*version_), 0u);
    Drop('m', size.fragments_max);
    const std::optional<CompactionPick> pick = Pick();
    ASSERT_TRUE(pick.has_value()) << size.bytes;
    EXPECT_EQ(pick->kind, CompactionKind::kMajor);
    EXPECT_EQ(pick->subcompactions[0].input_end - pick->subcompactions[0].input_begin,
              static_cast<size_t>(size.fragments_max) + 2);
    EXPECT_NEAR(static_cast<double>(CompactionDebtBytes(*version_)),
                static_cast<double>(size.bytes), 1000);
    SstableFile output = TestFile(2, "a", "z");
    output.bottommost_codec = true;
    output.summary = table().tablets[0].stack[0].file->summary;
    Take({*InstallCompaction(table(), table().tablets[0].range, table().tablets[0].stack, output)},
         output);
    EXPECT_FALSE(Pick().has_value()) << size.bytes;
    EXPECT_EQ(CompactionDebtBytes(*version_), 0u);
  }
}

// Only the tablet with the drops is rewritten. The other tablets' shares of the bytes stay the
// same.
TEST_F(FragmentsTest, DropsInOneTabletLeaveTheSharesOfTheOthers) {
  Begin(20 * kMiB, {"f", "m", "s"});
  for (int n = 0; n < 33; ++n) Drop('g', n);
  const FileShares parts = CountParts(table());
  for (const Tablet& tablet : table().tablets) {
    uint64_t bytes = 0;
    for (const SstableReference& reference : tablet.stack) bytes += ShareBytes(reference, parts);
    EXPECT_NEAR(static_cast<double>(bytes), 5.0 * kMiB, 100) << RangeText(tablet.range);
  }
  const std::optional<CompactionPick> pick = Pick();
  ASSERT_TRUE(pick.has_value());
  ASSERT_EQ(pick->subcompactions.size(), 1u);
  EXPECT_EQ(pick->subcompactions[0].tablet.start, "f");
}

// A file without a row in the range stays whole and gets no additional reference.
TEST_F(FragmentsTest, AFileWithoutARowOfTheRangeStaysWhole) {
  Begin(kMiB);
  const auto has_no_row = [](const SstableReference& /*reference*/) { return true; };
  EXPECT_TRUE(Excise(table(), KeyRange{"m", "n", false}, has_no_row).empty());
  EXPECT_EQ(Excise(table(), KeyRange{"m", "n", false}).size(), 1u);
}

}  // namespace
}  // namespace stele::internal
