// Tests for failures of the recorder: a record is lost without being counted, a slow or full disk
// holds up or fails operations, or memory grows without bound.
#include "trace/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/mem_file_system.h"
#include "support/trace_testing.h"

namespace stele::internal {
namespace {

// A file whose writes call a function first. It may wait, or fail.
class GuardedFile final : public File {
 public:
  using Guard = std::function<absl::Status(uint64_t offset)>;
  GuardedFile(std::unique_ptr<File> below, Guard guard)
      : below_(std::move(below)), guard_(std::move(guard)) {}
  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
    return below_->Read(offset, bytes, out);
  }
  absl::Status Write(uint64_t offset, std::string_view bytes) override {
    if (absl::Status status = guard_(offset); !status.ok()) return status;
    return below_->Write(offset, bytes);
  }
  absl::Status Sync() override { return below_->Sync(); }
  absl::Status Truncate(uint64_t bytes) override { return below_->Truncate(bytes); }
  absl::Status Allocate(uint64_t bytes) override { return below_->Allocate(bytes); }
  absl::StatusOr<uint64_t> Size() const override { return below_->Size(); }
  const std::string& path() const override { return below_->path(); }

 private:
  const std::unique_ptr<File> below_;
  const Guard guard_;
};

class RecorderTest : public testing::Test {
 protected:
  Recorder::Options Options() { return {.file_system = &file_system_}; }
  // Offers records to the recorder. Returns the chosen ones.
  uint64_t AddRecords(uint64_t count, uint64_t first = 0) {
    uint64_t chosen = 0;
    for (uint64_t i = first; i < first + count; ++i) {
      const uint64_t recording = recorder_.Choose(1);
      if (recording == 0) continue;
      recorder_.Add(recording, GetTraceRecord(i));
      ++chosen;
    }
    return chosen;
  }
  std::string Bytes(const std::string& path = "/t") {
    const auto file = *file_system_.Open(path, OpenMode::kRead);
    std::string bytes(*file->Size(), '\0');
    bytes.resize(*file->Read(0, bytes.size(), bytes.data()));
    return bytes;
  }
  ReadTrace Read() {
    auto read = ReadTraceBytes(Bytes());
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? *std::move(read) : ReadTrace();
  }
  // Checks that the records are of AddRecords, each once, and returns their numbers, ascending. In
  // the file they may have another order: a record whose buffer is in use goes to another buffer.
  static std::vector<uint64_t> NumbersOf(const ReadTrace& read) {
    std::vector<uint64_t> numbers;
    for (const TraceRecord& record : read.records) {
      numbers.push_back(record.cells_returned.value_or(0));
      EXPECT_EQ(record, GetTraceRecord(numbers.back()));
    }
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end())
        << "recorded twice";
    return numbers;
  }

  MemFileSystem file_system_;
  Recorder recorder_;
};

TEST_F(RecorderTest, RecordsBetweenStartAndStop) {
  EXPECT_FALSE(recorder_.is_on());
  EXPECT_EQ(recorder_.Stop().status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(recorder_.Start("/t", Options()).ok());
  EXPECT_TRUE(recorder_.is_on());
  EXPECT_EQ(recorder_.Start("/u", Options()).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(AddRecords(5'000), 5'000u);
  const uint64_t late = recorder_.Choose(0);
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_FALSE(recorder_.is_on());
  EXPECT_EQ(summary->counts.operations, 5'000u);
  EXPECT_EQ(summary->counts.recorded, 5'000u);
  EXPECT_EQ(summary->counts.dropped, 0u);
  EXPECT_EQ(summary->bytes, Bytes().size());
  recorder_.Add(late, GetTraceRecord(1));  // its call ended after the recording
  const ReadTrace read = Read();
  EXPECT_TRUE(read.is_complete);
  EXPECT_EQ(read.counts.recorded, 5'000u);
  ASSERT_EQ(read.records.size(), 5'000u);
  EXPECT_EQ(NumbersOf(read).back(), 4'999u) << "all of them";
  ASSERT_TRUE(recorder_.Start("/u", Options()).ok());
  recorder_.Add(late, GetTraceRecord(1));
  EXPECT_EQ(recorder_.Stop()->counts.recorded, 0u);
}

TEST_F(RecorderTest, AppendsOnlyIfAsked) {
  ASSERT_TRUE(recorder_.Start("/t", Options()).ok());
  AddRecords(3);
  ASSERT_TRUE(recorder_.Stop().ok());
  const std::string before = Bytes();
  EXPECT_EQ(recorder_.Start("/t", Options()).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Bytes(), before);
  Recorder::Options options = Options();
  options.appends = true;
  ASSERT_TRUE(recorder_.Start("/t", options).ok());
  AddRecords(2, 3);
  ASSERT_TRUE(recorder_.Stop().ok());
  const ReadTrace read = Read();
  EXPECT_EQ(read.records.size(), 5u);
  EXPECT_EQ(read.counts.operations, 5u);
  EXPECT_EQ(read.summaries, 2u);
  EXPECT_EQ(recorder_.Start("/none/t", options).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(recorder_.is_on());
}

TEST_F(RecorderTest, TheSampleIsChosenAtRandom) {
  Recorder::Options options = Options();
  options.sample = 8;
  ASSERT_TRUE(recorder_.Start("/t", options).ok());
  const uint64_t chosen = AddRecords(80'000);
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->counts.operations, 80'000u);
  EXPECT_EQ(summary->counts.recorded, chosen);
  // 10,000 with a standard deviation of 94.
  EXPECT_GT(chosen, 9'000u);
  EXPECT_LT(chosen, 11'000u);
  const ReadTrace read = Read();
  EXPECT_EQ(read.records.size(), chosen);
  EXPECT_EQ(read.records.front().sample, 8u);
}

TEST_F(RecorderTest, StopsAtTheLargestSize) {
  for (const uint64_t bytes_max : {0, 1'000, 100'000}) {
    const std::string path = "/t" + std::to_string(bytes_max);
    Recorder::Options options = Options();
    options.bytes_max = bytes_max;
    options.interval = std::chrono::microseconds(1);
    ASSERT_TRUE(recorder_.Start(path, options).ok());
    uint64_t added = 0;
    while (recorder_.is_on()) added += AddRecords(100, added);
    const auto summary = recorder_.Stop();
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_TRUE(summary->counts.stopped_at_limit);
    EXPECT_EQ(summary->counts.recorded + summary->counts.dropped, added);
    const std::string bytes = Bytes(path);
    EXPECT_EQ(summary->bytes, bytes.size());
    // The header and the summary have their place in any case.
    EXPECT_LE(bytes.size(), std::max<uint64_t>(bytes_max, 250));
    const auto read = ReadTraceBytes(bytes);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read->is_complete && read->counts.stopped_at_limit);
    EXPECT_EQ(read->records.size(), summary->counts.recorded);
    EXPECT_GE(read->records.size(), bytes_max == 100'000 ? 100u : 0u);
  }
}

// A file system whose only file has a guard.
class GuardedFileSystem final : public FileSystem {
 public:
  explicit GuardedFileSystem(GuardedFile::Guard guard) : guard_(std::move(guard)) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    auto file = below_.Open(path, mode);
    if (!file.ok()) return file.status();
    return std::make_unique<GuardedFile>(*std::move(file), guard_);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    return below_.Rename(from, to);
  }
  absl::Status Remove(const std::string& path) override { return below_.Remove(path); }
  absl::Status Link(const std::string& from, const std::string& to) override {
    return below_.Link(from, to);
  }
  absl::Status SyncDirectory(const std::string& path) override {
    return below_.SyncDirectory(path);
  }
  absl::Status CreateDirectory(const std::string& path) override {
    return below_.CreateDirectory(path);
  }
  absl::Status RemoveDirectory(const std::string& path) override {
    return below_.RemoveDirectory(path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return below_.List(path);
  }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override { return below_.Stat(path); }
  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override {
    return below_.FreeBytes(path);
  }
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode,
                                                 std::string_view holder) override {
    return below_.Lock(path, mode, holder);
  }

 private:
  MemFileSystem below_;
  const GuardedFile::Guard guard_;
};

TEST_F(RecorderTest, ABlockedDiskHoldsUpNoOperation) {
  Mutex disk;
  GuardedFileSystem file_system([&](uint64_t /*offset*/) {
    MutexLock lock(disk);
    return absl::OkStatus();
  });
  Recorder::Options options = Options();
  options.file_system = &file_system;
  ASSERT_TRUE(recorder_.Start("/t", options).ok());
  TraceRecord record = GetTraceRecord(1);
  record.row.assign(10'000, 'r');
  constexpr uint64_t kRecords = 6'000;  // 60 MB
  disk.Lock();
  for (uint64_t i = 0; i < kRecords; ++i) recorder_.Add(recorder_.Choose(1), record);
  disk.Unlock();
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->counts.operations, kRecords);
  EXPECT_EQ(summary->counts.recorded + summary->counts.dropped, kRecords);
  // The recorded operations fit in 32 MiB.
  EXPECT_LT(summary->counts.recorded * 10'000, uint64_t{32} << 20);
  EXPECT_GT(summary->counts.recorded * 10'000, uint64_t{15} << 20);
}

// A record of more than half a block leaves almost half of its buffer empty.
TEST_F(RecorderTest, EmptyPartsOfBuffersAreCharged) {
  Mutex disk;
  GuardedFileSystem file_system([&](uint64_t /*offset*/) {
    MutexLock lock(disk);
    return absl::OkStatus();
  });
  Recorder::Options options = Options();
  options.file_system = &file_system;
  ASSERT_TRUE(recorder_.Start("/t", options).ok());
  TraceRecord record = GetTraceRecord(1);
  record.row.assign(kTraceBlockBytes / 2 + 1'000, 'r');
  constexpr uint64_t kRecords = 2'000;
  disk.Lock();
  for (uint64_t i = 0; i < kRecords; ++i) recorder_.Add(recorder_.Choose(1), record);
  disk.Unlock();
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->counts.operations, kRecords);
  // Each record fills one buffer.
  EXPECT_LT(summary->counts.recorded * kTraceBlockBytes, uint64_t{32} << 20);
  EXPECT_GT(summary->counts.recorded * kTraceBlockBytes, uint64_t{15} << 20);
}

// The buffers of all threads are written as they fill, while others append to them.
TEST_F(RecorderTest, PointReadsOfManyThreadsAreRecordedOnceEach) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kRecords = 20'000;
  Recorder::Options options = Options();
  options.interval = std::chrono::microseconds(1);
  ASSERT_TRUE(recorder_.Start("/t", options).ok());
  const auto add = [this](uint64_t first) {
    for (uint64_t i = first; i < first + kRecords; ++i) {
      const TraceRecord record = GetTraceRecord(i);
      PointReadRecord point{.micros = record.micros, .table = record.table, .row = record.row};
      point.returned = ReturnedCounts{.rows = 1, .cells = i};
      recorder_.Add(recorder_.Choose(1), point);
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(add, i * kRecords);
  for (std::thread& thread : threads) thread.join();
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->counts.operations, kThreads * kRecords);
  const ReadTrace read = Read();
  EXPECT_EQ(read.damaged, 0u);
  ASSERT_EQ(read.records.size(), summary->counts.recorded);
  std::vector<uint64_t> numbers;
  for (const TraceRecord& record : read.records) {
    numbers.push_back(record.cells_returned.value_or(0));
    EXPECT_EQ(record.row, GetTraceRecord(numbers.back()).row);
  }
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end()) << "recorded twice";
}

TEST_F(RecorderTest, PointReadsOfAllSizesAreRecordedUpToABlock) {
  ASSERT_TRUE(recorder_.Start("/t", Options()).ok());
  const std::vector<size_t> sizes = {1, kTraceBlockBytes - 200, kTraceBlockBytes,
                                     kTraceBlockBytesMax - 200, kTraceBlockBytesMax};
  for (const size_t size : sizes) {
    const std::string filter(size, 'f');
    recorder_.Add(recorder_.Choose(1), PointReadRecord{.table = "t", .filter = filter});
  }
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->counts.recorded, sizes.size() - 1);
  EXPECT_EQ(summary->counts.dropped, 1u);
  std::vector<size_t> read_sizes;
  for (const TraceRecord& record : Read().records) read_sizes.push_back(record.filter.size());
  std::sort(read_sizes.begin(), read_sizes.end());
  EXPECT_EQ(read_sizes, std::vector<size_t>(sizes.begin(), sizes.end() - 1));
}

// A call that ends in the next recording belongs to neither.
TEST_F(RecorderTest, ALateRecordIsNotCountedAsDropped) {
  ASSERT_TRUE(recorder_.Start("/t", Options()).ok());
  const uint64_t late = recorder_.Choose(1);
  ASSERT_TRUE(recorder_.Stop().ok());
  ASSERT_TRUE(recorder_.Start("/u", Options()).ok());
  TraceRecord record = GetTraceRecord(1);
  recorder_.Add(late, record);
  record.row.assign(2 * kTraceBlockBytes, 'r');
  recorder_.Add(late, record);
  record.row.assign(kTraceBlockBytesMax + 1, 'r');
  recorder_.Add(late, record);
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->counts.operations, 0u);
  EXPECT_EQ(summary->counts.dropped, 0u);
}

TEST_F(RecorderTest, AFullDiskEndsOnlyTheTrace) {
  GuardedFileSystem file_system([&](uint64_t offset) {
    return offset == 0 ? absl::OkStatus() : absl::ResourceExhaustedError("write /t: no space");
  });
  Recorder::Options options = Options();
  options.file_system = &file_system;
  options.interval = std::chrono::microseconds(1);
  ASSERT_TRUE(recorder_.Start("/t", options).ok());
  while (recorder_.is_on()) AddRecords(100);
  const absl::Status status = recorder_.Stop().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(recorder_.Start("/u", Options()).ok());
  AddRecords(1);
  EXPECT_EQ(recorder_.Stop()->counts.recorded, 1u);
}

TEST_F(RecorderTest, AFailedStartLeavesNoNewFile) {
  ASSERT_TRUE(recorder_.Start("/old", Options()).ok());
  ASSERT_TRUE(recorder_.Stop().ok());
  const std::string before = Bytes("/old");
  GuardedFileSystem file_system(
      [](uint64_t /*offset*/) { return absl::ResourceExhaustedError("write: no space"); });
  Recorder::Options options = Options();
  options.file_system = &file_system;
  EXPECT_EQ(recorder_.Start("/t", options).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(file_system.Stat("/t").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(recorder_.is_on());
  options = Options();
  options.appends = true;
  options.sample = 2;
  EXPECT_EQ(recorder_.Start("/old", options).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Bytes("/old"), before);
}

// After a kill, the file has the bytes of that moment.
TEST_F(RecorderTest, TheFileIsReadableAtAnyMoment) {
  Recorder::Options options = Options();
  options.interval = std::chrono::microseconds(1);
  ASSERT_TRUE(recorder_.Start("/t", options).ok());
  uint64_t added = 0;
  size_t last_bytes = kTraceHeaderBytes;
  for (int moment = 0; moment < 20; ++moment) {
    std::string bytes;
    do {
      added += AddRecords(100, added);
      bytes = Bytes();
    } while (bytes.size() <= last_bytes);
    last_bytes = bytes.size();
    const auto read = ReadTraceBytes(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->damaged, 0u);
    EXPECT_FALSE(read->is_complete);
    ASSERT_GT(read->records.size(), 0u);
    EXPECT_LT(NumbersOf(*read).back(), added);
  }
  EXPECT_TRUE(recorder_.Stop().ok());
}

TEST_F(RecorderTest, LargeRecordsHaveTheirOwnBlockOrAreDropped) {
  ASSERT_TRUE(recorder_.Start("/t", Options()).ok());
  AddRecords(1);
  TraceRecord large = GetTraceRecord(7);
  large.row.assign(200'000, 'r');
  recorder_.Add(recorder_.Choose(1), large);
  TraceRecord too_large = large;
  too_large.row.assign(kTraceBlockBytesMax, 'r');
  recorder_.Add(recorder_.Choose(1), too_large);
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->counts.recorded, 2u);
  EXPECT_EQ(summary->counts.dropped, 1u);
  const ReadTrace read = Read();
  ASSERT_EQ(read.records.size(), 2u);
  EXPECT_TRUE(read.records[0] == large || read.records[1] == large);
}

TEST_F(RecorderTest, ThreadsLoseNoRecord) {
  constexpr int kThreads = 4;
  constexpr uint64_t kRecords = 20'000;
  ASSERT_TRUE(recorder_.Start("/t", Options()).ok());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back(
        [&, thread] { AddRecords(kRecords, static_cast<uint64_t>(thread) * kRecords); });
  for (std::thread& thread : threads) thread.join();
  const auto summary = recorder_.Stop();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->counts.operations, kThreads * kRecords);
  EXPECT_EQ(summary->counts.recorded + summary->counts.dropped, kThreads * kRecords);
  ReadTrace read = Read();
  EXPECT_EQ(read.records.size(), summary->counts.recorded);
  std::vector<int64_t> times;
  for (const TraceRecord& record : read.records) times.push_back(record.micros);
  std::sort(times.begin(), times.end());
  EXPECT_EQ(std::adjacent_find(times.begin(), times.end()), times.end()) << "recorded twice";
}

}  // namespace
}  // namespace stele::internal
