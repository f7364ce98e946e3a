// Tests the readers of records: CSV, TSV, JSON lines and items of DynamoDB.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/records/delimited_records.h"
#include "lab/records/json_item.h"
#include "lab/records/record_input.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

// The contents of a file: for each record the fields a, b and c ("-": absent), or its error.
std::vector<std::string> RecordsOf(const std::string& path, RecordFormat format,
                                   std::vector<std::string> columns = {}) {
  std::vector<std::string> found;
  const auto input =
      RecordInput::Find({.name = "in", .format = format, .columns = std::move(columns)}, path);
  if (!input.ok()) return {std::string(input.status().message())};
  for (size_t file = 0; file < input->file_count(); ++file) {
    const auto reader = input->Open(file);
    if (!reader.ok()) return {std::string(reader.status().message())};
    while (true) {
      const auto any = (*reader)->Next();
      if (!any.ok()) found.emplace_back(any.status().message());
      if (!any.ok() || !*any) break;
      std::string text = std::to_string((*reader)->line_number()) + ":";
      if (!(*reader)->status().ok()) {
        text.append(std::string((*reader)->status().message()));
      } else {
        for (const char* const name : {"a", "b", "c"})
          text.append(" ").append((*reader)->fields().Text(name).value_or("-"));
      }
      found.push_back(text);
    }
  }
  return found;
}

using Found = std::vector<std::string>;

class RecordsTest : public testing::Test {
 protected:
  Found Csv(std::string_view bytes, std::vector<std::string> columns = {}) const {
    return RecordsOf(directory_.Write("f", bytes), RecordFormat::kCsv, std::move(columns));
  }
  Found Tsv(std::string_view bytes) const {
    return RecordsOf(directory_.Write("f", bytes), RecordFormat::kTsv);
  }
  Found Json(std::string_view bytes) const {
    return RecordsOf(directory_.Write("f", bytes), RecordFormat::kJsonLines);
  }
  std::optional<std::string> JsonOf(std::string_view line, std::string_view field) const {
    const auto input = RecordInput::Find({.name = "in"}, directory_.Write("f.jsonl", line));
    EXPECT_TRUE(input.ok()) << input.status();
    const auto reader = input->Open(0);
    EXPECT_TRUE(reader.ok() && (*reader)->Next().value_or(false));
    return (*reader)->fields().Json(field);
  }
  const TemporaryDirectory directory_;
};

// Regression: the lines of a record that is too long became records if they were in quotes.
TEST_F(RecordsTest, NoLineOfARecordThatIsTooLongIsARecord) {
  const std::string line = "1,2,3\n";
  std::string quoted = "a,b,c\n\"";
  while (quoted.size() <= kTextRecordBytesMax) quoted += line;
  const Found found = Csv(quoted + line);
  ASSERT_EQ(found.size(), 1u);
  // The error ends the load, so it names the file itself.
  EXPECT_NE(found[0].find("/f:2: the record has more than"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("is a closing quote missing"), std::string::npos) << found[0];
  const Found one_line = Csv("a,b,c\n" + std::string(100, 'y') + ",\"" +
                             std::string(kTextRecordBytesMax, 'x') + "\n1,2,3\n");
  ASSERT_EQ(one_line.size(), 1u);
  EXPECT_NE(one_line[0].find("is a closing quote missing"), std::string::npos) << one_line[0];
  const std::string header = directory_.Write("header", std::string(kTextRecordBytesMax + 1, 'a'));
  const Found in_header = RecordsOf(header, RecordFormat::kCsv);
  ASSERT_EQ(in_header.size(), 1u);
  EXPECT_NE(in_header[0].find("/header:1: the record has more"), std::string::npos) << in_header[0];
}

TEST_F(RecordsTest, ReadsCsv) {
  EXPECT_EQ(Csv("a,b,c\n1,2,3\n\n4,,6\r\n7,8,9"), (Found{"2: 1 2 3", "4: 4 - 6", "5: 7 8 9"}));
  EXPECT_EQ(Csv("c,a\n1,2\n"), (Found{"2: 2 - 1"}));
  EXPECT_EQ(Csv("1,2\n", {"a", "c"}), (Found{"1: 1 - 2"}));
  EXPECT_EQ(Csv("\xef\xbb\xbf"
                "a\n\xff\n"),
            (Found{"2: \xff - -"}));
  EXPECT_EQ(Csv("a,b\n"), Found());
}

TEST_F(RecordsTest, CsvFieldsMayHaveQuotes) {
  EXPECT_EQ(Csv("a,b\n\"1,2\",\"x\"\"y\"\n"), (Found{"2: 1,2 x\"y -"}));
  EXPECT_EQ(Csv("a,b\n\"\",\"\"\"\"\n"), (Found{"2: - \" -"}));
  EXPECT_EQ(Csv("a,b\n\"1\n2\r\n\n3\",x\n4,5\n"), (Found{"2: 1\n2\r\n\n3 x -", "6: 4 5 -"}));
}

TEST_F(RecordsTest, WrongCsvIsABadRecord) {
  const Found found = Csv("a,b\n1\n1,2,3\nx\"y,1\n\"x\"y,1\n1,2\n\"open,1\n");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0], "2:1 fields, but the header has 2");
  EXPECT_EQ(found[1], "3:3 fields, but the header has 2");
  EXPECT_TRUE(found[2].starts_with("4:field 1: a quote in a field without quotes")) << found[2];
  EXPECT_EQ(found[3], "5:field 1: text after the closing quote");
  EXPECT_EQ(found[4], "6: 1 2 -");
  EXPECT_EQ(found[5], "7:field 1: the quote is not closed");
  EXPECT_EQ(Csv("1\n1,2\n", {"a", "b"})[0], "1:1 fields, but the design has columns for 2");
}

TEST_F(RecordsTest, AWrongHeaderIsAnError) {
  EXPECT_TRUE(Csv("")[0].ends_with("the file has no header line"));
  EXPECT_TRUE(Csv("a,a\n")[0].ends_with(":1: the header has the field \"a\" twice"));
  EXPECT_TRUE(Csv("a,\n")[0].ends_with(":1: a field of the header has no name"));
  EXPECT_TRUE(Csv("a,b\r1,2\r")[0].ends_with("lines must end in LF or CR LF"));
}

TEST_F(RecordsTest, TsvHasNoQuotes) { EXPECT_EQ(Tsv("a\tb\n\"1\t2\"\n"), (Found{"2: \"1 2\" -"})); }

TEST_F(RecordsTest, ReadsJsonLines) {
  EXPECT_EQ(Json("{\"a\":\"x\",\"b\":1.50,\"c\":true}\n \n{\"a\":null,\"b\":{},\"c\":[]}\n"),
            (Found{"1: x 1.50 true", "3: - - -"}));
  EXPECT_EQ(Json("{\"a\":-0,\"b\":123456789012345678901234567890,\"c\":1E-400}\n"),
            (Found{"1: -0 123456789012345678901234567890 1E-400"}));
  EXPECT_EQ(Json("{\"a\":\"\"}\n"), (Found{"1:  - -"}));
  EXPECT_EQ(Json(" { \"a\" : [ 1 , {} ] , \"b\":false}\t\n"), (Found{"1: - false -"}));
}

TEST_F(RecordsTest, JsonNumbersOfAnySizeKeepTheirDigits) {
  const std::string digits(5000, '7');
  EXPECT_EQ(Json("{\"a\":1E400,\"b\":-1.50e+99999,\"c\":" + digits + "}\n"),
            (Found{"1: 1E400 -1.50e+99999 " + digits}));
  EXPECT_EQ(Json("{\"a\":0.10,\"b\":-0.0,\"c\":0e1}\n"), (Found{"1: 0.10 -0.0 0e1"}));
}

TEST_F(RecordsTest, JsonStringsMayHaveEscapes) {
  EXPECT_EQ(Json(R"({"\u0061":"x\"\\\/\t\u00e9y","b":"\ud83d\ude00\u20ac","c":"\u007F"})"
                 "\n"),
            (Found{"1: x\"\\/\t\xc3\xa9y \xf0\x9f\x98\x80\xe2\x82\xac \x7f"}));
}

TEST_F(RecordsTest, WrongJsonIsABadRecord) {
  for (const std::string_view line : {"[1]",
                                      "1",
                                      "{",
                                      "{\"a\":1}{",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"a\":{\"b\":1,\"b\":1}}",
                                      "{\"a\":01}",
                                      "{\"a\":\"\xff\"}",
                                      "{a:1}",
                                      "{\"a\":NaN}",
                                      "{\"a\":1.}",
                                      "{\"a\":.5}",
                                      "{\"a\":1e}",
                                      "{\"a\":-}",
                                      "{\"a\":+1}",
                                      "{\"a\":tru}",
                                      "{\"a\":1,}",
                                      "{\"a\":[1,]}",
                                      "{\"a\":[1}",
                                      "{\"a\":\"\\x\"}",
                                      "{\"a\":\"\\ud800\"}",
                                      "{\"a\":\"\\udc00\"}",
                                      "{\"a\":\"\\ud800\\u0041\"}",
                                      "{\"a\":\"\\u12g4\"}",
                                      "{\"a\":\"\t\"}",
                                      "{\"a\":\"x",
                                      "{\"a\"",
                                      "{\"a\":\"\\"}) {
    const Found found = Json(std::string(line) + "\n{\"a\":1}\n");
    ASSERT_EQ(found.size(), 2U) << line;
    EXPECT_TRUE(found[0].starts_with("1:") && !found[0].starts_with("1: ")) << found[0];
    EXPECT_EQ(found[1], "2: 1 - -");
  }
  const std::string deep(100'000, '[');
  EXPECT_EQ(Json("{\"a\":" + deep + "}\n"), (Found{"1:more than 64 levels"}));
}

// Regression: each value of a line took 40 bytes, so a line of 64 MiB could take 2 GB.
TEST_F(RecordsTest, ARecordHasAMillionValues) {
  std::string line = "{\"a\":[1";
  for (size_t i = 2; i < kJsonItemValuesMax; ++i) line += ",1";
  EXPECT_EQ(Json(line + "]}\n"), (Found{"1: - - -"}));
  EXPECT_EQ(Json("{\"a\":1}\n" + line + ",1]}\n"),
            (Found{"1: 1 - -", "2:more than 1000000 values in one record"}));
}

TEST_F(RecordsTest, ARecordHasAMillionFields) {
  const std::string commas(kRecordFieldsMax, ',');
  EXPECT_EQ(Csv("a,b\n" + commas.substr(1) + "\n"),
            (Found{"2:1000000 fields, but the header has 2"}));
  const Found found = Csv("a,b\n1,2\n" + commas + "\n1,2\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[1].find("/f:3: the record has more than 1000000 fields"), std::string::npos)
      << found[1];
}

// Small texts share the memory of an item, so each one must stay where it is.
TEST_F(RecordsTest, EachStringWithEscapesKeepsItsText) {
  std::string line = "{\"c\":\"\\n" + std::string(5000, 'c') + "\"";
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(i);
    line += ",\"\\u006b" + number + "\":\"\\t" + number + "\"";
  }
  const auto input = RecordInput::Find({.name = "in"}, directory_.Write("f.jsonl", line + "}\n"));
  ASSERT_TRUE(input.ok()) << input.status();
  const auto reader = input->Open(0);
  ASSERT_TRUE(reader.ok() && (*reader)->Next().value_or(false));
  ASSERT_TRUE((*reader)->status().ok()) << (*reader)->status();
  EXPECT_EQ((*reader)->fields().Text("c"), "\n" + std::string(5000, 'c'));
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ((*reader)->fields().Text("k" + number), "\t" + number);
  }
}

TEST_F(RecordsTest, PathsReachNestedValues) {
  const auto input = RecordInput::Find(
      {.name = "in"},
      directory_.Write("f.jsonl", R"({"m":{"x.y":"dot","l":[1,{"k":"v"}]},"m.l":"whole"})"));
  ASSERT_TRUE(input.ok());
  const auto reader = input->Open(0);
  ASSERT_TRUE(reader.ok() && (*reader)->Next().value_or(false));
  const FieldSource& fields = (*reader)->fields();
  EXPECT_EQ(fields.Text("m.x.y"), "dot");
  EXPECT_EQ(fields.Text("m.l"), "whole");
  EXPECT_EQ(fields.Text("m.l.0"), "1");
  EXPECT_EQ(fields.Text("m.l.1.k"), "v");
  for (const char* const path : {"m", "m.l.2", "m.l.01", "m.l.-1", "m.l.x", "m.l.0.x", "m.", ".m"})
    EXPECT_EQ(fields.Text(path), std::nullopt) << path;
}

TEST_F(RecordsTest, ValuesHaveJson) {
  EXPECT_EQ(JsonOf(R"({"a":{"$z":[1.0,null],"b":"\t"}})", "a"),
            R"({"$z":[1.0,null],"b":"\u0009"})");
  EXPECT_EQ(JsonOf(R"({"a":"x"})", "a"), "\"x\"");
  EXPECT_EQ(JsonOf(R"({"a":"x"})", "b"), std::nullopt);
}

TEST_F(RecordsTest, ReadsItemsOfDynamoDb) {
  const ExportFixture fixture(DataLines{{ItemOfAllTypes(1)}, {ItemOfAllTypes(2)}});
  const auto input = RecordInput::Find({.name = "in"}, fixture.path());
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(input->file_count(), 2U);
  EXPECT_GT(input->stored_bytes(), 0U);
  const auto reader = input->Open(0);
  ASSERT_TRUE(reader.ok() && (*reader)->Next().value_or(false));
  EXPECT_EQ((*reader)->fields().Text("number"), "-1.50E+3");
  EXPECT_EQ(RecordsOf(directory_.Write("x", "{\"Item\":{}}\n"), RecordFormat::kDynamoDb).size(),
            1U);
}

TEST_F(RecordsTest, TheFormatIsThatOfTheName) {
  EXPECT_TRUE(RecordInput::Find({.name = "in"}, directory_.Write("f.csv.gz", "")).ok());
  EXPECT_FALSE(RecordInput::Find({.name = "in"}, directory_.Write("f.dat", "")).ok());
  EXPECT_FALSE(RecordInput::Find({.name = "in"}, directory_.File("")).ok());
}

}  // namespace
}  // namespace stele::internal::lab
