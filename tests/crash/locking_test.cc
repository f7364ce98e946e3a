// Tests locking on the real file system: one writer or several readers, among threads and
// processes. A rejected process gets the holder's name and changes nothing. The lock of a killed
// holder is released. A forked child cannot write.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/status.h"
#include "support/crash_child.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

class LockingTest : public ::testing::Test {
 protected:
  absl::StatusOr<Database> Open(bool read_only = false) {
    DatabaseOptions options;
    options.read_only = read_only;
    return Database::Open(directory_.path(), options);
  }
  const ScratchDirectory directory_;
};

bool Names(const absl::Status& status, std::string_view text) {
  return ToStd(status.message()).find(text) != std::string_view::npos;
}

TEST_F(LockingTest, ASecondOpenerInTheProcessIsRefusedAndToldThePid) {
  absl::StatusOr<Database> first = Open();
  ASSERT_TRUE(first.ok()) << first.status();
  for (const bool read_only : {false, true}) {
    const absl::Status refused = Open(read_only).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_TRUE(Names(refused, fmt::format("pid {}", ::getpid()))) << refused;
  }
  ASSERT_EQ(first->Close(), absl::OkStatus());
  EXPECT_TRUE(Open().ok()) << "Close frees the lock, whatever handles live";
}

TEST_F(LockingTest, ReadersStandTogetherAndKeepAWriterOut) {
  ASSERT_TRUE(Open().ok());
  absl::StatusOr<Database> reader = Open(true);
  absl::StatusOr<Database> another = Open(true);
  ASSERT_TRUE(reader.ok() && another.ok()) << another.status();
  EXPECT_TRUE(absl::IsFailedPrecondition(Open().status()));
  ASSERT_EQ(reader->Close(), absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(Open().status()));
  ASSERT_EQ(another->Close(), absl::OkStatus());
  EXPECT_TRUE(Open().ok());
}

TEST_F(LockingTest, OfManyThreadsOneWins) {
  for (int round = 0; round < 20; ++round) {
    std::vector<absl::StatusOr<Database>> opened(6, absl::UnknownError("not tried"));
    std::vector<std::thread> threads;
    for (auto& mine : opened) threads.emplace_back([&mine, this] { mine = Open(); });
    for (std::thread& thread : threads) thread.join();
    int winners = 0;
    for (const auto& mine : opened) {
      winners += mine.ok() ? 1 : 0;
      EXPECT_TRUE(mine.ok() || absl::IsFailedPrecondition(mine.status())) << mine.status();
    }
    ASSERT_EQ(winners, 1) << "round " << round;
  }
}

TEST_F(LockingTest, AnotherProcessIsRefusedAndToldThePidAndAKilledHolderFreesTheLock) {
  ChildProcess child("LockingChild.Holds", directory_.path());
  ASSERT_EQ(child.ReadLine(), "open");
  const std::string before =
      ReadWholeFile(PosixFileSystem(), directory_.path() + "/CURRENT").value_or("");
  for (const bool read_only : {false, true}) {
    const absl::Status refused = Open(read_only).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_TRUE(Names(refused, fmt::format("pid {}", child.pid()))) << refused;
  }
  EXPECT_EQ(ReadWholeFile(PosixFileSystem(), directory_.path() + "/CURRENT").value_or("gone"),
            before);
  child.Kill();
  absl::StatusOr<Database> opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(opened->OpenTable("t").ok()) << "what the killed process made is lost";
}

TEST_F(LockingTest, AForkedChildCannotWriteAndHarmsNothing) {
  absl::StatusOr<Database> opened = Open();
  ASSERT_TRUE(opened.ok());
  Table table = opened->CreateTable("t", Schema().AddFamily("f")).value_or(Table());
  ASSERT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", "before")), absl::OkStatus());
  const ScratchDirectory copy;
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte;
    if (::read(go[0], &byte, 1) != 1) ::_exit(2);  // the parent has changed the manifest meanwhile
    const bool refused =
        absl::IsFailedPrecondition(opened->Checkpoint(copy.path())) &&
        absl::IsFailedPrecondition(opened->Sync()) &&
        absl::IsFailedPrecondition(table.Apply(RowMutation("r").SetCell("f", "q", "child"))) &&
        absl::IsFailedPrecondition(opened->CreateTable("u", Schema()).status()) &&
        absl::IsFailedPrecondition(Open().status());
    table = Table();
    *opened = Database();  // the child's last handle: must not close the parent's database
    ::_exit(refused ? 0 : 1);
  }
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(opened->CreateTable(fmt::format("parent-{}", i), Schema()).ok());
  ASSERT_EQ(::write(go[1], "g", 1), 1);
  ::close(go[0]);
  ::close(go[1]);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(absl::IsFailedPrecondition(Open().status())) << "the child freed the parent's lock";
  EXPECT_EQ(table.Apply(RowMutation("r2").SetCell("f", "q", "after")), absl::OkStatus());
  table = Table();
  ASSERT_EQ(opened->Close(), absl::OkStatus());
  absl::StatusOr<Database> again = Open();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
  EXPECT_EQ(again->ListTables().value_or(std::vector<std::string>()).size(), 4u);
  EXPECT_TRUE(again->OpenTable("t").value_or(Table()).Exists("r2").value_or(false));
}

// A server is killed. A process that it had forked survives, and must not keep the database locked.
TEST_F(LockingTest, AForkedChildDoesNotKeepTheLockOfAKilledParent) {
  for (int round = 0; round < 3; ++round) {
    ChildProcess parent("LockingChild.HoldsAndForks", directory_.path());
    const std::string child_pid = parent.ReadLine();
    ASSERT_FALSE(child_pid.empty());
    const pid_t child = std::atoi(child_pid.c_str());
    ASSERT_GT(child, 0);
    EXPECT_TRUE(absl::IsFailedPrecondition(Open().status())) << "the parent holds it";
    parent.Kill();
    EXPECT_EQ(::kill(child, 0), 0) << "the child lives";
    const absl::StatusOr<Database> opened = Open();
    EXPECT_TRUE(opened.ok()) << opened.status();
    ::kill(child, SIGKILL);
  }
}

// The other processes of the tests above.
TEST(LockingChild, HoldsAndForks) {
  if (!ChildProcess::IsChild()) GTEST_SKIP() << "run by another test, in a process of its own";
  absl::StatusOr<Database> database = Database::Open(ChildProcess::Directory());
  if (!database.ok()) std::_Exit(1);
  if (::fork() == 0) {
    ::alarm(120);  // in case the test ends before it kills this process
    ChildProcess::Notify(fmt::format("{}\n", ::getpid()));
  }
  ChildProcess::WaitForEver();
}

TEST(LockingChild, Holds) {
  if (!ChildProcess::IsChild()) GTEST_SKIP() << "run by other tests, in a process of its own";
  absl::StatusOr<Database> database = Database::Open(ChildProcess::Directory());
  const bool made = database.ok() && database->CreateTable("t", Schema().AddFamily("f")).ok();
  ChildProcess::Notify(made ? "open\n" : "failed\n");
  ChildProcess::WaitForEver();
}

}  // namespace
}  // namespace stele::internal
