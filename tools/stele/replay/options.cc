#include "replay/options.h"

#include "arguments.h"
#include "base/status.h"
#include "replay/pace.h"

namespace stele::cli {
namespace {

constexpr int64_t kReplayThreadsMax = 256;

// A number of operations, or a time.
absl::Status ParseWarmup(const std::string& text, lab::ReplayOptions* options) {
  if (!text.empty() && text.find_first_not_of("0123456789") == text.npos) {
    STELE_ASSIGN_OR_RETURN(const int64_t operations, ParseNumber("--warmup", text));
    options->warmup_operations = static_cast<uint64_t>(operations);
    return absl::OkStatus();
  }
  STELE_ASSIGN_OR_RETURN(options->warmup, ParseDuration("--warmup", text));
  return absl::OkStatus();
}

// OLD=NEW,...
absl::Status ParseTables(const std::string& text, lab::ReplayOptions* options) {
  for (const std::string& pair : Split(text, ',')) {
    const size_t equals = pair.find('=');
    if (equals == pair.npos || equals == 0 || equals + 1 == pair.size())
      return UsageError("--map must be OLD=NEW, or several of them with commas between");
    if (!options->tables.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
      return UsageError(fmt::format("--map names the table {} twice", pair.substr(0, equals)));
  }
  return absl::OkStatus();
}

absl::Status ParseWrites(std::string_view text, lab::ReplayOptions* options) {
  constexpr std::string_view kNames[] = {"apply", "skip", "apply-drops"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text != kNames[i]) continue;
    options->writes = static_cast<lab::ReplayWrites>(i);
    return absl::OkStatus();
  }
  return UsageError("--writes must be apply, skip or apply-drops");
}

}  // namespace

absl::StatusOr<ReplayFlags> ParseReplayFlags(const Flags& flags) {
  ReplayFlags parsed{.trace_path = flags.words()[0],
                     .design_path = flags.Get("design", ""),
                     .hgrm_path = flags.Get("hgrm", ""),
                     .hlog_path = flags.Get("hlog", "")};
  lab::ReplayOptions& options = parsed.options;
  options.design_table = flags.Get("table", "");
  options.skips_bad = flags.has("skip-bad");
  options.keeps_intervals = !parsed.hlog_path.empty();
  if (parsed.design_path.empty() && !options.design_table.empty())
    return UsageError("--table is the table of --design; --map OLD=NEW is for recorded traces");
  if (!parsed.design_path.empty() && options.skips_bad)
    return UsageError("--skip-bad is for recorded traces: a logical trace is read as a whole");
  STELE_ASSIGN_OR_RETURN(options.rate, ParsePace(flags.Get("rate", "recorded")));
  if (const auto text = flags.Find("warmup")) STELE_RETURN_IF_ERROR(ParseWarmup(*text, &options));
  if (const auto text = flags.Find("map")) STELE_RETURN_IF_ERROR(ParseTables(*text, &options));
  STELE_RETURN_IF_ERROR(ParseWrites(flags.Get("writes", "apply"), &options));
  STELE_ASSIGN_OR_RETURN(options.threads,
                         NumberFlag(flags, "threads", 1, kReplayThreadsMax, options.threads));
  STELE_ASSIGN_OR_RETURN(options.seed, NumberFlag(flags, "seed", 0, INT64_MAX, options.seed));
  STELE_ASSIGN_OR_RETURN(options.operations_max, NumberFlag(flags, "limit", 1, INT64_MAX, 0));
  return parsed;
}

}  // namespace stele::cli
