// bench/compare/main.cc: compares Stele with RocksDB, LevelDB and LMDB. All get the same rows and
// the same consumer of the data read, in interleaved rounds.
//
// Flags:     stele_compare --help
//
// All engines must read the same data. If they do not, or if anything fails, the exit code is 1.
// Exit code 2: wrong arguments.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "arguments.h"
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
  Arguments arguments = ParseArguments(argument_count, texts);
  if (arguments.asks_for_help) {
    fmt::print("{}", Usage());
    return 0;
  }
  if (!arguments.error.empty()) {
    fmt::print(stderr, "stele_compare: {}; see --help\n", arguments.error);
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
