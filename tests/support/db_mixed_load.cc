#include "support/db_mixed_load.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "support/db_memory.h"

namespace stele::internal {
namespace {

constexpr int kReadsBetweenLooks = 100;

std::string UserKey(uint64_t row) {
  return fmt::format("user{:010}/{:x}", row * 7919 % 1'000'003, row);
}

}  // namespace

void MixedLoad::WriteRow(uint64_t row, uint64_t round) {
  static const std::string text = TextOf(1, 64 << 10);
  RowMutation mutation(UserKey(row));
  Random random(row * 31 + round);
  const std::string stamp = fmt::format("{:012}", round);
  for (const char* qualifier : {"name", "address", "notes", "score"}) {
    mutation.SetCell("profile", qualifier,
                     stamp + text.substr(random.Below(60'000), 20 + random.Below(200)));
  }
  mutation.SetCell("clicks", fmt::format("page{}", random.Below(40)),
                   stamp + text.substr(random.Below(60'000), 100));
  mutation.SetCell("state", "", stamp);
  ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
}

void MixedLoad::Write(int writer) {
  Random random(static_cast<uint64_t>(writer) + 100);
  for (uint64_t i = 0; i < options_.rows_written && !::testing::Test::HasFailure(); ++i)
    WriteRow(random.Below(options_.row_count), i + 1);
  writing_.fetch_sub(1);
}

uint64_t MixedLoad::ReadAll(const Filter& filter, const ReadOptions& options) {
  RowReader reader = table_.ReadRows(RowSet::All(), filter, options);
  uint64_t rows = 0;
  for (const RowView& row : reader) {
    ++rows;
    const auto profile = row.family("profile");
    for (const CellView& cell : profile) {
      if (cell.timestamp() != profile.front().timestamp()) continue;
      EXPECT_EQ(cell.value().substr(0, 12), profile.front().value().substr(0, 12))
          << "cells of two writes in one";
    }
    if (done_.load()) break;
  }
  EXPECT_EQ(reader.status(), absl::OkStatus());
  return rows;
}

void MixedLoad::Scan(int scanner) {
  const Filter filters[] = {Filter::PassAll(), Filter::Latest(1), Filter::Family("profile"),
                            Filter::Column("state", "")};
  while (!done_.load() && !::testing::Test::HasFailure()) {
    EXPECT_GT(ReadAll(filters[scanner / 2 % 4], {.reverse = scanner % 2 == 1}), 0u);
  }
}

void MixedLoad::ReadRows(int reader) {
  Random random(static_cast<uint64_t>(reader) + 200);
  while (!done_.load() && !::testing::Test::HasFailure()) ReadSomeRow(&random);
}

// Half of the keys read here were never written.
void MixedLoad::ReadSomeRow(Random* random) {
  EXPECT_EQ(table_.ReadRow(UserKey(random->Below(2 * options_.row_count))).status(),
            absl::OkStatus());
}

void MixedLoad::Run(const std::function<void(const char* phase)>& look) {
  const auto table = database_.CreateTable("t", Schema()
                                                    .AddFamily("profile", GcRule::MaxNumVersions(2))
                                                    .AddFamily("clicks", GcRule::MaxNumVersions(20))
                                                    .AddFamily("state"));
  ASSERT_TRUE(table.ok()) << table.status();
  table_ = *table;
  for (uint64_t row = 0; row < options_.rows_first; ++row)
    WriteRow(row * options_.row_count / options_.rows_first, 0);
  look("first rows");
  Snapshot snapshot;
  if (options_.holds_snapshot) snapshot = database_.GetSnapshot().value_or(Snapshot());
  std::vector<std::thread> threads;
  writing_.store(options_.writers);
  for (int i = 0; i < options_.writers; ++i) threads.emplace_back([this, i] { Write(i); });
  for (int i = 0; i < options_.scanners; ++i) threads.emplace_back([this, i] { Scan(i); });
  for (int i = 0; i < options_.point_readers; ++i) threads.emplace_back([this, i] { ReadRows(i); });
  if (options_.compacts) {
    threads.emplace_back([this] {
      while (writing_.load() > 0) EXPECT_EQ(table_.Compact(), absl::OkStatus());
    });
  }
  Random random(300);
  while (writing_.load() > 0 && !::testing::Test::HasFailure()) {
    look("mixed load");
    for (int i = 0; i < kReadsBetweenLooks; ++i) ReadSomeRow(&random);
  }
  done_.store(true);
  for (std::thread& thread : threads) thread.join();
  look("threads ended");
  if (options_.holds_snapshot) {
    done_.store(false);
    EXPECT_EQ(ReadAll(Filter::Latest(1), {.snapshot = snapshot}), options_.rows_first)
        << "the snapshot shows what it showed";
  }
  look("snapshot read");
}

}  // namespace stele::internal
