// Tests DynamoDB's numbers, and the texts that values are stored in: base64 and times.
#include "lab/values/decimal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/values/base64.h"
#include "lab/values/time_text.h"

namespace stele::internal::lab {
namespace {

Decimal Parsed(std::string_view text) {
  const auto number = ParseDecimal(text);
  EXPECT_TRUE(number.ok()) << text << ": " << number.status();
  return number.value_or(Decimal());
}

TEST(DecimalTest, HasTheSortableFormsOfTheSpecification) {
  const std::pair<std::string, std::string> kForms[] = {{"0", "0"},
                                                        {"-0.0", "0"},
                                                        {"1", "15001"},
                                                        {"10", "15011"},
                                                        {"3.14", "1500314"},
                                                        {"0.5", "14995"},
                                                        {"-0.5", "-5004:"},
                                                        {"-1.5", "-49984:"},
                                                        {"-1.52", "-499847:"},
                                                        {"1437764250", "1509143776425"}};
  for (const auto& [text, sortable] : kForms) {
    EXPECT_EQ(SortableDecimal(Parsed(text)), sortable);
    const auto back = ParseSortableDecimal(sortable);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, Parsed(text));
  }
}

TEST(DecimalTest, OrdersBySortableFormAsByValue) {
  const std::vector<std::string> kAscending = {
      "-9.9E+125", "-100", "-99.5", "-1.52", "-1.5", "-1", "-1E-130", "0",
      "1E-130",    "0.09", "0.1",   "1",     "1.01", "2",  "10",      "9.9E+125"};
  for (size_t i = 1; i < kAscending.size(); ++i) {
    EXPECT_LT(Parsed(kAscending[i - 1]), Parsed(kAscending[i]));
    EXPECT_LT(SortableDecimal(Parsed(kAscending[i - 1])), SortableDecimal(Parsed(kAscending[i])));
  }
}

TEST(DecimalTest, AcceptsWhatDynamoDbAccepts) {
  EXPECT_EQ(Parsed("1.50"), Parsed("1.5"));
  EXPECT_EQ(Parsed("12345678901234567890123456789012345678").digit_count, 38);
  EXPECT_EQ(Parsed("100000000000000000000000000000000000000000").digit_count, 1);
  EXPECT_EQ(Parsed("9.9999999999999999999999999999999999999E+125").exponent, 125);
  for (const char* const text :
       {"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "NaN", " 1", "1 ", "1E126", "1E-131",
        "123456789012345678901234567890123456789", "1e99999999999999999999"}) {
    EXPECT_FALSE(ParseDecimal(text).ok()) << text;
  }
}

TEST(DecimalTest, RejectsTextThatSortableDecimalDoesNotReturn) {
  for (const char* const text : {"", "1", "1500", "15000", "150010", "-5004", "-5004:0",
                                 "-500:", "00", "150a1", "19991", "-50049:", "1500-"}) {
    EXPECT_FALSE(ParseSortableDecimal(text).ok()) << text;
  }
}

TEST(DecimalTest, HasTextWithoutLoss) {
  EXPECT_EQ(DecimalText(Parsed("-1.50E+3")), "-1500");
  EXPECT_EQ(DecimalText(Parsed("0.00012")), "0.00012");
  EXPECT_EQ(DecimalText(Parsed("12.5")), "12.5");
  EXPECT_EQ(DecimalText(Parsed("1E-21")), "1E-21");
  EXPECT_EQ(DecimalText(Parsed("1.5E+38")), "1.5E+38");
  EXPECT_EQ(DecimalText(Parsed("1E+37")), "1" + std::string(37, '0'));
}

TEST(DecimalTest, ConvertsWholeNumbersOf64Bits) {
  EXPECT_EQ(ToInt64(Parsed("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(ToInt64(Parsed("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(ToInt64(Parsed("1.2E+2")), 120);
  EXPECT_EQ(ToInt64(Parsed("0.0")), 0);
  EXPECT_EQ(ToInt64(Parsed("9223372036854775808")), std::nullopt);
  EXPECT_EQ(ToInt64(Parsed("0.5")), std::nullopt);
  EXPECT_EQ(ToInt64(Parsed("1E+30")), std::nullopt);
}

TEST(Base64Test, ConvertsBothWaysAndRejectsOtherText) {
  for (const std::string bytes : {"", "f", "fo", "foo", "foob", "\xff\x00\xfe"}) {
    std::string text;
    AppendBase64(bytes, &text);
    std::string back;
    EXPECT_TRUE(AppendDecodedBase64(text, &back)) << text;
    EXPECT_EQ(back, bytes);
  }
  std::string text;
  AppendBase64("fo", &text);
  EXPECT_EQ(text, "Zm8=");
  std::string out = "kept";
  for (const char* const wrong : {"Zm8", "Zm9=", "Zg", "Zh==", "Z===", "====", "Zm8-", "Zm 8", "="})
    EXPECT_FALSE(AppendDecodedBase64(wrong, &out)) << wrong;
  EXPECT_EQ(out, "kept");
}

TEST(TimeTextTest, ParsesTimesOfExportsAndAttributes) {
  constexpr int64_t kSecond = 1'000'000;
  EXPECT_EQ(ParseTime("2024-11-20T00:00:00.000Z"), 1732060800 * kSecond);
  EXPECT_EQ(ParseTime("2024-11-20"), 1732060800 * kSecond);
  EXPECT_EQ(ParseTime("2024-11-20 01:30:00.5+01:30"), 1732060800 * kSecond + 500'000);
  EXPECT_EQ(ParseTime("1732060800"), 1732060800 * kSecond);
  EXPECT_EQ(ParseTime("1732060800123"), 1732060800123 * 1000);
  EXPECT_EQ(ParseTime("1732060800123456"), 1732060800123456);
  for (const char* const wrong :
       {"", "2024", "2024-02-30", "2024-11-20T25:00:00", "2024-11-20T00:00", "1969-12-31",
        "2024-11-20T00:00:00.1234567Z", "2024-11-20T00:00:00+1", "12345", "2024-11-20x"}) {
    EXPECT_EQ(ParseTime(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace stele::internal::lab
