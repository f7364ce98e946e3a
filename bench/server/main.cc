// bench/server/main.cc: compares steled with its services over gRPC's own library, and with
// Google's Bigtable emulator: the same gRPC calls, the same expected responses, in interleaved
// rounds.
//
// Flags:     stele_server_load --help
//
// All servers must return and store the same data. If they do not, or if anything fails, the exit
// code is 1. Exit code 2: wrong arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "report.h"
#include "rounds.h"

namespace stele_load {
namespace {

constexpr uint64_t kRowsMin = 64;  // so that each of sixteen connections has some
constexpr uint64_t kRowsMax = 10'000'000;
constexpr char kEmulator[] = "/usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator";

std::string BesideThisProgram(const char* name) {
  std::error_code error;
  return (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name).string();
}

struct Arguments {
  Plan plan;
  std::vector<std::string> servers;  // empty: all that are available
  Programs programs{.steled = BesideThisProgram("steled"),
                    .grpc_server = BesideThisProgram("stele_grpc_server"),
                    .emulator = kEmulator};
  std::string directory;  // "": a temporary directory
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

bool ReadConnections(std::string_view text, std::vector<uint64_t>* connections) {
  connections->clear();
  for (const std::string& part : Split(text)) {
    uint64_t number = 0;
    if (!ReadNumber(part, &number) || number > kRowsMin) return false;
    connections->push_back(number);
  }
  return !connections->empty();
}

bool AreWorkloads(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return std::any_of(Workloads().begin(), Workloads().end(),
                       [&name](const Workload& workload) { return workload.name == name; });
  });
}

void TakeValue(std::string_view name, const std::string& value, Arguments* arguments) {
  Plan& plan = arguments->plan;
  if (name == "--rows") {
    if (!ReadNumber(value, &plan.rows) || plan.rows < kRowsMin || plan.rows > kRowsMax) {
      arguments->error = fmt::format("--rows: {} to {}", kRowsMin, kRowsMax);
    }
  } else if (name == "--rounds") {
    if (!ReadNumber(value, &plan.rounds)) arguments->error = "--rounds: a number from 1 on";
  } else if (name == "--connections") {
    if (!ReadConnections(value, &plan.connections))
      arguments->error = fmt::format("--connections: numbers from 1 to {}", kRowsMin);
  } else if (name == "--only") {
    plan.only = Split(value);
    if (plan.only.empty() || !AreWorkloads(plan.only))
      arguments->error = "--only: not all of these are workloads";
  } else if (name == "--servers") {
    arguments->servers = Split(value);
    if (arguments->servers.empty()) arguments->error = "--servers: needs the name of a server";
  } else if (name == "--steled" && !value.empty()) {
    arguments->programs.steled = value;
  } else if (name == "--emulator") {
    arguments->programs.emulator = value;
  } else if (name == "--dir" && !value.empty()) {
    arguments->directory = value;
  } else {
    const bool needs_path = name == "--steled" || name == "--dir";
    arguments->error = needs_path ? fmt::format("{}: needs a path", name)
                                  : fmt::format("there is no flag '{}'", name);
  }
}

Arguments ParseArguments(int argument_count, char** texts) {
  Arguments arguments;
  for (int i = 1; i < argument_count && arguments.error.empty(); ++i) {
    const std::string_view name = texts[i];
    if (name == "--json") {
      arguments.is_json = true;
    } else {
      TakeValue(name, i + 1 < argument_count ? texts[++i] : "", &arguments);
    }
  }
  return arguments;
}

void ChooseServers(Arguments* arguments) {
  std::vector<Contender> found = Contenders(arguments->programs, arguments->directory);
  if (arguments->servers.empty()) {
    arguments->plan.contenders = std::move(found);
    return;
  }
  for (Contender& contender : found) {
    const bool is_asked = std::find(arguments->servers.begin(), arguments->servers.end(),
                                    contender.name) != arguments->servers.end();
    if (is_asked) arguments->plan.contenders.push_back(std::move(contender));
  }
  if (arguments->plan.contenders.size() != arguments->servers.size())
    arguments->error = "--servers: not all of these are there";
}

// Returns the requested directory, or a new temporary one. Returns "" if it cannot be created.
std::string MakeDirectory(const std::string& asked) {
  std::error_code error;
  if (!asked.empty()) {
    std::filesystem::create_directories(asked, error);
    return error ? "" : asked;
  }
  std::string pattern =
      (std::filesystem::temp_directory_path() / "stele_server_load.XXXXXX").string();
  return mkdtemp(pattern.data()) == nullptr ? "" : pattern;
}

std::string Usage() {
  const Plan defaults;
  std::string usage = fmt::format(
      "usage: stele_server_load [FLAG...]\n"
      "Compares steled with its services over gRPC's own library, and with Google's Bigtable\n"
      "emulator: the same gRPC calls, the same expected responses, in interleaved rounds.\n"
      "\nflags:\n"
      "  --rows N             rows of each table, {} to {} (default {})\n"
      "  --rounds N           from 1 on; figures are medians over the rounds (default {})\n"
      "  --connections N,...  run with each of these numbers of connections, 1 to {} (default {})\n"
      "  --servers NAME,...   run these servers (default: all that are there)\n"
      "  --only WORKLOAD,...  run these workloads (default: all)\n"
      "  --json               print a line of JSON per figure (default: a table)\n"
      "  --steled PROGRAM     (default: steled in this program's directory)\n"
      "  --emulator PROGRAM   (default: {})\n"
      "  --dir DIRECTORY      work here (default: a temporary directory, removed at the end)\n"
      "  --help, -h           print this text\n"
      "\nworkloads, in the order of the run, and what is timed:\n",
      kRowsMin, kRowsMax, defaults.rows, defaults.rounds, kRowsMin,
      fmt::join(defaults.connections, ","), kEmulator);
  for (const Workload& workload : Workloads())
    usage += fmt::format("  {:<14} {}\n", workload.name, workload.timed);
  return usage +
         "\nservers:\n"
         "  steled-disk     steled; a write is on disk when it is acknowledged\n"
         "  steled-process  steled; an acknowledged write survives the end of the process\n"
         "  grpc-process    the same, with gRPC's library instead of steled's own transport\n"
         "  emulator        Google's emulator, in memory\n"
         "\nexit status: 0; 1: a failure, or servers that differ; 2: a wrong argument\n";
}

int Refuse(const std::string& error) {
  fmt::print(stderr, "stele_server_load: {}; see --help\n", error);
  return 2;
}

int Main(int argument_count, char** texts) {
  for (int i = 1; i < argument_count; ++i) {
    const std::string_view text = texts[i];
    if (text != "--help" && text != "-h") continue;
    fmt::print("{}", Usage());
    return 0;
  }
  Arguments arguments = ParseArguments(argument_count, texts);
  if (!arguments.error.empty()) return Refuse(arguments.error);
  const bool is_temporary = arguments.directory.empty();
  arguments.directory = MakeDirectory(arguments.directory);
  if (arguments.directory.empty()) {
    fmt::print(stderr, "stele_server_load: no directory to work in\n");
    return 1;
  }
  ChooseServers(&arguments);
  std::error_code ignored;
  if (!arguments.error.empty()) {
    if (is_temporary) std::filesystem::remove_all(arguments.directory, ignored);
    return Refuse(arguments.error);
  }
  const Plan& plan = arguments.plan;
  const Programs& programs = arguments.programs;
  if (access(programs.grpc_server.c_str(), X_OK) != 0)
    fmt::print(stderr, "without grpc-process: {} is not there\n", programs.grpc_server);
  if (access(programs.emulator.c_str(), X_OK) != 0)
    fmt::print(stderr, "without the emulator: {} is not there\n", programs.emulator);
  fmt::print("{}", arguments.is_json ? RunAsJson(plan, arguments.directory)
                                     : RunAsText(plan, arguments.directory));
  std::fflush(stdout);
  const Outcome outcome = RunRounds(plan, [&](const Result& result) {
    if (arguments.is_json) fmt::print("{}", ResultAsJson(plan, result));
    std::fflush(stdout);
  });
  if (!arguments.is_json) fmt::print("{}", TableOf(plan, outcome));
  for (const std::string& failure : outcome.failures)
    fmt::print(stderr, "stele_server_load: {}\n", failure);
  if (is_temporary) std::filesystem::remove_all(arguments.directory, ignored);
  return outcome.failures.empty() ? 0 : 1;
}

}  // namespace
}  // namespace stele_load

int main(int argument_count, char** texts) { return stele_load::Main(argument_count, texts); }
