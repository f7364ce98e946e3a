// Tests Close with concurrent calls. Every call ends with an error that names the reason, and
// acknowledged writes exist after the next open.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "db/engine.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

std::shared_ptr<LocalDatabase> OpenThreaded(FileSystem* file_system) {
  EngineOptions options = SmallEngineOptions(file_system);
  options.database.clock = nullptr;
  options.background_threads = 2;
  absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
  EXPECT_TRUE(opened.ok()) << opened.status();
  return opened.value_or(nullptr);
}

// Repeats until the database is closed. Aborted and NotFound may result from other threads that
// drop and create. Any other error is a fault.
void RepeatUntilClosed(const std::function<absl::Status()>& call) {
  while (true) {
    const absl::Status status = call();
    if (status.code() == absl::StatusCode::kFailedPrecondition) return;
    if (!status.ok() && status.code() != absl::StatusCode::kNotFound &&
        status.code() != absl::StatusCode::kAlreadyExists) {
      ADD_FAILURE() << status;
      return;
    }
  }
}

void CreateTables(Database& database) {
  const Schema keep = Schema().AddFamily("f", GcRule::MaxNumVersions(1)).AddSplit("k4");
  ASSERT_TRUE(database.CreateTable("keep", keep).ok());
  ASSERT_TRUE(database.CreateTable("drop", Schema().AddFamily("f")).ok());
}

int CountKeptRows(MemFileSystem* file_system) {
  const std::shared_ptr<LocalDatabase> local = OpenThreaded(file_system);
  if (local == nullptr) return -1;
  RowReader reader = Access::Make<Database>(local).OpenTable("keep")->ReadRows();
  int rows = 0;
  while (reader.Next()) ++rows;
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  return rows;
}

TEST(ReviewCloseTest, CloseEndsEveryCallAndLosesNothing) {
  MemFileSystem file_system;
  std::atomic<int> written{0};
  constexpr int kWritesBeforeClose = 80;
  int checkpoints = 0;
  for (int round = 0; round < 2; ++round) {
    std::shared_ptr<LocalDatabase> local = OpenThreaded(&file_system);
    ASSERT_NE(local, nullptr);
    Database database = Access::Make<Database>(local);
    if (round == 0) {
      ASSERT_NO_FATAL_FAILURE(CreateTables(database));
    }
    const Table keep = *database.OpenTable("keep");
    const Table drop = *database.OpenTable("drop");
    std::atomic<int> begun{0};
    std::vector<std::function<absl::Status()>> calls;
    const int base = round * 1'000'000;
    calls.emplace_back([&, table = keep]() mutable {
      const int i = begun.fetch_add(1);
      const absl::Status status = table.Apply(
          RowMutation("k" + std::to_string(base + i)).SetCell("f", "q", std::string(200, 'v')));
      if (status.ok()) written.fetch_add(1);
      if (i == kWritesBeforeClose) {
        EXPECT_TRUE(database.Close().ok());
      }
      return status;
    });
    calls.push_back(calls.front());
    calls.emplace_back([&, table = drop]() mutable {
      return table.Apply(RowMutation("d" + std::to_string(begun.load() % 50))
                             .SetCell("f", "q", std::string(300, 'd')));
    });
    calls.emplace_back(
        [table = drop]() mutable { return table.DropRowRange(RowRange::Prefix("d1")); });
    calls.emplace_back([table = keep]() mutable { return table.Compact(); });
    calls.emplace_back([table = drop]() mutable { return table.Flush(); });
    calls.emplace_back([&, table = keep] {
      RowReader reader = table.ReadRows();
      while (reader.Next()) {
      }
      return reader.status();
    });
    calls.emplace_back([&] {
      const absl::StatusOr<Table> made = database.CreateTable("passing", Schema().AddFamily("f"));
      if (!made.ok()) return made.status();
      Table table = *made;
      const absl::Status applied = table.Apply(RowMutation("r").SetCell("f", "q", "v"));
      return applied.ok() ? database.DeleteTable("passing") : applied;
    });
    calls.emplace_back(
        [&] { return database.Checkpoint("/copy" + std::to_string(checkpoints++)); });
    calls.emplace_back([&] {
      const absl::StatusOr<VerifyReport> report = database.Verify();
      if (report.ok() && !report->ok())
        ADD_FAILURE() << report->damages.front().file << ": " << report->damages.front().what;
      return report.status();
    });
    calls.emplace_back([&] {
      const absl::Status synced = database.Sync();
      return synced.ok() ? database.WaitForIdle() : synced;
    });
    std::vector<std::thread> threads;
    for (const std::function<absl::Status()>& call : calls)
      threads.emplace_back([&call] { RepeatUntilClosed(call); });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_GE(CountKeptRows(&file_system), written.load());
}

}  // namespace
}  // namespace stele::internal
