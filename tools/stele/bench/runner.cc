#include "bench/runner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/status.h"
#include "bench/operation_runner.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLate(1);
constexpr std::chrono::seconds kInterval(1);

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The state that the threads of a run share.
struct Course {
  const BenchOptions& options;
  const Workload& workload;
  const Table& table;
  InsertCounter inserts;
  SteadyClock::time_point start;
  SteadyClock::time_point measured_from;
  std::atomic<uint64_t> begun{0};  // operations, if their number is limited
  std::atomic<uint64_t> done{0};   // operations, for the line of each second
  std::atomic<double> cpu_before{-1};
};

// One thread of a run.
class Worker {
 public:
  Worker(Course* course, uint64_t thread)
      : course_(*course),
        thread_(thread),
        stream_(course->options.operations, course->workload, thread, &course->inserts),
        runner_(course->options, course->workload, course->table) {}

  void Run() {
    for (uint64_t index = 0;; ++index) {
      const SteadyClock::time_point due = DueTime(index);
      if (course_.options.rate.has_value()) std::this_thread::sleep_until(due);
      if (IsOver()) return;
      Measure(stream_.Next(), course_.options.rate.has_value() ? due : SteadyClock::time_point());
      course_.done.fetch_add(1, std::memory_order_relaxed);
    }
  }

  BenchResult& result() { return result_; }

 private:
  // Operation i belongs to thread i modulo the number of threads.
  SteadyClock::time_point DueTime(uint64_t index) const {
    if (!course_.options.rate.has_value()) return {};
    const double number = static_cast<double>(index * course_.options.operations.threads + thread_);
    return course_.start + std::chrono::duration_cast<SteadyClock::duration>(
                               std::chrono::duration<double>(number / *course_.options.rate));
  }

  // Also notes whether the next operation is measured. Those of the warm-up count nowhere.
  bool IsOver() {
    const SteadyClock::time_point now = SteadyClock::now();
    is_measured_ = now >= course_.measured_from;
    if (!is_measured_) return false;
    if (course_.options.operation_count.has_value()) {
      return course_.begun.fetch_add(1, std::memory_order_relaxed) >=
             *course_.options.operation_count;
    }
    return now >= course_.measured_from + course_.options.duration;
  }

  void Measure(const Operation& operation, SteadyClock::time_point due) {
    runner_.Prepare(operation);
    const SteadyClock::time_point begin = SteadyClock::now();
    BenchCounts counts;
    const absl::Status status = runner_.Run(operation, &counts);
    const SteadyClock::time_point end = SteadyClock::now();
    if (!is_measured_) return;
    if (due == SteadyClock::time_point()) due = begin;
    if (begin - due > kLate) ++counts.late;
    counts.operations = 1;
    if (!status.ok()) {
      ++result_.errors[std::string(internal::ToStd(absl::StatusCodeToString(status.code())))];
      if (result_.first_error.empty()) result_.first_error = internal::ToStd(status.message());
      counts = {.operations = 1, .late = counts.late};
    }
    result_.counts += counts;
    const auto latency = static_cast<uint64_t>((end - due).count());
    result_.latencies.Record(latency);
    result_.service_times.Record(static_cast<uint64_t>((end - begin).count()));
    if (!course_.options.hlog_path.empty())
      result_.intervals.Record(NameOf(operation.kind), end - course_.measured_from, latency);
  }

  Course& course_;
  const uint64_t thread_;
  OperationStream stream_;
  OperationRunner runner_;
  bool is_measured_ = false;
  BenchResult result_;
};

// Prints a line per second on a terminal, and notes the CPU time at the end of the warm-up.
void Watch(Course* course, const std::stop_token& stop) {
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_until(lock, stop, course->measured_from, [] { return false; });
  course->cpu_before = CpuSeconds();
  uint64_t before = course->done;
  for (int second = 1; !stop.stop_requested(); ++second) {
    never.wait_until(lock, stop, course->measured_from + second * kInterval, [] { return false; });
    if (stop.stop_requested() || !is_terminal) continue;
    const uint64_t now = course->done;
    std::fputs(fmt::format("{:>16} {:>4} s {:>12} operations/s\n",
                           EscapedKey(course->workload.name), second, now - before)
                   .c_str(),
               stderr);
    before = now;
  }
}

void Merge(BenchResult* sum, BenchResult* part) {
  sum->counts += part->counts;
  sum->latencies.Add(part->latencies);
  sum->service_times.Add(part->service_times);
  for (const auto& [code, count] : part->errors) sum->errors[code] += count;
  if (sum->first_error.empty()) sum->first_error = part->first_error;
  sum->intervals.Add(part->intervals);
}

}  // namespace

absl::StatusOr<BenchResult> RunWorkload(const BenchOptions& options, const Workload& workload,
                                        const Table& table) {
  Course course{.options = options,
                .workload = workload,
                .table = table,
                .inserts = InsertCounter(options.operations.rows),
                .start = {},
                .measured_from = {}};
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint64_t thread = 0; thread < options.operations.threads; ++thread)
    workers.push_back(std::make_unique<Worker>(&course, thread));
  course.cpu_before = CpuSeconds();  // and again at the end of the warm-up
  course.start = SteadyClock::now();
  course.measured_from = course.start + options.warmup;
  std::jthread watch([&course](const std::stop_token& stop) { Watch(&course, stop); });
  absl::Status started;
  {
    std::vector<std::jthread> threads;
    try {
      for (const auto& worker : workers) threads.emplace_back([&worker] { worker->Run(); });
    } catch (const std::system_error& error) {
      started = internal::ResourceExhausted(
          "thread {} of {} could not be started: {}; use fewer --threads", threads.size() + 1,
          workers.size(), error.what());
      course.measured_from = {};  // the others end at once
    }
  }
  STELE_RETURN_IF_ERROR(started);
  const SteadyClock::time_point end = SteadyClock::now();
  const double cpu_after = CpuSeconds();
  watch.request_stop();
  watch.join();
  BenchResult result{.workload = &workload};
  result.time = end > course.measured_from ? end - course.measured_from : std::chrono::seconds(0);
  result.cpu_seconds = std::max(0.0, cpu_after - course.cpu_before);
  for (const auto& worker : workers) Merge(&result, &worker->result());
  return result;
}

}  // namespace stele::cli
