// Tests that every file system behaves the same: the operating system's, the one in memory, and the
// one that crashes.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/file_names.h"
#include "io/file_system.h"
#include "io/mem_file_system.h"
#include "support/crash_fs/crash_file_system.h"

namespace stele::internal {
namespace {

enum class Which { kPosix, kMem, kCrash };

void RemoveTree(FileSystem& fs, const std::string& directory) {
  const std::vector<std::string> names = fs.List(directory).value();
  for (const std::string& name : names) {
    const std::string path = JoinPath(directory, name);
    if (fs.Stat(path)->kind == FileKind::kDirectory) {
      RemoveTree(fs, path);
    } else {
      EXPECT_TRUE(fs.Remove(path).ok());
    }
  }
  EXPECT_TRUE(fs.RemoveDirectory(directory).ok());
}

class FileSystemConformance : public testing::TestWithParam<Which> {
 protected:
  void SetUp() override {
    switch (GetParam()) {
      case Which::kPosix: {
        std::string name = testing::TempDir() + "stele_io_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        directory_ = name;
        fs_ = PosixFileSystem();
        return;
      }
      case Which::kMem:
        owned_ = std::make_unique<MemFileSystem>();
        break;
      case Which::kCrash:
        owned_ = std::make_unique<CrashFileSystem>();
        break;
    }
    fs_ = owned_.get();
    directory_ = "/db";
    ASSERT_TRUE(fs_->CreateDirectory(directory_).ok());
  }
  void TearDown() override { RemoveTree(*fs_, directory_); }

  std::string Path(std::string_view name) const { return JoinPath(directory_, name); }
  std::unique_ptr<File> Open(std::string_view name, OpenMode mode) {
    absl::StatusOr<std::unique_ptr<File>> file = fs_->Open(Path(name), mode);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? std::move(*file) : nullptr;
  }
  void Put(std::string_view name, std::string_view bytes) {
    ASSERT_TRUE(Open(name, OpenMode::kCreate)->Write(0, bytes).ok());
  }
  std::string Get(std::string_view name) {
    const std::unique_ptr<File> file = Open(name, OpenMode::kRead);
    return file == nullptr ? "(missing)" : ReadFrom(*file, 0, 1 << 20);
  }
  static std::string ReadFrom(const File& file, uint64_t offset, size_t bytes) {
    std::string out(bytes, '?');
    const absl::StatusOr<size_t> got = file.Read(offset, bytes, out.data());
    EXPECT_TRUE(got.ok()) << got.status();
    out.resize(got.value_or(0));
    return out;
  }
  bool Exists(std::string_view name) { return fs_->Stat(Path(name)).ok(); }

  std::unique_ptr<FileSystem> owned_;
  FileSystem* fs_ = nullptr;
  std::string directory_;
};

TEST_P(FileSystemConformance, ReadsBackWhatWasWritten) {
  const std::unique_ptr<File> file = Open("a", OpenMode::kCreate);
  EXPECT_EQ(file->path(), Path("a"));
  ASSERT_TRUE(file->Write(0, "hello").ok());
  ASSERT_TRUE(file->Write(5, " world").ok());
  ASSERT_TRUE(file->Write(0, "J").ok());
  EXPECT_EQ(ReadFrom(*file, 0, 100), "Jello world");
  EXPECT_EQ(ReadFrom(*file, 6, 3), "wor");
  EXPECT_EQ(*file->Size(), 11u);
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_EQ(Get("a"), "Jello world");
}

TEST_P(FileSystemConformance, ReadIsShortOnlyAtTheEnd) {
  Put("a", "0123456789");
  const std::unique_ptr<File> file = Open("a", OpenMode::kRead);
  EXPECT_EQ(ReadFrom(*file, 8, 10), "89");
  EXPECT_EQ(ReadFrom(*file, 10, 1), "");
  EXPECT_EQ(ReadFrom(*file, 1000, 1), "");
  EXPECT_EQ(ReadFrom(*file, UINT64_MAX, 10), "");
  EXPECT_EQ(ReadFrom(*file, UINT64_MAX - 5, 10), "");
  EXPECT_EQ(ReadFrom(*file, INT64_MAX - 1, 10), "");
}

TEST_P(FileSystemConformance, GapReadsAsZerosAndLargeWritesCrossChunks) {
  const std::unique_ptr<File> file = Open("a", OpenMode::kCreate);
  std::string large(300'000, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 / 7);
  ASSERT_TRUE(file->Write(100'001, large).ok());
  EXPECT_EQ(*file->Size(), 400'001u);
  EXPECT_EQ(ReadFrom(*file, 0, 100'001), std::string(100'001, '\0'));
  EXPECT_EQ(ReadFrom(*file, 100'001, 1 << 20), large);
}

TEST_P(FileSystemConformance, WriteBeyondAnySizeIsRefused) {
  const std::unique_ptr<File> file = Open("a", OpenMode::kCreate);
  EXPECT_FALSE(file->Write(UINT64_MAX - 1, "xyz").ok());
  EXPECT_FALSE(file->Write(uint64_t{1} << 63, "xyz").ok());
  EXPECT_FALSE(file->Truncate(UINT64_MAX).ok());
  EXPECT_FALSE(file->Allocate(UINT64_MAX).ok());
  EXPECT_EQ(*file->Size(), 0u);
}

TEST_P(FileSystemConformance, TruncateCutsForGoodAndExtendsWithZeros) {
  const std::unique_ptr<File> file = Open("a", OpenMode::kCreate);
  ASSERT_TRUE(file->Write(0, "0123456789").ok());
  ASSERT_TRUE(file->Truncate(4).ok());
  EXPECT_EQ(*file->Size(), 4u);
  ASSERT_TRUE(file->Truncate(8).ok());
  EXPECT_EQ(ReadFrom(*file, 0, 100), std::string("0123\0\0\0\0", 8));
}

TEST_P(FileSystemConformance, AllocateGrowsButNeverShrinks) {
  const std::unique_ptr<File> file = Open("a", OpenMode::kCreate);
  ASSERT_TRUE(file->Write(0, "abc").ok());
  ASSERT_TRUE(file->Allocate(1000).ok());
  EXPECT_EQ(*file->Size(), 1000u);
  EXPECT_EQ(ReadFrom(*file, 0, 2000), "abc" + std::string(997, '\0'));
  ASSERT_TRUE(file->Allocate(10).ok());
  ASSERT_TRUE(file->Allocate(0).ok());
  EXPECT_EQ(*file->Size(), 1000u);
}

TEST_P(FileSystemConformance, OpenModes) {
  EXPECT_TRUE(absl::IsNotFound(fs_->Open(Path("a"), OpenMode::kRead).status()));
  EXPECT_TRUE(absl::IsNotFound(fs_->Open(Path("a"), OpenMode::kReadWrite).status()));
  EXPECT_FALSE(Exists("a"));
  Put("a", "abc");
  EXPECT_TRUE(absl::IsAlreadyExists(fs_->Open(Path("a"), OpenMode::kCreate).status()));
  EXPECT_EQ(Get("a"), "abc");
  ASSERT_TRUE(Open("a", OpenMode::kReadWrite)->Write(1, "X").ok());
  EXPECT_EQ(Get("a"), "aXc");
  const std::unique_ptr<File> reader = Open("a", OpenMode::kRead);
  EXPECT_FALSE(reader->Write(0, "Y").ok());
  EXPECT_FALSE(reader->Truncate(0).ok());
  EXPECT_FALSE(reader->Allocate(100).ok());
  EXPECT_EQ(Get("a"), "aXc");
  EXPECT_TRUE(absl::IsNotFound(fs_->Open(Path("none/a"), OpenMode::kCreate).status()));
}

TEST_P(FileSystemConformance, OpenRefusesDirectories) {
  EXPECT_EQ(fs_->Open(directory_, OpenMode::kRead).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(fs_->Open(directory_, OpenMode::kReadWrite).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_P(FileSystemConformance, RenameReplacesAtomically) {
  Put("a", "new");
  Put("b", "old");
  const std::unique_ptr<File> old = Open("b", OpenMode::kRead);
  ASSERT_TRUE(fs_->Rename(Path("a"), Path("b")).ok());
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(Get("b"), "new");
  EXPECT_EQ(ReadFrom(*old, 0, 10), "old");  // an open file keeps its contents
  EXPECT_TRUE(absl::IsNotFound(fs_->Rename(Path("a"), Path("c"))));
  ASSERT_TRUE(fs_->Rename(Path("b"), Path("b")).ok());
  EXPECT_EQ(Get("b"), "new");
}

TEST_P(FileSystemConformance, RenameMovesDirectories) {
  ASSERT_TRUE(fs_->CreateDirectory(Path("d")).ok());
  Put("d/f", "x");
  ASSERT_TRUE(fs_->Rename(Path("d"), Path("e")).ok());
  EXPECT_EQ(Get("e/f"), "x");
  EXPECT_FALSE(Exists("d"));
  EXPECT_FALSE(fs_->Rename(Path("e"), Path("e/inside")).ok());
  ASSERT_TRUE(fs_->CreateDirectory(Path("full")).ok());
  Put("full/f", "y");
  EXPECT_FALSE(fs_->Rename(Path("e"), Path("full")).ok());
  EXPECT_FALSE(fs_->Rename(Path("e/f"), Path("full")).ok());
  EXPECT_FALSE(fs_->Rename(Path("full"), Path("e/f")).ok());
}

TEST_P(FileSystemConformance, LinkIsASecondName) {
  Put("a", "abc");
  ASSERT_TRUE(fs_->Link(Path("a"), Path("b")).ok());
  ASSERT_TRUE(Open("b", OpenMode::kReadWrite)->Write(0, "X").ok());
  EXPECT_EQ(Get("a"), "Xbc");
  ASSERT_TRUE(fs_->Remove(Path("a")).ok());
  EXPECT_EQ(Get("b"), "Xbc");
  Put("c", "");
  EXPECT_TRUE(absl::IsAlreadyExists(fs_->Link(Path("b"), Path("c"))));
  EXPECT_TRUE(absl::IsNotFound(fs_->Link(Path("none"), Path("d"))));
  // A rename between two names of one file keeps both names.
  ASSERT_TRUE(fs_->Link(Path("b"), Path("b2")).ok());
  ASSERT_TRUE(fs_->Rename(Path("b"), Path("b2")).ok());
  EXPECT_TRUE(Exists("b"));
}

TEST_P(FileSystemConformance, RemoveLeavesOpenFilesUsable) {
  Put("a", "abc");
  const std::unique_ptr<File> file = Open("a", OpenMode::kReadWrite);
  ASSERT_TRUE(fs_->Remove(Path("a")).ok());
  EXPECT_TRUE(absl::IsNotFound(fs_->Remove(Path("a"))));
  ASSERT_TRUE(file->Write(3, "def").ok());
  EXPECT_EQ(ReadFrom(*file, 0, 10), "abcdef");
  EXPECT_FALSE(Exists("a"));
}

TEST_P(FileSystemConformance, Directories) {
  ASSERT_TRUE(fs_->CreateDirectory(Path("d")).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(fs_->CreateDirectory(Path("d"))));
  EXPECT_TRUE(absl::IsNotFound(fs_->CreateDirectory(Path("x/y"))));
  Put("d/f", "");
  EXPECT_FALSE(fs_->RemoveDirectory(Path("d")).ok());
  EXPECT_FALSE(fs_->Remove(Path("d")).ok());
  EXPECT_TRUE(fs_->SyncDirectory(Path("d")).ok());
  EXPECT_TRUE(absl::IsNotFound(fs_->SyncDirectory(Path("none"))));
  EXPECT_FALSE(fs_->SyncDirectory(Path("d/f")).ok());
  EXPECT_FALSE(fs_->RemoveDirectory(Path("d/f")).ok());
  EXPECT_FALSE(fs_->CreateDirectory(Path("d/f/g")).ok());
  ASSERT_TRUE(fs_->Remove(Path("d/f")).ok());
  EXPECT_TRUE(fs_->RemoveDirectory(Path("d")).ok());
  EXPECT_TRUE(absl::IsNotFound(fs_->RemoveDirectory(Path("d"))));
}

TEST_P(FileSystemConformance, ListIsSorted) {
  for (const char* name : {"c", "a", "b.sst", "a.log"}) Put(name, "");
  ASSERT_TRUE(fs_->CreateDirectory(Path("bb")).ok());
  EXPECT_EQ(*fs_->List(directory_), (std::vector<std::string>{"a", "a.log", "b.sst", "bb", "c"}));
  EXPECT_TRUE(absl::IsNotFound(fs_->List(Path("none")).status()));
  EXPECT_FALSE(fs_->List(Path("a")).ok());
}

TEST_P(FileSystemConformance, Stat) {
  Put("a", "abc");
  EXPECT_EQ(fs_->Stat(Path("a"))->kind, FileKind::kFile);
  EXPECT_EQ(fs_->Stat(Path("a"))->bytes, 3u);
  EXPECT_EQ(fs_->Stat(directory_)->kind, FileKind::kDirectory);
  EXPECT_TRUE(absl::IsNotFound(fs_->Stat(Path("none")).status()));
}

TEST_P(FileSystemConformance, ErrorsNameTheCallAndThePath) {
  const std::string message(fs_->Open(Path("none"), OpenMode::kRead).status().message());
  EXPECT_NE(message.find("open"), std::string::npos) << message;
  EXPECT_NE(message.find(Path("none")), std::string::npos) << message;
}

TEST_P(FileSystemConformance, LockRefusesASecondHolderAndSaysWho) {
  absl::StatusOr<std::unique_ptr<FileLock>> first =
      fs_->Lock(Path("LOCK"), LockMode::kExclusive, "pid 17 on host a");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Get("LOCK"), "pid 17 on host a");
  for (const LockMode mode : {LockMode::kExclusive, LockMode::kShared}) {
    const absl::Status refused = fs_->Lock(Path("LOCK"), mode, "pid 18").status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(refused.message()).find("pid 17 on host a"), std::string::npos)
        << refused;
  }
  EXPECT_EQ(Get("LOCK"), "pid 17 on host a");  // the processes that lost the race wrote nothing
  first->reset();
  absl::StatusOr<std::unique_ptr<FileLock>> second =
      fs_->Lock(Path("LOCK"), LockMode::kExclusive, "pid 9");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Get("LOCK"), "pid 9");
}

TEST_P(FileSystemConformance, SharedLocksAdmitEachOtherAndNoWriter) {
  // Released at once; its text remains.
  ASSERT_TRUE(fs_->Lock(Path("LOCK"), LockMode::kExclusive, "pid 17").ok());
  absl::StatusOr<std::unique_ptr<FileLock>> first =
      fs_->Lock(Path("LOCK"), LockMode::kShared, "reader");
  absl::StatusOr<std::unique_ptr<FileLock>> second =
      fs_->Lock(Path("LOCK"), LockMode::kShared, "reader");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto refused_message = [&] {
    return std::string(fs_->Lock(Path("LOCK"), LockMode::kExclusive, "w").status().message());
  };
  EXPECT_NE(refused_message().find("opened read-only"), std::string::npos) << refused_message();
  EXPECT_EQ(refused_message().find("pid"), std::string::npos) << refused_message();
  first->reset();
  EXPECT_NE(refused_message().find("opened read-only"), std::string::npos) << refused_message();
  second->reset();
  EXPECT_TRUE(fs_->Lock(Path("LOCK"), LockMode::kExclusive, "w").ok());
}

TEST_P(FileSystemConformance, LockFollowsTheFileNotTheName) {
  ASSERT_TRUE(fs_->CreateDirectory(Path("d")).ok());
  absl::StatusOr<std::unique_ptr<FileLock>> held =
      fs_->Lock(Path("d/LOCK"), LockMode::kExclusive, "me");
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(fs_->Lock(Path("./d//LOCK"), LockMode::kExclusive, "other").ok());
  ASSERT_TRUE(fs_->Rename(Path("d"), Path("e")).ok());
  EXPECT_FALSE(fs_->Lock(Path("e/LOCK"), LockMode::kExclusive, "other").ok());
}

TEST_P(FileSystemConformance, RacingLockersHaveOneWinner) {
  constexpr int kRounds = 50;
  constexpr int kThreads = 4;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<FileLock>> won(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        absl::StatusOr<std::unique_ptr<FileLock>> lock =
            fs_->Lock(Path("LOCK"), LockMode::kExclusive, "racer");
        if (lock.ok()) won[i] = std::move(*lock);
      });
    }
    for (std::thread& thread : threads) thread.join();
    int winner_count = 0;
    for (const auto& lock : won) winner_count += lock != nullptr;
    ASSERT_EQ(winner_count, 1);
  }
}

TEST_P(FileSystemConformance, ReadersRunOffloadedAWriter) {
  // Every block of the file is written once, front to back. A reader that sees a size must see the
  // bytes below it.
  constexpr size_t kBlockBytes = 1000;
  constexpr int kBlocks = 300;
  const std::unique_ptr<File> file = Open("a", OpenMode::kCreate);
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      uint64_t size = 0;
      while (size < kBlocks * kBlockBytes) {
        size = file->Size().value_or(0) / kBlockBytes * kBlockBytes;
        if (size == 0) continue;
        const std::string block = ReadFrom(*file, size - kBlockBytes, kBlockBytes);
        ASSERT_EQ(block.size(), kBlockBytes);
        if (GetParam() != Which::kPosix) {  // POSIX grows a file and fills it in two steps
          ASSERT_EQ(block, std::string(kBlockBytes, 'x'));
        }
      }
    });
  }
  for (int i = 0; i < kBlocks; ++i) {
    EXPECT_TRUE(file->Write(i * kBlockBytes, std::string(kBlockBytes, 'x')).ok());
    if (i % 50 == 0) {
      EXPECT_TRUE(file->Sync().ok());
    }
  }
  for (std::thread& reader : readers) reader.join();
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemConformance,
                         testing::Values(Which::kPosix, Which::kMem, Which::kCrash),
                         [](const testing::TestParamInfo<Which>& info) -> std::string {
                           switch (info.param) {
                             case Which::kPosix:
                               return "Posix";
                             case Which::kMem:
                               return "Mem";
                             default:
                               return "Crash";
                           }
                         });

}  // namespace
}  // namespace stele::internal
