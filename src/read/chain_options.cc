#include "read/chain_options.h"

#include <algorithm>

namespace stele::internal {
namespace {

// Which versions a read can need of each family; empty: all. A rule that counts versions counts those newer than what is asked for, too;
// older ones change no rank that matters.
std::vector<TimestampSpan> SpansOf(const TableDefinition& definition, const TimestampSpan& asked, bool apply_gc, int64_t now) {
  std::vector<TimestampSpan> spans;
  for (size_t i = 0; i < definition.families.size(); ++i) {
    const Retention& retention = definition.retentions[i];
    TimestampSpan span = asked;
    if (apply_gc && retention.CountsVersions()) span.greatest = TimestampSpan().greatest;
    if (apply_gc) span.least = std::max(span.least, retention.OldestKept(now));
    if (span.IsAll()) continue;
    spans.resize(definition.families.size());
    spans[i] = span;
  }
  return spans;
}

}  // namespace

ChainOptions ReadChainOptions(const TableDefinition& definition, const FilterProgram& program, bool apply_gc, int64_t now) {
  ChainOptions options;
  const std::vector<bool>& wanted = program.wanted_families();
  if (std::find(wanted.begin(), wanted.end(), false) != wanted.end()) options.wanted_families = wanted;
  options.latest_only = program.latest_only();
  options.sole_column = program.sole_column();
  options.spans = SpansOf(definition, program.timestamps(), apply_gc, now);
  options.retention = RetentionPolicy{.now = now, .drop_tombstones = true};
  if (apply_gc) options.retention->rules = definition.retentions;
  return options;
}

}  // namespace stele::internal
