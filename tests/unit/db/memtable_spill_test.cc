// Tests engine rule 16: flushed memtables that snapshots and scans pin are spilled to disk, and the
// reads return the same as before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "db/engine.h"
#include "io/file_names.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

constexpr uint64_t kPinnedBytes = 40 << 10;
constexpr int kSpillRows = 40;

std::string SpillRowKey(int row) { return fmt::format("row{:02}", row); }

void Append(const RowView& row, std::string* text) {
  for (const CellView& cell : row.cells()) {
    *text += fmt::format("{} {}:{}@{}={}\n", row.row_key(), cell.family(), cell.qualifier(),
                         cell.timestamp().micros(), cell.value());
  }
}

std::string Rest(RowReader& reader) {
  std::string text;
  for (const RowView& row : reader) Append(row, &text);
  return reader.status().ok() ? text : reader.status().ToString();
}

std::string Show(const Table& table, const RowSet& rows, const ReadOptions& options) {
  RowReader reader = table.ReadRows(rows, {}, options);
  return Rest(reader);
}

// Returns the results of all reads of a snapshot.
std::string ShowAllWays(const Table& table, const Snapshot& snapshot) {
  std::string text;
  for (const bool apply_gc : {true, false}) {
    for (const bool reverse : {false, true}) {
      const ReadOptions options{
          .reverse = reverse, .snapshot = snapshot, .apply_gc = apply_gc, .row_piece_bytes = 300};
      text += fmt::format("gc {} reverse {}\n", apply_gc, reverse);
      text += Show(table, RowSet::All(), options);
      text +=
          Show(table,
               RowSet().Append(RowRange::Closed("row05", "row07")).Append(RowRange::Prefix("row2")),
               options);
    }
    for (int row = 0; row < kSpillRows; ++row) {
      const ReadOptions options{.snapshot = snapshot, .apply_gc = apply_gc};
      const auto found = table.ReadRow(SpillRowKey(row), {}, options);
      text += !found.ok()
                  ? found.status().ToString()
                  : fmt::format("{} {}\n", SpillRowKey(row), *found ? (*found)->cells().size() : 0);
    }
  }
  return text;
}

class MemtableSpillTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(&files_); }

  void Open(CrashFileSystem* files, int threads = 0, uint64_t pinned_bytes = kPinnedBytes) {
    database_.reset();
    EngineOptions options = SmallEngineOptions(files);
    options.sizes.pinned_memory_bytes = pinned_bytes;
    options.database.clock = clock_;
    options.database.on_event = [this](const DatabaseEvent& event) { events_.push_back(event); };
    options.background_threads = threads;
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
  }
  Database& database() { return database_->database(); }
  Engine& engine() { return database_->engine(); }

  Table Create(const std::string& name, GcRule rule = GcRule::None()) {
    Schema schema;
    schema.AddFamily("f", rule).AddFamily("g", GcRule::None()).AddSplit("row10").AddSplit("row25");
    absl::StatusOr<Table> table = database().CreateTable(name, schema);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.value_or(Table());
  }
  Snapshot Take() { return database().GetSnapshot().value_or(Snapshot()); }

  // Overwrites every row, some with deletes: about three memtables.
  static absl::Status WriteRound(Table table, int round) {
    for (int row = 0; row < kSpillRows; ++row) {
      RowMutation mutation(SpillRowKey(row));
      if ((row + round) % 5 == 0) mutation.DeleteFromRow();
      if ((row + round) % 7 == 0)
        mutation.DeleteFromColumn("f", "q", {.start = Ms(2), .end = Ms(4)});
      mutation.SetCell("f", "q", Ms(1 + round % 6),
                       fmt::format("{}:{}{}", round, row, std::string(400, 'x')));
      if (row % 2 == 0) mutation.SetCell("f", "q", Ms(3), fmt::format("{}.{}", round, row));
      if (row % 3 == 0)
        mutation.SetCell("g", fmt::format("q{}", round), Ms(1),
                         std::string(600, static_cast<char>('a' + round % 26)));
      if (absl::Status status = table.Apply(mutation); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  size_t SpillFiles(CrashFileSystem* files = nullptr, const std::string& directory = "/db") {
    const std::vector<std::string> names =
        (files == nullptr ? &files_ : files)->List(directory).value_or(std::vector<std::string>());
    return static_cast<size_t>(
        std::count_if(names.begin(), names.end(), [](const std::string& name) {
          const std::optional<FileName> parsed = ParseFileName(name);
          return parsed && parsed->type == FileType::kSpill;
        }));
  }
  uint64_t SpillFileBytes() {
    uint64_t bytes = 0;
    for (const std::string& name : files_.List("/db").value_or(std::vector<std::string>())) {
      const std::optional<FileName> parsed = ParseFileName(name);
      if (!parsed || parsed->type != FileType::kSpill) continue;
      const absl::StatusOr<std::string> file = files_.ReadFile("/db/" + name);
      EXPECT_TRUE(file.ok()) << file.status();
      if (file.ok()) bytes += file->size();
    }
    return bytes;
  }
  size_t Told(DatabaseEvent::Kind kind) const {
    return static_cast<size_t>(
        std::count_if(events_.begin(), events_.end(),
                      [kind](const DatabaseEvent& event) { return event.kind == kind; }));
  }

  CrashFileSystem files_;
  std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(Timestamp::FromMicros(1'000'000'000));
  std::vector<DatabaseEvent> events_;
  std::unique_ptr<WorkloadDatabase> database_;
};

struct Held {
  Snapshot snapshot;
  std::string shown;
};

TEST_F(MemtableSpillTest, SnapshotsRepeatExactlyAndMemoryStaysBounded) {
  Table table = Create("t", GcRule::MaxNumVersions(2));
  std::vector<Held> held;
  for (int round = 0; round < 10; ++round) {
    ASSERT_EQ(WriteRound(table, round), absl::OkStatus());
    // Two snapshots inside one memtable, and one at its end.
    for (const int row : {7, 21}) {
      held.push_back({.snapshot = Take()});
      held.back().shown = ShowAllWays(table, held.back().snapshot);
      ASSERT_EQ(table.Apply(RowMutation(SpillRowKey(row))
                                .DeleteFromRow()
                                .SetCell("g", "after", Ms(1), fmt::format("{}", round))),
                absl::OkStatus());
    }
    if (round == 5) {
      ASSERT_EQ(table.DropRowRange(RowRange::Closed("row08", "row12")), absl::OkStatus());
    }
    if (round == 7) {
      ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Drop("g")}), absl::OkStatus());
      ASSERT_EQ(table.ModifyColumnFamilies(
                    {FamilyChange::Create({.name = "g"}), FamilyChange::Create({.name = "a"})}),
                absl::OkStatus());
    }
    if (round == 8) {
      ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(1))}),
                absl::OkStatus());
      ASSERT_EQ(table.Compact(), absl::OkStatus());
    }
    clock_->Advance(std::chrono::seconds(10));  // the memtable is not idle, so it stays
    ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
    EXPECT_LE(engine().storage().pins.memtable_bytes(), kPinnedBytes) << "round " << round;
    EXPECT_EQ(engine().storage().pins.ChargedBytes(), 0u);
  }
  const DatabaseStats stats = database().Stats();
  EXPECT_GT(stats.since_open.memtable_spills, 5u);
  EXPECT_EQ(Told(DatabaseEvent::Kind::kMemtableSpill), stats.since_open.memtable_spills);
  EXPECT_GT(stats.since_open.bytes_spilled, 0u);
  EXPECT_GT(SpillFiles(), 10u);
  EXPECT_GT(stats.memory.pinned_bytes, engine().storage().pins.memtable_bytes());
  EXPECT_EQ(stats.oldest_read_view, held.front().snapshot.time());
  for (size_t i = 0; i < held.size(); ++i)
    EXPECT_EQ(ShowAllWays(table, held[i].snapshot), held[i].shown) << "snapshot " << i;

  ASSERT_EQ(database().DeleteTable("t"), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_LE(engine().storage().pins.memtable_bytes(), kPinnedBytes);
  for (size_t i = 0; i < held.size(); ++i)
    EXPECT_EQ(ShowAllWays(table, held[i].snapshot), held[i].shown) << "snapshot " << i;
  held.clear();
  EXPECT_EQ(SpillFiles(), 0u) << "the last view is gone";
  EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u);
  EXPECT_EQ(database().Stats().memory.pinned_bytes, 0u);
}

// The memtables of a deleted table are charged and spilled too. None of them was flushed.
TEST_F(MemtableSpillTest, MemtablesOfADeletedTable) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  ASSERT_EQ(table.Apply(RowMutation(SpillRowKey(1)).SetCell("f", "q", Ms(1), "seen")),
            absl::OkStatus());
  Held held{.snapshot = Take()};
  held.shown = ShowAllWays(table, held.snapshot);
  ASSERT_EQ(table.Apply(RowMutation(SpillRowKey(2)).SetCell("f", "q", Ms(1), "not seen")),
            absl::OkStatus());
  ASSERT_EQ(database().DeleteTable("t"), absl::OkStatus());
  EXPECT_GT(engine().storage().pins.memtable_bytes(), 0u);
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u);
  EXPECT_EQ(SpillFiles(), 1u);
  EXPECT_EQ(ShowAllWays(table, held.snapshot), held.shown);
}

// A memtable without a commit that the snapshot sees is not spilled.
TEST_F(MemtableSpillTest, AMemtableThatBeganAfterTheSnapshot) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  const Snapshot snapshot = Take();
  ASSERT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", Ms(1), "later")), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  EXPECT_GT(engine().storage().pins.memtable_bytes(), 0u);
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u);
  EXPECT_EQ(SpillFiles(), 0u);
  EXPECT_EQ(Show(table, RowSet::All(), {.snapshot = snapshot}), "");
}

// Views that see a whole memtable share its file.
TEST_F(MemtableSpillTest, OneFileForViewsThatSeeTheSame) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  ASSERT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", Ms(1), "v")), absl::OkStatus());
  std::vector<Snapshot> snapshots = {Take(), Take(), Take()};
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(SpillFiles(), 1u);
  const DatabaseStats stats = database().Stats();
  EXPECT_EQ(stats.since_open.memtable_spills, 1u);
  EXPECT_EQ(stats.since_open.bytes_spilled, SpillFileBytes());
  EXPECT_EQ(stats.since_open.bytes_flushed, stats.disk.sstable_bytes) << "without the spill";
  while (!snapshots.empty()) {
    EXPECT_EQ(SpillFiles(), 1u);
    EXPECT_EQ(Show(table, RowSet::All(), {.snapshot = snapshots.back()}), "r f:q@1000=v\n");
    snapshots.pop_back();
  }
  EXPECT_EQ(SpillFiles(), 0u);
}

// An idle scan releases its memtables, except the memory of the row it shows, and continues after
// that row.
TEST_F(MemtableSpillTest, AScanGoesOverToTheFiles) {
  for (const bool reverse : {false, true}) {
    for (const bool from_snapshot : {false, true}) {
      for (const size_t rows_before : {0, 13, 100}) {
        Open(&files_, 0, 0);
        Table table = Create(fmt::format("t{}{}{}", reverse, from_snapshot, rows_before));
        ASSERT_EQ(WriteRound(table, 1), absl::OkStatus());
        ASSERT_EQ(table.Apply(RowMutation(SpillRowKey(20)).DeleteFromRow()), absl::OkStatus());
        ReadOptions options{.reverse = reverse};
        const RowSet rows = RowSet()
                                .Append(RowRange::LeftOpen("row00", "row12"))
                                .Append(RowRange::StartingAt("row15"))
                                .Append("row13");
        const std::string expected = Show(table, rows, options);
        if (from_snapshot) options.snapshot = Take();
        RowReader reader = table.ReadRows(rows, {}, options);
        options.snapshot = Snapshot();
        std::string seen;
        std::string shown;
        for (size_t i = 0; i < rows_before; ++i) {
          shown.clear();
          if (reader.Next()) Append(reader.row(), &shown);
          seen += shown;
        }
        EXPECT_EQ(database().Stats().oldest_read_view.has_value(), rows_before < 100);
        for (int round = 2; round < 4; ++round)
          ASSERT_EQ(WriteRound(table, round), absl::OkStatus());
        ASSERT_EQ(table.Flush(), absl::OkStatus());
        ASSERT_EQ(table.DropRowRange(RowRange::Prefix("row1")), absl::OkStatus());
        ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
        EXPECT_EQ(database().Stats().since_open.memtable_spills > 0, rows_before < 100);
        EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u)
            << "after " << rows_before << " rows";
        // Rows that reuse the memory of the memtables must not become visible.
        for (int round = 4; round < 8; ++round)
          ASSERT_EQ(WriteRound(table, round), absl::OkStatus());
        if (rows_before == 13) {
          std::string shown_still;
          Append(reader.row(), &shown_still);
          EXPECT_EQ(shown_still, shown);
        }
        if (reader.Next()) Append(reader.row(), &seen);
        EXPECT_EQ(seen + Rest(reader), expected)
            << "reverse " << reverse << ", after " << rows_before << " rows";
      }
    }
  }
  database_.reset();
  EXPECT_EQ(SpillFiles(), 0u);
}

// While a scan returns a row in parts, it pins the row's sources to the end of the row.
TEST_F(MemtableSpillTest, AScanInTheMiddleOfARow) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  RowMutation mutation("r");
  for (int i = 0; i < 600; ++i)
    mutation.SetCell("f", fmt::format("{:03}", i), Ms(1), std::string(20, 'v'));
  ASSERT_EQ(table.Apply(mutation), absl::OkStatus());
  ASSERT_EQ(table.Apply(RowMutation("s").SetCell("f", "q", Ms(1), "v")), absl::OkStatus());
  const std::string expected = Show(table, RowSet::All(), {});
  RowReader reader = table.ReadRows(RowSet::All(), {}, {.row_piece_bytes = 500});
  std::string seen;
  ASSERT_TRUE(reader.Next());
  Append(reader.row(), &seen);
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(SpillFiles(), 1u);
  EXPECT_EQ(seen + Rest(reader), expected);
}

TEST_F(MemtableSpillTest, ReadersThatWereNeverAskedForARowHoldNoMemtable) {
  Open(&files_, 2, 0);
  Table table = Create("t");
  const Snapshot snapshot = Take();
  std::vector<RowReader> readers;
  for (int round = 0; round < 12; ++round) {
    ASSERT_EQ(WriteRound(table, round), absl::OkStatus());
    readers.push_back(table.ReadRows(RowSet::All()));
    readers.push_back(table.ReadRows(RowSet::All(), {}, {.snapshot = snapshot}));
  }
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u);
  for (size_t i = 0; i < readers.size(); ++i) EXPECT_EQ(Rest(readers[i]).empty(), i % 2 == 1);
}

// Memory that scans in the middle of a row pin is charged, but no writer waits for it. Here the
// same thread has the scans.
TEST_F(MemtableSpillTest, ScansInTheMiddleOfARowDoNotStopWriters) {
  Open(&files_, 2, 0);
  Table table = Create("t");
  std::vector<RowReader> readers;
  for (int round = 0; round < 12; ++round) {
    ASSERT_EQ(WriteRound(table, round), absl::OkStatus());
    ASSERT_EQ(
        table.Apply(RowMutation("row").SetCell("f", "a", Ms(1), "v").SetCell("f", "b", Ms(1), "v")),
        absl::OkStatus());
    readers.push_back(table.ReadRows(RowSet::All(), {}, {.row_piece_bytes = 1}));
    ASSERT_TRUE(readers.back().Next());
    ASSERT_FALSE(readers.back().row().is_last_piece());
  }
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_GT(engine().storage().pins.memtable_bytes(), 12 * 4096u);
  EXPECT_EQ(engine().storage().pins.ChargedBytes(),
            engine().storage().options.sizes.write_memory_bytes / 4);
  ASSERT_EQ(WriteRound(table, 20), absl::OkStatus());
  for (RowReader& reader : readers) {
    while (reader.Next()) {
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
  }
}

// While something can be spilled, all of it is charged. Writers wait for it, and memory stays
// bounded.
TEST_F(MemtableSpillTest, WhatCanBeWrittenIsChargedWhole) {
  Table table = Create("t");
  std::vector<Snapshot> snapshots;
  uint64_t most = 0;
  for (int round = 0; round < 30; ++round) {
    for (int row = 0; row < kSpillRows; ++row) {
      ASSERT_EQ(
          table.Apply(
              RowMutation(SpillRowKey(row)).SetCell("f", "q", Ms(round), std::string(900, 'x'))),
          absl::OkStatus());
      most = std::max(most, engine().storage().pins.memtable_bytes());
    }
    snapshots.push_back(Take());
  }
  EXPECT_GT(database().Stats().since_open.memtable_spills, 0u);
  // The free part, the quarter of the write memory from which writers help, and the newest
  // memtables.
  EXPECT_LT(most, kPinnedBytes + engine().storage().options.sizes.write_memory_bytes / 4 +
                      3 * engine().storage().options.sizes.memtable_bytes);
}

TEST_F(MemtableSpillTest, AFullDiskLeavesThePinAndIsToldOnce) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  ASSERT_EQ(WriteRound(table, 1), absl::OkStatus());
  Held held{.snapshot = Take()};
  held.shown = ShowAllWays(table, held.snapshot);
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  files_.FailKind(CallKind::kWrite, 1,
                  {.error_number = ENOSPC, .sticky = true, .path_part = ".spill"});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(absl::IsResourceExhausted(database().WaitForIdle()));
  EXPECT_EQ(Told(DatabaseEvent::Kind::kBackgroundError), 1u);
  EXPECT_TRUE(absl::IsResourceExhausted(database().Stats().last_background_error));
  EXPECT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", Ms(2), "v")), absl::OkStatus())
      << "writes go on while memory lasts";
  EXPECT_EQ(SpillFiles(), 0u) << "no unfinished file stays";
  EXPECT_GT(engine().storage().pins.memtable_bytes(), 0u);
  EXPECT_EQ(ShowAllWays(table, held.snapshot), held.shown);
  files_.ClearFaults();
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(Told(DatabaseEvent::Kind::kBackgroundRecovered), 1u);
  EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u);
  EXPECT_EQ(ShowAllWays(table, held.snapshot), held.shown);
  EXPECT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", Ms(1), "v")), absl::OkStatus());
}

// Releasing the snapshot also clears the failure, because nothing is due any more.
TEST_F(MemtableSpillTest, AFailureEndsWithItsView) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  ASSERT_EQ(WriteRound(table, 1), absl::OkStatus());
  Snapshot snapshot = Take();
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  files_.FailKind(CallKind::kWrite, 1,
                  {.error_number = ENOSPC, .sticky = true, .path_part = ".spill"});
  EXPECT_TRUE(absl::IsResourceExhausted(database().WaitForIdle()));
  snapshot = Snapshot();
  while (engine().scheduler().Step()) {
  }
  EXPECT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", Ms(1), "v")), absl::OkStatus());
}

// Every call on a spill file fails once. The next attempt succeeds, and nothing is lost or left
// behind.
TEST_F(MemtableSpillTest, EveryCallFailsOnce) {
  int failures = 0;
  for (const CallKind call :
       {CallKind::kCreate, CallKind::kWrite, CallKind::kSync, CallKind::kOpen, CallKind::kRead}) {
    for (const int error_number : {EIO, ENOSPC}) {
      for (uint64_t nth = 1;; ++nth) {
        CrashFileSystem files;
        Open(&files, 0, 0);
        Table table = Create("t");
        ASSERT_EQ(WriteRound(table, 1), absl::OkStatus());
        Held held{.snapshot = Take()};
        held.shown = ShowAllWays(table, held.snapshot);
        ASSERT_EQ(table.Apply(RowMutation(SpillRowKey(3)).DeleteFromRow()), absl::OkStatus());
        ASSERT_EQ(table.Flush(), absl::OkStatus());
        files.FailKind(call, nth, {.error_number = error_number, .path_part = ".spill"});
        const absl::Status first = database().WaitForIdle();
        if (!first.ok()) {
          ++failures;
          EXPECT_EQ(ShowAllWays(table, held.snapshot), held.shown);
          EXPECT_EQ(database().WaitForIdle(), absl::OkStatus());
        }
        files.ClearFaults();
        EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u);
        EXPECT_EQ(ShowAllWays(table, held.snapshot), held.shown);
        held.snapshot = Snapshot();
        EXPECT_EQ(SpillFiles(&files), 0u);
        database_.reset();
        if (first.ok()) break;
      }
    }
  }
  EXPECT_GE(failures, 10);  // each kind of call, with each error
}

TEST_F(MemtableSpillTest, FilesOfAnEarlierOpenGo) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  ASSERT_EQ(WriteRound(table, 1), absl::OkStatus());
  const Snapshot snapshot = Take();
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  const std::string shown = Show(table, RowSet::All(), {});
  ASSERT_GT(SpillFiles(), 0u);
  const auto image = files_.Crash(CrashPolicy::KeepAll(), 1);
  ASSERT_GT(SpillFiles(image.get()), 0u);

  ASSERT_EQ(database().Close(), absl::OkStatus());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(table.ReadRow("row01", {}, {.snapshot = snapshot}).status()));
  EXPECT_GT(SpillFiles(), 0u) << "a closed database's directory is left alone";
  Open(&files_);
  EXPECT_EQ(SpillFiles(), 0u);
  Open(image.get());
  EXPECT_EQ(SpillFiles(image.get()), 0u);
  EXPECT_EQ(Show(database().OpenTable("t").value_or(Table()), RowSet::All(), {}), shown);
  database_.reset();
}

TEST_F(MemtableSpillTest, CheckpointAndVerifyPassThemBy) {
  Open(&files_, 0, 0);
  Table table = Create("t");
  ASSERT_EQ(WriteRound(table, 1), absl::OkStatus());
  const Snapshot snapshot = Take();
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  ASSERT_GT(SpillFiles(), 0u);
  EXPECT_TRUE(database().Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
  ASSERT_EQ(database().Checkpoint("/copy"), absl::OkStatus());
  EXPECT_EQ(SpillFiles(&files_, "/copy"), 0u);
}

TEST_F(MemtableSpillTest, InMemoryToo) {
  database_.reset();
  absl::StatusOr<Database> opened = Database::Open("mem:", {.memory_budget_bytes = 1 << 20});
  ASSERT_TRUE(opened.ok()) << opened.status();
  Table table =
      opened
          ->CreateTable("t", Schema().AddFamily("f", GcRule::None()).AddFamily("g", GcRule::None()))
          .value_or(Table());
  std::vector<Held> held;
  for (int round = 0; round < 30; ++round) {
    ASSERT_EQ(WriteRound(table, round), absl::OkStatus());
    if (round % 5 != 0) continue;
    held.push_back({.snapshot = opened->GetSnapshot().value_or(Snapshot())});
    held.back().shown = ShowAllWays(table, held.back().snapshot);
  }
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(opened->WaitForIdle(), absl::OkStatus());
  EXPECT_GT(opened->Stats().since_open.memtable_spills, 0u);
  for (const Held& one : held) EXPECT_EQ(ShowAllWays(table, one.snapshot), one.shown);
}

}  // namespace
}  // namespace stele::internal
