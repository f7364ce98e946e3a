// Tests templates and their functions.
#include "lab/template/template.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace stele::internal::lab {
namespace {

// Fields of a test. A field that begins with '{' has JSON text, and no plain text.
class TestFields : public FieldSource {
 public:
  using Map = std::map<std::string, std::string, std::less<>>;
  explicit TestFields(Map fields) : fields_(std::move(fields)) {}

  std::optional<std::string_view> Text(std::string_view field) const override {
    const auto found = fields_.find(field);
    if (found == fields_.end() || found->second.starts_with('{')) return std::nullopt;
    return found->second;
  }
  std::optional<std::string> Json(std::string_view field) const override {
    const auto found = fields_.find(field);
    if (found == fields_.end()) return std::nullopt;
    return found->second.starts_with('{') ? found->second : "\"" + found->second + "\"";
  }
  std::vector<std::string> Names() const override {
    std::vector<std::string> names;
    for (const auto& [name, text] : fields_) names.push_back(name);
    return names;
  }

 private:
  Map fields_;
};

// The text of a template with the field x, or the error.
std::string TextOf(std::string_view text, const std::string& x) {
  const auto parsed = Template::Parse(text);
  if (!parsed.ok()) return std::string(parsed.status().message());
  const auto result = parsed->Text(TestFields(TestFields::Map{{"x", x}, {"empty", ""}}));
  return result.ok() ? *result : "error: " + std::string(result.status().message());
}

TEST(TemplateTest, JoinsTextsAndFields) {
  EXPECT_EQ(TextOf("", "1"), "");
  EXPECT_EQ(TextOf("a{x}b{x}", "1"), "a1b1");
  EXPECT_EQ(TextOf("{{{x}}}", "1"), "{1}");
  EXPECT_EQ(TextOf("{{x}}", "1"), "{x}");
  EXPECT_EQ(TextOf("{empty}", "1"), "");
}

TEST(TemplateTest, AbsentFieldsAreKnown) {
  EXPECT_EQ(TextOf("a{y}", "1"), "error: field \"y\": absent; {field|or:TEXT} gives a text then");
  EXPECT_EQ(TextOf("a{emtpy}", "1"),
            "error: field \"emtpy\": absent; did you mean \"empty\"? If not, {field|or:TEXT} gives "
            "a text");
  EXPECT_EQ(TextOf("{y|or:-}", "1"), "-");
  EXPECT_EQ(TextOf("{y|upper|or:a:b}", "1"), "a:b");
  EXPECT_EQ(TextOf("{empty|or:-}", "1"), "-");
  EXPECT_EQ(TextOf("{y|or:}", "1"), "");
  EXPECT_EQ(TextOf("{y|or:a|upper}", "1"), "A");
  std::string out;
  const auto parsed = Template::Parse("{x}{y}");
  ASSERT_TRUE(parsed.ok());
  const auto is_complete = parsed->Expand(TestFields(TestFields::Map{{"x", "1"}}), &out);
  ASSERT_TRUE(is_complete.ok());
  EXPECT_FALSE(*is_complete);
}

struct FunctionCase {
  std::string function;
  std::string input;
  std::string output;
};

TEST(TemplateTest, AppliesFunctions) {
  const std::vector<FunctionCase> kCases = {
      {"lower", "AbZ", "abz"},
      {"upper", "Abz", "ABZ"},
      {"trim", " \ta b\n", "a b"},
      {"trim", "  ", ""},
      {"sub:1:2", "abcd", "bc"},
      {"sub:9:2", "abcd", ""},
      {"json", "ab", "\"ab\""},
      {"json", "{\"a\":1}", "{\"a\":1}"},
      {"seconds", "2015-05-17T10:05:03Z", "1431857103"},
      {"millis", "1431857103", "1431857103000"},
      {"micros", "2015-05-17 10:05:03.000001", "1431857103000001"},
      {"day", "2020-02-24T18:00:00", "20200224"},
      {"day", "2020-02-24T23:30:00-02:00", "20200225"},
      {"day", "1962-03-01", "19620301"},
      {"hour", "2020-02-24T18:59:59", "2020022418"},
      {"month", "2020-02-24", "202002"},
      {"iso_day", "1423523569918", "2015-02-09"},
      {"day|rev_date", "2020-05-01", "79799498"},
      {"pad:5", "42", "00042"},
      {"rev_ts", "1425330757685", "9223370611524018122"},
      {"rev_digits", "10023", "32001"},
      {"rev_digits:8", "10023", "32001000"},
      {"rev_domain", "maps.google.com", "com.google.maps"},
      {"salt:16", "user1", "08"},
      {"bucket_time:1h", "1423523569918", "1423522800000"},
      {"bucket_time:1d:s", "1423523569", "1423440000"},
      {"escape", "a#b%", "a%23b%25"},
      {"escape:|", "a|b", "a%7Cb"},
  };
  for (const FunctionCase& each : kCases)
    EXPECT_EQ(TextOf("{x|" + each.function + "}", each.input), each.output) << each.function;
}

TEST(TemplateTest, NeverMakesAWrongText) {
  const std::vector<FunctionCase> kCases = {
      {"pad:2", "100", ""},
      {"pad:3", "-1", ""},
      {"rev_ts", "-1", ""},
      {"rev_date", "2020-02-30", ""},
      {"day", "yesterday", ""},
      {"micros", "1962-03-01", ""},
      {"rev_domain", "a..b", ""},
      {"bucket_time:1h", "x", ""},
      {"rev_ts", "9223372036854775808", ""},
  };
  for (const FunctionCase& each : kCases) {
    EXPECT_EQ(TextOf("{x|" + each.function + "}", each.input).substr(0, 16), "error: field \"x\"")
        << each.function;
  }
  const std::string of_time = TextOf("{x|rev_ts}", "2015-05-17T10:05:03Z");
  EXPECT_NE(of_time.find("is a time: put seconds, millis or micros before"), std::string::npos)
      << of_time;
}

TEST(TemplateTest, RejectsWrongTemplates) {
  for (const std::string text : {"{",
                                 "}",
                                 "a{b",
                                 "a}b",
                                 "{}",
                                 "{|lower}",
                                 "{a{b}}",
                                 "{a|none}",
                                 "{a|}",
                                 "{a|or}",
                                 "{a|lower:1}",
                                 "{a|pad}",
                                 "{a|pad:0}",
                                 "{a|pad:x}",
                                 "{a|pad:4097}",
                                 "{a|salt:1}",
                                 "{a|salt:1001}",
                                 "{a|sub:1}",
                                 "{a|sub:-1:1}",
                                 "{a|bucket_time}",
                                 "{a|bucket_time:0h}",
                                 "{a|bucket_time:5x}",
                                 "{a|bucket_time:1h:d}",
                                 "{a|bucket_time:99999999999999999d}",
                                 "{a|lower|json}",
                                 "{a|escape:%}",
                                 "{a|escape:}"}) {
    EXPECT_FALSE(Template::Parse(text).ok()) << text;
  }
  EXPECT_EQ(Template::Parse("ab{c|none}").status().message(),
            "the template, byte 3: \"none\" is not a function");
}

}  // namespace
}  // namespace stele::internal::lab
