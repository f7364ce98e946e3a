// Tests PlanSections: which families and versions get separate sections, and that a file's metadata
// stays small.
#include "sstable/write/section_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/mem_file_system.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

TEST(SectionPlanTest, OneSectionIsEnoughForMost) {
  EXPECT_EQ(PlanSections({}).section_count, 1u);
  const SectionPlan plan = PlanSections(
      std::vector<FamilySample>{{.bytes = 1000, .columns = 10, .cells = 10, .versions_max = 1},
                                {.bytes = 1000, .columns = 10, .cells = 40, .versions_max = 4}});
  EXPECT_EQ(plan.section_count, 1u);
  EXPECT_EQ(plan.latest_section, (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(plan.history_section, (std::vector<uint8_t>{0, 0}));
  EXPECT_FALSE(plan.is_history(0));
}

TEST(SectionPlanTest, HistoryLiesApartWhereItIsMoreThanHalf) {
  const auto has_history = [](const FamilySample& family) {
    const SectionPlan plan = PlanSections(std::vector<FamilySample>{family});
    EXPECT_EQ(plan.section_count, plan.history < 0 ? 1u : 2u);
    EXPECT_EQ(plan.history_section[0], plan.history < 0 ? 0 : plan.history);
    EXPECT_EQ(plan.latest_section[0], 0);
    return plan.history >= 0;
  };
  EXPECT_FALSE(has_history({.bytes = 100, .columns = 10, .cells = 20, .versions_max = 11}))
      << "half";
  EXPECT_TRUE(has_history({.bytes = 100, .columns = 10, .cells = 21, .versions_max = 12}));
  EXPECT_TRUE(has_history({.bytes = 100, .columns = 10, .cells = 50, .versions_max = 5}));
  EXPECT_FALSE(has_history({.bytes = 100, .columns = 10, .cells = 40, .versions_max = 4}))
      << "no column has many versions";
  EXPECT_FALSE(has_history({}));
}

TEST(SectionPlanTest, FamiliesThatTogetherAreNarrowLieApart) {
  const auto sections = [](std::vector<uint64_t> bytes) {
    std::vector<FamilySample> families;
    for (const uint64_t family_bytes : bytes)
      families.push_back({.bytes = family_bytes, .columns = 1, .cells = 1, .versions_max = 1});
    const SectionPlan plan = PlanSections(families);
    EXPECT_EQ(plan.latest_section, plan.history_section);
    return plan.latest_section;
  };
  EXPECT_EQ(sections({100, 701}), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(sections({100, 700}), (std::vector<uint8_t>{0, 0})) << "an eighth";
  EXPECT_EQ(sections({700, 50, 49, 1}), (std::vector<uint8_t>{0, 0, 1, 1}))
      << "the narrowest, as many as are narrow together";
  EXPECT_EQ(sections({0, 100}), (std::vector<uint8_t>{0, 0}))
      << "what does not occur needs no section";
}

// The older versions of a narrow family are in the history section with those of the other
// families.
TEST(SectionPlanTest, ANarrowFamilyMayHaveAHistory) {
  const SectionPlan plan = PlanSections(
      std::vector<FamilySample>{{.bytes = 10, .columns = 10, .cells = 100, .versions_max = 10},
                                {.bytes = 1000, .columns = 10, .cells = 100, .versions_max = 10},
                                {.bytes = 1000, .columns = 10, .cells = 10, .versions_max = 1}});
  EXPECT_EQ(plan.section_count, 3u);
  EXPECT_EQ(plan.latest_section, (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_EQ(plan.history_section, (std::vector<uint8_t>{2, 2, 0}));
  EXPECT_EQ(plan.history, 2);
}

// As a share of a file's user bytes.
double IndexPercent(const std::vector<OwnedRow>& rows, uint32_t family_count) {
  MemFileSystem file_system;
  const auto summary = WriteSstable(&file_system, "file", rows,
                                    OptionsForTest(family_count, Codec::kZstd, 32 << 10));
  EXPECT_TRUE(summary.ok()) << summary.status();
  return 100.0 * static_cast<double>(summary->index_bytes) /
         static_cast<double>(summary->logical_bytes);
}

TEST(SectionPlanTest, IndexAndStatisticsAreSmall) {
  for (const uint32_t family_count : {1u, 5u, 20u, 100u}) {
    for (const uint32_t every : {1u, 10u}) {
      std::vector<OwnedRow> rows;
      size_t cell_count = 0;
      for (uint32_t i = 0; cell_count < 50'000; ++i) {
        OwnedRow row{fmt::format("row{:08}", i), {}};
        for (uint32_t family = 1 + i % every; family <= family_count; family += every) {
          row.cells.push_back({family, CellKind::kSet, 1000 + i, 0, "q",
                               std::string(100, static_cast<char>('a' + i % 26))});
        }
        cell_count += row.cells.size();
        if (!row.cells.empty()) rows.push_back(std::move(row));
      }
      // If a row has few families, each has its own blocks; if it has many, some share one
      // (docs/decisions/0011-sstable-layout.md).
      EXPECT_LE(IndexPercent(rows, family_count), family_count == 5 ? 1.3 : 1.0)
          << family_count << " in each of " << every << " rows";
    }
  }
}

}  // namespace
}  // namespace stele::internal
