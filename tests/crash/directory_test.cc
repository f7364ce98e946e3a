// Tests how Open treats a directory. A missing or empty directory becomes a database, and an
// unfinished creation is completed. Any other directory without a complete database is rejected,
// and no byte of it changes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <iostream>

#include "io/file_names.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

using DirectoryContents = std::map<std::string, std::string>;

// LOCK only names the last process. It is not part of the data.
DirectoryContents WithoutLock(DirectoryContents contents) {
  contents.erase(std::string(kLockName));
  return contents;
}

DirectoryContents ContentsOf(CrashFileSystem* files, const std::string& directory = "/db") {
  absl::StatusOr<DirectoryContents> contents = ReadDirectory(files, directory);
  EXPECT_TRUE(contents.ok()) << contents.status();
  return contents.value_or(DirectoryContents());
}

absl::Status OpenAt(FileSystem* files, const std::string& directory, bool create = true,
                    bool read_only = false) {
  EngineOptions options = SmallEngineOptions(files);
  options.database.create_if_missing = create;
  options.database.read_only = read_only;
  WorkloadDatabase database(options, directory);
  return database.Open();
}

std::unique_ptr<CrashFileSystem> FilesWith(const DirectoryContents& contents) {
  auto files = std::make_unique<CrashFileSystem>();
  EXPECT_EQ(files->CreateDirectory("/db"), absl::OkStatus());
  for (const auto& [name, bytes] : contents)
    EXPECT_EQ(files->WriteFile(JoinPath("/db", name), bytes), absl::OkStatus());
  return files;
}

// A database with SSTables, a log that is still needed, and its contents as text.
struct Sample {
  DirectoryContents files;
  std::string dump;
};

Sample MakeSample(bool close) {
  CrashFileSystem files;
  WorkloadDatabase database(&files);
  EXPECT_EQ(database.Open(), absl::OkStatus());
  for (const WorkloadStep& step : MakeWorkload(7, 30))
    EXPECT_EQ(database.Run(step), absl::OkStatus()) << ToText(step);
  Sample sample{.dump = DumpDatabase(database.database()).value_or("")};
  EXPECT_FALSE(sample.dump.empty());
  if (close) {
    EXPECT_EQ(database.database().Close(), absl::OkStatus());
  } else {
    // Ends with an edit, because the manifest has no record of log segments newer than its last
    // edit.
    EXPECT_TRUE(database.database().CreateTable("last", Schema().AddFamily("f")).ok());
    sample.dump = DumpDatabase(database.database()).value_or("");
  }
  sample.files = ContentsOf(files.Crash(CrashPolicy::KilledProcess(), 1).get());
  return sample;
}

TEST(DirectoryTest, MissingAndEmptyOnesAreCreatedIfThatIsWanted) {
  CrashFileSystem files;
  EXPECT_TRUE(absl::IsNotFound(OpenAt(&files, "/db", false)));
  EXPECT_TRUE(absl::IsNotFound(files.Stat("/db").status())) << "a refused Open made the directory";
  EXPECT_TRUE(absl::IsNotFound(OpenAt(&files, "/db", true, true))) << "a reader creates nothing";
  EXPECT_TRUE(absl::IsNotFound(files.Stat("/db").status()));
  EXPECT_EQ(OpenAt(&files, "/db"), absl::OkStatus());
  EXPECT_EQ(OpenAt(&files, "/db", false), absl::OkStatus());

  ASSERT_EQ(files.CreateDirectory("/empty"), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(OpenAt(&files, "/empty", false)));
  EXPECT_TRUE(ContentsOf(&files, "/empty").empty());
  EXPECT_EQ(OpenAt(&files, "/empty"), absl::OkStatus());

  for (const bool create : {true, false}) {
    const absl::Status without_parent = OpenAt(&files, "/no/such/parent", create);
    EXPECT_TRUE(absl::IsFailedPrecondition(without_parent)) << without_parent;
    EXPECT_NE(without_parent.message().find("its parent directory /no/such does not exist"),
              absl::string_view::npos)
        << without_parent;
  }
  EXPECT_TRUE(absl::IsNotFound(files.Stat("/no").status()));
}

TEST(DirectoryTest, EveryUnfinishedCreationIsFinished) {
  int images = 0;
  for (uint64_t call = 1;; ++call) {
    CrashFileSystem files;
    files.SetCrashAtCall(call);
    const bool created = OpenAt(&files, "/db").ok() && !files.crashed();
    for (uint64_t seed = 0; seed < 24; ++seed, ++images) {
      const CrashPolicy policy = seed == 0  ? CrashPolicy::KilledProcess()
                                 : seed < 8 ? CrashPolicy::PowerLoss()
                                            : CrashPolicy::Random(seed);
      const auto image = files.Crash(policy, seed * 1000 + call);
      const absl::Status without_creation = OpenAt(image.get(), "/db", false);
      ASSERT_TRUE(without_creation.ok() || absl::IsNotFound(without_creation))
          << call << " " << seed << ": " << without_creation;
      WorkloadDatabase database(image.get());
      ASSERT_EQ(database.Open(), absl::OkStatus()) << "call " << call << " seed " << seed;
      ASSERT_EQ(database.WriteProbe("v"), absl::OkStatus()) << "call " << call << " seed " << seed;
    }
    if (created) break;
    ASSERT_LT(call, 100u);
  }
  std::cout << images << " images of unfinished creations\n";
  EXPECT_GT(images, 150);
}

TEST(DirectoryTest, ForeignDirectoriesAreRefusedAndUntouched) {
  const std::vector<DirectoryContents> cases = {
      {{"notes.txt", "mine"}},          {{"CURRENT", "garbage\n"}},
      {{"CURRENT", ""}, {"LOCK", ""}},  {{"CURRENT", "../elsewhere\n"}},
      {{"000012.sst", "bytes"}},        {{"000001.log", std::string(4096, 'x')}},
      {{"MANIFEST-000001", "not one"}}, {{"LOCK", ""}, {"holiday.jpg", std::string(1000, '\xff')}},
  };
  for (const DirectoryContents& contents : cases) {
    const auto files = FilesWith(contents);
    for (const bool read_only : {false, true}) {
      const absl::Status opened = OpenAt(files.get(), "/db", true, read_only);
      EXPECT_FALSE(opened.ok()) << contents.begin()->first;
      EXPECT_NE(opened.message().find("/db"), absl::string_view::npos) << opened;
      EXPECT_EQ(WithoutLock(ContentsOf(files.get())), WithoutLock(contents)) << opened;
    }
  }
}

TEST(DirectoryTest, ALockThatMayNotBeTakenIsToldAsThat) {
  for (const bool read_only : {false, true}) {
    CrashFileSystem files;
    ASSERT_EQ(OpenAt(&files, "/db"), absl::OkStatus());
    files.FailKind(CallKind::kLock, 1, {.error_number = EACCES});
    const absl::Status refused = OpenAt(&files, "/db", true, read_only);
    EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
    EXPECT_NE(refused.message().find("/db/LOCK"), absl::string_view::npos) << refused;
    EXPECT_NE(refused.message().find(read_only ? "able to read" : "able to write"),
              absl::string_view::npos)
        << refused;
    EXPECT_EQ(refused.message().find("elsewhere"), absl::string_view::npos) << refused;
    files.FailKind(CallKind::kLock, 1, {.error_number = EIO});
    const absl::Status failed = OpenAt(&files, "/db", true, read_only);
    EXPECT_TRUE(absl::IsUnavailable(failed)) << failed;
    EXPECT_EQ(failed.message().find("elsewhere"), absl::string_view::npos) << failed;
    EXPECT_EQ(OpenAt(&files, "/db", true, read_only), absl::OkStatus());
  }
}

TEST(DirectoryTest, APathThatIsAFileIsRefusedAndUntouched) {
  CrashFileSystem files;
  ASSERT_EQ(files.WriteFile("/db", "a file"), absl::OkStatus());
  const absl::Status opened = OpenAt(&files, "/db");
  EXPECT_FALSE(opened.ok());
  EXPECT_NE(opened.message().find("/db"), absl::string_view::npos) << opened;
  EXPECT_EQ(files.ReadFile("/db").value_or(""), "a file");
  EXPECT_FALSE(OpenAt(&files, "/db/below").ok());
}

// Removes any one or two files. The database is rejected unchanged or, if the files were not
// needed, opened with all its data. The manifest records the log's position at its last write.
TEST(DirectoryTest, HalfCopiedDatabasesAreRefusedOrWhole) {
  int refused_count = 0;
  for (const bool close : {true, false}) {
    const Sample sample = MakeSample(close);
    ASSERT_GT(sample.files.size(), 5u);
    for (auto first = sample.files.begin(); first != sample.files.end(); ++first) {
      for (auto second = first; second != sample.files.end(); ++second) {
        DirectoryContents left = sample.files;
        left.erase(first->first);
        left.erase(second->first);
        const auto files = FilesWith(left);
        WorkloadDatabase database(files.get());
        const absl::Status opened = database.Open();
        if (opened.ok()) {
          const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
          EXPECT_TRUE(dump.ok()) << dump.status();
          EXPECT_EQ(dump.value_or("unreadable"), sample.dump)
              << "without " << first->first << " and " << second->first;
          continue;
        }
        ++refused_count;
        EXPECT_TRUE(WithoutLock(ContentsOf(files.get())) == WithoutLock(left))
            << "changed although refused, without " << first->first << " and " << second->first
            << ": " << opened;
      }
    }
  }
  EXPECT_GT(refused_count, 10);
}

// A copy without a lock file can be read. Only a writer creates the lock file.
TEST(DirectoryTest, AReaderMakesNoLockFile) {
  const Sample sample = MakeSample(false);
  DirectoryContents copied = sample.files;
  ASSERT_EQ(copied.erase(std::string(kLockName)), 1u);
  const auto files = FilesWith(copied);
  EngineOptions options = SmallEngineOptions(files.get());
  options.database.read_only = true;
  WorkloadDatabase reader(options, "/db");
  ASSERT_EQ(reader.Open(), absl::OkStatus());
  EXPECT_EQ(DumpDatabase(reader.database()).value_or(""), sample.dump);
  EXPECT_EQ(reader.database().Close(), absl::OkStatus());
  EXPECT_EQ(ContentsOf(files.get()), copied);
  EXPECT_EQ(OpenAt(files.get(), "/db"), absl::OkStatus()) << "a writer makes it";
  EXPECT_TRUE(files->Stat("/db/LOCK").ok());
}

TEST(DirectoryTest, ReadOnlyChangesNoByte) {
  const Sample sample = MakeSample(false);
  const auto files = FilesWith(sample.files);
  EngineOptions options = SmallEngineOptions(files.get());
  options.database.read_only = true;
  WorkloadDatabase reader(options, "/db");
  ASSERT_EQ(reader.Open(), absl::OkStatus());
  WorkloadDatabase second(options, "/db");
  ASSERT_EQ(second.Open(), absl::OkStatus()) << "readers stand beside each other";
  EXPECT_EQ(DumpDatabase(reader.database()).value_or(""), sample.dump);
  EXPECT_TRUE(
      reader.database().Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(reader.WriteProbe("v")));
  EXPECT_TRUE(absl::IsFailedPrecondition(reader.database().DeleteTable("t0")));
  Table table = reader.database().OpenTable("t0").value_or(Table());
  EXPECT_TRUE(absl::IsFailedPrecondition(table.Flush()));
  EXPECT_TRUE(absl::IsFailedPrecondition(table.Compact()));
  EXPECT_TRUE(absl::IsFailedPrecondition(table.DropRowRange(RowRange::All())));
  EXPECT_EQ(reader.database().Close(), absl::OkStatus());
  second.Drop();
  EXPECT_EQ(ContentsOf(files.get()), sample.files);
}

}  // namespace
}  // namespace stele::internal
