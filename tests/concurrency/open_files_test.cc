// Tests readers, a writer and jobs on a database with many more SSTables than the limit of open
// files, while another thread takes descriptors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/random.h"
#include "db/engine.h"
#include "io/posix_descriptor.h"
#include "support/base_sanitized.h"
#include "support/crash_child.h"
#include "support/db_workload.h"
#include "support/io_descriptor_limit.h"

namespace stele::internal {
namespace {

constexpr int kRows = 300;
constexpr int kRounds = kReduced ? 4 : 12;

TEST(OpenFilesTest, ReadersMissNothingWhileDescriptorsAreTakenAway) {
  const ScratchDirectory scratch;
  EngineOptions options = SmallEngineOptions(PosixFileSystem());
  options.sizes.load_file_bytes = 3 << 10;
  options.sizes.cache_bytes = 0;  // all reads go to files
  options.database.memory_budget_bytes = uint64_t{32} << 20;
  options.background_threads = 2;
  WorkloadDatabase database(options, scratch.path() + "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  Table table = database.database().CreateTable("t", Schema().AddFamily("f")).value();
  const DescriptorLimit limit(40);
  const auto load = [&](int round) {
    BulkLoad rows = table.NewBulkLoad();
    for (int i = 0; i < kRows; ++i) {
      const std::string value = fmt::format("{:06} ", round) + std::string(900, 'v');
      ASSERT_EQ(
          rows.Add(RowMutation(fmt::format("row{:04}", i)).SetCell("f", "q", Timestamp(), value)),
          absl::OkStatus());
    }
    ASSERT_EQ(rows.Finish(), absl::OkStatus());
  };
  load(0);
  std::atomic<bool> done{false};
  std::atomic<int> round_begun{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Random random(t + 1);
      int seen = 0;  // a later read must not return less
      while (!done.load()) {
        const auto row = table.ReadRow(fmt::format("row{:04}", random.Below(kRows)));
        ASSERT_TRUE(row.ok() && row->has_value()) << row.status();
        const int round = std::stoi(std::string((*row)->cells()[0].value().substr(0, 6)));
        EXPECT_GE(round, seen);
        EXPECT_LE(round, round_begun.load());
        seen = round;
        int count = 0;
        RowReader reader = table.ReadRows(RowSet::All(), Filter::StripValue(), {.limit = 60});
        while (reader.Next()) ++count;
        EXPECT_EQ(reader.status(), absl::OkStatus());
        EXPECT_EQ(count, 60);
      }
    });
  }
  threads.emplace_back([&] {
    while (!done.load()) {
      PosixFilePool().CloseOne();
      std::this_thread::yield();
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    round_begun.store(round);
    load(round);
    if (round % 4 == 0) {
      EXPECT_EQ(table.Compact(), absl::OkStatus());
    }
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database.database().WaitForIdle(), absl::OkStatus());
  EXPECT_TRUE(database.database()
                  .Verify()
                  .value_or(VerifyReport{.damages = {VerifyReport::Damage()}})
                  .ok());
}

}  // namespace
}  // namespace stele::internal
