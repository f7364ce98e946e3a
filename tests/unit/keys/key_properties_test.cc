// Checks statements about all keys on random input: encodings keep the order, and have an inverse.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/random.h"
#include "keys/ordered_code.h"
#include "keys/utf8.h"
#include "stele/keys.h"

namespace stele::keys {
namespace {

constexpr int kRounds = 20'000;

int Sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }
int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Numbers of every length.
int64_t AnyNumber(internal::Random& random) {
  const auto bits = random.Next() >> random.Below(64);
  return static_cast<int64_t>(random.Below(2) == 0 ? bits : ~bits);
}

// Short strings of few bytes, so that prefixes and equal strings occur.
std::string AnyBytes(internal::Random& random) {
  std::string bytes(random.Below(4), '\0');
  for (char& c : bytes)
    c = "\x00\x01\xff"
        "a"[random.Below(4)];
  return bytes;
}

TEST(KeyPropertiesTest, OrderedCodeKeepsTheOrderOfNumbers) {
  internal::Random random(1);
  for (int i = 0; i < kRounds; ++i) {
    const int64_t a = AnyNumber(random);
    const int64_t b = random.Below(4) == 0 ? a + (a < 0 ? 1 : -1) : AnyNumber(random);
    std::string code_a;
    std::string code_b;
    internal::AppendOrderedInt64(a, &code_a);
    internal::AppendOrderedInt64(b, &code_b);
    ASSERT_EQ(Sign(code_a.compare(code_b)), Sign(a <=> b)) << a << " " << b;
    ASSERT_EQ(internal::ParseOrderedInt64(code_a).value(), a);
  }
}

TEST(KeyPropertiesTest, OrderedCodeKeysSortAsTheirFields) {
  const RowKeySchema schema =
      RowKeySchema::Create(RowKeySchema::KeyEncoding::kOrderedCode,
                           {{.name = "a", .type = RowKeySchema::FieldType::kBytes},
                            {.name = "n", .type = RowKeySchema::FieldType::kInt64},
                            {.name = "b", .type = RowKeySchema::FieldType::kBytes}})
          .value();
  internal::Random random(2);
  for (int i = 0; i < kRounds; ++i) {
    const auto any = [&] {
      return std::vector<Value>{AnyBytes(random), static_cast<int64_t>(random.Below(3)) - 1,
                                AnyBytes(random)};
    };
    const std::vector<Value> a = any();
    const std::vector<Value> b = any();
    const std::string key_a = schema.Encode(a).value();
    const std::string key_b = schema.Encode(b).value();
    ASSERT_EQ(Sign(key_a.compare(key_b)), a < b ? -1 : b < a ? 1 : 0);
    ASSERT_EQ(schema.Decode(key_a).value(), a);
    const std::string prefix = schema.EncodePrefix(std::span(a).subspan(0, 2)).value();
    ASSERT_TRUE(key_a.starts_with(prefix) || std::get<std::string>(a[2]).empty());
  }
}

TEST(KeyPropertiesTest, PaddedNumbersSortAsNumbersAndReversedTimesBackwards) {
  internal::Random random(3);
  for (int i = 0; i < kRounds; ++i) {
    const auto a = random.Next() >> (1 + random.Below(63));
    const auto b = random.Next() >> (1 + random.Below(63));
    ASSERT_EQ(Sign(Pad(a, 20).value().compare(Pad(b, 20).value())), Sign(a <=> b));
    const std::string newer = ReverseMillis(static_cast<int64_t>(a)).value();
    const std::string other =
        ReverseTimestamp(Timestamp::FromMicros(static_cast<int64_t>(b))).value();
    ASSERT_EQ(Sign(newer.compare(other)), Sign(b <=> a));
    ASSERT_EQ(ReverseMillis(std::stoll(newer)).value(), Pad(a, 19).value());
    const std::string digits = std::to_string(a);
    ASSERT_EQ(ReverseDigits(ReverseDigits(digits).value()).value(), digits);
  }
}

TEST(KeyPropertiesTest, ReversedDatesSortBackwards) {
  using std::chrono::sys_days;
  std::chrono::year_month_day day{std::chrono::year(1999), std::chrono::month(12),
                                  std::chrono::day(1)};
  for (int i = 0; i < 1000; ++i) {
    const std::chrono::year_month_day next{sys_days(day) + std::chrono::days(1)};
    ASSERT_GT(ReverseDate(day).value(), ReverseDate(next).value());
    day = next;
  }
}

TEST(KeyPropertiesTest, ReversingADomainTwiceGivesLowerCase) {
  for (const std::string host : {"Maps.Google.COM", "a", "a.b:80/C.D", "x-y.z_1", "10.0.0.1:5"}) {
    std::string lower = host;
    const size_t name_bytes = std::min(host.find_first_of(":/"), host.size());
    std::transform(lower.begin(), lower.begin() + static_cast<ptrdiff_t>(name_bytes), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(tolower(c)); });
    EXPECT_EQ(ReverseDomain(ReverseDomain(host).value()).value(), lower);
  }
}

TEST(KeyPropertiesTest, EveryPartComesBackEscaped) {
  internal::Random random(4);
  for (int i = 0; i < kRounds; ++i) {
    const std::string a = AnyBytes(random);
    const std::string b = AnyBytes(random);
    const std::string_view parts[] = {a, b};
    const std::string delimiter("a\xff", 2);
    ASSERT_EQ(SplitEscaped(JoinEscaped(parts, delimiter).value(), delimiter).value(),
              (std::vector<std::string>{a, b}));
    const auto joined = Join(parts, delimiter);
    if (!joined.ok()) continue;
    ASSERT_EQ(Split(*joined, delimiter), std::vector<std::string_view>(parts, parts + 2));
  }
}

TEST(KeyPropertiesTest, SaltedRangesContainTheSaltedKeysOfTheRange) {
  const RowRange ranges[] = {RowRange::All(),
                             RowRange::Prefix("b"),
                             RowRange::Empty(),
                             RowRange::StartingAt("b"),
                             RowRange::EndingAt("b"),
                             RowRange::Open("a", "c"),
                             RowRange::Closed("b", "b"),
                             RowRange::LeftOpen("a", "b"),
                             RowRange::RightOpen("b", "c"),
                             RowRange::LeftOpen("b", "")};
  for (const RowRange& range : ranges) {
    const auto salted = SaltedRanges(range, 12).value();
    ASSERT_EQ(salted.size(), 12u);
    for (const std::string key : {"a", "b", "bb", "c", "\xff"}) {
      for (size_t bucket = 0; bucket < 12; ++bucket) {
        const std::string row_key = Pad(bucket, 2).value() + "#" + key;
        for (size_t other = 0; other < 12; ++other) {
          EXPECT_EQ(salted[other].Contains(row_key), other == bucket && range.Contains(key))
              << range.ToString() << " " << row_key << " " << salted[other].ToString();
        }
      }
    }
  }
}

TEST(KeyPropertiesTest, OnlyUtf8IsUtf8) {
  using internal::FirstNotUtf8;
  for (const std::string_view good : {"", "a\x7f", "\xc2\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                      "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(FirstNotUtf8(good), std::nullopt);
  for (const std::string_view bad :
       {"a\x80", "a\xc0\x80", "a\xc3", "a\xe0\x9f\xbf", "a\xed\xa0\x80", "a\xf0\x8f\xbf\xbf",
        "a\xf4\x90\x80\x80", "a\xf5\x80\x80\x80", "a\xe2\x82", "a\xe2\x28\xa1"})
    EXPECT_EQ(FirstNotUtf8(bad), 1u);
}

}  // namespace
}  // namespace stele::keys
