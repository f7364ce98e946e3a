// Tests the table of idempotency tokens: users do not see it, and it needs space only for the
// tokens of 15 minutes.
#include "write/token_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admin/table_admin.h"
#include "db/engine.h"
#include "db/local_table.h"
#include "manifest/token_table.h"
#include "model/access.h"
#include "support/db_contract.h"

namespace stele::internal {
namespace {

class TokenRowsTest : public testing::Test {
 protected:
  TokenRowsTest() { store_.MakeTable(Schema().AddFamily("f")); }

  absl::Status WriteUnder(const std::string& token) {
    return store_.table().Apply(RowMutation("r").SetCell("f", "q", "v"),
                                {.idempotency_token = token});
  }
  const TableState& TokenTable() {
    return *store_.engine().storage().state.view()->version->tables.at(kTokenTableId);
  }
  size_t TokenFiles() {
    std::set<uint64_t> files;
    for (const Tablet& tablet : TokenTable().tablets) {
      for (const SstableReference& reference : tablet.stack) files.insert(reference.file->number);
    }
    return files.size();
  }

  ContractDatabase store_;
};

TEST_F(TokenRowsTest, UsersDoNotSeeTheTable) {
  ASSERT_TRUE(WriteUnder("a token of it").ok());
  for (const bool reopened : {false, true}) {
    if (reopened) store_.Reopen();
    Database& database = store_.database();
    EXPECT_EQ(database.ListTables().value(), std::vector<std::string>{"t"});
    EXPECT_EQ(database.Stats().tables, 1u);
    const std::string name = TokenTable().definition->name;
    EXPECT_FALSE(database.OpenTable(name).ok());
    EXPECT_FALSE(database.DeleteTable(name).ok());
    EXPECT_FALSE(database.CreateTable(name, Schema().AddFamily("f")).ok());
  }
  EXPECT_EQ(store_.table().Stats()->rows, 1u);
}

TEST_F(TokenRowsTest, ATokenIsStoredAsAKeyedHash) {
  const std::string token(1000, 't');
  ASSERT_TRUE(WriteUnder(token).ok());
  ASSERT_TRUE(store_.engine().admin().FlushTable(kTokenTableId).ok());
  ASSERT_EQ(TokenFiles(), 1u);
  const SstableSummary& summary = TokenTable().tablets[0].stack[0].file->summary;
  EXPECT_EQ(summary.first_row,
            SipHash128(token, store_.engine().storage().state.view()->version->token_key));
  EXPECT_EQ(summary.rows, 1u);

  ContractDatabase other;
  EXPECT_FALSE(other.engine().storage().state.view()->version->token_key ==
               store_.engine().storage().state.view()->version->token_key);
}

TEST_F(TokenRowsTest, FilesOfForgottenTokensGo) {
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(WriteUnder(fmt::format("token {} of round {}", i, round)).ok());
    ASSERT_TRUE(store_.engine().admin().FlushTable(kTokenTableId).ok());
    store_.clock().Advance(std::chrono::minutes(10));
    ASSERT_TRUE(store_.database().WaitForIdle().ok());
    EXPECT_LE(TokenFiles(), 2u) << round;
  }
  store_.clock().Advance(std::chrono::minutes(10));
  ASSERT_TRUE(store_.database().WaitForIdle().ok());
  EXPECT_EQ(TokenFiles(), 0u);
}

TEST_F(TokenRowsTest, AnAnsweredRowComesBackFromItsBytes) {
  const std::string family = "f";
  const std::string qualifier("q\0", 2);
  const std::vector<CellView> cells = {
      CellView(family, qualifier, Timestamp::FromMicros(5), "value"),
      CellView(family, "r", Timestamp::FromMicros(INT64_MAX), "")};
  const Row row(Access::Make<RowView>("key", cells));
  const std::string bytes = EncodeReturnedRow(row);
  EXPECT_EQ(Show(DecodeReturnedRow("key", bytes).value()), Show(row));
  size_t whole_rows = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    if (DecodeReturnedRow("key", std::string_view(bytes).substr(0, length)).ok()) ++whole_rows;
  }
  EXPECT_EQ(whole_rows, 2u) << "of no cell and of the first";
}

// Regression: 1,500 appends to a value of 1 MiB, each with a token, stored 1,500 MiB.
TEST_F(TokenRowsTest, ALargeResultIsNotCopied) {
  const auto row_bytes = [this](const std::string& token, size_t value_bytes) -> size_t {
    const WriteOptions options{.idempotency_token = token};
    const std::vector<ReadModifyWriteRule> rules = {
        ReadModifyWriteRule::AppendValue("f", token, std::string(value_bytes, 'v'))};
    EXPECT_TRUE(store_.table().ReadModifyWriteRow("r", rules, options).ok());
    const Engine& engine = store_.engine();
    RowWatches watches;
    const absl::StatusOr<TokenState> found =
        FindToken(engine.reads(), &watches, options, TokenWatch::kChecks);
    EXPECT_EQ(found->uses.size(), 1u);
    return found->uses[0].row.size();
  };
  EXPECT_GT(row_bytes("token of 4 KiB", kReturnedRowBytesMax), kReturnedRowBytesMax);
  EXPECT_LT(row_bytes("token above", kReturnedRowBytesMax + 1), 64u);
  EXPECT_LT(row_bytes("token of 1 MiB", 1 << 20), 64u);
}

TEST_F(TokenRowsTest, AMalformedLargeResultIsRefused) {
  ASSERT_TRUE(store_.table().Apply(RowMutation("r").SetCell("f", "q", "value")).ok());
  const Row row = *store_.table().ReadRow("r").value();
  const uint32_t table_id =
      static_cast<const LocalTable&>(*Access::Backend(store_.table())).table_id();
  const auto read = [&](std::string bytes) {
    const TokenUse use{
        .result = TokenResult::kLargeRow, .entries = {{0, 1}}, .row = std::move(bytes)};
    return CodeName(ReturnedRow(store_.engine().reads(), table_id, "r", use, {}).status());
  };
  const std::string bytes = EncodeLargeRow(row);
  EXPECT_EQ(read(bytes), "OK");
  for (size_t length = 1; length < bytes.size(); ++length)
    EXPECT_EQ(read(bytes.substr(0, length)), "DataLoss") << length;
  std::string changed = bytes;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_EQ(read(changed), "FailedPrecondition") << "another checksum";
}

}  // namespace
}  // namespace stele::internal
