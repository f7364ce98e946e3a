// gc/retention.h: which cell versions a family's GC rule condemns. Pure; the only place that knows (engine rules 8-10).
//
// condemned(rank, timestamp, now): rank is 1 for the newest version of a column after hiding; older means higher rank and smaller
// timestamp, and both only make a version more condemned, so in a column everything below the first condemned version is condemned too.
//
// Source:    Bigtable garbage collection; an empty union or intersection condemns nothing (docs/data-model.md).
// Threads:   immutable.
#pragma once

#include <cstdint>
#include <memory>

#include "stele/gc_rule.h"

namespace stele::internal {

class Retention {
 public:
  Retention() = default;  // keeps everything
  explicit Retention(const GcRule& rule) : rule_(rule) {}

  // MaxNumVersions(n): rank > n. MaxAge(a): timestamp < now - a (a version exactly a old stays). Union: any child. Intersection: all.
  bool Condemned(uint64_t rank, int64_t timestamp, int64_t now) const;
  // Does the rule look at ranks at all? (Then ranged deletes are sealed: engine rule 8.)
  bool CountsVersions() const;
  bool KeepsEverything() const;
  const GcRule& rule() const { return rule_; }

 private:
  GcRule rule_ = GcRule::None();
};

}  // namespace stele::internal
