// Tests kill -9 on the real file system: a process with four writers, flushes and compactions is
// killed at random times. All writes that it reported as acknowledged exist. Rows and batches are
// whole, and every writer's rows are a prefix of its writes.
//
// Environment:
//   STELE_KILLS  number of kills (default 15; 5 with sanitizers)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "base/random.h"
#include "base/status.h"
#include "model/access.h"
#include "support/base_sanitized.h"
#include "support/crash_child.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kWriters = 4;

int KillCount() {
  const char* text = std::getenv("STELE_KILLS");
  if (text != nullptr) return std::atoi(text);
  return kReduced ? 5 : 15;
}

absl::StatusOr<Database> OpenBusy(const std::string& directory) {
  EngineOptions options = SmallEngineOptions(PosixFileSystem());
  options.background_threads = 2;
  options.database.clock = nullptr;
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<LocalDatabase> local,
                         OpenDatabase(directory, std::move(options)));
  return Access::Make<Database>(std::move(local));
}

std::string RowKey(int writer, uint64_t number) { return fmt::format("{}/{:08}", writer, number); }
std::string ValueOf(int writer, uint64_t number) {
  return fmt::format("{}-{}-{}", writer, number, std::string(number * 37 % 300, 'v'));
}

// Checks that a writer's rows in a table are 0, 1, 2, ... without a gap, each whole. Returns their
// number.
uint64_t CountRows(const Table& table, int writer) {
  uint64_t next = 0;
  RowReader reader = table.ReadRows(RowRange::Prefix(fmt::format("{}/", writer)));
  for (const RowView& row : reader) {
    EXPECT_EQ(row.row_key(), RowKey(writer, next)) << "a hole";
    EXPECT_EQ(row.cells().size(), 2u) << row.row_key() << ": half a row";
    for (const CellView& cell : row.cells())
      EXPECT_EQ(cell.value(), ValueOf(writer, next)) << row.row_key();
    ++next;
  }
  EXPECT_EQ(reader.status(), absl::OkStatus());
  return next;
}

TEST(KillTest, NothingAckedIsLost) {
  const ScratchDirectory directory;
  {
    absl::StatusOr<Database> database = OpenBusy(directory.path());
    ASSERT_TRUE(database.ok()) << database.status();
    for (const char* name : {"a", "b"})
      ASSERT_TRUE(database->CreateTable(name, Schema().AddFamily("f").AddFamily("g")).ok());
  }
  Random random(20);
  uint64_t acks = 0;
  uint64_t acked[kWriters] = {};
  for (int kill = 0; kill < KillCount() && !HasFailure(); ++kill) {
    ChildProcess child("KillChild.Writes", directory.path());
    const uint64_t acks_before_kill = 1 + random.Below(400);
    for (uint64_t i = 0; i < acks_before_kill; ++i) {
      const std::string line = child.ReadLine();
      ASSERT_FALSE(line.empty()) << "the writing process failed";
      acked[line[0] - '0'] = std::strtoull(line.c_str() + 2, nullptr, 10) + 1;
      ++acks;
    }
    child.Kill();
    for (std::string line = child.ReadLine(); !line.empty(); line = child.ReadLine(), ++acks) {
      acked[line[0] - '0'] = std::strtoull(line.c_str() + 2, nullptr, 10) + 1;
    }
    absl::StatusOr<Database> database = OpenBusy(directory.path());
    ASSERT_TRUE(database.ok()) << "after kill " << kill << ": " << database.status();
    const Table a = database->OpenTable("a").value_or(Table());
    const Table b = database->OpenTable("b").value_or(Table());
    for (int writer = 0; writer < kWriters; ++writer) {
      const uint64_t rows = CountRows(a, writer);
      EXPECT_GE(rows, acked[writer]) << "writer " << writer << ", kill " << kill;
      EXPECT_EQ(CountRows(b, writer), rows)
          << "half a batch of writer " << writer << ", kill " << kill;
    }
    const absl::StatusOr<VerifyReport> report = database->Verify();
    ASSERT_TRUE(report.ok() && report->ok()) << "kill " << kill;
  }
  std::cout << fmt::format("{} kills, {} acks\n", KillCount(), acks);
}

void WriteForEver(Database database, int writer, uint64_t number) {
  const Table a = database.OpenTable("a").value_or(Table());
  const Table b = database.OpenTable("b").value_or(Table());
  for (;; ++number) {
    WriteBatch batch;
    for (const Table& table : {a, b}) {
      const std::string value = ValueOf(writer, number);
      batch.Add(
          table,
          RowMutation(RowKey(writer, number)).SetCell("f", "q", value).SetCell("g", "q", value));
    }
    if (!database
             .Apply(batch,
                    {.durability = number % 16 == 0 ? Durability::kDisk : Durability::kProcess})
             .ok())
      std::_Exit(1);
    ChildProcess::Notify(fmt::format("{} {}\n", writer, number));
  }
}

// The process that is killed.
TEST(KillChild, Writes) {
  if (!ChildProcess::IsChild()) GTEST_SKIP() << "run by another test, in a process of its own";
  absl::StatusOr<Database> database = OpenBusy(ChildProcess::Directory());
  if (!database.ok()) std::_Exit(1);
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    const uint64_t next = CountRows(database->OpenTable("a").value_or(Table()), writer);
    threads.emplace_back([&database, writer, next] { WriteForEver(*database, writer, next); });
  }
  for (uint64_t i = 0;; ++i) {
    Table table = database->OpenTable(i % 2 == 0 ? "a" : "b").value_or(Table());
    if (!(i % 3 == 0 ? table.Compact() : table.Flush()).ok()) std::_Exit(1);
  }
}

}  // namespace
}  // namespace stele::internal
