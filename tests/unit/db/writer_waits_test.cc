// Tests which objects a writer pins while it waits.
#include <gtest/gtest.h>

#include <thread>

#include "db/engine.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

// Regression: a writer that waited for its commit pinned the view that a compaction's install
// replaced. The last thread to release a view deletes the compaction's inputs. That took one writer
// most of a second while the others continued.
TEST(WriterWaitsTest, AWriterInTheQueueHoldsNoView) {
  CrashFileSystem files;
  WorkloadDatabase database(&files);
  ASSERT_EQ(database.Open(), absl::OkStatus());
  Engine& engine = database.engine();
  Table table = *database.database().CreateTable("t", Schema().AddFamily("f"));
  const RowMutation mutation = RowMutation("r").SetCell("f", "q", Timestamp::FromMicros(1000), "v");
  for (const bool bulk : {false, true}) {
    std::thread writer;
    ASSERT_EQ(engine.storage().committer->RunExclusive([&] {
      const std::weak_ptr<const ReadView> view = engine.storage().state.view();
      writer = std::thread([&] {
        if (bulk) {
          EXPECT_TRUE(table.BulkApply(std::vector<RowMutation>{mutation}).empty());
        } else {
          EXPECT_EQ(table.Apply(mutation), absl::OkStatus());
        }
      });
      while (engine.storage().committer->queued() < 2) std::this_thread::yield();
      const absl::Status installed =
          engine.storage().installer->Install([](const Version&) { return Edit(); });
      EXPECT_TRUE(view.expired()) << (bulk ? "BulkApply" : "Apply");
      return installed;
    }),
              absl::OkStatus());
    writer.join();
  }
}

}  // namespace
}  // namespace stele::internal
