// rules/key_spread_rules.cc: the rules about how the values of segments are distributed.
#include <cmath>

#include "base/status.h"
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

constexpr double kMostHosts = 0.8;
constexpr double kWithLetter = 0.8;
constexpr double kBase64Entropy = 5.0;
constexpr uint64_t kDistinctHashes = 20;

void CheckHashed(const RuleContext& context) {
  const FirstSegment& first = context.facts().row_keys().first();
  if (first.distinct() < kDistinctHashes) return;
  struct Form {
    const FirstSegment::Hashes& hashes;
    double entropy_min;
    double letters_min;
    double alphabet;
  };
  for (const Form& form : {Form{first.hex(), context.Parameter("entropy"), kWithLetter, 16},
                           Form{first.base64(), kBase64Entropy, 0, 64}}) {
    const double share = Ratio(form.hashes.rows, first.rows());
    if (share < kMostRows) continue;
    const double entropy = form.hashes.Entropy();
    const double prefix_max =
        std::log(static_cast<double>(first.distinct())) / std::log(form.alphabet) + 1;
    if (entropy < form.entropy_min || first.MeanCommonPrefix() > prefix_max ||
        Ratio(form.hashes.rows_with_letter, form.hashes.rows) < form.letters_min)
      continue;
    LintFinding& finding = context.Report(
        entropy, form.entropy_min,
        fmt::format("first segment: looks like a hash in {} of the keys ({} bits per character)",
                    Percent(share), RoundedNumber(entropy)),
        "Ranges of hashed keys have no meaning. Use the value itself, or a short hash as a bucket "
        "before it");
    finding.count = form.hashes.rows;
    context.SetSamples(context.facts().row_keys().first_keys(), &finding);
    return;
  }
}

void CheckCardinality(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  for (size_t i = 0; i + 1 < kSegmentsMax; ++i) {
    const PositionFacts& position = keys.positions()[i];
    const PositionFacts& next = keys.positions()[i + 1];
    if (Ratio(next.rows, keys.rows()) < kMostRows) return;
    if (Ratio(position.times, position.rows) >= kMostRows) continue;
    const double ratio = Ratio(position.distinct.Count(), next.distinct.Count());
    if (ratio <= context.Parameter("ratio")) continue;
    LintFinding& finding =
        context.Report(ratio, context.Parameter("ratio"),
                       fmt::format("segment {} has {} values, segment {} only {}", i + 1,
                                   WithCommas(position.distinct.Count()), i + 2,
                                   WithCommas(next.distinct.Count())),
                       "If queries ask for ranges of the second one, put it first");
    context.SetSamples(keys.first_keys(), &finding);
    return;
  }
}

void CheckTenant(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  const FirstSegment& first = keys.first();
  const double share = Ratio(first.largest_rows(), first.rows());
  if (Ratio(keys.rows_with_parts(), keys.rows()) < kMostRows || first.distinct() < 2 ||
      share <= context.Parameter("share"))
    return;
  LintFinding& finding =
      context.Report(share, context.Parameter("share"),
                     fmt::format("first segment: {} is in {} of the keys",
                                 InQuotes(context.ShownKey(first.largest())), Percent(share)),
                     "One value has most of the rows. Consider a separate table for it");
  finding.count = first.largest_rows();
  context.SetSamples({first.largest()}, &finding);
}

void CheckSaltFanOut(const RuleContext& context) {
  const KeyFacts& keys = context.facts().row_keys();
  const FirstSegment::Buckets buckets = keys.first().buckets();
  if (keys.rows_with_parts() == 0 || buckets.count < 2 || buckets.count > 256 ||
      buckets.rows < 20 * buckets.count ||
      Ratio(buckets.largest * buckets.count, buckets.rows) > 1.5)
    return;
  LintFinding& finding = context.Report(
      static_cast<double>(buckets.count), 2,
      fmt::format("first segment: {} buckets with a similar number of rows", buckets.count),
      fmt::format("Each range is now {} scans. Fewer buckets, or none, make scans cheaper",
                  buckets.count));
  context.SetSamples(keys.first_keys(), &finding);
}

void CheckDomain(const RuleContext& context) {
  const FirstSegment& first = context.facts().row_keys().first();
  const double share = Ratio(first.hosts().rows, first.rows());
  if (share < context.Parameter("share") || first.reversed_hosts().rows >= first.hosts().rows)
    return;
  LintFinding& finding = context.Report(
      share, context.Parameter("share"),
      fmt::format("first segment: a host name in {} of the keys", Percent(share)),
      "Reverse the labels, so that hosts of one domain are neighbours: stele key rev-domain HOST");
  finding.count = first.hosts().rows;
  context.SetSamples(context.facts().row_keys().first_keys(), &finding);
}

void CheckFewDomains(const RuleContext& context) {
  const FirstSegment& first = context.facts().row_keys().first();
  if (Ratio(first.either_hosts(), first.rows()) < kMostHosts) return;
  const bool is_reversed = first.reversed_hosts().rows > first.hosts().rows;
  const FirstSegment::Hosts& hosts = is_reversed ? first.reversed_hosts() : first.hosts();
  const FrequentItems::Item largest = hosts.domains.Largest();
  const auto distinct = static_cast<double>(hosts.domains.distinct());
  const double share = Ratio(largest.count, first.rows());
  const bool has_few = distinct < context.Parameter("count");
  if (!has_few && share <= context.Parameter("share")) return;
  LintFinding& finding =
      context.Report(has_few ? distinct : share, context.Parameter(has_few ? "count" : "share"),
                     has_few ? fmt::format("first segment: host names of only {}",
                                           Counted(hosts.domains.distinct(), "domain"))
                             : fmt::format("first segment: {} of the keys are hosts of {}",
                                           Percent(share), InQuotes(largest.text)),
                     "Begin the key with another part: the rows of a domain are all neighbours");
  finding.count = has_few ? hosts.rows : largest.count;
  context.SetSamples(context.facts().row_keys().first_keys(), &finding);
}

constexpr LintRule::Parameter kHashed[] = {{"entropy", 3.8, "bits per hexadecimal character"}};
constexpr LintRule::Parameter kCardinality[] = {
    {"ratio", 10, "different values, divided by those of the next segment"}};
constexpr LintRule::Parameter kTenant[] = {{"share", 0.5, "the share of the largest value"}};
constexpr LintRule::Parameter kDomain[] = {{"share", 0.8, "the share of host names"}};
constexpr LintRule::Parameter kFewDomains[] = {{"count", 10, "fewer domains are reported"},
                                               {"share", 0.5, "the share of the largest domain"}};

constexpr RuleSpec kKeySpreadRules[] = {
    {{.id = "KEY-HASHED",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kHashed,
      .summary = "Keys begin with a hash.",
      .explanation = "Neighbouring rows then have nothing in common: no range can be read,\n"
                     "and the cache keeps blocks for one row each. At least 95 % of the first\n"
                     "segments have 8 or more hexadecimal digits, 80 % of them with a letter, or\n"
                     "are UUIDs; or they have 16 or more characters of base64. They are as random\n"
                     "as hashes: the entropy is at least that of the parameter, or 5 bits per\n"
                     "character for base64. At least 20 of them are different, and neighbours\n"
                     "have no long prefix in common.",
      .before = "5d41402abc4b2a76#20230214\n",
      .after = "user7#20230214\n",
      .on_bigtable = "the same; Key Visualizer shows noise instead of ranges."},
     CheckHashed},
    {{.id = "KEY-CARDINALITY",
      .severity = LintSeverity::kInfo,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kCardinality,
      .summary = "A segment with many values comes before one with few.",
      .explanation = "A range can only be read if the segments before it are known. Segments\n"
                     "that are times are not compared, nor are those that less than 95 % of the\n"
                     "keys have. With a trace, the rule does not report a table of which\n"
                     "KEY-MONOTONE or LOAD-SKEW reports the load.",
      .before = "user4711#DE, user4712#FR\n",
      .after = "DE#user4711, FR#user4712\n",
      .on_bigtable = "the same. Few first values can make a hot tablet, so check the load."},
     CheckCardinality},
    {{.id = "KEY-TENANT",
      .severity = LintSeverity::kInfo,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kTenant,
      .summary = "One first value has most of the rows.",
      .explanation =
          "The rows of this value are next to each other, so most of the load is on one\n"
          "part of the table. At least 95 % of the keys have two or more segments, and\n"
          "the first one has two or more values.",
      .before = "bigcorp#... 9,000,000 rows, smallshop#... 5,000 rows\n",
      .after = "two tables: bigcorp, others\n",
      .on_bigtable = "the same; a separate table can have its own app profile and quota."},
     CheckTenant},
    {{.id = "KEY-SALT-FANOUT",
      .severity = LintSeverity::kInfo,
      .needs_rows = true,
      .needs_min_rows = true,
      .summary = "Keys begin with a bucket.",
      .explanation = "A scan of a range must read each bucket. The rule looks for first\n"
                     "segments of one to three digits, all of one width, that are 0 to n-1 or 1\n"
                     "to n. n is 2 to 256. A bucket has at least 20 rows on average, and the\n"
                     "largest one has at most 1.5 times the average.",
      .before = "7#user4711            10 scans per range\n",
      .after = "user4711              1 scan per range\n",
      .on_bigtable = "buckets are useful there if writes are sequential. Choose a few per node."},
     CheckSaltFanOut},
    {{.id = "KEY-DOMAIN",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kDomain,
      .summary = "Keys begin with host names as they are written.",
      .explanation = "With reversed labels, all hosts of a domain are one range. The rule\n"
                     "compares the last and the first label with the top-level domains of the\n"
                     "public suffix list.",
      .before = "maps.example.com, www.example.com\n",
      .after = "com.example.maps, com.example.www\n",
      .on_bigtable = "the same."},
     CheckDomain},
    {{.id = "KEY-FEW-DOMAINS",
      .severity = LintSeverity::kWarning,
      .needs_rows = true,
      .needs_min_rows = true,
      .parameters = kFewDomains,
      .summary = "Keys begin with host names of few domains.",
      .explanation = "Rows of one domain are neighbours, so few domains mean few busy ranges.\n"
                     "At least 80 % of the first segments are host names, as written or with\n"
                     "reversed labels. The rule counts registrable domains by the public suffix\n"
                     "list.",
      .before = "com.example.a1, com.example.a2, com.example.a3\n",
      .after = "a1#com.example, a2#com.example, a3#com.example\n",
      .on_bigtable = "the same."},
     CheckFewDomains},
};

}  // namespace

std::span<const RuleSpec> KeySpreadRules() { return kKeySpreadRules; }

}  // namespace stele::internal::lab
