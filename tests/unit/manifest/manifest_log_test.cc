// Tests the manifest file without faults: appended edits are recovered, growth starts a new
// manifest, and the states of a directory are distinguished.
#include "manifest/manifest_log.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "io/file_names.h"
#include "manifest/stack_edits.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

constexpr uint64_t kDatabaseId = 0x1122334455667788;
constexpr ManifestOptions kSmall{.bytes_min = 2000, .snapshot_multiple = 2};

class ManifestLogTest : public ::testing::Test {
 protected:
  ManifestLogTest() { EXPECT_TRUE(files_.CreateDirectory("/db").ok()); }
  std::unique_ptr<ManifestLog> Create(ManifestOptions options = {}) {
    auto log = ManifestLog::Create(&files_, "/db", kDatabaseId, 1, Version(), options);
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }
  ManifestLog::Recovered Recover(bool read_only, ManifestOptions options = {}) {
    auto recovered = ManifestLog::Recover(&files_, "/db", read_only, options);
    EXPECT_TRUE(recovered.ok()) << recovered.status();
    return *std::move(recovered);
  }
  std::vector<std::string> Names() { return files_.List("/db").value(); }
  DirectoryState Inspect(const std::string& directory = "/db") {
    const auto state = InspectDirectory(&files_, directory);
    EXPECT_TRUE(state.ok()) << state.status();
    return *state;
  }
  absl::Status InspectError(const std::string& directory = "/db") {
    return InspectDirectory(&files_, directory).status();
  }
  CrashFileSystem files_;
};

TEST_F(ManifestLogTest, WhatIsAppendedIsRecovered) {
  const auto log = Create();
  VersionHistory history(1);
  for (int step = 0; step < 50; ++step) {
    const auto version = log->Append(history.Next());
    ASSERT_TRUE(version.ok()) << version.status();
    ASSERT_EQ(*version, log->version());
    const ManifestLog::Recovered recovered = Recover(true);
    ASSERT_EQ(recovered.log, nullptr);
    ASSERT_EQ(recovered.discarded_bytes, 0u);
    ASSERT_EQ(VersionText(*recovered.version), VersionText(**version));
  }
}

TEST_F(ManifestLogTest, RecoveryGoesOnInTheManifestThatIsThere) {
  auto log = Create();
  VersionHistory history(2);
  ASSERT_TRUE(log->Append(history.Next()).ok());
  ASSERT_TRUE(log->Close().ok());
  ASSERT_TRUE(log->Close().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(log->Append(history.Next()).status()));
  ManifestLog::Recovered recovered = Recover(false);
  EXPECT_EQ(recovered.manifest_number, 1u);
  const uint64_t bytes = files_.Stat("/db/MANIFEST-000001")->bytes;
  ASSERT_TRUE(recovered.log->Close().ok());
  EXPECT_EQ(files_.Stat("/db/MANIFEST-000001")->bytes, bytes) << "opening and closing adds nothing";

  recovered = Recover(false);
  VersionHistory same(2);
  same.Next();
  ASSERT_TRUE(recovered.log->Append(same.Next()).ok());
  const std::string expected = VersionText(*recovered.log->version());
  const std::string manifest = *files_.ReadFile("/db/MANIFEST-000001");
  for (const char* torn : {"", "torn", "more that is torn"}) {  // not closed
    ASSERT_TRUE(files_.WriteFile("/db/MANIFEST-000001", manifest + torn).ok());
    recovered = Recover(false);
    EXPECT_EQ(recovered.manifest_number, 1u);
    EXPECT_EQ(recovered.log->number(), 1u);
    EXPECT_EQ(recovered.log->database_id(), kDatabaseId);
    EXPECT_EQ(Names(), (std::vector<std::string>{"CURRENT", "MANIFEST-000001"}));
    EXPECT_EQ(VersionText(*recovered.version), expected);
    EXPECT_EQ(*files_.ReadFile("/db/MANIFEST-000001"), manifest);
  }
  ASSERT_TRUE(recovered.log->Append(same.Next()).ok());
  EXPECT_EQ(VersionText(*Recover(true).version), VersionText(*recovered.log->version()));
}

// An edit of any size: larger than a record, and larger than several.
TEST_F(ManifestLogTest, AnEditMayTakeManyRecords) {
  const auto log = Create({.part_bytes = 1000});
  VersionHistory history(9);
  Edit edit = history.Next();
  std::string start;
  TableEdit& table = edit.tables.at(0);
  ASSERT_NE(table.definition, nullptr);
  table.tablets.clear();
  for (int i = 0; i < 100; ++i) {
    const std::string split = fmt::format("{:04}{}", i, std::string(900, 'k'));
    table.tablets.push_back({KeyRange{start, split, false}, {}});
    start = split;
  }
  table.tablets.push_back({KeyRange{start, "", true}, {}});
  ASSERT_TRUE(log->Append(edit).ok());
  EXPECT_GT(files_.Stat("/db/MANIFEST-000001")->bytes, 180'000u);
  Edit after;
  after.last_sequence = 77;
  ASSERT_TRUE(log->Append(after).ok());
  const ManifestLog::Recovered recovered = Recover(true);
  EXPECT_EQ(VersionText(*recovered.version), VersionText(*log->version()));
  EXPECT_EQ(recovered.version->last_sequence, 77u);
  const std::string dump = DumpManifest(&files_, "/db/MANIFEST-000001").value();
  EXPECT_NE(dump.find("part of the edit @"), std::string::npos);
  EXPECT_NE(dump.find("last_sequence=77"), std::string::npos);
}

TEST_F(ManifestLogTest, GrowthBeginsANewManifest) {
  const auto log = Create(kSmall);
  uint64_t next_number = 5000;
  log->SetFileNumberSource([&] { return next_number++; });
  VersionHistory history(3);
  for (int step = 0; step < 200; ++step) ASSERT_TRUE(log->Append(history.Next()).ok());
  EXPECT_GT(next_number, 5003u) << "several manifests";
  EXPECT_LT(next_number, 5100u) << "not one for each edit";
  EXPECT_EQ(log->number(), next_number - 1);
  EXPECT_EQ(Names(), (std::vector<std::string>{"CURRENT", ManifestName(next_number - 1)}));
  const ManifestLog::Recovered recovered = Recover(true);
  EXPECT_EQ(VersionText(*recovered.version), VersionText(*log->version()));
  EXPECT_EQ(recovered.version->next_file_number, next_number);
}

TEST_F(ManifestLogTest, ARefusedEditWritesNothing) {
  const auto log = Create();
  const std::string before = files_.ReadFile("/db/MANIFEST-000001").value();
  Edit unknown;
  unknown.tables.push_back({.table_id = 9, .drop = true});
  EXPECT_TRUE(absl::IsInvalidArgument(log->Append(unknown).status()));
  Edit broken;  // fits, but the version would break an invariant: the tablets leave a gap
  broken.tables.push_back(NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}}), {"m"}));
  broken.tables[0].tablets.pop_back();
  broken.next_table_id = broken.next_family_id = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(log->Append(broken).status()));
  EXPECT_EQ(files_.ReadFile("/db/MANIFEST-000001").value(), before);
  EXPECT_FALSE(log->poisoned());
}

TEST_F(ManifestLogTest, ADatabaseIsMadeOnlyWhereNoneIs) {
  EXPECT_EQ(Inspect(), DirectoryState::kEmpty);
  EXPECT_EQ(Inspect("/other"), DirectoryState::kMissing);
  EXPECT_TRUE(absl::IsFailedPrecondition(InspectError("/no/other"))) << "its parent is missing";
  EXPECT_TRUE(
      absl::IsNotFound(ManifestLog::Create(&files_, "/other", kDatabaseId, 1, Version()).status()));
  Create();
  EXPECT_EQ(Inspect(), DirectoryState::kDatabase);
  EXPECT_TRUE(absl::IsAlreadyExists(
      ManifestLog::Create(&files_, "/db", kDatabaseId, 1, Version()).status()));
}

TEST_F(ManifestLogTest, LeftoversOfACreationAreToldFromHalfADatabase) {
  ASSERT_TRUE(files_.WriteFile("/db/LOCK", "me").ok());
  EXPECT_EQ(Inspect(), DirectoryState::kEmpty);
  ASSERT_TRUE(files_.WriteFile("/db/CURRENT.tmp", "half of i").ok());
  ASSERT_TRUE(files_.WriteFile("/db/MANIFEST-000003.tmp", "").ok());
  EXPECT_EQ(Inspect(), DirectoryState::kUnfinishedCreation);
  auto log = Create();
  EXPECT_EQ(Names(), (std::vector<std::string>{"CURRENT", "LOCK", "MANIFEST-000001"}));

  // Everything except CURRENT, without an edit: as an interrupted creation leaves it.
  ASSERT_TRUE(files_.Remove("/db/CURRENT").ok());
  EXPECT_EQ(Inspect(), DirectoryState::kUnfinishedCreation);
  // A log segment or an SSTable shows that the database was in use.
  for (const char* name : {"/db/000002.log", "/db/000002.sst"}) {
    ASSERT_TRUE(files_.WriteFile(name, "").ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(InspectError())) << name;
    ASSERT_TRUE(files_.Remove(name).ok());
  }
  // So does an edit, and a manifest that is not the first.
  log = Create();
  VersionHistory history(4);
  ASSERT_TRUE(log->Append(history.Next()).ok());
  ASSERT_TRUE(files_.Remove("/db/CURRENT").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(InspectError())) << InspectError();
  EXPECT_TRUE(absl::IsFailedPrecondition(
      ManifestLog::Create(&files_, "/db", kDatabaseId, 1, Version()).status()));
}

TEST_F(ManifestLogTest, AManifestMadeLaterIsNoLeftover) {
  const auto log = Create({.bytes_min = 1, .snapshot_multiple = 1});
  ASSERT_TRUE(log->Append(Edit()).ok());
  ASSERT_GT(log->number(), 1u);
  ASSERT_TRUE(files_.Remove("/db/CURRENT").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(InspectError()));
}

TEST_F(ManifestLogTest, ForeignDirectoriesAreLeftAlone) {
  ASSERT_TRUE(files_.WriteFile("/db/notes.txt", "mine").ok());
  EXPECT_NE(ToStd(InspectError().message()).find("notes.txt"), std::string_view::npos);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      ManifestLog::Create(&files_, "/db", kDatabaseId, 1, Version()).status()));
  ASSERT_TRUE(files_.WriteFile("/db/CURRENT", "MANIFEST-000004\n").ok());
  EXPECT_NE(ToStd(InspectError().message()).find("LevelDB"), std::string_view::npos);
  EXPECT_TRUE(absl::IsFailedPrecondition(InspectError("/db/notes.txt")));
  ASSERT_TRUE(files_.Remove("/db/CURRENT").ok());
  ASSERT_TRUE(files_.CreateDirectory("/db/CURRENT").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(InspectError()));
}

TEST_F(ManifestLogTest, MissingAndShortFilesAreNamed) {
  Version version;
  auto table = std::make_shared<TableState>();
  table->definition = TestDefinition(1, "t", 1, {{"cf", GcRule::None()}});
  Tablet tablet{KeyRange::All(), {}};
  for (const uint64_t number : {7, 8}) {
    SstableFile file = TestFile(number, "a", "b");
    file.summary.file_bytes = 4;
    ASSERT_TRUE(files_.WriteFile(JoinPath("/db", SstableName(number)), "four").ok());
    tablet.stack.push_back({std::make_shared<SstableFile>(file), KeyRange::All(), number, number});
  }
  table->tablets = {tablet};
  version.tables.Set(1, table);
  EXPECT_TRUE(CheckFiles(&files_, "/db", version).ok());
  ASSERT_TRUE(files_.WriteFile("/db/000008.sst", "five!").ok());
  EXPECT_EQ(ToStd(CheckFiles(&files_, "/db", version).message()),
            "000008.sst @0: the file has 5 bytes, the manifest says 4; nothing was changed; "
            "complete the copy of the directory, or restore the file from a checkpoint");
  ASSERT_TRUE(files_.Remove("/db/000007.sst").ok());
  EXPECT_EQ(
      ToStd(CheckFiles(&files_, "/db", version).message()),
      "000007.sst @0: the file is missing (1 more files are missing or of the wrong size); nothing "
      "was changed; complete the copy of the directory, or restore the file from a checkpoint");
  EXPECT_TRUE(absl::IsDataLoss(CheckFiles(&files_, "/db", version)));
  files_.FailKind(CallKind::kStat, 1, {.error_number = EIO, .sticky = true});
  EXPECT_TRUE(CheckFiles(&files_, "/db", version).ok())
      << "one file must not keep all tables from being opened";
}

}  // namespace
}  // namespace stele::internal
