// Tests which directories a checkpoint overwrites: an older checkpoint that was not changed, and an
// unfinished one. It does not change a byte of anything else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/engine.h"
#include "io/file_names.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

using Contents = std::map<std::string, std::string>;

Contents ContentsOf(FileSystem* files, const std::string& directory) {
  Contents contents = ReadDirectory(files, directory).value_or(Contents{{"unreadable", ""}});
  contents.erase(std::string(kLockName));
  return contents;
}

absl::Status WriteRow(WorkloadDatabase& database, std::string row) {
  absl::StatusOr<Table> table = database.database().OpenTable("t");
  if (!table.ok()) return table.status();
  return table->Apply(
      RowMutation(std::move(row)).SetCell("f", "q", Timestamp::FromMicros(1000), "v"));
}

// Makes a database with a table, an SSTable and a row in the memtable.
absl::Status Fill(WorkloadDatabase& database) {
  if (absl::Status opened = database.Open(); !opened.ok()) return opened;
  absl::StatusOr<Table> table = database.database().CreateTable("t", Schema().AddFamily("f"));
  if (!table.ok()) return table.status();
  if (absl::Status status = WriteRow(database, "a"); !status.ok()) return status;
  if (absl::Status status = table->Flush(); !status.ok()) return status;
  return WriteRow(database, "b");
}

std::string TextOf(FileSystem* files, const std::string& directory) {
  EngineOptions options = SmallEngineOptions(files);
  options.database.read_only = true;
  WorkloadDatabase database(options, directory);
  const absl::Status opened = database.Open();
  return opened.ok() ? DumpDatabase(database.database()).value_or("unreadable") : opened.ToString();
}

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(Fill(database_), absl::OkStatus()); }

  void ExpectRefused(const std::string& directory) {
    const Contents before = ContentsOf(&files_, directory);
    const absl::Status refused = database_.database().Checkpoint(directory);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_TRUE(ContentsOf(&files_, directory) == before) << "changed though refused";
  }

  CrashFileSystem files_;
  WorkloadDatabase database_{&files_};
};

// Regression: a change without a log record was treated as no change, and was lost.
TEST_F(CheckpointTest, ACopyOfWhichOnlyTheSchemaChangedIsNotWrittenOver) {
  ASSERT_EQ(database_.database().Checkpoint("/copy"), absl::OkStatus());
  {
    WorkloadDatabase copy(&files_, "/copy");
    ASSERT_EQ(copy.Open(), absl::OkStatus());
    ASSERT_TRUE(copy.database().CreateTable("mine", Schema().AddFamily("f")).ok());
  }
  ExpectRefused("/copy");
  const auto killed = files_.Crash(CrashPolicy::KilledProcess(), 1);
  EXPECT_NE(TextOf(killed.get(), "/copy").find("mine"), std::string::npos);
}

TEST_F(CheckpointTest, ACopyThatWasOpenedForWritingAndKilledIsNotWrittenOver) {
  ASSERT_EQ(database_.database().Checkpoint("/copy"), absl::OkStatus());
  const auto image = [&] {
    WorkloadDatabase copy(&files_, "/copy");
    EXPECT_EQ(copy.Open(), absl::OkStatus());
    return files_.Crash(CrashPolicy::KilledProcess(), 1);
  }();
  WorkloadDatabase original(image.get());
  ASSERT_EQ(original.Open(), absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(original.database().Checkpoint("/copy")));
}

TEST_F(CheckpointTest, AFileThatTheOlderCopyLostIsBroughtAgain) {
  ASSERT_EQ(database_.database().Checkpoint("/copy"), absl::OkStatus());
  for (const auto& [name, bytes] : ContentsOf(&files_, "/copy")) {
    if (ParseFileName(name)->type == FileType::kSstable) {
      ASSERT_EQ(files_.Remove(JoinPath("/copy", name)), absl::OkStatus());
    }
  }
  ASSERT_EQ(database_.database().Checkpoint("/copy"), absl::OkStatus());
  EXPECT_EQ(TextOf(&files_, "/copy"), DumpDatabase(database_.database()).value_or(""));
}

// The files that a read-only database adds to a copy must not have numbers that a writer gives out
// later: the next checkpoint would find two files with one number.
TEST_F(CheckpointTest, AReadOnlyDatabaseIsCopiedAndItsWritersGoOnWithTheCopy) {
  EngineOptions read_only = SmallEngineOptions(&files_);
  read_only.database.read_only = true;
  for (const char* const row : {"c", "d"}) {
    ASSERT_EQ(WriteRow(database_, row), absl::OkStatus());
    database_.Drop();
    WorkloadDatabase reader(read_only, "/db");
    ASSERT_EQ(reader.Open(), absl::OkStatus());
    for (int i = 0; i < 2; ++i) ASSERT_EQ(reader.database().Checkpoint("/copy"), absl::OkStatus());
    EXPECT_EQ(TextOf(&files_, "/copy"), DumpDatabase(reader.database()).value_or(""));
    reader.Drop();
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    ASSERT_EQ(database_.database().OpenTable("t")->Flush(), absl::OkStatus());
    ASSERT_EQ(database_.database().Checkpoint("/copy"), absl::OkStatus());
    EXPECT_EQ(TextOf(&files_, "/copy"), DumpDatabase(database_.database()).value_or(""));
  }
}

// Its checkpoint onto the copy of a read-only database does not count the numbers in it. Otherwise
// its files would get the numbers of files in other copies.
TEST_F(CheckpointTest, AWriterDoesNotReachTheNumbersOfReadOnlyCopies) {
  EngineOptions read_only = SmallEngineOptions(&files_);
  read_only.database.read_only = true;
  database_.Drop();
  WorkloadDatabase reader(read_only, "/db");
  ASSERT_EQ(reader.Open(), absl::OkStatus());
  for (const char* const copy : {"/copy", "/other"})
    ASSERT_EQ(reader.database().Checkpoint(copy), absl::OkStatus());
  reader.Drop();
  ASSERT_EQ(database_.Open(), absl::OkStatus());
  ASSERT_EQ(database_.database().Checkpoint("/copy"), absl::OkStatus());
  EXPECT_LT(database_.engine().storage().directory.next_file_number(), 1000u);
  ASSERT_EQ(database_.database().Checkpoint("/other"), absl::OkStatus());
}

TEST_F(CheckpointTest, WhatIsNotOursIsRefusedAndUntouched) {
  const std::vector<Contents> cases = {
      {{"CHECKPOINT.tmp",
        "a checkpoint with database id 0000000000000000 was begun here and is not finished\n"},
       {"000004.sst", "other's"}},
      {{"000004.sst", "no mark"}},
      {{"CHECKPOINT.tmp", ""}, {"000004.sst", "no text in the mark"}},
      {{"notes.txt", "mine"}},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string directory = fmt::format("/foreign{}", i);
    ASSERT_EQ(files_.CreateDirectory(directory), absl::OkStatus());
    for (const auto& [name, bytes] : cases[i])
      ASSERT_EQ(files_.WriteFile(JoinPath(directory, name), bytes), absl::OkStatus());
    ExpectRefused(directory);
    EXPECT_TRUE(absl::IsNotFound(files_.Stat(JoinPath(directory, kLockName)).status()))
        << directory;
  }
}

// An unfinished copy with foreign files or a CURRENT next to its mark must not be removed.
TEST_F(CheckpointTest, AnUnfinishedCopyWithSomethingElseInItIsRefused) {
  files_.FailKind(CallKind::kLink, 1, Fault{.error_number = EIO});
  files_.FailKind(CallKind::kCreate, 3, Fault{.error_number = EIO, .path_part = "/copy"});
  ASSERT_FALSE(database_.database().Checkpoint("/copy").ok());
  ASSERT_TRUE(ContentsOf(&files_, "/copy").contains("CHECKPOINT.tmp"));
  for (const char* name : {"notes.txt", "CURRENT"}) {
    const std::string path = JoinPath("/copy", name);
    ASSERT_EQ(files_.WriteFile(path, "MANIFEST-000001\n"), absl::OkStatus());
    ExpectRefused("/copy");
    ASSERT_EQ(files_.Remove(path), absl::OkStatus());
  }
  EXPECT_EQ(database_.database().Checkpoint("/copy"), absl::OkStatus());
}

// A stop during a first checkpoint, and during a second one onto the first.
TEST(CheckpointStopTest, TheNextTryAfterAStopSucceeds) {
  CrashFileSystem files;
  std::stop_source stop;
  bool stops = true;
  ObservedFileSystem observed(&files, [&](CallKind /*kind*/, const std::string& path) {
    if (stops && path.starts_with("/copy")) stop.request_stop();
  });
  WorkloadDatabase database(&observed);
  ASSERT_EQ(Fill(database), absl::OkStatus());
  std::string copied;
  for (const char* const row : {"c", "d"}) {
    stops = true;
    stop = std::stop_source();
    ASSERT_EQ(WriteRow(database, row), absl::OkStatus());
    const absl::Status stopped =
        database.database().Checkpoint("/copy", {.stop = stop.get_token()});
    EXPECT_TRUE(absl::IsCancelled(stopped)) << stopped;
    stops = false;
    if (!copied.empty()) EXPECT_EQ(TextOf(&files, "/copy"), copied) << "the older checkpoint";
    EXPECT_EQ(database.database().Checkpoint("/copy"), absl::OkStatus());
    copied = DumpDatabase(database.database()).value_or("");
    EXPECT_EQ(TextOf(&files, "/copy"), copied);
  }
}

// A crash at any call of a first checkpoint, and of a second one onto the first. The next attempt
// succeeds in every case.
TEST(CheckpointCrashTest, TheNextTryAfterACrashSucceeds) {
  int images = 0;
  for (const bool onto_older : {false, true}) {
    for (uint64_t call = 1;; ++call) {
      CrashFileSystem files;
      WorkloadDatabase database(&files);
      ASSERT_EQ(Fill(database), absl::OkStatus());
      if (onto_older) {
        ASSERT_EQ(database.database().Checkpoint("/copy"), absl::OkStatus());
        ASSERT_EQ(WriteRow(database, "c"), absl::OkStatus());
      }
      ASSERT_EQ(database.database().Sync(), absl::OkStatus());
      files.SetCrashAtCall(files.calls() + call);
      const bool finished = database.database().Checkpoint("/copy").ok();
      for (uint64_t seed = 1; seed <= 8; ++seed, ++images) {
        const CrashPolicy policy = seed == 1   ? CrashPolicy::KilledProcess()
                                   : seed == 2 ? CrashPolicy::DropUnsynced()
                                               : CrashPolicy::Random(seed);
        const auto image = files.Crash(policy, seed * 1000 + call);
        WorkloadDatabase again(image.get());
        ASSERT_EQ(again.Open(), absl::OkStatus());
        ASSERT_EQ(again.database().Checkpoint("/copy"), absl::OkStatus())
            << "call " << call << " seed " << seed << " older " << onto_older;
        ASSERT_EQ(TextOf(image.get(), "/copy"), DumpDatabase(again.database()).value_or(""))
            << "call " << call << " seed " << seed;
        EXPECT_FALSE(ContentsOf(image.get(), "/copy").contains("CHECKPOINT.tmp"));
      }
      if (finished) break;
      ASSERT_LT(call, 200u);
    }
  }
  EXPECT_GT(images, 300);
}

}  // namespace
}  // namespace stele::internal
