#include "replay/runner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bench/figures.h"
#include "bench/random.h"
#include "replay/operation_queues.h"
#include "replay/replay_operation.h"

namespace stele::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLate(1);

// What one thread measured.
struct WorkerFigures {
  ReplayResult result;
  // When the first operation that counts was due.
  std::optional<SteadyClock::time_point> begin;
  SteadyClock::time_point end;
};

// One thread of a replay.
class ReplayWorker {
 public:
  // `start` is set before the first operation is in a queue.
  ReplayWorker(const ReplayOptions& options, uint64_t thread, const SteadyClock::time_point& start,
               OperationQueues* queues)
      : options_(options),
        thread_(thread),
        start_(start),
        queues_(*queues),
        replayer_(options.seed) {}

  void Run() {
    std::vector<ReplayOperation> operations;
    while (queues_.Take(thread_, &operations))
      for (const ReplayOperation& operation : operations) RunOne(operation);
  }

  WorkerFigures& figures() { return figures_; }

 private:
  void RunOne(const ReplayOperation& operation) {
    if (options_.pace.is_open_loop()) std::this_thread::sleep_until(operation.due);
    BenchCounts counts;
    const SteadyClock::time_point begin = SteadyClock::now();
    const absl::Status status = replayer_.Run(operation, &counts);
    const SteadyClock::time_point end = SteadyClock::now();
    const SteadyClock::time_point due = options_.pace.is_open_loop() ? operation.due : begin;
    if (operation.number < options_.warmup_operations || due < start_ + options_.warmup) return;
    if (!figures_.begin.has_value()) figures_.begin = due;
    figures_.end = end;
    figures_.result.lag = begin - due;
    if (!status.ok()) {
      counts = {};
      AddError(status);
    }
    counts.operations = 1;
    counts.late = begin - due > kLate ? 1 : 0;
    const std::string_view name = operation.name;
    ReplayPart& part = figures_.result.parts[name];
    part.counts += counts;
    part.latencies.Record(static_cast<uint64_t>((end - due).count()));
    part.service_times.Record(static_cast<uint64_t>((end - begin).count()));
    if (!options_.hlog_path.empty())
      figures_.result.intervals.Record(name, end - start_,
                                       static_cast<uint64_t>((end - due).count()));
  }

  void AddError(const absl::Status& status) {
    ++figures_.result.errors[std::string(internal::ToStd(absl::StatusCodeToString(status.code())))];
    if (figures_.result.first_error.empty())
      figures_.result.first_error = internal::ToStd(status.message());
  }

  const ReplayOptions& options_;
  const uint64_t thread_;
  const SteadyClock::time_point& start_;
  OperationQueues& queues_;
  OperationReplayer replayer_;
  WorkerFigures figures_;
};

// The threads. They end when the queues are finished, which the destructor does.
class Workers {
 public:
  explicit Workers(const ReplayOptions& options) : queues_(options.threads) {
    for (uint64_t thread = 0; thread < options.threads; ++thread)
      workers_.push_back(std::make_unique<ReplayWorker>(options, thread, start_, &queues_));
  }
  ~Workers() { Join(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Starts the threads, and then the clock.
  absl::Status Start() {
    try {
      for (const auto& worker : workers_) threads_.emplace_back([&worker] { worker->Run(); });
    } catch (const std::system_error& error) {
      return internal::ResourceExhausted(
          "thread {} of {} could not be started: {}; use fewer --threads", threads_.size() + 1,
          workers_.size(), error.what());
    }
    start_ = SteadyClock::now();
    return absl::OkStatus();
  }

  // `due`: after the start.
  void Push(ReplayOperation operation, std::chrono::nanoseconds due) {
    operation.due = start_ + due;
    // The rows of a drop may belong to all threads.
    const bool is_alone =
        !operation.prepared.has_value() && operation.record.op == internal::lab::TraceOp::kDrop;
    if (is_alone) queues_.AwaitEmpty();
    const uint64_t thread = Fnv1a(FirstKey(operation)) % workers_.size();
    queues_.Push(thread, std::move(operation));
    if (is_alone) queues_.AwaitEmpty();
  }

  void Join() {
    queues_.Finish();
    threads_.clear();
  }

  const std::vector<std::unique_ptr<ReplayWorker>>& workers() const { return workers_; }

 private:
  SteadyClock::time_point start_;
  OperationQueues queues_;
  std::vector<std::unique_ptr<ReplayWorker>> workers_;
  std::vector<std::jthread> threads_;
};

// Adds what the threads measured.
void AddFigures(const Workers& workers, ReplayResult* result) {
  std::optional<SteadyClock::time_point> begin;
  SteadyClock::time_point end;
  for (const auto& worker : workers.workers()) {
    WorkerFigures& figures = worker->figures();
    for (const auto& [name, part] : figures.result.parts) {
      ReplayPart& sum = result->parts[name];
      sum.counts += part.counts;
      sum.latencies.Add(part.latencies);
      sum.service_times.Add(part.service_times);
    }
    for (const auto& [code, count] : figures.result.errors) result->errors[code] += count;
    if (result->first_error.empty()) result->first_error = figures.result.first_error;
    result->intervals.Add(figures.result.intervals);
    result->lag = std::max(result->lag, figures.result.lag);
    if (!figures.begin.has_value()) continue;
    begin = std::min(begin.value_or(*figures.begin), *figures.begin);
    end = std::max(end, figures.end);
  }
  if (begin.has_value()) result->time = end - *begin;
}

}  // namespace

ReplayPart ReplayResult::Sum() const {
  ReplayPart sum;
  for (const auto& [name, part] : parts) {
    sum.counts += part.counts;
    sum.latencies.Add(part.latencies);
    sum.service_times.Add(part.service_times);
  }
  return sum;
}

absl::StatusOr<ReplayResult> Replay(const ReplayOptions& options, OperationSource& source,
                                    const std::function<void(uint64_t operations)>& progress) {
  ReplayResult result;
  // The first operation is read before the clock starts.
  STELE_ASSIGN_OR_RETURN(std::optional<ReplayOperation> next, source.Next(&result));
  Workers workers(options);
  const double cpu_before = CpuSeconds();
  STELE_RETURN_IF_ERROR(workers.Start());
  std::optional<std::chrono::nanoseconds> first_due;
  while (next.has_value()) {
    const std::chrono::nanoseconds due = options.pace.DueAfter(next->number, next->micros);
    const bool is_warmup = next->number < options.warmup_operations ||
                           (options.pace.is_open_loop() && due < options.warmup);
    if (!is_warmup && !first_due.has_value()) first_due = due;
    result.scheduled = std::max(result.scheduled, due - first_due.value_or(due));
    workers.Push(*std::move(next), due);
    progress(source.read());
    auto following = source.Next(&result);
    result.end = following.status();
    next = following.ok() ? *std::move(following) : std::nullopt;
  }
  workers.Join();
  result.cpu_seconds = CpuSeconds() - cpu_before;
  AddFigures(workers, &result);
  return result;
}

}  // namespace stele::cli
