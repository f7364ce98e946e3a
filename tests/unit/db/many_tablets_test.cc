// Databases of many tablets: an install copies only the tablets that it changes, and tables without
// data in memory are not scanned.
#include <gtest/gtest.h>

#include <memory>
#include <string>

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
  EXPECT_LT(state.FlushedThrough(nullptr), second);
  EXPECT_EQ(state.TableWithOldestActive(), id);
  state.Freeze(id);
  state.TargetOf(id, 1);  // a writer is about to fill it
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(id, nullptr), absl::OkStatus());
  EXPECT_EQ(in_memory(), std::set<uint32_t>{id});
  EXPECT_EQ(state.FlushedThrough(nullptr), second);
  ASSERT_EQ(database_.DeleteTable("t"), absl::OkStatus());
  EXPECT_TRUE(in_memory().empty());
}

}  // namespace
}  // namespace stele::internal
