#include "bench/runner.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/status.h"
#include "bench/figures.h"
#include "bench/operation_runner.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLate(1);
constexpr std::chrono::seconds kInterval(1);
constexpr std::chrono::milliseconds kSleepMax(100);  // then a thread checks whether it must stop

// The state that the threads of a run share.
struct RunState {
  const BenchOptions& options;
  const Workload& workload;
  const Table& table;
  InsertCounter* inserts;
  const std::stop_token& stop;
  SteadyClock::time_point start;
  SteadyClock::time_point measured_from;
  std::atomic<uint64_t> begun{0};  // operations, if their number is limited
  std::atomic<uint64_t> done{0};   // operations, for the line of each second
  std::atomic<double> cpu_before{-1};
  std::atomic<bool> is_given_up{false};  // a thread could not be started

  bool is_stopped() const {
    return is_given_up.load(std::memory_order_relaxed) || stop.stop_requested();
  }
};

// One thread of a run.
class Worker {
 public:
  Worker(RunState* state, uint64_t thread)
      : state_(*state),
        thread_(thread),
        stream_(state->options.operations, state->workload, thread, state->inserts),
        runner_(state->options, state->workload, state->table) {}

  void Run() {
    for (uint64_t index = 0;; ++index) {
      const SteadyClock::time_point due = DueTime(index);
      if (is_open_) SleepUntil(due);
      if (IsFinished(due)) return;
      if (IsLateWarmup(due)) continue;
      Measure(stream_.Next(), is_open_ ? due : SteadyClock::time_point());
      state_.done.fetch_add(1, std::memory_order_relaxed);
    }
  }

  BenchResult& result() { return result_; }

 private:
  // Operation i belongs to thread i modulo the number of threads.
  SteadyClock::time_point DueTime(uint64_t index) const {
    if (!is_open_) return {};
    const double number = static_cast<double>(index * state_.options.operations.threads + thread_);
    return state_.start + std::chrono::duration_cast<SteadyClock::duration>(
                              std::chrono::duration<double>(number / *state_.options.rate));
  }

  // Returns earlier if the run is stopped.
  void SleepUntil(SteadyClock::time_point due) const {
    while (due - SteadyClock::now() > kSleepMax) {
      if (state_.is_stopped()) return;
      std::this_thread::sleep_for(kSleepMax);
    }
    std::this_thread::sleep_until(due);
  }

  // If the rate cannot be sustained, the warm-up takes at most twice its time.
  bool IsLateWarmup(SteadyClock::time_point due) const {
    return is_open_ && due < state_.measured_from &&
           SteadyClock::now() >= state_.measured_from + state_.options.warmup;
  }

  // True if no operation is left. Also notes whether the next one is measured. Those of the warm-up
  // count nowhere.
  // An operation of an open loop belongs to the time at which it is due.
  bool IsFinished(SteadyClock::time_point due) {
    if (state_.is_stopped()) return true;
    const SteadyClock::time_point now = SteadyClock::now();
    const SteadyClock::time_point time = is_open_ ? due : now;
    is_measured_ = time >= state_.measured_from;
    if (!is_measured_) return false;
    if (state_.options.operation_count.has_value()) {
      return state_.begun.fetch_add(1, std::memory_order_relaxed) >=
             *state_.options.operation_count;
    }
    const SteadyClock::time_point end = state_.measured_from + state_.options.duration;
    if (time >= end) return true;
    if (!is_open_) return false;
    if (!latest_begin_.has_value()) latest_begin_ = std::max(now, end) + state_.options.duration;
    if (now < *latest_begin_) return false;
    result_.counts.not_begun += NumberDue(end) - NumberDue(due);
    return true;
  }

  // Returns how many operations of this thread are due before `time`.
  uint64_t NumberDue(SteadyClock::time_point time) const {
    const double operations =
        std::chrono::duration<double>(time - state_.start).count() * *state_.options.rate;
    const auto threads = static_cast<double>(state_.options.operations.threads);
    return static_cast<uint64_t>(
        std::max(0.0, std::ceil((operations - static_cast<double>(thread_)) / threads)));
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
    if (!state_.options.hlog_path.empty())
      result_.intervals.Record(NameOf(operation.kind), end - state_.measured_from, latency);
  }

  RunState& state_;
  const uint64_t thread_;
  OperationStream stream_;
  OperationRunner runner_;
  const bool is_open_ = state_.options.rate.has_value();
  bool is_measured_ = false;
  // A rate that cannot be sustained takes at most twice the time: later operations do not begin.
  std::optional<SteadyClock::time_point> latest_begin_ = {};
  BenchResult result_ = {};
};

// Prints a line per second on a terminal, and notes the CPU time at the end of the warm-up.
void Watch(RunState* state, const std::stop_token& stop) {
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_until(lock, stop, state->measured_from, [] { return false; });
  state->cpu_before = CpuSeconds();
  uint64_t before = state->done;
  for (int second = 1; !stop.stop_requested(); ++second) {
    never.wait_until(lock, stop, state->measured_from + second * kInterval, [] { return false; });
    if (stop.stop_requested() || !is_terminal) continue;
    const uint64_t now = state->done;
    std::fputs(fmt::format("{:>16} {:>4} s {:>12} operations/s\n", EscapedKey(state->workload.name),
                           second, now - before)
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
                                        const Table& table, InsertCounter* inserts,
                                        const std::stop_token& stop) {
  RunState state{.options = options,
                 .workload = workload,
                 .table = table,
                 .inserts = inserts,
                 .stop = stop,
                 .start = {},
                 .measured_from = {}};
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint64_t thread = 0; thread < options.operations.threads; ++thread)
    workers.push_back(std::make_unique<Worker>(&state, thread));
  state.cpu_before = CpuSeconds();  // and again at the end of the warm-up
  state.start = SteadyClock::now();
  state.measured_from = state.start + options.warmup;
  std::jthread watch([&state](const std::stop_token& stop) { Watch(&state, stop); });
  absl::Status started;
  {
    std::vector<std::jthread> threads;
    try {
      for (const auto& worker : workers) threads.emplace_back([&worker] { worker->Run(); });
    } catch (const std::system_error& error) {
      started = internal::ResourceExhausted(
          "thread {} of {} could not be started: {}; use fewer --threads", threads.size() + 1,
          workers.size(), error.what());
      state.is_given_up = true;  // the others end after their operation
    }
  }
  STELE_RETURN_IF_ERROR(started);
  const SteadyClock::time_point end = SteadyClock::now();
  const double cpu_after = CpuSeconds();
  watch.request_stop();
  watch.join();
  BenchResult result{.workload = &workload};
  result.time = end > state.measured_from ? end - state.measured_from : std::chrono::seconds(0);
  result.cpu_seconds = std::max(0.0, cpu_after - state.cpu_before);
  for (const auto& worker : workers) Merge(&result, &worker->result());
  return result;
}

}  // namespace stele::cli
