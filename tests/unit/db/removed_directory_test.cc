// Tests a database whose directory is removed while it is open: it refuses writes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "db/local_database.h"
#include "io/file_names.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

TEST(RemovedDirectory, WritesAreRefusedAndReadsWork) {
  CrashFileSystem files;
  int events = 0;
  EngineOptions options = SmallEngineOptions(&files);
  options.database.on_event = [&events](const DatabaseEvent& event) {
    if (event.kind != DatabaseEvent::Kind::kBackgroundError) return;
    ++events;
    EXPECT_TRUE(absl::IsDataLoss(event.status)) << event.status;
  };
  absl::StatusOr<std::shared_ptr<LocalDatabase>> local = OpenDatabase("/db", std::move(options));
  ASSERT_EQ(local.status(), absl::OkStatus());
  Database database = Access::Make<Database>(*std::move(local));
  Table table = *database.CreateTable("t", Schema().AddFamily("f"));
  const auto put = [&table](const std::string& row_key) {
    return table.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(1), "v"));
  };
  ASSERT_EQ(put("a"), absl::OkStatus());
  ASSERT_EQ(database.WaitForIdle(), absl::OkStatus());
  ASSERT_EQ(put("b"), absl::OkStatus());

  ASSERT_EQ(files.Remove("/db/" + std::string(kCurrentName)), absl::OkStatus());
  for (int look = 0; look < 2; ++look) EXPECT_TRUE(absl::IsDataLoss(database.WaitForIdle()));
  EXPECT_EQ(events, 1);
  EXPECT_TRUE(absl::IsDataLoss(database.WriteRefusal())) << database.WriteRefusal();
  EXPECT_EQ(database.Stats().write_refusal, database.WriteRefusal());
  EXPECT_EQ(database.Stats().last_background_error, database.WriteRefusal());
  const absl::Status refused = put("c");
  EXPECT_TRUE(ToStd(refused.message()).starts_with("/db: the directory was removed ")) << refused;
  EXPECT_TRUE(absl::IsDataLoss(database.CreateTable("u", Schema().AddFamily("f")).status()));
  EXPECT_TRUE(absl::IsDataLoss(table.DropRowRange(RowRange::All())));
  EXPECT_TRUE(absl::IsDataLoss(database.DeleteTable("t")));
  EXPECT_TRUE(table.Exists("a").value_or(false));
  EXPECT_TRUE(table.Exists("b").value_or(false));
  EXPECT_FALSE(table.Exists("c").value_or(true));
  EXPECT_TRUE(absl::IsDataLoss(database.Sync()));
  EXPECT_TRUE(absl::IsDataLoss(database.Close()));
}

// Sync does not wait until a background thread has looked.
TEST(RemovedDirectory, SyncLooks) {
  CrashFileSystem files;
  Database database = Access::Make<Database>(*OpenDatabase("/db", SmallEngineOptions(&files)));
  Table table = *database.CreateTable("t", Schema().AddFamily("f"));
  ASSERT_EQ(database.Sync(), absl::OkStatus());
  ASSERT_EQ(files.Remove("/db/" + std::string(kCurrentName)), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(database.Sync()));
}

}  // namespace
}  // namespace stele::internal
