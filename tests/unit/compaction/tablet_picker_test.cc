// Tests PickTabletChange: its picks as text (tests/data/compaction/tablets.txt), and that splitting
// and merging end.
#include "compaction/tablet_picker.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "base/random.h"
#include "base/status.h"
#include "manifest/stack_edits.h"
#include "support/base_sanitized.h"
#include "support/base_text_cases.h"
#include "support/compaction_fixture.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

std::string TabletPickText(const std::optional<CompactionPick>& pick) {
  if (!pick) return "nothing\n";
  std::string out = pick->kind == CompactionKind::kSplitTablet    ? "split"
                    : pick->kind == CompactionKind::kMergeTablets ? "merge"
                                                                  : "?";
  for (const PlannedSubcompaction& subcompaction : pick->subcompactions)
    out += " " + subcompaction.tablet.start + ".." + subcompaction.tablet.end;
  if (!pick->split_row.empty()) out += " at " + pick->split_row;
  return out + ": " + pick->reason + "\n";
}

// "pick [max=1000] [splits=h,p]", then a line per tablet: "a..c file=7:300 file=8:100
// parts=b:200:200 busy". A file's bytes count once. Its rows are those of the tablets that refer to
// it. Without `parts` the tablet's split point is unknown.
class TabletsCase {
 public:
  explicit TabletsCase(const TextCase& text_case) {
    Schema schema;
    schema.AddFamily("a");
    std::istringstream splits(text_case.value("splits"));
    for (std::string split; std::getline(splits, split, ',');) schema.AddSplit(split);
    auto table = std::make_shared<TableState>();
    table->definition = MakeDefinition(1, "t", 1, schema, {{1, "a"}});
    std::vector<Tablet> tablets;
    for (const std::string& line : text_case.input) AddTablet(line, &tablets);
    table->tablets = std::move(tablets);
    version_.tables.Set(1, table);
    input_.version = &version_;
    input_.tablet_bytes_max =
        text_case.has("max") ? static_cast<uint64_t>(text_case.number("max")) : 1000;
    input_.find_split_point = [this](const TabletName& tablet) -> std::optional<SplitPoint> {
      ++asked_;
      const auto it = split_point_.find(tablet.start_row);
      return it == split_point_.end() ? std::nullopt : std::optional(it->second);
    };
  }

  std::string Run() {
    const std::optional<CompactionPick> pick = PickTabletChange(input_);
    return TabletPickText(pick) + (asked_ == 0 ? "" : fmt::format("asked {}\n", asked_));
  }

 private:
  void AddTablet(const std::string& line, std::vector<Tablet>* tablets) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    Tablet& tablet = tablets->emplace_back(Tablet{ParseRange(word), {}});
    while (in >> word) {
      const std::string value = word.substr(word.find('=') + 1);
      const std::string head = value.substr(0, value.find(':'));
      const std::string tail = value.substr(value.find(':') + 1);
      if (word == "busy") input_.busy.insert({1, tablet.range.start});
      if (word.starts_with("file="))
        tablet.stack.push_back(
            {FileOf(std::stoull(head), std::stoull(tail), tablet.range), tablet.range, 1, 1});
      if (word.starts_with("parts=")) {
        split_point_[tablet.range.start] = {head, std::stoull(tail),
                                            std::stoull(tail.substr(tail.find(':') + 1))};
      }
    }
  }

  std::shared_ptr<SstableFile> FileOf(uint64_t number, uint64_t bytes, const KeyRange& tablet) {
    std::shared_ptr<SstableFile>& file = files_[number];
    if (file == nullptr) file = std::make_shared<SstableFile>(TestFile(number, tablet.start, ""));
    file->summary.file_bytes = bytes;
    file->summary.last_row = tablet.start + "+";
    return file;
  }

  Version version_;
  PickerInput input_;
  std::map<uint64_t, std::shared_ptr<SstableFile>> files_;
  std::map<std::string, SplitPoint> split_point_;
  int asked_ = 0;
};

TEST(TabletPickerTest, TextCases) {
  RunTextCases("compaction/tablets.txt",
               [](const TextCase& text_case) { return TabletsCase(text_case).Run(); });
}

// Files of known bytes at known rows. Gives each tablet's size and split point, as the index blocks
// would.
class TabletWorld {
 public:
  explicit TabletWorld(uint64_t seed) : random_(seed) {
    Edit create;
    create.tables.push_back(NewTable(TestDefinition(1, "t", 1, {{"a", GcRule::None()}}), {}));
    create.next_table_id = 2;
    create.next_family_id = 2;
    Take(create);
  }

  void Flush() {
    const uint64_t number = next_number_++;
    std::map<std::string, uint64_t>& rows = bytes_of_[number];
    for (uint64_t i = 1 + random_.Below(40); i > 0; --i)
      rows[fmt::format("{:03}", random_.Below(200))] += 1 + random_.Below(60);
    if (random_.OneIn(8)) rows["100"] += 3000;  // a giant row
    SstableFile file = TestFile(number, rows.begin()->first, rows.rbegin()->first);
    file.summary.file_bytes = 0;
    for (const auto& [row, bytes] : rows) file.summary.file_bytes += bytes;
    Edit edit;
    edit.new_files.push_back(file);
    edit.last_sequence = number;
    edit.next_file_number = next_number_;
    edit.tables.push_back({.table_id = 1, .tablets = InstallFlush(table(), file, number, number)});
    Take(edit);
  }
  void Drop() {
    const std::string start = fmt::format("{:03}", random_.Below(200));
    Edit edit;
    edit.tables.push_back({.table_id = 1, .tablets = Excise(table(), KeyRange{start, "", true})});
    Take(edit);
  }

  // Applies picks until there are none. Checks that no merged tablet is split and no split tablet
  // is merged.
  void RunDown() {
    std::set<std::string> merged;  // first rows
    std::set<std::string> split;
    for (int step = 0; step < 200; ++step) {
      PickerInput input{.version = version_.get(), .busy = {}, .tablet_bytes_max = 1000};
      input.find_split_point = [this](const TabletName& tablet) {
        return Halve(*table().FindTablet(RangeFrom(tablet.start_row)));
      };
      const std::optional<CompactionPick> pick = PickTabletChange(input);
      if (!pick) return;
      Edit edit;
      edit.tables.push_back({.table_id = 1});
      if (pick->kind == CompactionKind::kSplitTablet) {
        EXPECT_FALSE(merged.contains(pick->subcompactions[0].tablet.start))
            << pick->subcompactions[0].tablet.start;
        split.insert({pick->subcompactions[0].tablet.start, pick->split_row});
        edit.tables[0].tablets =
            SplitTablet(*table().FindTablet(pick->subcompactions[0].tablet), pick->split_row)
                .value();
        ++splits;
      } else {
        merged.insert(pick->subcompactions[0].tablet.start);
        std::vector<Tablet> tablets;
        for (const PlannedSubcompaction& subcompaction : pick->subcompactions) {
          EXPECT_FALSE(split.contains(subcompaction.tablet.start)) << subcompaction.tablet.start;
          tablets.push_back(*table().FindTablet(subcompaction.tablet));
        }
        edit.tables[0].tablets.push_back(MergeTablets(tablets).value());
        ++merges;
      }
      Take(edit);
    }
    ADD_FAILURE() << "no end in sight\n" << VersionText(*version_);
  }

  int splits = 0;
  int merges = 0;

 private:
  const TableState& table() const { return *version_->tables.at(1); }
  KeyRange RangeFrom(const std::string& start) const {
    return table().tablets[table().TabletIndexOf(start)].range;
  }

  std::optional<SplitPoint> Halve(const Tablet& tablet) const {
    std::map<std::string, uint64_t> bytes_at;
    uint64_t total = 0;
    for (const SstableReference& reference : tablet.stack) {
      for (const auto& [row, bytes] : bytes_of_.at(reference.file->number)) {
        if (!reference.range.Contains(row)) continue;
        bytes_at[row] += bytes;
        total += bytes;
      }
    }
    std::optional<SplitPoint> best;
    uint64_t before = 0;
    for (const auto& [row, bytes] : bytes_at) {
      if (before > 0 && (!best || std::min(before, total - before) >
                                      std::min(best->bytes_before, best->bytes_after))) {
        best = {row, before, total - before};
      }
      before += bytes;
    }
    return best;
  }

  void Take(const Edit& edit) {
    version_ = Apply(*version_, edit).value();
    const absl::Status checked = CheckVersion(*version_);
    ASSERT_TRUE(checked.ok()) << checked << VersionText(*version_);
  }

  Random random_;
  std::shared_ptr<const Version> version_ = std::make_shared<const Version>();
  std::map<uint64_t, std::map<std::string, uint64_t>> bytes_of_;  // by file number and row
  uint64_t next_number_ = 1;
};

TEST(TabletPickerTest, ChangesComeToAnEndAndDoNotUndoEachOther) {
  int splits = 0;
  int merges = 0;
  for (uint64_t seed = 0; seed < ReducedPart(60) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TabletWorld world(seed);
    Random random(seed + 1000);
    for (int i = 0; i < 30; ++i) {
      random.OneIn(12) ? world.Drop() : world.Flush();
      world.RunDown();
    }
    splits += world.splits;
    merges += world.merges;
  }
  EXPECT_GT(splits, static_cast<int>(ReducedPart(300)));
  EXPECT_GT(merges, kReduced ? 8 : 60);
}

}  // namespace
}  // namespace stele::internal
