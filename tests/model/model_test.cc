// Runs random histories, and the saved histories of old failures, on the engine and on the
// reference.
//
// Environment:
//   STELE_MODEL_SECONDS  run random seeds for this long, instead of the fixed ones
//   STELE_MODEL_SEED     the first seed of these (a failure prints its seed)
//   STELE_MODEL_HISTORY  run only this file
//   STELE_MODEL_SHRINK   0: do not shrink a failing history
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>

#include "base/random.h"
#include "model/generator.h"
#include "model/history_runner.h"
#include "model/shrink.h"
#include "support/base_sanitized.h"
#include "support/base_test_data.h"

namespace stele::internal {
namespace {

using std::chrono::steady_clock;

constexpr uint64_t kFixedSeedFirst = 1;
constexpr size_t kOperationsPerHistory = 1000;
constexpr size_t kFixedOperations = kReduced ? 20'000 : 200'000;
constexpr auto kShrinkTimeMax = std::chrono::seconds(30);

bool Shrinks() {
  const char* const text = std::getenv("STELE_MODEL_SHRINK");
  return text == nullptr || std::string_view(text) != "0";
}

// The number of eventful histories, and the minimum number of occurrences of each event in all of
// them together. These histories use no threads, so the counts are always the same. If an event is
// too rare, more histories follow, up to a limit: a small change of the generator or of the engine
// moves the counts. Sanitized builds are many times slower and run fewer histories.
constexpr uint64_t kEventfulHistories = kReduced ? 20 : 150;
constexpr uint64_t kEventfulHistoriesMax = 3 * kEventfulHistories;
constexpr uint64_t kEventsMin = kReduced ? 10 : 100;
constexpr std::string_view kEvents[] = {"(freezes)",
                                        "(tablet splits)",
                                        "(tablet merges)",
                                        "(merging compactions)",
                                        "(major compactions)",
                                        "(files dropped)",
                                        "(excisions)",
                                        "(segment reuses)",
                                        "(latest reads that fell to history)",
                                        "(fenced deletes)",
                                        "(conditional retries)",
                                        "(memtable spills)",
                                        "(jobs over a schema change)",
                                        "(jobs over drops)",
                                        "(steps of the clock back)"};

// The minimum number of comparisons of each kind of write, change, read, range and filter.
constexpr std::string_view kKinds[] = {"write apply",
                                       "write bulk",
                                       "write batch",
                                       "write to several tables",
                                       "write load",
                                       "write cam, matched",
                                       "write cam, not matched",
                                       "write rmw, inc",
                                       "write rmw, app",
                                       "write create",
                                       "write deletetable",
                                       "write families",
                                       "write droprange",
                                       "repeat of apply",
                                       "repeat of batch",
                                       "repeat of cam",
                                       "write cam, empty branch under a token",
                                       "repeat of rmw",
                                       "repeat of apply after reopening",
                                       "repeat of cam after reopening",
                                       "repeat of rmw after reopening",
                                       "repeat of apply after a crash",
                                       "repeat of cam after a crash",
                                       "repeat of rmw after a crash",
                                       "change set",
                                       "change setnow",
                                       "change delcol",
                                       "change delrange",
                                       "change delrange without an end",
                                       "change delfam",
                                       "change delrow",
                                       "change add to sum",
                                       "change add to min",
                                       "change add to max",
                                       "change item",
                                       "change merge of a number",
                                       "change merge of a sketch",
                                       "read readrow",
                                       "read exists",
                                       "read readmany",
                                       "read scan",
                                       "read reverse",
                                       "read limited",
                                       "read in pieces",
                                       "read of a snapshot",
                                       "read raw",
                                       "read past the cache",
                                       "rows key",
                                       "rows all",
                                       "rows closed",
                                       "rows open",
                                       "rows ropen",
                                       "rows lopen",
                                       "rows from",
                                       "rows to",
                                       "rows prefix",
                                       "filter all",
                                       "filter none",
                                       "filter latest",
                                       "filter family_regex",
                                       "filter column_regex",
                                       "filter family",
                                       "filter column",
                                       "filter column_range",
                                       "filter value_range",
                                       "filter timestamps",
                                       "filter row_regex",
                                       "filter value_regex",
                                       "filter value_bitmask",
                                       "filter row_limit",
                                       "filter row_offset",
                                       "filter sample",
                                       "filter strip",
                                       "filter label",
                                       "filter sink",
                                       "filter condition",
                                       "filter chain",
                                       "filter interleave",
                                       "nested filter all",
                                       "nested filter none",
                                       "nested filter latest",
                                       "nested filter family_regex",
                                       "nested filter column_regex",
                                       "nested filter family",
                                       "nested filter column",
                                       "nested filter column_range",
                                       "nested filter value_range",
                                       "nested filter timestamps",
                                       "nested filter row_regex",
                                       "nested filter value_regex",
                                       "nested filter value_bitmask",
                                       "nested filter row_limit",
                                       "nested filter row_offset",
                                       "nested filter sample",
                                       "nested filter strip",
                                       "nested filter label",
                                       "nested filter sink",
                                       "nested filter condition",
                                       "nested filter chain",
                                       "nested filter interleave"};

std::map<std::string, uint64_t> coverage;

std::optional<RunFailure> RunOnce(const RunnerOptions& options, const History& history) {
  HistoryRunner runner(options);
  std::optional<RunFailure> failure = runner.Run(history);
  for (const auto& [what, count] : runner.coverage()) coverage[what] += count;
  return failure;
}

// With threads, a failure may occur only in some of the runs.
bool FailsSoon(const RunnerOptions& options, const History& history) {
  for (int i = 0; i < (options.threads > 0 ? 5 : 1); ++i) {
    if (RunOnce(options, history)) return true;
  }
  return false;
}

std::string Report(uint64_t seed, RunnerOptions options, const History& history,
                   const RunFailure& failure) {
  if (!Shrinks())
    return fmt::format("seed {}, operation {}: {}", seed, failure.index, failure.what);
  RunnerOptions without_threads = options;
  without_threads.threads = 0;
  if (FailsSoon(without_threads, history)) options = without_threads;
  const History small = Shrink(
      history, [&](const History& candidate) { return FailsSoon(options, candidate); },
      kShrinkTimeMax);
  const std::optional<RunFailure> small_failure = RunOnce(options, small);
  const std::string what =
      small_failure ? fmt::format("operation {}: {}", small_failure->index, small_failure->what)
                    : fmt::format("(not every time) operation {}: {}", failure.index, failure.what);
  const std::string text = ToText(options.ToTerm()) + "\n" + ToText(small);
  const std::string path =
      fmt::format("{}/model-{}.history", std::filesystem::temp_directory_path().string(), seed);
  std::ofstream(path) << "# seed " << seed << "\n" << text;
  return fmt::format("seed {}, first seen at operation {}:\n{}\n{}\n{}written to {}", seed,
                     failure.index, failure.what, what, text, path);
}

// Returns the number of operations that were run.
size_t RunSeed(uint64_t seed, HistoryKind kind = HistoryKind::kAnything) {
  HistoryGenerator generator(seed, kind);
  const RunnerOptions options = generator.Options();
  const History history = generator.Make(kOperationsPerHistory);
  const std::optional<RunFailure> failure = RunOnce(options, history);
  if (failure) ADD_FAILURE() << Report(seed, options, history, *failure);
  return kOperationsPerHistory;
}

void PrintCoverage(size_t operations, steady_clock::time_point start) {
  const double seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
  std::cout << fmt::format("{} operations in {:.1f} s; of them, and within:\n", operations,
                           seconds);
  for (const auto& [what, count] : coverage) std::cout << fmt::format("  {} {}\n", count, what);
}

std::optional<std::pair<RunnerOptions, History>> ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::optional<History> history = ParseHistory(text.str());
  if (!history || history->empty() || !history->front().Is("engine")) return std::nullopt;
  const RunnerOptions options = RunnerOptions::FromTerm(history->front());
  history->erase(history->begin());
  return std::pair(options, *std::move(history));
}

TEST(Model, TheEngineAnswersAsTheReference) {
  if (std::getenv("STELE_MODEL_HISTORY") != nullptr) GTEST_SKIP() << "one file only";
  const auto start = steady_clock::now();
  const char* const seconds = std::getenv("STELE_MODEL_SECONDS");
  const char* const seed_text = std::getenv("STELE_MODEL_SEED");
  size_t operations = 0;
  if (seconds == nullptr && seed_text == nullptr) {
    for (uint64_t seed = kFixedSeedFirst; operations < kFixedOperations && !HasFailure(); ++seed)
      operations += RunSeed(seed);
    EXPECT_GT(coverage["(memtable spills)"], 0u) << "no snapshot met engine rule 16";
  } else {
    uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10)
                                         : RandomSeed() % 1'000'000'000'000;
    const auto end =
        start + std::chrono::seconds(seconds != nullptr ? std::strtoll(seconds, nullptr, 10) : 0);
    std::cout << "seeds from " << seed << "\n";
    do {
      operations += RunSeed(seed++);
    } while (steady_clock::now() < end && !HasFailure());
  }
  PrintCoverage(operations, start);
}

bool AreAllEventsFrequent() {
  const auto is_frequent = [](std::string_view what) {
    return coverage[std::string(what)] >= kEventsMin;
  };
  return std::all_of(std::begin(kEvents), std::end(kEvents), is_frequent) &&
         std::all_of(std::begin(kKinds), std::end(kKinds), is_frequent);
}

// A history that never causes an event does not test it, so the events are counted.
TEST(Model, EveryEventHappensOften) {
  if (std::getenv("STELE_MODEL_HISTORY") != nullptr) GTEST_SKIP() << "one file only";
  const std::map<std::string, uint64_t> before = std::exchange(coverage, {});
  uint64_t histories = 0;
  while (!HasFailure() && (histories < kEventfulHistories ||
                           (histories < kEventfulHistoriesMax && !AreAllEventsFrequent())))
    RunSeed(++histories, HistoryKind::kEventful);
  std::cout << fmt::format("{} eventful histories; of each event and kind at least {}:\n",
                           histories, kEventsMin);
  for (const std::span<const std::string_view> list :
       {std::span<const std::string_view>(kEvents), std::span<const std::string_view>(kKinds)}) {
    for (const std::string_view what : list) {
      const uint64_t count = coverage[std::string(what)];
      std::cout << fmt::format("  {:8} {}\n", count, what);
      EXPECT_GE(count, kEventsMin) << what << " hardly ever happened";
    }
  }
  for (const auto& [what, count] : before) coverage[what] += count;
}

TEST(Model, EveryFailureOfOldStaysMended) {
  const char* const one = std::getenv("STELE_MODEL_HISTORY");
  std::vector<std::filesystem::path> paths;
  if (one != nullptr) {
    paths.emplace_back(one);
  } else {
    const std::filesystem::path folder = TestDataPath("regression");
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".history") paths.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& path : paths) {
    const auto file = ReadFile(path);
    ASSERT_TRUE(file) << path << " is no history";
    const std::optional<RunFailure> failure = RunOnce(file->first, file->second);
    if (failure) ADD_FAILURE() << path << ", operation " << failure->index << ": " << failure->what;
  }
}

}  // namespace
}  // namespace stele::internal
