// Tests that a SaltedReader returns the rows of salted keys as if the keys had no bucket.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/backend.h"
#include "model/access.h"
#include "stele/keys.h"

namespace stele {
namespace {

constexpr int kBuckets = 12;

using Rows = std::map<std::string, int>;  // row key -> number of pieces

// The rows of a range, each in one or more pieces without cells.
class FakeSource : public internal::RowSource {
 public:
  FakeSource(const Rows& rows, const RowRange& range, const ReadOptions& options) {
    for (const auto& [row_key, pieces] : rows) {
      if (range.Contains(row_key)) rows_.emplace_back(row_key, pieces);
    }
    if (options.reverse) std::reverse(rows_.begin(), rows_.end());
  }

  bool Next() override {
    if (piece_ == 0 && row_ == rows_.size()) return false;
    ++piece_;
    const bool is_last = piece_ == rows_[row_].second;
    view_ = internal::Access::Make<RowView>(std::string_view(rows_[row_].first),
                                            std::span<const CellView>(), is_last);
    if (is_last) {
      ++row_;
      piece_ = 0;
    }
    return true;
  }
  const RowView& row() const override { return view_; }
  absl::Status status() const override { return absl::OkStatus(); }
  ReadStats stats() const override { return {}; }

 private:
  std::vector<std::pair<std::string, int>> rows_;
  size_t row_ = 0;
  int piece_ = 0;
  RowView view_;
};

// A table that can only be read.
class FakeTable : public internal::TableBackend {
 public:
  Rows rows;

  absl::StatusOr<std::unique_ptr<internal::RowSource>> ReadRows(
      const RowSet& set, const Filter&, const ReadOptions& options) override {
    return std::make_unique<FakeSource>(rows, set.ranges().at(0), options);
  }

  const std::string& name() const override { return name_; }
  absl::StatusOr<Schema> schema() override { return Schema(); }
  absl::Status Apply(const RowMutation&, const WriteOptions&) override { return None(); }
  std::vector<FailedMutation> BulkApply(std::span<const RowMutation>,
                                        const WriteOptions&) override {
    return {};
  }
  absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view, const Filter&,
                                                   const RowMutation&, const RowMutation&,
                                                   const WriteOptions&) override {
    return None();
  }
  absl::StatusOr<Row> ReadModifyWriteRow(std::string_view, std::span<const ReadModifyWriteRule>,
                                         const WriteOptions&) override {
    return None();
  }
  absl::StatusOr<std::optional<Row>> ReadRow(std::string_view, const Filter&,
                                             const ReadOptions&) override {
    return None();
  }
  absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(std::span<const std::string_view>,
                                                           const Filter&,
                                                           const ReadOptions&) override {
    return None();
  }
  absl::StatusOr<bool> Exists(std::string_view, const Filter&, const ReadOptions&) override {
    return None();
  }
  absl::Status ModifyColumnFamilies(std::span<const FamilyChange>) override { return None(); }
  absl::Status SetProperty(std::string, std::string) override { return None(); }
  absl::Status DropRowRange(const RowRange&) override { return None(); }
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const RowRange&) override {
    return None();
  }
  absl::StatusOr<std::unique_ptr<internal::BulkLoadBackend>> NewBulkLoad() override {
    return None();
  }
  absl::Status Flush() override { return None(); }
  absl::Status Compact(const RowRange&, const CompactOptions&) override { return None(); }
  absl::StatusOr<TableStats> Stats() override { return None(); }

 private:
  static absl::Status None() { return absl::UnimplementedError("only ReadRows"); }

  const std::string name_ = "t";
};

class SaltedReaderTest : public testing::Test {
 protected:
  SaltedReaderTest()
      : backend_(std::make_shared<FakeTable>()),
        table_(internal::Access::Make<Table>(std::shared_ptr<internal::TableBackend>(backend_))) {
    for (uint64_t i = 0; i < 100; ++i) Put("user" + keys::Pad(i, 2).value(), 1);
  }

  void Put(const std::string& key, int pieces) {
    backend_->rows[keys::SaltBucket(key, kBuckets).value() + "#" + key] = pieces;
  }

  std::vector<std::string> Read(const RowRange& range, const ReadOptions& options = {}) {
    std::vector<std::string> keys;
    keys::SaltedReader reader(table_, range, kBuckets, "#", {}, options);
    while (reader.Next()) {
      if (reader.row().is_last_piece()) keys.emplace_back(reader.row().row_key());
    }
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    return keys;
  }

  std::shared_ptr<FakeTable> backend_;
  Table table_;
};

TEST_F(SaltedReaderTest, ReturnsAllRowsInTheOrderOfTheirKeys) {
  const std::vector<std::string> keys = Read(RowRange::All());
  ASSERT_EQ(keys.size(), 100u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(keys.front(), "user00");
}

TEST_F(SaltedReaderTest, AppliesRangeDirectionAndLimitToTheMergedRows) {
  ReadOptions options;
  options.reverse = true;
  options.limit = 3;
  EXPECT_EQ(Read(RowRange::Prefix("user4"), options),
            (std::vector<std::string>{"user49", "user48", "user47"}));
  EXPECT_EQ(Read(RowRange::LeftOpen("user97", "user99")),
            (std::vector<std::string>{"user98", "user99"}));
  EXPECT_TRUE(Read(RowRange::Prefix("x")).empty());
}

TEST_F(SaltedReaderTest, ReturnsNothingAfterTheEnd) {
  for (const int64_t limit : {0, 1, 2, 3}) {
    ReadOptions options;
    options.limit = limit;
    keys::SaltedReader reader(table_, RowRange::Closed("user41", "user43"), kBuckets, "#", {},
                              options);
    int64_t rows = 0;
    while (reader.Next()) ++rows;
    EXPECT_EQ(rows, limit == 0 ? 3 : limit);
    for (int call = 0; call < 3; ++call) EXPECT_FALSE(reader.Next()) << limit;
    EXPECT_TRUE(reader.status().ok());
  }
}

TEST_F(SaltedReaderTest, AForkedChildCannotContinueIt) {
  keys::SaltedReader reader(table_, RowRange::All(), kBuckets);
  ASSERT_TRUE(reader.Next());
  keys::SaltedReader at_limit(table_, RowRange::All(), kBuckets, "#", {}, {.limit = 1});
  ASSERT_TRUE(at_limit.Next());
  const keys::SaltedReader unused(table_, RowRange::All(), kBuckets);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_refused = !reader.Next() && absl::IsFailedPrecondition(reader.status()) &&
                            !at_limit.Next() && absl::IsFailedPrecondition(at_limit.status()) &&
                            absl::IsFailedPrecondition(unused.status());
    { const keys::SaltedReader destroyed = std::move(reader); }
    ::_exit(is_refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.row().row_key(), "user01");
}

TEST_F(SaltedReaderTest, ReturnsThePiecesOfARowTogether) {
  Put("user41x", 3);
  keys::SaltedReader reader(table_, RowRange::Prefix("user41"), kBuckets);
  std::string sequence;
  while (reader.Next()) {
    sequence += std::string(reader.row().row_key()) + (reader.row().is_last_piece() ? ". " : "+ ");
  }
  EXPECT_TRUE(reader.status().ok());
  EXPECT_EQ(sequence, "user41. user41x+ user41x+ user41x. ");
}

TEST_F(SaltedReaderTest, ReportsWrongArgumentsAndErrorsOfAScan) {
  keys::SaltedReader none(table_, RowRange::All(), 1);
  EXPECT_FALSE(none.Next());
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
  ReadOptions options;
  options.limit = -1;
  keys::SaltedReader wrong(table_, RowRange::All(), 4, "#", {}, options);
  EXPECT_FALSE(wrong.Next());
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
  keys::SaltedReader moved(std::move(wrong));
  EXPECT_FALSE(wrong.Next());
  EXPECT_FALSE(wrong.status().ok());
}

}  // namespace
}  // namespace stele
