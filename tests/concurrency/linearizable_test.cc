// Tests that histories of one row are linearizable (Herlihy and Wing 1990). Several threads read
// and write the row with every kind of write. Some order of the operations, each between its call
// and its return, must explain all results. The search is that of Wing and Gong (1993): it tries
// each operation that started before every other pending one returned, and remembers the failed
// states.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/random.h"
#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr size_t kThreads = 4;
constexpr size_t kCallsOfThread = 6;

// The row after a sequence of operations: a number and a text. Either may be absent.
struct RowState {
  std::optional<int64_t> number;
  std::optional<std::string> text;

  std::string ToText() const {
    return fmt::format("{} {}", number ? std::to_string(*number) : "-", text.value_or("-"));
  }
  bool operator==(const RowState&) const = default;
};

enum class CallKind : uint8_t {
  kIncrement,
  kAppend,
  kCheckText,
  kSet,
  kDeleteRow,
  kDeleteNumber,
  kSetBoth,
  kRead
};

struct Call {
  CallKind kind = CallKind::kRead;
  int64_t number = 0;
  std::string text;
  uint64_t began = 0;
  uint64_t ended = 0;
  std::string answer;
};

// Applies the call to the row and returns its expected result.
std::string Perform(const Call& call, RowState* row) {
  switch (call.kind) {
    case CallKind::kIncrement:
      row->number = row->number.value_or(0) + call.number;
      return std::to_string(*row->number);
    case CallKind::kAppend:
      row->text = row->text.value_or("") + call.text;
      return *row->text;
    case CallKind::kCheckText: {
      const bool matched = row->text.has_value();
      if (matched) {
        row->text.reset();
      } else {
        row->text = call.text;
        row->number = call.number;
      }
      return matched ? "matched" : "not matched";
    }
    case CallKind::kSet:
      row->text = call.text;
      return "";
    case CallKind::kDeleteRow:
      *row = {};
      return "";
    case CallKind::kDeleteNumber:
      row->number.reset();
      return "";
    case CallKind::kSetBoth:
      row->number = call.number;
      row->text = call.text;
      return "";
    case CallKind::kRead:
      return row->ToText();
  }
  return "";
}

class Linearizer {
 public:
  explicit Linearizer(std::vector<Call> calls) : calls_(std::move(calls)) {}

  bool Explains(RowState row = {}, uint64_t done = 0) {
    if (done + 1 == uint64_t{1} << calls_.size()) return true;
    if (!tried_.insert({done, row.ToText()}).second) return false;
    uint64_t first_end = UINT64_MAX;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if ((done >> i & 1) == 0) first_end = std::min(first_end, calls_[i].ended);
    }
    for (size_t i = 0; i < calls_.size(); ++i) {
      if ((done >> i & 1) != 0 || calls_[i].began > first_end) continue;
      RowState after = row;
      if (Perform(calls_[i], &after) == calls_[i].answer &&
          Explains(std::move(after), done | uint64_t{1} << i))
        return true;
    }
    return false;
  }

 private:
  const std::vector<Call> calls_;
  std::set<std::pair<uint64_t, std::string>> tried_;
};

std::string ToText(const std::vector<Call>& calls) {
  std::string text;
  for (const Call& call : calls) {
    text += fmt::format("{:6} {:6} kind {} {} {} -> {}\n", call.began, call.ended,
                        static_cast<int>(call.kind), call.number, call.text, call.answer);
  }
  return text;
}

TEST(LinearizerTest, TellsWhatCannotBeExplained) {
  const Call first{
      .kind = CallKind::kIncrement, .number = 1, .began = 0, .ended = 10, .answer = "1"};
  Call second{.kind = CallKind::kIncrement, .number = 1, .began = 5, .ended = 15, .answer = "2"};
  EXPECT_TRUE(Linearizer({first, second}).Explains());
  EXPECT_TRUE(Linearizer({second, first}).Explains());
  second.answer = "1";  // a lost update
  EXPECT_FALSE(Linearizer({first, second}).Explains());
  // A read that starts after a result was returned must see its effect.
  Call read{.kind = CallKind::kRead, .began = 11, .ended = 12, .answer = "- -"};
  EXPECT_FALSE(Linearizer({first, read}).Explains());
  read.began = 9;
  EXPECT_TRUE(Linearizer({first, read}).Explains());
}

class LinearizableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = SmallEngineOptions(&files_);
    options.background_threads = 2;
    // The clock does not advance, so the last write is the newest: cells with one timestamp replace
    // each other in commit order.
    options.database.clock = std::make_shared<ManualClock>(Timestamp::FromMicros(1'000'000));
    auto local = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(local.ok()) << local.status();
    database_ = Access::Make<Database>(*local);
    const Schema schema = Schema().AddFamily("f", GcRule::MaxNumVersions(1)).AddFamily("g");
    table_ = database_.CreateTable("t", schema).value_or(Table());
  }

  static Call RandomCall(Random& random, size_t thread, size_t index) {
    Call call{.kind = static_cast<CallKind>(random.Below(8))};
    call.number = static_cast<int64_t>(1 + random.Below(1000));
    call.text = fmt::format("{}{};", static_cast<char>('a' + thread), index);
    return call;
  }

  std::string Perform(Table& table, const std::string& row_key, const Call& call) {
    const Filter text = Filter::Column("f", "text");
    const auto answered = [](const absl::Status& status) {
      return status.ok() ? std::string() : status.ToString();
    };
    const auto set_text = [&] { return RowMutation(row_key).SetCell("f", "text", call.text); };
    switch (call.kind) {
      case CallKind::kIncrement: {
        const auto row = table.ReadModifyWriteRow(
            row_key, {ReadModifyWriteRule::IncrementAmount("f", "number", call.number)});
        return row.ok() ? std::to_string(row->cells()[0].AsInt64().value_or(-1))
                        : row.status().ToString();
      }
      case CallKind::kAppend: {
        const auto row = table.ReadModifyWriteRow(
            row_key, {ReadModifyWriteRule::AppendValue("f", "text", call.text)});
        return row.ok() ? std::string(row->cells()[0].value()) : row.status().ToString();
      }
      case CallKind::kCheckText: {
        const auto branch =
            table.CheckAndMutateRow(row_key, text, RowMutation().DeleteFromColumn("f", "text"),
                                    set_text().SetCell("f", "number", EncodeInt64(call.number)));
        if (!branch.ok()) return branch.status().ToString();
        return *branch == MutationBranch::kPredicateMatched ? "matched" : "not matched";
      }
      case CallKind::kSet:
        return answered(table.Apply(set_text()));
      case CallKind::kDeleteRow:
        return answered(table.Apply(RowMutation(row_key).DeleteFromRow()));
      case CallKind::kDeleteNumber:  // with a GC fence: it reads before it writes, too
        return answered(table.Apply(RowMutation(row_key).DeleteFromColumn(
            "f", "number", {Timestamp::FromMicros(1000), {}})));
      case CallKind::kSetBoth:
        return answered(table.Apply(set_text().SetCell("f", "number", EncodeInt64(call.number))));
      case CallKind::kRead:
        return Read(table, row_key);
    }
    return "";
  }

  static std::string Read(const Table& table, const std::string& row_key) {
    const absl::StatusOr<std::optional<Row>> row = table.ReadRow(row_key);
    if (!row.ok()) return row.status().ToString();
    RowState state;
    if (!row->has_value()) return state.ToText();
    if (const auto cell = (*row)->cell("f", "number")) state.number = cell->AsInt64().value_or(-1);
    if (const auto cell = (*row)->cell("f", "text")) state.text = std::string(cell->value());
    return state.ToText();
  }

  // Runs a round: every thread makes its calls on one row that was not written before.
  std::vector<Call> Run(const std::string& row_key, uint64_t seed) {
    std::array<std::vector<Call>, kThreads> calls;
    std::atomic<uint64_t> moment{0};
    std::atomic<size_t> ready{0};
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Random random(seed * kThreads + thread);
        Table table = table_;
        for (size_t i = 0; i < kCallsOfThread; ++i)
          calls[thread].push_back(RandomCall(random, thread, i));
        ready.fetch_add(1);
        while (ready.load() < kThreads) std::this_thread::yield();
        for (Call& call : calls[thread]) {
          call.began = moment.fetch_add(1);
          call.answer = Perform(table, row_key, call);
          call.ended = moment.fetch_add(1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<Call> all;
    for (std::vector<Call>& of_thread : calls)
      all.insert(all.end(), of_thread.begin(), of_thread.end());
    return all;
  }

  MemFileSystem files_;
  Database database_;
  Table table_;
};

TEST_F(LinearizableTest, EveryHistoryOfARowHasAnOrder) {
  constexpr uint64_t kRounds = 300;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const std::string row_key = fmt::format("row{:04}", round);
    // Some of the data is in files, so that a read takes long enough for other calls in between.
    if (round % 10 == 0) {
      for (uint64_t next = round; next < round + 10; ++next) {
        ASSERT_TRUE(table_
                        .Apply(RowMutation(fmt::format("row{:04}", next))
                                   .SetCell("g", "ballast", std::string(3000, 'x')))
                        .ok());
      }
      ASSERT_TRUE(table_.Flush().ok());
    }
    const std::vector<Call> calls = Run(row_key, round);
    ASSERT_TRUE(Linearizer(calls).Explains()) << row_key << ":\n" << ToText(calls);
  }
  EXPECT_TRUE(database_.Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
}

// One hot row and many at once: no increment is lost, and no result is returned twice.
TEST_F(LinearizableTest, EveryIncrementCountsOnce) {
  constexpr int64_t kIncrements = 400;
  std::array<std::set<int64_t>, kThreads> answers;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Table table = table_;
      for (int64_t i = 0; i < kIncrements; ++i) {
        const ReadModifyWriteRule increment = ReadModifyWriteRule::IncrementAmount("f", "n", 1);
        const auto hot = table.ReadModifyWriteRow("hot", {increment});
        ASSERT_TRUE(hot.ok()) << hot.status();
        answers[thread].insert(hot->cells()[0].AsInt64().value_or(-1));
        ASSERT_TRUE(table.ReadModifyWriteRow(fmt::format("cold{:02}", i % 20), {increment}).ok());
        // A blind write of the row's other column.
        ASSERT_TRUE(table.Apply(RowMutation("hot").SetCell("g", "q", std::to_string(i))).ok());
        if (thread == 0 && i % 100 == 99) {
          ASSERT_TRUE(table.Flush().ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<int64_t> all;
  for (const std::set<int64_t>& of_thread : answers) {
    EXPECT_EQ(of_thread.size(), static_cast<size_t>(kIncrements));
    all.insert(of_thread.begin(), of_thread.end());
  }
  ASSERT_EQ(all.size(), kThreads * static_cast<size_t>(kIncrements));
  EXPECT_EQ(*all.begin(), 1);
  EXPECT_EQ(*all.rbegin(), static_cast<int64_t>(kThreads) * kIncrements);
  for (int row = 0; row < 20; ++row) {
    const auto cold = table_.ReadRow(fmt::format("cold{:02}", row));
    ASSERT_TRUE(cold.ok() && cold->has_value());
    EXPECT_EQ((*cold)->cells()[0].AsInt64().value_or(0),
              static_cast<int64_t>(kThreads) * kIncrements / 20);
  }
}

}  // namespace
}  // namespace stele::internal
