#include "compare/options.h"

#include <chrono>

#include "arguments.h"
#include "base/status.h"
#include "bench/random.h"
#include "stele/timestamp.h"

namespace stele::cli {
namespace {

constexpr int64_t kOperationsMax = 10'000'000;
constexpr int64_t kCompareThreadsMax = 256;
constexpr int64_t kRoundsMax = 1000;

absl::Status ParseCaches(std::string_view text, lab::CompareOptions* options) {
  constexpr std::string_view kNames[] = {"warm", "cold", "both"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text != kNames[i]) continue;
    options->caches = static_cast<lab::CompareCaches>(i);
    return absl::OkStatus();
  }
  return UsageError("--cache must be warm, cold or both");
}

}  // namespace

absl::StatusOr<CompareFlags> ParseCompareFlags(const Flags& flags) {
  STELE_ASSIGN_OR_RETURN(const Pace pace, ParsePace(flags.Get("rate", "max")));
  return ParseCompareFlags(flags, pace);
}

absl::StatusOr<CompareFlags> ParseCompareFlags(const Flags& flags, const Pace& pace) {
  CompareFlags parsed{.design_paths = flags.words(), .keep_directory = flags.Get("keep", "")};
  lab::CompareOptions& options = parsed.options;
  options.table = flags.Get("table", "");
  options.allows_duplicates = flags.has("allow-duplicates");
  options.trace_path = flags.Get("trace", "");
  options.rate = pace;
  if (options.rate.speed.has_value() && options.trace_path.empty())
    return UsageError("--rate needs --trace for recorded times; N/s needs none");
  STELE_RETURN_IF_ERROR(ParseCaches(flags.Get("cache", "warm"), &options));
  for (const char* const flag : {"operations", "distribution", "seed"}) {
    if (!options.trace_path.empty() && flags.has(flag))
      return UsageError(fmt::format("--{} draws operations, and --trace gives them", flag));
  }
  STELE_ASSIGN_OR_RETURN(options.inputs, ParseInputs(flags.All("input")));
  STELE_ASSIGN_OR_RETURN(options.operations,
                         NumberFlag(flags, "operations", 1, kOperationsMax, options.operations));
  STELE_ASSIGN_OR_RETURN(options.threads,
                         NumberFlag(flags, "threads", 1, kCompareThreadsMax, options.threads));
  STELE_ASSIGN_OR_RETURN(options.rounds,
                         NumberFlag(flags, "rounds", 1, kRoundsMax, options.rounds));
  STELE_ASSIGN_OR_RETURN(options.seed, NumberFlag(flags, "seed", 0, INT64_MAX, options.seed));
  STELE_ASSIGN_OR_RETURN(options.records_max, NumberFlag(flags, "limit", 1, INT64_MAX, 0));
  auto distribution = ParseDistribution(flags.Get("distribution", "uniform"));
  if (!distribution.ok()) return UsageError(internal::ToStd(distribution.status().message()));
  options.distribution = *distribution;
  const Timestamp now = Timestamp::From(std::chrono::system_clock::now());
  STELE_ASSIGN_OR_RETURN(const uint64_t micros, NumberFlag(flags, "time", 0, INT64_MAX,
                                                           static_cast<uint64_t>(now.micros())));
  options.time = Timestamp::FromMicros(static_cast<int64_t>(micros));
  return parsed;
}

}  // namespace stele::cli
