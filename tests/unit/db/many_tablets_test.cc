// Databases of many tablets: an install copies only the tablets that it changes, and tables without
// data in memory are not scanned.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "jobs/job_runner.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kTablets = 1'000;

class ManyTabletsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&file_system_);
    // Only the test flushes.
    options.sizes.memtable_bytes = options.sizes.write_memory_bytes = 8 << 20;
    auto opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
    Schema schema;
    schema.AddFamily("f");
    for (int i = 1; i < kTablets; ++i) schema.AddSplit(RowOf(i));
    table_ = database_.CreateTable("t", schema).value();
    other_ = database_.CreateTable("u", Schema().AddFamily("f")).value();
  }
  static std::string RowOf(int i) { return fmt::format("{:04}", i); }
  static absl::Status Set(Table& table, const std::string& row_key) {
    return table.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMicros(1000), "v"));
  }
  Engine& engine() { return *local_->engine(); }
  const std::shared_ptr<const TableView>& ViewOf(const ReadView& view,
                                                 const std::string& name) const {
    return view.tables.at(view.version->FindTable(name)->definition->id);
  }
  uint32_t IdOf(const std::string& name) {
    return engine().storage().state.view()->version->FindTable(name)->definition->id;
  }

  CrashFileSystem file_system_;
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  Table table_;
  Table other_;
};

TEST_F(ManyTabletsTest, AnInstallMakesNewWhatItChanges) {
  ASSERT_EQ(Set(table_, RowOf(500)), absl::OkStatus());
  const std::shared_ptr<const ReadView> before = engine().storage().state.view();
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const std::shared_ptr<const ReadView> after = engine().storage().state.view();
  EXPECT_EQ(ViewOf(*before, "u"), ViewOf(*after, "u"));
  const TableView& old_table = *ViewOf(*before, "t");
  const TableView& new_table = *ViewOf(*after, "t");
  ASSERT_EQ(new_table.tablets.size(), size_t{kTablets});
  for (size_t i = 0; i < kTablets; ++i) {
    EXPECT_EQ(old_table.tablets.Get(i) == new_table.tablets.Get(i), i != 500) << i;
    EXPECT_EQ(old_table.state->tablets.Get(i) == new_table.state->tablets.Get(i), i != 500) << i;
    EXPECT_EQ(new_table.tablets[i].range, new_table.state->tablets[i].range);
    EXPECT_EQ(new_table.tablets[i].stack.size(), new_table.state->tablets[i].stack.size());
  }
  ASSERT_EQ(table_.SetProperty("p", "v"), absl::OkStatus());
  EXPECT_TRUE(SharedSequence<ViewTablet>::Differences(
                  new_table.tablets, ViewOf(*engine().storage().state.view(), "t")->tablets)
                  .empty());
  EXPECT_TRUE(table_.Exists(RowOf(500)).value_or(false));
}

// A file is in the Version as long as a tablet refers to it.
TEST_F(ManyTabletsTest, AVersionCountsTheTabletsOfItsFiles) {
  for (int i = 0; i < kTablets; i += 10) ASSERT_EQ(Set(table_, RowOf(i)), absl::OkStatus());
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_EQ(Set(other_, "r"), absl::OkStatus());
  ASSERT_EQ(other_.Flush(), absl::OkStatus());
  const auto files = [this] {
    const std::shared_ptr<const Version> version = engine().storage().state.view()->version;
    std::string text;
    const auto found = version->Files();
    for (const auto& [number, use] : version->files) {
      uint64_t tablets = 0;
      for (const Tablet& tablet : version->tables.at(use.table_id)->tablets) {
        const auto is_of_file = [number = number](const SstableReference& reference) {
          return reference.file->number == number;
        };
        tablets += std::any_of(tablet.stack.begin(), tablet.stack.end(), is_of_file) ? 1 : 0;
      }
      EXPECT_EQ(use.tablets, tablets);
      EXPECT_EQ(found.at(number), use.file);
    }
    EXPECT_EQ(found.size(), version->files.size());
    return found.size();
  };
  EXPECT_EQ(files(), 2u);
  ASSERT_EQ(table_.DropRowRange(RowRange::RightOpen(RowOf(100), RowOf(900))), absl::OkStatus());
  EXPECT_EQ(files(), 2u);
  ASSERT_EQ(table_.DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_EQ(files(), 1u);
  ASSERT_EQ(database_.DeleteTable("u"), absl::OkStatus());
  EXPECT_EQ(files(), 0u);
}

// The log keeps the commits of a memtable that is newer than the flushed one, and of an empty
// memtable that a writer is about to fill.
TEST_F(ManyTabletsTest, WhatIsWrittenDuringAFlushStaysKnown) {
  const uint32_t id = IdOf("t");
  EngineState& state = engine().storage().state;
  const auto in_memory = [&] {
    MutexLock lock(state.mutex());
    return state.TablesInMemoryLocked();
  };
  EXPECT_TRUE(in_memory().empty());
  ASSERT_EQ(Set(table_, RowOf(1)), absl::OkStatus());
  state.Freeze(id);
  ASSERT_EQ(Set(table_, RowOf(2)), absl::OkStatus());
  const uint64_t second = state.published_sequence();
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(id, nullptr), absl::OkStatus());
  EXPECT_EQ(in_memory(), std::set<uint32_t>{id});
  EXPECT_LT(state.FlushedThrough(std::nullopt), second);
  EXPECT_EQ(state.TableWithOldestActive(), id);
  state.Freeze(id);
  state.TargetOf(id, second + 1, 1);  // a writer is about to fill it
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(id, nullptr), absl::OkStatus());
  EXPECT_EQ(in_memory(), std::set<uint32_t>{id});
  EXPECT_EQ(state.FlushedThrough(std::nullopt), second);
  ASSERT_EQ(database_.DeleteTable("t"), absl::OkStatus());
  EXPECT_TRUE(in_memory().empty());
}

class MemtablesByAgeTest : public ManyTabletsTest {
 protected:
  static std::string NameOf(size_t i) { return fmt::format("m{}", i); }
  // Compares what the state says with a look at the memtables of all tables.
  void ExpectOldestFound() {
    EngineState& state = engine().storage().state;
    uint64_t through = state.published_sequence();
    uint64_t oldest = UINT64_MAX;
    std::optional<uint32_t> oldest_active;
    std::set<EngineState::AgedMemtable> frozen;
    for (const auto& [table_id, table] : state.view()->tables) {
      for (size_t i = 0; i < table->memtables.size(); ++i) {
        const Memtable& memtable = *table->memtables[i];
        const uint64_t first = memtable.first_sequence();
        if (i > 0) frozen.insert({.since = first, .table_id = table_id, .memtable = &memtable});
        if (first == 0) continue;
        through = std::min(through, first - 1);
        if (first < oldest) oldest_active = i == 0 ? std::optional(table_id) : std::nullopt;
        oldest = std::min(oldest, first);
      }
    }
    EXPECT_EQ(state.FlushedThrough(std::nullopt), through);
    EXPECT_EQ(state.TableWithOldestActive(), oldest_active);
    MutexLock lock(state.mutex());
    EXPECT_EQ(state.FrozenByAgeLocked(), frozen);
  }
  void Fill(Table* table, size_t bytes) {
    ASSERT_EQ(table->Apply(RowMutation(RowOf(1)).SetCell("f", "q", std::string(bytes, 'v'))),
              absl::OkStatus());
  }
  // Expects that the state subtracts exactly the frozen memtables from all of them: with the bytes
  // of the active ones as the limit nothing is frozen, and with a byte less one of these is.
  void ExpectFrozenBytesKnown(const char* when) {
    SCOPED_TRACE(when);
    EngineState& state = engine().storage().state;
    const std::shared_ptr<const ReadView> before = state.view();
    uint64_t active_bytes = 0;
    for (const auto& [table_id, table] : before->tables)
      active_bytes += table->memtables.front()->bytes();
    state.FreezeLargest(active_bytes);
    EXPECT_EQ(state.view(), before) << "a limit that is kept was exceeded";
    state.FreezeLargest(active_bytes - 1);
    EXPECT_NE(state.view(), before) << "a limit that is exceeded was kept";
  }
  // Freezes some memtables, and expects that they are the largest.
  void FreezeSome(uint64_t active_bytes_max) {
    EngineState& state = engine().storage().state;
    const std::shared_ptr<const ReadView> before = state.view();
    state.FreezeLargest(active_bytes_max);
    uint64_t largest_left = 0;
    uint64_t smallest_frozen = UINT64_MAX;
    uint64_t left = 0;
    for (const auto& [table_id, table] : before->tables) {
      const Memtable& memtable = *table->memtables.front();
      const bool is_left = state.view()->Find(table_id)->memtables.front().get() == &memtable;
      if (is_left) left += memtable.bytes();
      uint64_t& bound = is_left ? largest_left : smallest_frozen;
      bound = is_left ? std::max(bound, memtable.bytes()) : std::min(bound, memtable.bytes());
    }
    EXPECT_GE(smallest_frozen, largest_left);
    EXPECT_LE(left, active_bytes_max);
    if (smallest_frozen < UINT64_MAX) {
      EXPECT_GT(left + smallest_frozen, active_bytes_max);
    }
  }
};

// Both memtables have the sequence of the batch, and the log must keep it until both are in files.
TEST_F(MemtablesByAgeTest, ABatchOverTwoTablesStaysInTheLogUntilBothAreFlushed) {
  EngineState& state = engine().storage().state;
  const uint64_t before = state.published_sequence();
  WriteBatch batch;
  batch.Add(table_, RowMutation(RowOf(1)).SetCell("f", "q", "v"));
  batch.Add(other_, RowMutation(RowOf(1)).SetCell("f", "q", "v"));
  ASSERT_EQ(database_.Apply(batch), absl::OkStatus());
  const uint64_t after = state.published_sequence();
  for (const char* const name : {"t", "u"}) {
    ExpectOldestFound();
    state.Freeze(IdOf(name));
  }
  ExpectOldestFound();
  const auto oldest_of = [&](const char* name) {
    return EngineState::Flushed{.table_id = IdOf(name),
                                .memtable = state.OldestFrozen(IdOf(name))->memtable.get()};
  };
  for (const char* const name : {"t", "u"})
    EXPECT_EQ(state.FlushedThrough(oldest_of(name)), before);
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(IdOf("t"), nullptr), absl::OkStatus());
  EXPECT_EQ(state.FlushedThrough(std::nullopt), before);
  EXPECT_EQ(state.FlushedThrough(oldest_of("u")), after);
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(IdOf("u"), nullptr), absl::OkStatus());
  EXPECT_EQ(state.FlushedThrough(std::nullopt), after);
}

// A batch may insert nothing, for example if its family was dropped meanwhile. Then the memtable's
// first commit is a later one, and another memtable may have an older one.
TEST_F(MemtablesByAgeTest, AMemtableIsAsOldAsItsFirstCommit) {
  EngineState& state = engine().storage().state;
  const uint64_t before = state.published_sequence();
  state.TargetOf(IdOf("t"), before + 1, 1);
  Table third = database_.CreateTable("v", Schema().AddFamily("f")).value();
  ASSERT_EQ(Set(third, RowOf(1)), absl::OkStatus());
  ASSERT_EQ(third.Flush(), absl::OkStatus());
  ASSERT_EQ(Set(other_, RowOf(1)), absl::OkStatus());
  const uint64_t first = state.published_sequence();
  ASSERT_GT(first, before + 1);
  ASSERT_EQ(Set(table_, RowOf(1)), absl::OkStatus());
  EXPECT_EQ(state.FlushedThrough(std::nullopt), first - 1);
  EXPECT_EQ(state.TableWithOldestActive(), IdOf("u"));
  ExpectOldestFound();
  state.Freeze(IdOf("t"));
  ExpectOldestFound();
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(IdOf("t"), nullptr), absl::OkStatus());
  ExpectOldestFound();
}

TEST_F(MemtablesByAgeTest, TheBytesOfFrozenOnesAreTheirSum) {
  EngineState& state = engine().storage().state;
  ASSERT_NO_FATAL_FAILURE(Fill(&table_, 1'000));
  ASSERT_NO_FATAL_FAILURE(Fill(&other_, 2'000));
  ExpectFrozenBytesKnown("a freeze of u");
  ASSERT_NO_FATAL_FAILURE(Fill(&other_, 3'000));
  ExpectFrozenBytesKnown("a second one");
  ASSERT_NO_FATAL_FAILURE(Fill(&table_, 4'000));
  ExpectFrozenBytesKnown("a freeze of t");
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(IdOf("u"), nullptr), absl::OkStatus());
  ASSERT_NO_FATAL_FAILURE(Fill(&other_, 100));
  ExpectFrozenBytesKnown("a flush");
  ASSERT_TRUE(state.OldestFrozen(IdOf("u")).has_value());
  ASSERT_EQ(database_.DeleteTable("u"), absl::OkStatus());
  ASSERT_NO_FATAL_FAILURE(Fill(&table_, 100));
  ExpectFrozenBytesKnown("a drop");
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_NO_FATAL_FAILURE(Fill(&table_, 100));
  ExpectFrozenBytesKnown("a flush of all");
}

TEST_F(MemtablesByAgeTest, TheOldestAndTheLargestAreFound) {
  EngineState& state = engine().storage().state;
  const Schema schema = Schema().AddFamily("f");
  std::vector<Table> tables;
  for (size_t i = 0; i < 12; ++i)
    tables.push_back(database_.CreateTable(NameOf(i), schema).value());
  Random random(1);
  for (int step = 0; step < 1'500; ++step) {
    const size_t at = random.Below(tables.size());
    const uint32_t id = IdOf(NameOf(at));
    const uint64_t action = random.Below(12);
    if (action == 0) {
      state.Freeze(id);
    } else if (action == 1 && state.OldestFrozen(id).has_value()) {
      ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(id, nullptr), absl::OkStatus());
    } else if (action == 2 && random.OneIn(4)) {
      ASSERT_EQ(database_.DeleteTable(NameOf(at)), absl::OkStatus());
      tables[at] = database_.CreateTable(NameOf(at), schema).value();
    } else if (action == 3 && random.OneIn(4)) {
      FreezeSome(random.Below(100'000));
    } else {
      const std::string row_key = RowOf(static_cast<int>(random.Below(1'000)));
      const std::string value(random.Below(1'000), 'v');
      ASSERT_EQ(tables[at].Apply(RowMutation(row_key).SetCell("f", "q", value)), absl::OkStatus());
    }
    ExpectOldestFound();
  }
}

}  // namespace
}  // namespace stele::internal
