// Tests a file that cannot be read: newer and older files of its tablet stay in use, and no other
// work is blocked.
#include "state/unreadable_files.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class UnreadableFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Open();
    for (const char* name : {"damaged", "sound"}) {
      ASSERT_EQ(database_.CreateTable(name, Schema().AddFamily("f")).status(), absl::OkStatus());
    }
  }
  void TearDown() override { Drop(); }

  void Open() {
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened =
        OpenDatabase("/db", SmallEngineOptions(&files_));
    ASSERT_EQ(opened.status(), absl::OkStatus());
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
  }
  void Drop() {
    database_ = Database();
    local_.reset();
  }
  void Reopen() {
    Drop();
    Open();
  }

  absl::Status Set(const char* table, const std::string& row_key, int version,
                   size_t value_bytes = 20) {
    STELE_ASSIGN_OR_RETURN(Table found, database_.OpenTable(table));
    return found.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(version),
                                                    std::string(value_bytes, 'v')));
  }
  // Each file has the same first row, so that none is moved by metadata only.
  void WriteFile(const char* table, int version) {
    ASSERT_EQ(Set(table, "a", version), absl::OkStatus());
    ASSERT_EQ(Set(table, "z", version), absl::OkStatus());
    ASSERT_EQ(database_.OpenTable(table)->Flush(), absl::OkStatus());
  }
  void WriteFiles(const char* table, int count) {
    for (int i = 0; i < count; ++i) WriteFile(table, ++version_);
  }
  const std::vector<SstableReference>& StackOf(const char* table) {
    return local_->engine()->storage().state.view()->version->FindTable(table)->tablets[0].stack;
  }
  std::string NameInStack(size_t position) {
    return SstableName(StackOf("damaged")[position].file->number);
  }
  void FailReadsOf(const std::string& name) {
    for (const CallKind kind : {CallKind::kRead, CallKind::kOpen, CallKind::kStat}) {
      files_.FailKind(kind, 1, {.error_number = EIO, .sticky = true, .path_part = name});
    }
  }
  // Runs the due work, and continues after failures.
  absl::Status Settle() {
    absl::Status idle = database_.WaitForIdle();
    for (int attempt = 0; attempt < 8 && !idle.ok(); ++attempt) idle = database_.WaitForIdle();
    return idle;
  }
  void ExpectWritesGoOn() {
    EXPECT_EQ(Set("damaged", "b", ++version_), absl::OkStatus());
    EXPECT_EQ(Set("sound", "b", ++version_), absl::OkStatus());
    EXPECT_EQ(
        database_.CreateTable(fmt::format("new{}", version_), Schema().AddFamily("f")).status(),
        absl::OkStatus());
  }

  CrashFileSystem files_;
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  int version_ = 0;
};

TEST_F(UnreadableFilesTest, WritesToAllTablesGoOnBeforeAndAfterReopening) {
  WriteFiles("damaged", 6);
  FailReadsOf(NameInStack(2));
  EXPECT_TRUE(absl::IsUnavailable(database_.WaitForIdle()))
      << "the compaction has to meet the file";
  ExpectWritesGoOn();
  Reopen();
  ExpectWritesGoOn();
  database_.WaitForIdle().IgnoreError();
  ExpectWritesGoOn();
}

TEST_F(UnreadableFilesTest, WhatIsNewerAndWhatIsOlderIsCompacted) {
  WriteFiles("damaged", 13);
  const std::string unreadable = NameInStack(6);
  FailReadsOf(unreadable);
  EXPECT_EQ(Settle(), absl::OkStatus());
  ASSERT_EQ(StackOf("damaged").size(), 3u);
  EXPECT_EQ(NameInStack(1), unreadable);
  EXPECT_EQ(local_->engine()->storage().installer->debt_bytes(), 0u)
      << "no writer waits for what nobody will do";
}

// A compaction reads a large value last, when its cell leaves the merge.
TEST_F(UnreadableFilesTest, DamageInALargeValueIsOfItsFileAlone) {
  constexpr size_t kValueBytes = 70'000;
  Random random(1);
  Table table = *database_.OpenTable("damaged");
  for (int version = 1; version <= 6; ++version) {
    std::string value(kValueBytes, '\0');  // incompressible
    for (char& c : value) c = static_cast<char>(random.Next());
    ASSERT_EQ(
        table.Apply(RowMutation("a").SetCell("f", "q", Timestamp::FromMillis(version), value)),
        absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  ASSERT_EQ(StackOf("damaged").size(), 6u);
  const uint64_t damaged = StackOf("damaged")[2].file->number;
  ASSERT_TRUE(files_.FlipBit("/db/" + SstableName(damaged), kValueBytes / 2, 1).ok());
  EXPECT_TRUE(absl::IsDataLoss(database_.WaitForIdle()));
  EngineState& state = local_->engine()->storage().state;
  MutexLock lock(state.mutex());
  FilesByTablet unreadable = state.unreadable().FilesAt(std::chrono::steady_clock::now());
  ASSERT_EQ(unreadable.size(), 1u);
  EXPECT_EQ(unreadable.begin()->second, std::set<uint64_t>{damaged});
}

TEST_F(UnreadableFilesTest, ATabletWithAnUnreadableFileKeepsFewFiles) {
  WriteFiles("damaged", 3);
  FailReadsOf(NameInStack(1));
  size_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    WriteFiles("damaged", 1);
    Settle().IgnoreError();
    most = std::max(most, StackOf("damaged").size());
  }
  EXPECT_LE(most, 40u);
}

TEST_F(UnreadableFilesTest, ATabletWithADamagedFileKeepsFewFiles) {
  WriteFiles("damaged", 6);
  ASSERT_TRUE(files_.FlipBit("/db/" + NameInStack(2), 40, 1).ok());
  EXPECT_TRUE(absl::IsDataLoss(database_.WaitForIdle()));
  size_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    WriteFiles("damaged", 1);
    Settle().IgnoreError();
    most = std::max(most, StackOf("damaged").size());
  }
  EXPECT_LE(most, 40u);
}

TEST_F(UnreadableFilesTest, OtherTablesCompact) {
  WriteFiles("damaged", 6);
  FailReadsOf(NameInStack(2));
  WriteFiles("sound", 6);
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(StackOf("sound").size(), 1u);
}

TEST_F(UnreadableFilesTest, AFileThatCanBeReadAgainIsCompacted) {
  WriteFiles("damaged", 6);
  FailReadsOf(NameInStack(2));
  EXPECT_TRUE(absl::IsUnavailable(database_.WaitForIdle()));
  files_.ClearFaults();
  {
    EngineState& state = local_->engine()->storage().state;
    MutexLock lock(state.mutex());
    EXPECT_FALSE(state.unreadable().empty());
    state.unreadable() = UnreadableFiles();  // as after its backoff
  }
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(StackOf("damaged").size(), 1u);
}

TEST_F(UnreadableFilesTest, RowsOfAnUnreadableFileCanBeDroppedAndCheckpointed) {
  WriteFiles("damaged", 6);
  FailReadsOf(NameInStack(2));
  Settle().IgnoreError();
  EXPECT_EQ(database_.Checkpoint("/copy"), absl::OkStatus()) << "files are linked, not read";
  Table table = *database_.OpenTable("damaged");
  const absl::Status compacted = table.Compact();
  EXPECT_TRUE(absl::IsUnavailable(compacted)) << compacted;
  EXPECT_EQ(table.DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_EQ(StackOf("damaged").size(), 0u);
  WriteFiles("damaged", 6);
  EXPECT_EQ(Settle(), absl::OkStatus());
  EXPECT_EQ(StackOf("damaged").size(), 1u);
}

const TabletName kTablet{1, "a"};

std::set<uint64_t> FilesOf(const UnreadableFiles& files, UnreadableFiles::TimePoint now) {
  return files.FilesAt(now)[kTablet];
}

TEST(UnreadableFilesRestTest, AFileRestsLongerEachTimeAndDamageForEver) {
  UnreadableFiles files;
  const UnreadableFiles::TimePoint start{};
  EXPECT_TRUE(files.Add(7, kTablet, Unavailable("read"), start));
  EXPECT_EQ(FilesOf(files, start + milliseconds(999)), std::set<uint64_t>{7});
  EXPECT_TRUE(FilesOf(files, start + seconds(1)).empty());
  EXPECT_TRUE(files.Add(7, kTablet, NotFound("open"), start + seconds(1)));
  EXPECT_EQ(FilesOf(files, start + milliseconds(2999)), std::set<uint64_t>{7});
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(files.Add(7, kTablet, Unavailable("read"), start));
  EXPECT_EQ(FilesOf(files, start + seconds(59)), std::set<uint64_t>{7});
  EXPECT_TRUE(FilesOf(files, start + seconds(60)).empty());
  EXPECT_TRUE(files.Add(8, kTablet, DataLoss("000008.sst", 0, "damaged"), start));
  EXPECT_EQ(FilesOf(files, start + std::chrono::hours(10'000)), std::set<uint64_t>{8});
  EXPECT_EQ(files.FilesAt(start).size(), 1u) << "other tablets with rows in the file go on";
  files.Forget(8);
  EXPECT_TRUE(FilesOf(files, start + seconds(60)).empty());
}

TEST(UnreadableFilesRestTest, WhatIsNotTheFilesFaultLeavesItAlone) {
  UnreadableFiles files;
  EXPECT_FALSE(files.Add(7, kTablet, ResourceExhausted("too many open files"), {}));
  EXPECT_FALSE(files.Add(7, kTablet, Cancelled("stopped"), {}));
  EXPECT_TRUE(files.empty());
}

}  // namespace
}  // namespace stele::internal
