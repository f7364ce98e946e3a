// Tests a database that lost SSTables: opening it for writing is refused, a reader gets an error
// for the rows of the lost file alone, and Verify names what is lost.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

class MissingSstableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Database database = Open(/*read_only=*/false).value();
    Table table = *database.CreateTable("t", Schema().AddFamily("f").AddFamily("other"));
    ASSERT_EQ(database.CreateTable("whole", Schema().AddFamily("f")).status(), absl::OkStatus());
    Write(database, "t", {"a", "c"});
    Write(database, "t", {"m", "o"});
    Write(database, "whole", {"a", "o"});
    const auto& stack = local_->engine()->storage().state.view()->version->FindTable("t")->tablets;
    ASSERT_EQ(stack[0].stack.size(), 2u);
    first_ = SstableName(stack[0].stack[1].file->number);
    second_ = SstableName(stack[0].stack[0].file->number);
    ASSERT_EQ(Set(database, "whole", "z"), absl::OkStatus());  // stays in the log
    local_.reset();
    ASSERT_EQ(database.Close(), absl::OkStatus());
  }

  absl::StatusOr<Database> Open(bool read_only) {
    EngineOptions options = SmallEngineOptions(&files_);
    options.database.read_only = read_only;
    STELE_ASSIGN_OR_RETURN(local_, OpenDatabase("/db", std::move(options)));
    return Access::Make<Database>(local_);
  }
  static absl::Status Set(const Database& database, const char* table, const std::string& row) {
    STELE_ASSIGN_OR_RETURN(Table found, database.OpenTable(table));
    return found.Apply(RowMutation(row).SetCell("f", "q", Timestamp::FromMillis(1), "v"));
  }
  static void Write(const Database& database, const char* table,
                    const std::vector<std::string>& rows) {
    for (const std::string& row : rows) ASSERT_EQ(Set(database, table, row), absl::OkStatus());
    ASSERT_EQ(database.OpenTable(table)->Flush(), absl::OkStatus());
  }
  // The keys of the rows, and " DataLoss" if the scan ended with it.
  static std::string Scan(const Table& table, const RowRange& range, bool reverse = false) {
    RowReader reader = table.ReadRows(range, Filter::PassAll(), {.reverse = reverse});
    std::string rows;
    while (reader.Next()) rows += reader.row().row_key();
    return absl::IsDataLoss(reader.status()) ? rows + " DataLoss" : rows;
  }
  // Opens the damaged database for reading, and checks that only rows a to c of "t" are lost.
  void ExpectOnlyFirstFileIsLost(std::string_view what) {
    EXPECT_TRUE(absl::IsDataLoss(Open(/*read_only=*/false).status()));
    const absl::StatusOr<Database> database = Open(/*read_only=*/true);
    ASSERT_EQ(database.status(), absl::OkStatus());
    const Table table = *database->OpenTable("t");
    for (const char* row : {"a", "b", "c"}) {
      const absl::Status lost = table.ReadRow(row).status();
      EXPECT_TRUE(absl::IsDataLoss(lost)) << row << ": " << lost;
      EXPECT_EQ(lost.message().find(first_ + " @"), 0u) << lost;
    }
    for (const char* row : {"m", "o"}) EXPECT_TRUE(table.ReadRow(row)->has_value()) << row;
    EXPECT_EQ(Scan(table, RowRange::RightOpen("d", "")), "mo");
    EXPECT_EQ(Scan(table, RowRange::RightOpen("", "a")), "");
    EXPECT_EQ(Scan(table, RowRange::StartingAt("d"), /*reverse=*/true), "om");
    EXPECT_EQ(Scan(table, RowRange::All(), /*reverse=*/true), "om DataLoss");
    for (const char* start : {"", "a", "b", "c"})
      EXPECT_EQ(Scan(table, RowRange::StartingAt(start)), " DataLoss") << start;
    const Table whole = *database->OpenTable("whole");
    for (const char* row : {"a", "o", "z"}) EXPECT_TRUE(whole.ReadRow(row)->has_value()) << row;
    const absl::StatusOr<VerifyReport> report = database->Verify();
    ASSERT_EQ(report.status(), absl::OkStatus());
    ASSERT_EQ(report->damages.size(), 1u);
    const VerifyReport::Damage& damage = report->damages[0];
    EXPECT_EQ(damage.file, first_);
    EXPECT_EQ(damage.table, "t");
    EXPECT_TRUE(damage.rows.Contains("a") && damage.rows.Contains("c")) << damage.rows.ToString();
    EXPECT_FALSE(damage.rows.Contains("m")) << damage.rows.ToString();
    EXPECT_EQ(damage.families, std::vector<std::string>{"f"});
    EXPECT_NE(damage.what.find(what), std::string::npos) << damage.what;
  }
  void CutFirst(size_t bytes) {
    const std::string path = "/db/" + first_;
    const std::string whole = *ReadWholeFile(&files_, path);
    ASSERT_LT(bytes, whole.size());
    ASSERT_EQ(files_.WriteFile(path, whole.substr(0, bytes)), absl::OkStatus());
  }

  CrashFileSystem files_;
  std::shared_ptr<LocalDatabase> local_;
  std::string first_;  // has rows a to c of "t"
  std::string second_;
};

TEST_F(MissingSstableTest, AMissingFileLosesItsRowsOnly) {
  ASSERT_EQ(files_.Remove("/db/" + first_), absl::OkStatus());
  ExpectOnlyFirstFileIsLost("the file is missing");
}

TEST_F(MissingSstableTest, AShortenedFileLosesItsRowsOnly) {
  CutFirst(100);
  ExpectOnlyFirstFileIsLost("");
}

TEST_F(MissingSstableTest, AnEmptyFileLosesItsRowsOnly) {
  CutFirst(0);
  ExpectOnlyFirstFileIsLost("");
}

TEST_F(MissingSstableTest, TwoMissingFilesAreBothListed) {
  ASSERT_EQ(files_.Remove("/db/" + first_), absl::OkStatus());
  ASSERT_EQ(files_.Remove("/db/" + second_), absl::OkStatus());
  const absl::StatusOr<Database> database = Open(/*read_only=*/true);
  ASSERT_EQ(database.status(), absl::OkStatus());
  EXPECT_EQ(database->Verify()->damages.size(), 2u);
  EXPECT_TRUE(database->OpenTable("whole")->ReadRow("a")->has_value());
}

// The tombstone of a row also hides cells of families that the file does not have.
TEST_F(MissingSstableTest, ALostDeleteOfARowAffectsAllFamilies) {
  Database database = Open(/*read_only=*/false).value();
  Table table = *database.OpenTable("t");
  ASSERT_EQ(table.Apply(RowMutation("m").DeleteFromRow()), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  const auto& tablets = local_->engine()->storage().state.view()->version->FindTable("t")->tablets;
  const std::string deleted = SstableName(tablets[0].stack[0].file->number);
  local_.reset();
  ASSERT_EQ(database.Close(), absl::OkStatus());
  ASSERT_EQ(files_.Remove("/db/" + deleted), absl::OkStatus());
  const absl::StatusOr<VerifyReport> report = Open(/*read_only=*/true)->Verify();
  ASSERT_EQ(report->damages.size(), 1u);
  EXPECT_EQ(report->damages[0].file, deleted);
  EXPECT_TRUE(report->damages[0].families.empty());
}

TEST_F(MissingSstableTest, ReadingChangesNoFile) {
  ASSERT_EQ(files_.Remove("/db/" + first_), absl::OkStatus());
  const auto before = ReadDirectory(&files_, "/db");
  ASSERT_EQ(Open(/*read_only=*/true)->Verify().status(), absl::OkStatus());
  EXPECT_EQ(*ReadDirectory(&files_, "/db"), *before);
}

}  // namespace
}  // namespace stele::internal
