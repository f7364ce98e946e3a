// Tests what a database shows and keeps when its clock leaps: engine rules 7 to 9, and
// docs/decisions/0048-two-times.md.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "db/local_database.h"
#include "model/access.h"
#include "state/database_clock.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_contract.h"
#include "support/model_leaping_clock.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Timestamp kToday = Timestamp::FromMicros(1'795'000'000'000'000);  // 2026
constexpr hours kDay{24};
constexpr hours kYears{24 * 365 * 70};
constexpr Timestamp kFuture = Timestamp::FromMicros(4'070'908'800'000'000);  // 2099

// A database in memory without threads. The clock starts at kToday.
class ClockLeapsTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }

  void Open(std::shared_ptr<TimestampClock> clock = nullptr, FileSystem* files = nullptr) {
    table_.reset();
    database_.reset();
    EngineOptions options{.sizes = SizesFor(uint64_t{64} << 20),
                          .file_system = files != nullptr ? files : &files_,
                          .background_threads = 0};
    options.database.clock = clock != nullptr ? std::move(clock) : clock_;
    options.database.on_event = [this](const DatabaseEvent& event) {
      if (event.kind == DatabaseEvent::Kind::kClockJump) news_.push_back(event.message);
    };
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    engine_ = (*opened)->engine().get();
    database_ = Access::Make<Database>(*std::move(opened));
    if (absl::StatusOr<Table> table = database_->OpenTable("t"); table.ok()) table_ = *table;
  }
  void Reopen(std::shared_ptr<TimestampClock> clock = nullptr) {
    ASSERT_EQ(database_->Close(), absl::OkStatus());
    Open(std::move(clock));
  }
  // Family "old" keeps cells for 30 days.
  void MakeTable(GcRule rule = GcRule::MaxAge(30 * kDay)) {
    absl::StatusOr<Table> made =
        database_->CreateTable("t", Schema().AddFamily("old", rule).AddFamily("all"));
    ASSERT_TRUE(made.ok()) << made.status();
    table_ = *made;
  }
  // Writes a cell with the present time of the clock, and one without a time.
  void Write(const std::string& row) {
    ASSERT_EQ(table_->Apply(RowMutation(row)
                                .SetCell("old", "q", clock_->Now(), "v")
                                .SetCell("old", "stamped", "v")),
              absl::OkStatus());
  }
  // The rows that have both cells of Write().
  std::string Rows(const ReadOptions& options = {}) const {
    std::string rows;
    RowReader reader = table_->ReadRows(RowSet::All(), Filter::PassAll(), options);
    for (const RowView& row : reader) {
      if (row.cells().size() == 2) rows += row.row_key();
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return rows;
  }
  // The rows that are stored, also those that reads do not show.
  std::string Stored() const { return Rows({.apply_gc = false}); }
  void FlushAndCompact() {
    ASSERT_EQ(table_->Flush(), absl::OkStatus());
    ASSERT_EQ(table_->Compact(), absl::OkStatus());
    ASSERT_EQ(database_->WaitForIdle(), absl::OkStatus());
  }
  bool IsTrusted() { return engine_->storage().clock.Read().is_trusted; }

  CrashFileSystem files_;
  std::shared_ptr<LeapingClock> clock_ = std::make_shared<LeapingClock>(kToday);
  std::optional<Database> database_;
  std::optional<Table> table_;
  Engine* engine_ = nullptr;
  std::vector<std::string> news_;
};

TEST_F(ClockLeapsTest, ALeapAheadHidesWhileItLastsAndRemovesNothing) {
  MakeTable();
  Write("a");
  FlushAndCompact();
  Write("b");
  clock_->Leap(kYears);
  EXPECT_EQ(Rows(), "");
  FlushAndCompact();
  EXPECT_EQ(Stored(), "ab");
  EXPECT_FALSE(IsTrusted());
  clock_->Leap(-kYears);
  EXPECT_EQ(Rows(), "ab");
  EXPECT_TRUE(IsTrusted());
  Write("c");
  EXPECT_EQ(Rows(), "abc");
  EXPECT_EQ(news_.size(), 2u);
}

TEST_F(ClockLeapsTest, ALeapAheadBetweenTwoOpeningsRemovesNothing) {
  MakeTable();
  Write("a");
  ASSERT_EQ(database_->Close(), absl::OkStatus());
  clock_->Leap(kYears);
  Open();
  EXPECT_EQ(Rows(), "");
  FlushAndCompact();
  EXPECT_EQ(Stored(), "a");
  EXPECT_FALSE(IsTrusted());
  ASSERT_EQ(database_->Close(), absl::OkStatus());
  clock_->Leap(-kYears);
  Open();
  EXPECT_TRUE(IsTrusted());
  EXPECT_EQ(Rows(), "a");
  Write("b");
  FlushAndCompact();
  EXPECT_EQ(Rows(), "ab");
  EXPECT_EQ(news_.size(), 1u) << "of the opening with the wrong clock";
}

TEST_F(ClockLeapsTest, AMachineThatBootsIn1970RemovesNothingWhenItsClockIsSet) {
  MakeTable();
  Write("a");
  clock_->Set(Ms(5'000));
  Reopen();
  EXPECT_EQ(Rows(), "a") << "nothing is old yet";
  EXPECT_FALSE(IsTrusted());
  FlushAndCompact();
  clock_->Pass(minutes(1));
  clock_->Set(Timestamp::FromMicros(kToday.micros() + 3'600'000'000));
  EXPECT_EQ(Rows(), "a");
  EXPECT_TRUE(IsTrusted()) << "it is near the time of the last close";
  FlushAndCompact();
  EXPECT_EQ(Stored(), "a");
  clock_->Pass(31 * kDay);
  FlushAndCompact();
  EXPECT_EQ(Stored(), "");
}

TEST_F(ClockLeapsTest, CollectionGoesOnOnceTheClockHasAgreedWithTheElapsedTime) {
  MakeTable();
  Write("a");
  clock_->Leap(60 * kDay);
  EXPECT_EQ(Rows(), "");
  clock_->Pass(minutes(9));
  FlushAndCompact();
  EXPECT_EQ(Stored(), "a");
  clock_->Leap(minutes(5));  // it does not agree, and the time counts anew
  FlushAndCompact();
  clock_->Pass(minutes(9));
  FlushAndCompact();
  EXPECT_EQ(Stored(), "a");
  EXPECT_FALSE(IsTrusted());
  clock_->Pass(minutes(1));
  EXPECT_TRUE(IsTrusted());
  FlushAndCompact();
  EXPECT_EQ(Stored(), "");
}

TEST_F(ClockLeapsTest, WhileTheClockIsNotTrustedAgesCountByTheElapsedTime) {
  MakeTable();
  Write("a");
  clock_->Pass(20 * kDay);
  Write("b");
  clock_->Leap(kYears);
  // The clock keeps leaping, so it is never trusted again.
  for (int i = 0; i < 12; ++i) {
    clock_->Pass(kDay);
    clock_->Leap(hours(1));
    FlushAndCompact();
  }
  EXPECT_FALSE(IsTrusted());
  EXPECT_EQ(Stored(), "b");
}

// Each step is within the bound of a leap, all together are not.
TEST_F(ClockLeapsTest, StepsOfADayAddUp) {
  MakeTable();
  Write("a");
  for (int step = 0; step < 3; ++step) {
    clock_->Pass(hours(7));
    clock_->Leap(seconds(25));
    EXPECT_EQ(IsTrusted(), step < 2) << step;
  }
  clock_->Leap(seconds(-25));
  EXPECT_TRUE(IsTrusted()) << "it has returned";
  for (int day = 0; day < 3; ++day) {
    clock_->Pass(kDay);
    clock_->Leap(seconds(25));
    EXPECT_TRUE(IsTrusted()) << day;
  }
}

TEST_F(ClockLeapsTest, ANightDoesNotMatterAndAMonthNeedsTenMinutes) {
  MakeTable();
  Write("a");
  ASSERT_EQ(database_->Close(), absl::OkStatus());
  clock_->Leap(hours(16));  // a closed database does not see the elapsed time
  Open();
  EXPECT_TRUE(IsTrusted());
  ASSERT_EQ(database_->Close(), absl::OkStatus());
  clock_->Leap(31 * kDay);
  Open();
  EXPECT_FALSE(IsTrusted());
  EXPECT_EQ(Rows(), "") << "reads follow the clock";
  FlushAndCompact();
  EXPECT_EQ(Stored(), "a");
  clock_->Pass(minutes(10));
  FlushAndCompact();
  EXPECT_EQ(Stored(), "");
}

TEST_F(ClockLeapsTest, AMarkInTheFutureIsCorrected) {
  Reopen(std::make_shared<ManualClock>(kFuture));
  MakeTable();
  ASSERT_EQ(table_->Apply(RowMutation("x").SetCell("all", "q", "v")), absl::OkStatus());
  ASSERT_EQ(table_->Flush(), absl::OkStatus());
  ASSERT_EQ(table_->Apply(RowMutation("y").SetCell("all", "q", "v")), absl::OkStatus());
  Reopen();
  EXPECT_FALSE(IsTrusted());
  Write("a");
  EXPECT_EQ(Rows(), "a") << "stamped with the right time";
  FlushAndCompact();
  EXPECT_EQ(Stored(), "a");
  clock_->Pass(minutes(10));
  EXPECT_TRUE(IsTrusted());
  ASSERT_EQ(database_->Close(), absl::OkStatus());
  clock_->Pass(hours(1));
  Open();
  EXPECT_TRUE(IsTrusted()) << "the mark is right, too";
}

TEST_F(ClockLeapsTest, TheOwnerConfirmsAClock) {
  MakeTable();
  Write("a");
  ASSERT_EQ(database_->Close(), absl::OkStatus());
  clock_->Leap(31 * kDay);
  Open();
  EXPECT_FALSE(database_->Stats().clock.is_trusted);
  EXPECT_LT(database_->Stats().clock.collection_time.micros(), kToday.micros() + 1'000'000);
  EXPECT_EQ(database_->Stats().clock.now, clock_->Now());
  FlushAndCompact();
  EXPECT_EQ(Stored(), "a");
  ASSERT_EQ(database_->ConfirmClock(), absl::OkStatus());
  EXPECT_TRUE(database_->Stats().clock.is_trusted);
  EXPECT_EQ(database_->Stats().clock.collection_time, clock_->Now());
  FlushAndCompact();
  EXPECT_EQ(Stored(), "");
}

// The log has commits with times of the future when the mark is corrected.
TEST_F(ClockLeapsTest, ACorrectedMarkIsNotRaisedByOlderCommitsOfTheLog) {
  for (const bool confirm : {false, true}) {
    Reopen(std::make_shared<ManualClock>(kFuture));
    if (!confirm) MakeTable();
    ASSERT_EQ(table_->Apply(RowMutation("y").SetCell("all", "q", "v")), absl::OkStatus());
    Reopen();
    EXPECT_FALSE(IsTrusted());
    if (confirm) {
      ASSERT_EQ(database_->ConfirmClock(), absl::OkStatus());
    } else {
      clock_->Pass(minutes(10));
      EXPECT_TRUE(IsTrusted());
      ASSERT_EQ(database_->CreateTable("u", Schema()).status(), absl::OkStatus());  // an edit
    }
    const auto image = files_.Crash(CrashPolicy::DropUnsynced(), 1);
    Open(nullptr, image.get());
    EXPECT_TRUE(IsTrusted()) << confirm;
    EXPECT_TRUE(table_->Exists("y").value_or(false)) << "the commit is in the log";
    Open();
  }
}

TEST_F(ClockLeapsTest, SmallStepsBackAreSmoothed) {
  const auto now = [&] { return engine_->storage().clock.Now(); };
  const int64_t start = now();
  clock_->Leap(-std::chrono::milliseconds(900));
  EXPECT_EQ(now(), start);
  clock_->Pass(seconds(5));
  EXPECT_EQ(now(), start + 5'000'000);
  clock_->Leap(-seconds(30));
  EXPECT_EQ(now(), clock_->Now().micros());
  EXPECT_LT(now(), start);
  EXPECT_TRUE(IsTrusted());
}

// Engine rule 8. The delete is committed while the clock is behind. Jobs may use the time of an
// earlier commit, at which the older version was garbage. So the fence has at least that time.
TEST_F(ClockLeapsTest, AFenceIsNotOlderThanEarlierCommits) {
  MakeTable(GcRule::Intersection(GcRule::MaxNumVersions(1), GcRule::MaxAge(seconds(60))));
  const Timestamp older = Ms(kToday.micros() / 1000 - 50'000);
  const Timestamp newer = Ms(kToday.micros() / 1000 - 1'000);
  ASSERT_EQ(table_->Apply(
                RowMutation("r").SetCell("old", "q", older, "v").SetCell("old", "q", newer, "v")),
            absl::OkStatus());
  ASSERT_EQ(table_->Flush(), absl::OkStatus());
  clock_->Pass(seconds(20));
  ASSERT_EQ(table_->Apply(RowMutation("s").SetCell("all", "q", "v")), absl::OkStatus());
  clock_->Leap(-hours(2));
  EXPECT_EQ(Rows(), "r");
  ASSERT_EQ(table_->Apply(RowMutation("r").DeleteFromColumn("old", "q", {.start = newer})),
            absl::OkStatus());
  EXPECT_EQ(Show(*table_->ReadRow("r")), "none");
}

// A fence at such a mark would remove all other versions of the column.
TEST_F(ClockLeapsTest, AFenceIsNotInTheFuture) {
  Reopen(std::make_shared<ManualClock>(kFuture));
  MakeTable(GcRule::Union(GcRule::MaxNumVersions(3), GcRule::MaxAge(30 * kDay)));
  ASSERT_EQ(table_->Apply(RowMutation("r").SetCell("all", "q", "v")), absl::OkStatus());
  Reopen();
  RowMutation versions("s");
  for (int64_t i = 0; i < 4; ++i) versions.SetCell("old", "q", Ms(kToday.micros() / 1000 - i), "v");
  ASSERT_EQ(table_->Apply(versions), absl::OkStatus());
  ASSERT_EQ(table_->Apply(RowMutation("s").DeleteFromColumn("old", "q",
                                                            {.start = Ms(kToday.micros() / 1000)})),
            absl::OkStatus());
  EXPECT_EQ((*table_->ReadRow("s"))->cells().size(), 2u);
}

// Engine rule 9. The mark is in the future, and so are the times of commits. Jobs do not judge
// ordinals at such a time.
TEST_F(ClockLeapsTest, NoOrdinalIsJudgedAtATimeInTheFuture) {
  Reopen(std::make_shared<ManualClock>(kFuture));
  MakeTable(GcRule::Intersection(GcRule::MaxNumVersions(1), GcRule::MaxAge(seconds(60))));
  ASSERT_EQ(table_->Apply(RowMutation("r").SetCell("all", "q", "v")), absl::OkStatus());
  Reopen();
  const int64_t now_millis = kToday.micros() / 1000;
  for (const int64_t age_millis : {50'000, 1'000}) {
    ASSERT_EQ(table_->Apply(RowMutation("s").SetCell("old", "q", Ms(now_millis - age_millis), "v")),
              absl::OkStatus());
    FlushAndCompact();
  }
  EXPECT_EQ((*table_->ReadRow("s"))->cells().size(), 2u);
}

// Tokens are stamped with the time of commits, and their age is judged by it.
TEST_F(ClockLeapsTest, ATokenHoldsOverALeap) {
  MakeTable();
  const auto write = [&] {
    return table_->Apply(RowMutation("r").SetCell("all", "q", "v"),
                         {.idempotency_token = "once only"});
  };
  ASSERT_EQ(write(), absl::OkStatus());
  for (const hours step : {kYears, -2 * kYears, kYears}) {
    clock_->Leap(step);
    ASSERT_EQ(write(), absl::OkStatus());
    EXPECT_EQ((*table_->ReadRow("r"))->cells().size(), 1u);
  }
  clock_->Pass(minutes(16));
  ASSERT_EQ(write(), absl::OkStatus());
  EXPECT_EQ((*table_->ReadRow("r"))->cells().size(), 2u) << "it has expired";
}

// Regression: a reading that had leapt was handed out if the clock became right, and trusted, while
// the leap was being reported.
TEST(DatabaseClockTest, AVerdictIsNotUsedForAnotherReading) {
  const auto clock = std::make_shared<LeapingClock>(kToday);
  DatabaseClock* judge = nullptr;
  bool is_corrected = false;
  DatabaseClock database_clock(clock, [&](const std::string&) {
    if (std::exchange(is_corrected, true)) return;
    clock->Set(kToday);
    judge->Confirm();
  });
  judge = &database_clock;
  database_clock.RaiseMark(kToday.micros());
  database_clock.Begin();
  clock->Leap(kYears);
  const DatabaseClock::State state = database_clock.Read();
  EXPECT_TRUE(is_corrected);
  EXPECT_FALSE(state.is_trusted);
  EXPECT_EQ(state.collection_time, kToday.micros());
  EXPECT_TRUE(database_clock.Read().is_trusted);
}

}  // namespace
}  // namespace stele::internal
