// bench/drops/main.cc: measures the cost of frequent calls of DropRowRange.
//
//   stele_drops [--seconds N] [--drops N] [--writes N] [--mib N] [--budget-mib N] [--report N]
//   DIRECTORY
//
// The table has --mib MiB of rows that belong to 1,000 users, each with a key prefix. One thread
// drops the rows of a random user --drops times a second. One thread writes --writes rows a second,
// so that dropped users come back. One thread reads a thousand rows a second. Every --report
// seconds, the program prints a line with the period's latencies and the state.
#include <stele/stele.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kUsers = 1000;
constexpr size_t kValueBytes = 1000;
constexpr double kReadsPerSecond = 1000;

struct Settings {
  double seconds = 120;
  double drops = 10;
  double writes = 1000;
  uint64_t mib = 10;
  uint64_t budget_mib = 64;
  double report_seconds = 10;
  std::string directory;
};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 20;
  }
  uint64_t Below(uint64_t end) { return Next() % end; }

 private:
  uint64_t state_;
};

// The latencies of one period. Any thread may add.
class Latencies {
 public:
  void Add(Clock::duration latency) {
    const std::scoped_lock lock(mutex_);
    micros_.push_back(std::chrono::duration<double, std::micro>(latency).count());
  }
  // Returns the median, 99th percentile and maximum, and starts the next period.
  std::string Take() {
    std::vector<double> micros;
    {
      const std::scoped_lock lock(mutex_);
      micros.swap(micros_);
    }
    if (micros.empty()) return "none";
    std::sort(micros.begin(), micros.end());
    char text[128];
    std::snprintf(text, sizeof(text), "%zu: p50 %.0f p99 %.0f max %.0f us", micros.size(),
                  micros[micros.size() / 2], micros[micros.size() * 99 / 100], micros.back());
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<double> micros_;
};

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

uint64_t ResidentMib() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

std::string UserPrefix(uint64_t user) {
  char text[32];
  std::snprintf(text, sizeof(text), "user/%06llu/", static_cast<unsigned long long>(user));
  return text;
}

class Scenario {
 public:
  explicit Scenario(const Settings& settings)
      : settings_(settings),
        rows_per_user_(std::max<uint64_t>(1, (settings.mib << 20) / kValueBytes / kUsers)) {
    stele::DatabaseOptions options;
    options.memory_budget_bytes = settings.budget_mib << 20;
    auto database = stele::Database::Open(settings.directory, std::move(options));
    Check(database.status());
    database_ = *std::move(database);
    auto table = database_.CreateTable(
        "t", stele::Schema().AddFamily("f", stele::GcRule::MaxNumVersions(1)));
    Check(table.status());
    table_ = *std::move(table);
    Random random(1);
    while (text_.size() < (size_t{1} << 20)) text_ += static_cast<char>('a' + random.Below(26));
  }

  void Run() {
    Fill();
    std::vector<std::thread> threads;
    threads.emplace_back([this] {
      Repeat(settings_.drops, 2, &drops_, [this](Random& random) { DropUser(random); });
    });
    threads.emplace_back([this] {
      Repeat(settings_.writes, 3, &writes_, [this](Random& random) { WriteRow(random); });
    });
    threads.emplace_back([this] {
      Repeat(kReadsPerSecond, 4, &reads_, [this](Random& random) { ReadRow(random); });
    });
    const Clock::time_point start = Clock::now();
    for (double at = settings_.report_seconds; at <= settings_.seconds + 0.001;
         at += settings_.report_seconds) {
      std::this_thread::sleep_until(
          start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(at)));
      Report(at);
    }
    done_.store(true);
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void Fill() {
    Random random(5);
    for (uint64_t user = 0; user < kUsers; ++user) {
      for (uint64_t row = 0; row < rows_per_user_; ++row) Write(RowKey(user, row), random);
    }
    Check(table_.Flush());
    Report(0);
  }

  // Calls `act` at this rate by the clock. A late call is made up for, not skipped.
  template <typename Act>
  void Repeat(double per_second, uint64_t seed, Latencies* latencies, const Act& act) {
    if (per_second <= 0) return;
    Random random(seed);
    const auto period =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / per_second));
    for (Clock::time_point next = Clock::now(); !done_.load();
         next = std::max(next + period, Clock::now() - 10 * period)) {
      std::this_thread::sleep_until(next);
      const Clock::time_point start = Clock::now();
      act(random);
      latencies->Add(Clock::now() - start);
    }
  }

  static std::string RowKey(uint64_t user, uint64_t row) {
    return UserPrefix(user) + std::to_string(row);
  }
  std::string AnyRow(Random& random) const {
    return RowKey(random.Below(kUsers), random.Below(rows_per_user_));
  }

  void Write(const std::string& row_key, Random& random) {
    const std::string_view value =
        std::string_view(text_).substr(random.Below(text_.size() - kValueBytes), kValueBytes);
    Check(table_.Apply(stele::RowMutation(row_key).SetCell("f", "q", std::string(value))));
  }
  void WriteRow(Random& random) { Write(AnyRow(random), random); }
  void ReadRow(Random& random) { Check(table_.ReadRow(AnyRow(random)).status()); }
  void DropUser(Random& random) {
    Check(table_.DropRowRange(stele::RowRange::Prefix(UserPrefix(random.Below(kUsers)))));
  }

  void Report(double at) {
    const stele::DatabaseStats stats = database_.Stats();
    std::printf(
        "%4.0f s: %4zu files, %4llu MiB rss, %5llu compactions, %5llu flushes; drops %s; reads %s; "
        "writes %s\n",
        at, stats.disk.sstables, static_cast<unsigned long long>(ResidentMib()),
        static_cast<unsigned long long>(stats.compaction.compactions),
        static_cast<unsigned long long>(stats.since_open.flushes), drops_.Take().c_str(),
        reads_.Take().c_str(), writes_.Take().c_str());
    std::fflush(stdout);
  }

  const Settings settings_;
  const uint64_t rows_per_user_;
  std::string text_;
  stele::Database database_;
  stele::Table table_;
  Latencies drops_;
  Latencies reads_;
  Latencies writes_;
  std::atomic<bool> done_{false};
};

bool Parse(int argc, char** argv, Settings* settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag.substr(0, 2) != "--") {
      settings->directory = flag;
      continue;
    }
    if (i + 1 == argc) return false;
    const double value = std::atof(argv[++i]);
    if (flag == "--seconds") {
      settings->seconds = value;
    } else if (flag == "--drops") {
      settings->drops = value;
    } else if (flag == "--writes") {
      settings->writes = value;
    } else if (flag == "--mib") {
      settings->mib = static_cast<uint64_t>(value);
    } else if (flag == "--budget-mib") {
      settings->budget_mib = static_cast<uint64_t>(value);
    } else if (flag == "--report") {
      settings->report_seconds = value;
    } else {
      return false;
    }
  }
  return !settings->directory.empty() && settings->report_seconds > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!Parse(argc, argv, &settings)) {
    std::fprintf(stderr,
                 "usage: stele_drops [--seconds N] [--drops N] [--writes N] [--mib N] "
                 "[--budget-mib N] [--report N] DIRECTORY\n");
    return 2;
  }
  if (std::filesystem::exists(settings.directory)) {
    std::fprintf(stderr, "%s exists\n", settings.directory.c_str());
    return 2;
  }
  Scenario(settings).Run();
  std::filesystem::remove_all(settings.directory);
  return 0;
}
