// Tests edits of which some are missing: without a gap the Version is the same, and every gap gives
// a valid Version.
#include "db/gapped_edits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

// The files of a history, as if each could be read.
class FilesOfHistory {
 public:
  void Add(const Edit& edit) {
    for (const SstableFile& file : edit.new_files) summaries_[file.number] = file.summary;
  }
  ReadFileSummary Reader() const {
    return [this](uint64_t number) -> absl::StatusOr<SstableSummary> {
      const auto it = summaries_.find(number);
      if (it == summaries_.end()) return NotFound("no file {}", number);
      return it->second;
    };
  }

 private:
  std::map<uint64_t, SstableSummary> summaries_;
};

absl::StatusOr<SstableSummary> RefuseSummary(uint64_t number) {
  return NotFound("no file {}", number);
}

TEST(GappedEditsTest, WithoutAGapNothingIsLost) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    VersionHistory history(seed);
    for (int step = 0; step < 20; ++step) history.Next();
    GappedEdits edits(*history.version(), {});
    for (int step = 0; step < 40; ++step) edits.Add(history.Next());
    const auto version = edits.Finish(RefuseSummary);
    ASSERT_TRUE(version.ok()) << seed << version.status();
    EXPECT_EQ(VersionText(**version), VersionText(*history.version())) << seed;
    EXPECT_TRUE(edits.losses().empty()) << seed << edits.losses()[0];
  }
}

TEST(GappedEditsTest, EveryGapGivesAValidVersion) {
  size_t described = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    VersionHistory history(seed);
    const uint64_t missing_from = 1 + random.Below(40);
    const uint64_t missing_count = 1 + random.Below(4);
    FilesOfHistory files;
    std::optional<GappedEdits> edits;
    for (uint64_t step = 0; step < 60; ++step) {
      if (step == missing_from) edits.emplace(*history.version(), Definitions());
      const Edit edit = history.Next();
      files.Add(edit);
      if (step < missing_from) continue;
      if (step >= missing_from + missing_count) edits->Add(edit);
    }
    GappedEdits without_files = *edits;
    const auto version = edits->Finish(files.Reader());
    ASSERT_TRUE(version.ok()) << seed << version.status();
    EXPECT_EQ(CheckVersion(**version), absl::OkStatus()) << seed;
    for (const std::string& loss : edits->losses())
      EXPECT_TRUE(loss.starts_with("table ")) << seed << loss;
    const auto without = without_files.Finish(RefuseSummary);
    ASSERT_TRUE(without.ok()) << seed << without.status();
    described += without_files.losses().size() - edits->losses().size();
  }
  EXPECT_GT(described, 0u) << "no edit referred to a file that only a missing edit described";
}

TEST(GappedEditsTest, AnSstableHasTheDefinitionOfATableThatAMissingEditCreated) {
  const auto definition =
      MakeDefinition(5, "t", 1, Schema().AddFamily("f"), {{.id = 1, .name = "f"}});
  for (const bool is_known : {true, false}) {
    GappedEdits edits(Version(), is_known ? Definitions{{5, definition}} : Definitions());
    Edit edit;
    edit.tables.push_back({.table_id = 5, .flushed_through = 7});
    edits.Add(edit);
    const auto version = edits.Finish(RefuseSummary);
    ASSERT_TRUE(version.ok()) << version.status();
    const TableState* const table = (*version)->FindTable("t");
    EXPECT_EQ(table != nullptr, is_known);
    EXPECT_EQ(edits.losses().empty(), is_known);
    if (table != nullptr) EXPECT_EQ(table->flushed_through, 7u);
  }
}

// Each edit divides a tablet with many files, and has few bytes itself.
TEST(GappedEditsTest, HostileEditsEnd) {
  Edit first{
      .last_sequence = 2000, .next_file_number = 3000, .next_table_id = 2, .next_family_id = 2};
  TableEdit& table = first.tables.emplace_back(TableEdit{.table_id = 1});
  table.definition = MakeDefinition(1, "t", 1, Schema().AddFamily("f"), {{.id = 1, .name = "f"}});
  TabletEdit& tablet =
      table.tablets.emplace_back(TabletEdit{.range = KeyRange::All(), .stack = {}});
  for (uint64_t number = 2000; number > 0; --number) {
    SstableFile& file = first.new_files.emplace_back(SstableFile{.number = number});
    file.summary.rows = 1;
    tablet.stack.push_back({number, KeyRange::All(), number, number});
  }
  const auto before = Apply(Version(), first);
  ASSERT_TRUE(before.ok()) << before.status();
  GappedEdits edits(**before, {});
  for (int i = 0; i < 5000; ++i) {
    Edit edit;
    const std::string row_key = fmt::format("{:05}", i);
    edit.tables.push_back({.table_id = 1});
    edit.tables.back().tablets.push_back({.range = {row_key, row_key + "!", false}, .stack = {}});
    edits.Add(std::move(edit));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(edits.Finish(RefuseSummary).status()));
}

}  // namespace
}  // namespace stele::internal
