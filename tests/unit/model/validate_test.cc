#include "model/validate.h"

#include <gtest/gtest.h>

#include "model/token_use.h"
#include "stele/mutation.h"

namespace stele {
namespace {

using namespace std::chrono_literals;
using namespace internal;  // NOLINT: the functions under test

void ExpectInvalid(const absl::Status& status, std::string_view context = "") {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status << " " << context;
}

TEST(ValidateNameTest, TableNames) {  // row 130 of docs/reference/semantics.md
  for (const std::string& name :
       {std::string("t"), std::string("_t"), std::string("9"), std::string("a.b-c_D"),
        std::string(50, 'x'), std::string("p/i/t"), std::string("{{projectId}}/i/t"),
        std::string("example.com:project/instance-1/table")}) {
    EXPECT_TRUE(ValidateTableName(name).ok()) << name;
  }
  for (const std::string& name :
       {std::string(""), std::string("-t"), std::string(".t"), std::string("bad/id!"),
        std::string("a b"), std::string(51, 'x'), std::string("{{projectId}}"),
        std::string("p/{{projectId}}/t"), std::string("{{project}}/i/t"), std::string("i/t"),
        std::string("p/i/"), std::string("/i/t"), std::string("p//t"), std::string("p/i/t/x"),
        std::string("p/i/-t"), std::string("t\0", 2), std::string("\xc3\xa4"), std::string("../x"),
        std::string("../../etc")}) {
    ExpectInvalid(ValidateTableName(name), name);
  }
}

TEST(ValidateNameTest, FamilyNames) {
  for (const std::string& name : {std::string("f"), std::string("-"), std::string(".a"),
                                  std::string("A_9-z."), std::string(64, 'f')}) {
    EXPECT_TRUE(ValidateFamilyName(name).ok()) << name;
  }
  for (const std::string& name : {std::string(""), std::string("a b"), std::string("a:b"),
                                  std::string("a/b"), std::string(65, 'f'), std::string("\0", 1)}) {
    ExpectInvalid(ValidateFamilyName(name), name);
  }
}

TEST(ValidateSchemaTest, GoodOnes) {
  EXPECT_TRUE(ValidateSchema(Schema()).ok());
  EXPECT_TRUE(ValidateSchema(Schema()
                                 .AddFamily("a")
                                 .AddFamily("b", GcRule::MaxAge(1ms))
                                 .AddSplit("m")
                                 .SetProperty("k", ""))
                  .ok());
  EXPECT_TRUE(
      ValidateSchema(
          Schema().SetLimits({.row_key_bytes = 65'535, .value_bytes = 256 << 20, .mutations = 1}))
          .ok());
}

TEST(ValidateSchemaTest, BadOnes) {
  ExpectInvalid(ValidateSchema(Schema().AddFamily("a").AddFamily("a")), "twice");
  ExpectInvalid(ValidateSchema(Schema().AddFamily("a:b")), "name");
  ExpectInvalid(ValidateSchema(Schema().AddFamily("a", GcRule::MaxNumVersions(0))), "rule");
  ExpectInvalid(
      ValidateSchema(Schema().AddFamily({.name = "a", .value_type = static_cast<ValueType>(9)})),
      "type");
  ExpectInvalid(ValidateSchema(Schema().AddSplit("")), "empty split");
  ExpectInvalid(ValidateSchema(Schema().AddSplit(std::string(4097, 'x'))), "long split");
  ExpectInvalid(ValidateSchema(Schema().SetProperty("", "v")), "property key");
  ExpectInvalid(ValidateSchema(Schema().SetProperty(std::string(257, 'k'), "v")),
                "long property key");
  ExpectInvalid(ValidateSchema(Schema().SetProperty("k", std::string((64 << 10) + 1, 'v'))),
                "long property");
  ExpectInvalid(ValidateSchema(Schema().SetGranularity(static_cast<TimestampGranularity>(7))),
                "granularity");
  ExpectInvalid(ValidateSchema(Schema().SetCompression(static_cast<Compression>(7))),
                "compression");
  ExpectInvalid(ValidateSchema(Schema().SetLimits({.row_key_bytes = 0})));
  ExpectInvalid(ValidateSchema(Schema().SetLimits({.row_key_bytes = 65'536})));
  ExpectInvalid(ValidateSchema(Schema().SetLimits({.qualifier_bytes = 65'536})));
  ExpectInvalid(ValidateSchema(Schema().SetLimits({.value_bytes = (256 << 20) + 1})));
  ExpectInvalid(ValidateSchema(Schema().SetLimits({.row_bytes = 0})));
  ExpectInvalid(ValidateSchema(Schema().SetLimits({.mutations = 0})));
}

TEST(ValidateSchemaTest, MessagesNameTheFamily) {
  const absl::Status status =
      ValidateSchema(Schema().AddFamily("views", GcRule::MaxNumVersions(0)));
  EXPECT_NE(std::string(status.message()).find("views"), std::string::npos) << status;
}

TEST(ValidateSchemaTest, FamilyChanges) {
  EXPECT_TRUE(ValidateFamilyChange(FamilyChange::Create({.name = "a"})).ok());
  EXPECT_TRUE(ValidateFamilyChange(FamilyChange::Update("a", GcRule::None())).ok());
  EXPECT_TRUE(ValidateFamilyChange(FamilyChange::Drop("a")).ok());
  ExpectInvalid(
      ValidateFamilyChange(FamilyChange::Create({.name = "a", .gc = GcRule::MaxNumVersions(0)})));
  ExpectInvalid(ValidateFamilyChange(FamilyChange::Update("a", GcRule::MaxAge(0s))));
  ExpectInvalid(ValidateFamilyChange(FamilyChange::Drop("a b")));
}

TEST(ValidateTimestampTest, SignAndGranularity) {  // rows 3 and 7
  const auto check = [](int64_t micros, TimestampGranularity g) {
    return ValidateTimestamp(Timestamp::FromMicros(micros), g, "timestamp");
  };
  for (const int64_t micros : {int64_t{0}, int64_t{1'000}, int64_t{9'223'372'036'854'775'000}}) {
    EXPECT_TRUE(check(micros, TimestampGranularity::kMillis).ok()) << micros;
  }
  EXPECT_TRUE(check(1, TimestampGranularity::kMicros).ok());
  EXPECT_TRUE(check(INT64_MAX, TimestampGranularity::kMicros).ok());
  for (const int64_t micros :
       {int64_t{-2}, int64_t{-1}, int64_t{-1'000}, int64_t{1}, int64_t{999}, int64_t{INT64_MAX}}) {
    ExpectInvalid(check(micros, TimestampGranularity::kMillis));
  }
  ExpectInvalid(check(-1, TimestampGranularity::kMicros));
}

TEST(ValidateTimestampTest, Ranges) {  // rows 26, 27 and 99
  const auto at = [](int64_t micros) { return Timestamp::FromMicros(micros); };
  const auto check = [](const TimestampRange& range) {
    return ValidateTimestampRange(range, TimestampGranularity::kMillis);
  };
  EXPECT_TRUE(check({}).ok());
  EXPECT_TRUE(check({.start = at(1'000), .end = at(2'000)}).ok());
  EXPECT_TRUE(check({.start = at(3'000), .end = at(3'000)}).ok());
  EXPECT_TRUE(check({.start = at(0), .end = at(0)}).ok());
  ExpectInvalid(check({.start = at(3'000), .end = at(2'000)}));
  ExpectInvalid(check({.start = at(1'000), .end = at(0)}));  // an explicit end is literal
  ExpectInvalid(check({.start = at(1'001), .end = at(2'000)}));
  ExpectInvalid(check({.start = at(1'000), .end = at(1'002)}));
  ExpectInvalid(check({.start = at(-1'000)}));
  ExpectInvalid(check({.start = at(0), .end = at(-1'000)}));
  EXPECT_TRUE(
      ValidateTimestampRange({.start = at(1'001), .end = at(1'002)}, TimestampGranularity::kMicros)
          .ok());
}

TEST(ValidateOptionsTest, Database) {
  EXPECT_TRUE(ValidateDatabaseOptions({}).ok());
  EXPECT_TRUE(
      ValidateDatabaseOptions({.memory_budget_bytes = 1 << 20, .background_threads = 64}).ok());
  ExpectInvalid(ValidateDatabaseOptions({.memory_budget_bytes = (1 << 20) - 1}));
  ExpectInvalid(ValidateDatabaseOptions({.background_threads = 0}));
  ExpectInvalid(ValidateDatabaseOptions({.background_threads = 65}));
  ExpectInvalid(ValidateDatabaseOptions({.durability = static_cast<Durability>(2)}));
}

TEST(ValidateOptionsTest, Reads) {
  EXPECT_TRUE(ValidateReadOptions({}).ok());
  EXPECT_TRUE(ValidateReadOptions({.limit = INT64_MAX, .row_piece_bytes = 1}).ok());
  ExpectInvalid(ValidateReadOptions({.limit = -1}));
  ExpectInvalid(ValidateReadOptions({.row_piece_bytes = 0}));
}

TEST(ValidateOptionsTest, Writes) {
  EXPECT_TRUE(ValidateWriteOptions({}).ok());
  EXPECT_TRUE(ValidateWriteOptions({.idempotency_token = "12345678"}).ok());
  EXPECT_TRUE(ValidateWriteOptions({.idempotency_token = std::string(kTokenBytesMax, 't')}).ok());
  ExpectInvalid(ValidateWriteOptions({.idempotency_token = std::string(kTokenBytesMax + 1, 't')}));
  ExpectInvalid(ValidateWriteOptions({.idempotency_token = "1234567"}));
  ExpectInvalid(ValidateWriteOptions({.durability = static_cast<Durability>(2)}));
}

TEST(ValidateRowKeyTest, NotEmpty) {  // rows 13 and 14
  EXPECT_TRUE(ValidateRowKey("a").ok());
  EXPECT_TRUE(ValidateRowKey(std::string_view("\0", 1)).ok());
  ExpectInvalid(ValidateRowKey(""));
}

}  // namespace
}  // namespace stele
