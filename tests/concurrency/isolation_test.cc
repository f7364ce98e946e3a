// Runs writers, readers, flushes, compactions, schema changes, drops and snapshots concurrently.
// Every row always shows one whole mutation. A snapshot contains a batch over two tables as a whole
// or not at all. No reader sees a writer's rounds decrease.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/random.h"
#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kIsolationWriters = 4;
constexpr uint64_t kIsolationRounds = 400;
constexpr int kIsolationRows = 12;

class IsolationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&files_);
    options.background_threads = 2;
    auto local = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(local.ok()) << local.status();
    database_ = Access::Make<Database>(*local);
    for (const char* name : {"a", "b"}) {
      ASSERT_TRUE(database_
                      .CreateTable(name, Schema()
                                             .AddFamily("f", GcRule::MaxNumVersions(1))
                                             .AddFamily("g", GcRule::MaxNumVersions(1)))
                      .ok());
    }
    a_ = database_.OpenTable("a").value_or(Table());
    b_ = database_.OpenTable("b").value_or(Table());
  }

  // Makes round `number` of a writer: all its columns of one row get the same value, in both
  // tables.
  absl::Status WriteRound(int writer, uint64_t number) {
    const std::string row = fmt::format("w{}/{:02}", writer, number % kIsolationRows);
    const std::string value = fmt::format("{:08}{}", number, std::string(number % 50, 'x'));
    WriteBatch batch;
    for (const Table& table : {a_, b_}) {
      RowMutation mutation(row);
      if (number % 5 == 0) mutation.DeleteFromRow();
      for (const char* qualifier : {"1", "2", "3"}) {
        mutation.SetCell("f", qualifier, Timestamp::FromMicros(1000), value)
            .SetCell("g", qualifier, Timestamp::FromMicros(1000), value);
      }
      batch.Add(table, std::move(mutation));
    }
    return database_.Apply(batch);
  }

  // Checks that every row is whole, and returns the greatest round of each writer.
  static std::vector<uint64_t> CheckRows(const Table& table, const ReadOptions& options) {
    std::vector<uint64_t> rounds(kIsolationWriters);
    RowReader reader = table.ReadRows(RowRange::Prefix("w"), {}, options);
    for (const RowView& row : reader) {
      EXPECT_EQ(row.cells().size(), 6u) << row.row_key() << ": part of a mutation";
      for (const CellView& cell : row.cells())
        EXPECT_EQ(cell.value(), row.cells()[0].value()) << row.row_key() << ": two mutations mixed";
      uint64_t& round = rounds[static_cast<size_t>(row.row_key()[1] - '0')];
      round = std::max<uint64_t>(
          round,
          std::strtoull(std::string(row.cells()[0].value().substr(0, 8)).c_str(), nullptr, 10));
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return rounds;
  }

  void ReadUntilDone(bool reverse) {
    std::vector<uint64_t> seen(kIsolationWriters);
    while (!done_.load() && !HasFailure()) {
      const absl::StatusOr<Snapshot> snapshot = database_.GetSnapshot();
      ASSERT_TRUE(snapshot.ok());
      ReadOptions options{.reverse = reverse, .snapshot = *snapshot};
      const std::vector<uint64_t> rounds = CheckRows(a_, options);
      EXPECT_EQ(CheckRows(b_, options), rounds) << "half a batch";
      for (size_t writer = 0; writer < rounds.size(); ++writer)
        EXPECT_GE(rounds[writer], seen[writer]) << "a writer went back";
      seen = rounds;
    }
  }

  void MaintainUntilDone() {
    Random random(5);
    while (!done_.load() && !HasFailure()) {
      Table table = random.OneIn(2) ? a_ : b_;
      absl::Status status;
      switch (random.Below(5)) {
        case 0:
          status = table.Flush();
          break;
        case 1:
          status = table.Compact();
          break;
        case 2:
          status = table.ModifyColumnFamilies({FamilyChange::Create({.name = "x"})});
          EXPECT_EQ(table.Apply(RowMutation("extra").SetCell("x", "q", "v")), absl::OkStatus());
          if (status.ok()) status = table.ModifyColumnFamilies({FamilyChange::Drop("x")});
          break;
        case 3:
          EXPECT_EQ(table.Apply(RowMutation("dropped").SetCell("f", "q", "v")), absl::OkStatus());
          status = table.DropRowRange(RowRange::Prefix("dropped"));
          EXPECT_FALSE(table.Exists("dropped").value_or(true));
          break;
        default:
          status = database_.Sync();
      }
      EXPECT_EQ(status, absl::OkStatus());
    }
  }

  MemFileSystem files_;
  Database database_;
  Table a_;
  Table b_;
  std::atomic<bool> done_{false};
};

TEST_F(IsolationTest, RowsAndBatchesAreSeenWholeWhateverRunsBeside) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kIsolationWriters; ++writer) {
    writers.emplace_back([this, writer] {
      for (uint64_t round = 1; round <= kIsolationRounds && !HasFailure(); ++round)
        EXPECT_EQ(WriteRound(writer, round), absl::OkStatus());
    });
  }
  std::vector<std::thread> others;
  others.emplace_back([this] { ReadUntilDone(false); });
  others.emplace_back([this] { ReadUntilDone(true); });
  others.emplace_back([this] { MaintainUntilDone(); });
  for (std::thread& thread : writers) thread.join();
  done_.store(true);
  for (std::thread& thread : others) thread.join();
  EXPECT_EQ(CheckRows(a_, {}), std::vector<uint64_t>(kIsolationWriters, kIsolationRounds));
  EXPECT_EQ(database_.WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(CheckRows(b_, {}), std::vector<uint64_t>(kIsolationWriters, kIsolationRounds));
  EXPECT_TRUE(database_.Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
  EXPECT_GT(database_.Stats().since_open.flushes, 0u);
}

// Engine rules 5 and 8: range deletes read before they write. With other writers of the row, no
// garbage version reappears.
TEST_F(IsolationTest, FencedDeletesBesideWritersOfTheRow) {
  ASSERT_EQ(a_.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(2))}),
            absl::OkStatus());
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 2; ++writer) {
    threads.emplace_back([this, writer] {
      for (int64_t i = 1; i <= 300; ++i) {
        const int64_t micros = (i * 2 + writer) * 1000;
        // One of the writers writes the column, in ascending order. The other writes another family
        // of the row.
        const char* family = writer == 0 ? "f" : "g";
        EXPECT_EQ(
            a_.Apply(RowMutation("row").SetCell(family, "q", Timestamp::FromMicros(micros), "v")),
            absl::OkStatus());
      }
    });
  }
  // Deletes the newest version it sees, and later ones. Versions below the second one were garbage
  // and stay invisible.
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    const auto before = a_.ReadRow("row", Filter::Family("f"));
    ASSERT_TRUE(before.ok());
    if (!before->has_value() || (*before)->cells().size() < 2) continue;
    const Timestamp oldest = (*before)->cells().back().timestamp();
    ASSERT_EQ(a_.Apply(RowMutation("row").DeleteFromColumn(
                  "f", "q", TimestampRange{.start = (*before)->cells()[0].timestamp()})),
              absl::OkStatus());
    const auto after = a_.ReadRow("row", Filter::Family("f"));
    ASSERT_TRUE(after.ok());
    if (!after->has_value()) continue;
    for (const CellView& cell : (*after)->cells())
      EXPECT_GE(cell.timestamp(), oldest) << "a garbage version came back";
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(IsolationTest, CloseBesideEverything) {
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kIsolationWriters; ++writer) {
    threads.emplace_back([this, writer] {
      absl::Status status;
      for (uint64_t round = 1; status.ok(); ++round) status = WriteRound(writer, round);
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    });
  }
  threads.emplace_back([this] {
    absl::Status status;
    while (status.ok()) status = DumpTable(a_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  });
  threads.emplace_back([this] {
    absl::Status status;
    while (status.ok()) status = a_.Compact();
    EXPECT_TRUE(absl::IsFailedPrecondition(status) || absl::IsCancelled(status)) << status;
  });
  while (database_.Stats().since_open.flushes < 2) std::this_thread::yield();
  EXPECT_EQ(database_.Close(), absl::OkStatus());
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stele::internal
