#include "stele/gc_rule.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/access.h"
#include "model/gc_rule_node.h"
#include "model/validate.h"

namespace stele {
namespace {

using namespace std::chrono_literals;
using internal::GcRuleNode;
using internal::Random;

TEST(GcRuleTest, BuildersFillTheNode) {
  EXPECT_EQ(internal::Access::Node(GcRule()).kind, GcRuleNode::Kind::kNone);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxNumVersions(3)).kind, GcRuleNode::Kind::kMaxVersions);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxNumVersions(3)).version_count, 3);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxAge(24h)).kind, GcRuleNode::Kind::kMaxAge);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxAge(24h)).age_micros, 86'400'000'000);
  const GcRule rule = GcRule::Union(
      GcRule::MaxAge(1s), GcRule::Intersection(GcRule::MaxNumVersions(2), GcRule::MaxAge(1h)));
  EXPECT_EQ(internal::Access::Node(rule).kind, GcRuleNode::Kind::kUnion);
  EXPECT_EQ(internal::Access::Node(rule).depth, 2);
  ASSERT_EQ(internal::Access::Node(rule).children.size(), 2u);
  EXPECT_EQ(internal::Access::Node(internal::Access::Node(rule).children[1]).kind,
            GcRuleNode::Kind::kIntersection);
}

TEST(GcRuleTest, OfNothingKeepsAllAndOfOneIsThatOne) {
  EXPECT_EQ(GcRule::Union(std::vector<GcRule>{}), GcRule::None());
  EXPECT_EQ(GcRule::Intersection(std::vector<GcRule>{}), GcRule::None());
  EXPECT_EQ(GcRule::Union(GcRule::MaxNumVersions(2)), GcRule::MaxNumVersions(2));
  EXPECT_EQ(GcRule::Intersection(GcRule::MaxNumVersions(2)), GcRule::MaxNumVersions(2));
}

TEST(GcRuleTest, EqualityIsOfTheExpression) {
  const GcRule a = GcRule::MaxNumVersions(1);
  const GcRule b = GcRule::MaxAge(1s);
  EXPECT_EQ(GcRule::Union(a, b), GcRule::Union(GcRule::MaxNumVersions(1), GcRule::MaxAge(1s)));
  EXPECT_NE(GcRule::Union(a, b), GcRule::Union(b, a));
  EXPECT_NE(GcRule::Union(a, b), GcRule::Intersection(a, b));
  EXPECT_NE(GcRule::MaxNumVersions(1), GcRule::MaxNumVersions(2));
  EXPECT_NE(GcRule::MaxAge(1s), GcRule::MaxAge(2s));
  EXPECT_NE(a, GcRule::None());
}

TEST(GcRuleParseTest, ReadsTheGrammarOfCbt) {
  const GcRule two = GcRule::MaxNumVersions(2);
  const GcRule days = GcRule::MaxAge(240h);
  const GcRule hour = GcRule::MaxAge(1h);
  struct Case {
    const char* text;
    GcRule rule;
  };
  const Case cases[] = {
      {"never", GcRule::None()},
      {" never ", GcRule::None()},
      {"maxversions=2", two},
      {"maxversions = 2", two},
      {"maxage=10d", days},
      {"maxage=240h", days},
      {"maxage=60m", hour},
      {"maxage=3600s", hour},
      {"maxage=3600000ms", hour},
      {"maxage=3600000000us", hour},
      {"maxage=3600000000999ns", hour},
      {"maxversions=2||maxage=10d", GcRule::Union(two, days)},
      {"maxversions=2 or maxage=10d", GcRule::Union(two, days)},
      {"maxversions=2&&maxage=10d", GcRule::Intersection(two, days)},
      {"maxversions=2 and maxage=10d", GcRule::Intersection(two, days)},
      {"(maxversions=2)", two},
      {"maxversions=2||maxage=10d||maxage=1h", GcRule::Union(two, days, hour)},
      {"maxage=10d || (maxage=1h && maxversions=2)",
       GcRule::Union(days, GcRule::Intersection(hour, two))},
      // As in cbt, the operators have equal precedence and associate to the left.
      {"maxage=10d || maxage=1h && maxversions=2",
       GcRule::Intersection(GcRule::Union(days, hour), two)},
      {"maxage=10d && maxage=1h || maxversions=2",
       GcRule::Union(GcRule::Intersection(days, hour), two)},
      {"(maxversions=2||maxage=10d)||maxage=1h", GcRule::Union(GcRule::Union(two, days), hour)},
      {"(never)||maxage=1h", GcRule::Union(GcRule::None(), hour)},
      {"maxversions=2147483647", GcRule::MaxNumVersions(2147483647)},
  };
  for (const Case& c : cases) {
    const absl::StatusOr<GcRule> rule = GcRule::Parse(c.text);
    ASSERT_TRUE(rule.ok()) << c.text << ": " << rule.status();
    EXPECT_EQ(*rule, c.rule) << c.text;
  }
}

TEST(GcRuleParseTest, RefusesWhatIsWrong) {
  const char* const texts[] = {
      "",
      " ",
      "maxversions",
      "maxversions=",
      "maxversions=0",
      "maxversions=-1",
      "maxversions=x",
      "maxversions=2147483648",
      "maxversions=2d",
      "maxage=10",
      "maxage=10y",
      "maxage=0d",
      "maxage=-1d",
      "maxage=999us",
      "maxage=999999ns",
      "maxage=d",
      "maxage=9223372036854775807d",
      "maxage=99999999999999999999s",
      "maxversion=1",
      "maxversions=1||",
      "||maxversions=1",
      "maxversions=1 maxage=1d",
      "maxversions=1|maxage=1d",
      "(maxversions=1",
      "maxversions=1)",
      "()",
      "never never",
      "maxversions=1 && && maxage=1d",
      "nevermore",
  };
  for (const char* text : texts) {
    const absl::StatusOr<GcRule> rule = GcRule::Parse(text);
    EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument)
        << text << " -> " << (rule.ok() ? rule->ToString() : "");
  }
}

TEST(GcRuleParseTest, AnErrorIsAtTheWrongWord) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"nevr", "at position 0 (\"nevr\"): expected maxversions=COUNT"},
           {"never || nevr", "at position 9 (\"nevr\"): expected maxversions=COUNT"},
           {"maxage=10y", "at position 9 (\"y\"): an age needs a unit"},
           {"maxage=10", "at position 9 (the end): an age needs a unit"}})
    EXPECT_NE(GcRule::Parse(text).status().ToString().find(expected), std::string::npos)
        << GcRule::Parse(text).status();
}

TEST(GcRuleParseTest, EndsAtADepthInsteadOfTheStack) {
  const std::string deep = std::string(100'000, '(') + "never" + std::string(100'000, ')');
  EXPECT_EQ(GcRule::Parse(deep).status().code(), absl::StatusCode::kInvalidArgument);
  std::string alternating = "maxversions=1";
  for (int i = 0; i < 10'000; ++i)
    alternating += i % 2 == 0 ? "||maxversions=1" : "&&maxversions=1";
  EXPECT_EQ(GcRule::Parse(alternating).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(GcRuleToStringTest, PicksTheGreatestUnitAndParenthesisesOnlyInside) {
  EXPECT_EQ(GcRule::None().ToString(), "never");
  EXPECT_EQ(GcRule::MaxAge(48h).ToString(), "maxage=2d");
  EXPECT_EQ(GcRule::MaxAge(25h).ToString(), "maxage=25h");
  EXPECT_EQ(GcRule::MaxAge(90min).ToString(), "maxage=90m");
  EXPECT_EQ(GcRule::MaxAge(1500ms).ToString(), "maxage=1500ms");
  EXPECT_EQ(GcRule::MaxAge(1001us).ToString(), "maxage=1001us");
  EXPECT_EQ(GcRule::Union(GcRule::MaxNumVersions(2), GcRule::MaxAge(240h)).ToString(),
            "maxversions=2||maxage=10d");
  EXPECT_EQ(GcRule::Union(GcRule::MaxAge(1h),
                          GcRule::Intersection(GcRule::MaxNumVersions(2), GcRule::MaxAge(1s)))
                .ToString(),
            "maxage=1h||(maxversions=2&&maxage=1s)");
}

GcRule RandomRule(Random& random, int depth_left) {
  switch (random.Below(depth_left > 0 ? 5 : 3)) {
    case 0:
      return GcRule::None();
    case 1:
      return GcRule::MaxNumVersions(
          static_cast<int>(1 + random.Below(random.OneIn(4) ? 2147483647 : 5)));
    case 2: {
      const int64_t units[] = {1, 1'000, 1'000'000, 60'000'000, 3'600'000'000, 86'400'000'000};
      return GcRule::MaxAge(std::chrono::microseconds(
          1'000 + static_cast<int64_t>(random.Below(100'000)) * units[random.Below(6)]));
    }
    default: {
      std::vector<GcRule> children;
      for (uint64_t i = random.Below(4); i > 0; --i)
        children.push_back(RandomRule(random, depth_left - 1));
      return random.OneIn(2) ? GcRule::Union(children) : GcRule::Intersection(children);
    }
  }
}

TEST(GcRuleToStringTest, EveryValidRuleParsesBack) {
  Random random(20);
  int valid_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    const GcRule rule = RandomRule(random, 5);
    if (!internal::ValidateGcRule(rule).ok()) continue;
    ++valid_count;
    const absl::StatusOr<GcRule> back = GcRule::Parse(rule.ToString());
    ASSERT_TRUE(back.ok()) << rule << ": " << back.status();
    ASSERT_EQ(*back, rule);
  }
  EXPECT_GT(valid_count, 15'000);
}

// The sizes of the equivalent protocol buffer, counted by hand.
TEST(GcRuleLimitTest, MeasuresTheMessage) {
  EXPECT_EQ(internal::Access::Node(GcRule::None()).wire_bytes, 0u);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxNumVersions(1)).wire_bytes, 2u);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxNumVersions(128)).wire_bytes, 3u);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxNumVersions(-1)).wire_bytes, 11u);
  EXPECT_EQ(internal::Access::Node(GcRule::MaxAge(1s)).wire_bytes, 4u);  // tag, length, tag, 1
  EXPECT_EQ(internal::Access::Node(GcRule::MaxAge(1s + 1ms)).wire_bytes,
            8u);  // ... and tag, 1000000 in three bytes
  EXPECT_EQ(
      internal::Access::Node(GcRule::Union(GcRule::MaxNumVersions(1), GcRule::MaxNumVersions(1)))
          .wire_bytes,
      2u + 2 * (2u + 2u));
}

TEST(GcRuleLimitTest, CountsAndAges) {
  EXPECT_TRUE(internal::ValidateGcRule(GcRule::MaxNumVersions(1)).ok());
  EXPECT_TRUE(internal::ValidateGcRule(GcRule::MaxAge(1ms)).ok());
  for (const GcRule& rule :
       {GcRule::MaxNumVersions(0), GcRule::MaxNumVersions(-1), GcRule::MaxAge(999us),
        GcRule::MaxAge(-1h), GcRule::MaxAge(std::chrono::microseconds::min())}) {
    EXPECT_EQ(internal::ValidateGcRule(rule).code(), absl::StatusCode::kInvalidArgument) << rule;
    EXPECT_EQ(internal::ValidateGcRule(GcRule::Union(GcRule::MaxAge(1h), rule)).code(),
              absl::StatusCode::kInvalidArgument)
        << rule;
  }
}

TEST(GcRuleLimitTest, DepthAndSize) {
  GcRule deep = GcRule::MaxNumVersions(1);
  for (int i = 0; i < internal::kGcRuleDepthMax; ++i) deep = GcRule::Union(deep, GcRule::None());
  EXPECT_TRUE(internal::ValidateGcRule(deep).ok()) << internal::ValidateGcRule(deep);
  deep = GcRule::Union(deep, GcRule::None());
  EXPECT_EQ(internal::ValidateGcRule(deep).code(), absl::StatusCode::kInvalidArgument);

  // 124 children of 4 bytes, and 3 bytes for the union: 499 bytes.
  std::vector<GcRule> many(124, GcRule::MaxNumVersions(1));
  EXPECT_EQ(internal::Access::Node(GcRule::Union(many)).wire_bytes, 499u);
  EXPECT_TRUE(internal::ValidateGcRule(GcRule::Union(many)).ok());
  many.push_back(GcRule::MaxNumVersions(1));
  EXPECT_EQ(internal::ValidateGcRule(GcRule::Union(many)).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(GcRuleLimitTest, AMonstrousRuleIsRefusedAndHarmless) {
  GcRule chained = GcRule::MaxNumVersions(1);
  GcRule doubled = GcRule::MaxNumVersions(1);
  for (int i = 0; i < 200'000; ++i) chained = GcRule::Union(GcRule::None(), chained);
  for (int i = 0; i < 200; ++i) doubled = GcRule::Intersection(doubled, doubled);
  EXPECT_EQ(internal::ValidateGcRule(chained).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(internal::ValidateGcRule(doubled).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_LT(doubled.ToString().size(), 100'000u);
}

}  // namespace
}  // namespace stele
