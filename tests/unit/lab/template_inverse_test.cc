// Tests the search for the fields from which a template made a text.
#include "lab/template/template_inverse.h"

#include <gtest/gtest.h>

#include <string>

namespace stele::internal::lab {
namespace {

class RecordOf : public FieldSource {
 public:
  explicit RecordOf(const FoundFields& found) : found_(found) {}
  std::optional<std::string_view> Text(std::string_view field) const override {
    const auto place = found_.find(field);
    if (place == found_.end() || !place->second.text.has_value()) return std::nullopt;
    return *place->second.text;
  }
  std::optional<std::string> Json(std::string_view) const override { return std::nullopt; }
  std::vector<std::string> Names() const override { return {}; }

 private:
  const FoundFields& found_;
};

// "a=x b=y", "-" for an absent field, or "no". The template must make the text again of what was
// found, unless the field is not found.
std::string Find(std::string_view pattern, std::string_view text,
                 const InverseOptions& options = {.delimiter = "#"}) {
  const auto parsed = Template::Parse(pattern);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  FoundFields found;
  if (!FindFields(*parsed, text, options, &found)) return "no";
  const auto again = parsed->Text(RecordOf(found));
  if (again.ok()) {
    EXPECT_EQ(*again, text);
  }
  std::string fields;
  for (const auto& [name, field] : found)
    fields += (fields.empty() ? "" : " ") + name + "=" + field.text.value_or("-");
  return fields;
}

TEST(TemplateInverseTest, SplitsAtLiterals) {
  EXPECT_EQ(Find("{a}", "x"), "a=x");
  EXPECT_EQ(Find("{a}#{b}", "x#y"), "a=x b=y");
  EXPECT_EQ(Find("<{a}>#", "<x>#"), "a=x");
  EXPECT_EQ(Find("{a}#{b}", "x"), "no");
  EXPECT_EQ(Find("{a}#", "x#y"), "no");
  EXPECT_EQ(Find("x{a}", "y"), "no");
  EXPECT_EQ(Find("{a}{b}", "xy"), "no") << "nothing separates them";
  EXPECT_EQ(Find("{a|pad:2}{b}", "07y"), "a=7 b=y");
  EXPECT_EQ(Find("", ""), "");
  EXPECT_EQ(Find("", "x"), "no");
}

TEST(TemplateInverseTest, OnlyTheLastFieldMayHaveTheDelimiter) {
  EXPECT_EQ(Find("{a}#{b}", "x#y#z"), "no");
  EXPECT_EQ(Find("{a}#{b}", "x#y#z", {.delimiter = "#", .last_has_delimiter = true}), "a=x b=y#z");
  EXPECT_EQ(Find("{a}/{b}", "x#/y", {.delimiter = "#", .last_has_delimiter = true}), "no");
}

TEST(TemplateInverseTest, InvertsFunctions) {
  EXPECT_EQ(Find("{a|pad:4}", "0070"), "a=70");
  EXPECT_EQ(Find("{a|pad:4}", "0000"), "a=0");
  EXPECT_EQ(Find("{a|pad:4}", "00070"), "no");
  EXPECT_EQ(Find("{a|rev_ts}", "9221672036854775806"), "a=1700000000000001");
  EXPECT_EQ(Find("{a|micros|rev_ts}", "9221672036854775806"), "a=1700000000000001");
  EXPECT_EQ(Find("{a|rev_date}", "79798768"), "a=20201231");
  EXPECT_EQ(Find("{a|rev_digits:4}", "2100"), "a=12");
  EXPECT_EQ(Find("{a|rev_digits}", "210"), "a=012");
  EXPECT_EQ(Find("{a|rev_domain}", "com.google.maps/x"), "a=maps.google.com/x");
  EXPECT_EQ(Find("{a|lower}#", "x#"), "a=x");
  EXPECT_EQ(Find("{a|escape}#", "x%23y#"), "a=x#y");
  for (const char* const wrong : {"{a|rev_ts}", "{a|rev_date}", "{a|rev_domain}", "{a|hour}"})
    EXPECT_EQ(Find(wrong, "..x"), "no") << wrong;
  EXPECT_EQ(Find("{a|rev_ts}", "99999999999999999999"), "no");
  EXPECT_EQ(Find("{a|rev_ts}", "-000000000000000001"), "no");
}

TEST(TemplateInverseTest, TheMostPreciseTimeCounts) {
  EXPECT_EQ(Find("{a|month}#{a|day|rev_date}", "202012#79798768"), "a=2020-12-31");
  EXPECT_EQ(Find("{a|hour}#{a|iso_day}", "2020123123#2020-12-31"), "a=2020-12-31T23:00:00Z");
  EXPECT_EQ(Find("{a|month}", "202012"), "a=2020-12-01");
  EXPECT_EQ(Find("{a|day}#{a}", "20201231#2020-12-31T01:02:03Z"), "a=2020-12-31T01:02:03Z");
  EXPECT_EQ(Find("{a}#{a}", "x#y"), "no");
}

TEST(TemplateInverseTest, SomeFunctionsTellNothing) {
  EXPECT_EQ(Find("{a|salt:100}#{a}", "39#x"), "a=x");
  EXPECT_EQ(Find("{a|sub:0:1}#{b}", "x#y"), "b=y");
  EXPECT_EQ(
      Find("{@bucket}#{a}", "03#x", {.delimiter = "#", .fixed_field = "@bucket", .fixed_bytes = 2}),
      "@bucket=03 a=x");
}

TEST(TemplateInverseTest, TheTextOfOrMeansAnAbsentField) {
  EXPECT_EQ(Find("{a|or:-}#{b|or:0|pad:3}", "-#000"), "a=- b=-");
  EXPECT_EQ(Find("{a|or:-}#{b|or:0|pad:3}", "x#010"), "a=x b=10");
}

}  // namespace
}  // namespace stele::internal::lab
