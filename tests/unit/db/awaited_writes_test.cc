// Tests WriteOptions.stop and .deadline: writes whose caller does not wait any longer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <stop_token>
#include <string>
#include <vector>

#include "db/engine.h"
#include "io/mem_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

class AwaitedWritesTest : public ::testing::Test {
 protected:
  void Open(const std::function<void(EngineOptions*)>& change = [](EngineOptions*) {}) {
    EngineOptions options = SmallEngineOptions(&observed_);
    change(&options);
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
    table_ = database_->database().CreateTable("t", Schema().AddFamily("f")).value_or(Table());
  }
  static RowMutation Set(std::string row, const std::string& qualifier = "q") {
    return RowMutation(std::move(row)).SetCell("f", qualifier, Timestamp::FromMillis(1), "v");
  }
  WriteOptions Awaited() const { return {.stop = stop_.get_token()}; }

  MemFileSystem files_;
  int reads_ = 0;  // reads of SSTables since the last reset
  int stop_at_read_ = 0;
  std::stop_source stop_;
  bool holds_flushes_ = false;
  std::latch may_flush_{1};
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string& path) {
                                 if (path.find(".sst") == std::string::npos) return;
                                 if (kind == CallKind::kCreate && holds_flushes_) may_flush_.wait();
                                 if (kind == CallKind::kRead && ++reads_ == stop_at_read_)
                                   stop_.request_stop();
                               }};
  std::unique_ptr<WorkloadDatabase> database_;
  Table table_;
};

TEST_F(AwaitedWritesTest, WhatWasGivenUpBeforeItBeganIsNotDone) {
  Open();
  stop_.request_stop();
  const WriteOptions late = {.deadline = std::chrono::steady_clock::now()};
  const std::vector<RowMutation> many = {Set("a"), Set("b")};
  for (const WriteOptions& options : {Awaited(), late}) {
    const absl::StatusCode code = options.deadline.has_value() ? absl::StatusCode::kDeadlineExceeded
                                                               : absl::StatusCode::kCancelled;
    EXPECT_EQ(table_.Apply(Set("r"), options).code(), code);
    EXPECT_EQ(database_->database().Apply(WriteBatch().Add(table_, Set("r")), options).code(),
              code);
    const std::vector<FailedMutation> failed = table_.BulkApply(many, options);
    ASSERT_EQ(failed.size(), 2u);
    EXPECT_EQ(failed[0].status.code(), code);
    EXPECT_EQ(failed[1].index, 1u);
    EXPECT_EQ(table_.CheckAndMutateRow("r", Filter::PassAll(), Set("r"), Set("r"), options)
                  .status()
                  .code(),
              code);
    EXPECT_EQ(
        table_.ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "v")}, options)
            .status()
            .code(),
        code);
  }
  EXPECT_EQ(DumpTable(table_).value(), "");
  // A write whose caller can still wait is not cancelled.
  EXPECT_EQ(table_.Apply(Set("r"), {.stop = std::stop_source().get_token(),
                                    .deadline = std::chrono::steady_clock::time_point::max()}),
            absl::OkStatus());
}

// The predicate reads through a row of many pages, one page at a time.
TEST_F(AwaitedWritesTest, ACheckOfAGiantRowStops) {
  Open();
  for (int i = 0; i < 4000; ++i)
    ASSERT_EQ(table_.Apply(Set("r", fmt::format("{:0100}", i))), absl::OkStatus());
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  const auto check = [&] {
    return table_.CheckAndMutateRow("r", Filter::ValueRegex("x.*"), Set("r"), Set("r"), Awaited())
        .status();
  };
  table_ = Table();
  database_->Drop();  // with its cache
  ASSERT_EQ(database_->Open(), absl::OkStatus());
  table_ = database_->database().OpenTable("t").value();
  reads_ = 0;
  stop_at_read_ = 2;
  EXPECT_EQ(check().code(), absl::StatusCode::kCancelled);
  const int reads_until_stopped = reads_;
  stop_at_read_ = 0;
  stop_ = std::stop_source();
  reads_ = 0;
  EXPECT_EQ(check(), absl::OkStatus());
  EXPECT_GT(reads_, 2 * reads_until_stopped);
}

// Regression: such a write noticed a stop only once it had the latch.
TEST_F(AwaitedWritesTest, AConditionalWriteThatWaitsForItsRowStops) {
  Open();
  const auto held = RowLatches::Guard::Acquire(&database_->engine().latches(), {"r"}, nullptr);
  ASSERT_TRUE(held.ok());
  const auto check = [&](const WriteOptions& options) {
    return table_.CheckAndMutateRow("r", Filter::PassAll(), Set("r"), Set("r"), options).status();
  };
  const auto increment = [&](const WriteOptions& options) {
    return table_
        .ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "v")}, options)
        .status();
  };
  const WriteOptions late = {.deadline =
                                 std::chrono::steady_clock::now() + std::chrono::milliseconds(50)};
  EXPECT_EQ(check(late).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(increment(late).code(), absl::StatusCode::kDeadlineExceeded);
  std::future<absl::Status> stopped =
      std::async(std::launch::async, [&] { return check(Awaited()); });
  stop_.request_stop();
  EXPECT_EQ(stopped.get().code(), absl::StatusCode::kCancelled);
  // A write of another row does not wait.
  EXPECT_EQ(
      table_.ReadModifyWriteRow("s", {ReadModifyWriteRule::AppendValue("f", "q", "v")}).status(),
      absl::OkStatus());
}

// Regression: such a write looked at neither its stop token nor its deadline.
TEST_F(AwaitedWritesTest, AWriteThatWaitsForALargeOneStops) {
  Open();
  LargeWrites& large = database_->engine().admission().large_writes();
  const uint64_t budget_bytes = database_->engine().storage().memory.budget_bytes();
  const auto is_done = [](const std::future<absl::Status>& write) {
    return write.wait_for(std::chrono::minutes(2)) == std::future_status::ready;
  };
  auto alone = std::make_unique<LargeWrites::Guard>(&large, budget_bytes, nullptr);
  std::vector<std::future<absl::Status>> writes;
  for (const uint64_t value_bytes : {uint64_t{1}, budget_bytes / 10, budget_bytes}) {
    const auto write = [this, value_bytes](const WriteOptions& options) {
      return table_.Apply(RowMutation("r").SetCell("f", "q", std::string(value_bytes, 'v')),
                          options);
    };
    const WriteOptions late{.deadline =
                                std::chrono::steady_clock::now() + std::chrono::milliseconds(50)};
    writes.push_back(std::async(std::launch::async, write, late));
    EXPECT_TRUE(is_done(writes.back()));
    writes.push_back(std::async(std::launch::async, write, Awaited()));
  }
  stop_.request_stop();
  for (const std::future<absl::Status>& write : writes) EXPECT_TRUE(is_done(write));
  alone.reset();  // so that none waits for ever
  for (size_t i = 0; i < writes.size(); ++i) {
    const absl::Status status = writes[i].get();
    EXPECT_EQ(status.code(),
              i % 2 == 0 ? absl::StatusCode::kDeadlineExceeded : absl::StatusCode::kCancelled)
        << i << ": " << status;
  }
  EXPECT_EQ(table_.Apply(RowMutation("r").SetCell("f", "q", std::string(budget_bytes / 10, 'v'))),
            absl::OkStatus())
      << "those that stopped left the queue";
}

TEST_F(AwaitedWritesTest, AWriteThatWaitsForItsTurnStops) {
  holds_flushes_ = true;
  Open([](EngineOptions* options) {
    options->background_threads = 1;
    options->sizes.write_memory_bytes = 1;
  });
  ASSERT_EQ(table_.Apply(Set("r")), absl::OkStatus());
  stop_.request_stop();
  EXPECT_EQ(database_->engine().admission().AwaitMemory(100, Awaited()).code(),
            absl::StatusCode::kCancelled);
  may_flush_.count_down();
}

}  // namespace
}  // namespace stele::internal
