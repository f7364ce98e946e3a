#include "lab/replay/runner.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "base/thread.h"
#include "lab/figures/figures.h"
#include "lab/measure/interval_counts.h"
#include "lab/measure/interval_log.h"
#include "lab/replay/operation_queues.h"
#include "lab/replay/replay_operation.h"
#include "lab/workload/random.h"
#include "lab/workload/replay_rate.h"

namespace stele::internal::lab {
namespace {

using stele::lab::OperationRates;
using stele::lab::ReplayOptions;
using stele::lab::ReplayReport;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLate(1);

// What one thread measured.
struct WorkerFigures {
  std::map<std::string_view, ReplayReport::Operations> operations;  // by ReplayOperation::name
  std::map<std::string, uint64_t> errors;
  std::string first_error;
  IntervalLog intervals;
  std::chrono::nanoseconds lag{0};  // of the last operation
  uint64_t ended = 0;               // operations, with the warm-up, that no stop cancelled
  // The measured operations by the time at which they ended, or were due in an open loop. Both
  // count from `begin`.
  IntervalCounts end_counts, due_counts;
  std::optional<SteadyClock::time_point> begin;  // the value of MeasuredBegin
  SteadyClock::time_point end;
};

// When the measured part of a replay begins: the due time of its first operation. Thread-safe.
class MeasuredBegin {
 public:
  // Returns the time that was set first.
  SteadyClock::time_point SetOnce(SteadyClock::time_point due) {
    SteadyClock::time_point first = kNotSet;
    return begin_.compare_exchange_strong(first, due) ? due : first;
  }

 private:
  static constexpr SteadyClock::time_point kNotSet = SteadyClock::time_point::max();
  std::atomic<SteadyClock::time_point> begin_ = kNotSet;
};

// In a closed loop, a thread may have begun shortly before the one that set the time.
std::chrono::nanoseconds TimeSince(SteadyClock::time_point begin, SteadyClock::time_point time) {
  return std::max<std::chrono::nanoseconds>(time - begin, std::chrono::nanoseconds(0));
}

// One thread of a replay.
class ReplayWorker {
 public:
  // `start` is set before the first operation is in a queue.
  ReplayWorker(const ReplayOptions& options, uint64_t number, const SteadyClock::time_point& start,
               MeasuredBegin* measured_begin, OperationQueues* queues)
      : options_(options),
        number_(number),
        start_(start),
        measured_begin_(*measured_begin),
        queues_(*queues),
        replayer_(options.seed, options.stop) {}
  ~ReplayWorker() { Join(); }
  ReplayWorker(const ReplayWorker&) = delete;
  ReplayWorker& operator=(const ReplayWorker&) = delete;

  absl::Status Start(uint64_t threads) {
    return StartStatus(
        thread_.Start<&ReplayWorker::Run>(this),
        fmt::format("thread {} of {}; use fewer ReplayOptions::threads", number_ + 1, threads));
  }
  // Waits until the queues are finished or cancelled.
  void Join() { thread_.Join(); }
  // Begins no other operation.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    stopped_.Signal();
  }

  const WorkerFigures& figures() const { return figures_; }

 private:
  void Run() {
    std::vector<ReplayOperation> operations;
    while (queues_.Take(number_, &operations)) {
      for (const ReplayOperation& operation : operations) {
        if (!AwaitTurn(operation.due)) return;
        RunOne(operation);
      }
    }
  }

  // Waits until `due`. Returns false after a stop.
  bool AwaitTurn(SteadyClock::time_point due) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    while (!is_stopped_) {
      const std::chrono::nanoseconds left = due - SteadyClock::now();
      if (left.count() <= 0) return true;
      stopped_.WaitFor(mutex_, left);
    }
    return false;
  }

  void RunOne(const ReplayOperation& operation) {
    OperationCounts counts;
    const SteadyClock::time_point begin = SteadyClock::now();
    const SteadyClock::time_point due = options_.rate.is_open_loop() ? operation.due : begin;
    const bool is_measured =
        operation.number >= options_.warmup_operations && due >= start_ + options_.warmup;
    // Set before the operation runs, so that no measured operation ends before this time.
    if (is_measured && !figures_.begin.has_value()) figures_.begin = measured_begin_.SetOnce(due);
    const absl::Status status = replayer_.Run(operation, &counts);
    const SteadyClock::time_point end = SteadyClock::now();
    if (status.code() == absl::StatusCode::kCancelled && options_.stop.stop_requested()) return;
    ++figures_.ended;
    if (!is_measured) return;
    figures_.end = end;
    figures_.end_counts.Record(TimeSince(*figures_.begin, end));
    if (options_.rate.is_open_loop()) figures_.due_counts.Record(TimeSince(*figures_.begin, due));
    figures_.lag = begin - due;
    if (!status.ok()) {
      counts = {};
      AddError(status);
    }
    ReplayReport::Operations& sum = figures_.operations[operation.name];
    ++sum.operations;
    sum.rows += counts.rows;
    sum.cells += counts.cells;
    sum.value_bytes += counts.value_bytes;
    sum.bytes_read += counts.bytes_read;
    sum.is_work_known = sum.is_work_known && counts.is_work_known;
    sum.late += begin - due > kLate ? 1 : 0;
    sum.latencies.Record(static_cast<uint64_t>((end - due).count()));
    sum.service_times.Record(static_cast<uint64_t>((end - begin).count()));
    if (options_.keeps_intervals)
      figures_.intervals.Record(operation.name, end - start_,
                                static_cast<uint64_t>((end - due).count()));
  }

  void AddError(const absl::Status& status) {
    ++figures_.errors[std::string(ToStd(absl::StatusCodeToString(status.code())))];
    if (figures_.first_error.empty()) figures_.first_error = ToStd(status.message());
  }

  const ReplayOptions& options_;
  const uint64_t number_;
  const SteadyClock::time_point& start_;
  MeasuredBegin& measured_begin_;
  OperationQueues& queues_;
  OperationReplayer replayer_;
  WorkerFigures figures_;
  Mutex mutex_;
  CondVar stopped_;
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Thread thread_;  // accessed by the caller's thread only
};

// The threads of a replay. The destructor finishes the queues and waits for the threads.
class ReplayWorkers {
 public:
  explicit ReplayWorkers(const ReplayOptions& options) : queues_(options.threads) {
    for (uint64_t number = 0; number < options.threads; ++number)
      workers_.push_back(
          std::make_unique<ReplayWorker>(options, number, start_, &measured_begin_, &queues_));
  }
  ~ReplayWorkers() { Join(); }
  ReplayWorkers(const ReplayWorkers&) = delete;
  ReplayWorkers& operator=(const ReplayWorkers&) = delete;

  // Starts the threads, and then the clock.
  absl::Status Start() {
    for (const auto& worker : workers_) STELE_RETURN_IF_ERROR(worker->Start(workers_.size()));
    start_ = SteadyClock::now();
    return absl::OkStatus();
  }

  // The first operation that is measured is due then, after the start. In a closed loop, the first
  // one that begins sets the time.
  void BeginMeasuring(std::chrono::nanoseconds due) { measured_begin_.SetOnce(start_ + due); }

  // `due`: after the start.
  void Push(ReplayOperation operation, std::chrono::nanoseconds due) {
    operation.due = start_ + due;
    // The rows of a drop may belong to all threads.
    const bool is_alone = !operation.prepared.has_value() && operation.record.op == TraceOp::kDrop;
    if (is_alone) queues_.AwaitEmpty();
    const uint64_t number = Fnv1a(FirstKey(operation)) % workers_.size();
    queues_.Push(number, std::move(operation));
    if (is_alone) queues_.AwaitEmpty();
  }

  // Any thread may call this. No operation begins after it.
  void Stop() {
    for (const auto& worker : workers_) worker->Stop();
    queues_.Cancel();
  }

  void Join() {
    queues_.Finish();
    for (const auto& worker : workers_) worker->Join();
  }

  const std::vector<std::unique_ptr<ReplayWorker>>& workers() const { return workers_; }

 private:
  SteadyClock::time_point start_;
  MeasuredBegin measured_begin_;
  OperationQueues queues_;
  std::vector<std::unique_ptr<ReplayWorker>> workers_;
};

uint64_t EndedOperations(const ReplayWorkers& workers) {
  uint64_t sum = 0;
  for (const auto& worker : workers.workers()) sum += worker->figures().ended;
  return sum;
}

OperationRates RatesOf(const IntervalCounts& counts, std::chrono::nanoseconds time) {
  return {.interval = counts.width(), .time = time, .operations = counts.counts()};
}

// Adds what the threads measured.
void AddFigures(const ReplayWorkers& workers, const ReplayOptions& options, ReplayReport* report) {
  std::optional<SteadyClock::time_point> begin;
  SteadyClock::time_point end;
  IntervalCounts end_counts;
  IntervalCounts due_counts;
  IntervalLog intervals;
  for (const auto& worker : workers.workers()) {
    const WorkerFigures& figures = worker->figures();
    for (const auto& [name, operations] : figures.operations)
      report->operations[std::string(name)].Add(operations);
    for (const auto& [code, count] : figures.errors) report->errors[code] += count;
    if (report->first_error.empty()) report->first_error = figures.first_error;
    intervals.Add(figures.intervals);
    end_counts.Add(figures.end_counts);
    due_counts.Add(figures.due_counts);
    report->lag = std::max(report->lag, figures.lag);
    if (!figures.begin.has_value()) continue;
    begin = figures.begin;
    end = std::max(end, figures.end);
  }
  if (begin.has_value()) {
    report->time = TimeSince(*begin, end);
    report->rates = RatesOf(end_counts, report->time);
    if (options.rate.is_open_loop()) report->due_rates = RatesOf(due_counts, due_counts.time());
  }
  if (options.keeps_intervals) report->interval_log = IntervalLog::Head() + intervals.Lines("");
}

}  // namespace

absl::Status RunReplay(const ReplayOptions& options, OperationSource& source,
                       ReplayReport* report) {
  // The first operation is read before the clock starts.
  absl::StatusOr<std::optional<ReplayOperation>> first = source.Next(report);
  report->end = first.status();
  if (IsReplayStopped(options, first.status())) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(first.status());
  std::optional<ReplayOperation> next = *std::move(first);
  ReplayWorkers workers(options);
  const double cpu_before = CpuSeconds();
  STELE_RETURN_IF_ERROR(workers.Start());
  // Destroyed before `workers`. Its destructor waits for a running call of Stop().
  const std::stop_callback on_stop(options.stop, [&workers] { workers.Stop(); });
  std::optional<std::chrono::nanoseconds> first_due;
  uint64_t pushed = 0;
  while (next.has_value() && !options.stop.stop_requested()) {
    const std::chrono::nanoseconds due = DueAfter(options.rate, next->number, next->micros);
    const bool is_warmup = next->number < options.warmup_operations ||
                           (options.rate.is_open_loop() && due < options.warmup);
    if (!is_warmup && !first_due.has_value()) {
      first_due = due;
      if (options.rate.is_open_loop()) workers.BeginMeasuring(due);
    }
    report->scheduled = std::max(report->scheduled, due - first_due.value_or(due));
    workers.Push(*std::move(next), due);
    ++pushed;
    if (options.progress) options.progress(source.read());
    auto following = source.Next(report);
    report->end = following.status();
    next = following.ok() ? *std::move(following) : std::nullopt;
  }
  workers.Join();
  report->cpu_seconds = CpuSeconds() - cpu_before;
  AddFigures(workers, options, report);
  // A stop after the last operation changes nothing.
  if (report->end.ok() && (next.has_value() || EndedOperations(workers) < pushed))
    report->end = ReplayStopped();
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
