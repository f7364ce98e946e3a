// Tests the parser of DynamoDB JSON: all ten types, and every check.
#include "lab/dynamodb/record_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

class RecordParserTest : public testing::Test {
 protected:
  absl::Status Parse(std::string json) {
    json_ = std::move(json);
    const size_t bytes = json_.size();
    json_.append(kRecordPaddingBytes, '\0');
    return parser_.ParseLine(std::string_view(json_).substr(0, bytes), &record_);
  }
  absl::Status ParseValue(const std::string& value) {
    return Parse(R"({"Item":{"a":)" + value + "}}");
  }
  void ExpectBad(const std::string& value, std::string_view reason) {
    const absl::Status status = ParseValue(value);
    EXPECT_FALSE(status.ok()) << value;
    EXPECT_NE(status.ToString().find(reason), std::string::npos) << status;
  }
  static std::string Nested(int levels) {
    std::string value = R"({"S":"x"})";
    for (int i = 0; i < levels; ++i) value = R"({"L":[)" + value + "]}";
    return value;
  }

  std::string json_;
  RecordParser parser_;
  Record record_;
};

TEST_F(RecordParserTest, ReadsAllTenTypes) {
  ASSERT_TRUE(Parse(ItemOfAllTypes(7)).ok());
  EXPECT_FALSE(record_.is_change);
  const Item& item = record_.item;
  const auto text = [&](std::string_view name) { return std::string(item[*item.Find(name)].text); };
  const auto type = [&](std::string_view name) { return TypeName(item[*item.Find(name)].type); };
  EXPECT_EQ(text("text"), "caf\u00e9 \"x\"\n\x01");
  EXPECT_EQ(text("number"), "-1.50E+3");
  EXPECT_EQ(text("bytes"), std::string("\x00\xff", 2));
  EXPECT_EQ(text("yes"), "true");
  EXPECT_EQ(type("none"), "NULL");
  EXPECT_EQ(type("list"), "L");
  EXPECT_EQ(type("map"), "M");
  EXPECT_EQ(type("bs"), "BS");
  const uint32_t set = *item.Find("ns");
  std::string members;
  for (uint32_t i = Item::first_member(set); i < item[set].next; i = item[i].next)
    members.append(item[i].text).append(",");
  EXPECT_EQ(members, "10,9,-1,");
  EXPECT_EQ(item.Find("absent"), std::nullopt);
}

TEST_F(RecordParserTest, RejectsWrongValuesWithAReason) {
  ExpectBad(R"("text")", "for plain JSON, use stele load");
  ExpectBad(R"({"S":"a","N":"1"})", "for plain JSON, use stele load");
  ExpectBad(R"({})", "for plain JSON, use stele load");
  ExpectBad(R"({"X":"a"})", "is not a type");
  ExpectBad(R"({"N":1})", "not a JSON string");
  ExpectBad(R"({"N":"1x"})", "is not a number");
  ExpectBad(R"({"N":"123456789012345678901234567890123456789"})", "39 significant digits");
  ExpectBad(R"({"B":"AP8"})", "not base64");
  ExpectBad(R"({"BOOL":"true"})", "not true or false");
  ExpectBad(R"({"NULL":false})", "NULL must be true");
  ExpectBad(R"({"SS":[]})", "never empty");
  ExpectBad(R"({"SS":["a","b","a"]})", "occurs twice");
  ExpectBad(R"({"NS":["1","1.0"]})", "occurs twice");
  ExpectBad(R"({"BS":["AA==","AA=="]})", "occurs twice");
  ExpectBad(R"({"L":{}})", "not a JSON array");
  ExpectBad(R"({"M":{"x":{"S":"1"},"x":{"S":"2"}}})", "\"x\" occurs twice");
  ExpectBad("{\"S\":\"\xff\"}", "not one JSON document");
  ExpectBad(R"({"S":"\ud800"})", "not one JSON document");
  ExpectBad(R"({"S":"\udc00"})", "not one JSON document");
  EXPECT_TRUE(ParseValue(R"({"S":"\ud83d\ude00"})").ok());
}

TEST_F(RecordParserTest, LimitsNesting) {
  EXPECT_TRUE(ParseValue(Nested(kNestingMax)).ok());
  ExpectBad(Nested(kNestingMax + 1), "more than 32 levels");
  EXPECT_FALSE(ParseValue(Nested(5000)).ok());
  const std::string message(ParseValue(Nested(kNestingMax + 1)).message());
  EXPECT_LT(message.size(), 100u) << message;
  std::string maps = R"({"NULL":true})";
  for (int i = 0; i <= kNestingMax; ++i) maps = R"({"M":{"name":)" + maps + "}}";
  EXPECT_LT(ParseValue(maps).message().size(), 200u) << ParseValue(maps);
}

TEST_F(RecordParserTest, RejectsLinesOfAnotherForm) {
  for (const char* const line : {"", "[]", "{}", "{\"Item\":{}} x", "{\"Item\":{}}{\"Item\":{}}",
                                 "{\"Item\":[]}", "{\"Item\":{},\"Other\":1}",
                                 "{\"Item\":{},\"Item\":{}}", "{\"Name\":\"x\"}", "{\"Item\":{}"})
    EXPECT_FALSE(Parse(line).ok()) << line;
  EXPECT_TRUE(Parse("{\"Item\":{}}").ok());
}

TEST_F(RecordParserTest, ReadsChanges) {
  for (const char* const micros :
       {R"({"N":"1732060800000001"})", R"("1732060800000001")", "1732060800000001"}) {
    ASSERT_TRUE(Parse(R"({"Metadata":{"WriteTimestampMicros":)" + std::string(micros) +
                      R"(},"Keys":{"PK":{"S":"a"}},"NewImage":{"PK":{"S":"a"},"x":{"N":"1"}}})")
                    .ok());
    EXPECT_TRUE(record_.is_change);
    EXPECT_TRUE(record_.has_item);
    EXPECT_EQ(record_.write_micros, 1732060800000001);
    EXPECT_EQ(record_.keys[0].text, "a");
  }
  ASSERT_TRUE(Parse(R"({"Metadata":{"WriteTimestampMicros":"1"},"Keys":{"PK":{"S":"a"}},)"
                    R"("OldImage":{"PK":{"S":"a"}}})")
                  .ok());
  EXPECT_FALSE(record_.has_item);
  for (const char* const wrong : {
           R"({"Metadata":{},"Keys":{}})",
           R"({"Metadata":{"WriteTimestampMicros":"x"},"Keys":{}})",
           R"({"Metadata":{"WriteTimestampMicros":"-1"},"Keys":{}})",
           R"({"Metadata":{"WriteTimestampMicros":{"S":"1"}},"Keys":{}})",
           R"({"Metadata":{"WriteTimestampMicros":"1"}})",
           R"({"Keys":{},"NewImage":{}})",
           R"({"Metadata":{"WriteTimestampMicros":"1"},"Keys":{},"OldImage":{"a":1}})",
       })
    EXPECT_FALSE(Parse(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace stele::internal::lab
