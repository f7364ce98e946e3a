// bench/backpressure/main.cc: measures how evenly commits are acknowledged when writers offer more
// than the engine sustains.
//
//   stele_backpressure [--seconds N] [--calibrate N] [--threads N] [--rows N] [--budget-mib N]
//                      [--factor X] [--sync] DIRECTORY
//
// The program first measures the sustainable rate. The same writers run without a limit for
// --calibrate seconds, and the wait until the database is quiescent counts too.
// Then each writer offers its share of --factor times that rate by the clock, for --seconds. A late
// acknowledgement does not lower the offered rate. The program reports the gaps between consecutive
// acknowledgements, over all writers and for each writer.
#include <stele/stele.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

struct Settings {
  double seconds = 600;
  double calibrate_seconds = 60;
  int threads = 4;
  uint64_t rows = 2'000'000;
  uint64_t budget_mib = 256;
  double factor = 3;
  bool sync = false;
  std::string directory;
};

// Counts per power of two of microseconds, with eight steps in each.
class Histogram {
 public:
  void Add(nanoseconds gap) {
    const uint64_t micros = static_cast<uint64_t>(std::max<int64_t>(0, gap.count() / 1000));
    ++counts_[BucketOf(micros)];
    ++total_;
    longest_ = std::max(longest_, micros);
  }
  void Merge(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    longest_ = std::max(longest_, other.longest_);
  }
  // Returns the gap that this share of the gaps does not exceed, in microseconds: the upper edge of
  // its bucket.
  uint64_t Quantile(double share) const {
    uint64_t left = static_cast<uint64_t>(share * static_cast<double>(total_));
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > left) return std::min(EdgeOf(i + 1), longest_);
      left -= counts_[i];
    }
    return longest_;
  }
  uint64_t longest() const { return longest_; }
  uint64_t total() const { return total_; }
  void Print(const char* what) const {
    std::printf(
        "%s: %llu gaps, p50 %llu us, p99 %llu us, p99.9 %llu us, p99.99 %llu us, longest %llu us\n",
        what, static_cast<unsigned long long>(total_),
        static_cast<unsigned long long>(Quantile(0.5)),
        static_cast<unsigned long long>(Quantile(0.99)),
        static_cast<unsigned long long>(Quantile(0.999)),
        static_cast<unsigned long long>(Quantile(0.9999)),
        static_cast<unsigned long long>(longest_));
    for (size_t octave = 0; octave < kOctaves; ++octave) {
      uint64_t count = 0;
      for (size_t i = 0; i < kSteps; ++i) count += counts_[octave * kSteps + i];
      if (count > 0) {
        std::printf("  up to %9llu us %12llu  %8.4f %%\n",
                    static_cast<unsigned long long>(EdgeOf((octave + 1) * kSteps)),
                    static_cast<unsigned long long>(count),
                    100.0 * static_cast<double>(count) / static_cast<double>(total_));
      }
    }
  }

 private:
  static constexpr size_t kSteps = 8;
  static constexpr size_t kOctaves = 40;
  static size_t BucketOf(uint64_t micros) {
    if (micros < kSteps) return micros;
    const int octave = 63 - __builtin_clzll(micros) - 2;  // 8..15 is octave 1
    return static_cast<size_t>(octave) * kSteps + ((micros >> (octave - 1)) & (kSteps - 1));
  }
  static uint64_t EdgeOf(size_t bucket) {
    const size_t octave = bucket / kSteps;
    if (octave == 0) return bucket;
    return (kSteps + bucket % kSteps) << (octave - 1);
  }
  std::array<uint64_t, kSteps * kOctaves> counts_{};
  uint64_t total_ = 0;
  uint64_t longest_ = 0;
};

// Text that compresses to about half.
class ValuePool {
 public:
  ValuePool() {
    uint64_t state = 42;
    while (text_.size() < (size_t{8} << 20)) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if ((state >> 60) < 9) {
        text_ += kWords[(state >> 40) % kWords.size()];
      } else {
        for (int i = 0; i < 7; ++i) text_ += static_cast<char>('!' + ((state >> (i * 6)) & 63));
      }
    }
  }
  std::string_view Slice(uint64_t random) const {
    return std::string_view(text_).substr(random % (text_.size() - 100), 100);
  }

 private:
  static constexpr std::array<std::string_view, 8> kWords = {
      "street ", "number ",        "mail@example.org ", "name of a person ",
      "city ",   "note to self: ", "status=active;",    "the quick brown "};
  std::string text_;
};

struct WriterResult {
  uint64_t acks = 0;
  Histogram own_gaps;
  std::vector<Clock::time_point> ack_times;  // merged over all writers after the run
  absl::Status status;
};

// Writes until `end`. With `period` > 0, write n is offered at start + n * period and is sent as
// soon as the previous one returned.
void RunWriter(stele::Table table, const Settings& settings, const ValuePool& pool, int writer,
               Clock::time_point end, nanoseconds period, WriterResult* result) {
  uint64_t state = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(writer + 1);
  const auto next = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  const stele::WriteOptions options{.durability = settings.sync ? stele::Durability::kDisk
                                                                : stele::Durability::kProcess};
  Clock::time_point offered = Clock::now();
  Clock::time_point last_ack = offered;
  char row_key[32];
  while (Clock::now() < end) {
    if (period.count() > 0) {
      std::this_thread::sleep_until(offered);
      offered += period;
    }
    std::snprintf(row_key, sizeof row_key, "usr:%012llu",
                  static_cast<unsigned long long>(next() % settings.rows * 7));
    stele::RowMutation mutation(row_key);
    for (const char* qualifier : {"st", "addr", "mail", "name", "note"})
      mutation.SetCell("f", qualifier, pool.Slice(next()));
    result->status = table.Apply(mutation, options);
    if (!result->status.ok()) return;
    const Clock::time_point now = Clock::now();
    result->own_gaps.Add(now - last_ack);
    result->ack_times.push_back(now);
    last_ack = now;
    ++result->acks;
  }
}

struct Phase {
  uint64_t acks = 0;
  double seconds = 0;
  Histogram gaps;      // between consecutive acknowledgements, over all writers
  Histogram own_gaps;  // the same for each writer
};

absl::StatusOr<Phase> RunPhase(stele::Table table, const Settings& settings, const ValuePool& pool,
                               double seconds, double rate) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point end =
      start + std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(seconds));
  const nanoseconds period(rate > 0 ? static_cast<int64_t>(1e9 * settings.threads / rate) : 0);
  std::vector<WriterResult> results(settings.threads);
  std::vector<std::thread> writers;
  for (int i = 0; i < settings.threads; ++i) {
    writers.emplace_back(RunWriter, table, std::cref(settings), std::cref(pool), i, end, period,
                         &results[i]);
  }
  for (std::thread& writer : writers) writer.join();
  Phase phase;
  phase.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<Clock::time_point> acks;
  for (WriterResult& result : results) {
    if (!result.status.ok()) return result.status;
    phase.acks += result.acks;
    phase.own_gaps.Merge(result.own_gaps);
    acks.insert(acks.end(), result.ack_times.begin(), result.ack_times.end());
  }
  std::sort(acks.begin(), acks.end());
  for (size_t i = 1; i < acks.size(); ++i) phase.gaps.Add(acks[i] - acks[i - 1]);
  return phase;
}

bool ParseArguments(int argc, char** argv, Settings* settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--sync") {
      settings->sync = true;
    } else if (argument == "--seconds" && has_value) {
      settings->seconds = std::atof(argv[++i]);
    } else if (argument == "--calibrate" && has_value) {
      settings->calibrate_seconds = std::atof(argv[++i]);
    } else if (argument == "--threads" && has_value) {
      settings->threads = std::atoi(argv[++i]);
    } else if (argument == "--rows" && has_value) {
      settings->rows = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--budget-mib" && has_value) {
      settings->budget_mib = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--factor" && has_value) {
      settings->factor = std::atof(argv[++i]);
    } else if (!argument.starts_with("--") && settings->directory.empty()) {
      settings->directory = argument;
    } else {
      return false;
    }
  }
  return !settings->directory.empty() && settings->threads > 0 && settings->rows > 0;
}

absl::Status Run(const Settings& settings) {
  if (std::filesystem::exists(settings.directory)) {
    return absl::AlreadyExistsError(
        "the directory exists; give one that does not, it is made and left for you to look at");
  }
  absl::StatusOr<stele::Database> database =
      stele::Database::Open(settings.directory, {.memory_budget_bytes = settings.budget_mib << 20});
  if (!database.ok()) return database.status();
  stele::Schema schema;
  schema.AddFamily("f", stele::GcRule::MaxNumVersions(1));
  absl::StatusOr<stele::Table> table = database->CreateTable("users", schema);
  if (!table.ok()) return table.status();
  const ValuePool pool;
  std::printf("%d writers, rows of 5 x 100 bytes over %llu row keys, %s, budget %llu MiB\n",
              settings.threads, static_cast<unsigned long long>(settings.rows),
              settings.sync ? "synced" : "not synced",
              static_cast<unsigned long long>(settings.budget_mib));

  const Clock::time_point start = Clock::now();
  absl::StatusOr<Phase> free = RunPhase(*table, settings, pool, settings.calibrate_seconds, 0);
  if (!free.ok()) return free.status();
  if (absl::Status status = database->WaitForIdle(); !status.ok()) return status;
  const double settled_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double sustainable = static_cast<double>(free->acks) / settled_seconds;
  std::printf("calibration: %llu rows, %.1f s until quiescent: %.0f rows/s sustained\n",
              static_cast<unsigned long long>(free->acks), settled_seconds, sustainable);

  const double offered = settings.factor * sustainable;
  absl::StatusOr<Phase> loaded = RunPhase(*table, settings, pool, settings.seconds, offered);
  if (!loaded.ok()) return loaded.status();
  std::printf("offered %.0f rows/s (%.1f x) for %.0f s: %llu acked, %.0f rows/s\n", offered,
              settings.factor, loaded->seconds, static_cast<unsigned long long>(loaded->acks),
              static_cast<double>(loaded->acks) / loaded->seconds);
  loaded->gaps.Print("gaps between acks, all writers");
  loaded->own_gaps.Print("gaps between acks, each writer");
  const stele::DatabaseStats stats = database->Stats();
  std::printf("flushes %llu, compactions %llu, %llu bytes flushed, %llu compacted, %llu on disk\n",
              static_cast<unsigned long long>(stats.since_open.flushes),
              static_cast<unsigned long long>(stats.compaction.compactions),
              static_cast<unsigned long long>(stats.since_open.bytes_flushed),
              static_cast<unsigned long long>(stats.compaction.bytes_written),
              static_cast<unsigned long long>(stats.disk.sstable_bytes));
  const bool met =
      loaded->gaps.Quantile(0.999) < 50'000 && loaded->own_gaps.Quantile(0.999) < 50'000;
  std::printf("p99.9 of both under 50 ms: %s\n", met ? "yes" : "NO");
  return database->Close();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!ParseArguments(argc, argv, &settings)) {
    std::fprintf(stderr,
                 "usage: stele_backpressure [--seconds N] [--calibrate N] [--threads N] [--rows N] "
                 "[--budget-mib N] [--factor X] [--sync] "
                 "DIRECTORY\n");
    return 2;
  }
  if (absl::Status status = Run(settings); !status.ok()) {
    std::fprintf(stderr, "stele_backpressure: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
