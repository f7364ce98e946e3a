// Tests tables, families, row ranges and samples: rows 73, 74 and 129 to 135 of
// docs/reference/semantics.md, and engine rules 6 and 14.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "support/db_contract.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

RowMutation SetFamily(std::string row_key, std::string_view family = "f") {
  return RowMutation(std::move(row_key)).SetCell(family, "q", Ms(1), "v");
}

std::string Keys(const Table& table, const ReadOptions& options = {}) {
  std::string keys;
  RowReader reader = table.ReadRows(RowSet::All(), {}, options);
  for (const RowView& row : reader)
    keys += fmt::format("{}{}", keys.empty() ? "" : ",", row.row_key());
  return reader.status().ok() ? keys : CodeName(reader.status());
}

TEST(ContractAdminTest, TableNamesAreChecked) {  // row 130
  ContractDatabase store;
  const auto create = [&](std::string_view name) {
    return CodeName(store.database().CreateTable(name, Schema()).status());
  };
  for (const char* wrong :
       {"", "bad/id!", "-a", ".a", "a b", "p/i/", "p/t", "/i/t", "p//t", "p/i/t/u", "\xc3\xa4"}) {
    EXPECT_EQ(create(wrong), "InvalidArgument") << wrong;
  }
  EXPECT_EQ(create(std::string(51, 'a')), "InvalidArgument");
  EXPECT_EQ(create(std::string(50, 'a')), "OK");
  EXPECT_EQ(create("p/i/" + std::string(50, 'a')), "OK");
  for (const char* right : {"_a-.B9", "0", "p/i/t", "p/i/u"})
    EXPECT_EQ(create(right), "OK") << right;
  EXPECT_EQ(create("0"), "AlreadyExists");  // row 129
  EXPECT_EQ(CodeName(store.database().OpenTable("nope").status()), "NotFound");
  EXPECT_EQ(CodeName(store.database().DeleteTable("nope")), "NotFound");
  store.Reopen();
  const std::vector<std::string> expected = {
      "0", "_a-.B9", std::string(50, 'a'), "p/i/" + std::string(50, 'a'), "p/i/t", "p/i/u"};
  EXPECT_EQ(*store.database().ListTables(), expected);
  EXPECT_EQ(store.database().OpenTable("p/i/t")->name(), "p/i/t");
}

TEST(ContractAdminTest, SchemasAreChecked) {
  ContractDatabase store;
  const auto create = [&](const Schema& schema) {
    return CodeName(store.database().CreateTable("x", schema).status());
  };
  for (const char* wrong : {"", "a b", "a:b", "\xc3\xa4"})
    EXPECT_EQ(create(Schema().AddFamily(wrong)), "InvalidArgument") << wrong;
  EXPECT_EQ(create(Schema().AddFamily(std::string(65, 'f'))), "InvalidArgument");
  EXPECT_EQ(create(Schema().AddFamily("f").AddFamily("f")), "InvalidArgument");
  EXPECT_EQ(create(Schema().AddSplit("")), "InvalidArgument");
  EXPECT_EQ(create(Schema().SetLimits({.row_key_bytes = 65'536})), "InvalidArgument");
  EXPECT_EQ(create(Schema().SetLimits({.mutations = 0})), "InvalidArgument");
  EXPECT_EQ(create(Schema().SetProperty("", "v")), "InvalidArgument");
  EXPECT_EQ(create(Schema().SetProperty("k", std::string(65'537, 'v'))), "InvalidArgument");
  EXPECT_TRUE(store.database().ListTables()->empty());
}

TEST(ContractAdminTest, SchemasAreReadBackAsGivenAlsoAfterReopening) {
  ContractDatabase store;
  const Schema schema =
      Schema()
          .AddFamily("z", *GcRule::Parse("maxversions=2||(maxage=10d&&maxversions=7)"))
          .AddFamily(std::string(64, 'f'))
          .SetGranularity(TimestampGranularity::kMicros)
          .SetCompression(Compression::kNone)
          .AddSplit("m")
          .AddSplit("c")
          .AddSplit("m")
          .SetProperty("k", "")
          .SetProperty("l", "\x01 text")
          .SetLimits({.row_key_bytes = 10, .mutations = 3});
  store.MakeTable(schema);
  EXPECT_EQ(*store.table().schema(), schema);
  ASSERT_TRUE(store.table().SetProperty("k", "new").ok());
  EXPECT_EQ(CodeName(store.table().SetProperty("", "new")), "InvalidArgument");
  store.Reopen();
  EXPECT_EQ(*store.table().schema(), Schema(schema).SetProperty("k", "new"));
  EXPECT_EQ(store.table().Stats()->tablets.size(), 3u);
}

TEST(ContractAdminTest, FamilyChangesAreAllOrNothing) {  // rows 131, 133
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  ASSERT_TRUE(table.Apply(SetFamily("r")).ok());
  const auto change = [&](std::initializer_list<FamilyChange> changes) {
    const absl::Status status = table.ModifyColumnFamilies(changes);
    return fmt::format("{} {}", CodeName(status), ToStd(status.message()).substr(0, 9));
  };
  const GcRule two = GcRule::MaxNumVersions(2);
  EXPECT_EQ(change({FamilyChange::Create({.name = "n1"}), FamilyChange::Create({.name = "f"})}),
            "AlreadyExists change 1:");
  EXPECT_EQ(change({FamilyChange::Update("f", two), FamilyChange::Update("nope", two)}),
            "NotFound change 1:");
  EXPECT_EQ(change({FamilyChange::Drop("f"), FamilyChange::Drop("nope")}), "NotFound change 1:");
  EXPECT_EQ(change({FamilyChange::Drop("f"), FamilyChange::Update("f", two)}),
            "NotFound change 1:");
  EXPECT_EQ(change({FamilyChange::Drop("f"), FamilyChange::Create({.name = "a b"})}).substr(0, 15),
            "InvalidArgument");
  EXPECT_EQ(*table.schema(), Schema().AddFamily("f"));
  EXPECT_EQ(ShowAll(table), "r f:q@1000=v");
  EXPECT_EQ(change({FamilyChange::Create({.name = "n"}), FamilyChange::Drop("n"),
                    FamilyChange::Create({.name = "n", .gc = two})}),
            "OK ");
  store.Reopen();
  EXPECT_EQ(*store.table().schema(), Schema().AddFamily("f").AddFamily("n", two));
}

TEST(ContractAdminTest, AFamilyMadeAnewIsEmptyForEver) {  // engine rule 6
  for (const bool flush : {false, true}) {
    ContractDatabase store;
    Table& table = store.MakeTable(Schema().AddFamily("a").AddFamily("f").AddFamily("z"));
    ASSERT_TRUE(
        table
            .Apply(
                SetFamily("r", "a").SetCell("f", "q", Ms(1), "old").SetCell("z", "q", Ms(1), "v"))
            .ok());
    if (flush) {
      ASSERT_TRUE(table.Flush().ok());
    }
    const Snapshot before = *store.database().GetSnapshot();
    ASSERT_TRUE(
        table.ModifyColumnFamilies({FamilyChange::Drop("f"), FamilyChange::Create({.name = "f"})})
            .ok());
    EXPECT_EQ(ShowAll(table), "r a:q@1000=v, z:q@1000=v");
    EXPECT_EQ(ShowAll(table, {.snapshot = before}), "r a:q@1000=v, f:q@1000=old, z:q@1000=v");
    ASSERT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", Ms(2), "new")).ok());
    const std::string_view now = "r a:q@1000=v, z:q@1000=v, f:q@2000=new";
    EXPECT_EQ(ShowAll(table), now);
    store.Reopen();
    EXPECT_EQ(ShowAll(store.table()), now);
    ASSERT_TRUE(store.table().Compact().ok());
    EXPECT_EQ(ShowAll(store.table()), now);
    store.Reopen();
    EXPECT_EQ(ShowAll(store.table()), now);
  }
}

// Regression: families were in the order of their names.
TEST(ContractAdminTest, FamiliesOfARowStandInTheOrderOfTheirCreation) {
  ContractDatabase store;
  Table* table = &store.MakeTable(Schema().AddFamily("m").AddFamily("k"));
  const auto set = [](RowMutation mutation, std::initializer_list<const char*> families) {
    for (const char* family : families) mutation.SetCell(family, "q", Ms(1), family);
    return mutation;
  };
  ASSERT_TRUE(table->Apply(set(RowMutation("r"), {"m", "k"})).ok());
  ASSERT_TRUE(table->Flush().ok());
  ASSERT_TRUE(table
                  ->ModifyColumnFamilies(
                      {FamilyChange::Create({.name = "z"}), FamilyChange::Create({.name = "c"})})
                  .ok());
  ASSERT_TRUE(table->ModifyColumnFamilies({FamilyChange::Create({.name = "a"})}).ok());
  ASSERT_TRUE(table->Apply(set(RowMutation("r"), {"a", "c", "z"})).ok());
  const std::string_view all = "r k:q@1000=k, m:q@1000=m, c:q@1000=c, z:q@1000=z, a:q@1000=a";
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(ShowAll(*table), all);
    EXPECT_EQ(Show(table->ReadRow("r", Filter::CellsRowLimit(3)).value()),
              "r k:q@1000=k, m:q@1000=m, c:q@1000=c");
    EXPECT_EQ(Show(table->ReadRow("r", Filter::CellsRowOffset(3)).value()),
              "r z:q@1000=z, a:q@1000=a");
    const Row row = *table->ReadRow("r").value();
    for (const char* family : {"a", "c", "k", "m", "z"}) {
      ASSERT_TRUE(row.cell(family, "q").has_value()) << family;
      EXPECT_EQ(row.cell(family, "q")->value(), family);
      EXPECT_EQ(row.family(family).size(), 1u);
    }
    for (const char* absent : {"", "b", "n", "zz"})
      EXPECT_FALSE(row.cell(absent, "q").has_value()) << absent;
    store.Reopen();
    table = &store.table();
    ASSERT_TRUE((round == 0 ? table->Flush() : table->Compact()).ok());
  }
  ASSERT_TRUE(
      table->ModifyColumnFamilies({FamilyChange::Drop("k"), FamilyChange::Create({.name = "k"})})
          .ok());
  ASSERT_TRUE(table->Apply(set(RowMutation("r"), {"k"})).ok());
  EXPECT_EQ(ShowAll(*table), "r m:q@1000=m, c:q@1000=c, z:q@1000=z, a:q@1000=a, k:q@1000=k")
      << "a new family of an old name is the last";
  const std::vector<ReadModifyWriteRule> rules = {ReadModifyWriteRule::AppendValue("k", "n", "1"),
                                                  ReadModifyWriteRule::AppendValue("z", "n", "2")};
  const Row changed = table->ReadModifyWriteRow("s", rules).value();
  ASSERT_EQ(changed.cells().size(), 2u);
  EXPECT_EQ(changed.cells().front().family(), "z");
}

TEST(ContractAdminTest, ADeletedTableIsNotFoundAndADatabaseForgetsIt) {
  for (const bool flush : {false, true}) {
    ContractDatabase store;
    Table table = store.MakeTable(Schema().AddFamily("f"));
    for (const char* row_key : {"a", "b", "c"}) ASSERT_TRUE(table.Apply(SetFamily(row_key)).ok());
    if (flush) {
      ASSERT_TRUE(table.Flush().ok());
    }
    RowReader reader = table.ReadRows();
    ASSERT_TRUE(reader.Next());
    const Snapshot before = *store.database().GetSnapshot();
    ASSERT_TRUE(store.database().DeleteTable("t").ok());
    EXPECT_EQ(CodeName(table.Apply(SetFamily("d"))), "NotFound");
    EXPECT_EQ(CodeName(table.ReadRow("a").status()), "NotFound");
    EXPECT_EQ(CodeName(table.Exists("a").status()), "NotFound");
    EXPECT_EQ(Keys(table), "NotFound");
    EXPECT_EQ(CodeName(table.schema().status()), "NotFound");
    EXPECT_EQ(CodeName(table.ModifyColumnFamilies({FamilyChange::Drop("f")})), "NotFound");
    EXPECT_EQ(CodeName(table.ModifyColumnFamilies({})), "NotFound");
    EXPECT_EQ(CodeName(table.SetProperty("k", "v")), "NotFound");
    EXPECT_EQ(CodeName(table.DropRowRange(RowRange::All())), "NotFound");
    EXPECT_EQ(CodeName(table.SampleRowKeys().status()), "NotFound");
    EXPECT_EQ(CodeName(table.Flush()), "NotFound");
    EXPECT_EQ(CodeName(table.Compact()), "NotFound");
    EXPECT_EQ(CodeName(table.Stats().status()), "NotFound");
    EXPECT_EQ(CodeName(table.BulkApply(std::vector<RowMutation>{SetFamily("d")}).at(0).status),
              "NotFound");
    EXPECT_EQ(table.name(), "t");
    // Open readers finish, and earlier snapshots can still be read.
    EXPECT_TRUE(reader.Next() && reader.Next());
    EXPECT_EQ(reader.row().row_key(), "c");
    EXPECT_EQ(Keys(table, {.snapshot = before}), "a,b,c");
    // A new table with the same name is a different table.
    Table second = *store.database().CreateTable("t", Schema().AddFamily("f"));
    EXPECT_EQ(Keys(second), "");
    EXPECT_EQ(CodeName(table.Apply(SetFamily("d"))), "NotFound");
    EXPECT_EQ(Keys(second, {.snapshot = before}), "NotFound");
    store.Reopen();
    EXPECT_EQ(Keys(store.table()), "");
  }
}

// Rows 134 and 135, engine rule 14.
TEST(ContractAdminTest, DropRowRangeDropsTheRangeAtOnceAndForGood) {
  for (const bool flush : {false, true}) {
    ContractDatabase store;
    Table& table = store.MakeTable(Schema().AddFamily("f").AddSplit("abb"));
    for (const char* row_key : {"a", "ab", "abc", "b"})
      ASSERT_TRUE(table.Apply(SetFamily(row_key)).ok());
    if (flush) {
      ASSERT_TRUE(table.Flush().ok());
    }
    EXPECT_EQ(CodeName(table.DropRowRange(RowRange::Prefix(""))), "InvalidArgument");
    EXPECT_EQ(CodeName(table.DropRowRange(RowRange::RightOpen("b", "a"))), "InvalidArgument");
    EXPECT_EQ(CodeName(table.DropRowRange(RowRange::Empty())), "OK");
    EXPECT_EQ(Keys(table), "a,ab,abc,b");
    const Snapshot before = *store.database().GetSnapshot();
    ASSERT_TRUE(table.DropRowRange(RowRange::Prefix("ab")).ok());
    EXPECT_EQ(Keys(table), "a,b");
    EXPECT_EQ(Keys(table, {.reverse = true}), "b,a");
    EXPECT_EQ(Keys(table, {.snapshot = before}), "a,ab,abc,b");
    ASSERT_TRUE(table.Apply(SetFamily("abd")).ok());
    store.Reopen();
    EXPECT_EQ(Keys(store.table()), "a,abd,b");
    ASSERT_TRUE(store.table().Compact().ok());
    EXPECT_EQ(Keys(store.table()), "a,abd,b");
    ASSERT_TRUE(store.table().DropRowRange(RowRange::All()).ok());
    EXPECT_EQ(Keys(store.table()), "");
    EXPECT_EQ(store.table().Stats()->files, 0u);
  }
}

TEST(ContractAdminTest, SamplesEndWithTheEndOfTheRange) {  // rows 73, 74
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f"));
  EXPECT_EQ(*table.SampleRowKeys(), std::vector<RowKeySample>{{}});
  for (int i = 0; i < 2000; ++i) {
    std::string value;
    for (int byte = 0; byte < 1000; ++byte)
      value.push_back(static_cast<char>(i * 31 + byte * byte * 7 + byte / 3 * i));
    ASSERT_TRUE(
        table.Apply(RowMutation(fmt::format("{:04}", i)).SetCell("f", "q", Ms(1), value)).ok());
  }
  ASSERT_TRUE(table.Flush().ok());
  const std::vector<RowKeySample> samples = *table.SampleRowKeys();
  ASSERT_GT(samples.size(), 2u);
  EXPECT_EQ(samples.back().row_key, "");
  EXPECT_GT(samples.back().offset_bytes, 0u);
  for (size_t i = 1; i < samples.size(); ++i) {
    EXPECT_LE(samples[i - 1].offset_bytes, samples[i].offset_bytes);
    if (i + 1 < samples.size()) {
      EXPECT_LT(samples[i - 1].row_key, samples[i].row_key);
    }
  }
  const std::vector<RowKeySample> part = *table.SampleRowKeys(RowRange::RightOpen("0500", "1500"));
  EXPECT_EQ(part.back().row_key, "1500");
  EXPECT_LT(part.back().offset_bytes, samples.back().offset_bytes);
  EXPECT_GT(part.back().offset_bytes, samples.back().offset_bytes / 4);
  for (const RowKeySample& sample : part)
    EXPECT_TRUE(sample.row_key > "0500" && sample.row_key <= "1500") << sample.row_key;
  EXPECT_EQ(CodeName(table.SampleRowKeys(RowRange::RightOpen("b", "a")).status()),
            "InvalidArgument");
}

TEST(ContractAdminTest, SamplesNameTheInitialSplits) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f").AddSplit("m").AddSplit("c"));
  std::string keys;
  const std::vector<RowKeySample> samples = *table.SampleRowKeys();
  for (const RowKeySample& sample : samples) keys += sample.row_key + ";";
  EXPECT_EQ(keys, "c;m;;");
}

TEST(ContractAdminTest, StatsAddUp) {
  ContractDatabase store;
  Table& table = store.MakeTable(Schema().AddFamily("f").AddFamily("g").AddSplit("m"));
  for (const char* row_key : {"a", "b", "x"})
    ASSERT_TRUE(table.Apply(SetFamily(row_key).SetCell("g", "q", Ms(1), "longer")).ok());
  ASSERT_TRUE(store.database()
                  .Apply(WriteBatch().Add(table, SetFamily("a")).Add(table, SetFamily("b")))
                  .ok());
  ASSERT_TRUE(table.ReadRow("a").ok());
  EXPECT_EQ(table.Stats()->writes, 5u);
  EXPECT_EQ(table.Stats()->reads, 1u);
  const TableStats before = *table.Stats();
  EXPECT_GE(before.cells, 6u);
  EXPECT_EQ(before.families[0].cells + before.families[1].cells, before.cells);
  EXPECT_EQ(before.tablets[0].cells + before.tablets[1].cells + before.memtable_cells,
            before.cells);
  ASSERT_TRUE(table.Compact().ok());
  const TableStats stats = *table.Stats();
  EXPECT_EQ(stats.rows, 3u);
  EXPECT_EQ(stats.cells, 6u);
  EXPECT_GT(stats.bytes_logical, 3 * 8u);
  EXPECT_GT(stats.bytes_on_disk, 0u);
  ASSERT_EQ(stats.tablets.size(), 2u);
  EXPECT_EQ(stats.tablets[0].end, "m");
  EXPECT_EQ(stats.tablets[1].start, "m");
  EXPECT_EQ(stats.tablets[0].cells + stats.tablets[1].cells, 6u);
  EXPECT_EQ(stats.memtable_cells, 0u);
  ASSERT_EQ(stats.families.size(), 2u);
  EXPECT_EQ(stats.families[0].cells, 3u);
  EXPECT_GT(stats.families[1].bytes, stats.families[0].bytes);
  // The rest is the row keys "a", "b" and "x".
  EXPECT_EQ(stats.families[0].bytes + stats.families[1].bytes + 3, stats.bytes_logical);
  const DatabaseStats all = store.database().Stats();
  EXPECT_EQ(all.tables, 1u);
  EXPECT_EQ(all.disk.sstables, stats.files);
  EXPECT_EQ(all.disk.sstable_bytes, stats.bytes_on_disk);
  EXPECT_EQ(all.since_open.commits, 4u);
  EXPECT_GT(all.since_open.bytes_logged, 0u);
  EXPECT_GE(all.since_open.flushes, 1u);
  EXPECT_FALSE(all.oldest_snapshot.has_value());
  const Snapshot held = *store.database().GetSnapshot();
  EXPECT_EQ(store.database().Stats().oldest_snapshot, held.time());
  ASSERT_TRUE(table.Apply(SetFamily("new")).ok());
  ASSERT_TRUE(table.Compact().ok());
  EXPECT_GT(store.database().Stats().memory.pinned_bytes, 0u);
}

}  // namespace
}  // namespace stele::internal
