// gc/retention.h: which cell versions a family's GC rule condemns. Pure; the only place that knows (engine rules 8-10).
//
// condemned(rank, timestamp, now): rank is 1 for the newest version of a column after hiding; older means higher rank and smaller
// timestamp, and both only make a version more condemned, so in a column everything below the first condemned version is condemned too.
//
// Source:    Bigtable garbage collection; an empty union or intersection condemns nothing (docs/data-model.md).
// Threads:   immutable.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "stele/gc_rule.h"

namespace stele::internal {

class Retention {
 public:
  Retention() = default;  // keeps everything
  explicit Retention(const GcRule& rule);

  // MaxNumVersions(n): rank > n. MaxAge(a): timestamp < now - a (a version exactly a old stays). Union: any child. Intersection: all.
  bool Condemned(uint64_t rank, int64_t timestamp, int64_t now) const {
    switch (form_) {
      case Form::kKeep:
        return false;
      case Form::kEither:
        return rank > limits_.version_count || OlderThan(limits_.age_micros, timestamp, now);
      case Form::kBoth:
        return rank > limits_.version_count && OlderThan(limits_.age_micros, timestamp, now);
      case Form::kTree:
        return CondemnedByTree(rank, timestamp, now);
    }
    return false;
  }
  // No version before it is kept, whatever its rank. A lower bound: nested rules say nothing.
  int64_t OldestKept(int64_t now) const {
    int64_t oldest_kept;
    const bool is_known = form_ == Form::kEither && limits_.age_micros != kAnyAge;
    return is_known && !__builtin_sub_overflow(now, limits_.age_micros, &oldest_kept) ? oldest_kept : std::numeric_limits<int64_t>::min();
  }
  // Does the rule look at ranks at all? (Then ranged deletes are sealed: engine rule 8.)
  bool CountsVersions() const { return counts_versions_; }
  bool KeepsEverything() const { return form_ == Form::kKeep; }
  const GcRule& rule() const { return rule_; }

 private:
  // Nearly all rules in use are one limit, or two under one union or intersection; those are judged without a walk.
  enum class Form : uint8_t { kKeep, kEither, kBoth, kTree };
  static constexpr uint64_t kAnyRank = std::numeric_limits<uint64_t>::max();
  static constexpr int64_t kAnyAge = std::numeric_limits<int64_t>::max();
  struct Limits {
    uint64_t version_count = kAnyRank;
    int64_t age_micros = kAnyAge;
  };
  struct Flat {
    Form form = Form::kKeep;
    Limits limits;
  };

  // kAnyAge condemns nothing, whatever `now` is; the difference saturates.
  static bool OlderThan(int64_t age_micros, int64_t timestamp, int64_t now) {
    int64_t oldest_kept;
    if (age_micros == kAnyAge || __builtin_sub_overflow(now, age_micros, &oldest_kept)) return false;
    return timestamp < oldest_kept;
  }
  static Flat Flatten(const GcRuleNode& node);
  static Flat FlattenUnion(const GcRuleNode& node);
  static Flat FlattenIntersection(const GcRuleNode& node);
  bool CondemnedByTree(uint64_t rank, int64_t timestamp, int64_t now) const;
  static bool NodeCondemns(const GcRuleNode& node, uint64_t rank, int64_t timestamp, int64_t now);

  GcRule rule_ = GcRule::None();
  Form form_ = Form::kKeep;
  bool counts_versions_ = false;
  Limits limits_;
};

}  // namespace stele::internal
