// Tests jobs that read the clock while it goes back: a job uses no time from before its view, and
// no GC rule at a time when another was in force (engine rules 6 and 7).
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "db/engine.h"
#include "db/local_database.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"

namespace stele::internal {
namespace {

using std::chrono::seconds;

constexpr Timestamp AtSecond(int64_t second) { return Timestamp::FromMicros(second * 1'000'000); }

// A clock that calls a function in one of its readings: after it has taken the time that it
// returns. Other threads may change the database in that moment.
class SteppingClock final : public TimestampClock {
 public:
  Timestamp Now() override {
    const Timestamp now = now_;
    if (calls_left_ > 0 && --calls_left_ == 0) std::exchange(hook_, nullptr)();
    return now;
  }
  bool is_authoritative() const override { return true; }
  void Set(Timestamp now) { now_ = now; }
  // Calls `hook` in the reading number `call` from now on, counted from 1.
  void HookAt(int call, std::function<void()> hook) {
    calls_left_ = call;
    hook_ = std::move(hook);
  }
  // Returns true if the hook was called, and ends the wait for it otherwise.
  bool EndHook() {
    calls_left_ = 0;
    return std::exchange(hook_, nullptr) == nullptr;
  }

 private:
  Timestamp now_;
  int calls_left_ = 0;
  std::function<void()> hook_;
};

// Shows the thread that made it a time in the future, once for each call of StepAhead.
class AheadOnceClock final : public TimestampClock {
 public:
  Timestamp Now() override {
    if (std::this_thread::get_id() != thread_ || !std::exchange(is_ahead_, false))
      return AtSecond(1000);
    return AtSecond(1'000'000);
  }
  bool is_authoritative() const override { return true; }
  void StepAhead() { is_ahead_ = true; }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
  bool is_ahead_ = false;
};

class ClockStepsTest : public ::testing::Test {
 protected:
  // A table whose cells are kept for `age`, at the time 1000 s.
  void Open(seconds age) {
    clock_ = std::make_shared<SteppingClock>();
    clock_->Set(AtSecond(1000));
    OpenWith(clock_, age, /*threads=*/0);
  }
  void OpenWith(std::shared_ptr<TimestampClock> clock, seconds age, int threads) {
    table_.reset();
    database_.reset();
    files_ = std::make_unique<CrashFileSystem>();
    EngineOptions options{.sizes = SizesFor(uint64_t{64} << 20),
                          .file_system = files_.get(),
                          .background_threads = threads};
    options.database.clock = std::move(clock);
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    database_ = Access::Make<Database>(*std::move(opened));
    absl::StatusOr<Table> made =
        database_->CreateTable("t", Schema().AddFamily("f", GcRule::MaxAge(age)));
    ASSERT_TRUE(made.ok()) << made.status();
    table_ = *made;
  }
  void Set(const char* row_key, Timestamp timestamp) {
    ASSERT_EQ(table_->Apply(RowMutation(row_key).SetCell("f", "q", timestamp, "v")),
              absl::OkStatus());
  }
  bool Has(const char* row_key) { return (*table_->ReadRow(row_key)).has_value(); }

  std::unique_ptr<CrashFileSystem> files_;
  std::shared_ptr<SteppingClock> clock_;
  std::optional<Database> database_;
  std::optional<Table> table_;
};

// Runs `call` with `hook` in its first reading of the clock, then with `hook` in the second, and so
// on. `check` follows each. Returns the number of readings.
int InEveryReading(const std::function<SteppingClock*()>& prepare,
                   const std::function<void()>& hook, const std::function<void()>& call,
                   const std::function<void()>& check) {
  for (int reading = 1;; ++reading) {
    SCOPED_TRACE(reading);
    SteppingClock* const clock = prepare();
    clock->HookAt(reading, [&hook] { std::thread(hook).join(); });
    call();
    if (!clock->EndHook()) return reading - 1;
    check();
  }
}

TEST_F(ClockStepsTest, CellsWrittenAfterAStepBackAreKept) {
  const auto prepare = [this] {
    Open(seconds(10));
    Set("old", AtSecond(1000));
    EXPECT_EQ(table_->Flush(), absl::OkStatus());
    return clock_.get();
  };
  const auto step_back = [this] {
    clock_->Set(AtSecond(900));
    Set("new", AtSecond(900));
    EXPECT_EQ(table_->Flush(), absl::OkStatus());
  };
  const auto compact = [this] {
    EXPECT_EQ(table_->Compact(), absl::OkStatus());
    EXPECT_EQ(database_->WaitForIdle(), absl::OkStatus());
  };
  const int readings =
      InEveryReading(prepare, step_back, compact, [this] { EXPECT_TRUE(Has("new")); });
  EXPECT_GE(readings, 2) << "a compaction and a look for one";
}

TEST_F(ClockStepsTest, AStricterRuleIsNotAppliedAtATimeBeforeIt) {
  const auto prepare = [this] {
    Open(seconds(10'000));
    Set("r", AtSecond(930));
    return clock_.get();
  };
  const auto step_back = [this] {
    clock_->Set(AtSecond(900));
    EXPECT_EQ(
        table_->ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxAge(seconds(50)))}),
        absl::OkStatus());
  };
  const auto flush_and_compact = [this] {
    EXPECT_EQ(table_->Flush(), absl::OkStatus());
    EXPECT_EQ(table_->Compact(), absl::OkStatus());
    EXPECT_EQ(database_->WaitForIdle(), absl::OkStatus());
  };
  const int readings =
      InEveryReading(prepare, step_back, flush_and_compact, [this] { EXPECT_TRUE(Has("r")); });
  EXPECT_GE(readings, 3) << "a flush, a compaction and a look for one";
}

// Regression: the wait for work that only this thread had found due never ended.
TEST_F(ClockStepsTest, AWaitEndsIfOnlyItsThreadSawWorkDue) {
  const auto clock = std::make_shared<AheadOnceClock>();
  OpenWith(clock, seconds(10), /*threads=*/2);
  Set("r", AtSecond(1000));
  ASSERT_EQ(table_->Flush(), absl::OkStatus());
  ASSERT_EQ(database_->WaitForIdle(), absl::OkStatus());
  clock->StepAhead();
  EXPECT_EQ(database_->WaitForIdle(), absl::OkStatus());
  EXPECT_TRUE(Has("r"));
}

}  // namespace
}  // namespace stele::internal
