// Tests writes over several tables while the tables are paused by loads and drops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "db/engine.h"
#include "db/local_table.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr uint64_t kBatchBudgetBytes = uint64_t{8} << 20;

EngineOptions OptionsOf(FileSystem* file_system) {
  EngineOptions options = SmallEngineOptions(file_system);
  options.database.memory_budget_bytes = kBatchBudgetBytes;
  options.sizes = SizesFor(kBatchBudgetBytes);
  options.background_threads = 2;
  return options;
}

class PausedBatchesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.SetCapacity(uint64_t{256} << 20);  // with room for the reserve
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    const Schema schema =
        Schema().AddFamily("f").AddFamily({.name = "counted", .gc = GcRule::MaxNumVersions(2)});
    for (const size_t i : all_)
      tables_.push_back(*database_.database().CreateTable(fmt::format("t{}", i), schema));
  }

  Committer& committer() { return *database_.engine().storage().committer; }
  const std::atomic<uint64_t>& refusals() {
    return database_.engine().storage().state.event_counts().pause_refusals;
  }
  uint32_t IdOf(size_t table) const {
    return static_cast<const LocalTable&>(*Access::Backend(tables_[table])).table_id();
  }
  absl::Status Pause(
      size_t table, const std::function<void()>& at_begin = [] {}) {
    return committer().PauseWrites(IdOf(table), [&] {
      at_begin();
      return absl::OkStatus();
    });
  }
  void Resume(size_t table) { committer().ResumeWrites(IdOf(table)); }
  // True if a pause that is requested now would begin.
  bool MayPause(size_t table) {
    TablePauses& pauses = committer().pauses();
    return pauses.MayBegin(IdOf(table), pauses.Request());
  }

  static bool IsReady(const std::future<absl::Status>& call,
                      std::chrono::seconds within = std::chrono::minutes(2)) {
    return call.wait_for(within) == std::future_status::ready;
  }
  // Starts `write`, and returns once a pause has refused it, or once it is done.
  std::future<absl::Status> StartRefused(const std::function<absl::Status()>& write) {
    const uint64_t refusals_before = refusals();
    std::future<absl::Status> waiting = std::async(std::launch::async, write);
    while (refusals() == refusals_before && !IsReady(waiting, std::chrono::seconds(0)))
      std::this_thread::yield();
    return waiting;
  }
  // A batch with the same mutation for some tables.
  std::function<absl::Status()> BatchOver(const std::vector<size_t>& tables,
                                          const RowMutation& mutation,
                                          const WriteOptions& options = {}) {
    WriteBatch batch;
    for (const size_t table : tables) batch.Add(tables_[table], mutation);
    return [this, batch, options] { return database_.database().Apply(batch, options); };
  }
  static RowMutation Set(std::string row_key, std::string_view value = "v") {
    return RowMutation(std::move(row_key)).SetCell("f", "q", Timestamp::FromMillis(1), value);
  }
  bool HasRow(size_t table, std::string_view row_key) const {
    return tables_[table].ReadRow(row_key).value().has_value();
  }
  void ExpectThatItWaitsForPausesOfAllTables(const RowMutation& mutation,
                                             const WriteOptions& options);

  CrashFileSystem files_;
  WorkloadDatabase database_{OptionsOf(&files_), "/db"};
  std::vector<Table> tables_;
  const std::vector<size_t> all_ = {0, 1, 2, 3};
};

// All tables are paused, and a second pause of each is requested while the batch waits. The batch
// is committed before any of them begins.
void PausedBatchesTest::ExpectThatItWaitsForPausesOfAllTables(const RowMutation& mutation,
                                                              const WriteOptions& options) {
  const std::string row_key = mutation.row_key();
  for (const size_t table : all_) ASSERT_EQ(Pause(table), absl::OkStatus());
  const std::future<absl::Status> batch = StartRefused(BatchOver(all_, mutation, options));
  std::vector<std::future<absl::Status>> pauses;
  for (const size_t table : all_) {
    pauses.push_back(std::async(std::launch::async, [this, table, row_key] {
      const absl::Status paused = Pause(table, [&] {
        EXPECT_TRUE(HasRow(table, row_key)) << row_key << ": a later pause began first";
      });
      Resume(table);
      return paused;
    }));
  }
  // The first table stays paused until the end.
  for (size_t table = all_.size() - 1; table > 0; --table) {
    Resume(table);
    EXPECT_FALSE(MayPause(table)) << row_key;
  }
  EXPECT_FALSE(HasRow(1, row_key));
  Resume(0);
  EXPECT_TRUE(IsReady(batch)) << row_key;
  for (std::future<absl::Status>& pause : pauses) EXPECT_EQ(pause.get(), absl::OkStatus());
  for (const size_t table : all_) EXPECT_TRUE(HasRow(table, row_key)) << row_key;
}

// Regression: such a batch waited for one table at a time. It never committed while other tables of
// it were paused again and again.
TEST_F(PausedBatchesTest, ABatchIsCommittedBeforeLaterPausesOfItsTables) {
  ExpectThatItWaitsForPausesOfAllTables(Set("plain"), {});
  ExpectThatItWaitsForPausesOfAllTables(Set("with a token"), {.idempotency_token = "token-01"});
  // With GC fences.
  ExpectThatItWaitsForPausesOfAllTables(
      Set("ranged").DeleteFromColumn("counted", "q",
                                     TimestampRange{.start = Timestamp::FromMillis(1)}),
      {});
  // It runs in an exclusive section.
  ExpectThatItWaitsForPausesOfAllTables(Set("alone", std::string(kBatchBudgetBytes / 6, 'v')), {});
}

TEST_F(PausedBatchesTest, TwoBatchesAndAPauseDoNotWaitForEachOther) {
  ASSERT_EQ(Pause(0), absl::OkStatus());
  ASSERT_EQ(Pause(2), absl::OkStatus());
  std::future<absl::Status> first = StartRefused(BatchOver({0, 1}, Set("first")));
  std::future<absl::Status> pause = std::async(std::launch::async, [&] { return Pause(1); });
  std::future<absl::Status> second = StartRefused(BatchOver({2, 1, 0}, Set("second")));
  Resume(2);
  Resume(0);
  EXPECT_EQ(first.get(), absl::OkStatus());
  EXPECT_TRUE(IsReady(pause)) << "the second batch is newer, or done";
  EXPECT_EQ(pause.get(), absl::OkStatus());
  Resume(1);
  EXPECT_EQ(second.get(), absl::OkStatus());
  for (const size_t table : all_) EXPECT_TRUE(MayPause(table)) << "no claim remains";
}

TEST_F(PausedBatchesTest, AWaitingBatchStopsAtItsDeadline) {
  ASSERT_EQ(Pause(1), absl::OkStatus());
  std::future<absl::Status> batch = StartRefused(
      BatchOver({0, 1}, Set("row"),
                {.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50)}));
  EXPECT_TRUE(IsReady(batch)) << "it waits for the end of the pause";
  EXPECT_FALSE(MayPause(1));
  Resume(1);
  EXPECT_EQ(batch.get().code(), absl::StatusCode::kDeadlineExceeded);
  for (const size_t table : {0, 1}) {
    EXPECT_FALSE(HasRow(table, "row"));
    EXPECT_TRUE(MayPause(table)) << "its claim remains";
  }
}

TEST_F(PausedBatchesTest, AWaitingBatchStopsAtItsStopToken) {
  ASSERT_EQ(Pause(1), absl::OkStatus());
  std::stop_source stop;
  std::future<absl::Status> batch =
      StartRefused(BatchOver({0, 1}, Set("row"), {.stop = stop.get_token()}));
  EXPECT_FALSE(MayPause(0));
  stop.request_stop();
  EXPECT_TRUE(IsReady(batch)) << "it waits for the end of the pause";
  Resume(1);
  EXPECT_EQ(batch.get().code(), absl::StatusCode::kCancelled);
  for (const size_t table : {0, 1}) {
    EXPECT_FALSE(HasRow(table, "row"));
    EXPECT_TRUE(MayPause(table)) << "its claim remains";
  }
}

TEST_F(PausedBatchesTest, ATableIsDeletedWhileABatchWaits) {
  // The table that is not paused, then the one that is.
  for (const size_t deleted : {0, 2}) {
    const size_t other = deleted + 1;
    const size_t paused = deleted == 0 ? other : deleted;
    ASSERT_EQ(Pause(paused), absl::OkStatus());
    std::future<absl::Status> batch = StartRefused(BatchOver({deleted, other}, Set("row")));
    EXPECT_EQ(database_.database().DeleteTable(fmt::format("t{}", deleted)), absl::OkStatus());
    Resume(paused);
    EXPECT_EQ(batch.get().code(), absl::StatusCode::kNotFound);
    EXPECT_FALSE(HasRow(other, "row"));
    EXPECT_EQ(tables_[other].Apply(Set("later")), absl::OkStatus());
  }
}

TEST_F(PausedBatchesTest, CloseEndsTheWaitsOfBatchesAndPauses) {
  ASSERT_EQ(Pause(1), absl::OkStatus());
  std::future<absl::Status> batch = StartRefused(BatchOver({0, 1}, Set("row")));
  std::future<absl::Status> pause = std::async(std::launch::async, [&] { return Pause(0); });
  EXPECT_EQ(database_.database().Close(), absl::OkStatus());
  EXPECT_TRUE(IsReady(batch)) << "it waits for the end of the pause";
  EXPECT_TRUE(IsReady(pause)) << "it waits for its turn";
  Resume(1);
  EXPECT_EQ(batch.get().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(pause.get().code(), absl::StatusCode::kFailedPrecondition);
}

// Every table is paused by two threads all the time.
TEST_F(PausedBatchesTest, AStreamOfDropsStarvesNoBatch) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> droppers;
  for (size_t i = 0; i < 2 * all_.size(); ++i) {
    droppers.emplace_back([this, &stop, i] {
      Table table = tables_[i / 2];
      while (!stop) EXPECT_EQ(table.DropRowRange(RowRange::Prefix("x")), absl::OkStatus());
    });
  }
  const uint64_t refusals_first = refusals();
  for (int i = 0; i < 20 || refusals() < refusals_first + 10; ++i) {
    const uint64_t refusals_before = refusals();
    EXPECT_EQ(BatchOver(all_, Set(fmt::format("row{}", i)))(), absl::OkStatus());
    // The pause before its claim, and at most one of each table after it.
    EXPECT_LE(refusals() - refusals_before, 1 + all_.size());
  }
  stop = true;
  for (std::thread& dropper : droppers) dropper.join();
}

}  // namespace
}  // namespace stele::internal
