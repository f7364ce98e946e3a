// Tests the prefetch of row groups: it changes no result, whichever thread decodes and when. Errors
// and statistics count only when the cursor reaches the group.
#include "sstable/read/row_group_prefetch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "base/buffer.h"
#include "io/mem_file_system.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

// Runs its work when the test calls it.
class ManualRunner : public PrefetchRunner {
 public:
  enum class Mode : uint8_t { kNever, kAtOnce, kDeclines, kSometimes, kForked };
  explicit ManualRunner(Mode mode) : mode_(mode) {}

  bool Run(std::shared_ptr<PrefetchTask> task) override {
    if (mode_ == Mode::kDeclines) return false;
    ++taken_count_;
    if (mode_ == Mode::kAtOnce) task->Run();
    if (mode_ == Mode::kSometimes) {
      waiting_.push_back(std::move(task));
      while (!waiting_.empty() && random_.OneIn(2)) RunOne(random_.Below(waiting_.size()));
    } else if (mode_ != Mode::kAtOnce) {
      waiting_.push_back(std::move(task));
    }
    return true;
  }
  bool IsOfThisProcess() const override { return mode_ != Mode::kForked; }

  void RunAll() {
    while (!waiting_.empty()) RunOne(0);
  }
  size_t taken_count() const { return taken_count_; }
  std::deque<std::shared_ptr<PrefetchTask>>& waiting() { return waiting_; }

 private:
  void RunOne(size_t position) {
    const std::shared_ptr<PrefetchTask> task = waiting_[position];
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(position));
    task->Run();
  }

  const Mode mode_;
  std::deque<std::shared_ptr<PrefetchTask>> waiting_;
  size_t taken_count_ = 0;
  Random random_{5};
};

using Mode = ManualRunner::Mode;

class RowGroupPrefetchTest : public testing::Test {
 protected:
  void Write(const RowShape& shape, uint32_t row_group_bytes) {
    shape_ = shape;
    rows_ = RandomRows(3, shape);
    const auto summary =
        WriteSstable(&file_system_, "table", rows_,
                     OptionsForTest(shape.family_count, Codec::kZstd, row_group_bytes));
    ASSERT_TRUE(summary.ok()) << summary.status();
    Open();
  }
  void Open() {
    const auto reader = OpenSstableFile(&file_system_, "table", nullptr, &cache_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *reader;
  }

  std::unique_ptr<CellCursor> NewCursor(PrefetchRunner* prefetch_runner,
                                        Direction direction = Direction::kForward,
                                        bool fill_cache = false) {
    CursorOptions options;
    options.direction = direction;
    options.families = map_.empty() ? AllFamilies(shape_.family_count) : map_;
    options.fill_cache = fill_cache;
    options.stats = &stats_;
    options.prefetch_runner = prefetch_runner;
    return reader_->NewCursor(options);
  }
  std::vector<OwnedRow> ReadAll(PrefetchRunner* prefetch_runner,
                                Direction direction = Direction::kForward,
                                bool fill_cache = false) {
    const auto cursor = NewCursor(prefetch_runner, direction, fill_cache);
    std::vector<OwnedRow> rows;
    if (cursor->SeekToEdge()) rows = ReadRows(cursor.get());
    EXPECT_TRUE(cursor->status().ok()) << cursor->status();
    return rows;
  }

  static constexpr RowShape kManyGroups{.row_count = 700, .family_count = 3, .cells_per_row = 5};

  MemFileSystem file_system_;
  BlockCache cache_{8 << 20};
  RowShape shape_;
  std::vector<OwnedRow> rows_;
  std::shared_ptr<SstableReader> reader_;
  FamilyMap map_;
  CursorStats stats_;
};

TEST_F(RowGroupPrefetchTest, RowsAreTheSameWhoeverDecodesThem) {
  const RowShape shapes[] = {
      kManyGroups,
      // Rows that span many row groups.
      {.row_count = 4, .family_count = 3, .cells_per_row = 900, .qualifier_count = 0},
      {.row_count = 80, .family_count = 4, .cells_per_row = 30, .qualifier_count = 40},
      // Two sections.
      {.row_count = 400, .family_count = 3, .value_bytes = 600, .narrow_family_count = 1},
  };
  for (const RowShape& shape : shapes) {
    ASSERT_NO_FATAL_FAILURE(Write(shape, 400));
    for (const bool is_part_wanted : {false, true}) {
      map_ = AllFamilies(shape.family_count);
      if (is_part_wanted) map_[1] = kSkippedFamily;
      for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
        const std::vector<OwnedRow> expected = ReadAll(nullptr, direction);
        ASSERT_FALSE(expected.empty());
        for (const Mode mode :
             {Mode::kNever, Mode::kAtOnce, Mode::kDeclines, Mode::kSometimes, Mode::kForked}) {
          ManualRunner runner(mode);
          ASSERT_EQ(ReadAll(&runner, direction), expected) << static_cast<int>(mode);
          if (shape.row_count == kManyGroups.row_count) {
            EXPECT_EQ(runner.taken_count() == 0, mode == Mode::kDeclines);
          }
        }
      }
    }
    reader_.reset();
    ASSERT_TRUE(file_system_.Remove("table").ok());
  }
}

TEST_F(RowGroupPrefetchTest, ShortReadsAskNobody) {
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 400));
  ManualRunner runner(Mode::kAtOnce);
  const auto cursor = NewCursor(&runner);
  Random random(9);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(cursor->SeekRow(rows_[random.Below(rows_.size() - 20)].row_key));
    for (int step = 0; step < 6; ++step) ASSERT_TRUE(cursor->NextRow());
  }
  EXPECT_EQ(runner.taken_count(), 0u);
}

TEST_F(RowGroupPrefetchTest, WhatIsCachedIsNotHandedOver) {
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 400));
  ManualRunner runner(Mode::kAtOnce);
  EXPECT_EQ(ReadAll(&runner, Direction::kForward, /*fill_cache=*/true), rows_);
  const size_t taken_count = runner.taken_count();
  EXPECT_GT(taken_count, 0u);
  const uint64_t decoded = stats_.bytes_decoded;
  EXPECT_EQ(ReadAll(&runner), rows_);
  EXPECT_EQ(runner.taken_count(), taken_count);
  EXPECT_EQ(stats_.bytes_decoded, decoded) << "what was decoded ahead was put into the cache";
}

TEST_F(RowGroupPrefetchTest, ItCountsWhatItReads) {
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 400));
  ReadAll(nullptr);
  const CursorStats alone = std::exchange(stats_, {});
  ManualRunner runner(Mode::kAtOnce);
  ReadAll(&runner);
  EXPECT_EQ(stats_.blocks, alone.blocks);
  EXPECT_EQ(stats_.bytes_decoded, alone.bytes_decoded);
}

TEST_F(RowGroupPrefetchTest, AReaderThatEndsWastesLessThanItUsed) {
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 400));
  for (size_t row_count = 60; row_count < rows_.size(); row_count += 97) {
    size_t decoded[2] = {};
    for (const bool is_ahead : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(Open());  // with an empty cache
      ManualRunner runner(is_ahead ? Mode::kAtOnce : Mode::kDeclines);
      const auto cursor = NewCursor(&runner, Direction::kForward, /*fill_cache=*/true);
      ASSERT_TRUE(cursor->SeekToEdge());
      for (size_t i = 1; i < row_count; ++i) ASSERT_TRUE(cursor->NextRow());
      decoded[is_ahead ? 1 : 0] = cache_.bytes();
    }
    EXPECT_LT(decoded[1], 2 * decoded[0]);
  }
}

TEST_F(RowGroupPrefetchTest, TasksOutliveTheCursorAndTheReader) {
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 400));
  for (const bool is_begun : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(Open());
    ManualRunner runner(Mode::kNever);
    auto cursor = NewCursor(&runner);
    ASSERT_TRUE(cursor->SeekToEdge());
    while (runner.waiting().size() < 2) ASSERT_TRUE(cursor->NextRow());
    std::thread other;
    if (is_begun) other = std::thread([&runner] { runner.RunAll(); });
    cursor.reset();
    const std::weak_ptr<SstableReader> file = reader_;
    reader_.reset();
    if (is_begun) {
      other.join();
    } else {
      EXPECT_FALSE(file.expired());
      runner.RunAll();  // cancelled: nothing is read
    }
    EXPECT_TRUE(file.expired());
  }
}

// Two threads run the first work they find, concurrently with the cursor.
TEST_F(RowGroupPrefetchTest, RowsAreTheSameBesideThreads) {
  class Threads : public PrefetchRunner {
   public:
    Threads() {
      for (std::thread& thread : threads_) thread = std::thread([this] { RunThread(); });
    }
    ~Threads() override {
      {
        MutexLock lock(mutex_);
        is_over_ = true;
        changed_.SignalAll();
      }
      for (std::thread& thread : threads_) thread.join();
    }
    bool Run(std::shared_ptr<PrefetchTask> task) override {
      MutexLock lock(mutex_);
      waiting_.push_back(std::move(task));
      changed_.Signal();
      return true;
    }
    bool IsOfThisProcess() const override { return true; }

   private:
    void RunThread() {
      while (true) {
        std::shared_ptr<PrefetchTask> task;
        {
          MutexLock lock(mutex_);
          while (waiting_.empty() && !is_over_) changed_.Wait(mutex_);
          if (is_over_) return;
          task = std::move(waiting_.front());
          waiting_.pop_front();
        }
        task->Run();
      }
    }
    Mutex mutex_;
    CondVar changed_;
    std::deque<std::shared_ptr<PrefetchTask>> waiting_ ABSL_GUARDED_BY(mutex_);
    bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
    std::thread threads_[2];
  };
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 1000));
  std::vector<OwnedRow> reversed = rows_;
  std::reverse(reversed.begin(), reversed.end());
  Threads threads;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(ReadAll(&threads), rows_);
    EXPECT_EQ(ReadAll(&threads, Direction::kReverse), reversed);
    const auto left = NewCursor(&threads);  // abandoned in the middle
    ASSERT_TRUE(left->SeekToEdge());
    for (size_t i = 0; i < rows_.size() / 2; ++i) ASSERT_TRUE(left->NextRow());
  }
}

TEST_F(RowGroupPrefetchTest, DamageIsReportedWhereTheCursorComesToIt) {
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 400));
  absl::StatusOr<std::string> bytes = ReadBytes(&file_system_, "table");
  ASSERT_TRUE(bytes.ok());
  const size_t row_groups_end = bytes->size() / 2;  // data comes first
  (*bytes)[row_groups_end / 2] ^= 1;
  reader_.reset();
  ASSERT_TRUE(file_system_.Remove("table").ok());
  ASSERT_TRUE(WriteBytes(&file_system_, "table", *bytes).ok());
  ASSERT_NO_FATAL_FAILURE(Open());
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    std::vector<OwnedRow> expected;
    absl::Status status;
    for (const Mode mode : {Mode::kDeclines, Mode::kAtOnce, Mode::kSometimes, Mode::kNever}) {
      ManualRunner runner(mode);
      const auto cursor = NewCursor(&runner, direction);
      ASSERT_TRUE(cursor->SeekToEdge());
      const std::vector<OwnedRow> rows = ReadRows(cursor.get());
      ASSERT_TRUE(absl::IsDataLoss(cursor->status())) << cursor->status();
      if (mode == Mode::kDeclines) {
        expected = rows;
        status = cursor->status();
        EXPECT_GT(rows.size(), 50u);
      }
      EXPECT_EQ(rows, expected);
      EXPECT_EQ(cursor->status(), status);
    }
  }
}

// Prefetch needs memory that the cursor alone does not need.
TEST_F(RowGroupPrefetchTest, MemoryRefusedAheadIsAskedForAgain) {
  ASSERT_NO_FATAL_FAILURE(Write(kManyGroups, 400));
  for (int nth = 1; nth <= 3; ++nth) {  // the bytes read, then each group's memory
    ManualRunner runner(Mode::kNever);
    const auto cursor = NewCursor(&runner);
    ASSERT_TRUE(cursor->SeekToEdge());
    std::vector<OwnedRow> rows;
    while (runner.waiting().size() < 2) {
      rows.push_back({std::string(cursor->row_key()), ReadPinnedRow(cursor.get())});
      ASSERT_TRUE(cursor->NextRow());
    }
    FailBufferAllocation(nth);
    runner.RunAll();
    FailBufferAllocation(0);
    const std::vector<OwnedRow> rest = ReadRows(cursor.get());
    ASSERT_TRUE(cursor->status().ok()) << cursor->status();
    rows.insert(rows.end(), rest.begin(), rest.end());
    EXPECT_EQ(rows, rows_);
  }
}

}  // namespace
}  // namespace stele::internal
