#include "bench/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "arguments.h"
#include "base/status.h"
#include "flags.h"
#include "session.h"

namespace stele::cli {
namespace {

constexpr uint64_t kRowsMax = 1'000'000'000;
constexpr uint64_t kThreadsMax = 1024;
constexpr uint64_t kBenchOperationsMax = 1'000'000'000'000'000;

// Checks a flag before its number is read: the message of the parser does not say what is expected.
CLI::Validator PlainNumber() {
  return {[](const std::string& text) -> std::string {
            if (!text.empty() && text.find_first_not_of("0123456789") == text.npos) return "";
            return fmt::format("must be a plain number, for example 10000, not \"{}\"",
                               internal::Printable(text));
          },
          "", "plain number"};
}

// Rejects "nan", which CLI::Range accepts: no comparison with it is true.
CLI::Validator NotNan() {
  return {[](const std::string& text) -> std::string {
            return text.find_first_of("nN") == text.npos ? "" : "must be a number";
          },
          "", "number"};
}

// The texts of the flags.
struct Texts {
  std::string workloads;
  std::string distribution = "uniform";
  std::string key_format = "user";
  std::string load = "auto";
  std::string duration = "30s";
  std::string warmup;
  std::string rate;
  std::string queries;
  std::vector<std::string> inputs;
  double theta = 0.99;
  uint64_t operation_count = 0;
  uint64_t dry_run = 0;
};

void AddFlags(CLI::App* app, BenchOptions* options, Texts* texts) {
  OperationOptions& operations = options->operations;
  app->add_option("workloads", texts->workloads);
  app->add_option("--design", options->design_path);
  app->add_option("--query", texts->queries);
  app->add_option("--input", texts->inputs)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--rows", operations.rows)
      ->check(PlainNumber())
      ->check(CLI::Range(uint64_t{1}, kRowsMax));
  app->add_option("--fields", operations.fields)
      ->check(PlainNumber())
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000}));
  app->add_option("--value-bytes", options->value_bytes)
      ->check(PlainNumber())
      ->check(CLI::Range(uint64_t{1}, uint64_t{100} << 20));
  app->add_option("--versions", options->versions)
      ->check(PlainNumber())
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000}));
  app->add_option("--key-format", texts->key_format);
  app->add_option("--distribution", texts->distribution);
  app->add_option("--theta", texts->theta)->check(NotNan())->check(CLI::Range(0.001, 0.999));
  app->add_option("--scan-rows", operations.scan_rows)
      ->check(PlainNumber())
      ->check(CLI::Range(uint64_t{1}, kRowsMax));
  app->add_option("--selectivity", operations.selectivity)
      ->check(NotNan())
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--threads", operations.threads)
      ->check(PlainNumber())
      ->check(CLI::Range(uint64_t{1}, kThreadsMax));
  app->add_option("--seed", operations.seed)->check(PlainNumber());
  app->add_option("--table", options->table);
  app->add_option("--load", texts->load)->check(CLI::IsMember({"auto", "only", "never"}));
  app->add_flag("--keep", options->keeps_table);
  app->add_option("--dry-run", texts->dry_run)->check(PlainNumber());
  auto* const duration = app->add_option("--duration", texts->duration);
  app->add_option("--operations", texts->operation_count)
      ->check(PlainNumber())
      ->check(CLI::Range(uint64_t{1}, kBenchOperationsMax))
      ->excludes(duration);
  app->add_option("--warmup", texts->warmup);
  app->add_option("--rate", texts->rate);
  app->add_option("--format", options->format);
  app->add_option("-o", options->output);
  app->add_option("--hgrm", options->hgrm_path);
  app->add_option("--hlog", options->hlog_path);
}

absl::Status ParseWorkloads(const std::string& text, BenchOptions* options) {
  const auto add = [options](std::string_view name) -> absl::Status {
    const auto found = std::find_if(Workloads().begin(), Workloads().end(),
                                    [name](const Workload& one) { return one.name == name; });
    if (found == Workloads().end()) {
      std::string known;
      for (const Workload& one : Workloads()) known.append(one.name).append(", ");
      return UsageError(
          fmt::format("bench: unknown workload \"{}\"; known are {}all", name, known));
    }
    if (found->name == "prefix" && !options->keys.HasPrefixes(options->operations.rows)) {
      return UsageError(
          "bench: the workload prefix needs keys that end in at least three digits: use "
          "--key-format user, or a format that ends in %0Nd");
    }
    options->workloads.push_back(&*found);
    return absl::OkStatus();
  };
  for (const std::string& name : Split(text, ',')) {
    if (name != "all") {
      STELE_RETURN_IF_ERROR(add(name));
      continue;
    }
    for (const std::string_view one : AllWorkloads()) {
      // "all" omits workloads that the key format does not support.
      if (one == "prefix" && !options->keys.HasPrefixes(options->operations.rows)) {
        options->notes.push_back(
            fmt::format("bench: all leaves out prefix: keys of --key-format {} have no prefixes of "
                        "100 rows",
                        internal::Printable(options->keys.text())));
      } else {
        STELE_RETURN_IF_ERROR(add(one));
      }
    }
  }
  return absl::OkStatus();
}

// Checks the flags of --design, and those that do not go with it.
absl::Status ParseDesignFlags(const CLI::App& app, const Texts& texts, BenchOptions* options) {
  if (app.count("--design") == 0) {
    for (const char* const flag : {"--query", "--input"}) {
      if (app.count(flag) > 0) return UsageError(fmt::format("bench: {} needs --design", flag));
    }
    if (!texts.workloads.empty()) return absl::OkStatus();
    return UsageError("bench: name a workload, or give --design and --query");
  }
  if (app.count("workloads") > 0)
    return UsageError("bench: give workloads, or --design and --query, but not both");
  for (const char* const flag :
       {"--rows", "--fields", "--value-bytes", "--versions", "--key-format", "--scan-rows",
        "--selectivity", "--load", "--keep"}) {
    if (app.count(flag) == 0) continue;
    return UsageError(fmt::format(
        "bench: {} describes a table of bench, and --design reads the design's own", flag));
  }
  options->queries = Split(texts.queries, ',');
  if (options->queries.empty() || std::count(options->queries.begin(), options->queries.end(), ""))
    return UsageError("bench: --design needs --query QUERY[,QUERY...]");
  if (app.count("--table") > 0) options->query_table = options->table;
  STELE_ASSIGN_OR_RETURN(options->inputs, ParseInputs(texts.inputs));
  return absl::OkStatus();
}

// Parses "1000/s".
absl::StatusOr<double> ParseRate(std::string_view text) {
  if (const auto rate = PositiveBefore(text, "/s")) return *rate;
  return UsageError(
      fmt::format("bench: --rate must be operations per second such as 500/s, not \"{}\"",
                  internal::Printable(text)));
}

// The workloads of YCSB have distributions of their own.
absl::Status CheckDistribution(const BenchOptions& options) {
  for (const Workload* const workload : options.workloads) {
    if (!workload->distribution.has_value() ||
        *workload->distribution == options.operations.distribution.kind)
      continue;
    return UsageError(
        fmt::format("bench: --distribution does not apply to {}, which has a distribution of its "
                    "own: leave one of them out",
                    workload->name));
  }
  return absl::OkStatus();
}

absl::Status ParseTexts(const CLI::App& app, const Texts& texts, BenchOptions* options) {
  auto keys = KeyFormat::Parse(texts.key_format);
  if (!keys.ok()) return UsageError(internal::ToStd(keys.status().message()));
  options->keys = *std::move(keys);
  auto distribution = ParseDistribution(texts.distribution);
  if (!distribution.ok()) return UsageError(internal::ToStd(distribution.status().message()));
  options->operations.distribution = *distribution;
  options->operations.distribution.theta = texts.theta;
  options->load = texts.load == "auto"   ? BenchOptions::Load::kAuto
                  : texts.load == "only" ? BenchOptions::Load::kOnly
                                         : BenchOptions::Load::kNever;
  if (options->load == BenchOptions::Load::kOnly) options->keeps_table = true;
  if (app.count("--dry-run") > 0) options->dry_run = texts.dry_run;
  STELE_ASSIGN_OR_RETURN(options->duration, ParseDuration("--duration", texts.duration));
  if (options->duration == std::chrono::nanoseconds(0))
    return UsageError("--duration must be more than 0");
  if (options->operations.selectivity == 0) return UsageError("--selectivity must be more than 0");
  if (app.count("--operations") > 0) {
    options->operation_count = texts.operation_count;
    options->warmup = {};  // every operation is counted unless --warmup is given
  }
  if (!texts.warmup.empty()) {
    STELE_ASSIGN_OR_RETURN(options->warmup, ParseDuration("--warmup", texts.warmup));
  }
  if (!texts.rate.empty()) {
    STELE_ASSIGN_OR_RETURN(options->rate, ParseRate(texts.rate));
  }
  STELE_RETURN_IF_ERROR(ParseDesignFlags(app, texts, options));
  if (!options->design_path.empty()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(ParseWorkloads(texts.workloads, options));
  return app.count("--distribution") > 0 ? CheckDistribution(*options) : absl::OkStatus();
}

}  // namespace

std::string BenchOptions::DataText() const {
  if (!query_text.empty()) return query_text;
  return fmt::format("rows={} fields={} value-bytes={} versions={} key-format={} seed={}",
                     operations.rows, operations.fields, value_bytes, versions, keys.text(),
                     operations.seed);
}

namespace {

// Returns the words with -o FILE instead of -o=FILE, whose value is =FILE for CLI11.
std::vector<std::string> WithSeparateOutput(const std::vector<std::string>& args) {
  std::vector<std::string> words;
  bool are_flags = true;
  for (const std::string& arg : args) {
    are_flags = are_flags && arg != "--";
    const bool is_output = are_flags && arg.starts_with("-o=");
    if (is_output) words.emplace_back("-o");
    words.push_back(is_output ? arg.substr(3) : arg);
  }
  return words;
}

}  // namespace

absl::StatusOr<BenchOptions> ParseBenchOptions(const std::vector<std::string>& args) {
  BenchOptions options;
  Texts texts;
  CLI::App app;
  app.set_help_flag();
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  AddFlags(&app, &options, &texts);
  std::vector<std::string> reversed = WithSeparateOutput(args);
  std::reverse(reversed.begin(), reversed.end());  // as CLI11 takes them
  try {
    app.parse(reversed);
  } catch (const CLI::Error& error) {
    return UsageError(fmt::format("bench: {}; \"stele help bench\" lists the flags", error.what()));
  }
  STELE_RETURN_IF_ERROR(ParseTexts(app, texts, &options));
  return options;
}

}  // namespace stele::cli
