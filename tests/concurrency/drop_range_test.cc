// Tests engine rule 14 with concurrency: rows are dropped while others write and read them. Writes
// acknowledged before a drop started are gone when the drop is acknowledged, and later writes stay.
// A snapshot returns the same before and after. Rows outside the range never change.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr size_t kDropWriters = 3;
constexpr int kDrops = 60;

class DropRangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&files_);
    options.background_threads = 2;
    auto local = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(local.ok()) << local.status();
    database_ = Access::Make<Database>(*local);
    table_ = database_.CreateTable("t", Schema().AddFamily("f", GcRule::MaxNumVersions(1)))
                 .value_or(Table());
  }

  // Counts up in a row of the range and in a row outside it, with enough bytes to fill memtables
  // and cause merges.
  void WriteUntilDone(size_t writer) {
    for (uint64_t round = 1; !done_.load() && !HasFailure(); ++round) {
      for (const char* place : {"drop", "keep"}) {
        const std::string value = fmt::format("{:012}{}", round, std::string(300, 'x'));
        const auto mutation = RowMutation(fmt::format("{}/{}", place, writer))
                                  .SetCell("f", "q", Timestamp::FromMicros(1000), value);
        ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
      }
      acked_[writer].store(round);
    }
  }

  // Returns the round that the row shows; 0: no such row.
  uint64_t RoundOf(std::string_view place, size_t writer, const ReadOptions& options = {}) {
    const auto row = table_.ReadRow(fmt::format("{}/{}", place, writer), {}, options);
    EXPECT_TRUE(row.ok()) << row.status();
    if (!row.ok() || !row->has_value()) return 0;
    return std::strtoull(std::string((*row)->cells()[0].value().substr(0, 12)).c_str(), nullptr,
                         10);
  }
  std::array<uint64_t, kDropWriters> Acked() const {
    std::array<uint64_t, kDropWriters> rounds;
    for (size_t i = 0; i < kDropWriters; ++i) rounds[i] = acked_[i].load();
    return rounds;
  }

  void DropOnce() {
    const std::array<uint64_t, kDropWriters> before = Acked();
    const Snapshot snapshot = database_.GetSnapshot().value_or(Snapshot());
    const std::string seen = DumpTable(table_, {.snapshot = snapshot}).value_or("unreadable");
    ASSERT_EQ(table_.DropRowRange(RowRange::Prefix("drop/")), absl::OkStatus());
    for (size_t writer = 0; writer < kDropWriters; ++writer) {
      const uint64_t dropped = RoundOf("drop", writer);
      EXPECT_TRUE(dropped == 0 || dropped > before[writer])
          << "round " << dropped << " came back; " << before[writer] << " was dropped";
      EXPECT_GE(RoundOf("keep", writer), before[writer]) << "a row beside the range";
    }
    EXPECT_EQ(DumpTable(table_, {.snapshot = snapshot}).value_or("unreadable"), seen)
        << "a snapshot changed";
    ASSERT_EQ(table_.Apply(RowMutation("drop/after").SetCell("f", "q", "v")), absl::OkStatus());
    EXPECT_TRUE(table_.Exists("drop/after").value_or(false))
        << "what is written after the drop stays";
  }

  MemFileSystem files_;
  Database database_;
  Table table_;
  std::array<std::atomic<uint64_t>, kDropWriters> acked_ = {};
  std::atomic<bool> done_{false};
};

TEST_F(DropRangeTest, Rule14ADropTakesWhatWasAckedBeforeAndNothingElse) {
  std::vector<std::thread> threads;
  for (size_t writer = 0; writer < kDropWriters; ++writer)
    threads.emplace_back([this, writer] { WriteUntilDone(writer); });
  threads.emplace_back([this] {
    while (!done_.load() && !HasFailure()) EXPECT_EQ(table_.Compact(), absl::OkStatus());
  });
  for (int i = 0; i < kDrops && !HasFailure(); ++i) DropOnce();
  done_.store(true);
  for (std::thread& thread : threads) thread.join();
  const std::array<uint64_t, kDropWriters> last = Acked();
  for (size_t writer = 0; writer < kDropWriters; ++writer)
    EXPECT_EQ(RoundOf("keep", writer), last[writer]);
  EXPECT_EQ(table_.DropRowRange(RowRange::Prefix("drop/")), absl::OkStatus());
  EXPECT_EQ(table_.Compact(), absl::OkStatus());
  for (size_t writer = 0; writer < kDropWriters; ++writer) EXPECT_EQ(RoundOf("drop", writer), 0u);
  EXPECT_TRUE(database_.Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
}

}  // namespace
}  // namespace stele::internal
