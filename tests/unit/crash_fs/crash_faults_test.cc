// Tests injected faults: calls that fail, disks that fill up, failed syncs, and the data that
// remains after them.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "support/crash_fs/crash_file_system.h"
#include "support/io_open.h"

namespace stele::internal {
namespace {

std::string AfterPowerLoss(const CrashFileSystem& fs, const std::string& path) {
  return fs.Crash(CrashPolicy::DropUnsynced(), 1)->ReadFile(path).value_or("(missing)");
}

TEST(CrashFaults, CallsAreCountedOnceEach) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory("d").ok());
  EXPECT_EQ(fs.calls(), 1u);
  const std::unique_ptr<File> file = Open(fs, "d/f", OpenMode::kCreate);
  ASSERT_TRUE(file->Write(0, "abc").ok());
  ASSERT_TRUE(file->Truncate(2).ok());
  ASSERT_TRUE(file->Allocate(10).ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(fs.calls(), 6u);
  ASSERT_TRUE(fs.Link("d/f", "d/g").ok());
  ASSERT_TRUE(fs.Rename("d/g", "d/h").ok());
  ASSERT_TRUE(fs.Remove("d/h").ok());
  ASSERT_TRUE(fs.SyncDirectory("d").ok());
  ASSERT_TRUE(fs.CreateDirectory("e").ok());
  ASSERT_TRUE(fs.RemoveDirectory("e").ok());
  ASSERT_TRUE(fs.Lock("LOCK", LockMode::kShared, "").ok());
  EXPECT_EQ(fs.calls(), 13u);
  EXPECT_EQ(fs.reads(), 0u);
  char c;
  ASSERT_TRUE(Open(fs, "d/f", OpenMode::kRead)->Read(0, 1, &c).ok());
  ASSERT_TRUE(file->Size().ok());
  ASSERT_TRUE(fs.List("d").ok());
  ASSERT_TRUE(fs.Stat("d").ok());
  EXPECT_EQ(fs.reads(), 5u);
  EXPECT_EQ(fs.calls(), 13u);
}

TEST(CrashFaults, NothingHappensAfterTheCrash) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "abc").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  fs.SetCrashAtCall(fs.calls() + 2);
  ASSERT_TRUE(file->Write(0, "A").ok());
  EXPECT_FALSE(fs.crashed());
  for (const absl::Status& status :
       {file->Write(1, "B"), file->Sync(), file->Truncate(0), file->Allocate(100), fs.Remove("f"),
        fs.Rename("f", "g"), fs.Link("f", "g"), fs.CreateDirectory("d"), fs.SyncDirectory("/"),
        fs.Lock("f", LockMode::kShared, "").status(), fs.Stat("f").status(), fs.List("/").status(),
        fs.Open("f", OpenMode::kRead).status(), file->Size().status(),
        file->Read(0, 0, nullptr).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(status.message(), "crashed");
  }
  EXPECT_TRUE(fs.crashed());
  EXPECT_EQ(fs.calls(), 1u);
  EXPECT_EQ(*fs.ReadFile("f"), "Abc");
  EXPECT_EQ(AfterPowerLoss(fs, "f"), "abc");
  // A Sync after the crash does not change earlier writes.
  EXPECT_EQ(*fs.Crash(CrashPolicy::KeepAll(), 1)->ReadFile("f"), "Abc");
}

TEST(CrashFaults, FailCallFailsThatCallOrAllFromItOn) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  fs.FailCall(2, {.error_number = EIO});
  fs.FailCall(4, {.error_number = ENOSPC, .sticky = true});
  EXPECT_TRUE(file->Write(0, "1").ok());
  const absl::Status failed = file->Write(1, "2");
  EXPECT_EQ(failed.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(failed.message()).find("write f"), std::string::npos) << failed;
  EXPECT_TRUE(file->Write(1, "3").ok());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(file->Write(2, "4").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(fs.Remove("f").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*fs.ReadFile("f"), "13");
  fs.ClearFaults();
  EXPECT_TRUE(file->Write(2, "5").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "135");
}

TEST(CrashFaults, FailKindCountsItsKindAndPathOnly) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("a.log", "").ok());
  ASSERT_TRUE(fs.WriteFile("b.sst", "").ok());
  const std::unique_ptr<File> log = Open(fs, "a.log");
  const std::unique_ptr<File> sst = Open(fs, "b.sst");
  fs.FailKind(CallKind::kSync, 2, {.error_number = EIO, .path_part = ".log"});
  EXPECT_TRUE(log->Sync().ok());
  EXPECT_TRUE(sst->Sync().ok());
  EXPECT_TRUE(log->Write(0, "x").ok());
  EXPECT_FALSE(log->Sync().ok());
  EXPECT_TRUE(log->Sync().ok());
  fs.FailKind(CallKind::kOpen, 1, {.error_number = EMFILE});
  EXPECT_EQ(fs.Open("a.log", OpenMode::kRead).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(fs.Open("a.log", OpenMode::kRead).ok());
  fs.FailKind(CallKind::kOpen, 1, {.error_number = ENOENT});
  EXPECT_TRUE(absl::IsNotFound(fs.Open("a.log", OpenMode::kRead).status()));
}

TEST(CrashFaults, FailedCallsChangeNothing) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "abc").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  fs.FailCall(1, {.error_number = EIO, .sticky = true});
  EXPECT_FALSE(file->Write(0, "X").ok());
  EXPECT_FALSE(file->Truncate(0).ok());
  EXPECT_FALSE(file->Allocate(100).ok());
  EXPECT_FALSE(fs.Rename("f", "g").ok());
  EXPECT_FALSE(fs.Remove("f").ok());
  EXPECT_FALSE(fs.Link("f", "g").ok());
  EXPECT_FALSE(fs.CreateDirectory("d").ok());
  EXPECT_FALSE(fs.Open("h", OpenMode::kCreate).ok());
  EXPECT_FALSE(fs.Lock("LOCK", LockMode::kExclusive, "me").ok());
  EXPECT_EQ(*fs.List("/"), std::vector<std::string>{"f"});
  EXPECT_EQ(*fs.ReadFile("f"), "abc");
  EXPECT_EQ(fs.calls(), 9u);
}

TEST(CrashFaults, PartialWriteAndShortRead) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  fs.FailCall(1, {.error_number = ENOSPC, .partial = true});
  EXPECT_FALSE(file->Write(0, "abcdef").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "abc");
  char out[8];
  fs.FailRead(fs.reads() + 1, {.partial = true});
  EXPECT_EQ(*file->Read(0, 2, out), 1u);
  EXPECT_EQ(*file->Read(0, 2, out), 2u);
  fs.FailRead(fs.reads() + 2, {.error_number = EIO});
  EXPECT_TRUE(file->Read(0, 2, out).ok());
  EXPECT_FALSE(file->Read(0, 2, out).ok());
}

TEST(CrashFaults, FullDiskRefusesGrowthUntilThereIsSpaceAgain) {
  CrashFileSystem fs;
  fs.SetCapacity(1000);
  const std::unique_ptr<File> file = Open(fs, "f", OpenMode::kCreate);
  ASSERT_TRUE(file->Allocate(600).ok());
  const std::unique_ptr<File> other = Open(fs, "g", OpenMode::kCreate);
  EXPECT_EQ(other->Write(0, std::string(500, 'x')).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*other->Size(), 400u);  // as much as there was room for
  EXPECT_EQ(fs.used_bytes(), 1000u);
  EXPECT_TRUE(file->Write(0, std::string(600, 'y')).ok());  // the space was reserved
  EXPECT_EQ(file->Allocate(601).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(file->Write(2000, "z").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(fs.Lock("LOCK", LockMode::kExclusive, "me").ok());  // a full disk can be opened
  ASSERT_TRUE(fs.Remove("g").ok());
  EXPECT_EQ(fs.used_bytes(), 1000u);  // still open
  EXPECT_FALSE(file->Allocate(601).ok());
  ASSERT_TRUE(other->Truncate(0).ok());
  EXPECT_EQ(fs.used_bytes(), 600u);
  EXPECT_TRUE(file->Allocate(900).ok());
  fs.SetCapacity(100);
  EXPECT_FALSE(file->Write(900, "z").ok());
  EXPECT_TRUE(file->Write(0, "z").ok());
  fs.SetCapacity(5000);
  EXPECT_TRUE(file->Write(900, "z").ok());
}

TEST(CrashFaults, FreeBytesAreWhatTheCapacityLeaves) {
  CrashFileSystem fs;
  EXPECT_EQ(*fs.FreeBytes("/"), UINT64_MAX);
  fs.SetCapacity(1000);
  EXPECT_EQ(*fs.FreeBytes("/"), 1000u);
  ASSERT_TRUE(Open(fs, "f", OpenMode::kCreate)->Allocate(600).ok());
  EXPECT_EQ(*fs.FreeBytes("/"), 400u);
  fs.SetCapacity(500);
  EXPECT_EQ(*fs.FreeBytes("/"), 0u);
}

TEST(CrashFaults, ClosingARemovedFileFreesItsSpace) {
  CrashFileSystem fs;
  {
    const std::unique_ptr<File> file = Open(fs, "f", OpenMode::kCreate);
    ASSERT_TRUE(file->Write(0, "abc").ok());
    ASSERT_TRUE(fs.Remove("f").ok());
    EXPECT_EQ(fs.used_bytes(), 3u);
  }
  EXPECT_EQ(fs.used_bytes(), 0u);
  ASSERT_TRUE(fs.WriteFile("a", "12345").ok());
  ASSERT_TRUE(fs.WriteFile("b", "123").ok());
  ASSERT_TRUE(fs.Rename("a", "b").ok());
  EXPECT_EQ(fs.used_bytes(), 5u);
}

class FailedSyncTest : public testing::TestWithParam<FailedSync> {
 protected:
  // "old" is synced, "new" overwrites it, and the sync of "new" fails.
  void SetUp() override {
    fs_.SetFailedSync(GetParam());
    ASSERT_TRUE(fs_.WriteFile("f", "old").ok());
    file_ = Open(fs_, "f");
    ASSERT_TRUE(file_->Write(0, "new").ok());
    fs_.FailKind(CallKind::kSync, 1, {.error_number = EIO});
    ASSERT_FALSE(file_->Sync().ok());
  }
  CrashFileSystem fs_;
  std::unique_ptr<File> file_;
};

TEST_P(FailedSyncTest, ReadersSeeWhatTheFileSystemLeaves) {
  EXPECT_EQ(*fs_.ReadFile("f"), GetParam() == FailedSync::kCleanOld ? "old" : "new");
  EXPECT_EQ(AfterPowerLoss(fs_, "f"), "old");
}

TEST_P(FailedSyncTest, SyncingAgainAnswersOkButSavesOnlyWhatIsStillDirty) {
  ASSERT_TRUE(file_->Sync().ok());
  EXPECT_EQ(AfterPowerLoss(fs_, "f"), GetParam() == FailedSync::kStaysDirty ? "new" : "old");
  // With every policy: pages that are marked clean are never written to the disk again.
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string bytes = *fs_.Crash(CrashPolicy::PowerLoss(), seed)->ReadFile("f");
    EXPECT_EQ(bytes, GetParam() == FailedSync::kStaysDirty ? "new" : "old");
  }
}

TEST_P(FailedSyncTest, LaterWritesTakeTheirPageWithThem) {
  ASSERT_TRUE(file_->Write(5000, "later").ok());  // another page
  ASSERT_TRUE(file_->Sync().ok());
  EXPECT_EQ(AfterPowerLoss(fs_, "f").substr(0, 3),
            GetParam() == FailedSync::kStaysDirty ? "new" : "old");
  EXPECT_EQ(AfterPowerLoss(fs_, "f").substr(5000), "later");
  ASSERT_TRUE(file_->Write(3, "!").ok());  // the same page
  ASSERT_TRUE(file_->Sync().ok());
  EXPECT_EQ(AfterPowerLoss(fs_, "f").substr(0, 4),
            GetParam() == FailedSync::kCleanOld ? "old!" : "new!");
}

INSTANTIATE_TEST_SUITE_P(All, FailedSyncTest,
                         testing::Values(FailedSync::kStaysDirty, FailedSync::kCleanNew,
                                         FailedSync::kCleanOld),
                         [](const testing::TestParamInfo<FailedSync>& info) -> std::string {
                           switch (info.param) {
                             case FailedSync::kStaysDirty:
                               return "StaysDirty";
                             case FailedSync::kCleanNew:
                               return "CleanNew";
                             default:
                               return "CleanOld";
                           }
                         });

TEST(FailedSync, MayHaveSavedAPart) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "....").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  ASSERT_TRUE(file->Write(0, "1").ok());
  ASSERT_TRUE(file->Write(1, "2").ok());
  fs.FailKind(CallKind::kSync, 1, {.error_number = EIO, .partial = true});
  ASSERT_FALSE(file->Sync().ok());
  EXPECT_EQ(AfterPowerLoss(fs, "f"), "1...");
  EXPECT_EQ(*fs.ReadFile("f"), "12..");
}

TEST(FailedSync, OfADirectorySavesNoName) {
  CrashFileSystem fs;
  { Open(fs, "f", OpenMode::kCreate); }
  fs.FailKind(CallKind::kSyncDirectory, 1, {.error_number = EIO});
  EXPECT_FALSE(fs.SyncDirectory("/").ok());
  EXPECT_EQ(AfterPowerLoss(fs, "f"), "(missing)");
  EXPECT_TRUE(fs.SyncDirectory("/").ok());
  EXPECT_EQ(AfterPowerLoss(fs, "f"), "");
}

TEST(CrashFileSystemTest, FlipBitDamagesWhatIsReadAndWhatSurvives) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "abc").ok());
  ASSERT_TRUE(Open(fs, "f")->Write(3, "d").ok());
  ASSERT_TRUE(fs.FlipBit("f", 1, 0).ok());
  ASSERT_TRUE(fs.FlipBit("f", 3, 0).ok());
  EXPECT_EQ(*fs.ReadFile("f"), "acce");
  EXPECT_EQ(AfterPowerLoss(fs, "f"), "acc");
  EXPECT_EQ(*fs.Crash(CrashPolicy::KeepAll(), 1)->ReadFile("f"), "acce");
  EXPECT_FALSE(fs.FlipBit("f", 4, 0).ok());
  EXPECT_FALSE(fs.FlipBit("f", 0, 8).ok());
  EXPECT_FALSE(fs.FlipBit("none", 0, 0).ok());
}

TEST(CrashFileSystemTest, WriteFileReplacesForGood) {
  CrashFileSystem fs;
  const std::unique_ptr<File> file = Open(fs, "f", OpenMode::kCreate);
  ASSERT_TRUE(file->Write(0, "unsynced").ok());
  ASSERT_TRUE(fs.WriteFile("f", "abc").ok());
  EXPECT_EQ(AfterPowerLoss(fs, "f"), "abc");
  EXPECT_EQ(fs.used_bytes(), 3u);
  EXPECT_FALSE(fs.WriteFile("/", "abc").ok());
  EXPECT_FALSE(fs.WriteFile("none/f", "abc").ok());
  EXPECT_EQ(fs.calls(), 2u);
}

}  // namespace
}  // namespace stele::internal
