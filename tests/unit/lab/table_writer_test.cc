// Tests the threads that write the rows of an import.
#include "lab/import/table_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fmt/format.h"
#include "stele/stele.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kRows = 3000;

std::vector<TablePlan> Plans() {
  std::vector<TablePlan> plans(2);
  plans[0] = {.name = "a", .schema = Schema().AddFamily("f")};
  plans[1] = {.name = "b", .schema = Schema().AddFamily("f")};
  return plans;
}

std::string KeyOf(size_t row) { return fmt::format("row{}", row); }

class TableWriterTest : public testing::TestWithParam<size_t> {
 protected:
  Database database_ = *Database::Open("mem:");
};

TEST_P(TableWriterTest, AllRowsAreWrittenAndTheMutationsOfARowKeepTheirOrder) {
  auto writer = TableWriter::Open(database_, Plans(), GetParam());
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (size_t turn = 0; turn < 4; ++turn) {
    for (size_t row = 0; row < kRows; ++row) {
      RowMutation mutation(KeyOf(row));
      mutation.DeleteFromRow().SetCell("f", fmt::format("q{}", turn), Timestamp::FromMicros(1000),
                                       "value");
      ASSERT_EQ(writer->Add(row % 2, std::move(mutation)), absl::OkStatus());
    }
  }
  ASSERT_EQ(writer->Flush(), absl::OkStatus());
  for (size_t row = 0; row < kRows; ++row) {
    const auto found = writer->table(row % 2).ReadRow(KeyOf(row));
    ASSERT_TRUE(found.ok() && found->has_value()) << row;
    ASSERT_EQ((*found)->cells().size(), 1u) << row;
    EXPECT_EQ((*found)->cells()[0].qualifier(), "q3");
    EXPECT_EQ(*writer->table(1 - row % 2).ReadRow(KeyOf(row)), std::nullopt);
  }
}

TEST_P(TableWriterTest, AnErrorNamesTheRowAndEndsTheImport) {
  auto writer = TableWriter::Open(database_, Plans(), GetParam());
  ASSERT_TRUE(writer.ok()) << writer.status();
  // All are in the same batch. A later batch of its thread finds the error, before Flush.
  absl::Status status;
  size_t added = 0;
  for (; status.ok() && added < kRows; ++added)
    status = writer->Add(0, RowMutation("wrong").SetCell("missing", "q", "value"));
  EXPECT_LT(added, kRows);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_NE(status.message().find("table a, row wrong"), std::string::npos) << status;
  EXPECT_EQ(writer->Flush(), status);
}

TEST_P(TableWriterTest, LargeRowsAreWrittenBeforeTheyFillTheMemory) {
  auto writer = TableWriter::Open(database_, Plans(), GetParam());
  ASSERT_TRUE(writer.ok()) << writer.status();
  constexpr size_t kLargeRows = 100;
  const std::string value(1 << 20, 'v');
  for (size_t row = 0; row < kLargeRows; ++row) {
    ASSERT_EQ(writer->Add(row % 2, RowMutation(KeyOf(row)).SetCell("f", "q", value)),
              absl::OkStatus());
  }
  // Without a Flush, at most 32 MiB are not written yet.
  size_t written = 0;
  for (size_t row = 0; row < kLargeRows; ++row)
    written += writer->table(row % 2).Exists(KeyOf(row)).value() ? 1 : 0;
  EXPECT_GE(written, kLargeRows - 32);
}

TEST_P(TableWriterTest, DestroyingItWaitsForItsThreads) {
  {
    auto writer = TableWriter::Open(database_, Plans(), GetParam());
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (size_t row = 0; row < kRows; ++row)
      ASSERT_EQ(writer->Add(0, RowMutation(KeyOf(row)).SetCell("f", "q", "value")),
                absl::OkStatus());
  }
  EXPECT_EQ(database_.Close(), absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(Threads, TableWriterTest, testing::Values(1, 2, 7));

}  // namespace
}  // namespace stele::internal::lab
