// Tests background work: the callbacks it makes without holding a lock, compaction picks that
// became stale, and the effects of its failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "admin/table_admin.h"
#include "db/engine.h"
#include "model/access.h"
#include "state/job_failures.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

using JobKind = JobSubject::Kind;

// Runs `hook` whenever the time is read, except while the hook runs.
class HookedClock : public TimestampClock {
 public:
  Timestamp Now() override {
    if (hook && !running) {
      running = true;
      hook();
      running = false;
    }
    return now;
  }
  Timestamp now = Timestamp::FromMicros(1'000'000'000);
  std::function<void()> hook;
  bool running = false;
};

// The engine has no threads: all work happens inside the calls, and so do the hooks.
class BackgroundWaitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&file_system_);
    options.database.clock = clock_;
    options.database.on_event = [this](const DatabaseEvent& event) {
      events_.push_back(event.kind);
      if (on_event_) on_event_();
    };
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
  }
  void TearDown() override {
    clock_->hook = nullptr;
    on_event_ = nullptr;
  }
  Engine& engine() { return *local_->engine(); }
  uint32_t IdOf(std::string_view name) {
    return engine().storage().state.view()->version->FindTable(name)->definition->id;
  }
  Table Create(std::string_view name, GcRule rule = GcRule::None()) {
    absl::StatusOr<Table> table = database_.CreateTable(name, Schema().AddFamily("f", rule));
    EXPECT_TRUE(table.ok()) << table.status();
    return table.value_or(Table());
  }
  static absl::Status Set(Table table, const std::string& row_key, int64_t micros = 1000) {
    return table.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMicros(micros), "v"));
  }
  // Creates a table that is due for a merge.
  Table CreateWithDueMerge(std::string_view name) {
    Table table = Create(name);
    for (int i = 0; i < 6; ++i) {
      // With separate rows, the files would be moved by metadata only.
      EXPECT_TRUE(Set(table, "r").ok());
      EXPECT_TRUE(engine().admin().FlushTable(IdOf(name)).ok());
    }
    return table;
  }
  uint64_t Discarded() { return engine().storage().jobs->counters().jobs_discarded.load(); }
  size_t CountEvents(DatabaseEvent::Kind kind) {
    return static_cast<size_t>(std::count(events_.begin(), events_.end(), kind));
  }

  CrashFileSystem file_system_;
  std::shared_ptr<HookedClock> clock_ = std::make_shared<HookedClock>();
  std::vector<DatabaseEvent::Kind> events_;
  std::function<void()> on_event_;
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
};

// The locks must be free during a callback: another thread takes them while the callback waits for
// it.
TEST_F(BackgroundWaitsTest, NoCallbackRunsUnderALock) {
  Table table = Create("t", GcRule::MaxAge(std::chrono::hours(1)));
  std::vector<std::future<void>> probes;
  int calls = 0;
  int held = 0;
  const auto probe = [&] {
    ++calls;
    probes.push_back(std::async(std::launch::async, [this] {
      engine().storage().state.view();
      engine()
          .storage()
          .installer->RunWithoutInstalls([] { return absl::OkStatus(); })
          .IgnoreError();
    }));
    if (probes.back().wait_for(std::chrono::minutes(2)) != std::future_status::ready) ++held;
  };
  clock_->hook = probe;
  on_event_ = probe;
  for (int i = 0; i < 7; ++i) {
    EXPECT_TRUE(Set(table, "r" + std::to_string(i)).ok());
    EXPECT_TRUE(table.Flush().ok());
  }
  // A leap is reported. Once the clock is confirmed, the whole table is garbage.
  clock_->now = Timestamp::FromMicros(200'000'000'000);
  engine().storage().clock.Now();
  engine().storage().clock.Confirm();
  EXPECT_TRUE(database_.WaitForIdle().ok());
  EXPECT_TRUE(table.Compact().ok());
  EXPECT_TRUE(database_.DeleteTable("t").ok());
  clock_->hook = nullptr;
  on_event_ = nullptr;
  probes.clear();
  EXPECT_GT(calls, 20);
  EXPECT_EQ(CountEvents(DatabaseEvent::Kind::kClockJump), 2u) << "lost and regained";
  EXPECT_EQ(held, 0);
}

TEST_F(BackgroundWaitsTest, ATabletTakenWhileItWasChosenIsLeftAlone) {
  Table table = CreateWithDueMerge("t");
  std::atomic<bool> stop{false};
  clock_->hook = [&, once = true]() mutable {
    if (std::exchange(once, false)) {
      EXPECT_TRUE(engine().scheduler().AcquireTablet(IdOf("t"), "", &stop).ok());
    }
  };
  EXPECT_FALSE(engine().scheduler().Step());
  EXPECT_EQ(engine().storage().jobs->counters().compactions.load(), 0u);
  engine().scheduler().ReleaseTablet({IdOf("t"), ""}, &stop);
  EXPECT_TRUE(engine().scheduler().Step());
  EXPECT_EQ(engine().storage().jobs->counters().compactions.load(), 1u);
  EXPECT_EQ(Discarded(), 0u);
}

// Regression: such a Compact noticed a stop only once it had the tablet. The stop is requested
// while it waits: its thread runs the merge of another table meanwhile.
TEST_F(BackgroundWaitsTest, ACompactThatWaitsForItsTabletStops) {
  CreateWithDueMerge("other");
  Table table = Create("t");
  ASSERT_TRUE(Set(table, "r").ok());
  ASSERT_TRUE(engine().admin().FlushTable(IdOf("t")).ok());
  ASSERT_EQ(engine().storage().jobs->counters().compactions.load(), 0u);
  std::atomic<bool> first{false};
  ASSERT_TRUE(engine().scheduler().AcquireTablet(IdOf("t"), "", &first).ok());
  std::stop_source stop;
  clock_->hook = [&] { stop.request_stop(); };
  EXPECT_EQ(table.Compact(RowRange::All(), {.stop = stop.get_token()}).code(),
            absl::StatusCode::kCancelled);
  clock_->hook = nullptr;
  EXPECT_EQ(engine().storage().jobs->counters().compactions.load(), 1u) << "it did not wait";
  std::atomic<bool> second{false};
  EXPECT_EQ(
      engine()
          .scheduler()
          .AcquireTablet(IdOf("t"), "", &second, {.deadline = std::chrono::steady_clock::now()})
          .status()
          .code(),
      absl::StatusCode::kDeadlineExceeded);
  engine().scheduler().ReleaseTablet({IdOf("t"), ""}, &first);
  EXPECT_EQ(table.Compact(), absl::OkStatus());
}

TEST_F(BackgroundWaitsTest, AStalePickIsMadeAgain) {
  Table table = CreateWithDueMerge("t");
  clock_->hook = [&, once = true]() mutable {
    if (std::exchange(once, false)) {
      EXPECT_TRUE(table.Compact().ok());
    }
  };
  EXPECT_FALSE(engine().scheduler().Step());
  EXPECT_EQ(engine().storage().jobs->counters().compactions.load(), 1u);
  EXPECT_EQ(Discarded(), 0u);
}

// Tables that get a file without a common row again and again always have a metadata merge due.
TEST_F(BackgroundWaitsTest, MetadataMergesLeaveTurnsToOtherCompactions) {
  Table ascending = Create("ascending");
  int row = 1000;
  const auto flush_next_row = [&] {
    ASSERT_TRUE(Set(ascending, std::to_string(row++)).ok());
    ASSERT_TRUE(engine().admin().FlushTable(IdOf("ascending")).ok());
  };
  flush_next_row();
  Table merged = CreateWithDueMerge("merged");
  const JobCounters& counters = engine().storage().jobs->counters();
  int steps = 0;
  for (; steps < 100 && counters.compactions.load() == 0; ++steps) {
    flush_next_row();
    EXPECT_TRUE(engine().scheduler().Step());
  }
  EXPECT_EQ(counters.compactions.load(), 1u);
  EXPECT_EQ(counters.metadata_merges.load(), 16u);
  EXPECT_LT(steps, 40) << "a few of them do other work";
}

// A table with steady writes always has a merge by size due.
TEST_F(BackgroundWaitsTest, MergesLeaveTurnsToReclaiming) {
  Table deleted = Create("deleted");
  const std::string value(200, 'v');
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(deleted
                    .Apply(RowMutation(fmt::format("{:03}", i))
                               .SetCell("f", "q", Timestamp::FromMicros(1000), value))
                    .ok());
  ASSERT_TRUE(engine().admin().FlushTable(IdOf("deleted")).ok());
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(deleted.Apply(RowMutation(fmt::format("{:03}", i)).DeleteFromRow()).ok());
  ASSERT_TRUE(engine().admin().FlushTable(IdOf("deleted")).ok());
  const auto is_reclaimed = [&] {
    return engine().storage().state.view()->version->FindTable("deleted")->tablets[0].stack.empty();
  };
  ASSERT_FALSE(is_reclaimed());
  Table busy = Create("busy");
  int steps = 0;
  for (; steps < 100 && !is_reclaimed(); ++steps) {
    for (int i = 0; i < 6; ++i) {
      ASSERT_TRUE(Set(busy, "r").ok());
      ASSERT_TRUE(engine().admin().FlushTable(IdOf("busy")).ok());
    }
    ASSERT_TRUE(engine().scheduler().Step());
  }
  EXPECT_TRUE(is_reclaimed());
  const JobCounters& counters = engine().storage().jobs->counters();
  EXPECT_LE(counters.compactions.load() + counters.metadata_merges.load(), 17u)
      << "16 merges, and then a turn";
  EXPECT_LT(steps, 40) << "a few of them do other work";
}

// Work that becomes due during a search without result starts without a sleep.
TEST_F(BackgroundWaitsTest, WhatComesDueDuringTheLookIsSeen) {
  Table table = Create("t");
  ASSERT_TRUE(Set(table, "r").ok());
  clock_->hook = [&, once = true]() mutable {
    if (std::exchange(once, false)) engine().storage().state.Freeze(IdOf("t"));
  };
  EXPECT_TRUE(engine().scheduler().Step());
  EXPECT_EQ(engine().storage().jobs->counters().flushes.load(), 1u);
  clock_->hook = [&, once = true]() mutable {
    if (!std::exchange(once, false)) return;
    EXPECT_TRUE(Set(table, "r2").ok());
    engine().storage().state.Freeze(IdOf("t"));
  };
  EXPECT_TRUE(database_.WaitForIdle().ok());
  EXPECT_EQ(engine().storage().jobs->counters().flushes.load(), 2u);
}

// Regression: the table with the lowest id was always flushed first, however often its memtables
// were frozen.
TEST_F(BackgroundWaitsTest, TheTableWithTheOldestCommitIsFlushedFirst) {
  Table first = Create("first");
  Table second = Create("second");
  ASSERT_TRUE(Set(second, "r").ok());
  ASSERT_TRUE(Set(first, "r").ok());
  for (const char* const name : {"first", "second"}) engine().storage().state.Freeze(IdOf(name));
  ASSERT_TRUE(engine().scheduler().Step());
  EXPECT_EQ(engine().storage().state.view()->Find(IdOf("second"))->tablets[0].stack.size(), 1u);
  EXPECT_EQ(engine().storage().state.view()->Find(IdOf("first"))->tablets[0].stack.size(), 0u);
}

TEST_F(BackgroundWaitsTest, AFlushIsToldOfItsOwnTableOnly) {
  Table broken = Create("a");
  Table sound = Create("b");
  for (Table* table : {&broken, &sound}) ASSERT_TRUE(Set(*table, "r").ok());
  engine().storage().state.Freeze(IdOf("a"));  // the first in the queue
  file_system_.FailKind(CallKind::kCreate, 1, {.error_number = EIO, .path_part = ".sst"});
  EXPECT_EQ(sound.Flush(), absl::OkStatus());
  EXPECT_EQ(database_.Stats().last_background_error.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CountEvents(DatabaseEvent::Kind::kBackgroundError), 1u);
  EXPECT_EQ(CountEvents(DatabaseEvent::Kind::kBackgroundRecovered), 0u)
      << "another job's success is not this one's";
  EXPECT_EQ(Set(sound, "r2").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(database_.WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(CountEvents(DatabaseEvent::Kind::kBackgroundRecovered), 1u);
  EXPECT_EQ(Set(sound, "r2"), absl::OkStatus());
  EXPECT_EQ(engine().storage().jobs->counters().flushes.load(), 2u);
}

TEST_F(BackgroundWaitsTest, WhatAWaitIsToldIsItsOwnOrWhatWaitsForAll) {
  Table broken = Create("a");
  ASSERT_TRUE(Set(broken, "r").ok());
  file_system_.FailKind(CallKind::kCreate, 1,
                        {.error_number = EIO, .sticky = true, .path_part = ".sst"});
  EXPECT_EQ(broken.Flush().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(database_.WaitForIdle().code(), absl::StatusCode::kUnavailable);
  file_system_.ClearFaults();
  EXPECT_EQ(database_.WaitForIdle(), absl::OkStatus());
}

// Otherwise a refused write waits for an attempt that would fail in the same way.
TEST(JobFailuresTest, AFlushThatFoundNoSpaceAwaitsItInItsBackoff) {
  JobFailures failures;
  const JobSubject flush{JobKind::kFlush, 1};
  const auto now = JobFailures::TimePoint() + std::chrono::hours(1);
  EXPECT_FALSE(failures.LacksSpaceUntilRetry(now));
  failures.Add({JobKind::kCompaction, 1, "m"}, ResourceExhausted("full"), now);
  failures.Add(flush, Unavailable("the disk is slow"), now);
  EXPECT_FALSE(failures.LacksSpaceUntilRetry(now));
  failures.Add(flush, ResourceExhausted("full"), now);
  EXPECT_TRUE(failures.LacksSpaceUntilRetry(now));
  EXPECT_FALSE(failures.LacksSpaceUntilRetry(now + std::chrono::seconds(5)));
  failures.EndBackoffOf(JobKind::kFlush);
  EXPECT_FALSE(failures.LacksSpaceUntilRetry(now)) << "a call has freed space";
}

TEST(JobFailuresTest, EachJobFailsRestsAndRecoversByItself) {
  JobFailures failures;
  const JobSubject flush{JobKind::kFlush, 1};
  const JobSubject compaction{JobKind::kCompaction, 1, "m"};
  const auto now = JobFailures::TimePoint() + std::chrono::hours(1);
  EXPECT_TRUE(failures.Add(flush, absl::UnavailableError("u"), now));
  const uint64_t before = failures.count();
  EXPECT_TRUE(
      failures.Add(compaction, absl::DataLossError("d"), now + std::chrono::milliseconds(40)));
  EXPECT_FALSE(
      failures.Add(compaction, absl::DataLossError("d2"), now + std::chrono::milliseconds(40)));
  EXPECT_LT(failures.NumberOf(flush), failures.NumberOf(compaction));
  EXPECT_EQ(failures.NumberOf({JobKind::kSegment}), 0u);

  const auto all = [](const JobSubject&) { return true; };
  const auto flushes = [](const JobSubject& subject) { return subject.kind == JobKind::kFlush; };
  EXPECT_EQ(failures.Newest(), absl::DataLossError("d2"));
  EXPECT_EQ(failures.Since(before, all), absl::DataLossError("d2"));
  EXPECT_EQ(failures.Since(before, flushes), absl::OkStatus()) << "it failed before";
  EXPECT_EQ(failures.Since(0, flushes), absl::UnavailableError("u"));
  EXPECT_EQ(failures.RefusingWrites(), absl::UnavailableError("u"));

  // The flush backed off for 50 ms; the compaction failed twice and backs off for 100 ms.
  const auto later = now + std::chrono::milliseconds(60);
  EXPECT_TRUE(failures.IsInBackoff(flush, now));
  EXPECT_FALSE(failures.IsInBackoff(flush, later));
  EXPECT_EQ(failures.SubjectsInBackoff(later), std::vector<JobSubject>{compaction});
  EXPECT_TRUE(failures.RemoveExceptInBackoff(later));
  EXPECT_FALSE(failures.RemoveExceptInBackoff(later));
  EXPECT_EQ(failures.RefusingWrites(), absl::OkStatus());
  EXPECT_TRUE(failures.Remove(compaction));
  EXPECT_FALSE(failures.Remove(compaction));
  EXPECT_TRUE(failures.empty());
  EXPECT_EQ(failures.Newest(), absl::OkStatus());
}

}  // namespace
}  // namespace stele::internal
