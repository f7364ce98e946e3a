#include "merge/version_counter.h"

namespace stele::internal {

void VersionCounter::StartFamily(uint32_t family) {
  family_ = family;
  qualifier_ = {};
  ordinal_ = 0;
  rule_ = nullptr;
  garbage_count_ = 0;
  if (family == kRowFamily || family > policy_.rules.size()) return;
  const Retention& rule = policy_.rules[family - 1];
  if (!rule.KeepsEverything()) rule_ = &rule;
  are_ordinals_known_ =
      family > policy_.unknown_ordinals.size() || !policy_.unknown_ordinals[family - 1];
}

}  // namespace stele::internal
