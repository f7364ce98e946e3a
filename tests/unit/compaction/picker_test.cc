// Tests PickCompaction: its picks as text (tests/data/compaction/picker.txt), and that picking ends
// if the clock does not move.
#include "compaction/picker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "base/invariant.h"
#include "base/random.h"
#include "base/status.h"
#include "compaction/merge_policy.h"
#include "compaction/stack_shape.h"
#include "manifest/stack_edits.h"
#include "support/base_sanitized.h"
#include "support/cell_text.h"
#include "support/compaction_fixture.h"
#include "support/manifest_history.h"
#include "unit/compaction/stack_reader.h"

namespace stele::internal {
namespace {

std::string_view NameOf(CompactionKind kind) {
  switch (kind) {
    case CompactionKind::kMerge:
      return "merge";
    case CompactionKind::kMajor:
      return "major";
    case CompactionKind::kRecompress:
      return "recompress";
    case CompactionKind::kSmallFiles:
      return "combine small files";
    case CompactionKind::kMetadataMerge:
      return "metadata merge";
    case CompactionKind::kDropFiles:
      return "drop";
    case CompactionKind::kSplitTablet:
      return "split";
    case CompactionKind::kMergeTablets:
      return "merge tablets";
  }
  return "?";
}

std::string PickText(const std::optional<CompactionPick>& pick) {
  if (!pick.has_value()) return "nothing\n";
  std::string out(NameOf(pick->kind));
  for (const PlannedSubcompaction& subcompaction : pick->subcompactions) {
    out += fmt::format(" {}..{} [{}, {})", subcompaction.tablet.start, subcompaction.tablet.end,
                       subcompaction.input_begin, subcompaction.input_end);
  }
  return out + ": " + pick->reason + "\n";
}

// Input lines: "tablet a..c", then its file references.
std::string RunCase(const TextCase& text_case) {
  auto table = std::make_shared<TableState>();
  table->definition = DefinitionOf(text_case);
  StackReader stack_reader;
  std::vector<Tablet> tablets;
  for (const std::string& line : text_case.input) {
    if (line.rfind("tablet ", 0) == 0) {
      tablets.push_back({ParseRange(line.substr(7)), {}});
      continue;
    }
    if (tablets.empty()) tablets.push_back({KeyRange::All(), {}});
    tablets.back().stack.push_back(stack_reader.Read(line, tablets.back().range));
  }
  table->tablets = std::move(tablets);
  Version version;
  version.tables.Set(1, table);
  PickerInput input{.version = &version};
  input.now = text_case.has("now") ? text_case.number("now") : 1'000'000;
  if (text_case.has("busy")) input.busy.insert({1, text_case.value("busy")});
  if (text_case.has("unreadable")) {
    std::istringstream numbers(text_case.value("unreadable"));
    const TabletName tablet{1,
                            text_case.has("unreadable_at") ? text_case.value("unreadable_at") : ""};
    for (std::string number; std::getline(numbers, number, '+');)
      input.unreadable[tablet].insert(std::stoull(number));
  }
  // Applies to all tablets, or to the tablet that starts at read_at.
  for (const Tablet& tablet : table->tablets) {
    if (!text_case.has("reads") ||
        (text_case.has("read_at") && text_case.value("read_at") != tablet.range.start))
      continue;
    input.reads[{1, tablet.range.start}] = static_cast<uint64_t>(text_case.number("reads"));
  }
  const auto size = [&](const char* name, uint64_t* bytes) {
    if (text_case.has(name)) *bytes = static_cast<uint64_t>(text_case.number(name));
  };
  size("subcompaction_bytes", &input.sizes.subcompaction_bytes);
  size("neighbours_bytes", &input.sizes.neighbours_bytes);
  size("small_file_bytes", &input.sizes.small_file_bytes);
  size("recompress_bytes", &input.sizes.recompress_bytes);
  size("cold_bytes", &input.sizes.cold_bytes);
  size("output_bytes_max", &input.output_bytes_max);
  size("reclaiming_output_bytes_max", &input.reclaiming_output_bytes_max);
  input.metadata_merges_last = text_case.has("metadata_merges_last");
  input.recurring_last = text_case.has("recurring_last");
  uint64_t withheld_bytes = 0;
  input.withheld_bytes = &withheld_bytes;
  std::string samples;
  const auto measure_dead = [&](const DeadSampleRequest& request) -> std::optional<double> {
    samples += fmt::format("sample {}..{} from {}: at most {} of {} bytes{}\n",
                           request.tablet.start, request.tablet.end, request.input_begin,
                           request.dead_bytes_max, request.bytes, request.exact ? ", exact" : "");
    if (!text_case.has("dead_percent")) return std::nullopt;
    return static_cast<double>(text_case.number("dead_percent")) / 100;
  };
  if (text_case.has("dead_percent") || text_case.has("unsampled"))
    input.measure_dead = measure_dead;
  const std::string pick = PickText(PickCompaction(input));
  const std::string withheld =
      withheld_bytes == 0 ? "" : fmt::format("withheld {}\n", withheld_bytes);
  return fmt::format("{}{}{}debt {}\n", samples, pick, withheld,
                     CompactionDebtBytes(version, input.unreadable, input.sizes));
}

TEST(PickerTest, TextCases) { RunTextCases("compaction/picker.txt", RunCase); }

// Returns the statistics after a job in the worst case: the job drops only the data it must drop.
SstableFile Merged(uint64_t number, const std::vector<SstableReference>& inputs,
                   int64_t newest_commit_time, const TableDefinition& definition, bool reaches_end,
                   int64_t now) {
  std::string first_row = inputs.front().range->start;
  std::string last_row;
  for (const SstableReference& input : inputs) {
    const std::string& end = input.range->end;
    first_row = std::min(first_row, input.range->start);
    last_row = std::max(last_row,
                        end.ends_with('\0') ? end.substr(0, end.size() - 1) : input.range->start);
  }
  SstableFile output = TestFile(number, first_row, last_row);
  SstableSummary& summary = output.summary;
  summary.families.clear();
  summary.cells = summary.logical_bytes = summary.file_bytes = 0;
  output.newest_commit_time = newest_commit_time;
  output.bottommost_codec = reaches_end;
  std::map<uint32_t, FamilySummary> families;
  std::set<uint64_t> counted;  // files that several tablets share
  for (const SstableReference& input : inputs) {
    if (!counted.insert(input.file->number).second) continue;
    if (!reaches_end) summary.row_tombstones += input.file->summary.row_tombstones;
    for (const FamilySummary& family : input.file->summary.families) {
      const std::optional<uint32_t> family_index = definition.families.IndexOfId(family.family_id);
      if (!family_index.has_value()) continue;
      const Retention& rule = definition.retentions[*family_index - 1];
      FamilySummary& sum =
          families
              .try_emplace(family.family_id, FamilySummary{.family_id = family.family_id,
                                                           .timestamp_min = INT64_MAX,
                                                           .timestamp_max = INT64_MIN})
              .first->second;
      if (!reaches_end) sum.tombstones += family.tombstones;
      if (family.cells == 0 || rule.IsGarbage(1, family.timestamp_max, now)) continue;
      int64_t kept_min = family.timestamp_min;
      while (rule.IsGarbage(1, kept_min, now)) ++kept_min;
      sum.cells += family.cells;
      sum.logical_bytes += family.logical_bytes;
      sum.timestamp_min = std::min(sum.timestamp_min, kept_min);
      sum.timestamp_max = std::max(sum.timestamp_max, family.timestamp_max);
      sum.versions_max += family.versions_max;
    }
  }
  for (auto& [id, family] : families) {
    while (family.versions_max > 1 &&
           definition.retentions[*definition.families.IndexOfId(id) - 1].IsGarbage(
               family.versions_max, family.timestamp_max, output.newest_commit_time)) {
      --family.versions_max;
    }
    summary.cells += family.cells;
    summary.tombstones += family.tombstones;
    summary.logical_bytes += family.logical_bytes;
    if (family.cells + family.tombstones > 0) summary.families.push_back(family);
  }
  summary.tombstones += summary.row_tombstones;
  summary.file_bytes = summary.logical_bytes + 100;
  summary.rows = summary.cells + summary.tombstones == 0 ? 0 : 2;
  return output;
}

// Returns the edit that the job of a pick installs.
std::optional<Edit> CarryOut(const Version& version, const CompactionPick& pick, uint64_t number,
                             int64_t now, const std::string& where) {
  const TableState& table = *version.tables.at(pick.table_id);
  std::vector<SstableReference> all;
  std::vector<std::vector<SstableReference>> inputs;
  bool reaches_end = true;
  int64_t newest_commit_time = INT64_MAX;  // the newest that is valid for every subcompaction
  for (const PlannedSubcompaction& subcompaction : pick.subcompactions) {
    const Tablet& tablet = *table.FindTablet(subcompaction.tablet);
    inputs.emplace_back(
        tablet.stack.begin() + static_cast<std::ptrdiff_t>(subcompaction.input_begin),
        tablet.stack.begin() + static_cast<std::ptrdiff_t>(subcompaction.input_end));
    all.insert(all.end(), inputs.back().begin(), inputs.back().end());
    int64_t newest_of_subcompaction = INT64_MIN;
    for (const SstableReference& reference : inputs.back()) {
      newest_of_subcompaction =
          std::max(newest_of_subcompaction, reference.file->newest_commit_time);
    }
    newest_commit_time = std::min(newest_commit_time, newest_of_subcompaction);
    reaches_end =
        reaches_end && ReachesEnd(tablet, subcompaction.input_begin, subcompaction.input_end);
  }
  const bool rewrites =
      pick.kind != CompactionKind::kDropFiles && pick.kind != CompactionKind::kMetadataMerge;
  std::optional<SstableFile> output;
  if (rewrites)
    output = Merged(number, all, newest_commit_time, *table.definition, reaches_end, now);
  if (output.has_value() && output->summary.rows == 0) output.reset();
  Edit edit;
  if (output.has_value()) edit.new_files.push_back(*output);
  edit.next_file_number = number + 1;
  TableEdit& table_edit = edit.tables.emplace_back(TableEdit{.table_id = pick.table_id});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const KeyRange& range = pick.subcompactions[i].tablet;
    const auto tablet_edit = rewrites ? InstallCompaction(table, range, inputs[i], output)
                             : pick.kind == CompactionKind::kDropFiles
                                 ? InstallDrop(table, range, inputs[i])
                                 : InstallMetadataMerge(table, range, inputs[i]);
    EXPECT_TRUE(tablet_edit.ok()) << where << ": " << tablet_edit.status();
    if (!tablet_edit.ok()) return std::nullopt;
    table_edit.tablets.push_back(*tablet_edit);
  }
  return edit;
}

// Picks and applies until there is nothing to pick. Returns the number of picks by kind.
std::map<CompactionKind, int> RunDown(std::shared_ptr<const Version> version, int64_t now,
                                      const CompactionSizes& sizes, const std::string& where) {
  std::map<CompactionKind, int> counts;
  uint64_t number = 100'000;
  for (int step = 0; step < 500; ++step) {
    PickerInput input{.version = version.get(), .busy = {}, .now = now, .sizes = sizes};
    const std::optional<CompactionPick> pick = PickCompaction(input);
    if (!pick.has_value()) {
      EXPECT_EQ(CompactionDebtBytes(*version, {}, sizes), 0u) << where;
      return counts;
    }
    ++counts[pick->kind];
    const std::optional<Edit> edit = CarryOut(*version, *pick, number++, now, where);
    if (!edit.has_value()) return counts;
    version = Apply(*version, *edit).value();
    EXPECT_TRUE(CheckVersion(*version).ok()) << where << CheckVersion(*version);
  }
  ADD_FAILURE() << where << ": no end in sight\n" << VersionText(*version);
  return counts;
}

SstableFile RandomFile(Random& random, uint64_t number) {
  std::string first(1, static_cast<char>('a' + random.Below(26)));
  std::string last(1, static_cast<char>('a' + random.Below(26)));
  if (last < first) std::swap(first, last);
  if (random.OneIn(2)) last = first;
  SstableFile file = TestFile(number, first, last);
  file.newest_commit_time = static_cast<int64_t>(random.Below(1'000'000));
  if (random.OneIn(2)) file.newest_commit_time -= 600'000'000;  // cold
  file.summary.families.clear();
  file.summary.file_bytes = 100 + (uint64_t{1} << random.Below(20));
  file.summary.row_tombstones = random.OneIn(3) ? random.Below(20) : 0;
  file.summary.tombstones = file.summary.row_tombstones;
  file.summary.cells = 0;
  for (uint32_t id = 1; id <= 4; ++id) {
    if (random.OneIn(2)) continue;
    FamilySummary family;
    family.family_id = id;
    family.cells = random.Below(30);
    family.tombstones = random.OneIn(3) ? random.Below(20) : 0;
    family.logical_bytes = 10 * (family.cells + family.tombstones);
    family.timestamp_min = static_cast<int64_t>(random.Below(1'000'000));
    family.timestamp_max = family.timestamp_min + static_cast<int64_t>(random.Below(10'000));
    family.versions_max = family.cells == 0 ? 0 : 1 + random.Below(family.cells);
    file.summary.cells += family.cells;
    file.summary.tombstones += family.tombstones;
    file.summary.families.push_back(family);
  }
  file.summary.logical_bytes = 10 * (file.summary.cells + file.summary.tombstones + 1);
  return file;
}

TEST(PickerTest, ChoosingComesToAnEnd) {
  std::map<CompactionKind, int> totals;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    TextCase rules;
    rules.arguments = {{"families", "a,b,c"},
                       {"a", "maxversions=2"},
                       {"b", "maxage=300ms"},
                       {"c", "maxversions=1&&maxage=500ms||maxversions=5"}};
    Edit create;
    create.tables.push_back(NewTable(DefinitionOf(rules), {"h", "p"}));
    create.next_table_id = 2;
    create.next_family_id = 10;
    std::shared_ptr<const Version> version = Apply(Version(), create).value();
    const uint64_t flush_count = random.Below(40);
    for (uint64_t i = 1; i <= flush_count; ++i) {
      Edit edit;
      TableEdit& table_edit = edit.tables.emplace_back();
      table_edit.table_id = 1;
      edit.last_sequence = 10 * i;
      edit.next_file_number = i + 1;
      if (random.OneIn(6)) {
        const std::string start(1, static_cast<char>('a' + random.Below(26)));
        table_edit.tablets = Excise(*version->tables.at(1), KeyRange{start, start + "z", false});
      } else {
        edit.new_files.push_back(RandomFile(random, i));
        table_edit.tablets =
            InstallFlush(*version->tables.at(1), edit.new_files[0], 10 * i, 10 * i);
      }
      version = Apply(*version, edit).value();
    }
    // The sizes are so small that each bound affects some files and not others. Some of the data is
    // cold.
    const CompactionSizes sizes{.subcompaction_bytes = 2000,
                                .neighbours_bytes = 100'000,
                                .small_file_bytes = 100'000,
                                .debt_free_files = random.Below(3),
                                .recompress_bytes = 300,
                                .cold_bytes = 1000};
    const int64_t now = random.OneIn(3) ? 1'000'000'000 : 1'000'000;
    for (const auto& [kind, count] : RunDown(version, now, sizes, fmt::format("seed {}", seed)))
      totals[kind] += count;
    if (HasFailure()) return;
  }
  EXPECT_GT(totals[CompactionKind::kMerge], 50);
  EXPECT_GT(totals[CompactionKind::kMajor], 50);
  EXPECT_GT(totals[CompactionKind::kDropFiles], 50);
  EXPECT_GT(totals[CompactionKind::kMetadataMerge], 50);
  EXPECT_GT(totals[CompactionKind::kRecompress], 0);
}

// Flushes of equal size into one tablet. Measures how often a byte is rewritten and how many
// references a read meets.
TEST(PickerTest, WriteAmplificationIsLogarithmic) {
  constexpr uint64_t kFlushCount = 1296;  // 6^4
  constexpr uint64_t kFlushBytes = 1000;
  auto table = std::make_shared<TableState>();
  table->definition = DefinitionOf({});
  Tablet tablet{KeyRange::All(), {}};
  uint64_t rewritten_bytes = 0;
  size_t references_max = 0;
  uint64_t number = 1;
  const auto push = [&](size_t position, uint64_t bytes, uint64_t first, uint64_t last) {
    auto file = std::make_shared<SstableFile>(TestFile(number++, "a", "z"));
    file->summary.file_bytes = bytes;
    auto& stack = tablet.stack;
    stack.insert(stack.begin() + static_cast<std::ptrdiff_t>(position),
                 SstableReference{file, KeyRange::All(), first, last});
  };
  for (uint64_t flush = 1; flush <= kFlushCount; ++flush) {
    push(0, kFlushBytes, flush, flush);
    Version version;
    const auto pick_next = [&] {
      table->tablets = {tablet};
      version.tables.Set(1, table);
      return PickCompaction({.version = &version});
    };
    while (const std::optional<CompactionPick> pick = pick_next()) {
      auto& stack = tablet.stack;
      const PlannedSubcompaction& subcompaction = pick->subcompactions.at(0);
      const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(subcompaction.input_begin);
      const auto end = stack.begin() + static_cast<std::ptrdiff_t>(subcompaction.input_end);
      uint64_t bytes = 0;
      for (auto it = begin; it != end; ++it) bytes += it->file->summary.file_bytes;
      const uint64_t first = std::prev(end)->sequence_first;
      const uint64_t last = begin->sequence_last;
      stack.erase(begin, end);
      push(subcompaction.input_begin, bytes, first, last);
      rewritten_bytes += bytes;
    }
    references_max = std::max(references_max, tablet.stack.size());
  }
  EXPECT_LE(rewritten_bytes, 4 * kFlushCount * kFlushBytes);  // once per level
  EXPECT_LE(references_max, 20u);
}

// A table that is flushed and compacted repeatedly, with its cost.
class FlushedTable {
 public:
  explicit FlushedTable(const std::vector<std::string>& splits) {
    Edit create;
    create.tables.push_back(NewTable(DefinitionOf({}), splits));
    create.next_table_id = 2;
    create.next_family_id = 10;
    version_ = Apply(Version(), create).value();
  }

  void Flush(const std::string& first_row, const std::string& last_row, uint64_t bytes) {
    SstableFile file = TestFile(number_, first_row, last_row);
    SstableSummary& summary = file.summary;
    summary.families.resize(1);
    summary.families[0] = {
        .family_id = 1, .cells = bytes / 10, .logical_bytes = bytes, .versions_max = 1};
    summary.cells = bytes / 10;
    summary.row_tombstones = summary.tombstones = 0;
    summary.logical_bytes = summary.file_bytes = bytes;
    file.newest_commit_time = now_;
    Edit edit;
    edit.new_files.push_back(file);
    edit.last_sequence = number_;
    edit.next_file_number = number_ + 1;
    edit.tables.push_back(
        {.table_id = 1, .tablets = InstallFlush(*version_->tables.at(1), file, number_, number_)});
    Take(edit);
  }

  void Wait(std::chrono::microseconds time) { now_ += time.count(); }

  // Compacts until nothing is due.
  void Compact(const CompactionSizes& sizes = {}) {
    for (int step = 0; step < 1000; ++step) {
      const auto pick =
          PickCompaction({.version = version_.get(), .busy = {}, .now = now_, .sizes = sizes});
      if (!pick.has_value()) return;
      const std::optional<Edit> edit = CarryOut(*version_, *pick, number_, now_, pick->reason);
      ASSERT_TRUE(edit.has_value());
      ++counts_[pick->kind];
      for (const PlannedSubcompaction& subcompaction : pick->subcompactions)
        inputs_max_ = std::max(inputs_max_, subcompaction.input_end - subcompaction.input_begin);
      for (const SstableFile& file : edit->new_files) rewritten_bytes_ += file.summary.file_bytes;
      Take(*edit);
    }
    FAIL() << "no end in sight";
  }

  const Tablet& tablet(size_t index) const { return version_->tables.at(1)->tablets[index]; }
  size_t file_count() const { return version_->Files().size(); }
  uint64_t rewritten_bytes() const { return rewritten_bytes_; }
  size_t inputs_max() const { return inputs_max_; }  // of one job in one tablet
  int count(CompactionKind kind) { return counts_[kind]; }

 private:
  void Take(const Edit& edit) {
    version_ = Apply(*version_, edit).value();
    ++number_;
    ASSERT_TRUE(CheckVersion(*version_).ok()) << CheckVersion(*version_);
  }

  std::shared_ptr<const Version> version_;
  uint64_t number_ = 1;
  int64_t now_ = 0;
  uint64_t rewritten_bytes_ = 0;
  size_t inputs_max_ = 0;
  std::map<CompactionKind, int> counts_;
};

// A backlog of files is merged in parts. No job opens all of it, and no byte is rewritten more than
// once for that reason.
TEST(PickerTest, APileIsMergedInParts) {
  constexpr uint64_t kFlushCount = kReduced ? 700 : 2000;  // quadratic
  constexpr uint64_t kFlushBytes = 1000;
  FlushedTable table({});
  for (uint64_t flush = 0; flush < kFlushCount; ++flush) table.Flush("a", "z", kFlushBytes);
  table.Compact();
  EXPECT_LE(table.inputs_max(), kFanInMax);
  EXPECT_GE(table.inputs_max(), kFanInMax / 2);
  EXPECT_LE(table.rewritten_bytes(), 3 * kFlushCount * kFlushBytes);
  EXPECT_LE(table.tablet(0).stack.size(), 10u);
}

// The same if an adjacent tablet is due.
TEST(PickerTest, ATabletsPileIsNotTakenAlong) {
  FlushedTable table({"m"});
  table.Flush("a", "b", 1000);
  for (int flush = 0; flush < 100; ++flush) table.Flush("m", "z", 1000);
  for (int flush = 0; flush < 5; ++flush) table.Flush("a", "z", 2000);
  table.Compact();
  EXPECT_LE(table.inputs_max(), kFanInMax);
}

TEST(PickerTest, RandomWritesOverManyTabletsMakeFewFiles) {
  constexpr int kTabletCount = 40;
  constexpr int kFlushCount = 30;
  constexpr uint64_t kFlushBytes = uint64_t{4} << 20;  // about 100 KiB per tablet
  std::vector<std::string> splits;
  for (int i = 1; i < kTabletCount; ++i) splits.push_back(fmt::format("row{:02}", i));
  FlushedTable table(splits);
  size_t files_max = 0;
  for (int i = 0; i < kFlushCount; ++i) {
    table.Flush("row00", "row39x", kFlushBytes);
    table.Compact();
    if (::testing::Test::HasFatalFailure()) return;
    files_max = std::max(files_max, table.file_count());
  }
  EXPECT_LE(files_max, 11u);
  EXPECT_EQ(table.count(CompactionKind::kMerge) + table.count(CompactionKind::kMajor),
            kFlushCount / 6);
  EXPECT_LE(table.rewritten_bytes(), kFlushCount * kFlushBytes * 11 / 10);
  // A single tablet would have been compacted in the same way.
  EXPECT_EQ(table.tablet(0).stack.size(), table.tablet(kTabletCount - 1).stack.size());
}

// Also, no row is rewritten before it has been cold for ten minutes.
TEST(PickerTest, RowsWrittenInOrderAreRewrittenOnce) {
  constexpr int kFlushCount = 100;
  constexpr uint64_t kFlushBytes = uint64_t{10} << 20;
  FlushedTable table({});
  for (int i = 0; i < kFlushCount; ++i) {
    table.Flush(fmt::format("row{:03}a", i), fmt::format("row{:03}z", i), kFlushBytes);
    table.Compact();
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_TRUE(i >= 10 || table.count(CompactionKind::kRecompress) == 0)
        << "after " << i << " minutes";
    table.Wait(std::chrono::minutes(1));
    ASSERT_LE(
        ClustersOf(table.tablet(0), CountParts({.definition = {}, .tablets = {table.tablet(0)}}))
            .size(),
        1u);
  }
  EXPECT_GT(table.count(CompactionKind::kRecompress), 0) << "while rows came";
  table.Wait(std::chrono::minutes(10));
  table.Compact();
  EXPECT_EQ(table.count(CompactionKind::kMetadataMerge), kFlushCount - 1);
  EXPECT_EQ(table.count(CompactionKind::kMerge) + table.count(CompactionKind::kMajor), 0);
  EXPECT_EQ(table.count(CompactionKind::kRecompress), kFlushCount / 4);  // 40 MiB each
  EXPECT_LE(table.rewritten_bytes(), kFlushCount * kFlushBytes * 11 / 10);
  for (const SstableReference& reference : table.tablet(0).stack)
    EXPECT_TRUE(reference.file->bottommost_codec);
}

TEST(PickerTest, ManySmallFlushesInRowOrderStayFewFiles) {
  constexpr int kFlushCount = 3000;
  constexpr uint64_t kFlushBytes = 4096;  // 12 MiB in total
  FlushedTable table({});
  size_t files_max = 0;
  for (int i = 0; i < kFlushCount; ++i) {
    table.Flush(fmt::format("row{:04}a", i), fmt::format("row{:04}z", i), kFlushBytes);
    table.Compact();
    if (::testing::Test::HasFatalFailure()) return;
    files_max = std::max(files_max, table.file_count());
  }
  EXPECT_LE(files_max, 60u);
  EXPECT_LE(table.rewritten_bytes(), 4 * kFlushCount * kFlushBytes);
  EXPECT_EQ(table.count(CompactionKind::kMerge) + table.count(CompactionKind::kMajor), 0);
}

TEST(PickerTest, SmallFilesWrittenInAnyOrderAreCombined) {
  FlushedTable table({});
  for (int i = 0; i < 40; ++i)
    table.Flush(fmt::format("row{:04}", 97 * i % 40), fmt::format("row{:04}z", 97 * i % 40), 4096);
  table.Compact();
  EXPECT_LE(table.file_count(), 16u);
}

}  // namespace
}  // namespace stele::internal
