// Tests that tablets split and merge by metadata alone: stored, read, counted and recovered data
// stay the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "db/engine.h"
#include "io/mem_file_system.h"
#include "jobs/split_point.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_crash_check.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

constexpr uint64_t kTabletBytes = 8 << 10;
constexpr size_t kValueBytes = 400;

EngineOptions SmallTablets(FileSystem* file_system) {
  EngineOptions options = SmallEngineOptions(file_system);
  options.sizes.tablet_bytes_max = kTabletBytes;
  options.sizes.memtable_bytes = 256 << 10;  // the tests flush explicitly
  options.sizes.write_memory_bytes = 1 << 20;
  options.sizes.log_bytes_max = 1 << 20;
  return options;
}

Schema PlainSchema() { return Schema().AddFamily("f").SetCompression(Compression::kNone); }
std::string RowKey(size_t i) { return fmt::format("row{:03}", i); }

RowMutation SetText(std::string row_key, const std::string& value) {
  return RowMutation(std::move(row_key)).SetCell("f", "q", Timestamp::FromMicros(1000), value);
}

class TabletChangesTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(kTabletBytes); }

  void Open(uint64_t tablet_bytes) {
    table_ = Table();
    database_.reset();
    EngineOptions options = SmallTablets(&observed_);
    options.sizes.tablet_bytes_max = tablet_bytes;
    options.database.on_event = [this](const DatabaseEvent& event) { events_.insert(event.kind); };
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
    if (const auto table = database_->database().OpenTable("t"); table.ok()) table_ = *table;
  }
  void Create(const Schema& schema = PlainSchema()) {
    const auto table = database_->database().CreateTable("t", schema);
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
  }
  void Fill(size_t begin, size_t end, char letter = 'v') {
    for (size_t i = begin; i < end; ++i)
      ASSERT_EQ(table_.Apply(SetText(RowKey(i), std::string(kValueBytes, letter))),
                absl::OkStatus());
  }
  void Settle() { ASSERT_EQ(database_->database().WaitForIdle(), absl::OkStatus()); }
  void FlushAndSettle() {
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
    Settle();
  }
  // Returns "" and the first rows of the other tablets.
  std::vector<std::string> Starts() const {
    std::vector<std::string> starts;
    const absl::StatusOr<TableStats> stats = table_.Stats();
    EXPECT_TRUE(stats.ok()) << stats.status();
    for (const TabletStats& tablet : stats->tablets) starts.push_back(tablet.start);
    return starts;
  }
  std::string Text(const ReadOptions& options = {}) const {
    return DumpTable(table_, options).value_or("unreadable");
  }
  DatabaseStats Stats() { return database_->database().Stats(); }
  Engine& engine() { return database_->engine(); }

  MemFileSystem files_;
  std::function<void(CallKind, const std::string&)> observer_;
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string& path) {
                                 if (observer_) observer_(kind, path);
                               }};
  std::multiset<DatabaseEvent::Kind> events_;
  std::unique_ptr<WorkloadDatabase> database_;
  Table table_;
};

TEST_F(TabletChangesTest, AGrownTabletIsSplitWithoutRewritingAByte) {
  Create();
  Fill(0, 100);
  const std::string before = Text();
  FlushAndSettle();
  const DatabaseStats stats = Stats();
  const TableStats table_stats = *table_.Stats();
  EXPECT_GE(stats.tablets.splits, 4u);
  EXPECT_EQ(stats.tablets.splits, table_stats.tablets.size() - 1);
  EXPECT_EQ(events_.count(DatabaseEvent::Kind::kTabletSplit), stats.tablets.splits);
  EXPECT_EQ(stats.compaction.compactions, 0u);
  EXPECT_EQ(stats.disk.sstables, 1u) << "they share it";
  uint64_t bytes = 0;
  for (const TabletStats& tablet : table_stats.tablets) {
    EXPECT_LE(tablet.bytes_on_disk, 2 * kTabletBytes) << "shares of the file only tell about";
    EXPECT_GT(tablet.bytes_on_disk, kTabletBytes / 8);
    EXPECT_EQ(tablet.files, 1u);
    bytes += tablet.bytes_on_disk;
  }
  EXPECT_EQ(bytes, table_stats.bytes_on_disk);
  EXPECT_EQ(Text(), before);
  const std::vector<std::string> starts = Starts();
  Open(uint64_t{256} << 20);
  EXPECT_EQ(Starts(), starts) << "in the manifest";
  EXPECT_EQ(Text(), before);
  Settle();
  EXPECT_EQ(Starts().size(), 1u) << "far below what a tablet may have now";
  EXPECT_EQ(Stats().tablets.merges, 1u) << "all at once";
  EXPECT_EQ(events_.count(DatabaseEvent::Kind::kTabletMerge), 1u);
  EXPECT_EQ(Text(), before);
  EXPECT_EQ(engine().storage().state.view()->version->FindTable("t")->tablets[0].stack.size(), 1u)
      << "one reference again";
}

TEST_F(TabletChangesTest, EachTabletIsCompactedByItselfAndMergesSideBySide) {
  Create();
  Fill(0, 60);
  FlushAndSettle();
  const std::vector<std::string> starts = Starts();
  ASSERT_GE(starts.size(), 3u);
  ASSERT_EQ(table_.Compact(RowRange::RightOpen("", starts[1])), absl::OkStatus());
  Fill(0, 60, 'w');
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const std::string before = Text();
  Open(uint64_t{256} << 20);
  Settle();
  EXPECT_EQ(Starts().size(), 1u);
  EXPECT_EQ(Text(), before);
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  EXPECT_EQ(Text(), before);
  EXPECT_TRUE(database_->database().Verify()->ok());
}

TEST_F(TabletChangesTest, WhatTheUserSplitStaysApart) {
  Create(PlainSchema().AddSplit("row050").AddSplit("row020"));
  Fill(0, 100);
  FlushAndSettle();
  EXPECT_GT(Starts().size(), 4u);
  ASSERT_EQ(table_.DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_EQ(Stats().since_open.row_range_drops, 1u);
  Settle();
  EXPECT_EQ(Starts(), (std::vector<std::string>{"", "row020", "row050"}));
  Fill(0, 10);
  EXPECT_EQ(Text().substr(0, 6), "row000");
}

TEST_F(TabletChangesTest, AGiantRowIsATabletAndTheEnd) {
  Create();
  const std::string value(3000, 'x');
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(table_.Apply(RowMutation("giant").SetCell("f", fmt::format("q{:03}", i), value)),
              absl::OkStatus());
  }
  FlushAndSettle();
  EXPECT_EQ(Starts().size(), 1u);
  const std::shared_ptr<const ReadView> view = engine().storage().state.view();
  const TableView& table = *view->tables.entries().back().second;
  EXPECT_FALSE(SplitPointOf(table.tablets[0]).has_value());
  Fill(0, 30);
  for (int i = 0; i < 30; ++i)
    ASSERT_EQ(table_.Apply(SetText(fmt::format("a{:02}", i), std::string(kValueBytes, 'y'))),
              absl::OkStatus());
  FlushAndSettle();
  const std::vector<std::string> starts = Starts();
  EXPECT_GT(starts.size(), 2u);
  EXPECT_EQ(table_.ReadRow("giant").value()->cells().size(), 30u);
}

// A tablet's split point is looked up again only after its sorted runs have changed.
TEST_F(TabletChangesTest, TheSplitPointIsFoundOnceForAStack) {
  Create();
  Fill(0, 30);
  const uint32_t table_id =
      engine().storage().state.view()->version->FindTable("t")->definition->id;
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  SplitPointCache cache;
  const std::shared_ptr<const ReadView> view = engine().storage().state.view();
  const auto split_point = cache.Of(*view, {table_id, ""});
  ASSERT_TRUE(split_point.has_value());
  EXPECT_NEAR(static_cast<double>(split_point->bytes_before),
              static_cast<double>(split_point->bytes_after), 3000);
  ReadView blind;  // the same sorted runs, but nothing is known about their files
  blind.version = view->version;
  auto table = std::make_shared<TableView>(*view->Find(table_id));
  std::vector<ViewTablet> tablets = table->tablets.Slice(0, table->tablets.size());
  tablets[0].stack.clear();
  table->tablets = std::move(tablets);
  blind.tables.Set(table_id, table);
  EXPECT_TRUE(cache.Of(blind, {table_id, ""}).has_value()) << "it is remembered";
  EXPECT_FALSE(SplitPointCache().Of(blind, {table_id, ""}).has_value());
  EXPECT_FALSE(cache.Of(*view, {table_id + 1, ""}).has_value());
  Fill(100, 130);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_NE(cache.Of(*engine().storage().state.view(), {table_id, ""})->split_row,
            split_point->split_row);
}

TEST_F(TabletChangesTest, ReadsAndWritesAreCountedByTablet) {
  Create();
  Fill(0, 40);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const auto counts = [this] {
    std::pair<uint64_t, uint64_t> sum;
    const TableStats stats = *table_.Stats();
    for (const TabletStats& tablet : stats.tablets) {
      sum.first += tablet.reads;
      sum.second += tablet.writes;
    }
    return sum;
  };
  EXPECT_EQ(counts(), std::pair(uint64_t{0}, uint64_t{40}));
  ASSERT_TRUE(table_.ReadRow(RowKey(1)).ok());
  ASSERT_TRUE(table_.ReadRow("nowhere").ok());
  ASSERT_TRUE(table_.Exists(RowKey(2)).ok());
  const std::vector<std::string_view> two = {"row003", "row004"};
  ASSERT_TRUE(table_.ReadMany(two).ok());
  EXPECT_EQ(counts().first, 5u);
  Text();
  EXPECT_EQ(counts(), std::pair(uint64_t{45}, uint64_t{40}));
  Settle();  // the tablet splits
  const std::vector<std::string> starts = Starts();
  ASSERT_GE(starts.size(), 3u);
  EXPECT_EQ(counts(), std::pair(uint64_t{45}, uint64_t{40})) << "divided among the parts";
  const TableStats stats = *table_.Stats();
  for (const TabletStats& tablet : stats.tablets) EXPECT_GE(tablet.writes, 40 / 2 / starts.size());
  const TabletStats last = table_.Stats()->tablets.back();
  ASSERT_EQ(table_.Apply(SetText("row999", "v")), absl::OkStatus());
  ASSERT_TRUE(table_.ReadRow("row999").ok());
  Text();
  EXPECT_EQ(table_.Stats()->tablets.back().writes, last.writes + 1);
  EXPECT_GT(table_.Stats()->tablets.back().reads, last.reads + 2);
  EXPECT_EQ(counts(), std::pair(uint64_t{45 + 1 + 41}, uint64_t{41}));
  // Compaction uses the reads counted since the sorted runs changed.
  const auto reads = [this](size_t index) {
    const std::shared_ptr<const ReadView> view = engine().storage().state.view();
    const ViewTablet& tablet = view->tables.entries().back().second->tablets[index];
    return tablet.counters->reads.load() - tablet.reads_at_stack_change;
  };
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_EQ(reads(starts.size() - 1), 0u);
  EXPECT_GT(reads(0), 0u) << "nothing was flushed into it";
  ASSERT_EQ(table_.DropRowRange(RowRange::All()), absl::OkStatus());
  Settle();
  EXPECT_EQ(Starts().size(), 1u);
  EXPECT_EQ(counts(), std::pair(uint64_t{45 + 1 + 41}, uint64_t{41})) << "merged, they add up";
}

TEST_F(TabletChangesTest, SamplesAndSharesOfASharedFileAddUp) {
  Create();
  Fill(0, 100);
  FlushAndSettle();
  const std::vector<std::string> starts = Starts();
  const TableStats stats = *table_.Stats();
  const std::vector<RowKeySample> samples = *table_.SampleRowKeys();
  ASSERT_GE(samples.size(), starts.size());
  EXPECT_EQ(samples.back().offset_bytes, stats.bytes_on_disk);
  uint64_t offset = 0;
  for (size_t i = 1; i < starts.size(); ++i) {
    offset += stats.tablets[i - 1].bytes_on_disk;
    const auto sample =
        std::find_if(samples.begin(), samples.end(),
                     [&](const RowKeySample& other) { return other.row_key == starts[i]; });
    ASSERT_NE(sample, samples.end()) << starts[i];
    EXPECT_EQ(sample->offset_bytes, offset) << starts[i];
  }
  for (size_t i = 1; i < samples.size(); ++i)
    EXPECT_LE(samples[i - 1].offset_bytes, samples[i].offset_bytes);
  uint64_t cells = 0;
  for (const TabletStats& tablet : stats.tablets) cells += tablet.cells;
  EXPECT_LE(cells, stats.cells);
  EXPECT_GE(cells + starts.size(), stats.cells);
}

TEST_F(TabletChangesTest, SnapshotsAndScansUnderWayShowTheSame) {
  Create();
  Fill(0, 100);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const Snapshot snapshot = *database_->database().GetSnapshot();
  const std::string before = Text();
  RowReader scan = table_.ReadRows(RowSet::All());
  auto it = scan.begin();
  for (int i = 0; i < 10; ++i) ++it;
  Settle();
  ASSERT_GT(Starts().size(), 4u);
  EXPECT_EQ(Text({.snapshot = snapshot}), before);
  int rest = 0;
  for (; it != scan.end(); ++it) ++rest;
  EXPECT_EQ(rest, 90);
  EXPECT_TRUE(scan.status().ok());
  ASSERT_EQ(table_.DropRowRange(RowRange::All()), absl::OkStatus());
  Settle();
  ASSERT_EQ(Starts().size(), 1u);
  EXPECT_EQ(Text({.snapshot = snapshot}), before);
}

// Engine rule 17: a split is not installed during a job of that tablet, and a job is not installed
// over a split.
TEST_F(TabletChangesTest, ARunningCompactionKeepsItsTablet) {
  Create();
  Fill(0, 60);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const std::string before = Text();
  bool looked = false;
  observer_ = [&](CallKind kind, const std::string& path) {
    if (kind != CallKind::kCreate || path.find(".sst") == std::string::npos ||
        std::exchange(looked, true))
      return;
    while (engine().scheduler().Step()) {
    }
    EXPECT_EQ(Starts().size(), 1u) << "too large, but busy";
  };
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  EXPECT_TRUE(looked);
  EXPECT_EQ(Starts().size(), 1u);
  Settle();
  EXPECT_GT(Starts().size(), 2u);
  EXPECT_EQ(Text(), before);
}

// A flush between the pick and the edit: the edit uses the tablet's state at that time.
TEST_F(TabletChangesTest, AFlushBetweenPickAndSplitIsInBothTablets) {
  Create();
  Fill(0, 60);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const std::shared_ptr<const ReadView> view = engine().storage().state.view();
  const uint32_t table_id = view->version->FindTable("t")->definition->id;
  const CompactionPick pick{.kind = CompactionKind::kSplitTablet,
                            .table_id = table_id,
                            .subcompactions = {{KeyRange::All(), 0, 1}},
                            .split_row = "row030",
                            .reason = "for the test"};
  Fill(0, 60, 'w');
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const std::string before = Text();
  ASSERT_EQ(engine().storage().jobs->RunPick(view, pick, nullptr), absl::OkStatus());
  EXPECT_EQ(Starts(), (std::vector<std::string>{"", "row030"}));
  EXPECT_EQ(Text(), before);
  const TableStats stats = *table_.Stats();
  for (const TabletStats& tablet : stats.tablets) EXPECT_EQ(tablet.files, 2u);
  EXPECT_TRUE(absl::IsAborted(engine().storage().jobs->RunPick(view, pick, nullptr)))
      << "that tablet is gone";
  ASSERT_EQ(database_->database().DeleteTable("t"), absl::OkStatus());
  EXPECT_TRUE(absl::IsAborted(engine().storage().jobs->RunPick(view, pick, nullptr)));
}

// A tenth of the rows has nine tenths of the bytes, in large values.
TEST(TabletBytesTest, LargeValuesCountForTheirRows) {
  constexpr size_t kRows = 200;
  constexpr size_t kRowsWithLargeValue = 20;
  const auto value_bytes = [](size_t row) {
    return row < kRowsWithLargeValue ? size_t{100} << 10 : size_t{1200};
  };
  MemFileSystem files;
  EngineOptions options = SmallTablets(&files);
  options.sizes.tablet_bytes_max = 1536 << 10;
  options.sizes.memtable_bytes = 8 << 20;
  options.sizes.write_memory_bytes = options.sizes.log_bytes_max = 32 << 20;
  WorkloadDatabase database(std::move(options), "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  Table table = *database.database().CreateTable("t", PlainSchema());
  Random random(1);
  std::map<std::string, uint64_t> bytes_before;  // by row key
  uint64_t total = 0;
  for (size_t i = 0; i < kRows; ++i) {
    std::string value(value_bytes(i), '\0');
    for (char& c : value) c = static_cast<char>(random.Next());
    bytes_before[RowKey(i)] = total;
    total += value.size();
    ASSERT_EQ(table.Apply(SetText(RowKey(i), value)), absl::OkStatus());
  }
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(database.database().WaitForIdle(), absl::OkStatus());
  const double near = 0.1 * static_cast<double>(total);
  const TableStats stats = *table.Stats();
  ASSERT_EQ(stats.tablets.size(), 2u);
  EXPECT_EQ(stats.files, 1u);
  for (const TabletStats& tablet : stats.tablets)
    EXPECT_NEAR(static_cast<double>(tablet.bytes_on_disk), static_cast<double>(total) / 2, near);
  ASSERT_TRUE(bytes_before.contains(stats.tablets[1].start));
  const std::vector<RowKeySample> samples = *table.SampleRowKeys();
  EXPECT_GT(samples.size(), kRowsWithLargeValue / 2);
  EXPECT_NEAR(static_cast<double>(samples.back().offset_bytes), static_cast<double>(total), near);
  for (const RowKeySample& sample : samples) {
    if (sample.row_key.empty()) continue;
    EXPECT_NEAR(static_cast<double>(sample.offset_bytes),
                static_cast<double>(bytes_before.at(sample.row_key)), near)
        << sample.row_key;
  }
}

// A crash at every call of a load that causes a split and a drop that causes a merge.
TEST(TabletCrashTest, EveryStepOfASplitAndAMergeMayBeTheLast) {
  const auto run = [](CrashFileSystem* files,
                      // Writes acknowledged, and writes possible.
                      std::vector<std::string>* states) -> std::pair<size_t, size_t> {
    size_t acked = 0;
    const auto note = [&](const WorkloadDatabase& database) {
      ++acked;
      if (states != nullptr)
        states->push_back(DumpDatabase(const_cast<WorkloadDatabase&>(database).database())
                              .value_or("unreadable"));
    };
    WorkloadDatabase database(SmallTablets(files), "/db");
    if (!database.Open().ok()) return {0, 0};
    if (states != nullptr) states->push_back("");
    const auto table = database.database().CreateTable("t", PlainSchema().AddFamily("g"));
    if (!table.ok()) return {acked, acked + 1};
    note(database);
    WriteBatch batch;
    for (size_t i = 0; i < 60; ++i)
      batch.Add(*table, SetText(RowKey(i), std::string(kValueBytes, 'v')));
    if (!database.database().Apply(batch, {.durability = Durability::kDisk}).ok())
      return {acked, acked + 1};
    note(database);
    if (!Table(*table).Flush().ok() || !database.database().WaitForIdle().ok())
      return {acked, acked};
    if (!Table(*table).DropRowRange(RowRange::StartingAt("row002")).ok()) return {acked, acked + 1};
    note(database);
    if (!database.database().WaitForIdle().ok()) return {acked, acked};
    if (states != nullptr) {
      EXPECT_GE(database.database().Stats().tablets.splits, 2u);
      EXPECT_GE(database.database().Stats().tablets.merges, 1u);
    }
    return {acked, acked};
  };
  std::vector<std::string> states;
  uint64_t call_count = 0;
  {
    CrashFileSystem files;
    run(&files, &states);
    call_count = files.calls();
  }
  ASSERT_EQ(states.size(), 4u);
  for (uint64_t call = 1; call <= call_count && !::testing::Test::HasFailure(); ++call) {
    CrashFileSystem files;
    files.SetCrashAtCall(call);
    const auto [acked, possible] = run(&files, nullptr);
    for (const CrashPolicy& policy :
         {CrashPolicy::KilledProcess(), CrashPolicy::DropUnsynced(), CrashPolicy::PowerLoss()}) {
      const auto image = files.Crash(policy, call);
      const std::string wrong = CheckReopened(
          image.get(), {.states = states, .least = acked, .most = possible}, call % 4 == 0);
      EXPECT_EQ(wrong, "") << "call " << call;
    }
  }
}

}  // namespace
}  // namespace stele::internal
