// Tests the stop token and the deadline of writes that wait in the commit queue.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "commit/wait_limits.h"
#include "db/engine.h"
#include "io/mem_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

constexpr char kQueuedToken[] = "token-of-a-queued-write";

class QueuedWritesTest : public ::testing::Test {
 protected:
  using Write = std::function<absl::Status(const WriteOptions& options)>;

  void TearDown() override { Release(); }
  void Open(int background_threads = 0) {
    EngineOptions options = SmallEngineOptions(&observed_);
    options.database.memory_budget_bytes = uint64_t{8} << 20;
    options.background_threads = background_threads;
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
    table_ = database_->database().CreateTable("t", Schema().AddFamily("f")).value_or(Table());
  }
  Committer& committer() { return *database_->engine().storage().committer; }
  uint64_t budget_bytes() { return database_->engine().storage().memory.budget_bytes(); }

  static RowMutation Mutation(std::string row, std::string value = "v") {
    return RowMutation(std::move(row))
        .SetCell("f", "q", Timestamp::FromMillis(1), std::move(value));
  }
  Write Apply(const std::string& row, const std::string& value = "v") {
    return [this, mutation = Mutation(row, value)](const WriteOptions& options) {
      return Table(table_).Apply(mutation, options);
    };
  }
  // All kinds of writes, by name. Each waits in the queue.
  std::vector<std::pair<std::string, Write>> AllKinds();

  static bool IsReady(const std::future<absl::Status>& call,
                      std::chrono::seconds within = std::chrono::minutes(2)) {
    return call.wait_for(within) == std::future_status::ready;
  }
  // Starts the write, and returns once it is in the queue, or once it is done.
  std::future<absl::Status> Queue(const Write& write, const WriteOptions& options = {}) {
    const size_t queued_before = committer().queued();
    std::future<absl::Status> call =
        std::async(std::launch::async, [write, options] { return write(options); });
    while (committer().queued() == queued_before && !IsReady(call, std::chrono::seconds(0)))
      std::this_thread::yield();
    return call;
  }
  // Starts a write of the row "leader", and returns while its commit is in the sync of the log.
  void HoldLeader() {
    on_sync_ = [this] {
      is_held_.count_down();
      may_go_on_.wait();
    };
    runs_on_sync_ = true;
    leader_ = Queue(Apply("leader"), {.durability = Durability::kDisk});
    is_held_.wait();
  }
  void Release() {
    if (!std::exchange(is_released_, true)) may_go_on_.count_down();
  }
  std::string RowsOf(const Table& table) {
    std::string rows;
    RowReader reader = table.ReadRows();
    for (const RowView& row : reader) rows += std::string(row.row_key()) + " ";
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return rows;
  }
  // The rows, and the rows after the database was opened again.
  void ExpectRows(const std::string& rows) {
    EXPECT_EQ(RowsOf(table_), rows);
    table_ = Table();
    database_->Drop();
    ASSERT_EQ(database_->Open(), absl::OkStatus());
    table_ = database_->database().OpenTable("t").value();
    EXPECT_EQ(RowsOf(table_), rows) << "it was logged";
  }

  MemFileSystem files_;
  std::function<void()> on_sync_;           // called once
  std::atomic<bool> runs_on_sync_ = false;  // after on_sync_ is set
  std::latch is_held_{1};
  std::latch may_go_on_{1};
  bool is_released_ = false;
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string&) {
                                 if (kind == CallKind::kSync && runs_on_sync_.exchange(false))
                                   on_sync_();
                               }};
  std::unique_ptr<WorkloadDatabase> database_;
  Table table_;
  std::future<absl::Status> leader_;
};

std::vector<std::pair<std::string, QueuedWritesTest::Write>> QueuedWritesTest::AllKinds() {
  return {{"Apply", Apply("apply")},
          {"WriteBatch",
           [this](const WriteOptions& options) {
             return database_->database().Apply(WriteBatch().Add(table_, Mutation("batch")),
                                                options);
           }},
          {"BulkApply",
           [this](const WriteOptions& options) {
             const std::vector<RowMutation> mutations = {Mutation("bulk1"), Mutation("bulk2")};
             const std::vector<FailedMutation> failed = Table(table_).BulkApply(mutations, options);
             EXPECT_EQ(failed.size(), 2u);
             return failed.empty() ? absl::OkStatus() : failed.back().status;
           }},
          {"CheckAndMutateRow",
           [this](const WriteOptions& options) {
             return Table(table_)
                 .CheckAndMutateRow("check", Filter::PassAll(), RowMutation(), Mutation("check"),
                                    options)
                 .status();
           }},
          {"ReadModifyWriteRow",
           [this](const WriteOptions& options) {
             return Table(table_)
                 .ReadModifyWriteRow("modify", {ReadModifyWriteRule::AppendValue("f", "q", "v")},
                                     options)
                 .status();
           }},
          {"a write that runs alone", Apply("alone", std::string(budget_bytes() / 4 + 1, 'v'))},
          {"an exclusive attempt",
           [this](const WriteOptions& options) {
             const auto attempt = [] {
               ADD_FAILURE() << "it ran";
               return absl::OkStatus();
             };
             return committer().RunExclusive(attempt, LimitsOf(options));
           }},
          {"a repeat that waits for a sync", [this](const WriteOptions& options) {
             WriteOptions repeat = options;
             repeat.idempotency_token = kQueuedToken;
             repeat.durability = Durability::kDisk;
             return Table(table_).Apply(Mutation("first"), repeat);
           }}};
}

// Regression: a write in the queue looked at neither its stop token nor its deadline.
TEST_F(QueuedWritesTest, AStoppedWriteLeavesTheQueueBehindACommit) {
  Open();
  HoldLeader();
  std::stop_source stop;
  std::future<absl::Status> stopped = Queue(Apply("stopped"), {.stop = stop.get_token()});
  std::future<absl::Status> behind = Queue(Apply("behind"));
  std::future<absl::Status> last =
      Queue(Apply("last"), {.stop = std::stop_source().get_token(),
                            .deadline = std::chrono::steady_clock::time_point::max()});
  // Nothing is queued after it: it may leave the queue at any time.
  std::future<absl::Status> late =
      Queue(Apply("late"),
            {.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50)});
  stop.request_stop();
  EXPECT_TRUE(IsReady(stopped)) << "it waits for the leader";
  EXPECT_TRUE(IsReady(late)) << "it waits for the leader";
  EXPECT_EQ(committer().queued(), 3u) << "the leader and two writes";
  Release();
  EXPECT_EQ(stopped.get().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(late.get().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(leader_.get(), absl::OkStatus());
  EXPECT_EQ(behind.get(), absl::OkStatus());
  EXPECT_EQ(last.get(), absl::OkStatus());
  ExpectRows("behind last leader ");
}

TEST_F(QueuedWritesTest, EveryKindOfWriteLeavesTheQueue) {
  Open();
  ASSERT_EQ(table_.Apply(Mutation("first"),
                         {.durability = Durability::kProcess, .idempotency_token = kQueuedToken}),
            absl::OkStatus());
  HoldLeader();
  for (const auto& [name, write] : AllKinds()) {
    std::stop_source stop;
    std::future<absl::Status> stopped = Queue(write, {.stop = stop.get_token()});
    EXPECT_FALSE(IsReady(stopped, std::chrono::seconds(0))) << name << " does not wait";
    stop.request_stop();
    std::future<absl::Status> late = std::async(std::launch::async, [write = write] {
      return write({.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50)});
    });
    const bool are_ready = IsReady(stopped) && IsReady(late);
    EXPECT_TRUE(are_ready) << name << " waits for the leader";
    if (!are_ready) Release();
    EXPECT_EQ(stopped.get().code(), absl::StatusCode::kCancelled) << name;
    EXPECT_EQ(late.get().code(), absl::StatusCode::kDeadlineExceeded) << name;
  }
  Release();
  EXPECT_EQ(leader_.get(), absl::OkStatus());
  ExpectRows("first leader ");
}

TEST_F(QueuedWritesTest, AStoppedWriteLeavesTheQueueBehindAnExclusiveSection) {
  Open();
  std::future<absl::Status> behind;
  EXPECT_EQ(committer().RunExclusive([&] {
    std::stop_source stop;
    std::future<absl::Status> stopped = Queue(Apply("stopped"), {.stop = stop.get_token()});
    behind = Queue(Apply("behind"));
    stop.request_stop();
    if (!IsReady(stopped)) {
      ADD_FAILURE() << "it waits for the section";
      // Its future may not be destroyed here.
      leader_ = std::move(stopped);
      return absl::OkStatus();
    }
    EXPECT_EQ(stopped.get().code(), absl::StatusCode::kCancelled);
    return absl::OkStatus();
  }),
            absl::OkStatus());
  EXPECT_EQ(behind.get(), absl::OkStatus());
  ExpectRows("behind ");
}

// The leader has taken both into its group when it syncs the log.
TEST_F(QueuedWritesTest, AWriteInTheGroupOfALeaderReturnsItsResult) {
  Open();
  std::stop_source stop;
  on_sync_ = [&] { stop.request_stop(); };
  std::future<absl::Status> leads;
  std::future<absl::Status> taken;
  EXPECT_EQ(committer().RunExclusive([&] {
    leads = Queue(Apply("leads"), {.durability = Durability::kDisk});
    taken = Queue(Apply("taken"), {.durability = Durability::kDisk, .stop = stop.get_token()});
    runs_on_sync_ = true;
    return absl::OkStatus();
  }),
            absl::OkStatus());
  EXPECT_EQ(leads.get(), absl::OkStatus());
  EXPECT_EQ(taken.get(), absl::OkStatus());
  EXPECT_TRUE(stop.stop_requested());
  ExpectRows("leads taken ");
}

TEST_F(QueuedWritesTest, ACompactThatWaitsForItsTurnStops) {
  Open();
  HoldLeader();
  std::stop_source stop;
  const auto compact = [this](const WriteOptions& options) {
    return Table(table_).Compact(RowRange::All(), {.stop = options.stop});
  };
  std::future<absl::Status> stopped = Queue(compact, {.stop = stop.get_token()});
  stop.request_stop();
  EXPECT_TRUE(IsReady(stopped)) << "it waits for the leader";
  Release();
  EXPECT_EQ(stopped.get().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(leader_.get(), absl::OkStatus());
}

// Writes are stopped while they poll, sleep, get their turn or are committed.
TEST_F(QueuedWritesTest, AWriteThatIsStoppedAtAnyTimeIsCommittedOrAbsent) {
  constexpr size_t kThreads = 4;
  constexpr int kWrites = 150;
  Open(2);
  Mutex mutex;
  std::vector<std::stop_source> stops(kThreads);  // of the present writes
  std::vector<std::string> committed(kThreads);
  std::vector<std::thread> writers;
  std::atomic<size_t> running = kThreads;
  for (size_t i = 0; i < kThreads; ++i) {
    writers.emplace_back([&, i] {
      for (int n = 0; n < kWrites; ++n) {
        const std::string row = fmt::format("{}-{:03}", i, n);
        WriteOptions options;
        options.durability = n % 3 == 0 ? Durability::kDisk : Durability::kProcess;
        {
          MutexLock lock(mutex);
          stops[i] = std::stop_source();
          options.stop = stops[i].get_token();
        }
        const absl::Status status = Apply(row)(options);
        if (status.ok()) committed[i] += row + " ";
        EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
      }
      --running;
    });
  }
  for (size_t i = 0; running > 0; i = (i + 1) % kThreads) {
    std::this_thread::yield();
    if (committer().queued() < 2) continue;
    std::stop_source stop = [&] {
      MutexLock lock(mutex);
      return stops[i];
    }();
    stop.request_stop();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(committer().queued(), 0u);
  EXPECT_EQ(table_.Apply(Mutation("last")), absl::OkStatus());
  std::string rows;
  for (const std::string& part : committed) rows += part;
  ExpectRows(rows + "last ");
}

}  // namespace
}  // namespace stele::internal
