// Tests that Verify blocks no other call: others write, flush and change schemas while it reads the
// log.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>

#include "db/engine.h"
#include "io/file_names.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

class VerifyBesideWritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.CreateDirectory("/db").ok());
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    table_ = *database_.database().CreateTable("t", Schema().AddFamily("f"));
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Write(), absl::OkStatus());
  }
  Engine& engine() { return database_.engine(); }
  absl::Status Write() {
    const int row = rows_++;
    const RowMutation mutation =
        RowMutation(fmt::format("r{:04}", row))
            .SetCell("f", "q", Timestamp::FromMillis(1), std::string(500, 'v'));
    return table_.Apply(mutation, {.durability = Durability::kDisk});
  }
  // Runs `act` on another thread whenever Verify has read from the log, at most `acts_max` times.
  // Returns false if an `act` did not finish while Verify waited for it.
  bool VerifyBeside(size_t acts_max, const std::function<void()>& act) {
    std::vector<std::future<void>> acts;
    bool all_ended = true;
    on_log_read_ = [&] {
      if (acts.size() == acts_max || !all_ended) return;
      acts.push_back(std::async(std::launch::async, act));
      all_ended = acts.back().wait_for(std::chrono::minutes(2)) == std::future_status::ready;
    };
    const absl::StatusOr<VerifyReport> report = database_.database().Verify();
    on_log_read_ = nullptr;
    EXPECT_GT(acts.size(), 0u);
    EXPECT_EQ(report.status(), absl::OkStatus());
    EXPECT_TRUE(report->ok()) << report->damages[0].file << ": " << report->damages[0].what;
    return all_ended;
  }

  CrashFileSystem files_;
  std::function<void()> on_log_read_;
  ObservedFileSystem observed_{
      &files_, [this](CallKind kind, const std::string& path) {
        const std::optional<FileName> name = ParseFileName(path.substr(path.rfind('/') + 1));
        const bool is_log = name.has_value() && name->type == FileType::kSegment;
        if (kind == CallKind::kRead && is_log && on_log_read_ != nullptr) on_log_read_();
      }};
  WorkloadDatabase database_{&observed_};
  Table table_;
  std::atomic<int> rows_{0};
};

TEST_F(VerifyBesideWritesTest, Writes) {
  EXPECT_TRUE(VerifyBeside(40, [this] { EXPECT_EQ(Write(), absl::OkStatus()); }));
}

TEST_F(VerifyBesideWritesTest, SchemaChanges) {
  EXPECT_TRUE(
      VerifyBeside(40, [this] { EXPECT_EQ(table_.SetProperty("p", "v"), absl::OkStatus()); }));
}

// Each flush releases the older segments, which are overwritten or removed. Verify then reads
// again.
TEST_F(VerifyBesideWritesTest, FlushesThatReleaseSegments) {
  const uint64_t oldest = engine().storage().log->oldest_segment();
  EXPECT_TRUE(VerifyBeside(2, [this] {
    for (int i = 0; i < 40; ++i) EXPECT_EQ(Write(), absl::OkStatus());
    EXPECT_EQ(table_.Flush(), absl::OkStatus());
  }));
  EXPECT_GT(engine().storage().log->oldest_segment(), oldest);
}

// Damage is reported although writers are active.
TEST_F(VerifyBesideWritesTest, DamageIsTold) {
  const LogPosition written = engine().storage().log->SegmentEnds().back();
  ASSERT_TRUE(
      files_.FlipBit(JoinPath("/db", SegmentName(written.segment_number)), written.offset - 20, 0)
          .ok());
  std::atomic<int> acts = 0;
  on_log_read_ = [&] {
    if (acts++ > 0) return;
    EXPECT_EQ(std::async(std::launch::async, [this] { return Write(); }).get(), absl::OkStatus());
  };
  const VerifyReport report = *database_.database().Verify();
  on_log_read_ = nullptr;
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].file, SegmentName(written.segment_number));
  EXPECT_LT(report.damages[0].offset, written.offset);
}

}  // namespace
}  // namespace stele::internal
