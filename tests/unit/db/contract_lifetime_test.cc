// Tests opening, closing, handles, snapshots and locations: the documented behavior of Database,
// and the permitted contents of a directory.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

namespace fs = std::filesystem;

RowMutation SetOne(std::string row_key) {
  return RowMutation(std::move(row_key)).SetCell("f", "q", Ms(1), "v");
}

// A directory that is removed at the end of the test.
class ContractDirectoryTest : public testing::Test {
 protected:
  ContractDirectoryTest() {
    std::string name = (fs::temp_directory_path() / "stele-contract-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  ~ContractDirectoryTest() override { fs::remove_all(root_); }

  std::string Path(std::string_view name) const { return (fs::path(root_) / name).string(); }
  // Returns every file below the path with its bytes.
  static std::map<std::string, std::string> Files(const std::string& path) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      // In one read: log segments are large, and a sanitizer checks each access of an iterator.
      std::string& bytes = files[entry.path().string()];
      bytes.resize(entry.file_size());
      std::ifstream(entry.path(), std::ios::binary)
          .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    return files;
  }
  // LOCK names the process that holds it.
  static std::map<std::string, std::string> WithoutLocks(std::map<std::string, std::string> files) {
    std::erase_if(files, [](const auto& file) { return file.first.ends_with("/LOCK"); });
    return files;
  }
  static void WriteFile(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  // Makes a closed database with one row in a file and one in the log.
  void MakeDatabase(const std::string& path) {
    absl::StatusOr<Database> database = Database::Open(path);
    ASSERT_TRUE(database.ok()) << database.status();
    Table table = *database->CreateTable("t", Schema().AddFamily("f"));
    ASSERT_TRUE(table.Apply(SetOne("a")).ok());
    ASSERT_TRUE(table.Flush().ok());
    ASSERT_TRUE(table.Apply(SetOne("b")).ok());
    ASSERT_TRUE(database->Close().ok());
  }
  std::string root_;
};

TEST_F(ContractDirectoryTest, OptionsSayWhetherItMayOrMustExist) {
  EXPECT_EQ(CodeName(Database::Open(Path("db"), {.create_if_missing = false}).status()),
            "NotFound");
  EXPECT_EQ(CodeName(Database::Open(Path("db"), {.read_only = true}).status()), "NotFound");
  EXPECT_FALSE(fs::exists(Path("db")));
  MakeDatabase(Path("db"));
  EXPECT_EQ(CodeName(Database::Open(Path("db"), {.error_if_exists = true}).status()),
            "AlreadyExists");
  fs::create_directory(Path("empty"));
  EXPECT_EQ(CodeName(Database::Open(Path("empty"), {.create_if_missing = false}).status()),
            "NotFound");
  EXPECT_TRUE(fs::is_empty(Path("empty")));
  EXPECT_TRUE(Database::Open(Path("empty") + "//", {.error_if_exists = true}).ok());
  EXPECT_TRUE(Database::Open(Path("db") + "/", {.create_if_missing = false}).ok());
}

TEST_F(ContractDirectoryTest, OptionsOutOfRangeAreRefusedAndNothingIsMade) {
  const auto open = [&](const DatabaseOptions& options) {
    return CodeName(Database::Open(Path("db"), options).status());
  };
  EXPECT_EQ(open({.memory_budget_bytes = (1 << 20) - 1}), "InvalidArgument");
  EXPECT_EQ(open({.background_threads = 0}), "InvalidArgument");
  EXPECT_EQ(open({.background_threads = 65}), "InvalidArgument");
  EXPECT_EQ(open({.durability = static_cast<Durability>(7)}), "InvalidArgument");
  EXPECT_EQ(CodeName(Database::Open("").status()), "InvalidArgument");
  EXPECT_EQ(CodeName(Database::Open("mem:x").status()), "InvalidArgument");
  EXPECT_FALSE(fs::exists(Path("db")));
}

TEST_F(ContractDirectoryTest, TheSmallestBudgetAndOneThreadWork) {
  absl::StatusOr<Database> database =
      Database::Open(Path("db"), {.memory_budget_bytes = 1 << 20, .background_threads = 1});
  ASSERT_TRUE(database.ok()) << database.status();
  Table table = *database->CreateTable("t", Schema().AddFamily("f"));
  std::vector<RowMutation> mutations;
  for (int i = 0; i < 3000; ++i) {
    mutations.push_back(RowMutation(fmt::format("{:05}", i * 7 % 3000))
                            .SetCell("f", "q", Ms(1), std::string(1000, 'v')));
  }
  EXPECT_TRUE(table.BulkApply(mutations).empty());
  // An operation larger than the budget runs alone (engine rule 21).
  ASSERT_TRUE(
      table.Apply(RowMutation("large").SetCell("f", "q", Ms(1), std::string(4 << 20, 'L'))).ok());
  ASSERT_TRUE(database->WaitForIdle().ok());
  size_t rows = 0;
  RowReader reader = table.ReadRows();
  while (reader.Next()) ++rows;
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  EXPECT_EQ(rows, 3001u);
  EXPECT_TRUE(database->Verify()->ok());
}

TEST_F(ContractDirectoryTest, WhatIsNoDatabaseIsRefusedUntouched) {
  WriteFile(Path("file"), "text");
  fs::create_directory(Path("foreign"));
  WriteFile(Path("foreign/notes.txt"), "mine");
  fs::create_directory(Path("leveldb"));
  WriteFile(Path("leveldb/CURRENT"), "MANIFEST-000001\n");
  for (const char* half :
       {"without_current", "without_manifest", "without_table", "without_log", "cut"})
    MakeDatabase(Path(half));
  const auto remove = [&](const std::string& directory, std::string_view begin,
                          std::string_view end) {
    for (const auto& [name, bytes] : Files(Path(directory))) {
      const std::string base = fs::path(name).filename().string();
      if (base.starts_with(begin) && base.ends_with(end)) fs::remove(name);
    }
  };
  remove("without_current", "CURRENT", "");
  remove("without_manifest", "MANIFEST", "");
  remove("without_table", "", ".sst");
  remove("without_log", "", ".log");
  for (const auto& [name, bytes] : Files(Path("cut"))) {
    if (name.ends_with(".sst")) fs::resize_file(name, bytes.size() - 1);
  }
  const std::map<std::string, std::string> before = Files(root_);
  const std::map<std::string, std::string> codes = {
      {"file", "FailedPrecondition"},    {"foreign", "FailedPrecondition"},
      {"leveldb", "FailedPrecondition"}, {"without_current", "FailedPrecondition"},
      {"without_manifest", "DataLoss"},  {"without_table", "DataLoss"},
      {"without_log", "DataLoss"},       {"cut", "DataLoss"}};
  for (const auto& [name, code] : codes) {
    for (const bool read_only : {false, true}) {
      const absl::Status status = Database::Open(Path(name), {.read_only = read_only}).status();
      if (read_only && (name == "without_table" || name == "cut")) {
        EXPECT_TRUE(status.ok()) << name << ": " << status;  // only reads of the lost rows fail
        continue;
      }
      EXPECT_EQ(CodeName(status), code) << name << ": " << status;
      EXPECT_NE(ToStd(status.message()).find(name), std::string_view::npos) << status;
    }
  }
  EXPECT_TRUE(WithoutLocks(Files(root_)) == WithoutLocks(before));
}

TEST_F(ContractDirectoryTest, ASecondOpenerIsToldWhoHasIt) {
  MakeDatabase(Path("db"));
  absl::StatusOr<Database> holder = Database::Open(Path("db"));
  ASSERT_TRUE(holder.ok());
  const std::string pid = fmt::format("pid {}", ::getpid());
  for (const bool read_only : {false, true}) {
    const absl::Status refused = Database::Open(Path("db"), {.read_only = read_only}).status();
    EXPECT_EQ(CodeName(refused), "FailedPrecondition");
    EXPECT_NE(ToStd(refused.message()).find(pid), std::string_view::npos) << refused;
  }
  ASSERT_TRUE(holder->Close().ok());
  // Readers share the lock. A rejected writer gets an error without a pid.
  const absl::StatusOr<Database> one = Database::Open(Path("db"), {.read_only = true});
  const absl::StatusOr<Database> two = Database::Open(Path("db"), {.read_only = true});
  ASSERT_TRUE(one.ok() && two.ok()) << one.status() << two.status();
  const absl::Status refused = Database::Open(Path("db")).status();
  EXPECT_EQ(CodeName(refused), "FailedPrecondition");
  EXPECT_EQ(ToStd(refused.message()).find("pid"), std::string_view::npos) << refused;
}

TEST_F(ContractDirectoryTest, AnotherProcessThatHasItIsNamed) {
  MakeDatabase(Path("db"));
  std::array<int, 2> opened{}, finish{};
  ASSERT_EQ(::pipe(opened.data()), 0);
  ASSERT_EQ(::pipe(finish.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const absl::StatusOr<Database> database = Database::Open(Path("db"));
    char byte = database.ok() ? 'y' : 'n';
    bool fine = ::write(opened[1], &byte, 1) == 1;
    fine = ::read(finish[0], &byte, 1) == 1 && fine;
    ::_exit(fine ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(opened[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const absl::Status refused = Database::Open(Path("db")).status();
  EXPECT_EQ(CodeName(refused), "FailedPrecondition");
  EXPECT_NE(ToStd(refused.message()).find(fmt::format("pid {}", child)), std::string_view::npos)
      << refused;
  ASSERT_EQ(::write(finish[1], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(Database::Open(Path("db")).ok());  // its exit released the lock
  for (const int fd : {opened[0], opened[1], finish[0], finish[1]}) ::close(fd);
}

TEST_F(ContractDirectoryTest, ReadOnlyReadsEverythingAndChangesNoByte) {
  MakeDatabase(Path("db"));
  const std::map<std::string, std::string> before = Files(Path("db"));
  absl::StatusOr<Database> database = Database::Open(Path("db"), {.read_only = true});
  ASSERT_TRUE(database.ok()) << database.status();
  Table table = *database->OpenTable("t");
  EXPECT_EQ(ShowAll(table), "a f:q@1000=v; b f:q@1000=v");
  const std::vector<absl::Status> writes = {
      table.Apply(SetOne("c")),
      table.BulkApply(std::vector<RowMutation>{SetOne("c")}).at(0).status,
      database->Apply(WriteBatch().Add(table, SetOne("c"))),
      database->CreateTable("u", Schema()).status(),
      database->DeleteTable("t"),
      table.ModifyColumnFamilies({FamilyChange::Drop("f")}),
      table.SetProperty("k", "v"),
      table.DropRowRange(RowRange::All()),
      table.DropRowRange(RowRange::Empty()),
      table.Flush(),
      table.Compact()};
  for (const absl::Status& status : writes)
    EXPECT_EQ(CodeName(status), "FailedPrecondition") << status;
  EXPECT_TRUE(database->Sync().ok());
  EXPECT_TRUE(database->WaitForIdle().ok());
  EXPECT_TRUE(database->GetSnapshot().ok());
  EXPECT_TRUE(table.SampleRowKeys().ok());
  EXPECT_TRUE(table.Stats().ok());
  EXPECT_EQ(database->Stats().tables, 1u);
  const absl::StatusOr<VerifyReport> report = database->Verify();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok()) << report->damages[0].what;
  EXPECT_TRUE(database->Close().ok());
  EXPECT_TRUE(Files(Path("db")) == before);
}

// As cp -al makes it: both directories have the same files.
TEST_F(ContractDirectoryTest, AHardLinkedCopyAndTheOriginalDoNotChangeEachOther) {
  // Enough for log segments of the full size, which are recycled otherwise.
  const DatabaseOptions options{.memory_budget_bytes = 1 << 20};
  const auto write = [&](const std::string& directory, const std::string& row_key) {
    absl::StatusOr<Database> database = Database::Open(directory, options);
    ASSERT_TRUE(database.ok()) << database.status();
    Table table = *database->OpenTable("t");
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(
          table.Apply(RowMutation(row_key).SetCell("f", "q", Ms(1), std::string(20'000, 'x')))
              .ok());
      if (i % 50 == 49) ASSERT_TRUE(table.Flush().ok());
    }
    ASSERT_TRUE(table.Apply(SetOne(row_key)).ok());
    ASSERT_TRUE(database->CreateTable("of_" + row_key, Schema()).ok());
    ASSERT_TRUE(database->Close().ok());
  };
  MakeDatabase(Path("db"));
  write(Path("db"), "c");
  fs::create_directory(Path("copy"));
  for (const auto& entry : fs::directory_iterator(Path("db")))
    fs::create_hard_link(entry.path(), fs::path(Path("copy")) / entry.path().filename());
  const std::string names[] = {Path("copy"), Path("db")};
  const std::string rows[] = {"a f:q@1000=v; b f:q@1000=v; c f:q@1000=v; d f:q@1000=v",
                              "a f:q@1000=v; b f:q@1000=v; c f:q@1000=v; e f:q@1000=v"};
  for (int i = 0; i < 2; ++i) {
    const std::string& other = names[1 - i];
    const std::map<std::string, std::string> before = WithoutLocks(Files(other));
    write(names[i], i == 0 ? "d" : "e");
    EXPECT_TRUE(WithoutLocks(Files(other)) == before) << names[i] << " changed " << other;
    EXPECT_EQ(ShowAll(*Database::Open(names[i], {.read_only = true})->OpenTable("t")), rows[i]);
  }
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<Database> database = Database::Open(names[i]);
    ASSERT_TRUE(database.ok()) << database.status();
    EXPECT_EQ(ShowAll(*database->OpenTable("t")), rows[i]);
    EXPECT_TRUE(database->Verify()->ok());
  }
}

TEST_F(ContractDirectoryTest, ACheckpointOpensByItselfAndLeavesOthersAlone) {
  MakeDatabase(Path("db"));
  absl::StatusOr<Database> database = Database::Open(Path("db"));
  ASSERT_TRUE(database.ok());
  Table table = *database->OpenTable("t");
  ASSERT_TRUE(database->Checkpoint(Path("copy")).ok());
  ASSERT_TRUE(table.Apply(SetOne("c")).ok());
  const absl::StatusOr<Database> copy = Database::Open(Path("copy"), {.read_only = true});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(ShowAll(*copy->OpenTable("t")), "a f:q@1000=v; b f:q@1000=v");
  // It was opened a moment ago.
  EXPECT_EQ(CodeName(database->Checkpoint(Path("copy"))), "FailedPrecondition");
  ASSERT_TRUE(Database(*copy).Close().ok());
  ASSERT_TRUE(database->Checkpoint(Path("copy")).ok());  // adds the changes
  const absl::StatusOr<Database> newer = Database::Open(Path("copy"), {.read_only = true});
  EXPECT_EQ(ShowAll(*newer->OpenTable("t")), "a f:q@1000=v; b f:q@1000=v; c f:q@1000=v");
  MakeDatabase(Path("another"));
  fs::create_directory(Path("foreign"));
  WriteFile(Path("foreign/notes.txt"), "mine");
  WriteFile(Path("file"), "mine");
  // Background work creates files of "db": a spare log segment, and the reserve of disk space.
  ASSERT_TRUE(database->WaitForIdle().ok());
  for (const char* name : {"another", "foreign", "file", "db"}) {
    const std::map<std::string, std::string> before = Files(root_);
    const absl::Status refused = database->Checkpoint(Path(name));
    EXPECT_EQ(CodeName(refused), "FailedPrecondition") << name << refused;
    EXPECT_TRUE(WithoutLocks(Files(root_)) == WithoutLocks(before)) << name;
  }
  EXPECT_EQ(CodeName(database->Checkpoint("")), "InvalidArgument");
}

TEST_F(ContractDirectoryTest, ACheckpointThatWasWrittenToIsNotWrittenOver) {
  MakeDatabase(Path("db"));
  absl::StatusOr<Database> database = Database::Open(Path("db"));
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database->Checkpoint(Path("copy")).ok());
  ASSERT_TRUE(Database::Open(Path("copy"), {.read_only = true})->Close().ok());
  const absl::Status again = database->Checkpoint(Path("copy"));  // it was only read
  EXPECT_TRUE(again.ok()) << again;
  {
    absl::StatusOr<Database> copy = Database::Open(Path("copy"));
    Table table = *copy->OpenTable("t");
    ASSERT_TRUE(table.Apply(SetOne("mine")).ok() && table.Flush().ok());
    ASSERT_TRUE(copy->Close().ok());
  }
  EXPECT_EQ(CodeName(database->Checkpoint(Path("copy"))), "FailedPrecondition");
  EXPECT_TRUE(*Database::Open(Path("copy"))->OpenTable("t")->Exists("mine"));
}

TEST_F(ContractDirectoryTest, AMemoryDatabaseIsItsOwnAndItsCheckpointIsOnDisk) {
  absl::StatusOr<Database> database = Database::Open("mem:");
  absl::StatusOr<Database> other = Database::Open("mem:");
  ASSERT_TRUE(database.ok() && other.ok());
  Table table = *database->CreateTable("t", Schema().AddFamily("f"));
  EXPECT_TRUE(other->ListTables()->empty());
  ASSERT_TRUE(table.Apply(SetOne("a"), {.durability = Durability::kDisk}).ok());
  ASSERT_TRUE(table.Flush().ok() && table.Compact().ok() && database->Sync().ok());
  ASSERT_TRUE(table.Apply(SetOne("b")).ok());
  EXPECT_TRUE(database->Verify()->ok());
  ASSERT_TRUE(database->Checkpoint(Path("copy")).ok());
  const absl::StatusOr<Database> copy = Database::Open(Path("copy"), {.create_if_missing = false});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(ShowAll(*copy->OpenTable("t")), "a f:q@1000=v; b f:q@1000=v");
}

TEST(ContractLifetimeTest, EmptyHandlesSaySo) {
  Database database;
  Table table;
  EXPECT_EQ(CodeName(database.CreateTable("t", Schema()).status()), "FailedPrecondition");
  EXPECT_EQ(CodeName(database.Apply(WriteBatch())), "FailedPrecondition");
  EXPECT_EQ(CodeName(database.Close()), "FailedPrecondition");
  EXPECT_EQ(database.Stats().tables, 0u);
  EXPECT_EQ(table.name(), "");
  EXPECT_EQ(CodeName(table.Stats().status()), "FailedPrecondition");
  EXPECT_EQ(CodeName(table.ReadRows().status()), "FailedPrecondition");
  EXPECT_EQ(table.BulkApply(std::vector<RowMutation>{SetOne("a"), SetOne("b")}).size(), 2u);
  EXPECT_EQ(CodeName(RowReader().status()), "FailedPrecondition");
  EXPECT_EQ(Snapshot().time(), Timestamp());
  EXPECT_EQ(CodeName(table.ReadCell("a", "f", "q").status()), "FailedPrecondition");
}

TEST(ContractLifetimeTest, AnEmptySnapshotReadsTheNewestState) {
  ContractDatabase store;
  store.MakeTable(Schema().AddFamily("f"));
  Snapshot snapshot = store.database().GetSnapshot().value();
  ASSERT_EQ(store.table().Apply(SetOne("a")), absl::OkStatus());
  EXPECT_FALSE(*store.table().Exists("a", {}, {.snapshot = snapshot}));
  EXPECT_TRUE(*store.table().Exists("a", {}, {.snapshot = Snapshot()}));
  EXPECT_FALSE(snapshot.is_empty());
  const Snapshot moved = std::move(snapshot);
  EXPECT_TRUE(snapshot.is_empty());
  EXPECT_FALSE(moved.is_empty());
}

TEST(ContractLifetimeTest, CloseEndsEveryHandle) {
  ContractDatabase store;
  Table table = store.MakeTable(Schema().AddFamily("f"));
  for (const char* row_key : {"a", "b"}) ASSERT_TRUE(table.Apply(SetOne(row_key)).ok());
  RowReader reader = table.ReadRows();
  RowReader untouched = table.ReadRows();
  ASSERT_TRUE(reader.Next());
  const Snapshot snapshot = *store.database().GetSnapshot();
  Database copy = store.database();
  ASSERT_TRUE(store.database().Close().ok());
  EXPECT_TRUE(copy.Close().ok());  // a second call
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(CodeName(reader.status()), "FailedPrecondition");
  EXPECT_FALSE(untouched.Next());
  EXPECT_EQ(CodeName(untouched.status()), "FailedPrecondition");
  const std::vector<absl::Status> calls = {
      table.Apply(SetOne("c")),
      table.BulkApply(std::vector<RowMutation>{SetOne("c")}).at(0).status,
      table.ReadRow("a").status(),
      table.ReadRow("a", {}, {.snapshot = snapshot}).status(),
      table.ReadMany(std::vector<std::string>{}).status(),
      table.ReadRows().status(),
      table.Exists("a").status(),
      table.schema().status(),
      table.Stats().status(),
      table.SampleRowKeys().status(),
      table.Flush(),
      table.Compact(),
      table.DropRowRange(RowRange::All()),
      table.ModifyColumnFamilies({}),
      copy.CreateTable("u", Schema()).status(),
      copy.OpenTable("t").status(),
      copy.ListTables().status(),
      copy.DeleteTable("t"),
      copy.Apply(WriteBatch()),
      copy.GetSnapshot().status(),
      copy.Sync(),
      copy.WaitForIdle(),
      copy.Checkpoint("/elsewhere"),
      copy.Verify().status()};
  for (size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(CodeName(calls[i]), "FailedPrecondition") << i << ": " << calls[i];
  // The lock is released although handles exist, and they do not disturb the next process that
  // opens the database.
  store.Open();
  EXPECT_EQ(ShowAll(store.table()), "a f:q@1000=v; b f:q@1000=v");
  EXPECT_EQ(CodeName(table.Apply(SetOne("c"))), "FailedPrecondition");
}

TEST(ContractLifetimeTest, TheLastHandleOfAnyKindKeepsTheDatabaseOpen) {
  for (int kept = 0; kept < 3; ++kept) {
    std::optional<Database> database = *Database::Open("mem:");
    std::optional<Table> table = *database->CreateTable("t", Schema().AddFamily("f"));
    ASSERT_TRUE(table->Apply(SetOne("a")).ok() && table->Apply(SetOne("b")).ok());
    std::optional<RowReader> reader = table->ReadRows();
    std::optional<Snapshot> snapshot = *database->GetSnapshot();
    if (kept == 0) {
      database.reset(), table.reset(), snapshot.reset();
      EXPECT_EQ(Show(*std::move(reader)), "a f:q@1000=v; b f:q@1000=v");
    } else if (kept == 1) {
      database.reset(), reader.reset();
      EXPECT_EQ(ShowAll(*table, {.snapshot = *snapshot}), "a f:q@1000=v; b f:q@1000=v");
    } else {
      WriteBatch batch = WriteBatch().Add(*table, SetOne("c"));
      table.reset(), reader.reset(), snapshot.reset();
      ASSERT_TRUE(database->Apply(batch).ok());
      database.reset();
    }
  }
}

TEST(ContractLifetimeTest, ASnapshotRepeatsExactly) {  // engine rule 16
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f", GcRule::MaxNumVersions(2)).AddFamily("g"));
  Table second = *store.database().CreateTable("second", Schema().AddFamily("f"));
  ASSERT_TRUE(table
                  .Apply(SetOne("a")
                             .SetCell("f", "q", Ms(2), "w")
                             .SetCell("f", "q", Ms(3), "x")
                             .SetCell("g", "q", Ms(1), "v"))
                  .ok());
  ASSERT_TRUE(second.Apply(SetOne("s")).ok());
  const Snapshot snapshot = *store.database().GetSnapshot();
  const std::string_view state = "a f:q@3000=x, f:q@2000=w, g:q@1000=v";
  const auto check = [&] {
    EXPECT_EQ(ShowAll(table, {.snapshot = snapshot}), state);
    EXPECT_EQ(ShowAll(second, {.snapshot = snapshot}), "s f:q@1000=v");
    EXPECT_EQ(Show(*table.ReadRow("a", Filter::Family("g"), {.snapshot = snapshot})),
              "a g:q@1000=v");
    EXPECT_FALSE(*table.Exists("b", {}, {.snapshot = snapshot}));
  };
  check();
  ASSERT_TRUE(table.Apply(SetOne("b")).ok());
  ASSERT_TRUE(table.Apply(RowMutation("a").DeleteFromRow()).ok());
  check();
  ASSERT_TRUE(table.Flush().ok() && table.Compact().ok());
  check();
  ASSERT_TRUE(table
                  .ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(1)),
                                         FamilyChange::Drop("g")})
                  .ok());
  check();
  ASSERT_TRUE(table.Compact().ok());
  ASSERT_TRUE(table.DropRowRange(RowRange::All()).ok());
  ASSERT_TRUE(store.database().DeleteTable("second").ok());
  store.clock().Advance(std::chrono::hours(24 * 365));
  check();
  Table later = *store.database().CreateTable("later", Schema().AddFamily("f"));
  EXPECT_EQ(CodeName(later.ReadRow("a", {}, {.snapshot = snapshot}).status()), "NotFound");
  ContractDatabase other;
  other.MakeTable(Schema().AddFamily("f"));
  EXPECT_EQ(CodeName(other.table().ReadRow("a", {}, {.snapshot = snapshot}).status()),
            "InvalidArgument");
}

}  // namespace
}  // namespace stele::internal
