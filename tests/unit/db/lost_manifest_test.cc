// Tests a database that has lost its manifest: OnDamage::kReadAround shows what its SSTables have,
// and later commits in the log.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "db/local_database.h"
#include "io/file_names.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

class LostManifestTest : public ::testing::Test {
 protected:
  absl::StatusOr<Database> Open(bool read_only = false) {
    EngineOptions options = SmallEngineOptions(&files_);
    options.database.read_only = read_only;
    if (read_only) options.database.on_damage = OnDamage::kReadAround;
    STELE_ASSIGN_OR_RETURN(std::shared_ptr<LocalDatabase> local,
                           OpenDatabase("/db", std::move(options)));
    return Access::Make<Database>(std::move(local));
  }
  void RemoveManifest() {
    const std::vector<std::string> names = *files_.List("/db");
    for (const std::string& name : names) {
      if (name.starts_with("MANIFEST") || name == kCurrentName) {
        EXPECT_EQ(files_.Remove("/db/" + name), absl::OkStatus());
      }
    }
  }
  // Closes the database, removes the manifest, and returns what a reader sees.
  std::string TextWithoutManifest(Database database) {
    EXPECT_EQ(database.Close(), absl::OkStatus());
    RemoveManifest();
    const absl::StatusOr<Database> around = Open(/*read_only=*/true);
    return around.ok() ? *DumpDatabase(*around) : around.status().ToString();
  }
  static void Put(Table table, const std::string& row_key, const std::string& value) {
    ASSERT_EQ(table.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(1), value)),
              absl::OkStatus());
  }

  CrashFileSystem files_;
};

TEST_F(LostManifestTest, ACellThatWasOverwrittenAndDeletedOnesStayAsTheyWere) {
  Database database = *Open();
  Table table = *database.CreateTable("t", Schema().AddFamily("f", GcRule::MaxNumVersions(3)));
  for (const std::string value : {"1", "2", "3"}) {
    Put(table, "a", value);
    Put(table, "b", value);
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    if (value == "2") {
      ASSERT_EQ(table.Compact(), absl::OkStatus());
    }
  }
  ASSERT_EQ(table.Apply(RowMutation("b").DeleteFromRow()), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  Put(table, "c", "in the log");
  const std::string text = *DumpDatabase(database);
  ASSERT_NE(text.find("a f:q@1000=3"), std::string::npos) << text;
  EXPECT_EQ(TextWithoutManifest(std::move(database)), text);
}

TEST_F(LostManifestTest, TypesSplitsAndBulkLoads) {
  Database database = *Open();
  const FamilySchema sum{.name = "sum", .value_type = ValueType::kInt64Sum};
  const Schema schema = Schema().AddFamily("f").AddFamily(sum).AddSplit("h").AddSplit("p");
  Table table = *database.CreateTable("t", schema);
  for (int round = 0; round < 2; ++round) {
    for (const char* const row_key : {"a", "k", "z"}) {
      Put(table, row_key, "v");
      ASSERT_EQ(
          table.Apply(RowMutation(row_key).AddToCell("sum", "n", Timestamp::FromMillis(1), 5)),
          absl::OkStatus());
    }
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  ASSERT_EQ(table.Compact(RowRange::Prefix("k")), absl::OkStatus());
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(load.Add(RowMutation("b").SetCell("f", "q", Timestamp::FromMillis(1), "loaded")),
            absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  const std::string text = *DumpDatabase(database);
  ASSERT_NE(text.find("loaded"), std::string::npos) << text;
  EXPECT_EQ(TextWithoutManifest(std::move(database)), text);
}

TEST_F(LostManifestTest, AnUnreadableSstableIsNamed) {
  Database database = *Open();
  for (const char* const name : {"t", "u"}) {
    Table table = *database.CreateTable(name, Schema().AddFamily("f"));
    Put(table, "a", "v");
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  ASSERT_EQ(database.Close(), absl::OkStatus());
  const std::vector<std::string> names = *files_.List("/db");
  std::string damaged;
  for (const std::string& name : names) {
    if (name.ends_with(".sst") && damaged.empty()) {
      damaged = name;
      ASSERT_EQ(files_.WriteFile("/db/" + name, "no table"), absl::OkStatus());
    }
  }
  RemoveManifest();
  const Database around = *Open(/*read_only=*/true);
  EXPECT_EQ(*around.ListTables(), std::vector<std::string>{"u"});
  const VerifyReport report = *around.Verify();
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.damages[0].what.find(damaged + " is not readable"), std::string::npos)
      << report.damages[0].what;
}

}  // namespace
}  // namespace stele::internal
