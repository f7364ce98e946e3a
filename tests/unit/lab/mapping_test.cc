// Tests how items are stored: lab JSON, row keys, cells, the mapping, and the way back.
#include "lab/mapping/mapping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/dynamodb/record_parser.h"
#include "lab/mapping/item_cells.h"
#include "lab/mapping/lab_json.h"
#include "lab/values/key_hashes.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

// An item and the parser that owns its texts.
class ParsedItem {
 public:
  explicit ParsedItem(std::string attributes) {
    attributes_ = std::move(attributes);
    const size_t bytes = attributes_.size();
    attributes_.append(kRecordPaddingBytes, '\0');
    const absl::Status parsed =
        parser_.ParseAttributes(std::string_view(attributes_).substr(0, bytes), &item_);
    EXPECT_TRUE(parsed.ok()) << parsed;
  }
  const Item& operator*() const { return item_; }

 private:
  std::string attributes_;
  RecordParser parser_;
  Item item_;
};

std::string LabJson(const std::string& value) {
  const ParsedItem item("{\"a\":" + value + "}");
  std::string text;
  AppendLabJson(*item, 0, &text);
  return text;
}

TEST(LabJsonTest, HasTheDocumentedForm) {
  const std::pair<std::string, std::string> kForms[] = {
      {R"({"S":"caf\u00e9 \"x\"\n\u0001\\"})", "\"caf\u00e9 \\\"x\\\"\\u000a\\u0001\\\\\""},
      {R"({"N":"-1.50E+3"})", "-1.50E+3"},
      {R"({"B":"AP8="})", R"({"$b":"AP8="})"},
      {R"({"BOOL":false})", "false"},
      {R"({"NULL":true})", "null"},
      {R"({"L":[{"S":"a"},{"L":[]},{"M":{}}]})", R"(["a",[],{}])"},
      {R"({"M":{"b":{"N":"1"},"$b":{"S":"x"},"a":{"S":"y"}}})", R"({"$$b":"x","a":"y","b":1})"},
      {R"({"SS":["b","a"]})", R"({"$ss":["a","b"]})"},
      {R"({"NS":["10","9","-1"]})", R"({"$ns":[-1,9,10]})"},
      {R"({"BS":["AQ==","AA=="]})", R"({"$bs":["AA==","AQ=="]})"}};
  for (const auto& [value, text] : kForms) {
    EXPECT_EQ(LabJson(value), text);
    Item back;
    const absl::Status parsed = ParseLabJson(text, "a", &back);
    ASSERT_TRUE(parsed.ok()) << text << parsed;
    std::string again;
    AppendLabJson(back, 0, &again);
    EXPECT_EQ(again, text);
  }
}

TEST(LabJsonTest, RejectsOtherText) {
  for (const char* const text : {"",
                                 "x",
                                 "nul",
                                 "1x",
                                 "01",
                                 "\"a",
                                 "\"\\x\"",
                                 "\"\\u0041\"",
                                 "\"\n\"",
                                 "[1,]",
                                 "[1",
                                 "{\"a\"}",
                                 "{\"b\":1,\"a\":1}",
                                 "{\"a\":1,\"a\":1}",
                                 "{\"$x\":1}",
                                 "{\"$ss\":[1]}",
                                 "{\"$ns\":[\"1\"]}",
                                 "{\"$b\":\"A\"}",
                                 "{\"$ss\":[]}",
                                 "{\"$b\":\"AA==\",\"x\":1}",
                                 "1 ",
                                 "\"\xff\"",
                                 " 1"}) {
    Item item;
    EXPECT_FALSE(ParseLabJson(text, "a", &item).ok()) << text;
  }
  Item item;
  EXPECT_FALSE(ParseLabJson(std::string(100'000, '['), "a", &item).ok());
}

// Surveys keys of a partition key and a sort key, given as JSON values.
absl::StatusOr<KeyLayout> LayoutOf(const std::vector<std::pair<std::string, std::string>>& keys,
                                   bool is_ordered = false, const std::string& delimiter = "") {
  KeySurvey survey({"p", "s"}, is_ordered, delimiter);
  for (const auto& [partition, sort] : keys) {
    const ParsedItem item("{\"p\":" + partition + ",\"s\":" + sort + "}");
    STELE_RETURN_IF_ERROR(survey.Add(*item));
  }
  return survey.Choose();
}

std::string KeyOf(const KeyLayout& layout, const std::string& partition, const std::string& sort) {
  const ParsedItem item("{\"p\":" + partition + ",\"s\":" + sort + "}");
  const auto row_key = layout.Encode(*item);
  EXPECT_TRUE(row_key.ok()) << row_key.status();
  Item back;
  const absl::Status decoded = layout.Decode(*row_key, &back);
  EXPECT_TRUE(decoded.ok()) << decoded;
  for (const std::string_view name : {"p", "s"}) {
    EXPECT_EQ(back[*back.Find(name)].text, (*item)[*(*item).Find(name)].text);
  }
  return *row_key;
}

TEST(KeyLayoutTest, ChoosesTheFirstDelimiterThatIsInNoPartitionKey) {
  const auto plain = LayoutOf({{R"({"S":"a"})", R"({"S":"b#|"})"}});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(KeyOf(*plain, R"({"S":"a"})", R"({"S":"b#|"})"), "a#b#|");
  const auto second = LayoutOf({{R"({"S":"a#"})", R"({"S":"b"})"}});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->delimiter(), "|");
  const auto none = LayoutOf({{R"({"S":"#|/~"})", R"({"S":"b"})"}});
  EXPECT_NE(none.status().ToString().find("--key ordered"), std::string::npos);
  EXPECT_FALSE(LayoutOf({{R"({"S":"a::"})", R"({"S":"b"})"}}, false, "::").ok());
  EXPECT_FALSE(LayoutOf({{R"({"S":"a:"})", R"({"S":"b"})"}}, false, "::").ok());
  EXPECT_TRUE(LayoutOf({{R"({"S":"a:b"})", R"({"S":"b"})"}}, false, "::").ok());
  EXPECT_FALSE(LayoutOf({{R"({"N":"1"})", R"({"S":"b"})"}}, false, "0").ok());
}

TEST(KeyLayoutTest, EncodesNumbersAndBytes) {
  const auto padded = LayoutOf({{R"({"N":"7"})", R"({"N":"1234567890123"})"}});
  ASSERT_TRUE(padded.ok());
  EXPECT_EQ(KeyOf(*padded, R"({"N":"7"})", R"({"N":"0"})"), "0000000007#0000000000000");
  const auto sortable = LayoutOf({{R"({"N":"7"})", R"({"N":"-1.52"})"}});
  ASSERT_TRUE(sortable.ok());
  EXPECT_EQ(KeyOf(*sortable, R"({"N":"7"})", R"({"N":"-1.52"})"), "0000000007#-499847:");
  const auto bytes = LayoutOf({{R"({"B":"AP8="})", R"({"B":"Iw=="})"}});
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(KeyOf(*bytes, R"({"B":"AP8="})", R"({"B":"Iw=="})"), "00ff#23");
  const ParsedItem wide(R"({"p":{"N":"12345678901"},"s":{"N":"1"}})");
  EXPECT_FALSE(padded->Encode(*wide).ok());
  const auto ordered = LayoutOf({{R"({"S":"a\u0000#"})", R"({"B":"AP8="})"}}, true);
  ASSERT_TRUE(ordered.ok());
  KeyOf(*ordered, R"({"S":"a\u0000#"})", R"({"B":"AP8="})");
}

TEST(KeyLayoutTest, RejectsWrongKeys) {
  const std::pair<std::string, std::string> kWrong[] = {
      {R"({"S":""})", R"({"S":"b"})"},
      {R"({"BOOL":true})", R"({"S":"b"})"},
      {R"({"S":")" + std::string(5000, 'a') + "\"}", R"({"S":"b"})"}};
  for (const auto& wrong : kWrong)
    EXPECT_FALSE(LayoutOf({wrong}).ok()) << wrong.first.substr(0, 20);
  EXPECT_FALSE(LayoutOf({{R"({"S":"a"})", R"({"S":"b"})"}, {R"({"N":"1"})", R"({"S":"b"})"}}).ok());
  const auto layout = LayoutOf({{R"({"N":"7"})", R"({"B":"AA=="})"}});
  for (const char* const row_key : {"", "7#00", "0000000007", "0000000007#0", "0000000007#zz",
                                    "0000000007#", "000000000x#00"}) {
    Item item;
    EXPECT_FALSE(layout->Decode(row_key, &item).ok()) << row_key;
  }
}

class ItemCellsTest : public testing::Test {
 protected:
  ItemCellsTest() {
    mapping_.key = *KeyLayout::Create({{.name = "PK"}}, false, "");
    mapping_.types = {{"n", AttributeType::kNumber},
                      {"m", AttributeType::kMap},
                      {"ss", AttributeType::kStringSet},
                      {"x", AttributeType::kString}};
  }

  // "FAMILY:QUALIFIER=VALUE" of each cell.
  std::vector<std::string> Cells(const std::string& attributes) {
    const ParsedItem item(attributes);
    EXPECT_TRUE(CheckItemCells(mapping_, *item).ok());
    std::vector<std::string> cells;
    stored_.clear();
    EncodeItemCells(
        mapping_, kFamilies, *item,
        [&](std::string_view family, std::string_view qualifier, std::string_view value) {
          stored_.push_back({std::string(family), std::string(qualifier), std::string(value)});
          cells.push_back(fmt::format("{}:{}={}", family, qualifier, value));
        });
    return cells;
  }
  // The stored cells as lab JSON of the item without its key.
  absl::StatusOr<std::string> Decoded() const {
    std::vector<CellView> views;
    for (const auto& [family, qualifier, value] : stored_)
      views.emplace_back(family, qualifier, Timestamp(), value);
    Item item;
    STELE_RETURN_IF_ERROR(DecodeItemCells(mapping_, views, &item));
    std::string text;
    for (uint32_t i = 0; i < item.size(); i = item[i].next) {
      text.append(item[i].name).append(1, '=').append(TypeName(item[i].type)).append(1, '=');
      AppendLabJson(item, i, &text);
      text.push_back(';');
    }
    return text;
  }

  Mapping mapping_;
  std::vector<std::tuple<std::string, std::string, std::string>> stored_;
};

TEST_F(ItemCellsTest, StoresAttributesAndMembersOfSets) {
  EXPECT_EQ(
      Cells(R"({"PK":{"S":"k"},"n":{"N":"1.0"},"ss":{"SS":["b#","a"]},"m":{"M":{"z":{"N":"1"}}}})"),
      (std::vector<std::string>{"a:n=1.0", std::string("s:ss#b#=\0", 9),
                                std::string("s:ss#a=\0", 8), "a:m={\"z\":1}"}));
  EXPECT_EQ(*Decoded(), R"(m=M={"z":1};n=N=1.0;ss=SS={"$ss":["a","b#"]};)");
}

TEST_F(ItemCellsTest, ListsUnusualTypes) {
  EXPECT_EQ(
      Cells(R"({"PK":{"S":"k"},"n":{"S":"1"},"$y":{"NULL":true},"x":{"S":""}})"),
      (std::vector<std::string>{"a:n=1", "a:$y=", "a:x=", R"(t:types={"$$y":"NULL","n":"S"})"}));
  EXPECT_EQ(*Decoded(), R"($y=NULL=null;n=S="1";x=S="";)");
  EXPECT_EQ(Cells(R"({"PK":{"S":"k"}})"), std::vector<std::string>{"t:types={}"});
  EXPECT_EQ(*Decoded(), "");
}

TEST_F(ItemCellsTest, StoresMapsAsColumnsAndSetsAsJson) {
  mapping_.maps_as_columns = true;
  mapping_.sets_as_columns = false;
  EXPECT_EQ(Cells(R"({"m":{"M":{"b":{"L":[]},"a#%":{"B":"AA=="}}},"ss":{"SS":["b","a"]}})"),
            (std::vector<std::string>{"m:m#b=[]", R"(m:m#a#%={"$b":"AA=="})",
                                      R"(a:ss={"$ss":["a","b"]})"}));
  EXPECT_EQ(*Decoded(), R"(m=M={"a#%":{"$b":"AA=="},"b":[]};ss=SS={"$ss":["a","b"]};)");
  EXPECT_EQ(Cells(R"({"m":{"M":{}}})"), std::vector<std::string>{"m:m#={}"});
  EXPECT_EQ(*Decoded(), "m=M={};");
  const ParsedItem unnamed(R"({"m":{"M":{"":{"S":"a"}}}})");
  EXPECT_FALSE(CheckItemCells(mapping_, *unnamed).ok());
}

TEST_F(ItemCellsTest, EscapesNamesOfSets) {
  mapping_.types["a#%b"] = AttributeType::kNumberSet;
  EXPECT_EQ(Cells(R"({"a#%b":{"NS":["1"]}})"),
            std::vector<std::string>{std::string("s:a%23%25b#1=\0", 14)});
  EXPECT_EQ(*Decoded(), R"(a#%b=NS={"$ns":[1]};)");
}

TEST_F(ItemCellsTest, StoresCountersInEightBytes) {
  mapping_.counters.insert("n");
  EXPECT_EQ(Cells(R"({"n":{"N":"-2"}})"),
            std::vector<std::string>{"a:n=\xff\xff\xff\xff\xff\xff\xff\xfe"});
  EXPECT_EQ(*Decoded(), "n=N=-2;");
  for (const char* const wrong : {"1.5", "1.0", "-0", "9223372036854775808", "1E+2"}) {
    const ParsedItem item(R"({"n":{"N":")" + std::string(wrong) + "\"}}");
    EXPECT_FALSE(CheckItemCells(mapping_, *item).ok()) << wrong;
  }
}

TEST_F(ItemCellsTest, RejectsCellsOfAnApplication) {
  const std::tuple<std::string, std::string, std::string> kWrong[] = {
      {"a", "unknown", "x"}, {"a", "n", "one"},    {"a", "m", "{"},
      {"a", "m", "[]"},      {"a", "x", "\xff"},   {"a", "ss", "x"},
      {"s", "ss", "x"},      {"s", "ss#a", "x"},   {"s", "n#a", "\0"},
      {"other", "n", "1"},   {"t", "other", "{}"}, {"t", "types", "[]x"},
      {"s", "%2#a", "x"},    {"a", "PK", "x"},     {"t", "types", "{\"n\":\"X\"}"}};
  for (const auto& cell : kWrong) {
    stored_ = {cell};
    EXPECT_FALSE(Decoded().ok()) << std::get<0>(cell) << ":" << std::get<1>(cell);
  }
}

// Regression: one of the two values was lost without a word.
TEST_F(ItemCellsTest, RejectsAnAttributeInTwoFamilies) {
  mapping_.types["n"] = AttributeType::kNumber;
  mapping_.types["ss"] = AttributeType::kStringSet;
  const std::string mark(1, '\0');
  stored_ = {{"a", "n", "1"}, {"x", "n", "2"}};
  EXPECT_NE(Decoded().status().ToString().find("one of the family a"), std::string::npos)
      << Decoded().status();
  stored_ = {{"s", "ss#a", mark}, {"xs", "ss#a", mark}};
  EXPECT_FALSE(Decoded().ok());
  stored_ = {{"x", "n", "2"}, {"xs", "ss#a", mark}};
  EXPECT_TRUE(Decoded().ok()) << Decoded().status();
}

TEST_F(ItemCellsTest, LimitsQualifiers) {
  const ParsedItem item(R"({"ss":{"SS":[")" + std::string(17'000, 'a') + "\"]}}");
  EXPECT_NE(CheckItemCells(mapping_, *item).ToString().find("--sets json"), std::string::npos);
  mapping_.sets_as_columns = false;
  EXPECT_TRUE(CheckItemCells(mapping_, *item).ok());
}

TEST(MappingTest, IsReadBack) {
  Mapping mapping;
  mapping.table = "shop \"x\"";
  mapping.key = *KeyLayout::Create(
      {{.name = "PK"}, {.name = "SK", .type = AttributeType::kNumber, .pad_width = 13}}, false,
      "|");
  mapping.maps_as_columns = true;
  mapping.counters = {"a", "b"};
  mapping.ttl = "expires";
  mapping.types = {{"x", AttributeType::kBinarySet}, {"$y", AttributeType::kNull}};
  const auto back = Mapping::Parse(mapping.ToJson());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->ToJson(), mapping.ToJson());
  EXPECT_EQ(back->key, mapping.key);
  EXPECT_EQ(back->types, mapping.types);
  for (const char* const wrong : {"", "[]", "{}", "{\"version\":2}"})
    EXPECT_FALSE(Mapping::Parse(wrong).ok()) << wrong;
  const std::string json = mapping.ToJson();
  for (const char* const name : {"table", "key_attributes", "delimiter", "sets", "types"}) {
    std::string without = json;
    without.replace(without.find(name), 1, "_");
    const auto parsed = Mapping::Parse(without);
    EXPECT_NE(parsed.status().ToString().find(name), std::string::npos) << parsed.status();
  }
}

TEST(KeyHashesTest, FindsRepeatedKeysInMemoryAndInFiles) {
  for (const size_t memory_bytes : {size_t{1} << 20, size_t{500}}) {
    KeyHashes hashes(memory_bytes);
    for (uint64_t i = 0; i < 1000; ++i)
      ASSERT_TRUE(hashes.Add("key" + std::to_string(i % 997), i).ok());
    std::vector<std::pair<uint64_t, uint64_t>> repeated;
    const auto distinct =
        hashes.Finish([&](uint64_t first, uint64_t again) { repeated.emplace_back(first, again); });
    ASSERT_TRUE(distinct.ok()) << distinct.status();
    EXPECT_EQ(*distinct, 997u);
    std::sort(repeated.begin(), repeated.end());
    EXPECT_EQ(repeated, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 997}, {1, 998}, {2, 999}}));
  }
}

TEST(KeyHashesTest, ComparesValuesWithTheFirstOne) {
  for (const size_t memory_bytes : {size_t{1} << 20, size_t{100}}) {
    KeyHashes hashes(memory_bytes);
    const std::vector<std::string> kValues = {"x", "y", "x", "z"};
    for (uint64_t i = 0; i < kValues.size(); ++i)
      ASSERT_TRUE(hashes.Add("key", i, kValues[i]).ok());
    ASSERT_TRUE(hashes.Add("other", 9, "x").ok());
    std::vector<uint64_t> first;
    std::vector<std::pair<uint64_t, bool>> repeated;
    ASSERT_TRUE(hashes
                    .FinishEach([&](uint64_t position) { first.push_back(position); },
                                [&](const KeyHashes::Repeated& each) {
                                  EXPECT_EQ(each.first, 0U);
                                  repeated.emplace_back(each.position, each.has_same_value);
                                })
                    .ok());
    std::sort(first.begin(), first.end());
    EXPECT_EQ(first, (std::vector<uint64_t>{0, 9}));
    EXPECT_EQ(repeated,
              (std::vector<std::pair<uint64_t, bool>>{{1, false}, {2, true}, {3, false}}));
  }
}

}  // namespace
}  // namespace stele::internal::lab
