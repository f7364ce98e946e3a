// Tests FilePool: the bound, which file is closed for another, which files are never closed, and
// late reads.
#include "io/file_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "io/mem_file_system.h"

namespace stele::internal {
namespace {

// Files "/0", "/1", ... whose contents are their names, and the set of open ones.
class FilePoolTest : public testing::Test {
 protected:
  // A file that the pool opens. It records when it is closed, and runs `during` in the middle of a
  // read.
  class Watched final : public File {
   public:
    Watched(FilePoolTest* test, std::unique_ptr<File> file) : test_(*test), file_(std::move(file)) {
      Count(1);
    }
    ~Watched() override { Count(-1); }
    absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
      if (test_.during_) test_.during_();
      return file_->Read(offset, bytes, out);
    }
    absl::Status Write(uint64_t offset, std::string_view bytes) override {
      return file_->Write(offset, bytes);
    }
    absl::Status Sync() override { return file_->Sync(); }
    absl::Status Truncate(uint64_t bytes) override { return file_->Truncate(bytes); }
    absl::Status Allocate(uint64_t bytes) override { return file_->Allocate(bytes); }
    absl::StatusOr<uint64_t> Size() const override { return file_->Size(); }
    const std::string& path() const override { return file_->path(); }

   private:
    void Count(int change) {
      MutexLock lock(test_.mutex_);
      test_.open_[path()] += change;
      test_.open_count_ += change;
      test_.open_count_max_ = std::max(test_.open_count_max_, test_.open_count_);
    }
    FilePoolTest& test_;
    const std::unique_ptr<File> file_;
  };

  std::unique_ptr<File> OpenFile(FilePool& pool, int number) {
    const std::string path = "/" + std::to_string(number);
    if (absl::StatusOr<std::unique_ptr<File>> made = files_.Open(path, OpenMode::kCreate);
        made.ok()) {
      EXPECT_EQ((*made)->Write(0, path), absl::OkStatus());
    }
    absl::StatusOr<std::unique_ptr<File>> file =
        pool.Open([this, path]() -> absl::StatusOr<std::unique_ptr<File>> {
          if (fails_) return Unavailable("not now");
          STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> opened, files_.Open(path, OpenMode::kRead));
          return std::make_unique<Watched>(this, std::move(opened));
        });
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  static absl::Status Check(const File& file) {
    std::string bytes(16, '?');
    STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(0, bytes.size(), bytes.data()));
    bytes.resize(got);
    EXPECT_EQ(bytes, file.path());
    return absl::OkStatus();
  }
  bool IsOpen(int number) {
    MutexLock lock(mutex_);
    return open_["/" + std::to_string(number)] > 0;
  }
  int open_count() {
    MutexLock lock(mutex_);
    return open_count_;
  }

  MemFileSystem files_;
  bool fails_ = false;
  std::function<void()> during_;
  Mutex mutex_;
  std::map<std::string, int> open_ ABSL_GUARDED_BY(mutex_);
  int open_count_ ABSL_GUARDED_BY(mutex_) = 0;
  int open_count_max_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(FilePoolTest, NoMoreThanTheBoundAreOpenAndAllAreRead) {
  size_t bound = 3;
  FilePool pool([&bound] { return bound; });
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 10; ++i) {
    files.push_back(OpenFile(pool, i));
    EXPECT_EQ(files.back()->path(), "/" + std::to_string(i));
    EXPECT_LE(open_count(), 3);
  }
  for (int round = 0; round < 3; ++round) {
    for (const auto& file : files) {
      EXPECT_EQ(Check(*file), absl::OkStatus());
      EXPECT_EQ(file->Size().value_or(0), 2u);
      EXPECT_EQ(open_count(), 3);
    }
  }
  EXPECT_EQ(pool.open_count(), 3u);
  bound = 1;
  EXPECT_EQ(Check(*files[0]), absl::OkStatus());
  EXPECT_EQ(open_count(), 1) << "a bound that fell is kept from the next opening on";
  files.clear();
  EXPECT_EQ(open_count(), 0);
  EXPECT_EQ(pool.open_count(), 0u);
}

TEST_F(FilePoolTest, WhatIsReadAllTheTimeStaysOpen) {
  FilePool pool([] { return 3; });
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 8; ++i) files.push_back(OpenFile(pool, i));
  EXPECT_EQ(Check(*files[0]), absl::OkStatus());
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(Check(*files[0]), absl::OkStatus());
    EXPECT_TRUE(IsOpen(0));
    EXPECT_EQ(Check(*files[1 + i % 7]), absl::OkStatus());
    EXPECT_TRUE(IsOpen(0)) << i;
  }
}

TEST_F(FilePoolTest, WhoIsBeingReadIsNotClosed) {
  FilePool pool([] { return 1; });
  const std::unique_ptr<File> first = OpenFile(pool, 1);
  const std::unique_ptr<File> second = OpenFile(pool, 2);
  EXPECT_FALSE(IsOpen(1));
  int depth = 0;
  during_ = [&] {
    if (depth++ > 0) return;
    EXPECT_TRUE(IsOpen(1));
    EXPECT_FALSE(pool.CloseOne());
    EXPECT_EQ(Check(*second), absl::OkStatus()) << "one more than the bound";
    EXPECT_TRUE(IsOpen(1) && IsOpen(2));
    EXPECT_TRUE(pool.CloseOne());
    EXPECT_TRUE(IsOpen(1) && !IsOpen(2));
  };
  EXPECT_EQ(Check(*first), absl::OkStatus());
  EXPECT_EQ(depth, 2);
  during_ = nullptr;
  EXPECT_TRUE(pool.CloseOne());
  EXPECT_FALSE(pool.CloseOne());
  EXPECT_EQ(Check(*first), absl::OkStatus());
}

TEST_F(FilePoolTest, AFailureToOpenIsThatReadsAlone) {
  FilePool pool([] { return 1; });
  const std::unique_ptr<File> first = OpenFile(pool, 1);
  const std::unique_ptr<File> second = OpenFile(pool, 2);
  fails_ = true;
  EXPECT_TRUE(absl::IsUnavailable(Check(*first)));
  EXPECT_TRUE(absl::IsUnavailable(first->Size().status()));
  EXPECT_EQ(pool.open_count(), 0u);
  fails_ = false;
  EXPECT_EQ(Check(*first), absl::OkStatus());
  ASSERT_EQ(files_.Remove("/2"), absl::OkStatus());
  const absl::Status gone = Check(*second);
  EXPECT_TRUE(absl::IsDataLoss(gone)) << gone;
  EXPECT_EQ(gone.message().substr(0, 4), "2 @0") << gone;
}

TEST_F(FilePoolTest, NothingIsWrittenThroughIt) {
  FilePool pool([] { return 1; });
  const std::unique_ptr<File> file = OpenFile(pool, 1);
  EXPECT_FALSE(file->Write(0, "x").ok());
  EXPECT_FALSE(file->Sync().ok());
  EXPECT_FALSE(file->Truncate(0).ok());
  EXPECT_FALSE(file->Allocate(9).ok());
  EXPECT_EQ(Check(*file), absl::OkStatus());
}

// Also for ThreadSanitizer: reads, while other threads remove, reopen and close the files.
TEST_F(FilePoolTest, ThreadsReadWhatOthersTakeAway) {
  constexpr int kThreads = 4;
  constexpr int kBound = 2;
  FilePool pool([] { return kBound; });
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 6; ++i) files.push_back(OpenFile(pool, i));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t) + 1);
      const std::unique_ptr<File>* own = nullptr;
      std::unique_ptr<File> kept;
      for (int i = 0; i < 3000; ++i) {
        if (i % 16 == 0) {
          kept = OpenFile(pool, 100 + t);
          own = &kept;
        }
        EXPECT_EQ(Check(*files[random.Below(files.size())]), absl::OkStatus());
        EXPECT_EQ(Check(**own), absl::OkStatus());
        if (random.OneIn(50)) pool.CloseOne();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.open_count(), static_cast<size_t>(kBound + kThreads));
  EXPECT_EQ(static_cast<size_t>(open_count()), pool.open_count());
  files.clear();
  EXPECT_EQ(open_count(), 0);
  MutexLock lock(mutex_);
  EXPECT_LE(open_count_max_, kBound + 2 * kThreads)
      << "those being read, and those on their way to be closed";
}

}  // namespace
}  // namespace stele::internal
