// Tests that a flush or a compaction is counted before a view shows its result. On one thread: the
// file system calls back while the install removes log segments, after it has changed the view.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "db/engine.h"
#include "jobs/job_runner.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

class JobCountersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&observed_);
    options.sizes.log_bytes_max = 1 << 20;
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
    table_ = Create("t");
    other_ = Create("other");
  }

  // Makes log segments that only the memtable of `table_` keeps. Its flush releases them.
  void FillLog() {
    Set(&table_, 1);
    for (int i = 0; i < 12; ++i) {
      Set(&other_, 12'000);
      ASSERT_EQ(other_.Flush(), absl::OkStatus());
    }
    ASSERT_EQ(database_->database().WaitForIdle(), absl::OkStatus());
  }
  // Calls `check` once: at the first removal of a segment after the view has another file of
  // `table_`.
  void WhenShown(std::function<void()> check) {
    file_before_ = NewestFile().first;
    check_ = std::move(check);
  }
  bool was_shown() const { return check_ == nullptr; }
  // The number and the bytes of the newest file of `table_`; 0 if it has none.
  std::pair<uint64_t, uint64_t> NewestFile() {
    const std::shared_ptr<const ReadView> view = database_->engine().storage().state.view();
    const auto& stack = view->version->FindTable("t")->tablets[0].stack;
    if (stack.empty()) return {0, 0};
    return {stack[0].file->number, stack[0].file->summary.file_bytes};
  }
  const JobCounters& counters() { return database_->engine().storage().jobs->counters(); }

 private:
  Table Create(const std::string& name) {
    const absl::StatusOr<Table> table =
        database_->database().CreateTable(name, Schema().AddFamily("f"));
    EXPECT_TRUE(table.ok()) << table.status();
    return table.value_or(Table());
  }
  static void Set(Table* table, size_t value_bytes) {
    ASSERT_EQ(table->Apply(RowMutation("r").SetCell("f", "q", Timestamp::FromMillis(1),
                                                    std::string(value_bytes, 'v'))),
              absl::OkStatus());
  }
  // A segment is removed durably: the directory is synced.
  void Observe(CallKind kind) {
    if (kind != CallKind::kSyncDirectory || check_ == nullptr) return;
    if (NewestFile().first != file_before_) std::exchange(check_, nullptr)();
  }

 protected:
  CrashFileSystem files_;

 private:
  ObservedFileSystem observed_{&files_,
                               [this](CallKind kind, const std::string&) { Observe(kind); }};
  uint64_t file_before_ = 0;
  std::function<void()> check_;

 protected:
  std::unique_ptr<WorkloadDatabase> database_;
  Table table_;
  Table other_;
};

TEST_F(JobCountersTest, AFlushIsCountedBeforeItIsSeen) {
  FillLog();
  const uint64_t flushes = counters().flushes.load();
  const uint64_t bytes = counters().bytes_flushed.load();
  WhenShown([&] {
    EXPECT_EQ(counters().flushes.load(), flushes + 1);
    EXPECT_EQ(counters().bytes_flushed.load(), bytes + NewestFile().second);
  });
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_TRUE(was_shown()) << "the install removed no segment";
  EXPECT_EQ(counters().flushes.load(), flushes + 1) << "once";
}

TEST_F(JobCountersTest, ACompactionIsCountedBeforeItIsSeen) {
  FillLog();
  // The install of the compaction removes the segments that the flush released.
  files_.FailKind(CallKind::kRemove, 1, {.error_number = EIO, .sticky = true});
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  files_.ClearFaults();
  const uint64_t compactions = counters().compactions.load();
  const uint64_t major = counters().major_compactions.load();
  const uint64_t bytes = counters().bytes_compacted.load();
  WhenShown([&] {
    EXPECT_EQ(counters().compactions.load(), compactions + 1);
    EXPECT_EQ(counters().major_compactions.load(), major + 1);
    EXPECT_EQ(counters().bytes_compacted.load(), bytes + NewestFile().second);
  });
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  ASSERT_TRUE(was_shown()) << "the install removed no segment";
  EXPECT_EQ(counters().compactions.load(), compactions + 1) << "once";
}

}  // namespace
}  // namespace stele::internal
