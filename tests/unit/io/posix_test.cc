// Tests behavior of the operating system's file system: links and pipes in the path, other
// processes, fork.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "base/status.h"
#include "io/file_names.h"
#include "io/file_system.h"
#include "io/posix_descriptor.h"
#include "support/io_descriptor_limit.h"

namespace stele::internal {
namespace {

class PosixTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "stele_posix_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string Path(std::string_view name) const { return JoinPath(directory_, name); }

  FileSystem& fs_ = *PosixFileSystem();
  std::string directory_;
};

// Sends messages from one process to another. Closing the pipe is a message too.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    CloseReader();
    CloseWriter();
  }
  void Send() { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  // Returns true for a message, and false when no writer is left.
  bool Receive() {
    char c;
    return ::read(ends_[0], &c, 1) == 1;
  }
  void SendPid() {
    const pid_t pid = ::getpid();
    EXPECT_EQ(::write(ends_[1], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  }
  // Returns -1 when no writer is left.
  pid_t ReceivePid() {
    CloseWriter();
    pid_t pid = -1;
    return ::read(ends_[0], &pid, sizeof pid) == static_cast<ssize_t>(sizeof pid) ? pid : -1;
  }
  void CloseReader() { Close(&ends_[0]); }
  void CloseWriter() { Close(&ends_[1]); }

 private:
  static void Close(int* fd) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
  int ends_[2] = {-1, -1};
};

pid_t Start(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  EXPECT_GT(pid, 0);
  return pid;
}
int Wait(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
int RunInChild(const std::function<int()>& body) { return Wait(Start(body)); }

bool Contains(const absl::Status& status, std::string_view text) {
  return std::string(status.message()).find(text) != std::string::npos;
}

TEST_F(PosixTest, FreeBytesAreKnownOfADirectoryThatIsThere) {
  const absl::StatusOr<uint64_t> free_bytes = fs_.FreeBytes(directory_);
  ASSERT_EQ(free_bytes.status(), absl::OkStatus());
  EXPECT_GT(*free_bytes, 0u);
  EXPECT_TRUE(absl::IsNotFound(fs_.FreeBytes(Path("missing")).status()));
  const std::unique_ptr<FileSystem> held = *fs_.PinDirectory(directory_);
  ASSERT_EQ(::rename(directory_.c_str(), (directory_ + "_moved").c_str()), 0);
  directory_ += "_moved";
  EXPECT_EQ(held->FreeBytes(directory_.substr(0, directory_.size() - 6)).status(), absl::OkStatus())
      << "it is the held one's";
}

TEST_F(PosixTest, OpenRefusesWhatIsNotARegularFile) {
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  { ASSERT_TRUE(fs_.Open(Path("file"), OpenMode::kCreate).ok()); }
  ASSERT_EQ(::symlink(Path("file").c_str(), Path("link").c_str()), 0);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kReadWrite}) {
    for (const std::string& path : {Path("fifo"), Path("link"), std::string("/dev/null")}) {
      EXPECT_EQ(fs_.Open(path, mode).status().code(), absl::StatusCode::kFailedPrecondition)
          << path;
    }
  }
  EXPECT_TRUE(absl::IsAlreadyExists(fs_.Open(Path("link"), OpenMode::kCreate).status()));
  EXPECT_EQ(fs_.Lock(Path("link"), LockMode::kExclusive, "x").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(fs_.Stat(Path("link"))->kind, FileKind::kOther);
  EXPECT_EQ(fs_.Stat(Path("fifo"))->kind, FileKind::kOther);
}

TEST_F(PosixTest, RefusalsLeakNoDescriptors) {
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_.Lock(Path("LOCK"), LockMode::kExclusive, "me");
  ASSERT_TRUE(held.ok());
  const int before = OpenDescriptorCount();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(fs_.Lock(Path("LOCK"), LockMode::kShared, "other").ok());
    EXPECT_FALSE(fs_.Open("/dev/null", OpenMode::kRead).ok());
    EXPECT_TRUE(fs_.SyncDirectory(directory_).ok());
    EXPECT_TRUE(fs_.List(directory_).ok());
  }
  EXPECT_EQ(OpenDescriptorCount(), before);
  held->reset();
  EXPECT_EQ(OpenDescriptorCount(), before - 2) << "the lock file's, and the directory's";
}

TEST_F(PosixTest, DescriptorsDoNotReachOtherPrograms) {
  absl::StatusOr<std::unique_ptr<File>> file = fs_.Open(Path("file"), OpenMode::kCreate);
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_.Lock(Path("LOCK"), LockMode::kExclusive, "me");
  ASSERT_TRUE(file.ok() && held.ok());
  int ours = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error).string().rfind(directory_, 0) != 0)
      continue;
    ++ours;
    EXPECT_NE(::fcntl(std::stoi(entry.path().filename().string()), F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(ours, 3) << "the file's, the lock file's, and the directory's";
}

// Reads each file. Returns whether each contains its name.
bool AllAreThemselves(const std::vector<std::unique_ptr<File>>& files) {
  for (const std::unique_ptr<File>& file : files) {
    std::string bytes(file->path().size(), '?');
    if (file->Read(0, bytes.size(), bytes.data()).value_or(0) != bytes.size() ||
        bytes != file->path())
      return false;
  }
  return true;
}

TEST_F(PosixTest, HalfOfTheLimitIsForFilesThatAreOnlyRead) {
  const DescriptorLimit limit(32);
  const int before = OpenDescriptorCount();
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 100; ++i) {
    const std::string path = Path("file" + std::to_string(i));
    ASSERT_EQ(fs_.Open(path, OpenMode::kCreate).value()->Write(0, path), absl::OkStatus());
    absl::StatusOr<std::unique_ptr<File>> file = fs_.Open(path, OpenMode::kReadByName);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->path(), path);
    files.push_back(*std::move(file));
  }
  EXPECT_EQ(OpenDescriptorCount(), before + 16);
  EXPECT_TRUE(AllAreThemselves(files));
  EXPECT_EQ(OpenDescriptorCount(), before + 16);
  files.clear();
  EXPECT_EQ(OpenDescriptorCount(), before);
}

TEST_F(PosixTest, AtTheProcessesLimitFilesThatAreOnlyReadGiveWay) {
  const DescriptorLimit limit(32);
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 8; ++i) {
    const std::string path = Path("file" + std::to_string(i));
    ASSERT_EQ(fs_.Open(path, OpenMode::kCreate).value()->Write(0, path), absl::OkStatus());
    files.push_back(fs_.Open(path, OpenMode::kReadByName).value());
  }
  DescriptorHog hog;
  // Each of these in turn replaces a file.
  std::vector<std::unique_ptr<File>> held;
  held.push_back(fs_.Open(Path("new"), OpenMode::kCreate).value());
  held.push_back(fs_.Open(Path("new"), OpenMode::kReadWrite).value());
  auto lock = fs_.Lock(Path("LOCK"), LockMode::kExclusive, "me");
  EXPECT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(fs_.SyncDirectory(directory_), absl::OkStatus());
  EXPECT_EQ(fs_.List(directory_)->size(), 10u);
  EXPECT_TRUE(AllAreThemselves(files));
  hog.Take();
  while (PosixFilePool().CloseOne()) hog.Take();
  const absl::Status refused = fs_.Open(Path("another"), OpenMode::kCreate).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_TRUE(Contains(refused, "ulimit -n")) << refused;
  char c;
  EXPECT_TRUE(absl::IsResourceExhausted(files[0]->Read(0, 1, &c).status()));
  held.clear();
  EXPECT_TRUE(AllAreThemselves(files))
      << "a failure to open is forgotten when the next one goes well";
}

TEST_F(PosixTest, AHeldDirectoryIsTheSameByAnotherName) {
  const std::string database = Path("db");
  const std::string moved = Path("moved");
  ASSERT_EQ(fs_.CreateDirectory(database), absl::OkStatus());
  const std::unique_ptr<FileSystem> held = fs_.PinDirectory(database).value();
  ASSERT_EQ(held->Open(JoinPath(database, "file"), OpenMode::kCreate).value()->Write(0, "old"),
            absl::OkStatus());
  const std::unique_ptr<File> by_name =
      held->Open(JoinPath(database, "file"), OpenMode::kReadByName).value();
  ASSERT_EQ(fs_.Rename(database, moved), absl::OkStatus());
  ASSERT_EQ(fs_.CreateDirectory(database), absl::OkStatus());
  ASSERT_EQ(fs_.Open(JoinPath(database, "file"), OpenMode::kCreate).value()->Write(0, "new"),
            absl::OkStatus());

  while (PosixFilePool().CloseOne()) {
  }
  std::string bytes(3, '?');
  EXPECT_EQ(by_name->Read(0, 3, bytes.data()).value_or(0), 3u);
  EXPECT_EQ(bytes, "old");
  EXPECT_TRUE(held->Open(JoinPath(database, "made"), OpenMode::kCreate).ok());
  EXPECT_TRUE(held->Open(database + "//slashes", OpenMode::kCreate).ok());
  EXPECT_EQ(held->Rename(JoinPath(database, "made"), JoinPath(database, "renamed")),
            absl::OkStatus());
  EXPECT_EQ(held->Link(JoinPath(database, "renamed"), JoinPath(database, "linked")),
            absl::OkStatus());
  EXPECT_TRUE(held->Lock(JoinPath(database, "LOCK"), LockMode::kExclusive, "me").ok());
  EXPECT_EQ(held->CreateDirectory(JoinPath(database, "sub")), absl::OkStatus());
  EXPECT_EQ(held->RemoveDirectory(JoinPath(database, "sub")), absl::OkStatus());
  EXPECT_EQ(held->Remove(JoinPath(database, "file")), absl::OkStatus());
  EXPECT_EQ(held->SyncDirectory(database), absl::OkStatus());
  EXPECT_EQ(held->Stat(database)->kind, FileKind::kDirectory);
  const std::vector<std::string> here = {"LOCK", "renamed", "slashes"};
  EXPECT_EQ(held->List(database).value(), here);
  EXPECT_EQ(fs_.List(moved).value(), here);
  EXPECT_EQ(fs_.List(database).value(), (std::vector<std::string>{"file", "linked"}))
      << "where a link goes is no path of the held one";
  EXPECT_TRUE(held->Stat(Path("moved")).ok()) << "other paths are everybody's";
}

TEST_F(PosixTest, AllocateReservesBlocks) {
  absl::StatusOr<std::unique_ptr<File>> file = fs_.Open(Path("file"), OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Allocate(1 << 20).ok());
  struct stat info;
  ASSERT_EQ(::stat(Path("file").c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, 1 << 20);
}

// Regression: the signal SIGXFSZ ended the process.
TEST_F(PosixTest, AtTheLimitOfFileSizesCallsFailAsOnAFullDisk) {
  constexpr uint64_t kLimit = 64 << 10;
  std::unique_ptr<File> large = *fs_.Open(Path("large"), OpenMode::kCreate);
  ASSERT_EQ(large->Write(0, std::string(4 * kLimit, 'v')), absl::OkStatus());
  std::unique_ptr<File> file = *fs_.Open(Path("file"), OpenMode::kCreate);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{.rlim_cur = kLimit, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const absl::Status written = file->Write(0, std::string(kLimit, 'v'));
  const absl::Status refused[] = {file->Write(kLimit, "v"), file->Write(kLimit - 1, "vv"),
                                  file->Allocate(kLimit + 1), file->Truncate(kLimit + 1)};
  const absl::Status shrunk = large->Truncate(2 * kLimit);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(written, absl::OkStatus());
  for (const absl::Status& status : refused) EXPECT_TRUE(LacksSpace(status)) << status;
  EXPECT_EQ(shrunk, absl::OkStatus());
  EXPECT_EQ(*file->Size(), kLimit);
}

TEST_F(PosixTest, SignalOfTheFileSizeLimitIsIgnoredUnlessTheProgramHandlesIt) {
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGXFSZ, nullptr, &before), 0);
  EXPECT_EQ(before.sa_handler, SIG_IGN);  // by the creation of fs_
  const auto handler_after = [](void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    EXPECT_EQ(::sigaction(SIGXFSZ, &action, nullptr), 0);
    IgnoreFileSizeSignal();
    EXPECT_EQ(::sigaction(SIGXFSZ, nullptr, &action), 0);
    return action.sa_handler;
  };
  EXPECT_EQ(handler_after(SIG_DFL), SIG_IGN);
  void (*const own)(int) = [](int) {};
  EXPECT_EQ(handler_after(own), own);
  ASSERT_EQ(::sigaction(SIGXFSZ, &before, nullptr), 0);
}

TEST_F(PosixTest, WhoRemovesTheLockFileLetsNobodyIn) {
  auto held = fs_.Lock(Path("LOCK"), LockMode::kExclusive, "me");
  ASSERT_TRUE(held.ok()) << held.status();
  ASSERT_EQ(::unlink(Path("LOCK").c_str()), 0);
  for (const LockMode mode : {LockMode::kExclusive, LockMode::kShared}) {
    const absl::Status refused = fs_.Lock(Path("LOCK"), mode, "other").status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
    EXPECT_NE(refused.message().find("removed or replaced"), absl::string_view::npos) << refused;
  }
  held->reset();
  EXPECT_TRUE(fs_.Lock(Path("LOCK"), LockMode::kExclusive, "other").ok());
}

TEST_F(PosixTest, ChildOfAForkIsRefusedAndCannotReleaseTheParentsLock) {
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_.Lock(Path("LOCK"), LockMode::kExclusive, "the parent");
  ASSERT_TRUE(held.ok());
  const auto refused = [&] {
    const absl::Status status = fs_.Lock(Path("LOCK"), LockMode::kExclusive, "the child").status();
    return status.code() == absl::StatusCode::kFailedPrecondition && Contains(status, "the parent");
  };
  EXPECT_EQ(RunInChild([&] {
              if (!refused()) return 1;
              held->reset();  // the child's copy: releases nothing
              return refused() ? 0 : 2;
            }),
            0);
  EXPECT_EQ(RunInChild([&] { return refused() ? 0 : 1; }), 0);
  EXPECT_TRUE(refused());
}

TEST_F(PosixTest, ParentsReleaseFreesTheLockThoughAChildHasItsDescriptor) {
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_.Lock(Path("LOCK"), LockMode::kExclusive, "the parent");
  ASSERT_TRUE(held.ok());
  Pipe release;
  const pid_t child = Start([&] {
    release.CloseWriter();
    release.Receive();
    return 0;
  });
  held->reset();
  EXPECT_EQ(RunInChild([&] {
              return fs_.Lock(Path("LOCK"), LockMode::kExclusive, "another child").ok() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(fs_.Lock(Path("LOCK"), LockMode::kExclusive, "the parent").ok());
  release.CloseWriter();
  EXPECT_EQ(Wait(child), 0);
}

TEST_F(PosixTest, ChildMayLockOnceTheParentReleased) {
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_.Lock(Path("LOCK"), LockMode::kExclusive, "the parent");
  ASSERT_TRUE(held.ok());
  Pipe released;
  const pid_t child = Start([&] {
    released.CloseWriter();
    // The parent's table was copied while it held the lock; the copy must not matter here.
    released.Receive();
    absl::StatusOr<std::unique_ptr<FileLock>> own =
        fs_.Lock(Path("LOCK"), LockMode::kExclusive, "the child");
    if (!own.ok()) return 1;
    held->reset();
    return fs_.Lock(Path("LOCK"), LockMode::kExclusive, "again").ok() ? 2 : 0;
  });
  held->reset();
  released.CloseWriter();
  EXPECT_EQ(Wait(child), 0);
}

TEST_F(PosixTest, KilledHolderLeavesNoLock) {
  Pipe locked;
  const pid_t child = Start([&] {
    absl::StatusOr<std::unique_ptr<FileLock>> held =
        fs_.Lock(Path("LOCK"), LockMode::kExclusive, "pid 4711");
    if (held.ok()) locked.Send();
    ::pause();
    return 0;
  });
  ASSERT_TRUE(locked.Receive());
  for (const LockMode mode : {LockMode::kExclusive, LockMode::kShared}) {
    const absl::Status refused = fs_.Lock(Path("LOCK"), mode, "me").status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(Contains(refused, "another process: pid 4711")) << refused;
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(Wait(child), -1);
  EXPECT_TRUE(fs_.Lock(Path("LOCK"), LockMode::kExclusive, "me").ok());
}

// A server is killed. A process that it had forked for other work survives.
TEST_F(PosixTest, AChildThatOutlivesAKilledHolderHoldsNothing) {
  ASSERT_TRUE(fs_.CreateDirectory(Path("other")).ok());
  for (const LockMode mode : {LockMode::kExclusive, LockMode::kShared}) {
    Pipe forked;
    const pid_t holder = Start([&] {
      absl::StatusOr<std::unique_ptr<FileLock>> held = fs_.Lock(Path("LOCK"), mode, "pid 4711");
      absl::StatusOr<std::unique_ptr<FileLock>> another =
          fs_.Lock(Path("other/LOCK"), mode, "pid 4711");
      if (!held.ok() || !another.ok()) return 1;
      Start([&] {
        ::alarm(120);  // in case the test ends before it kills this process
        forked.SendPid();
        ::pause();
        return 0;
      });
      ::pause();
      return 0;
    });
    const pid_t child = forked.ReceivePid();
    ASSERT_GT(child, 0);
    EXPECT_FALSE(fs_.Lock(Path("LOCK"), LockMode::kExclusive, "me").ok());
    ASSERT_EQ(::kill(holder, SIGKILL), 0);
    EXPECT_EQ(Wait(holder), -1);
    EXPECT_EQ(::kill(child, 0), 0) << "the child lives";
    for (const char* name : {"LOCK", "other/LOCK"}) {
      const absl::Status locked = fs_.Lock(Path(name), LockMode::kExclusive, "me").status();
      EXPECT_TRUE(locked.ok()) << locked;
    }
    ::kill(child, SIGKILL);
  }
}

TEST_F(PosixTest, AChildClosesTheParentsLockOnce) {
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_.Lock(Path("LOCK"), LockMode::kExclusive, "the parent");
  ASSERT_TRUE(held.ok());
  const int before = OpenDescriptorCount();
  EXPECT_EQ(RunInChild([&] {
              // The lock file's, and the directory's.
              if (OpenDescriptorCount() != before - 2) return 1;
              // They get the descriptors that became free.
              std::vector<std::unique_ptr<File>> files;
              for (const char* name : {"a", "b", "c"})
                files.push_back(*fs_.Open(Path(name), OpenMode::kCreate));
              held->reset();
              for (const std::unique_ptr<File>& file : files) {
                if (!file->Write(0, "bytes").ok()) return 2;
              }
              return 0;
            }),
            0);
  EXPECT_EQ(OpenDescriptorCount(), before);
  EXPECT_EQ(RunInChild(
                [&] { return fs_.Lock(Path("LOCK"), LockMode::kExclusive, "other").ok() ? 1 : 0; }),
            0);
}

TEST_F(PosixTest, WriterRefusedByReadersElsewhereIsToldWhoTheyAre) {
  ASSERT_TRUE(fs_.Lock(Path("LOCK"), LockMode::kExclusive, "pid 4711").ok());
  Pipe locked;
  const pid_t child = Start([&] {
    absl::StatusOr<std::unique_ptr<FileLock>> held =
        fs_.Lock(Path("LOCK"), LockMode::kShared, "reader");
    if (held.ok()) locked.Send();
    ::pause();
    return 0;
  });
  ASSERT_TRUE(locked.Receive());
  const absl::Status refused = fs_.Lock(Path("LOCK"), LockMode::kExclusive, "me").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Contains(refused, "opened read-only by other processes")) << refused;
  EXPECT_FALSE(Contains(refused, "4711")) << refused;
  // Some containers hide the kernel's list of locks.
  std::ifstream file("/proc/locks");
  const std::string locks((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const bool are_locks_shown = locks.find(fmt::format(" {} ", child)) != std::string::npos;
  EXPECT_EQ(Contains(refused, fmt::format("pid {} (", child)), are_locks_shown) << refused;
  EXPECT_TRUE(fs_.Lock(Path("LOCK"), LockMode::kShared, "me").ok());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  Wait(child);
}

TEST_F(PosixTest, SharedLockWorksOnAFileThatMayOnlyBeRead) {
  { ASSERT_TRUE(fs_.Open(Path("LOCK"), OpenMode::kCreate).ok()); }
  ASSERT_EQ(::chmod(Path("LOCK").c_str(), 0444), 0);
  EXPECT_TRUE(fs_.Lock(Path("LOCK"), LockMode::kShared, "reader").ok());
}

TEST_F(PosixTest, ReplacedLockFileIsNotMistakenForTheLock) {
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_.Lock(Path("LOCK"), LockMode::kExclusive, "first");
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(fs_.Rename(Path("LOCK"), Path("moved")).ok());
  EXPECT_FALSE(fs_.Lock(Path("moved"), LockMode::kExclusive, "second").ok());
  EXPECT_FALSE(fs_.Lock(Path("LOCK"), LockMode::kExclusive, "second").ok());
  held->reset();
  EXPECT_TRUE(fs_.Lock(Path("LOCK"), LockMode::kExclusive, "second").ok());
}

TEST_F(PosixTest, RacingProcessesNeverHoldTheLockTogether) {
  constexpr int kProcesses = 4;
  constexpr int kWinsEach = 50;
  pid_t children[kProcesses];
  for (pid_t& child : children) {
    child = Start([&] {
      for (int wins = 0; wins < kWinsEach;) {
        absl::StatusOr<std::unique_ptr<FileLock>> held =
            fs_.Lock(Path("LOCK"), LockMode::kExclusive, "racer");
        if (!held.ok()) {
          if (held.status().code() != absl::StatusCode::kFailedPrecondition) return 1;
          continue;
        }
        // Another process has the lock.
        if (!fs_.Open(Path("inside"), OpenMode::kCreate).ok()) return 2;
        if (!fs_.Remove(Path("inside")).ok()) return 3;
        ++wins;
      }
      return 0;
    });
  }
  for (const pid_t child : children) EXPECT_EQ(Wait(child), 0);
}

}  // namespace
}  // namespace stele::internal
