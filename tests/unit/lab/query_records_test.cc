// Tests which records give a query its parameters.
#include "lab/load/query_records.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;

constexpr char kTwoInputs[] =
    "stele: design/1\n"
    "inputs: {none: {format: csv}, first: {file: first.csv}, second: {file: second.jsonl}}\n"
    "tables:\n"
    "  t:\n"
    "    families: {f: {}}\n"
    "    key: \"{k|or:x}\"\n"
    "    rows:\n"
    "      - {input: first, when: {w: y}, cells: {\"f:v\": \"{v}\"}}\n"
    "      - {input: second, cells: {\"f:v\": \"{v}\"}}\n"
    "    queries:\n"
    "      by-key: {read: {prefix: \"{k}#\"}}\n"
    "      by-user: {read: {row: \"{user|pad:3}\"}}\n"
    "      by-json: {read: {row: \"{n|json}\"}}\n"
    "      by-nothing: {read: {row: \"{nothing}\"}}\n"
    "      all: {read: {limit: 1}}\n"
    "      fan: {read: {prefix: \"{@bucket}#\", fan_out: 4}}\n"
    "      add: {write: first}\n"
    "  empty:\n"
    "    families: {f: {}}\n"
    "    key: x\n"
    "    queries: {q: {read: {row: \"{k}\"}}}\n"
    "  lost:\n"
    "    families: {f: {}}\n"
    "    key: x\n"
    "    rows: [{input: none, cells: {\"f:v\": x}}]\n"
    "    queries: {q: {read: {row: \"{k}\"}}}\n";

class QueryRecordsTest : public testing::Test {
 protected:
  absl::StatusOr<QueryRecords> Read(std::string_view query, const QueryRecordsOptions& options = {},
                                    std::string_view table = "t") {
    directory_.Write("first.csv", first_);
    directory_.Write("second.jsonl", second_);
    const auto design = Design::Load(directory_.Write("d.yaml", kTwoInputs));
    EXPECT_TRUE(design.ok()) << design.status();
    return ReadQueryRecords(*design, table, query, options);
  }
  std::string ErrorOf(std::string_view query, const QueryRecordsOptions& options = {},
                      std::string_view table = "t") {
    return std::string(Read(query, options, table).status().message());
  }

  TemporaryDirectory directory_;
  std::string first_ = "k,w,v\na,y,1\nb,n,2\n,y,3\nc,y,4\n";
  std::string second_ = "{\"user\":\"7\",\"n\":12}\n{\"user\":\"x\"}\n{\"user\":1}\nnot json\n";
};

TEST_F(QueryRecordsTest, KeepsTheFieldsOfTheQuery) {
  const auto found = Read("by-key");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->input, "first");
  EXPECT_EQ(found->usable_records, 2U) << "a and c; b is no row of the table";
  EXPECT_EQ(found->unusable_records, 1U) << "k is absent";
  EXPECT_NE(found->first_error.find("first.csv:4: query \"by-key\": prefix: field \"k\": absent"),
            std::string::npos)
      << found->first_error;
  EXPECT_EQ(found->records, (std::vector<Design::Record>{{{"k", "a"}}, {{"k", "c"}}}));
}

TEST_F(QueryRecordsTest, UsesTheFirstInputThatHasTheFields) {
  const auto found = Read("by-user");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->input, "second");
  EXPECT_EQ(found->unusable_records, 2U);
  EXPECT_EQ(found->records, (std::vector<Design::Record>{{{"user", "7"}}, {{"user", "1"}}}));
}

TEST_F(QueryRecordsTest, SamplesEvenly) {
  first_ = "k,w,v\n";
  for (int i = 0; i < 37; ++i) first_ += std::to_string(i) + ",y,1\n";
  const auto found = Read("by-key", {.records_max = 5});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->usable_records, 37U);
  std::string keys;
  for (const Design::Record& record : found->records) keys += record.at("k") + " ";
  EXPECT_EQ(keys, "0 8 16 24 32 ");
  EXPECT_EQ(Read("by-key", {.records_max = 37})->records.size(), 37U);
  EXPECT_EQ(Read("by-key", {.records_max = 0})->records.size(), 1U);
}

TEST_F(QueryRecordsTest, MemoryIsBounded) {
  first_ = "k,w,v\n";
  for (int i = 0; i < 40; ++i) first_ += std::string(4000, 'a') + std::to_string(i) + ",y,1\n";
  const std::string many = first_.substr(6);
  for (int i = 0; i < 511; ++i) first_ += many;
  const auto found = Read("by-key");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->usable_records, 20'480U);
  EXPECT_EQ(found->records.size(), 10'240U) << "64 MiB";
}

TEST_F(QueryRecordsTest, AQueryWithoutFieldsNeedsNoInput) {
  for (const char* const query : {"all", "fan"}) {
    const auto found = Read(query);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->input, "");
    EXPECT_EQ(found->records, std::vector<Design::Record>(1));
  }
}

TEST_F(QueryRecordsTest, ReportsWhatIsMissing) {
  EXPECT_NE(ErrorOf("none").find("the table t has no query \"none\"; its queries are by-key, "
                                 "by-user, by-json, by-nothing, all, fan, add"),
            std::string::npos)
      << ErrorOf("none");
  EXPECT_NE(ErrorOf("by-nothing").find("no record of the input \"first\" has its fields: "),
            std::string::npos)
      << ErrorOf("by-nothing");
  EXPECT_NE(ErrorOf("by-key", {.output_paths = {directory_.File("second.jsonl")}})
                .find("second.jsonl is read by this command and would be replaced"),
            std::string::npos);
  // 12 is the JSON of a number, and a record has only texts.
  EXPECT_NE(ErrorOf("by-json").find("no record of the input"), std::string::npos);
  EXPECT_NE(ErrorOf("by-key", {.inputs = {{"x", "y"}}}).find("has no input \"x\""),
            std::string::npos);
  EXPECT_NE(ErrorOf("q", {}, "empty").find("no input of the design fills the table empty"),
            std::string::npos);
  EXPECT_NE(ErrorOf("q", {}, "lost").find("the input \"none\" has no file"), std::string::npos);
  EXPECT_EQ(Read("by-key", {.inputs = {{"first", directory_.File("none")}}}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(QueryRecordsTest, AWriteTakesAllFieldsOfItsRows) {
  const auto records = Read("add");
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(records->input, "first");
  // The record with w = n is no row of the table.
  EXPECT_EQ(records->records, (std::vector<Design::Record>{{{"k", "a"}, {"v", "1"}, {"w", "y"}},
                                                           {{"v", "3"}, {"w", "y"}},
                                                           {{"k", "c"}, {"v", "4"}, {"w", "y"}}}));
}

TEST_F(QueryRecordsTest, ARecordIsUsableInAllDesigns) {
  const auto other = Design::Parse(
      "stele: design/1\n"
      "inputs: {first: {file: first.csv}}\n"
      "tables:\n"
      "  u:\n"
      "    families: {f: {}}\n"
      "    key: \"{v|pad:2}\"\n"
      "    rows: [{input: first, when: {w: y}, cells: {\"f:k\": \"{k}\"}}]\n"
      "    queries:\n"
      "      by-key: {read: {row: \"{v|pad:2}\"}}\n"
      "      add: {write: first}\n",
      directory_.File("other.yaml"));
  ASSERT_TRUE(other.ok()) << other.status();
  first_ = "k,w,v\na,y,1\nb,y,x\nc,y,4\n";
  const auto records = Read("by-key", {.others = {{*other, "u"}}});
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(records->records,
            (std::vector<Design::Record>{{{"k", "a"}, {"v", "1"}}, {{"k", "c"}, {"v", "4"}}}));
  EXPECT_EQ(records->unusable_records, 1u);
  // "b" has no key in the other design, and would have no cell without k.
  first_ += ",y,5\n";
  const auto written = Read("add", {.others = {{*other, "u"}}});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->records.size(), 2u);
  EXPECT_NE(ErrorOf("by-user", {.others = {{*other, "u"}}}).find("has no query \"by-user\""),
            std::string::npos);
}

TEST_F(QueryRecordsTest, ReportsAnEmptyInput) {
  first_ = "k,w,v\nb,n,2\n";
  second_ = "";
  EXPECT_EQ(ErrorOf("by-key"),
            "query \"by-key\": the input \"first\" has no record of the table t");
}

TEST_F(QueryRecordsTest, ReportsProgress) {
  for (int i = 0; i < 600; ++i) first_ += "z,y,1\n";
  uint64_t calls = 0;
  QueryRecordsOptions options;
  options.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
    ++calls;
    EXPECT_EQ(phase, "reading");
    EXPECT_LE(done, total);
  };
  EXPECT_TRUE(Read("by-key", options).ok());
  EXPECT_EQ(calls, 2U);
}

}  // namespace
}  // namespace stele::internal::lab
