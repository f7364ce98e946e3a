// Tests snapshots and scans over memtables that are spilled to disk, with concurrent writers and
// jobs: each shows one state, the same every time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "base/random.h"
#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kSpillWriters = 2;
constexpr int kSpillRounds = 150;
constexpr int kSpillRows = 10;

class MemtableSpillConcurrencyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&files_);
    options.sizes.pinned_memory_bytes = 0;  // spill everything that is pinned
    options.background_threads = 2;
    auto local = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(local.ok()) << local.status();
    database_ = Access::Make<Database>(*local);
    absl::StatusOr<Table> table =
        database_.CreateTable("t", Schema().AddFamily("f", GcRule::MaxNumVersions(1)));
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
  }

  // Writes all rows of a round in one batch: a state shows one round per writer.
  absl::Status WriteRound(int writer, int round) {
    WriteBatch batch;
    for (int row = 0; row < kSpillRows; ++row) {
      batch.Add(table_, RowMutation(fmt::format("w{}/{}", writer, row))
                            .DeleteFromRow()
                            .SetCell("f", "q", Timestamp::FromMicros(1000),
                                     fmt::format("{:06}{}", round, std::string(200, 'x'))));
    }
    return database_.Apply(batch);
  }

  // Reads row by row, slowly, so that concurrent work can run in between.
  static std::string ReadSlowly(RowReader reader, bool reverse) {
    std::deque<std::string> rows;
    for (const RowView& row : reader) {
      const std::string text =
          fmt::format("{}={} ", row.row_key(), row.cells()[0].value().substr(0, 6));
      reverse ? rows.push_front(text) : rows.push_back(text);
      const std::string value(row.cells()[0].value());
      std::this_thread::yield();
      EXPECT_EQ(row.cells()[0].value(), value) << "what is shown stays as long as the reader rests";
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    std::string all;
    for (const std::string& row : rows) all += row;
    return all;
  }

  void HoldSnapshots(uint64_t seed) {
    struct Held {
      Snapshot snapshot;
      std::string seen;
    };
    std::deque<Held> held;
    Random random(seed);
    while (!done_.load() && !HasFailure()) {
      const absl::StatusOr<Snapshot> snapshot = database_.GetSnapshot();
      ASSERT_TRUE(snapshot.ok()) << snapshot.status();
      held.push_back(
          {.snapshot = *snapshot,
           .seen = ReadSlowly(table_.ReadRows(RowSet::All(), {}, {.snapshot = *snapshot}), false)});
      const Held& again = held[random.Below(held.size())];
      const bool reverse = random.OneIn(2);
      EXPECT_EQ(ReadSlowly(table_.ReadRows(RowSet::All(), {},
                                           {.reverse = reverse, .snapshot = again.snapshot}),
                           reverse),
                again.seen);
      if (held.size() > 6) held.pop_front();
    }
  }

  // Without a snapshot: all rows of a writer are from one round.
  void Scan() {
    while (!done_.load() && !HasFailure()) {
      std::vector<std::string> rounds(kSpillWriters);
      RowReader reader = table_.ReadRows(RowSet::All());
      for (const RowView& row : reader) {
        const std::string round(row.cells()[0].value().substr(0, 6));
        std::string& first = rounds[static_cast<size_t>(row.row_key()[1] - '0')];
        if (first.empty()) first = round;
        EXPECT_EQ(first, round) << "two states mixed";
        std::this_thread::yield();
      }
      EXPECT_EQ(reader.status(), absl::OkStatus());
    }
  }

  MemFileSystem files_;
  Database database_;
  Table table_;
  std::atomic<bool> done_{false};
};

TEST_F(MemtableSpillConcurrencyTest, EveryViewShowsOneState) {
  const auto has_spilled = [this] { return database_.Stats().since_open.memtable_spills > 0; };
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kSpillWriters; ++writer) {
    writers.emplace_back([this, writer, has_spilled] {
      // Until a flush met a view that a reader holds, and the memtable was spilled.
      const auto is_due = [has_spilled](int round) {
        return round <= kSpillRounds || (round <= 1'000 * kSpillRounds && !has_spilled());
      };
      for (int round = 1; is_due(round) && !HasFailure(); ++round)
        EXPECT_EQ(WriteRound(writer, round), absl::OkStatus());
    });
  }
  std::vector<std::thread> readers;
  readers.emplace_back([this] { HoldSnapshots(1); });
  readers.emplace_back([this] { HoldSnapshots(2); });
  readers.emplace_back([this] { Scan(); });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_EQ(table_.Compact(), absl::OkStatus());
  done_.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(database_.WaitForIdle(), absl::OkStatus());
  EXPECT_GT(database_.Stats().since_open.memtable_spills, 0u);
  EXPECT_EQ(database_.Stats().memory.pinned_bytes, 0u) << "nobody holds a view any more";
  EXPECT_FALSE(database_.Stats().oldest_read_view.has_value());
}

}  // namespace
}  // namespace stele::internal
