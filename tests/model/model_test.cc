// Random histories on the engine and on the reference, and the failures of old once more.
//
// Environment: STELE_MODEL_SECONDS  go on with fresh seeds for so long
//              STELE_MODEL_SEED     begin there (a failure prints its seed)
//              STELE_MODEL_HISTORY  run this file only
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/random.h"
#include "model/generator.h"
#include "model/history_runner.h"
#include "model/shrink.h"
#include "support/base_test_data.h"

namespace stele::internal {
namespace {

using std::chrono::steady_clock;

constexpr uint64_t kFixedSeedFirst = 1;
constexpr size_t kOperationsPerHistory = 1000;
constexpr size_t kFixedOperations = 200'000;
constexpr auto kFixedTimeMax = std::chrono::seconds(90);
constexpr auto kShrinkTimeMax = std::chrono::seconds(30);

// Eventful histories, and how often each event has to happen in all of them together. They have no threads, so that the counts are the same
// every time. Sanitized runs, which are many times slower, do a part.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STELE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STELE_SANITIZED 1
#endif
#endif
#ifdef STELE_SANITIZED
constexpr uint64_t kEventfulHistories = 20;
constexpr uint64_t kEventsMin = 10;
#else
constexpr uint64_t kEventfulHistories = 150;
constexpr uint64_t kEventsMin = 100;
#endif
constexpr std::string_view kEvents[] = {"(freezes)",
                                        "(tablet splits)",
                                        "(tablet merges)",
                                        "(merging compactions)",
                                        "(major compactions)",
                                        "(files dropped)",
                                        "(excisions)",
                                        "(segment reuses)",
                                        "(latest reads that fell to history)",
                                        "(sealed deletes)",
                                        "(conditional retries)",
                                        "(view spills)",
                                        "(discarded jobs)"};

std::map<std::string, uint64_t> coverage;

std::optional<RunFailure> RunOnce(const RunnerOptions& options, const History& history) {
  HistoryRunner runner(options);
  std::optional<RunFailure> failure = runner.Run(history);
  for (const auto& [what, count] : runner.coverage()) coverage[what] += count;
  return failure;
}

// A run with threads may fail now and then only.
bool FailsSoon(const RunnerOptions& options, const History& history) {
  for (int i = 0; i < (options.threads > 0 ? 5 : 1); ++i) {
    if (RunOnce(options, history)) return true;
  }
  return false;
}

std::string Report(uint64_t seed, RunnerOptions options, const History& history, const RunFailure& failure) {
  RunnerOptions without_threads = options;
  without_threads.threads = 0;
  if (FailsSoon(without_threads, history)) options = without_threads;
  const History small = Shrink(
      history, [&](const History& candidate) { return FailsSoon(options, candidate); }, kShrinkTimeMax);
  const std::optional<RunFailure> small_failure = RunOnce(options, small);
  const std::string what = small_failure ? fmt::format("operation {}: {}", small_failure->index, small_failure->what)
                                         : fmt::format("(not every time) operation {}: {}", failure.index, failure.what);
  const std::string text = ToText(options.ToTerm()) + "\n" + ToText(small);
  const std::string path = fmt::format("{}/model-{}.history", std::filesystem::temp_directory_path().string(), seed);
  std::ofstream(path) << "# seed " << seed << "\n" << text;
  return fmt::format("seed {}, first seen at operation {}:\n{}\n{}\n{}written to {}", seed, failure.index, failure.what, what, text, path);
}

// Answers how many operations were run.
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
  std::cout << fmt::format("{} operations in {:.1f} s; of them, and within:\n", operations, seconds);
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
    for (uint64_t seed = kFixedSeedFirst; operations < kFixedOperations && !HasFailure(); ++seed) {
      if (steady_clock::now() - start > kFixedTimeMax) break;
      operations += RunSeed(seed);
    }
    EXPECT_GT(coverage["(view spills)"], 0u) << "no snapshot met engine rule 16";
    if (operations >= kFixedOperations) {
      EXPECT_GT(coverage["(tablet splits)"], 100u);
      EXPECT_GT(coverage["(tablet merges)"], 100u);
    }
  }
  uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : RandomSeed() % 1'000'000'000'000;
  const auto end = start + std::chrono::seconds(seconds != nullptr ? std::strtoll(seconds, nullptr, 10) : 0);
  std::cout << "seeds from " << seed << "\n";
  do {
    operations += RunSeed(seed++);
  } while (steady_clock::now() < end && !HasFailure());
  PrintCoverage(operations, start);
}

// A test that never meets an event says nothing about it.
TEST(Model, EveryEventHappensOften) {
  if (std::getenv("STELE_MODEL_HISTORY") != nullptr) GTEST_SKIP() << "one file only";
  const std::map<std::string, uint64_t> before = std::exchange(coverage, {});
  for (uint64_t seed = 1; seed <= kEventfulHistories && !HasFailure(); ++seed) RunSeed(seed, HistoryKind::kEventful);
  std::cout << fmt::format("{} eventful histories; of each event at least {}:\n", kEventfulHistories, kEventsMin);
  for (const std::string_view event : kEvents) {
    const uint64_t count = coverage[std::string(event)];
    std::cout << fmt::format("  {:8} {}\n", count, event);
    EXPECT_GE(count, kEventsMin) << event << " hardly ever happened";
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
