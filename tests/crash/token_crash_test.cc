// Tests a client that repeats every write under its token after a crash, whatever the result
// before. Each write is applied once. The crash is at every call of the file system, also if the
// log has released the first writes, and with a second crash inside the recovery.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "db/local_database.h"
#include "model/access.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kRounds = 6;
constexpr int kEntries = 8;

RowMutation Add(std::string row_key, std::string_view padding) {
  return RowMutation(std::move(row_key))
      .AddToCell("sum", "q", Timestamp(), 1)
      .SetCell("f", "padding", Timestamp(), padding);
}

WriteOptions Under(std::string token, bool durable) {
  return {.durability = durable ? Durability::kDisk : Durability::kProcess,
          .idempotency_token = std::move(token)};
}

// Opens the database, and creates its table if absent.
absl::StatusOr<std::pair<Database, Table>> OpenTable(CrashFileSystem* files) {
  STELE_ASSIGN_OR_RETURN(auto local, OpenDatabase("/db", SmallEngineOptions(files)));
  Database database = Access::Make<Database>(std::move(local));
  absl::StatusOr<Table> table = database.OpenTable("t");
  if (absl::IsNotFound(table.status())) {
    table = database.CreateTable(
        "t",
        Schema().AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum}).AddFamily("f"));
  }
  STELE_RETURN_IF_ERROR(table.status());
  return std::pair(database, *table);
}

// Makes all writes, each under its token, with flushes that release log segments.
absl::Status WriteAll(Table& table, bool flushes) {
  const std::string padding(3000, 'p');  // so that a segment has room for few
  for (int round = 0; round < kRounds; ++round) {
    const auto token = [round](std::string_view what) {
      return fmt::format("{} of round {}", what, round);
    };
    STELE_RETURN_IF_ERROR(
        table.Apply(Add("single", padding), Under(token("single"), round % 2 == 0)));
    std::vector<RowMutation> mutations;
    for (int i = 0; i < kEntries; ++i)
      mutations.push_back(Add(fmt::format("bulk{}", i), i % 2 == 0 ? padding : ""));
    const std::vector<FailedMutation> failed =
        table.BulkApply(mutations, Under(token("bulk"), round % 3 == 0));
    if (!failed.empty()) return failed.front().status;
    const RowMutation changed = Add("", "");
    STELE_ASSIGN_OR_RETURN(const MutationBranch branch,
                           table.CheckAndMutateRow(fmt::format("checked{}", round), {}, changed,
                                                   changed, Under(token("check"), false)));
    if (branch != MutationBranch::kPredicateNotMatched)
      return absl::InternalError("a repeat took the other branch");
    STELE_RETURN_IF_ERROR(
        table
            .ReadModifyWriteRow("counter", {ReadModifyWriteRule::IncrementAmount("f", "n", 1)},
                                Under(token("increment"), false))
            .status());
    if (flushes) STELE_RETURN_IF_ERROR(table.Flush());
  }
  return absl::OkStatus();
}

// Returns "" if each write is applied once.
std::string WhatIsWrong(const Table& table) {
  std::string wrong;
  RowReader reader = table.ReadRows();
  int rows = 0;
  while (reader.Next()) {
    ++rows;
    const RowView& row = reader.row();
    const bool counts = row.row_key() == "counter";
    const std::optional<CellView> cell = counts ? row.cell("f", "n") : row.cell("sum", "q");
    const int64_t expected = row.row_key().starts_with("checked") ? 1 : kRounds;
    const int64_t found = cell ? cell->AsInt64().value_or(-1) : 0;
    if (found != expected)
      wrong += fmt::format("{}: {} times instead of {}\n", row.row_key(), found, expected);
  }
  if (!reader.status().ok()) wrong += reader.status().ToString();
  if (rows != 2 + kEntries + kRounds) wrong += fmt::format("{} rows\n", rows);
  return wrong;
}

TEST(TokenCrashTest, RepeatingEverythingAppliesEachWriteOnce) {
  uint64_t images = 0;
  for (uint64_t call = 1;; call += (kReduced ? 4 : 1) + call % 3) {
    CrashFileSystem files;
    files.SetCrashAtCall(call);
    Random random(call);
    {
      auto opened = OpenTable(&files);
      if (opened.ok()) WriteAll(opened->second, true).IgnoreError();
    }
    const bool crashed = files.crashed();
    for (int index = 0; index < 3; ++index, ++images) {
      const CrashPolicy policy = index == 0   ? CrashPolicy::KilledProcess()
                                 : index == 1 ? CrashPolicy::PowerLoss()
                                              : CrashPolicy::Random(random.Next());
      std::unique_ptr<CrashFileSystem> image = files.Crash(policy, random.Next());
      if (random.OneIn(2)) {
        image->SetCrashAtCall(image->calls() + 1 + random.Below(40));
        {
          auto again = OpenTable(image.get());
          if (again.ok()) WriteAll(again->second, random.OneIn(2)).IgnoreError();
        }
        image = image->Crash(CrashPolicy::PowerLoss(), random.Next());
      }
      auto opened = OpenTable(image.get());
      ASSERT_TRUE(opened.ok()) << opened.status();
      absl::Status written = WriteAll(opened->second, random.OneIn(2));
      ASSERT_TRUE(written.ok()) << "crash at call " << call << ", image " << index << ": "
                                << written;
      written = WriteAll(opened->second, false);
      ASSERT_TRUE(written.ok()) << written;
      ASSERT_EQ(WhatIsWrong(opened->second), "") << "crash at call " << call << ", image " << index;
    }
    if (!crashed) break;
  }
  EXPECT_GT(images, ReducedPart(200));
}

}  // namespace
}  // namespace stele::internal
