// Tests design files: errors with their positions, the normal form, rows of records, and tables.
#include "stele/lab/design.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/design/design_model.h"
#include "lab/design/map_fields.h"
#include "lab/design/parse_design.h"
#include "lab/design/row_mapping.h"
#include "lab/yaml/key_schema.h"
#include "lab/yaml/yaml_tree.h"
#include "stele/stele.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::ApplyDesign;
using stele::lab::Design;

constexpr Timestamp kTime = Timestamp::FromMicros(5000);

// A design with one table t, to which these lines are added.
std::string DesignWith(std::string_view key, std::string_view more = "") {
  std::string text =
      "stele: design/1\n"
      "inputs: {in: {file: in.csv}}\n"
      "tables:\n"
      "  t:\n"
      "    families: {f: {gc: maxversions=1}, n: {type: intsum}}\n";
  return text.append("    key: \"").append(key).append("\"\n").append(more);
}

std::string ErrorOf(const std::string& text) {
  return std::string(Design::Parse(text, "d.yaml").status().message());
}

Design DesignOf(const std::string& text) {
  auto design = Design::Parse(text, "d.yaml");
  EXPECT_TRUE(design.ok()) << design.status();
  return design.ok() ? *design : *Design::Parse(DesignWith("{a}"), "other");
}

TEST(YamlTest, ErrorsHavePositions) {
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {"", "d:1:1: the file is empty"},
      {"a: [1, 2", "d:2:1: did not find expected"},
      {"a: 1\nb: 2\na: 3\n", "d:3:1: \"a\" is repeated: it is also on line 1"},
      {"a: !!int 1\n", "d:1:4: tags such as !!binary are not supported"},
      {"a: *b\n", "d:1:4: *b is not the name of an anchor before it"},
      {"a: 1\n---\nb: 2\n", "d:2:1: a second document"},
      {"? [a]\n: b\n", "d:1:3: the name of a member must be a text"},
      {"a: \"\\0\"\n", "d:1:4: a zero byte in a text"},
      {"a: \xff\n", "d:1:4: invalid leading UTF-8 octet"},
      {"\xef\xbb\xbf"
       "a: 1\r\n\xc3\xa9: \x01\n",
       "d:2:4: control characters are not allowed"},
      {"a:\n\tb: 1\n",
       "d:2:1: found character that cannot start any token (while scanning for the next token): it "
       "is a tab, and YAML indents with spaces"},
      {std::string(21, '['), "d:1:21: more than 20 levels"},
      {std::string((1 << 20) + 1, ' '), "d:1:1: 1048577 bytes, at most 1048576"},
  };
  for (const auto& [text, expected] : kCases) {
    DesignErrors errors("d");
    ParseYaml(text, &errors);
    EXPECT_TRUE(std::string(errors.ToStatus().message()).starts_with(expected))
        << errors.ToStatus() << " for " << text.substr(0, 40);
  }
}

TEST(YamlTest, PositionsCountEveryLineBreak) {
  for (const std::string end : {"\n", "\r\n", "\r", "\xc2\x85", "\xe2\x80\xa8"}) {
    DesignErrors errors("d.yaml");
    EXPECT_FALSE(ParseYaml("a: b" + end + "c: d" + end + "e: \x01", &errors).has_value());
    EXPECT_TRUE(std::string(errors.ToStatus().message()).starts_with("d.yaml:3:4: "))
        << errors.ToStatus() << " for " << end.size() << " bytes";
  }
}

TEST(YamlTest, AliasesAreLimited) {
  DesignErrors errors("d");
  const auto tree = ParseYaml("a: &x [1, 2]\nb: *x\n", &errors);
  ASSERT_TRUE(tree.has_value()) << errors.ToStatus();
  EXPECT_EQ(tree->children[1].children[1].text, "2");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k == 0 ? "*a" : ", *a") + last;
    bomb += "]\n";
  }
  DesignErrors of_bomb("d");
  EXPECT_FALSE(ParseYaml(bomb, &of_bomb).has_value());
  EXPECT_NE(std::string(of_bomb.ToStatus().message()).find("expand to more than 1048576 bytes"),
            std::string::npos);
}

TEST(DesignTest, ReportsErrorsWithPositions) {
  const std::string key = "    key: \"{a}\"\n";
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {"{}\n", "d.yaml:1:1: a design has no \"stele\""},
      {"stele: design/2\ntables: {}\n", "d.yaml:1:8: stele must be design/1"},
      {"stele: design/1\ntables: {}\n", "d.yaml:2:9: the design has no table"},
      {"stele: design/1\ntables: [a]\n", "d.yaml:2:9: tables must be a map"},
      {DesignWith("{a"), "d.yaml:6:10: the template, byte 1: { without }; {{ is a brace"},
      {DesignWith(""), "d.yaml:6:10: the key is empty"},
      {DesignWith("{a}", "    keys: x\n"), "d.yaml:7:5: \"keys\" is no member of a table"},
      {DesignWith("{a}", "    granularity: hours\n"),
       "d.yaml:7:18: granularity must be one of millis, micros"},
      {DesignWith("{a}", "    rows: [{input: other, cells: {\"f:q\": \"1\"}}]\n"),
       "d.yaml:7:20: the design has no input \"other\""},
      {DesignWith("{a}", "    rows: [{input: in, cells: {\"g:q\": \"1\"}}]\n"),
       "d.yaml:7:32: the table has no family \"g\""},
      {DesignWith("{a}", "    rows: [{input: in, cells: {}}]\n"), "d.yaml:7:31: cells has no cell"},
      {DesignWith("{a}", "    rows: [{input: in, timestamp: \"{t|millis}\", cells: {}}]\n"),
       "d.yaml:7:35: timestamp is in microseconds: write {t|micros}"},
      {DesignWith("{a}", "    rows: [{input: in, cells: {q: \"1\"}}]\n"),
       "d.yaml:7:32: a cell must have the form"},
      {DesignWith("{a}", "    queries: {q: {write: in}}\n"),
       "d.yaml:7:26: the table has no rows of the input \"in\""},
      {DesignWith("{a}", "    queries: {q: {weight: 1}}\n"),
       "d.yaml:7:18: a query has either read or write"},
      {DesignWith("{a}", "    queries: {q: {read: {row: a, prefix: b}}}\n"),
       "d.yaml:7:25: give one of row, rows, prefix, or start and end"},
      {DesignWith("{a}", "    queries: {q: {read: {limit: 0}}}\n"),
       "d.yaml:7:33: limit must be a whole number from 1"},
      {DesignWith("{a}", "    queries: {q: {read: {filter: \"latest(\"}}}\n"), "d.yaml:7:34: "},
      {DesignWith("{a}", "    queries: {q: {read: {row: \"{@bucket}\"}}}\n"),
       "d.yaml:7:25: {@bucket} needs fan_out: N"},
      {DesignWith("{a}", "    queries: {q: {read: {row: a, fan_out: 4}}}\n"),
       "d.yaml:7:25: fan_out needs {@bucket}"},
      {DesignWith("{a|salt:4}#{b|salt:8}",
                  "    queries: {q: {read: {prefix: \"{@bucket}\", fan_out: 3}}}\n"),
       "d.yaml:7:56: fan_out is 3, but the row key has salt:4 and salt:8: both must be the same"},
      {DesignWith("{a}", "    queries: {q: {read: {start: \"c}}\", end: b}}}\n"),
       "d.yaml:7:33: start \"c}\" is after end \"b\""},
      {DesignWith("{a}", "    queries: {q: {read: {row: a}, answer: [\"g:x\"]}}\n"),
       "d.yaml:7:44: the table has no family \"g\""},
      {"stele: design/1\ninputs: {A: {file: x.csv}}\ntables: {t: {families: {f: {}}, key: a}}\n",
       "d.yaml:2:10: the name of an input"},
      {"stele: design/1\ninputs: {a: {file: x.dat}}\ntables: {t: {families: {f: {}}, key: a}}\n",
       "d.yaml:2:13: the ending of \"x.dat\" states no format"},
      {"stele: design/1\ntables: {t: {families: {f: {gc: age}}, key: a}}\n", "d.yaml:2:33: "},
      {"stele: design/1\ntables: {t: {families: {\"f:\": {}}, key: a}}\n",
       "d.yaml:2:25: the name of a family is 1 to 64 of [-_.a-zA-Z0-9], not \"f:\""},
      {"stele: design/1\ntables: {t: {families: {f: {}}}}\n",
       "d.yaml:2:13: a table has either key or row_key_schema"},
      {"stele: design/1\ntables: {t: {families: {f: {}}, row_key_schema: {fields: []}}}\n",
       "d.yaml:2:49: row_key_schema has no fields"},
      {"stele: design/1\ntables: {t: {families: {f: {}}, row_key_schema: {fields: "
       "[{name: id, type: string, from: a}, {name: f, type: string, from: b}]}}}\n",
       "d.yaml:2:101: \"f\" is the name of a family"},
      {DesignWith("{a}") + "lint: {ignore: [{id: X}]}\n",
       "d.yaml:7:17: an entry of ignore has no \"reason\""},
  };
  for (const auto& [text, expected] : kCases)
    EXPECT_TRUE(ErrorOf(text).starts_with(expected)) << ErrorOf(text) << "\nfor " << text;
}

TEST(DesignTest, FiltersAreCompiled) {
  const auto with = [](std::string_view filter) {
    return DesignWith("{a}",
                      fmt::format("    queries: {{q: {{read: {{filter: '{}'}}}}}}\n", filter));
  };
  for (const auto& [filter, error] : std::vector<std::pair<std::string, std::string>>{
           {R"(row_regex("a("))", R"(filter: row key regex "a(": )"},
           {R"(timestamps(1, ))", "filter: "}})
    EXPECT_TRUE(ErrorOf(with(filter)).starts_with("d.yaml:7:34: " + error))
        << filter << ": " << ErrorOf(with(filter));
  for (const char* const filter :
       {R"(row_regex("[a-{x}]"))", R"(timestamps({from}, {to}))", R"(latest({n}))",
        R"(chain(column("{f}", "{q}"), latest({n}), timestamps(1600000000000000, {to})))",
        R"(value_range(["{a}", "\x00"]))", R"(value_regex("\\p{{{class}}}"))"})
    EXPECT_EQ(ErrorOf(with(filter)), "") << filter;
  EXPECT_TRUE(ParseStoredDesign(with(R"(row_regex("a("))")).ok());
}

TEST(DesignTest, ReportsOneErrorForOneMistakeAndAllMistakesAtOnce) {
  EXPECT_EQ(ErrorOf(DesignWith("{a")),
            "d.yaml:6:10: the template, byte 1: { without }; {{ is a brace");
  EXPECT_EQ(ErrorOf("stele: design/1\ntables: {t: {families: {\"f:\": {gc: x=1}}, key: \"{a\"}}\n"),
            "d.yaml:2:25: the name of a family is 1 to 64 of [-_.a-zA-Z0-9], not \"f:\"\n"
            "d.yaml:2:36: garbage collection rule: at position 0 (\"x=1\"): expected "
            "maxversions=COUNT, maxage=AGE, never or '('\n"
            "d.yaml:2:48: the template, byte 1: { without }; {{ is a brace");
}

TEST(KeySchemaFileTest, IsYamlOrJson) {
  const std::string fields = "[{name: id, type: string, from: \"{a}\"}, {name: n, type: int64}]";
  for (const std::string& text : std::vector<std::string>{
           "row_key_schema:\n  encoding: ordered_code\n  fields:\n    - {name: id, type: string, "
           "from: "
           "\"{a}\"}\n    - {name: n, type: int64, encoding: ordered_code}\n",
           "fields: " + fields + "\n", "{\"row_key_schema\": {\"fields\": " + fields + "}}"}) {
    const auto schema = ParseKeySchemaFile(text, "s.yaml");
    ASSERT_TRUE(schema.ok()) << schema.status();
    EXPECT_EQ(
        schema->ToString(),
        "{\"encoding\":\"ordered_code\",\"fields\":[{\"name\":\"id\",\"type\":\"string\",\"from\":"
        "\"{a}\"},{\"name\":\"n\",\"type\":\"int64\",\"encoding\":\"ordered_code\"}]}");
  }
  const std::vector<std::pair<std::string, std::string>> kWrong = {
      {"", "s.yaml:1:1: the file is empty"},
      {"fields:\n  - {name: id, type: float}\n",
       "s.yaml:2:22: type must be one of string, bytes, int64, timestamp"},
      {"feilds: []\n", "s.yaml:1:1: \"feilds\" is no member of row_key_schema"},
      {"encoding: delimited\ndelimiter: \"\"\n", "s.yaml:1:1: the delimiter \"\" is not 1 to 50"},
      {"row_key_schema: [a]\n", "s.yaml:1:17: row_key_schema must be a map"},
  };
  for (const auto& [text, expected] : kWrong) {
    const auto schema = ParseKeySchemaFile(text, "s.yaml");
    EXPECT_TRUE(std::string(schema.status().message()).starts_with(expected)) << schema.status();
  }
}

// Regression: a design with such templates was accepted, and each record was bad.
TEST(DesignTest, TemplatesThatCanNeverWorkAreErrors) {
  const auto cell = [](std::string_view name, std::string_view value) {
    return DesignWith(
        "{a}", fmt::format("    rows: [{{input: in, cells: {{\"{}\": \"{}\"}}}}]\n", name, value));
  };
  const auto time = [](std::string_view value) {
    return DesignWith("{a}", fmt::format("    rows: [{{input: in, timestamp: \"{}\", cells: "
                                         "{{\"f:q\": \"1\"}}}}]\n",
                                         value));
  };
  const auto read = [](std::string_view rows) {
    return DesignWith("{a}", fmt::format("    queries: {{q: {{read: {{{}}}}}}}\n", rows));
  };
  const std::string bucket = "{@bucket} is for the rows that a query with fan_out reads";
  const std::string number = "d.yaml:7:39: the family n has numbers: \"";
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {DesignWith("{@bucket}#{a}"), "d.yaml:6:10: " + bucket},
      {cell("f:{@bucket}", "1"), "d.yaml:7:32: " + bucket},
      {cell("f:q", "{@bucket}"), "d.yaml:7:39: " + bucket},
      {time("{@bucket}"), "d.yaml:7:35: " + bucket},
      {cell("n:q", "x"), number + "x\" is not a whole number of 64 bits"},
      {cell("n:q", ""), number + "\" is not"},
      {cell("n:q", "1.5"), number + "1.5\" is not"},
      {cell("n:q", "9223372036854775808"), number + "9223372036854775808\" is not"},
      {cell("n:q", "n{b}"), number + "n{b}\" is not"},
      {cell("n:q", "{b}-{c}"), number + "{b}-{c}\" is not"},
      {cell("n:q", "{b|or:none}"), number + "none\" is not"},
      {cell("n:q", "{b|iso_day}"), number + "9999-12-31\" is not"},
      {time("now"), "d.yaml:7:35: timestamp: \"now\" is not a whole number"},
      {time("1500"), "d.yaml:7:35: timestamp is not a multiple of 1000"},
      {time("-1000"), "d.yaml:7:35: timestamp is negative"},
      {time("{t|day}"), "d.yaml:7:35: timestamp is in microseconds: write {t|micros}"},
      {time("{t|seconds|pad:10|or:0}"), "d.yaml:7:35: timestamp is in microseconds"},
      {time("{t|bucket_time:1h}"), "d.yaml:7:35: timestamp is in microseconds"},
      {DesignWith("{t|day|pad:4}"), "d.yaml:6:10: field \"t\": a function fails for each text"},
      {DesignWith("{t|iso_day|rev_ts}"), "d.yaml:6:10: field \"t\": a function fails"},
      {DesignWith("{n|or:none|pad:4}"), "d.yaml:6:10: field \"n\": the text of or: \"none\""},
      {read("start: \"{@bucket}#\", fan_out: 4"), "d.yaml:7:25: fan_out needs both start and end"},
      {read("start: \"{a}#{@bucket}\", end: \"{b}#{@bucket}\", fan_out: 4"),
       "d.yaml:7:25: fan_out needs the same text before {@bucket}"},
      {DesignWith("{t|bucket_time:500ms:s}"), "d.yaml:6:10: "},
      {DesignWith("{t|micros|bucket_time:1h}"),
       "d.yaml:6:10: field \"t\": the digits before bucket_time are in us: write "
       "bucket_time:WIDTH:us"},
      {DesignWith("{t|seconds|or:0|bucket_time:1h:ms}"), "d.yaml:6:10: field \"t\": the digits"},
      {DesignWith("{t|micros|pad:16|bucket_time:1h}"), "d.yaml:6:10: field \"t\": the digits"},
      {DesignWith("{t|micros|trim|or:0|upper|bucket_time:1h}"), "d.yaml:6:10: field \"t\": the"},
      {DesignWith("{t|bucket_time:1m|pad:13|bucket_time:1h:s}"),
       "d.yaml:6:10: field \"t\": the digits before bucket_time are in ms"},
      {cell("f:{t|micros|pad:16|bucket_time:1h}", "1"), "d.yaml:7:32: field \"t\": the digits"},
  };
  for (const auto& [text, expected] : kCases)
    EXPECT_TRUE(ErrorOf(text).starts_with(expected)) << ErrorOf(text) << " for " << text;
}

TEST(DesignTest, TemplatesThatMayWorkAreRight) {
  for (const char* const value :
       {"1", "-5", "{b}", "-{b}", "{b}000", "{b|or:0}", "{b|micros}", "{b|day}", "{b|pad:20}",
        "{b|iso_day|sub:0:4}", "{b|trim|or:1}"}) {
    const std::string text = DesignWith(
        "{a}", fmt::format("    rows: [{{input: in, cells: {{\"n:q\": \"{}\"}}}}]\n", value));
    EXPECT_EQ(ErrorOf(text), "") << value;
  }
  for (const char* const key :
       {"{t|seconds|day}", "{t|day|rev_date}", "{t|iso_day|rev_date}", "{t|micros|rev_ts}",
        "{t|bucket_time:1h|day}", "{t|seconds|bucket_time:1h:s|day}", "{t|millis|bucket_time:1h}",
        "{t|micros|sub:0:10|bucket_time:1h:s}", "{t|seconds|pad:10|millis|bucket_time:1h}",
        "{a|salt:16|pad:2}", "{t|pad:13|day}", "{t|or:0|pad:10}", "{t|hour|sub:8:2|pad:2}",
        "{t|pad:8|rev_date}", "{t|pad:14|sub:0:8|rev_date}",
        "{t|rev_digits|rev_digits|rev_date}"}) {
    EXPECT_EQ(ErrorOf(DesignWith(key)), "") << key;
  }
  for (const char* const time : {"00", "{t|micros|rev_ts}", "{t}", "{t|bucket_time:1h:us}"}) {
    const std::string row = fmt::format(
        "    rows: [{{input: in, timestamp: \"{}\", cells: {{\"f:q\": \"1\"}}}}]\n", time);
    EXPECT_EQ(ErrorOf(DesignWith("{a}", row)), "") << time;
  }
  EXPECT_EQ(ErrorOf(DesignWith("{a}",
                               "    queries: {q: {read: {start: \"{@bucket}#a\", end: "
                               "\"{@bucket}#b\", fan_out: 4}}}\n")),
            "");
}

// Regression: a table of an older version had such a design, and its key was not known any more.
TEST(DesignTest, AStoredDesignPassesChecksThatAreNewer) {
  const std::string wrong = DesignWith("{a}#{t|micros|bucket_time:1h}");
  EXPECT_FALSE(ParseDesign(wrong, "d.yaml").ok());
  const auto stored = ParseStoredDesign(wrong);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->tables[0].key.delimiter, "#");
  EXPECT_TRUE(ParseStoredDesign(DesignWith("{a}",
                                           "    rows: [{input: in, cells: {"
                                           "\"f:{t|micros|bucket_time:1h}\": \"1\"}}]\n"))
                  .ok());
  const absl::Status status = ParseStoredDesign(DesignWith("{a")).status();
  EXPECT_TRUE(std::string(status.message()).starts_with("lab.design:6:10: ")) << status;
}

TEST(DesignTest, BoundsAndFanOutThatFitAreRight) {
  const std::string key = "{a|salt:4}#{b|salt:8}";
  for (const char* const read :
       {"{start: b, end: c}", "{start: b, end: b}", "{start: b, end: \"\"}",
        "{start: \"{a}\", end: b}", "{prefix: \"{@bucket}\", fan_out: 4}",
        "{prefix: \"{@bucket}\", fan_out: 8}"}) {
    EXPECT_EQ(ErrorOf(DesignWith(key, fmt::format("    queries: {{q: {{read: {}}}}}\n", read))), "")
        << read;
  }
}

TEST(DesignTest, ReportsSeveralErrorsAndAtMostTwenty) {
  std::string wrong = DesignWith("{a}");
  for (int i = 0; i < 25; ++i) wrong += "    m" + std::to_string(i) + ": x\n";
  const std::string text = ErrorOf(wrong);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20);
  EXPECT_TRUE(text.ends_with("d.yaml: and 5 more errors")) << text;
}

// The table reads the fields id and v, and w if there is one.
std::string DesignWithColumns(std::string_view columns) {
  return fmt::format(
      "stele: design/1\ninputs: {{a: {{format: csv, columns: {}}}, b: {{format: csv}}}}\n"
      "tables: {{t: {{families: {{f: {{}}}}, key: \"{{id}}\", rows: [{{input: a, cells: {{\"f:v\": "
      "\"{{v}}{{w|or:0}}\"}}}}, {{input: b, cells: {{\"f:v\": \"{{u}}\"}}}}]}}}}\n",
      columns);
}

TEST(DesignTest, ColumnsMayHaveMoreFieldsThanTheTablesUse) {
  EXPECT_EQ(ErrorOf(DesignWithColumns("[v, x, id]")), "");
}

// A stored design stays as it was.
TEST(DesignTest, MembersWithoutEffectAreErrorsOfAFile) {
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {DesignWith(
           "{a}",
           "    queries: {q: {read: {row: a, columns: [\"f:x\"]}, answer: [\"f:x\", \"f:y\"]}}\n"),
       "d.yaml:7:61: the columns of read lack \"f:y\", so it is in no answer"},
      {DesignWith("{a}",
                  "    rows: [{input: in, cells: {\"f:x\": \"{a}\"}}]\n"
                  "    queries: {q: {write: in, answer: [\"f:x\"]}}\n"),
       "d.yaml:8:38: a query that writes has no answer"},
      {DesignWith("{a}", "    queries: {q: {read: {row: a, columns: []}}}\n"),
       "d.yaml:7:43: columns has no column"},
      {DesignWith("{a}", "    queries: {q: {read: {row: a}, answer: []}}\n"),
       "d.yaml:7:43: answer has no column"},
      {DesignWith("{a}", "    splits: [b, c, b]\n"), "d.yaml:7:20: the split \"b\" is repeated"},
      {"stele: design/1\ninputs: {a: {format: csv, file: \"\"}}\n"
       "tables: {t: {families: {f: {}}, key: a}}\n",
       "d.yaml:2:33: file is empty: leave it out if --input gives the file"},
      {"stele: design/1\ninputs: {a: {format: csv, columns: []}}\n"
       "tables: {t: {families: {f: {}}, key: a}}\n",
       "d.yaml:2:36: columns has no column"},
      {DesignWith("{a}",
                  "    rows: [{input: in, cells: {\"f:x\": \"{a}\"}}]\n"
                  "    queries: {q: {write: in, answer: []}}\n"),
       "d.yaml:8:38: answer has no column"},
      {DesignWithColumns("[id, v, \"\"]"), "d.yaml:2:36: a column has no name"},
      {DesignWithColumns("[x, v]"),
       "d.yaml:2:36: columns lacks the field \"id\", which the table \"t\" uses"},
      {DesignWithColumns("[id]"),
       "d.yaml:2:36: columns lacks the field \"v\", which the table \"t\" uses"},
  };
  for (const auto& [text, error] : kCases) {
    EXPECT_EQ(ErrorOf(text), error);
    EXPECT_TRUE(ParseStoredDesign(text).ok()) << text;
  }
}

TEST(DesignTest, OneMistakeIsOneError) {
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {DesignWith("{a}",
                  "    queries: {q: {read: {row: a, columns: [\"g:v\"]}, answer: [\"f:v\"]}}\n"),
       "d.yaml:7:44: the table has no family \"g\""},
      {DesignWith("{a}",
                  "    queries: {q: {read: {row: a, columns: [\"f:v\"]}, answer: [\"g:v\"]}}\n"),
       "d.yaml:7:62: the table has no family \"g\""},
      {"stele: design/1\ninputs: {a: {format: csv, file: [x]}}\n"
       "tables: {t: {families: {f: {}}, key: a}}\n",
       "d.yaml:2:33: a text is expected here"},
  };
  for (const auto& [text, error] : kCases) EXPECT_EQ(ErrorOf(text), error);
}

TEST(DesignTest, TheNormalFormIsADesign) {
  const Design design = DesignOf(
      DesignWith(
          "{a|pad:3}#{b}",
          "    splits: [\"5\"]\n"
          "    rows:\n"
          "      - input: in\n"
          "        when: {c: NO}\n"
          "        timestamp: \"{d|micros}\"\n"
          "        cells: {\"f:{b}\": \"{{{a}}}\", \"n:x\": \"1\"}\n"
          "    queries:\n"
          "      q: {weight: 7, read: {prefix: \"{a}#\", limit: 3, reverse: true, versions: 1,\n"
          "          columns: [\"f:x\"], filter: \"latest(1)\"}, answer: [\"f:x\"]}\n"
          "      w: {write: in}\n") +
      "lint: {ignore: [{id: A-B, table: t, reason: r}], set: {A-B.c: 1}}\n");
  const std::string json = design.ToJson();
  EXPECT_EQ(json,
            R"({"stele":"design/1","inputs":{"in":{"file":"in.csv","format":"csv"}},)"
            R"("tables":{"t":{"families":{"f":{"gc":"maxversions=1","type":"bytes"},)"
            R"("n":{"gc":"never","type":"intsum"}},"granularity":"millis",)"
            R"("compression":"balanced","splits":["5"],"key":"{a|pad:3}#{b}","delimiter":"#",)"
            R"("rows":[{"input":"in","when":{"c":"NO"},"timestamp":"{d|micros}",)"
            R"("cells":{"f:{b}":"{{{a}}}","n:x":"1"}}],"queries":{"q":{"weight":7,)"
            R"("read":{"prefix":"{a}#","limit":3,"reverse":true,"columns":["f:x"],"versions":1,)"
            R"x("filter":"latest(1)"},"answer":["f:x"]},"w":{"weight":1,"write":"in"}}}},)x"
            R"("lint":{"ignore":[{"id":"A-B","table":"t","reason":"r"}],"set":{"A-B.c":"1"}}})");
  EXPECT_EQ(DesignOf(json).ToJson(), json);
  EXPECT_EQ(design.tables(), std::vector<std::string>{"t"});
  EXPECT_EQ(design.queries("t"), (std::vector<std::string>{"q", "w"}));
}

// A terminal may get the text. Raw, YAML would reject U+009B, so a stored design was lost.
TEST(DesignTest, TheNormalFormEscapesHiddenCharacters) {
  const Design design = DesignOf(DesignWith("a\\u202e\\x9b\\U000e0041{a}"));
  const std::string json = design.ToJson();
  EXPECT_NE(json.find("a\\u202e\\u009b\U000e0041{a}"), std::string::npos) << json;
  const auto again = Design::Parse(json, "again");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->ToJson(), json);
}

TEST(DesignTest, MapsRecordsToRows) {
  const Design design =
      DesignOf(DesignWith("{a|pad:3}#{b}",
                          "    rows:\n"
                          "      - input: in\n"
                          "        when: {c: NO}\n"
                          "        timestamp: \"{d|micros|or:7000}\"\n"
                          "        cells: {\"f:{b}\": \"{e}\", \"n:x\": \"{e}\"}\n"));
  auto database = Database::Open("mem:");
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(ApplyDesign(*database, design).ok());
  auto table = database->OpenTable("t");
  ASSERT_TRUE(table.ok());
  const Design::Record record = {{"a", "4"}, {"b", "x"}, {"c", "NO"}, {"e", "12"}};
  auto row = design.Map("t", "in", record, kTime);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->row_key(), "004#x");
  EXPECT_EQ(*design.Key("t", record), "004#x");
  ASSERT_TRUE(table->Apply(*row).ok());
  ASSERT_TRUE(table->Apply(*row).ok());
  const auto read = table->ReadRow("004#x");
  ASSERT_TRUE(read.ok() && read->has_value());
  const Row& found = **read;
  ASSERT_EQ(found.cells().size(), 2U);
  EXPECT_EQ(found.cells()[0].value(), "12");
  EXPECT_EQ(found.cells()[0].timestamp().micros(), 7000);
  EXPECT_EQ(found.cells()[1].value(), EncodeInt64(24));

  EXPECT_EQ(design.Map("t", "in", {{"a", "4"}, {"b", "x"}, {"c", "YES"}}, kTime)->count(), 0U);
  EXPECT_EQ(design.Map("t", "in", {{"a", "4"}, {"b", "x"}, {"c", "NO"}}, kTime)->count(), 0U);
}

TEST(DesignTest, RejectsRecordsThatDoNotFit) {
  const Design design =
      DesignOf(DesignWith("{a}",
                          "    rows:\n"
                          "      - input: in\n"
                          "        timestamp: \"{t|or:1000}\"\n"
                          "        cells: {\"f:{q}\": \"{v}\", \"f:{r}\": \"{a}\",\n"
                          "                \"n:x\": \"{n}\"}\n"));
  const std::vector<std::pair<Design::Record, std::string>> kCases = {
      {{{"b", "1"}}, "key: field \"a\": absent"},
      {{{"a", ""}}, "key: the row key is empty"},
      {{{"a", std::string(4097, 'a')}}, "key: the row key has 4097 bytes, at most 4096"},
      {{{"a", "1"}, {"t", "1001"}}, "timestamp: 1001 is not a multiple of 1000"},
      {{{"a", "1"}, {"t", "-1000"}}, "timestamp: \"-1000\" is not a number of microseconds"},
      {{{"a", "1"}, {"n", "1.5"}}, "cell n:x: \"1.5\" is not a whole number"},
      {{{"a", "1"}, {"q", std::string(16385, 'a')}, {"v", ""}},
       "cell f:{q}: the qualifier has 16385 bytes"},
      {{{"a", "1"}, {"q", "z"}, {"v", "2"}, {"r", "z"}},
       "cell f:{r}: the record has two values for it"},
  };
  for (const auto& [record, expected] : kCases) {
    const auto row = design.Map("t", "in", record, kTime);
    EXPECT_EQ(row.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(std::string(row.status().message()).starts_with(expected)) << row.status();
  }
  EXPECT_FALSE(design.Map("t", "other", {{"a", "1"}}, kTime).ok());
  EXPECT_EQ(design.Map("u", "in", {}, kTime).status().code(), absl::StatusCode::kNotFound);
}

// The value that exceeds the limit is the last one that is made: the next one is no number.
TEST(DesignTest, TheValuesOfARecordAreCountedAsTheyAreMade) {
  const Design design = DesignOf(
      DesignWith("{a}",
                 "    rows: [{input: in, cells: {\"f:p\": \"{v}\", \"f:q\": \"{v}\", \"n:x\": "
                 "\"{n}\"}}]\n"));
  const DesignTable& table = design.model()->tables[0];
  const Design::Record record = {{"a", "1"}, {"v", "abc"}, {"n", "none"}};
  const Design::Record right = {{"a", "1"}, {"v", "abc"}};
  const auto map = [&](const Design::Record& fields, uint64_t value_bytes) {
    return std::string(
        MapRow(table, table.rows[0], MapFields(fields), kTime, value_bytes).status().message());
  };
  EXPECT_EQ(map(right, kRecordValueBytesMax - 6), "");
  EXPECT_EQ(map(right, kRecordValueBytesMax - 5),
            "the rows of the record have more than 268435456 bytes");
  EXPECT_EQ(map(record, kRecordValueBytesMax - 5),
            "the rows of the record have more than 268435456 bytes");
}

TEST(DesignTest, KeysMayBeTyped) {
  const Design design = DesignOf(
      "stele: design/1\n"
      "tables:\n"
      "  t:\n"
      "    families: {f: {}}\n"
      "    row_key_schema:\n"
      "      fields:\n"
      "        - {name: id, type: string, from: \"{a}\"}\n"
      "        - {name: code, type: int64, from: \"{b}\"}\n"
      "        - {name: at, type: timestamp, encoding: big_endian, from: \"{c}\"}\n");
  const auto key = design.Key("t", {{"a", "x"}, {"b", "-1"}, {"c", "1970-01-01T00:00:01Z"}});
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(*key, std::string("x\0\1\x7f\0\1\0\xff\0\xff\0\xff\0\xff\0\xff\x0f\x42\x40", 19));
  EXPECT_FALSE(design.Key("t", {{"a", "x"}, {"b", "y"}, {"c", "1"}}).ok());
  EXPECT_FALSE(design.Key("t", {{"a", "x"}, {"b", "1"}, {"c", "-1"}}).ok());
  EXPECT_EQ(design.TableSchema("t")->properties().count("row_key_schema"), 1U);
}

// The size is checked before a text is encoded, and before the next field is read.
TEST(DesignTest, ATypedKeyHasALimit) {
  const Design design = DesignOf(
      "stele: design/1\n"
      "tables:\n"
      "  t:\n"
      "    families: {f: {}}\n"
      "    row_key_schema:\n"
      "      fields:\n"
      "        - {name: a, type: string, from: \"{a}\"}\n"
      "        - {name: b, type: bytes, from: \"{b}\"}\n"
      "        - {name: c, type: int64, from: \"{c}\"}\n");
  const auto error = [&](const Design::Record& record) {
    return std::string(design.Key("t", record).status().message());
  };
  const std::string wrong_text(2049, '\xff');
  EXPECT_EQ(error({{"a", std::string(2048, 'a')}, {"b", std::string(2040, 'b')}, {"c", "1"}}), "");
  EXPECT_EQ(error({{"a", wrong_text}, {"b", std::string(2048, 'b')}}),
            "the row key has more than 4096 bytes");
  EXPECT_EQ(error({{"a", std::string(4097, 'a')}}), "the row key has more than 4096 bytes");
  EXPECT_EQ(error({{"a", std::string(4096, 'a')}, {"b", ""}, {"c", "1"}}),
            "the row key would have 4103 bytes, and at most 4096 are allowed");
}

// No template accepts more, so no more is built: 48 MiB of these bytes are 288 MiB of JSON.
TEST(DesignTest, TheJsonOfAFieldStopsAtTheLimitOfTemplates) {
  const Design::Record record = {{"a", std::string(size_t{48} << 20, '\1')}, {"b", "\"\1"}};
  const std::optional<std::string> json = MapFields(record).Json("a");
  ASSERT_TRUE(json.has_value());
  EXPECT_GT(json->size(), kTemplateTextBytesMax);
  EXPECT_LT(json->size(), kTemplateTextBytesMax + 8);
  EXPECT_EQ(MapFields(record).Json("b"), R"("\"\u0001")");
}

TEST(DesignTest, AnExistingTableMustBeTheSame) {
  auto database = Database::Open("mem:");
  ASSERT_TRUE(database.ok());
  const Design design = DesignOf(DesignWith("{a}#{b}"));
  auto applied = ApplyDesign(*database, design);
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_TRUE((*applied)[0].is_new);
  applied = ApplyDesign(*database, design);
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_FALSE((*applied)[0].is_new);
  std::string families = DesignWith("{a}#{b}");
  families.replace(families.find("maxversions=1"), 13, "maxversions=2");
  std::string more = DesignWith("{a}#{b}");
  more.replace(more.find("n: {type: intsum}"), 17, "m: {}");
  const std::vector<std::pair<std::string, std::string>> kOthers = {
      {DesignWith("{b}#{a}"), "it has the key {a}#{b}, and the design the key {b}#{a}"},
      {DesignWith("{a}#{b}", "    delimiter: \"/\"\n"),
       "its delimiter is \"#\", and that of the design \"/\""},
      {DesignWith("{a}#{b}", "    granularity: micros\n"), "its granularity differs"},
      {DesignWith("{a}#{b}", "    compression: fast\n"), "its compression differs"},
      {families,
       "its family \"f\" has gc maxversions=1, type bytes, and the design gc maxversions=2, type "
       "bytes"},
      {more, "it has no family \"m\""}};
  for (const auto& [other, difference] : kOthers) {
    const absl::Status status = ApplyDesign(*database, DesignOf(other)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(std::string(status.message()),
              "the table t exists with another schema or another key: " + difference +
                  ". Delete it, or give the table of the design another name");
  }
  Schema plain;
  plain.AddFamily("f", GcRule::MaxNumVersions(1));
  plain.AddFamily(FamilySchema{.name = "n", .value_type = ValueType::kInt64Sum});
  ASSERT_TRUE(database->CreateTable("plain", plain).ok());
  std::string renamed = DesignWith("{a}#{b}");
  renamed.replace(renamed.find("  t:"), 4, "  plain:");
  EXPECT_NE(std::string(ApplyDesign(*database, DesignOf(renamed)).status().message())
                .find("another key: it was made without a design, so its key is not known."),
            std::string::npos)
      << ApplyDesign(*database, DesignOf(renamed)).status();
  // None of the tables is created if one exists and differs.
  const Design two = DesignOf(
      "stele: design/1\n"
      "tables: {a: {families: {f: {}}, key: x}, t: {families: {f: {}}, key: x}}\n");
  EXPECT_FALSE(ApplyDesign(*database, two).ok());
  EXPECT_FALSE(database->OpenTable("a").ok());
  EXPECT_TRUE(ApplyDesign(*database, two, {.table = "a"}).ok());
  EXPECT_EQ(ApplyDesign(*database, two, {.table = "b"}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(DesignTest, LoadsAFile) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(Design::Load(directory.Write("d.yaml", DesignWith("{a}"))).ok());
  EXPECT_EQ(Design::Load(directory.File("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(Design::Load(directory.File("")).ok());
}

}  // namespace
}  // namespace stele::internal::lab
