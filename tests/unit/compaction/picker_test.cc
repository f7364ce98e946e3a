// PickCompaction: its choices as text (tests/data/compaction/picker.txt), and that choosing comes to an end under one clock.
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
#include "support/cell_text.h"
#include "support/compaction_fixture.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

// "file 7 bytes=100 [rows=a..c] [keys=a..c] [cells=10] [tombstones=0] [row_tombstones=0] [family=1] [min=0] [max=0] [versions=1] [commit=0]
// [same] [settled] [first=1]": a reference, newest first. `same` is of the interval before it, `first` where its own begins; a number that
// came before is the same file under the same commits. Its first and last row are those of the tablets that show it, or `keys`.
class StackReader {
 public:
  SstableReference Read(const std::string& line, const KeyRange& tablet) {
    std::istringstream in(line);
    std::string word;
    uint64_t number = 0;
    in >> word >> number;
    std::map<std::string, std::string> values;
    while (in >> word) values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    const auto value = [&](const char* name, int64_t otherwise) { return values.count(name) == 0 ? otherwise : std::stoll(values[name]); };
    std::shared_ptr<SstableFile>& file = files_[number];
    if (file == nullptr) {
      file = std::make_shared<SstableFile>(TestFile(number, RowsIn(tablet).start, RowsIn(tablet).end));
      if (values.count("keys") != 0) file->summary.first_row = ParseRange(values["keys"]).start;
      if (values.count("keys") != 0) file->summary.last_row = ParseRange(values["keys"]).end;
      file->newest_commit_time = value("commit", 0);
      file->settled = values.count("settled") != 0;
      SstableSummary& summary = file->summary;
      FamilySummary& family = summary.families[0];
      summary.file_bytes = static_cast<uint64_t>(value("bytes", 100));
      family.family_id = static_cast<uint32_t>(value("family", 1));
      summary.cells = family.cells = static_cast<uint64_t>(value("cells", 10));
      summary.logical_bytes = family.logical_bytes = summary.file_bytes;
      family.timestamp_min = value("min", 0);
      family.timestamp_max = value("max", 0);
      family.versions_max = static_cast<uint64_t>(value("versions", 1));
      family.tombstones = static_cast<uint64_t>(value("tombstones", 0));
      summary.row_tombstones = static_cast<uint64_t>(value("row_tombstones", 0));
      summary.tombstones = family.tombstones + summary.row_tombstones;
    }
    file->summary.last_row = std::max(file->summary.last_row, RowsIn(tablet).end);
    if (values.count("same") == 0) sequence_ -= 10;
    const uint64_t sequence = sequences_.try_emplace(number, sequence_).first->second;
    const KeyRange rows = values.count("rows") == 0 ? tablet : Intersect(ParseRange(values["rows"]), tablet);
    return {file, rows, static_cast<uint64_t>(value("first", static_cast<int64_t>(sequence))), sequence + 5};
  }

 private:
  // The first and the last row, among single letters, of a tablet.
  static KeyRange RowsIn(const KeyRange& tablet) {
    const std::string last = tablet.unbounded_end ? "z" : std::string(1, static_cast<char>(tablet.end[0] - 1));
    return {tablet.start.empty() ? "a" : tablet.start, last, false};
  }

  std::map<uint64_t, std::shared_ptr<SstableFile>> files_;
  std::map<uint64_t, uint64_t> sequences_;  // by file
  uint64_t sequence_ = 100'000;
};

std::string_view NameOf(ChoiceKind kind) {
  switch (kind) {
    case ChoiceKind::kMerge:
      return "merge";
    case ChoiceKind::kMajor:
      return "major";
    case ChoiceKind::kSettle:
      return "settle";
    case ChoiceKind::kGather:
      return "gather";
    case ChoiceKind::kMove:
      return "move";
    case ChoiceKind::kDropFiles:
      return "drop";
    case ChoiceKind::kSplitTablet:
      return "split";
    case ChoiceKind::kMergeTablets:
      return "merge tablets";
  }
  return "?";
}

std::string ChoiceText(const std::optional<Choice>& choice) {
  if (!choice.has_value()) return "nothing\n";
  std::string out(NameOf(choice->kind));
  for (const ChoiceSlice& slice : choice->slices) {
    out += fmt::format(" {}..{} [{}, {})", slice.tablet.start, slice.tablet.end, slice.input_begin, slice.input_end);
  }
  return out + ": " + choice->reason + "\n";
}

// Input lines: "tablet a..c", then its references.
std::string RunCase(const TextCase& text_case) {
  auto table = std::make_shared<TableState>();
  table->definition = DefinitionOf(text_case);
  StackReader stack_reader;
  for (const std::string& line : text_case.input) {
    if (line.rfind("tablet ", 0) == 0) {
      table->tablets.push_back({ParseRange(line.substr(7)), {}});
      continue;
    }
    if (table->tablets.empty()) table->tablets.push_back({KeyRange::All(), {}});
    table->tablets.back().stack.push_back(stack_reader.Read(line, table->tablets.back().range));
  }
  Version version;
  version.tables[1] = table;
  PickerInput input{.version = &version};
  input.now = text_case.has("now") ? text_case.number("now") : 1'000'000;
  if (text_case.has("busy")) input.busy.insert({1, text_case.value("busy")});
  if (text_case.has("unreadable")) {
    std::istringstream numbers(text_case.value("unreadable"));
    const TabletName tablet{1, text_case.has("unreadable_at") ? text_case.value("unreadable_at") : ""};
    for (std::string number; std::getline(numbers, number, '+');) input.unreadable[tablet].insert(std::stoull(number));
  }
  // For all tablets, or that which begins with read_at.
  for (const Tablet& tablet : table->tablets) {
    if (!text_case.has("reads") || (text_case.has("read_at") && text_case.value("read_at") != tablet.range.start)) continue;
    input.reads[{1, tablet.range.start}] = static_cast<uint64_t>(text_case.number("reads"));
  }
  const auto size = [&](const char* name, uint64_t* bytes) {
    if (text_case.has(name)) *bytes = static_cast<uint64_t>(text_case.number(name));
  };
  size("slice", &input.sizes.slice_bytes);
  size("together", &input.sizes.neighbours_bytes);
  size("gather", &input.sizes.gather_bytes);
  size("settle", &input.sizes.settle_bytes);
  size("rest", &input.sizes.rest_bytes);
  size("room", &input.output_bytes_max);
  size("reclaiming_room", &input.reclaiming_output_bytes_max);
  uint64_t withheld_bytes = 0;
  input.withheld_bytes = &withheld_bytes;
  const std::string choice = ChoiceText(PickCompaction(input));
  const std::string withheld = withheld_bytes == 0 ? "" : fmt::format("withheld {}\n", withheld_bytes);
  return fmt::format("{}{}debt {}\n", choice, withheld, CompactionDebtBytes(version, input.unreadable));
}

TEST(PickerTest, TextCases) { RunTextCases("compaction/picker.txt", RunCase); }

// What a job does to the statistics it was chosen by, at worst: it drops just what it must.
SstableFile Merged(uint64_t number, const std::vector<SstableReference>& inputs, int64_t newest_commit_time,
                   const TableDefinition& definition, bool reaches_end, int64_t now) {
  std::string first_row = inputs.front().range->start;
  std::string last_row;
  for (const SstableReference& input : inputs) {
    const std::string& end = input.range->end;
    first_row = std::min(first_row, input.range->start);
    last_row = std::max(last_row, end.ends_with('\0') ? end.substr(0, end.size() - 1) : input.range->start);
  }
  SstableFile output = TestFile(number, first_row, last_row);
  SstableSummary& summary = output.summary;
  summary.families.clear();
  summary.cells = summary.logical_bytes = summary.file_bytes = 0;
  output.newest_commit_time = newest_commit_time;
  output.settled = reaches_end;
  std::map<uint32_t, FamilySummary> families;
  std::set<uint64_t> counted;  // a file that several tablets share
  for (const SstableReference& input : inputs) {
    if (!counted.insert(input.file->number).second) continue;
    if (!reaches_end) summary.row_tombstones += input.file->summary.row_tombstones;
    for (const FamilySummary& family : input.file->summary.families) {
      const std::optional<uint32_t> rank = definition.families.RankOfId(family.family_id);
      if (!rank.has_value()) continue;
      const Retention& rule = definition.retentions[*rank - 1];
      FamilySummary& sum =
          families
              .try_emplace(family.family_id,
                           FamilySummary{.family_id = family.family_id, .timestamp_min = INT64_MAX, .timestamp_max = INT64_MIN})
              .first->second;
      if (!reaches_end) sum.tombstones += family.tombstones;
      if (family.cells == 0 || rule.Condemned(1, family.timestamp_max, now)) continue;
      int64_t kept_min = family.timestamp_min;
      while (rule.Condemned(1, kept_min, now)) ++kept_min;
      sum.cells += family.cells;
      sum.logical_bytes += family.logical_bytes;
      sum.timestamp_min = std::min(sum.timestamp_min, kept_min);
      sum.timestamp_max = std::max(sum.timestamp_max, family.timestamp_max);
      sum.versions_max += family.versions_max;
    }
  }
  for (auto& [id, family] : families) {
    while (family.versions_max > 1 && definition.retentions[*definition.families.RankOfId(id) - 1].Condemned(
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

// The edit of a choice, as the job would install it.
std::optional<Edit> CarryOut(const Version& version, const Choice& choice, uint64_t number, int64_t now, const std::string& where) {
  const TableState& table = *version.tables.at(choice.table_id);
  std::vector<SstableReference> all;
  std::vector<std::vector<SstableReference>> inputs;
  bool reaches_end = true;
  int64_t newest_commit_time = INT64_MAX;  // that holds for every slice
  for (const ChoiceSlice& slice : choice.slices) {
    const Tablet& tablet = *table.FindTablet(slice.tablet);
    inputs.emplace_back(tablet.stack.begin() + static_cast<std::ptrdiff_t>(slice.input_begin),
                        tablet.stack.begin() + static_cast<std::ptrdiff_t>(slice.input_end));
    all.insert(all.end(), inputs.back().begin(), inputs.back().end());
    int64_t newest_of_slice = INT64_MIN;
    for (const SstableReference& reference : inputs.back()) {
      newest_of_slice = std::max(newest_of_slice, reference.file->newest_commit_time);
    }
    newest_commit_time = std::min(newest_commit_time, newest_of_slice);
    reaches_end = reaches_end && ReachesEnd(tablet, slice.input_begin, slice.input_end);
  }
  const bool rewrites = choice.kind != ChoiceKind::kDropFiles && choice.kind != ChoiceKind::kMove;
  std::optional<SstableFile> output;
  if (rewrites) output = Merged(number, all, newest_commit_time, *table.definition, reaches_end, now);
  if (output.has_value() && output->summary.rows == 0) output.reset();
  Edit edit;
  if (output.has_value()) edit.new_files.push_back(*output);
  edit.next_file_number = number + 1;
  TableEdit& table_edit = edit.tables.emplace_back(TableEdit{.table_id = choice.table_id});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const KeyRange& range = choice.slices[i].tablet;
    const auto tablet_edit = rewrites                                ? InstallCompaction(table, range, inputs[i], output)
                             : choice.kind == ChoiceKind::kDropFiles ? InstallDrop(table, range, inputs[i])
                                                                     : InstallMove(table, range, inputs[i]);
    EXPECT_TRUE(tablet_edit.ok()) << where << ": " << tablet_edit.status();
    if (!tablet_edit.ok()) return std::nullopt;
    table_edit.tablets.push_back(*tablet_edit);
  }
  return edit;
}

// Picks and carries out until nothing is picked. Answers how many choices that took, by kind.
std::map<ChoiceKind, int> RunDown(std::shared_ptr<const Version> version, int64_t now, const CompactionSizes& sizes,
                                  const std::string& where) {
  std::map<ChoiceKind, int> counts;
  uint64_t number = 100'000;
  for (int step = 0; step < 500; ++step) {
    PickerInput input{.version = version.get(), .busy = {}, .now = now, .sizes = sizes};
    const std::optional<Choice> choice = PickCompaction(input);
    if (!choice.has_value()) {
      EXPECT_EQ(CompactionDebtBytes(*version), 0u) << where;
      return counts;
    }
    ++counts[choice->kind];
    const std::optional<Edit> edit = CarryOut(*version, *choice, number++, now, where);
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
  if (random.OneIn(2)) file.newest_commit_time -= 600'000'000;  // at rest
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
  std::map<ChoiceKind, int> totals;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    TextCase rules;
    rules.arguments = {
        {"families", "a,b,c"}, {"a", "maxversions=2"}, {"b", "maxage=300ms"}, {"c", "maxversions=1&&maxage=500ms||maxversions=5"}};
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
        table_edit.tablets = InstallFlush(*version->tables.at(1), edit.new_files[0], 10 * i, 10 * i);
      }
      version = Apply(*version, edit).value();
    }
    // Small enough for each bound to matter to some files and not to others; and some of it at rest.
    const CompactionSizes sizes{
        .slice_bytes = 2000, .neighbours_bytes = 100'000, .gather_bytes = 100'000, .settle_bytes = 300, .rest_bytes = 1000};
    const int64_t now = random.OneIn(3) ? 1'000'000'000 : 1'000'000;
    for (const auto& [kind, count] : RunDown(version, now, sizes, fmt::format("seed {}", seed))) totals[kind] += count;
    if (HasFailure()) return;
  }
  EXPECT_GT(totals[ChoiceKind::kMerge], 50);
  EXPECT_GT(totals[ChoiceKind::kMajor], 50);
  EXPECT_GT(totals[ChoiceKind::kDropFiles], 50);
  EXPECT_GT(totals[ChoiceKind::kMove], 50);
  EXPECT_GT(totals[ChoiceKind::kSettle], 0);
}

// Flushes of one size into one tablet: how often is a byte rewritten, and how many references does a read meet?
TEST(PickerTest, WriteAmplificationIsLogarithmic) {
  constexpr uint64_t kFlushCount = 1296;  // 6^4
  constexpr uint64_t kFlushBytes = 1000;
  auto table = std::make_shared<TableState>();
  table->definition = DefinitionOf({});
  table->tablets.push_back({KeyRange::All(), {}});
  uint64_t rewritten_bytes = 0;
  size_t references_max = 0;
  uint64_t number = 1;
  const auto push = [&](size_t position, uint64_t bytes, uint64_t first, uint64_t last) {
    auto file = std::make_shared<SstableFile>(TestFile(number++, "a", "z"));
    file->summary.file_bytes = bytes;
    auto& stack = table->tablets[0].stack;
    stack.insert(stack.begin() + static_cast<std::ptrdiff_t>(position), SstableReference{file, KeyRange::All(), first, last});
  };
  for (uint64_t flush = 1; flush <= kFlushCount; ++flush) {
    push(0, kFlushBytes, flush, flush);
    Version version;
    version.tables[1] = table;
    while (const std::optional<Choice> choice = PickCompaction({.version = &version})) {
      auto& stack = table->tablets[0].stack;
      const ChoiceSlice& slice = choice->slices.at(0);
      const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(slice.input_begin);
      const auto end = stack.begin() + static_cast<std::ptrdiff_t>(slice.input_end);
      uint64_t bytes = 0;
      for (auto it = begin; it != end; ++it) bytes += it->file->summary.file_bytes;
      const uint64_t first = std::prev(end)->sequence_first;
      const uint64_t last = begin->sequence_last;
      stack.erase(begin, end);
      push(slice.input_begin, bytes, first, last);
      rewritten_bytes += bytes;
    }
    references_max = std::max(references_max, table->tablets[0].stack.size());
  }
  EXPECT_LE(rewritten_bytes, 4 * kFlushCount * kFlushBytes);  // once for each level
  EXPECT_LE(references_max, 20u);
}

// A table that is flushed and compacted over and over, and what that costs.
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
    summary.families[0] = {.family_id = 1, .cells = bytes / 10, .logical_bytes = bytes, .versions_max = 1};
    summary.cells = bytes / 10;
    summary.row_tombstones = summary.tombstones = 0;
    summary.logical_bytes = summary.file_bytes = bytes;
    file.newest_commit_time = now_;
    Edit edit;
    edit.new_files.push_back(file);
    edit.last_sequence = number_;
    edit.next_file_number = number_ + 1;
    edit.tables.push_back({.table_id = 1, .tablets = InstallFlush(*version_->tables.at(1), file, number_, number_)});
    Take(edit);
  }

  void Wait(std::chrono::microseconds time) { now_ += time.count(); }

  // Until nothing is due.
  void Compact(const CompactionSizes& sizes = {}) {
    for (int step = 0; step < 1000; ++step) {
      const auto choice = PickCompaction({.version = version_.get(), .busy = {}, .now = now_, .sizes = sizes});
      if (!choice.has_value()) return;
      const std::optional<Edit> edit = CarryOut(*version_, *choice, number_, now_, choice->reason);
      ASSERT_TRUE(edit.has_value());
      ++counts_[choice->kind];
      for (const ChoiceSlice& slice : choice->slices) inputs_max_ = std::max(inputs_max_, slice.input_end - slice.input_begin);
      for (const SstableFile& file : edit->new_files) rewritten_bytes_ += file.summary.file_bytes;
      Take(*edit);
    }
    FAIL() << "no end in sight";
  }

  const Tablet& tablet(size_t index) const { return version_->tables.at(1)->tablets.at(index); }
  size_t file_count() const { return version_->Files().size(); }
  uint64_t rewritten_bytes() const { return rewritten_bytes_; }
  size_t inputs_max() const { return inputs_max_; }  // of one job in one tablet
  int count(ChoiceKind kind) { return counts_[kind]; }

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
  std::map<ChoiceKind, int> counts_;
};

// What piled up while compactions could not keep up. No job opens it all, and no byte is rewritten more often for that than once.
TEST(PickerTest, APileIsMergedInParts) {
  constexpr uint64_t kFlushCount = 2000;
  constexpr uint64_t kFlushBytes = 1000;
  FlushedTable table({});
  for (uint64_t flush = 0; flush < kFlushCount; ++flush) table.Flush("a", "z", kFlushBytes);
  table.Compact();
  EXPECT_LE(table.inputs_max(), kFanInMax);
  EXPECT_GE(table.inputs_max(), kFanInMax / 2);
  EXPECT_LE(table.rewritten_bytes(), 3 * kFlushCount * kFlushBytes);
  EXPECT_LE(table.tablet(0).stack.size(), 10u);
}

// Nor does it because a tablet beside it is due.
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
  constexpr uint64_t kFlushBytes = uint64_t{4} << 20;  // about 100 KiB for each tablet
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
  EXPECT_EQ(table.count(ChoiceKind::kMerge) + table.count(ChoiceKind::kMajor), kFlushCount / 6);
  EXPECT_LE(table.rewritten_bytes(), kFlushCount * kFlushBytes * 11 / 10);
  // One tablet alone would have been compacted just so.
  EXPECT_EQ(table.tablet(0).stack.size(), table.tablet(kTabletCount - 1).stack.size());
}

// And not before they have rested for ten minutes.
TEST(PickerTest, RowsWrittenInOrderAreRewrittenOnce) {
  constexpr int kFlushCount = 100;
  constexpr uint64_t kFlushBytes = uint64_t{10} << 20;
  FlushedTable table({});
  for (int i = 0; i < kFlushCount; ++i) {
    table.Flush(fmt::format("row{:03}a", i), fmt::format("row{:03}z", i), kFlushBytes);
    table.Compact();
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_TRUE(i >= 10 || table.count(ChoiceKind::kSettle) == 0) << "after " << i << " minutes";
    table.Wait(std::chrono::minutes(1));
    ASSERT_LE(GroupsOf(table.tablet(0), CountParts({.definition = {}, .tablets = {table.tablet(0)}})).size(), 1u);
  }
  EXPECT_GT(table.count(ChoiceKind::kSettle), 0) << "while rows came";
  table.Wait(std::chrono::minutes(10));
  table.Compact();
  EXPECT_EQ(table.count(ChoiceKind::kMove), kFlushCount - 1);
  EXPECT_EQ(table.count(ChoiceKind::kMerge) + table.count(ChoiceKind::kMajor), 0);
  EXPECT_EQ(table.count(ChoiceKind::kSettle), kFlushCount / 4);  // of 40 MiB each
  EXPECT_LE(table.rewritten_bytes(), kFlushCount * kFlushBytes * 11 / 10);
  for (const SstableReference& reference : table.tablet(0).stack) EXPECT_TRUE(reference.file->settled);
}

TEST(PickerTest, ManySmallFlushesInRowOrderStayFewFiles) {
  constexpr int kFlushCount = 3000;
  constexpr uint64_t kFlushBytes = 4096;  // 12 MiB in all
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
  EXPECT_EQ(table.count(ChoiceKind::kMerge) + table.count(ChoiceKind::kMajor), 0);
}

TEST(PickerTest, SmallFilesWrittenInAnyOrderAreGathered) {
  FlushedTable table({});
  for (int i = 0; i < 40; ++i) table.Flush(fmt::format("row{:04}", 97 * i % 40), fmt::format("row{:04}z", 97 * i % 40), 4096);
  table.Compact();
  EXPECT_LE(table.file_count(), 16u);
}

}  // namespace
}  // namespace stele::internal
