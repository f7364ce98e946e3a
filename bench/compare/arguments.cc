#include "arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace stele_compare {
namespace {

// Row keys have 12 digits, and row numbers have 32 bits.
constexpr uint64_t kRowsMax = 1'000'000'000;

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

std::string ChooseWorkloads(std::vector<std::string> names, Plan* plan) {
  const auto workloads = Workloads();
  for (const std::string& name : names) {
    const auto is_it = [&name](const Workload& workload) { return workload.name == name; };
    if (std::none_of(workloads.begin(), workloads.end(), is_it))
      return fmt::format("--only: there is no workload '{}'", name);
  }
  if (names.empty()) return "--only: needs the name of a workload";
  plan->only = std::move(names);
  return "";
}

// Takes a flag and its value. Returns the error, or "" if they are valid.
std::string TakeValue(std::string_view name, std::string_view value, Plan* plan) {
  if (name == "--rows") {
    const bool is_valid = ReadNumber(value, &plan->rows) && plan->rows <= kRowsMax;
    return is_valid ? "" : fmt::format("--rows: 1 to {}", kRowsMax);
  }
  if (name == "--rounds")
    return ReadNumber(value, &plan->rounds) ? "" : "--rounds: a number from 1 on";
  if (name == "--engines") return ChooseEngines(Split(value), plan);
  if (name == "--only") return ChooseWorkloads(Split(value), plan);
  if (name != "--dir") return fmt::format("there is no flag '{}'", name);
  plan->directory = value;
  return value.empty() ? "--dir: needs a directory" : "";
}

}  // namespace

Arguments ParseArguments(int argument_count, char** texts) {
  Arguments arguments;
  arguments.plan.contenders = Contenders();
  arguments.asks_for_help =
      std::any_of(texts + 1, texts + argument_count,
                  [](std::string_view text) { return text == "--help" || text == "-h"; });
  for (int i = 1; i < argument_count && arguments.error.empty(); ++i) {
    const std::string_view name = texts[i];
    if (name == "--json") {
      arguments.is_json = true;
    } else if (name == "--no-compact") {
      arguments.plan.compacts = false;
    } else {
      const std::string_view value = i + 1 < argument_count ? texts[++i] : "";
      arguments.error = TakeValue(name, value, &arguments.plan);
    }
  }
  return arguments;
}

std::string Usage() {
  const Plan defaults;
  std::string usage = fmt::format(
      "usage: stele_compare [FLAG...]\n"
      "Compares Stele with RocksDB, LevelDB and LMDB: the same rows, the same consumer of the "
      "data\n"
      "read, in interleaved rounds.\n"
      "\nflags:\n"
      "  --rows N             size of the data sets, 1 to {} (default {})\n"
      "  --rounds N           from 1 on; figures are medians over the rounds (default {})\n"
      "  --engines NAME,...   run these engines (default: all of this build)\n"
      "  --only WORKLOAD,...  run these workloads, and the loads of the data that they read\n"
      "                       (default: all)\n"
      "  --json               print a line of JSON per figure (default: a table)\n"
      "  --no-compact         read the files that a load left (default: one sorted run)\n"
      "  --dir DIRECTORY      work here (default: a temporary directory, removed at the end)\n"
      "  --help, -h           print this text\n"
      "\nworkloads, in the order of the run, and what is timed:\n",
      kRowsMax, defaults.rows, defaults.rounds);
  for (const Workload& workload : Workloads())
    usage += fmt::format("  {:<25} {}\n", workload.name, workload.timed);
  usage +=
      "\nNames of stele bench mean the same here, with --fields 5. But ycsb-a to ycsb-f have only "
      "the same\nshares and distributions, on another table; latest has 100 versions, two families "
      "and no GC rule.\nOther workloads had three of the names before; they are scan_all, "
      "bulk_load and "
      "increment_zipfian.\n";
  usage += "\nengines of this build:\n ";
  for (const Contender& contender : Contenders()) usage += fmt::format(" {}", contender.name);
  return usage +
         "\n\nexit status: 0; 1: a failure, or engines that read different data; 2: a wrong "
         "argument\n";
}

}  // namespace stele_compare
