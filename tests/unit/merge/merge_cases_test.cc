// Tests named cases of the merge as text: tests/data/merge/*.txt.
//
//   merge [reverse]    the input's sources, newest first, each after a line "source"; the output is
//                      the result of the merge
//   retain now=N [partial commit=N] [drop] [a=RULE ...]
//                      the same with garbage collection; RULE is in cbt's grammar, by family name;
//                      "drop" drops tombstones; a last line counts the dropped cells, if any
#include <gtest/gtest.h>

#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"
#include "support/base_text_cases.h"
#include "support/cell_text.h"

namespace stele::internal {
namespace {

std::unique_ptr<CellCursor> MergedInput(const TextCase& text_case) {
  const Direction direction = text_case.has("reverse") ? Direction::kReverse : Direction::kForward;
  std::vector<std::string> sources;
  for (const std::string& line : text_case.input) {
    if (line == "source") {
      sources.emplace_back();
    } else {
      sources.back() += line + "\n";
    }
  }
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (const std::string& source : sources)
    cursors.push_back(NewVectorCursor(ParseRows(source), {.direction = direction}));
  return NewMergeCursor(std::move(cursors), direction);
}

std::vector<Retention> RulesOf(const TextCase& text_case) {
  std::vector<Retention> rules;
  for (uint32_t family_index = 1; family_index <= TestFamilies().size(); ++family_index) {
    const std::string& family = TestFamilies()[family_index].name;
    if (!text_case.has(family)) {
      rules.emplace_back();
      continue;
    }
    const auto rule = GcRule::Parse(text_case.value(family));
    EXPECT_TRUE(rule.ok()) << rule.status();
    rules.emplace_back(rule.ok() ? *rule : GcRule::None());
  }
  return rules;
}

std::string RunCase(const TextCase& text_case) {
  if (text_case.command == "merge") return PrintAll(MergedInput(text_case).get());
  EXPECT_EQ(text_case.command, "retain");
  const std::vector<Retention> rules = RulesOf(text_case);
  RetentionPolicy policy{
      .rules = rules, .now = text_case.number("now"), .drop_tombstones = text_case.has("drop")};
  if (text_case.has("partial")) {
    policy.partial = true;
    policy.newest_commit_time = text_case.number("commit");
  }
  RetentionStats stats;
  std::string output =
      PrintAll(NewRetentionCursor(MergedInput(text_case), std::move(policy), &stats).get());
  if (stats.garbage_cells + stats.tombstones_dropped > 0) {
    output += "dropped: " + std::to_string(stats.garbage_cells) + " versions, " +
              std::to_string(stats.tombstones_dropped) + " tombstones\n";
  }
  return output;
}

TEST(MergeCasesTest, Merge) { RunTextCases("merge/merge.txt", RunCase); }
TEST(MergeCasesTest, Retention) { RunTextCases("merge/retention.txt", RunCase); }

}  // namespace
}  // namespace stele::internal
