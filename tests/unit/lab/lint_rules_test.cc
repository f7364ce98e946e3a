// Tests each rule of the advisor with tables that have a problem and tables that do not.
#include <openssl/sha.h>

#include "lab/values/number_text.h"
#include "stele/keys.h"
#include "unit/lab/lint_fixture.h"

namespace stele::internal::lab {
namespace {

using stele::lab::LintFinding;
using stele::lab::LintReport;
using stele::lab::LintSeverity;

struct RuleCase {
  std::string rule;
  bool fires;
  std::function<void(LintFixture&)> fill;
  std::map<std::string, double> parameters = {};
  std::optional<double> measured = std::nullopt;
  std::vector<FamilySchema> families = {{.name = "f"}};
};

std::string Repeated(size_t count) { return std::string(count, 'a'); }

// The first 16 hex digits of the SHA-256 sum of a number.
std::string Sha(int number) {
  const std::string text = std::to_string(number);
  unsigned char sum[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum);
  std::string hex;
  for (int i = 0; i < 8; ++i) hex += fmt::format("{:02x}", sum[i]);
  return hex;
}

void ExpectCase(const RuleCase& one) {
  LintFixture fixture(one.families);
  one.fill(fixture);
  const LintReport report = fixture.Lint({.only = {one.rule}, .parameters = one.parameters});
  EXPECT_EQ(report.run, std::vector<std::string>{one.rule});
  ASSERT_EQ(report.findings.size(), one.fires ? 1u : 0u) << one.rule << "\n" << report.ToText();
  if (!one.fires) return;
  const LintFinding& finding = report.findings[0];
  EXPECT_EQ(finding.id, one.rule);
  EXPECT_FALSE(finding.message.empty());
  EXPECT_FALSE(finding.advice.empty());
  EXPECT_LE(finding.samples.size(), 3u);
  if (one.measured.has_value()) {
    EXPECT_NEAR(finding.measured, *one.measured, 0.0001);
  }
}

void ExpectCases(const std::vector<RuleCase>& cases) {
  for (const RuleCase& one : cases) {
    SCOPED_TRACE(one.rule + (one.fires ? " +" : " -"));
    ExpectCase(one);
  }
}

// Keys of the form "aaaa...00" with this length.
auto LongKeys(int bytes) {
  return [bytes](LintFixture& fixture) {
    fixture.Keys(0, 19, [&](int i) {
      return Repeated(static_cast<size_t>(bytes) - 2) + fmt::format("{:02}", i);
    });
  };
}
auto OneKey(const std::string& key) {
  return [key](LintFixture& fixture) { fixture.Key(key); };
}
auto OneCell(size_t qualifier_bytes, size_t value_bytes, int rows = 1) {
  return [=](LintFixture& fixture) {
    for (int i = 0; i < rows; ++i)
      fixture.Cell(fmt::format("{:02}", i), "f", Repeated(qualifier_bytes), Repeated(value_bytes));
  };
}
auto ManyKeys(int first, int last, const std::function<std::string(int)>& key) {
  return [=](LintFixture& fixture) { fixture.Keys(first, last, key); };
}
// A row with values of these sizes.
auto RowOf(const std::vector<size_t>& value_bytes) {
  return [=](LintFixture& fixture) {
    for (size_t i = 0; i < value_bytes.size(); ++i)
      fixture.Cell("r", "f", std::to_string(i), Repeated(value_bytes[i]));
  };
}
// So many rows of so many cells of one byte.
auto RowsOfCells(int rows, int cells) {
  return [=](LintFixture& fixture) {
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < cells; ++i)
        fixture.Cell(fmt::format("r{:02}", row), "f", std::to_string(i), "x");
  };
}
auto Tables(const std::vector<std::string>& names) {
  return [=](LintFixture& fixture) {
    for (const std::string& name : names) fixture.AddTable(name, {{.name = "f"}});
  };
}

TEST(LintRulesTest, SizesOfKeysAndCells) {
  const size_t rec = 10 << 20;
  ExpectCases({
      {"SIZE-KEY-MAX", true, OneKey(Repeated(4097)), {}, 4097},
      {"SIZE-KEY-MAX", false, OneKey(Repeated(4096))},
      {"SIZE-KEY-LONG", true, LongKeys(101), {}, 101},
      {"SIZE-KEY-LONG", false, LongKeys(32)},
      {"SIZE-KEY-LONG", true, LongKeys(33), {}, 33.0 / 35},  // the share
      {"SIZE-KEY-LONG", false, ManyKeys(0, 18, [](int i) { return Repeated(101) + Sha(i); })},
      {"SIZE-QUAL-MAX", true, OneCell(16385, 1), {}, 16385},
      {"SIZE-QUAL-MAX", false, OneCell(16384, 1)},
      {"SIZE-QUAL-LONG", true, OneCell(17, 30, 20), {}, 17.0 / 30},
      {"SIZE-QUAL-LONG", false, OneCell(17, 34, 20)},
      {"SIZE-QUAL-LONG", false, OneCell(16, 1, 20)},
      {"SIZE-CELL-REC", true, OneCell(1, rec + 1), {}, static_cast<double>(rec + 1)},
      {"SIZE-CELL-REC", false, OneCell(1, rec)},
      {"SIZE-CELL-MAX", true, OneCell(1, 11), {{"SIZE-CELL-MAX.bytes", 10}}, 11},
      {"SIZE-CELL-MAX", false, OneCell(1, 10), {{"SIZE-CELL-MAX.bytes", 10}}},
      {"SIZE-ROW-REC", true, RowOf({6, 5}), {{"SIZE-ROW-REC.bytes", 10}}, 11},
      {"SIZE-ROW-REC", false, RowOf({5, 5}), {{"SIZE-ROW-REC.bytes", 10}}},
      {"SIZE-ROW-MAX", true, RowOf({6, 5}), {{"SIZE-ROW-MAX.bytes", 10}}, 11},
      {"SIZE-ROW-MAX", false, RowOf({5, 5}), {{"SIZE-ROW-MAX.bytes", 10}}},
      {"SIZE-CELLS-ROW", true, RowsOfCells(1, 6), {{"SIZE-CELLS-ROW.max", 5}}, 6},
      {"SIZE-CELLS-ROW", false, RowsOfCells(3, 5), {{"SIZE-CELLS-ROW.max", 5}}},
      {"SIZE-CELLS-ROW", true, RowsOfCells(3, 5), {{"SIZE-CELLS-ROW.p99", 4}}, 5},
      {"SIZE-CELL-TINY", true, RowsOfCells(20, 65), {}, 1},
      {"SIZE-CELL-TINY", false, RowsOfCells(20, 64)},
  });
}

TEST(LintRulesTest, NamesOfTablesAndFamilies) {
  const auto nothing = [](LintFixture&) {};
  std::vector<FamilySchema> many;
  for (int i = 0; i < 101; ++i) many.push_back({.name = fmt::format("f{}", i)});
  const std::vector<FamilySchema> fewer(many.begin() + 1, many.end());
  const std::map<std::string, double> two = {{"SIZE-TABLES-MAX.count", 2}};
  ExpectCases({
      {"SIZE-FAM-NAME", true, nothing, {}, 11, {{.name = "temperature"}}},
      {"SIZE-FAM-NAME", false, nothing, {}, {}, {{.name = "readings"}}},
      {"SIZE-FAM-COUNT", true, nothing, {}, 101, many},
      {"SIZE-FAM-COUNT", false, nothing, {}, {}, fewer},
      {"SIZE-TABLES-MAX", true, Tables({"a", "b"}), two, 3},
      {"SIZE-TABLES-MAX", false, Tables({"a"}), two},
      {"SIZE-TABLES-MANY",
       true,
       Tables({"r_iPhone_2015_01", "r_iPad_2015_02", "r_iPhone_2015_03"}),
       {},
       3},
      {"SIZE-TABLES-MANY", false, Tables({"users", "orders", "carts"})},
      {"SIZE-TABLES-MANY", true, Tables({"events2015", "events2016", "events2017"}), {}, 3},
      {"SIZE-TABLES-MANY", false, Tables({"a_b_1", "c_d_1", "e_f_1"})},
      {"SIZE-TABLES-MANY", false, Tables({"a_1", "a_2"})},
  });
}

TEST(LintRulesTest, TablesWithOtherFamiliesAreNotSimilar) {
  LintFixture fixture(std::vector<FamilySchema>{});
  fixture.AddTable("e1", {{.name = "f"}}).AddTable("e2", {{.name = "f"}});
  fixture.AddTable("e3", {{.name = "g"}});
  EXPECT_TRUE(fixture.Lint({.only = {"SIZE-TABLES-MANY"}}).findings.empty());
}

// 20 rows with one version of f:a and so many of f:b.
auto TwoColumns(int versions) {
  return [=](LintFixture& fixture) {
    for (int i = 0; i < 20; ++i) {
      fixture.Cell(fmt::format("{:02}", i), "f", "a", "x");
      fixture.Cell(fmt::format("{:02}", i), "f", "b", "x", versions);
    }
  };
}
auto Versions(int versions) {
  return [=](LintFixture& fixture) { fixture.Cell("r", "f", "a", "x", versions); };
}
auto Friends(int rows_per_prefix) {
  return [=](LintFixture& fixture) {
    for (int i = 0; i < 60; ++i) {
      const std::string key =
          fmt::format("p{:02}#{}", i / rows_per_prefix, i % rows_per_prefix + 1);
      fixture.Cell(key, "f", "friend", "x").Cell(key, "f", "circle", "y");
    }
  };
}

TEST(LintRulesTest, FamiliesAndColumns) {
  const FamilySchema one_version = {.name = "f", .gc = GcRule::MaxNumVersions(1)};
  const auto dates = [](LintFixture& fixture) {
    for (int i = 0; i < 60; ++i) fixture.Key(fmt::format("p{:02}#2023-01-{:02}", i / 5, i % 5 + 1));
  };
  const auto other_columns = [](LintFixture& fixture) {
    for (int i = 0; i < 60; ++i)
      fixture.Cell(fmt::format("p{:02}#{}", i / 5, i % 5), "f", i % 10 == 0 ? "a" : "b", "x");
  };
  const auto large = [](LintFixture& fixture) {
    for (int i = 0; i < 60; ++i)
      fixture.Cell(fmt::format("p{:02}#{}", i / 5, i % 5), "f", "a", Repeated(1100));
  };
  ExpectCases({
      {"FAM-RETENTION", true, TwoColumns(10), {}, 10},
      {"FAM-RETENTION", false, TwoColumns(9)},
      {"FAM-RETENTION", false, TwoColumns(10), {{"FAM-RETENTION.rows", 21}}},
      {"FAM-NO-GC", true, Versions(11), {}, 11},
      {"FAM-NO-GC", false, Versions(10)},
      {"FAM-NO-GC", false, Versions(11), {}, {}, {one_version}},
      {"COL-AS-DATA", true, Friends(5), {}, 12},
      {"COL-AS-DATA", false, Friends(1)},
      {"COL-AS-DATA", false, Friends(10)},  // six prefixes
      {"COL-AS-DATA", false, dates},
      {"COL-AS-DATA", false, other_columns},
      {"COL-AS-DATA", false, large},
  });
}

TEST(LintRulesTest, TimesAndNumbersInKeys) {
  const auto number = [](int factor) { return [=](int i) { return std::to_string(i * factor); }; };
  const auto two_keys = [](const std::string& a, const std::string& b) {
    return [=](LintFixture& fixture) { fixture.Key(a).Key(b); };
  };
  ExpectCases({
      {"KEY-TS-FIRST",
       true,
       ManyKeys(0, 99, [](int i) { return fmt::format("{}#x", 1700000000 + i); }),
       {},
       1},
      {"KEY-TS-FIRST", false,
       ManyKeys(0, 99, [](int i) { return fmt::format("dev{:02}#{}", i, 1700000000 + i); })},
      {"KEY-TS-FIRST", true,
       ManyKeys(10, 29, [](int i) { return fmt::format("201502{}#x", i % 19 + 10) + Sha(i); })},
      {"KEY-TS-FIRST", false,
       ManyKeys(0, 18, [](int i) { return fmt::format("{}#x", 1700000000 + i); })},
      {"KEY-REVTS-FIRST",
       true,
       ManyKeys(0, 99, [](int i) { return fmt::format("{}#x", 9223370611524018122 + i); }),
       {},
       1},
      {"KEY-REVTS-FIRST", false,
       ManyKeys(0, 99, [](int i) { return fmt::format("d#{}", 9223370611524018122 + i); })},
      {"KEY-SEQ-ID", true, ManyKeys(1, 100, number(1)), {}, 1},
      {"KEY-SEQ-ID", false, ManyKeys(1, 100, number(1000))},
      {"KEY-SEQ-ID", false,
       ManyKeys(0, 99, [](int i) { return fmt::format("{}#x", 1700000000 + i); })},
      {"KEY-SEQ-ID", false, ManyKeys(0, 99, [](int i) { return fmt::format("{}#{}", i % 19, i); })},
      {"KEY-UNPADDED", true, two_keys("3", "20"), {}, 2},
      {"KEY-UNPADDED", false, two_keys("03", "20")},
      {"KEY-UNPADDED", false, two_keys("1", "20")},     // the order is right
      {"KEY-UNPADDED", true, two_keys("007", "01")},    // 7 sorts before 1
      {"KEY-UNPADDED", false, two_keys("3", "20a")},    // not only numbers
      {"KEY-UNPADDED", true, two_keys("a#9", "a#10")},  // the second segment
      {"KEY-UNPADDED", false, two_keys("0", "00")},
  });
}

TEST(LintRulesTest, HashesHostsAndDistributions) {
  const auto uuid = [](int i) {
    const std::string hex = Sha(i) + Sha(i + 1000);
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
           hex.substr(16, 4) + "-" + hex.substr(20);
  };
  const auto tenants = [](int first, int second) {
    return [=](LintFixture& fixture) {
      fixture.Keys(1, first, [](int i) { return fmt::format("a#{}", i); });
      fixture.Keys(1, second, [](int i) { return fmt::format("b#{}", i); });
    };
  };
  ExpectCases({
      {"KEY-HASHED", true, ManyKeys(0, 99, Sha)},
      {"KEY-HASHED", false, ManyKeys(0, 99, [](int i) { return fmt::format("user{:03}", i); })},
      {"KEY-HASHED", true, ManyKeys(0, 99, uuid)},
      {"KEY-HASHED", false, ManyKeys(0, 99, [](int i) { return fmt::format("{:08x}", i); })},
      {"KEY-CARDINALITY",
       true,
       ManyKeys(0, 99, [](int i) { return fmt::format("u{}#{}", i, i % 2); }),
       {},
       50},
      {"KEY-CARDINALITY", false,
       ManyKeys(0, 99, [](int i) { return fmt::format("{}#u{}", i % 2, i); })},
      {"KEY-CARDINALITY", false,
       ManyKeys(0, 99, [](int i) { return fmt::format("{}#{}", 1700000000 + i, i % 2); })},
      {"KEY-TENANT", true, tenants(11, 9), {}, 0.55},
      {"KEY-TENANT", false, tenants(10, 10)},
      {"KEY-TENANT", false, tenants(20, 0)},
      {"KEY-SALT-FANOUT",
       true,
       ManyKeys(0, 199, [](int i) { return fmt::format("{}#k{}", i % 10, i); }),
       {},
       10},
      {"KEY-SALT-FANOUT", false,
       ManyKeys(0, 199, [](int i) { return fmt::format("{}#k{}", i % 10 + 5, i); })},
      {"KEY-SALT-FANOUT", false,
       ManyKeys(0, 198, [](int i) { return fmt::format("{}#k{}", i % 10, i); })},
      {"KEY-DOMAIN",
       true,
       ManyKeys(0, 19, [](int i) { return fmt::format("www.site{}.com", i); }),
       {},
       1},
      {"KEY-DOMAIN", false,
       ManyKeys(0, 19, [](int i) { return fmt::format("com.site{}.www", i); })},
      {"KEY-DOMAIN", false,
       ManyKeys(0, 19, [](int i) { return fmt::format("com.site{}.net", i); })},
      {"KEY-FEW-DOMAINS",
       true,
       ManyKeys(0, 19, [](int i) { return fmt::format("com.google.a{}", i); }),
       {},
       1},
      {"KEY-FEW-DOMAINS", false,
       ManyKeys(0, 19, [](int i) { return fmt::format("com.site{}", i); })},
      {"KEY-FEW-DOMAINS",
       true,
       ManyKeys(0, 39,
                [](int i) {
                  return i < 19 ? fmt::format("www.site{}.com", i) : fmt::format("w{}.big.org", i);
                }),
       {},
       21.0 / 40},
  });
}

TEST(LintRulesTest, BytesAndContentsOfKeys) {
  const auto keys = [](const std::vector<std::string>& all) {
    return [=](LintFixture& fixture) {
      for (const std::string& key : all) fixture.Key(key);
    };
  };
  const auto qualifier = [](LintFixture& fixture) {
    fixture.Cell("a", "f", "ann@example.com", "");
  };
  const auto cards = keys({"4111111111111111", "5500005555555559"});
  const auto few_cards = keys({"4111111111111111", "5500005555555558"});
  ExpectCases({
      {"KEY-BINARY", true, OneKey(std::string("a\0b", 3)), {}, 1},
      {"KEY-BINARY", true, OneKey("S\xc3\xa3o"), {}, 1},
      {"KEY-BINARY", false, OneKey("a b")},
      {"KEY-DELIM", true, keys({"a#1", "b#2", "c#3#x"}), {}, 1},
      {"KEY-DELIM", false, keys({"a#1", "b#2"})},
      {"KEY-DELIM", true, keys({"a#1", "b#2#x"}), {}, 1},
      {"KEY-PII", true, OneKey("ann@example.com#1"), {}, 1},
      {"KEY-PII", false, OneKey("ann#1")},
      {"KEY-PII", true, keys({"a#10.0.0.1", "a#b"}), {}, 1},
      {"KEY-PII", true, OneKey("2001:db8::7#1"), {}, 1},
      {"KEY-PII", true, OneKey("a#+4930123456"), {}, 1},
      {"KEY-PII", false, OneKey("a#+4930123")},
      {"KEY-PII", true, OneKey("a#123-45-6789"), {}, 1},
      {"KEY-PII", true, cards, {}, 2},
      {"KEY-PII", false, few_cards},
      {"KEY-PII", true, qualifier, {}, 1},
  });
}

TEST(LintRulesTest, MessagesHaveRoundedNumbers) {
  LintFixture fixture;
  fixture.Keys(0, 29, [](int i) { return Repeated(48) + std::to_string(i); });
  const LintReport report = fixture.Lint({.only = {"SIZE-KEY-LONG"}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_NE(report.findings[0].message.find("with 49.7 bytes on average"), std::string::npos)
      << report.findings[0].message;
  EXPECT_EQ(RoundedNumber(49.8359), "49.8");
  EXPECT_EQ(RoundedNumber(1234.5), "1,235");
  EXPECT_EQ(RoundedNumber(100.04), "100");
  EXPECT_EQ(RoundedNumber(3.14159), "3.14");
  EXPECT_EQ(RoundedNumber(0.98765), "0.988");
  EXPECT_EQ(RoundedNumber(-0.00001), "0");
}

TEST(LintRulesTest, SeveritiesOfBinaryKeys) {
  EXPECT_EQ(LintFixture().Key("S\xc3\xa3o").Lint().Count(LintSeverity::kInfo), 1u);
  EXPECT_EQ(LintFixture().Key("S\xa3o").Lint().Count(LintSeverity::kWarning), 1u);
  EXPECT_EQ(LintFixture().Key("a\x7f").Lint().Count(LintSeverity::kWarning), 1u);
}

TEST(LintRulesTest, PersonalDataIsMasked) {
  const LintReport report = LintFixture().Key("ann@example.com#1").Lint();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].samples, std::vector<std::string>{"a***"});
  EXPECT_EQ(report.ToText().find("example.com"), std::string::npos);
  EXPECT_EQ(report.ToJson().find("example.com"), std::string::npos);
}

TEST(LintRulesTest, PersonalDataIsMaskedInTheSamplesOfAllRules) {
  LintFixture fixture;
  for (int i = 0; i < 30; ++i) fixture.Key(fmt::format("ann@secret.test#{}", i));
  fixture.Key("ann@secret.test#\x01").Key("bob@secret.test#1#+4930123456");
  const LintReport report = fixture.Lint();
  const auto samples = [&](std::string_view rule) {
    for (const auto& finding : report.findings)
      if (finding.id == rule) return finding.samples;
    return std::vector<std::string>();
  };
  EXPECT_EQ(samples("KEY-BINARY"), std::vector<std::string>{"a***#\x01"}) << report.ToText();
  EXPECT_EQ(samples("KEY-DELIM"), std::vector<std::string>{"b***#1#+***"}) << report.ToText();
  EXPECT_EQ(samples("KEY-TENANT"), std::vector<std::string>{"a***"}) << report.ToText();
  for (const std::string& text : {report.ToText(), report.ToJson(), report.ToSarif("1")}) {
    EXPECT_EQ(text.find("secret.test"), std::string::npos) << text;
    EXPECT_EQ(text.find("4930123456"), std::string::npos) << text;
  }
}

// Returns how a key is shown in the samples of a rule.
std::string Shown(const std::string& key, const std::optional<std::string>& delimiter) {
  const LintReport report =
      LintFixture().Key(key).Lint({.delimiter = delimiter,
                                   .only = {"SIZE-KEY-MAX"},
                                   .parameters = {{"SIZE-KEY-MAX.bytes", 1}}});
  return report.findings.empty() ? "" : report.findings[0].samples.at(0);
}

TEST(LintRulesTest, PersonalDataIsMaskedBetweenAllDelimiters) {
  for (const char* const delimiter : {"", "#", "/", ":", "|", "--"}) {
    SCOPED_TRACE(delimiter);
    EXPECT_EQ(Shown("ann@example.com:7", delimiter), "a***:7");
    EXPECT_EQ(Shown("u:10.0.0.1#+4930123456/7", delimiter), "u:1***#+***/7");
    EXPECT_EQ(Shown("2001:db8::1.2.3.4", delimiter), "2***");
    EXPECT_EQ(Shown("2001:db8::1.2.3.4|7", delimiter), "2***|7");
    EXPECT_EQ(Shown("user1#a", delimiter), "user1#a");
  }
  EXPECT_EQ(Shown("::ffff:10.0.0.1", std::nullopt), ":***");
  EXPECT_EQ(Shown("1:2:3:4:5:6:7:8:10.0.0.1", ":"), "1:2:3:4:5:6:7:8:1***");
}

TEST(LintRulesTest, EqualSamplesAreShownOnce) {
  const LintReport report =
      LintFixture().Key("ann@example.com").Key("al@example.com").Key("bo@example.com").Lint();
  ASSERT_EQ(report.findings.size(), 1u) << report.ToText();
  EXPECT_EQ(report.findings[0].samples, (std::vector<std::string>{"a***", "b***"}));
  EXPECT_EQ(report.findings[0].evidence, "first: \"a***\", \"b***\"");
  // Card numbers of 13 and 16 digits.
  const LintReport cards =
      LintFixture().Key("4222222222222").Key("4111111111111111").Lint({.only = {"KEY-UNPADDED"}});
  ASSERT_EQ(cards.findings.size(), 1u) << cards.ToText();
  EXPECT_EQ(cards.findings[0].samples, std::vector<std::string>{"4***"});
  EXPECT_EQ(cards.findings[0].evidence, "\"4***\" sorts before \"4***\"");
}

TEST(LintRulesTest, PersonalDataThatIsCutIsMasked) {
  for (const char* const delimiter : {"#", "/", "|", ":"}) {
    SCOPED_TRACE(delimiter);
    const std::string begin = Repeated(4080) + delimiter;
    // Cut to "ann.smith@examp".
    EXPECT_EQ(Shown(begin + "ann.smith@example.com" + delimiter + "1", std::nullopt),
              begin + "a***");
    // Cut after the delimiter.
    EXPECT_EQ(Shown(begin + "an@secret.test" + delimiter + "1", std::nullopt),
              begin + "a***" + delimiter);
  }
  EXPECT_EQ(Shown(Repeated(4080) + "#2001:db8:7:8::1.2.3.4", ":"), Repeated(4080) + "#2***");
  EXPECT_EQ(Shown(Repeated(5000), ""), Repeated(4096));
}

TEST(LintRulesTest, PersonalDataInOrderedCodeIsFoundAndMasked) {
  constexpr const char* kSchema =
      R"({"encoding":"ordered_code","fields":[{"name":"n","type":"int64"},)"
      R"({"name":"who","type":"string"},{"name":"m","type":"int64"}]})";
  const auto key_schema = *keys::RowKeySchema::Parse(kSchema);
  for (const char* const who : {"ann@example.com", "4111111111111111"}) {
    SCOPED_TRACE(who);
    LintFixture fixture(std::vector<FamilySchema>{});
    fixture.AddTable("t", {{.name = "f"}}, "row_key_schema", kSchema);
    for (const int64_t n : {1, 256, 70'000})
      fixture.Key(*key_schema.Encode(std::vector<keys::Value>{n, who, n}));
    const LintReport report = fixture.Lint(
        {.only = {"KEY-PII", "SIZE-KEY-MAX"}, .parameters = {{"SIZE-KEY-MAX.bytes", 1}}});
    ASSERT_EQ(report.findings.size(), 2u) << report.ToText();
    EXPECT_EQ(report.findings[0].id, "SIZE-KEY-MAX");
    EXPECT_EQ(report.findings[1].id, "KEY-PII");
    EXPECT_EQ(report.findings[1].measured, 3);
    EXPECT_EQ(report.findings[1].samples, std::vector<std::string>{std::string(who, 1) + "***"});
    for (const std::string& sample : report.findings[0].samples) {
      EXPECT_EQ(sample.find(who), std::string::npos);
      EXPECT_NE(sample.find("***"), std::string::npos);
    }
  }
}

// Semantics row 146: a key that does not fit its row key schema is written and read.
TEST(LintRulesTest, KeysMissTheirSchema) {
  constexpr const char* kSchema =
      R"({"encoding":"ordered_code","fields":[{"name":"id","type":"string"},)"
      R"({"name":"code","type":"int64"}]})";
  const auto key_schema = *keys::RowKeySchema::Parse(kSchema);
  const std::string encoded = *key_schema.Encode(std::vector<keys::Value>{"a", int64_t{1}});
  for (const bool is_encoded : {true, false}) {
    LintFixture fixture(std::vector<FamilySchema>{});
    fixture.AddTable("t", {{.name = "f"}}, "row_key_schema", kSchema);
    fixture.Key(is_encoded ? encoded : "a");
    const LintReport report = fixture.Lint({.only = {"KEY-SCHEMA-MISS", "KEY-BINARY"}});
    EXPECT_EQ(report.findings.size(), is_encoded ? 0u : 1u) << report.ToText();
    ASSERT_EQ(report.findings.size(), is_encoded ? 0u : 1u);
  }
}

}  // namespace
}  // namespace stele::internal::lab
