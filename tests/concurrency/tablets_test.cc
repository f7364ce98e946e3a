// Tests tablets that split and merge while writers, an explicit compaction, a drop, scans and a
// snapshot run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
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

constexpr size_t kTabletsWriters = 2;
constexpr size_t kRowsOfWriter = 60;
constexpr int kTabletsRounds = 12;

class TabletsConcurrencyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&files_);
    options.background_threads = 3;
    options.sizes.tablet_bytes_max = 6 << 10;
    auto local = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(local.ok()) << local.status();
    database_ = Access::Make<Database>(*local);
    table_ = database_
                 .CreateTable("t", Schema()
                                       .AddFamily("f", GcRule::MaxNumVersions(1))
                                       .SetCompression(Compression::kNone))
                 .value_or(Table());
  }

  static std::string RowKey(size_t writer, size_t row) {
    return fmt::format("{:03}/{}", row, writer);
  }

  // Counts up each of its rows, in random order.
  void Write(size_t writer) {
    Random random(writer);
    for (int round = 0; !done_.load() && !HasFailure(); ++round) {
      const size_t row = random.Below(kRowsOfWriter);
      const uint64_t count = counts_[writer][row] + 1;
      const std::string value = fmt::format("{:08}{}", count, std::string(200, 'x'));
      ASSERT_EQ(table_.Apply(RowMutation(RowKey(writer, row))
                                 .SetCell("f", "q", Timestamp::FromMicros(1000), value)),
                absl::OkStatus());
      counts_[writer][row] = count;
    }
  }

  // Rows ascend, and no row returns to an older value.
  void Scan() {
    std::map<std::string, std::string> seen;
    while (!done_.load() && !HasFailure()) {
      std::string last;
      RowReader reader = table_.ReadRows(RowSet::All());
      for (const RowView& row : reader) {
        const std::string row_key(row.row_key());
        ASSERT_LT(last, row_key);
        last = row_key;
        const std::string value(row.cells()[0].value());
        ASSERT_LE(seen[row_key], value) << row_key;
        seen[row_key] = value;
      }
      ASSERT_TRUE(reader.status().ok()) << reader.status();
    }
  }

  MemFileSystem files_;
  Database database_;
  Table table_;
  // Each is changed by its writer until all threads are joined.
  std::array<std::array<uint64_t, kRowsOfWriter>, kTabletsWriters> counts_ = {};
  std::atomic<bool> done_{false};
};

TEST_F(TabletsConcurrencyTest, SplitsAndMergesAreSeenByNobody) {
  std::vector<std::thread> threads;
  for (size_t writer = 0; writer < kTabletsWriters; ++writer)
    threads.emplace_back([this, writer] { Write(writer); });
  threads.emplace_back([this] { Scan(); });
  threads.emplace_back([this] {
    while (!done_.load() && !HasFailure()) EXPECT_EQ(table_.Compact(), absl::OkStatus());
  });
  // Rows after all others are written and dropped: their tablets split off and merge again. The
  // background threads split them, and may need more rounds to get to it.
  const auto split_often = [this] { return database_.Stats().tablets.splits > 3; };
  const auto is_due = [&](int round) {
    return round < kTabletsRounds || (round < 1'000 * kTabletsRounds && !split_often());
  };
  for (int round = 0; is_due(round) && !HasFailure(); ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::string value(300, 'y');
      EXPECT_EQ(table_.Apply(RowMutation(fmt::format("tail/{:03}", i))
                                 .SetCell("f", "q", Timestamp::FromMicros(1000), value)),
                absl::OkStatus());
    }
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
    const Snapshot snapshot = database_.GetSnapshot().value_or(Snapshot());
    const std::string seen = DumpTable(table_, {.snapshot = snapshot}).value_or("unreadable");
    ASSERT_EQ(table_.DropRowRange(RowRange::Prefix("tail/")), absl::OkStatus());
    ASSERT_EQ(table_.Compact(), absl::OkStatus());
    EXPECT_EQ(DumpTable(table_, {.snapshot = snapshot}).value_or("unreadable"), seen)
        << "a snapshot changed";
  }
  done_.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database_.WaitForIdle(), absl::OkStatus());
  for (size_t writer = 0; writer < kTabletsWriters; ++writer) {
    for (size_t row = 0; row < kRowsOfWriter; ++row) {
      const auto found = table_.ReadRow(RowKey(writer, row));
      ASSERT_TRUE(found.ok()) << found.status();
      const std::string value =
          found->has_value() ? std::string((*found)->cells()[0].value().substr(0, 8)) : "00000000";
      EXPECT_EQ(value, fmt::format("{:08}", counts_[writer][row]));
    }
  }
  EXPECT_GT(database_.Stats().tablets.splits, 3u);
  EXPECT_TRUE(database_.Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
}

}  // namespace
}  // namespace stele::internal
