// bench/compare/main.cc: compares Stele with RocksDB, LevelDB and LMDB. All get the same rows and
// the same consumer of the data read, in interleaved rounds.
//
//   stele_compare [--rows N] [--rounds N] [--engines NAME,...] [--only WORKLOAD,...] [--json]
//                 [--no-compact] [--dir DIRECTORY]
//
// All engines must read the same data. If they do not, or if anything fails, the exit code is 1.
// Exit code 2: wrong arguments.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "report.h"
#include "rounds.h"

namespace stele_compare {

std::vector<Contender> Contenders() {
  std::vector<Contender> contenders = {SteleContender()};
#ifdef STELE_COMPARE_ROCKSDB
  contenders.push_back(RocksdbContender());
#endif
#ifdef STELE_COMPARE_LEVELDB
  contenders.push_back(LeveldbContender());
#endif
#ifdef STELE_COMPARE_LMDB
  contenders.push_back(LmdbContender());
#endif
  return contenders;
}

namespace {

struct Arguments {
  Plan plan;
  bool is_json = false;
  std::string error;  // "": valid
};

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number > 0;
}

std::string ChooseEngines(const std::vector<std::string>& names, Plan* plan) {
  std::vector<Contender> chosen;
  for (const Contender& contender : Contenders()) {
    if (std::find(names.begin(), names.end(), contender.name) != names.end())
      chosen.push_back(contender);
  }
  if (chosen.empty() || chosen.size() != names.size())
    return "--engines: not all of these are in this build";
  plan->contenders = std::move(chosen);
  return "";
}

std::string CheckWorkloads(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto workloads = Workloads();
    const auto is_it = [&name](const Workload& workload) { return workload.name == name; };
    if (std::none_of(workloads.begin(), workloads.end(), is_it))
      return fmt::format("--only: there is no workload '{}'", name);
  }
  return "";
}

Arguments Parse(int argument_count, char** texts) {
  Arguments arguments;
  arguments.plan.contenders = Contenders();
  for (int i = 1; i < argument_count && arguments.error.empty(); ++i) {
    const std::string_view name = texts[i];
    if (name == "--json") {
      arguments.is_json = true;
      continue;
    }
    if (name == "--no-compact") {
      arguments.plan.compacts = false;
      continue;
    }
    const std::string_view value = i + 1 < argument_count ? texts[++i] : "";
    if (name == "--rows") {
      // Row keys have 12 digits, and row numbers have 32 bits.
      if (!ReadNumber(value, &arguments.plan.rows) || arguments.plan.rows > 1'000'000'000)
        arguments.error = "--rows: 1 to 1000000000";
    } else if (name == "--rounds") {
      if (!ReadNumber(value, &arguments.plan.rounds))
        arguments.error = "--rounds: a number from 1 on";
    } else if (name == "--engines") {
      arguments.error = ChooseEngines(Split(value), &arguments.plan);
    } else if (name == "--only") {
      arguments.plan.only = Split(value);
      arguments.error = CheckWorkloads(arguments.plan.only);
    } else if (name == "--dir" && !value.empty()) {
      arguments.plan.directory = value;
    } else {
      arguments.error = fmt::format("what is '{}'?", name);
    }
  }
  return arguments;
}

// Returns the requested directory, or a new temporary one. Returns "" if it cannot be created.
std::string MakeDirectory(const std::string& asked) {
  std::error_code error;
  if (!asked.empty()) {
    std::filesystem::create_directories(asked, error);
    return error ? "" : asked;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "stele_compare.XXXXXX").string();
  return mkdtemp(pattern.data()) == nullptr ? "" : pattern;
}

int Main(int argument_count, char** texts) {
  Arguments arguments = Parse(argument_count, texts);
  if (!arguments.error.empty()) {
    fmt::print(stderr, "stele_compare: {}\nworkloads:", arguments.error);
    for (const Workload& workload : Workloads()) fmt::print(stderr, " {}", workload.name);
    fmt::print(stderr, "\nengines:");
    for (const Contender& contender : Contenders()) fmt::print(stderr, " {}", contender.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  const bool is_temporary = arguments.plan.directory.empty();
  arguments.plan.directory = MakeDirectory(arguments.plan.directory);
  if (arguments.plan.directory.empty()) {
    fmt::print(stderr, "stele_compare: no directory to work in\n");
    return 1;
  }
  const Plan& plan = arguments.plan;
  fmt::print("{}", arguments.is_json ? RunAsJson(plan) : RunAsText(plan));
  std::fflush(stdout);
  const Outcome outcome = RunRounds(plan, [&](const Result& result) {
    if (arguments.is_json) {
      fmt::print("{}", ResultAsJson(plan, result));
    } else {
      fmt::print(stderr, "round {}: {} {}\n", result.round, result.workload->name, result.engine);
    }
    std::fflush(stdout);  // a child must not inherit buffered output
  });
  if (!arguments.is_json) fmt::print("{}", TableOf(plan, outcome));
  if (is_temporary) std::filesystem::remove_all(plan.directory);
  for (const std::string& failure : outcome.failures) fmt::print(stderr, "FAILED {}\n", failure);
  return outcome.failures.empty() ? 0 : 1;
}

}  // namespace
}  // namespace stele_compare

int main(int argument_count, char** texts) { return stele_compare::Main(argument_count, texts); }
