#include <gtest/gtest.h>

#include <array>

#include "api/backend.h"
#include "base/invariant.h"
#include "base/status.h"
#include "model/access.h"
#include "stele/stele.h"

namespace stele {
namespace {

using absl::StatusCode;

// Records the calls of the fakes below, and the location of OpenLocalDatabase.
struct Calls {
  std::vector<std::string> calls;
  void Note(std::string_view call) { calls.emplace_back(call); }
  std::string Take() {
    std::string all;
    for (const std::string& call : calls) all += call + ";";
    calls.clear();
    return all;
  }
};
Calls& Seen() {
  static auto* const calls = new Calls();
  return *calls;
}

class FakeSource : public internal::RowSource {
 public:
  FakeSource() : cells_{CellView("f", "q", Timestamp::FromMillis(1), "v")} {}
  ~FakeSource() override { Seen().Note("~source"); }

  bool Next() override {
    Seen().Note("next");
    if (count_ == 2) return false;
    row_ = internal::Access::Make<RowView>(kRowKeys[count_++], cells_);
    return true;
  }
  const RowView& row() const override { return row_; }
  absl::Status status() const override { return absl::OkStatus(); }
  ReadStats stats() const override { return {.rows_returned = count_}; }

 private:
  static constexpr std::array<std::string_view, 2> kRowKeys{"one", "two"};
  std::array<CellView, 1> cells_;
  RowView row_;
  size_t count_ = 0;
};

class FakeLoad : public internal::BulkLoadBackend {
 public:
  ~FakeLoad() override { Seen().Note("~load"); }
  absl::Status Add(const RowMutation& mutation) override {
    Seen().Note("add " + mutation.row_key());
    return absl::OkStatus();
  }
  absl::Status Finish() override {
    Seen().Note("finish");
    return absl::OkStatus();
  }
  void Abort() override { Seen().Note("abort"); }
};

class FakeTable : public internal::TableBackend {
 public:
  explicit FakeTable(std::string_view name) : name_(name) {}
  const std::string& name() const override { return name_; }
  absl::StatusOr<Schema> schema() override { return Schema().AddFamily("f"); }
  absl::Status Apply(const RowMutation& mutation, const WriteOptions&) override {
    return Note("apply " + mutation.row_key());
  }
  std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations,
                                        const WriteOptions&) override {
    Seen().Note("bulk " + std::to_string(mutations.size()));
    return {};
  }
  absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key, const Filter&,
                                                   const RowMutation& if_matched,
                                                   const RowMutation& if_not_matched,
                                                   const WriteOptions&) override {
    Seen().Note("check " + std::string(row_key) + " " + std::to_string(if_matched.count()) + " " +
                std::to_string(if_not_matched.count()));
    return MutationBranch::kPredicateMatched;
  }
  absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key,
                                         std::span<const ReadModifyWriteRule> rules,
                                         const WriteOptions&) override {
    Seen().Note("modify " + std::string(row_key) + " " + std::to_string(rules.size()));
    return Row();
  }
  absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key, const Filter&,
                                             const ReadOptions&) override {
    Seen().Note("read " + std::string(row_key));
    return std::optional<Row>();
  }
  absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(
      std::span<const std::string_view> row_keys, const Filter&, const ReadOptions&) override {
    for (const std::string_view row_key : row_keys) Seen().Note("many " + std::string(row_key));
    return std::vector<std::optional<Row>>(row_keys.size());
  }
  absl::StatusOr<std::unique_ptr<internal::RowSource>> ReadRows(const RowSet&, const Filter& filter,
                                                                const ReadOptions&) override {
    if (filter == Filter::BlockAll()) return internal::InvalidArgument("no such filter");
    return std::make_unique<FakeSource>();
  }
  absl::StatusOr<bool> Exists(std::string_view, const Filter&, const ReadOptions&) override {
    return true;
  }
  absl::Status ModifyColumnFamilies(std::span<const FamilyChange> changes) override {
    return Note("modify " + std::to_string(changes.size()));
  }
  absl::Status SetProperty(std::string property_key, std::string value) override {
    return Note("property " + property_key + "=" + value);
  }
  absl::Status DropRowRange(const RowRange& range) override {
    return Note("drop " + range.ToString());
  }
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const RowRange&) override {
    return std::vector<RowKeySample>{{"", 7}};
  }
  absl::StatusOr<std::unique_ptr<internal::BulkLoadBackend>> NewBulkLoad() override {
    if (name_ == "closed") return internal::FailedPrecondition("closed");
    return std::make_unique<FakeLoad>();
  }
  absl::Status Flush() override { return Note("flush"); }
  absl::Status Compact(const RowRange& range, const CompactOptions&) override {
    return Note("compact " + range.ToString());
  }
  absl::StatusOr<TableStats> Stats() override { return TableStats{.cells = 3}; }

 private:
  static absl::Status Note(const std::string& call) {
    Seen().Note(call);
    return absl::OkStatus();
  }
  std::string name_;
};

class FakeSnapshot : public internal::SnapshotBackend {
 public:
  Timestamp time() const override { return Timestamp::FromMillis(9); }
};

class FakeDatabase : public internal::DatabaseBackend {
 public:
  ~FakeDatabase() override { Seen().Note("~database"); }
  absl::StatusOr<std::shared_ptr<internal::TableBackend>> CreateTable(std::string_view name,
                                                                      const Schema&) override {
    Seen().Note("create " + std::string(name));
    return std::make_shared<FakeTable>(name);
  }
  absl::StatusOr<std::shared_ptr<internal::TableBackend>> OpenTable(
      std::string_view name) override {
    return internal::NotFound("table {}", name);
  }
  absl::Status DeleteTable(std::string_view name) override {
    return Note("delete " + std::string(name));
  }
  absl::StatusOr<std::vector<std::string>> ListTables() override {
    return std::vector<std::string>{"a"};
  }
  absl::Status Apply(const WriteBatch& batch, const WriteOptions&) override {
    return Note("batch " + std::to_string(batch.size()));
  }
  absl::StatusOr<std::shared_ptr<internal::SnapshotBackend>> GetSnapshot() override {
    return std::make_shared<FakeSnapshot>();
  }
  absl::Status Sync() override { return Note("sync"); }
  absl::Status WaitForIdle() override { return Note("idle"); }
  absl::Status Checkpoint(std::string_view directory, const CheckpointOptions&) override {
    return Note("checkpoint " + std::string(directory));
  }
  absl::StatusOr<VerifyReport> Verify() override { return VerifyReport{.files = 2}; }
  DatabaseStats Stats() override { return {.tables = 4}; }
  absl::Status WriteRefusal() override { return absl::ResourceExhaustedError("full"); }
  absl::Status ConfirmClock() override { return Note("clock"); }
  absl::Status Close() override { return Note("close"); }

 private:
  static absl::Status Note(const std::string& call) {
    Seen().Note(call);
    return absl::OkStatus();
  }
};

}  // namespace

// A fake of the layer above, with the parts that these tests need.
absl::StatusOr<std::shared_ptr<internal::DatabaseBackend>> internal::OpenLocalDatabase(
    std::string_view location, const DatabaseOptions&) {
  Seen().Note("open " + std::string(location));
  return std::make_shared<FakeDatabase>();
}

namespace {

class HandlesTest : public testing::Test {
 protected:
  void SetUp() override { Seen().calls.clear(); }

  Table table_ = internal::Access::Make<Table>(std::make_shared<FakeTable>("t"));
};

TEST_F(HandlesTest, EmptyTable) {
  Table table;
  EXPECT_EQ(table.name(), "");
  EXPECT_EQ(table.schema().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.Apply(RowMutation("r")).code(), StatusCode::kFailedPrecondition);
  const std::vector<RowMutation> two(2);
  const std::vector<FailedMutation> failed = table.BulkApply(two);
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_EQ(failed[1].index, 1u);
  EXPECT_EQ(failed[1].status.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.CheckAndMutateRow("r", Filter(), RowMutation(), RowMutation()).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.ReadModifyWriteRow("r", {}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.ReadRow("r").status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.ReadMany(std::vector<std::string>{"r"}).status().code(),
            StatusCode::kFailedPrecondition);
  RowReader reader = table.ReadRows();
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.Exists("r").status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.ModifyColumnFamilies({FamilyChange::Drop("f")}).code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.SetProperty("k", "v").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.DropRowRange(RowRange::All()).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.SampleRowKeys().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.NewBulkLoad().Finish().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.Flush().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.Compact().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.Stats().status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(HandlesTest, EmptyDatabase) {
  Database db;
  EXPECT_EQ(db.CreateTable("t", Schema()).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.OpenTable("t").status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.DeleteTable("t").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.ListTables().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.Apply(WriteBatch()).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.GetSnapshot().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.Sync().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.WaitForIdle().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.Checkpoint("d").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.Verify().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.Stats().tables, 0u);
  EXPECT_EQ(db.WriteRefusal().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.ConfirmClock().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.Close().code(), StatusCode::kFailedPrecondition);
}

TEST_F(HandlesTest, OtherEmptyHandles) {
  EXPECT_EQ(Snapshot().time(), Timestamp());
  RowReader reader;
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.row().row_key(), "");
  EXPECT_EQ(reader.stats().rows_seen, 0u);
  EXPECT_EQ(reader.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(reader.begin() == reader.end());
  BulkLoad load;
  EXPECT_EQ(load.Add(RowMutation("r")).code(), StatusCode::kFailedPrecondition);
  load.Abort();
  EXPECT_EQ(load.Finish().code(), StatusCode::kFailedPrecondition);
}

TEST_F(HandlesTest, Locations) {
  EXPECT_TRUE(Database::Open("mem:").ok());
  EXPECT_TRUE(Database::Open("/some/where").ok());
  EXPECT_TRUE(Database::Open("./mem:x").ok());
  EXPECT_EQ(Seen().Take(),
            "open mem:;~database;open /some/where;~database;open ./mem:x;~database;");
  EXPECT_EQ(Database::Open("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Database::Open("mem:x").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Database::Open(std::string_view("a\0b", 3)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Database::Open("bigtable://p/i").status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(Database::Open("mem:", {.background_threads = 0}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Seen().Take(), "");
}

TEST_F(HandlesTest, TheDatabaseForwards) {
  Database db = *Database::Open("mem:");
  Seen().Take();
  absl::StatusOr<Table> table = db.CreateTable("t", Schema().AddFamily("f"));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->name(), "t");
  EXPECT_EQ(db.OpenTable("x").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(db.ListTables()->size(), 1u);
  EXPECT_EQ(db.GetSnapshot()->time(), Timestamp::FromMillis(9));
  EXPECT_EQ(db.Verify()->files, 2u);
  EXPECT_EQ(db.Stats().tables, 4u);
  EXPECT_EQ(db.WriteRefusal().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(db.DeleteTable("t").ok());
  EXPECT_TRUE(
      db.Apply(WriteBatch().Add(*table, RowMutation("r")).Add(*table, RowMutation("r"))).ok());
  EXPECT_TRUE(db.Sync().ok());
  EXPECT_TRUE(db.WaitForIdle().ok());
  EXPECT_TRUE(db.Checkpoint("d").ok());
  EXPECT_TRUE(db.ConfirmClock().ok());
  EXPECT_TRUE(db.Close().ok());
  EXPECT_EQ(Seen().Take(), "create t;delete t;batch 2;sync;idle;checkpoint d;clock;close;");
}

TEST_F(HandlesTest, TheDatabaseJudgesFirst) {
  Database db = *Database::Open("mem:");
  Seen().Take();
  EXPECT_EQ(db.CreateTable("a b", Schema()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db.CreateTable("t", Schema().AddFamily("a b")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(db.CreateTable(
                  "t", Schema().AddFamily({.name = "f", .value_type = static_cast<ValueType>(9)}))
                .status()
                .code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(db.Apply(WriteBatch().Add(Table(), RowMutation("r"))).code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(db.Apply(WriteBatch(), {.idempotency_token = "1"}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(db.Checkpoint("").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Seen().Take(), "");
}

TEST_F(HandlesTest, TheTableForwards) {
  EXPECT_TRUE(table_.schema().ok());
  EXPECT_TRUE(table_.Apply(RowMutation("r")).ok());
  EXPECT_TRUE(table_.BulkApply(std::vector<RowMutation>(3)).empty());
  EXPECT_TRUE(table_.ReadRow("r").ok());
  EXPECT_EQ(table_.ReadMany(std::vector<std::string>{"b", "a", "b"})->size(), 3u);
  EXPECT_TRUE(*table_.Exists("r"));
  EXPECT_TRUE(table_.ModifyColumnFamilies({FamilyChange::Drop("f"), FamilyChange::Drop("g")}).ok());
  EXPECT_TRUE(table_.SetProperty("k", "v").ok());
  EXPECT_TRUE(table_.DropRowRange(RowRange::Prefix("p")).ok());
  EXPECT_TRUE(table_.DropRowRange(RowRange::All()).ok());
  EXPECT_EQ(table_.SampleRowKeys()->front().offset_bytes, 7u);
  EXPECT_TRUE(table_.Flush().ok());
  EXPECT_TRUE(table_.Compact().ok());
  EXPECT_EQ(table_.Stats()->cells, 3u);
  EXPECT_EQ(Seen().Take(),
            "apply r;bulk 3;read r;many b;many a;many b;modify 2;property k=v;drop [\"p\", "
            "\"q\");drop [, );flush;compact [, );");
}

TEST_F(HandlesTest, TheTableJudgesFirst) {
  EXPECT_EQ(table_.Apply(RowMutation("r"), {.idempotency_token = "1234567"}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.BulkApply(std::vector<RowMutation>(2), {.idempotency_token = "1234567"}).size(),
            2u);
  EXPECT_EQ(table_.ReadRow("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.ReadMany(std::vector<std::string>{"a", ""}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.Exists("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.ReadRows(RowSet::All(), {}, {.limit = -1}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.ReadCell("", "f", "q").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(
      table_.ModifyColumnFamilies({FamilyChange::Drop("f"), FamilyChange::Drop("a b")}).code(),
      StatusCode::kInvalidArgument);
  EXPECT_EQ(table_
                .ModifyColumnFamilies(
                    {FamilyChange::Create({.name = "f", .value_type = static_cast<ValueType>(9)})})
                .code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.SetProperty("", "v").code(), StatusCode::kInvalidArgument);
  // Row 134 of docs/reference/semantics.md.
  EXPECT_EQ(table_.DropRowRange(RowRange::Prefix("")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.DropRowRange(RowRange::Closed("b", "a")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.SampleRowKeys(RowRange::Closed("b", "a")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.Compact(RowRange::Closed("b", "a")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Seen().Take(), "");
}

TEST_F(HandlesTest, ConditionalWritesAreJudgedFirst) {
  const RowMutation set = RowMutation().SetCell("f", "q", "v");
  EXPECT_EQ(table_.CheckAndMutateRow("", Filter(), set, set).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(
      table_.CheckAndMutateRow("r", Filter(), RowMutation(), RowMutation("r")).status().code(),
      StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.CheckAndMutateRow("r", Filter(), set, RowMutation("other")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.ReadModifyWriteRow("", {ReadModifyWriteRule::IncrementAmount("f", "q", 1)})
                .status()
                .code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Seen().Take(), "");
  EXPECT_EQ(table_.CheckAndMutateRow("r", Filter(), set, RowMutation("r")).value(),
            MutationBranch::kPredicateMatched);
  EXPECT_EQ(table_.ReadModifyWriteRow("r", {ReadModifyWriteRule::IncrementAmount("f", "q", 1)})
                ->cells()
                .size(),
            0u);
  EXPECT_EQ(Seen().Take(), "check r 1 0;modify r 1;");
}

TEST_F(HandlesTest, AReaderGoesThroughItsRowsOnce) {
  RowReader reader = table_.ReadRows();
  EXPECT_EQ(reader.row().row_key(), "");
  EXPECT_TRUE(reader.Next());
  EXPECT_EQ(reader.row().row_key(), "one");
  EXPECT_EQ(reader.row().cell("f", "q")->value(), "v");
  EXPECT_TRUE(reader.Next());
  EXPECT_EQ(reader.row().row_key(), "two");
  EXPECT_EQ(reader.stats().rows_returned, 2u);
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.row().row_key(), "");
  Seen().Take();
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(Seen().Take(), "");  // a source is not called again after its end
  EXPECT_TRUE(reader.status().ok());
}

TEST_F(HandlesTest, AReaderIsARange) {
  std::string row_keys;
  RowReader reader = table_.ReadRows();
  for (const RowView& row : reader) row_keys += std::string(row.row_key()) + " ";
  EXPECT_EQ(row_keys, "one two ");
  EXPECT_TRUE(reader.status().ok());
}

TEST_F(HandlesTest, AReaderMovesWithItsPlace) {
  RowReader reader = table_.ReadRows();
  ASSERT_TRUE(reader.Next());
  RowReader moved = std::move(reader);
  EXPECT_EQ(moved.row().row_key(), "one");
  EXPECT_FALSE(reader.Next());  // NOLINT(bugprone-use-after-move): tests a moved-from reader
  EXPECT_EQ(reader.row().row_key(), "");
  EXPECT_EQ(reader.status().code(), StatusCode::kFailedPrecondition);
  Seen().Take();
  reader = table_.ReadRows();
  EXPECT_TRUE(reader.Next());
  moved = std::move(reader);
  EXPECT_EQ(Seen().Take(), "next;~source;");
  EXPECT_EQ(moved.row().row_key(), "one");
  EXPECT_TRUE(moved.Next());
  EXPECT_EQ(moved.row().row_key(), "two");
}

TEST_F(HandlesTest, AFailedReadIsTheReadersStatus) {
  RowReader reader = table_.ReadRows(RowSet::All(), Filter::BlockAll());
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.status().code(), StatusCode::kInvalidArgument);
}

// In builds with invariant checks, a loop that never looks at the status of a failed read is found.
TEST_F(HandlesTest, AReaderThatFailedRequiresThatItsStatusIsRead) {
  if (!internal::kInvariants) GTEST_SKIP() << "needs STELE_INVARIANTS";
  const auto read = [this](bool reads_status) {
    RowReader reader = table_.ReadRows(RowSet::All(), Filter::BlockAll());
    for (const RowView& row : reader) ADD_FAILURE() << row.row_key();
    RowReader moved = std::move(reader);
    if (reads_status) EXPECT_FALSE(moved.status().ok());
  };
  read(true);
  EXPECT_DEATH(read(false), "status_was_read_");
  // A reader that is not read to its end, or ended without an error, may be dropped.
  RowReader unread = table_.ReadRows(RowSet::All(), Filter::BlockAll());
  RowReader complete = table_.ReadRows();
  while (complete.Next()) {
  }
}

TEST_F(HandlesTest, ABulkLoadEndsOnce) {
  BulkLoad load = table_.NewBulkLoad();
  EXPECT_TRUE(load.Add(RowMutation("a")).ok());
  EXPECT_TRUE(load.Finish().ok());
  EXPECT_EQ(Seen().Take(), "add a;finish;~load;");
  EXPECT_EQ(load.Add(RowMutation("b")).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(load.Finish().code(), StatusCode::kFailedPrecondition);
  load.Abort();
  EXPECT_EQ(Seen().Take(), "");

  BulkLoad aborted = internal::Access::Make<BulkLoad>(std::make_unique<FakeLoad>());
  BulkLoad moved = std::move(aborted);
  EXPECT_EQ(aborted.Finish().code(),
            StatusCode::kFailedPrecondition);  // NOLINT(bugprone-use-after-move): the point
  moved.Abort();
  moved.Abort();
  EXPECT_EQ(Seen().Take(), "abort;~load;");
}

TEST_F(HandlesTest, ABulkLoadThatCannotBeginAnswersWhy) {
  BulkLoad load =
      internal::Access::Make<Table>(std::make_shared<FakeTable>("closed")).NewBulkLoad();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(load.Add(RowMutation("a")).ToString(), "FAILED_PRECONDITION: closed");
    EXPECT_EQ(load.Finish().ToString(), "FAILED_PRECONDITION: closed");
  }
  load.Abort();
  EXPECT_EQ(Seen().Take(), "");
}

}  // namespace
}  // namespace stele
