// Tests ReadOptions.reserve_large_value and WriteOptions.reserve_large_value: a caller is asked
// before a large value is read from a file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/engine.h"
#include "db/local_database.h"
#include "db/local_table.h"
#include "model/access.h"
#include "stele/stele.h"

namespace stele {
namespace {

class ReserveLargeValueTest : public testing::Test {
 protected:
  void Put(const std::string& row_key, const std::string& qualifier, size_t bytes) {
    ASSERT_TRUE(table_
                    .Apply(RowMutation(row_key).SetCell("f", qualifier, Timestamp::FromMicros(1000),
                                                        std::string(bytes, 'v')))
                    .ok());
  }
  void Flush() { ASSERT_TRUE(table_.Flush().ok()); }
  // Returns the number of sections of the table's only file.
  size_t SectionCount() const {
    using internal::Access;
    const auto& local = static_cast<internal::LocalDatabase&>(*Access::Backend(database_));
    const uint32_t id = static_cast<internal::LocalTable&>(*Access::Backend(table_)).table_id();
    const auto view = local.engine()->storage().state.view();
    const auto& stack = view->Find(id)->tablets[0].stack;
    EXPECT_EQ(stack.size(), 1u);
    return stack.front().file->reader()->table().sections.size();
  }

  // Reads the table, and allows values up to the limit.
  absl::Status Read(uint64_t bytes_max, const Filter& filter = Filter::PassAll(),
                    bool is_reversed = false) {
    asked_.clear();
    rows_ = 0;
    RowReader reader = table_.ReadRows(
        RowSet::All(), filter, {.reverse = is_reversed, .reserve_large_value = [&](uint64_t bytes) {
                                  asked_.push_back(bytes);
                                  return bytes <= bytes_max ? absl::OkStatus()
                                                            : absl::UnavailableError("no memory");
                                }});
    while (reader.Next()) ++rows_;
    return reader.status();
  }

  Database database_ = Database::Open("mem:").value();
  Table table_ = database_.CreateTable("t", Schema().AddFamily("f")).value();
  std::vector<uint64_t> asked_;
  int rows_ = 0;
};

TEST_F(ReserveLargeValueTest, EachLargeValueOfAFileIsAskedForBeforeItIsRead) {
  Put("a", "small", 60'000);
  Put("b", "one", 70'000);
  Put("b", "two", 300'000);
  Put("c", "large", 2'000'000);
  EXPECT_TRUE(Read(0).ok()) << "the memtable has the values in memory";
  EXPECT_EQ(asked_, std::vector<uint64_t>());
  Flush();
  EXPECT_TRUE(Read(10'000'000).ok());
  EXPECT_EQ(asked_, std::vector<uint64_t>({70'000, 300'000, 2'000'000}));
  EXPECT_EQ(rows_, 3);
  EXPECT_TRUE(Read(10'000'000, Filter::PassAll(), /*is_reversed=*/true).ok());
  EXPECT_EQ(asked_, std::vector<uint64_t>({2'000'000, 70'000, 300'000}));
  EXPECT_TRUE(Read(10'000'000, Filter::Column("f", "two")).ok());
  EXPECT_EQ(asked_, std::vector<uint64_t>({300'000}));
}

TEST_F(ReserveLargeValueTest, AnErrorEndsTheRead) {
  Put("a", "small", 10);
  Put("b", "large", 100'000);
  Put("c", "large", 2'000'000);
  Put("d", "large", 100'000);
  Flush();
  const absl::Status status = Read(100'000);
  EXPECT_EQ(status, absl::UnavailableError("no memory"));
  EXPECT_EQ(rows_, 2);
  EXPECT_EQ(asked_, std::vector<uint64_t>({100'000, 2'000'000}));
}

// Versions that the family's rule drops are not read.
TEST_F(ReserveLargeValueTest, GarbageIsNotAskedFor) {
  Table table =
      database_.CreateTable("latest", Schema().AddFamily("f", GcRule::MaxNumVersions(1))).value();
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(table
                    .Apply(RowMutation("r").SetCell("f", "q", Timestamp::FromMicros(i * 1000),
                                                    std::string(100'000 + i, 'v')))
                    .ok());
    ASSERT_TRUE(table.Flush().ok());
  }
  table_ = table;
  EXPECT_TRUE(Read(1'000'000).ok());
  EXPECT_EQ(asked_, std::vector<uint64_t>({100'003}));
}

// Sections are joined cell by cell. The row's first cells fill a batch, and the read needs no more.
TEST_F(ReserveLargeValueTest, AScanDoesNotReadOneInALaterSectionThanItsCells) {
  const Timestamp time = Timestamp::FromMicros(1000);
  table_ = database_.CreateTable("t2", Schema().AddFamily("narrow").AddFamily("wide")).value();
  for (int i = 0; i < 2'000; ++i) {
    RowMutation row(fmt::format("a{:04}", i));
    row.SetCell("narrow", "n", time, "x").SetCell("wide", "w", time, std::string(500, 'w'));
    ASSERT_TRUE(table_.Apply(row).ok());
  }
  RowMutation row("b");
  for (int i = 0; i < 300; ++i) row.SetCell("narrow", fmt::format("n{:03}", i), time, "x");
  row.SetCell("wide", "w", time, std::string(100'000, 'v'));
  ASSERT_TRUE(table_.Apply(row).ok());
  Flush();
  ASSERT_EQ(SectionCount(), 2u);
  EXPECT_TRUE(Read(0, Filter::CellsRowLimit(1)).ok());
  EXPECT_EQ(asked_, std::vector<uint64_t>());
  EXPECT_EQ(rows_, 2'001);
  EXPECT_TRUE(Read(100'000).ok());
  EXPECT_EQ(asked_, std::vector<uint64_t>({100'000}));
}

TEST_F(ReserveLargeValueTest, ReadsOfOneRowAskToo) {
  Put("r", "one", 70'000);
  Put("r", "two", 300'000);
  Flush();
  const ReadOptions options{.reserve_large_value = [&](uint64_t bytes) {
    asked_.push_back(bytes);
    return bytes < 300'000 ? absl::OkStatus() : absl::UnavailableError("no memory");
  }};
  EXPECT_EQ(table_.ReadRow("r", Filter::PassAll(), options).status(),
            absl::UnavailableError("no memory"));
  EXPECT_EQ(asked_, std::vector<uint64_t>({70'000, 300'000}));
}

TEST_F(ReserveLargeValueTest, ConditionalWritesAskAndAnErrorLeavesTheRow) {
  Put("r", "q", 100'000);
  Flush();
  uint64_t bytes_max = 0;
  uint64_t bytes_asked = 0;
  const WriteOptions options{.reserve_large_value = [&](uint64_t bytes) {
    bytes_asked += bytes;
    return bytes_asked <= bytes_max ? absl::OkStatus() : absl::UnavailableError("no memory");
  }};
  const std::vector<ReadModifyWriteRule> rules = {ReadModifyWriteRule::AppendValue("f", "q", "+")};
  for (const uint64_t most : {uint64_t{0}, uint64_t{100'000}, uint64_t{300'001}}) {
    bytes_max = most;
    bytes_asked = 0;
    const absl::Status refused = table_.ReadModifyWriteRow("r", rules, options).status();
    EXPECT_TRUE(absl::IsUnavailable(refused)) << most << refused;
    EXPECT_EQ(table_.ReadRow("r").value()->cells().front().value().size(), 100'000u);
  }
  // An error that the engine itself would repeat the write after.
  int asked_count = 0;
  for (const absl::Status& refusal :
       {absl::AbortedError("no memory"), absl::ResourceExhaustedError("no memory")}) {
    asked_count = 0;
    const WriteOptions refusing{.reserve_large_value = [&](uint64_t) {
      ++asked_count;
      return refusal;
    }};
    EXPECT_EQ(table_.ReadModifyWriteRow("r", rules, refusing).status(), refusal);
    EXPECT_EQ(asked_count, 1);
  }
  bytes_max = 300'002;
  bytes_asked = 0;
  EXPECT_TRUE(table_.ReadModifyWriteRow("r", rules, options).ok());
  EXPECT_EQ(bytes_asked, 300'002u) << "the value, and two copies of the longer one";
  bytes_asked = 0;
  EXPECT_TRUE(table_.ReadModifyWriteRow("r", rules, options).ok());
  EXPECT_EQ(bytes_asked, 200'004u) << "in the memtable";
  Flush();
  bytes_asked = 0;
  bytes_max = 0;
  EXPECT_TRUE(absl::IsUnavailable(table_
                                      .CheckAndMutateRow("r", Filter::ValueRegex("v.*"),
                                                         RowMutation("r").DeleteFromRow(),
                                                         RowMutation("r"), options)
                                      .status()));
  EXPECT_TRUE(table_.Exists("r").value());
}

}  // namespace
}  // namespace stele
