#include "stele/schema.h"

#include <gtest/gtest.h>

namespace stele {
namespace {

TEST(SchemaTest, Defaults) {
  const Schema schema;
  EXPECT_TRUE(schema.families().empty());
  EXPECT_EQ(schema.granularity(), TimestampGranularity::kMillis);
  EXPECT_EQ(schema.compression(), Compression::kBalanced);
  EXPECT_EQ(schema.limits().row_key_bytes, 4096u);
  EXPECT_EQ(schema.limits().qualifier_bytes, 16384u);
  EXPECT_EQ(schema.limits().value_bytes, 104'857'600u);
  EXPECT_EQ(schema.limits().row_bytes, 268'435'456u);
  EXPECT_EQ(schema.limits().mutations, 100'000u);
}

TEST(SchemaTest, FamiliesAndSplitsAreSortedWhateverTheOrder) {
  Schema one;
  one.AddFamily("b")
      .AddFamily("a", GcRule::MaxNumVersions(1))
      .AddFamily("c")
      .AddSplit("z")
      .AddSplit("m")
      .AddSplit("z");
  Schema other;
  other.AddFamily("c")
      .AddFamily("b")
      .AddSplit("m")
      .AddFamily("a", GcRule::MaxNumVersions(1))
      .AddSplit("z");
  ASSERT_EQ(one.families().size(), 3u);
  EXPECT_EQ(one.families()[0].name, "a");
  EXPECT_EQ(one.families()[2].name, "c");
  EXPECT_EQ(one.splits(), (std::vector<std::string>{"m", "z"}));
  EXPECT_EQ(one, other);
}

TEST(SchemaTest, FindsFamilies) {
  Schema schema;
  schema.AddFamily("b").AddFamily(
      {.name = "a", .gc = GcRule::MaxNumVersions(7), .value_type = ValueType::kHll});
  ASSERT_NE(schema.family("a"), nullptr);
  EXPECT_EQ(schema.family("a")->gc, GcRule::MaxNumVersions(7));
  EXPECT_EQ(schema.family("a")->value_type, ValueType::kHll);
  ASSERT_NE(schema.family("b"), nullptr);
  EXPECT_EQ(schema.family("b")->name, "b");
  EXPECT_EQ(schema.family(""), nullptr);
  EXPECT_EQ(schema.family("ab"), nullptr);
  EXPECT_EQ(schema.family("c"), nullptr);
}

TEST(SchemaTest, EqualityLooksAtEverything) {
  const Schema base = Schema().AddFamily("a").AddSplit("m").SetProperty("k", "v");
  EXPECT_EQ(base,
            Schema().SetProperty("k", "old").SetProperty("k", "v").AddSplit("m").AddFamily("a"));
  EXPECT_NE(base, Schema(base).AddFamily("b"));
  EXPECT_NE(base, Schema(base).AddSplit("n"));
  EXPECT_NE(base, Schema(base).SetProperty("k", "w"));
  EXPECT_NE(base, Schema(base).SetGranularity(TimestampGranularity::kMicros));
  EXPECT_NE(base, Schema(base).SetCompression(Compression::kFast));
  EXPECT_NE(base, Schema(base).SetLimits({.row_key_bytes = 1}));
  EXPECT_NE(base,
            Schema().AddFamily("a", GcRule::MaxNumVersions(1)).AddSplit("m").SetProperty("k", "v"));
}

TEST(FamilyChangeTest, HoldsWhatItWasGiven) {
  const FamilyChange create = FamilyChange::Create({.name = "a", .gc = GcRule::MaxNumVersions(1)});
  EXPECT_EQ(create.kind(), FamilyChange::Kind::kCreate);
  EXPECT_EQ(create.family().gc, GcRule::MaxNumVersions(1));
  const FamilyChange update = FamilyChange::Update("b", GcRule::MaxNumVersions(2));
  EXPECT_EQ(update.kind(), FamilyChange::Kind::kUpdate);
  EXPECT_EQ(update.name(), "b");
  EXPECT_EQ(update.family().gc, GcRule::MaxNumVersions(2));
  EXPECT_EQ(FamilyChange::Drop("c").kind(), FamilyChange::Kind::kDrop);
  EXPECT_EQ(FamilyChange::Drop("c").name(), "c");
}

}  // namespace
}  // namespace stele
