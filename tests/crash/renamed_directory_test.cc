// Tests that a database stays in the directory in which it was opened, even if the directory was
// renamed and another one has its name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "io/posix_descriptor.h"
#include "support/crash_child.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

class RenamedDirectoryTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", scratch_.path(), name);
  }
  std::set<std::string> Names(std::string_view name) const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path(name)))
      names.insert(entry.path().filename().string());
    return names;
  }
  std::unique_ptr<WorkloadDatabase> Open(const std::string& path) {
    auto database = std::make_unique<WorkloadDatabase>(SmallEngineOptions(PosixFileSystem()), path);
    const absl::Status opened = database->Open();
    EXPECT_EQ(opened, absl::OkStatus());
    if (opened.ok() && database->database().ListTables()->empty()) {
      EXPECT_TRUE(database->database().CreateTable("t", Schema().AddFamily("f")).ok());
    }
    return database;
  }
  // Enough work to create, switch and delete files: segments, manifests, SSTables.
  static void Work(WorkloadDatabase& database, const std::string& value) {
    Table table = database.database().OpenTable("t").value();
    for (int i = 0; i < 120; ++i) {
      const RowMutation change = RowMutation(fmt::format("row{:03}", i))
                                     .SetCell("f", "q", Timestamp(), value + std::string(500, 'x'));
      ASSERT_EQ(table.Apply(change), absl::OkStatus());
      if (i % 40 == 39) {
        ASSERT_EQ(table.Flush(), absl::OkStatus());
      }
    }
    ASSERT_EQ(table.DropRowRange(RowRange::Prefix("row00")), absl::OkStatus());
    ASSERT_EQ(table.Compact(), absl::OkStatus());
    ASSERT_EQ(database.database().WaitForIdle(), absl::OkStatus());
    ASSERT_EQ(database.database().Sync(), absl::OkStatus());
  }
  static void Expect(WorkloadDatabase& database, const std::string& value) {
    const Table table = database.database().OpenTable("t").value();
    int rows = 0;
    RowReader reader = table.ReadRows();
    for (const RowView& row : reader) {
      EXPECT_EQ(row.cells()[0].value().substr(0, value.size()), value);
      ++rows;
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    EXPECT_EQ(rows, 110);
    EXPECT_TRUE(database.database()
                    .Verify()
                    .value_or(VerifyReport{.damages = {VerifyReport::Damage()}})
                    .ok());
  }

  const ScratchDirectory scratch_;
};

TEST_F(RenamedDirectoryTest, TwoDatabasesStayApart) {
  auto first = Open(Path("db"));
  Work(*first, "first, before");
  std::filesystem::rename(Path("db"), Path("moved"));
  while (PosixFilePool().CloseOne()) {
  }
  Expect(*first, "first, before");
  Work(*first, "first, alone");
  EXPECT_FALSE(std::filesystem::exists(Path("db")));

  auto second = Open(Path("db"));
  Work(*second, "second");
  const std::set<std::string> names_of_second = Names("db");
  Work(*first, "first, beside");
  ASSERT_EQ(first->database().Checkpoint(Path("copy")), absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(first->database().Checkpoint(Path("db"))))
      << "another database's directory";
  EXPECT_EQ(Names("db"), names_of_second)
      << "the first database changed the second one's directory";
  Expect(*first, "first, beside");
  Expect(*second, "second");
  EXPECT_TRUE(absl::IsFailedPrecondition(WorkloadDatabase(PosixFileSystem(), Path("moved")).Open()))
      << "it is open, by its new name";

  ASSERT_EQ(first->database().Close(), absl::OkStatus());
  EXPECT_EQ(Names("db"), names_of_second);
  Work(*second, "second again");
  ASSERT_EQ(second->database().Close(), absl::OkStatus());
  first = Open(Path("moved"));
  Expect(*first, "first, beside");
  second = Open(Path("db"));
  Expect(*second, "second again");
  Expect(*Open(Path("copy")), "first, beside");
}

// No file can be created in a deleted directory, and none is created in a new directory with its
// name.
TEST_F(RenamedDirectoryTest, ARemovedDirectoryIsNotTheOneMadeAfterIt) {
  auto first = Open(Path("db"));
  Work(*first, "first");
  std::filesystem::remove_all(Path("db"));
  auto second = Open(Path("db"));
  Work(*second, "second");
  const std::set<std::string> names = Names("db");
  Table table = first->database().OpenTable("t").value();
  table.Apply(RowMutation("r").SetCell("f", "q", "v")).IgnoreError();
  EXPECT_FALSE(table.Flush().ok());
  first->database().Close().IgnoreError();
  first.reset();
  EXPECT_EQ(Names("db"), names);
  Expect(*second, "second");
}

TEST_F(RenamedDirectoryTest, ARelativePathIsThatOfTheBeginning) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(scratch_.path());
  auto database = Open("db");
  std::filesystem::create_directory(Path("elsewhere"));
  std::filesystem::current_path(Path("elsewhere"));
  Work(*database, "value");
  Expect(*database, "value");
  EXPECT_TRUE(Names("elsewhere").empty());
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace stele::internal
