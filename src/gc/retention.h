// gc/retention.h: decides which cell versions a family's GC rule collects. No other code interprets
// GC rules (engine rules 8-10).
//
// garbage(ordinal, timestamp, now): ordinal is 1 for the newest version of a column that is not
// hidden. Older versions have higher ordinals and smaller timestamps. A higher ordinal or a smaller
// timestamp never makes a garbage version live, so every version below the first garbage version of
// a column is garbage, too.
//
// Source:    Bigtable garbage collection; an empty union or intersection collects nothing
//            (docs/guide/data-model.md).
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

  // MaxNumVersions(n): ordinal > n. MaxAge(a): timestamp < now - a (a version exactly a old stays).
  // Union: any child. Intersection: all children.
  bool IsGarbage(uint64_t ordinal, int64_t timestamp, int64_t now) const {
    switch (form_) {
      case Form::kKeep:
        return false;
      case Form::kEither:
        return ordinal > limits_.version_count || OlderThan(limits_.age_micros, timestamp, now);
      case Form::kBoth:
        return ordinal > limits_.version_count && OlderThan(limits_.age_micros, timestamp, now);
      case Form::kTree:
        return IsGarbageByTree(ordinal, timestamp, now);
    }
    return false;
  }
  // Returns a timestamp below which no version is kept, whatever its ordinal. This is a lower
  // bound. It is the least timestamp unless the rule is a maximum age or a union with one.
  int64_t OldestKept(int64_t now) const {
    int64_t oldest_kept;
    const bool is_known = form_ == Form::kEither && limits_.age_micros != kAnyAge;
    return is_known && !__builtin_sub_overflow(now, limits_.age_micros, &oldest_kept)
               ? oldest_kept
               : std::numeric_limits<int64_t>::min();
  }
  // True if the rule looks at ordinals. Then range deletes need GC fences (engine rule 8).
  bool CountsVersions() const { return counts_versions_; }
  bool KeepsEverything() const { return form_ == Form::kKeep; }
  // True if only the newest version of a column can be kept, whatever its age.
  bool KeepsOnlyNewest() const { return form_ == Form::kEither && limits_.version_count <= 1; }
  const GcRule& rule() const { return rule_; }

 private:
  // Nearly all rules are one limit, or two limits under one union or intersection. Those are
  // evaluated without walking the tree.
  enum class Form : uint8_t { kKeep, kEither, kBoth, kTree };
  static constexpr uint64_t kAnyOrdinal = std::numeric_limits<uint64_t>::max();
  static constexpr int64_t kAnyAge = std::numeric_limits<int64_t>::max();
  struct Limits {
    uint64_t version_count = kAnyOrdinal;
    int64_t age_micros = kAnyAge;
  };
  struct Flat {
    Form form = Form::kKeep;
    Limits limits;
  };

  // kAnyAge collects nothing, whatever `now` is. The difference saturates.
  static bool OlderThan(int64_t age_micros, int64_t timestamp, int64_t now) {
    int64_t oldest_kept;
    if (age_micros == kAnyAge || __builtin_sub_overflow(now, age_micros, &oldest_kept))
      return false;
    return timestamp < oldest_kept;
  }
  static Flat Flatten(const GcRuleNode& node);
  static Flat FlattenUnion(const GcRuleNode& node);
  static Flat FlattenIntersection(const GcRuleNode& node);
  bool IsGarbageByTree(uint64_t ordinal, int64_t timestamp, int64_t now) const;
  static bool NodeCollects(const GcRuleNode& node, uint64_t ordinal, int64_t timestamp,
                           int64_t now);

  GcRule rule_ = GcRule::None();
  Form form_ = Form::kKeep;
  bool counts_versions_ = false;
  Limits limits_;
};

}  // namespace stele::internal
