#include "gc/retention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/random.h"
#include "model/access.h"
#include "model/gc_rule_node.h"

namespace stele::internal {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Retention FromText(std::string_view text) {
  const auto rule = GcRule::Parse(text);
  EXPECT_TRUE(rule.ok()) << text << ": " << rule.status();
  return Retention(rule.ok() ? *rule : GcRule::None());
}

struct Verdict {
  const char* rule;
  uint64_t ordinal;
  int64_t timestamp;
  bool garbage;
};

// All at now = 100'000 microseconds.
const Verdict kVerdicts[] = {
    {"never", 1'000'000, 0, false},
    {"maxversions=2", 2, 0, false},
    {"maxversions=2", 3, 200'000, true},
    {"maxage=10ms", 1, 90'000, false},  // exactly at the age limit
    {"maxage=10ms", 1, 89'999, true},
    {"maxage=10ms", 1'000'000, 200'000, false},  // a version in the future never expires
    {"maxversions=2||maxage=10ms", 2, 90'000, false},
    {"maxversions=2||maxage=10ms", 3, 90'000, true},
    {"maxversions=2||maxage=10ms", 1, 89'999, true},
    {"maxversions=2&&maxage=10ms", 3, 90'000, false},
    {"maxversions=2&&maxage=10ms", 2, 0, false},
    {"maxversions=2&&maxage=10ms", 3, 89'999, true},
    // Of children of one kind, a union uses the stricter one and an intersection the milder one.
    {"maxversions=2||maxversions=5", 3, 100'000, true},
    {"maxversions=2&&maxversions=5", 5, 0, false},
    {"maxversions=2&&maxversions=5", 6, 100'000, true},
    {"maxage=10ms||maxage=50ms", 1, 80'000, true},
    {"maxage=10ms&&maxage=50ms", 1, 50'000, false},
    {"maxage=10ms&&maxage=50ms", 1, 49'999, true},
    // A rule that keeps everything adds nothing to a union and decides an intersection.
    {"never||maxversions=1", 2, 100'000, true},
    {"never&&maxversions=1", 2, 0, false},
    // Nested: at most 5 versions, and of those older than 10 ms only one.
    {"maxversions=5||(maxversions=1&&maxage=10ms)", 5, 95'000, false},
    {"maxversions=5||(maxversions=1&&maxage=10ms)", 2, 80'000, true},
    {"maxversions=5||(maxversions=1&&maxage=10ms)", 1, 0, false},
    {"maxversions=5||(maxversions=1&&maxage=10ms)", 6, 95'000, true},
    {"(maxversions=1||maxage=50ms)&&maxage=10ms", 2, 95'000, false},
    {"(maxversions=1||maxage=50ms)&&maxage=10ms", 1, 60'000, false},
    {"(maxversions=1||maxage=50ms)&&maxage=10ms", 2, 60'000, true},
    {"(maxversions=1||maxage=50ms)&&maxage=10ms", 1, 40'000, true},
};

TEST(RetentionTest, Verdicts) {
  for (const Verdict& verdict : kVerdicts) {
    EXPECT_EQ(FromText(verdict.rule).IsGarbage(verdict.ordinal, verdict.timestamp, 100'000),
              verdict.garbage)
        << verdict.rule << " ordinal " << verdict.ordinal << " timestamp " << verdict.timestamp;
  }
}

TEST(RetentionTest, AgesDoNotOverflow) {
  const Retention retention{GcRule::MaxAge(std::chrono::microseconds(kMost))};
  EXPECT_FALSE(retention.IsGarbage(1, 0, 100));
  EXPECT_FALSE(retention.IsGarbage(1, 0, kLeast));
  EXPECT_FALSE(retention.IsGarbage(1, kLeast, kLeast));
  const Retention day = FromText("maxage=1d");
  EXPECT_FALSE(day.IsGarbage(1, kLeast, kLeast));
  EXPECT_FALSE(day.IsGarbage(1, kMost, kMost));
  EXPECT_TRUE(day.IsGarbage(1, kLeast, 0));
  EXPECT_TRUE(day.IsGarbage(1, 0, kMost));
  const Retention both{GcRule::Intersection(GcRule::MaxNumVersions(1),
                                            GcRule::MaxAge(std::chrono::microseconds(kMost)))};
  EXPECT_FALSE(both.IsGarbage(2, 0, 100));
}

TEST(RetentionTest, EmptyCombinationsKeepEverything) {
  for (const GcRule& rule :
       {GcRule::Union(std::vector<GcRule>{}), GcRule::Intersection(std::vector<GcRule>{}),
        GcRule::None(), GcRule()}) {
    const Retention retention(rule);
    EXPECT_TRUE(retention.KeepsEverything());
    EXPECT_FALSE(retention.CountsVersions());
    EXPECT_FALSE(retention.IsGarbage(1'000'000, kLeast, kMost));
  }
}

TEST(RetentionTest, WhatARuleLooksAt) {
  EXPECT_TRUE(FromText("maxversions=3").CountsVersions());
  EXPECT_FALSE(FromText("maxage=1d").CountsVersions());
  EXPECT_TRUE(FromText("maxage=1d||maxversions=3").CountsVersions());
  EXPECT_TRUE(FromText("maxage=1d&&maxversions=3").CountsVersions());
  EXPECT_TRUE(FromText("maxage=1d||(maxage=2d&&maxversions=3)").CountsVersions());
  EXPECT_FALSE(FromText("maxage=1d&&maxage=2d").CountsVersions());
  EXPECT_FALSE(FromText("never&&maxversions=3").CountsVersions());
  EXPECT_TRUE(FromText("never&&maxversions=3").KeepsEverything());
  EXPECT_FALSE(FromText("never||maxversions=3").KeepsEverything());
  EXPECT_TRUE(FromText("maxversions=1").KeepsOnlyNewest());
  EXPECT_TRUE(FromText("maxage=1d||maxversions=1").KeepsOnlyNewest());
  EXPECT_FALSE(FromText("maxage=1d&&maxversions=1").KeepsOnlyNewest());
  EXPECT_FALSE(FromText("maxversions=2").KeepsOnlyNewest());
  EXPECT_FALSE(FromText("maxage=1d").KeepsOnlyNewest());
  EXPECT_FALSE(Retention().KeepsOnlyNewest());
}

GcRule RandomRule(Random& random, int depth) {
  const uint64_t choice = random.Below(depth > 0 ? 8 : 4);
  if (choice == 0) return GcRule::None();
  if (choice == 1) return GcRule::MaxNumVersions(1 + static_cast<int>(random.Below(6)));
  if (choice <= 3) return GcRule::MaxAge(std::chrono::microseconds(1 + random.Below(20)));
  std::vector<GcRule> children;
  for (uint64_t left = random.Below(4); left > 0; --left)
    children.push_back(RandomRule(random, depth - 1));
  return choice <= 5 ? GcRule::Union(std::move(children))
                     : GcRule::Intersection(std::move(children));
}

// The definition, implemented literally and without shortcuts.
bool IsGarbageByDefinition(const GcRule& rule, uint64_t ordinal, int64_t timestamp, int64_t now) {
  const GcRuleNode& node = Access::Node(rule);
  const auto collects = [&](const GcRule& child) {
    return IsGarbageByDefinition(child, ordinal, timestamp, now);
  };
  switch (node.kind) {
    case GcRuleNode::Kind::kNone:
      return false;
    case GcRuleNode::Kind::kMaxVersions:
      return ordinal > static_cast<uint64_t>(node.version_count);
    case GcRuleNode::Kind::kMaxAge:
      return timestamp < now - node.age_micros;
    case GcRuleNode::Kind::kUnion:
      return std::any_of(node.children.begin(), node.children.end(), collects);
    case GcRuleNode::Kind::kIntersection:
      return !node.children.empty() &&
             std::all_of(node.children.begin(), node.children.end(), collects);
  }
  return false;
}

// Engine rule 8: a version that becomes older or gets a higher ordinal, or a later time, never
// stops being garbage.
TEST(RetentionTest, RandomRulesFollowTheDefinitionAndAreMonotone) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const GcRule rule = RandomRule(random, 4);
    const Retention retention(rule);
    bool collects_any = false;
    for (int i = 0; i < 100; ++i) {
      const uint64_t ordinal = 1 + random.Below(8);
      const auto timestamp = static_cast<int64_t>(random.Below(30));
      const auto now = static_cast<int64_t>(random.Below(40));
      const bool garbage = retention.IsGarbage(ordinal, timestamp, now);
      collects_any |= garbage;
      ASSERT_EQ(garbage, IsGarbageByDefinition(rule, ordinal, timestamp, now)) << rule;
      if (!garbage) continue;
      const uint64_t ordinal_more = random.Below(3);
      const auto older_by = static_cast<int64_t>(random.Below(5));
      const auto later_by = static_cast<int64_t>(random.Below(5));
      ASSERT_TRUE(retention.IsGarbage(ordinal + ordinal_more, timestamp - older_by, now + later_by))
          << rule;
    }
    if (retention.KeepsEverything()) {
      ASSERT_FALSE(collects_any) << rule;
    }
  }
}

}  // namespace
}  // namespace stele::internal
