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
#include "lab/trace/trace_reader.h"
#include "replay/operation_queues.h"
#include "replay/replay_operation.h"

namespace stele::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLate(1);

// What one thread measured.
struct Measured {
  ReplayResult result;
  std::optional<SteadyClock::time_point> begin;  // of the first operation that counts
  SteadyClock::time_point end;
};

// One thread of a replay.
class Worker {
 public:
  // `start` is set before the first operation is in a queue.
  Worker(const ReplayOptions& options, uint64_t thread, const SteadyClock::time_point& start,
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

  Measured& measured() { return measured_; }

 private:
  void RunOne(const ReplayOperation& operation) {
    if (options_.is_open_loop()) std::this_thread::sleep_until(operation.due);
    BenchCounts counts;
    const SteadyClock::time_point begin = SteadyClock::now();
    const absl::Status status = replayer_.Run(operation, &counts);
    const SteadyClock::time_point end = SteadyClock::now();
    const SteadyClock::time_point due = options_.is_open_loop() ? operation.due : begin;
    if (operation.number < options_.warmup_operations || due < start_ + options_.warmup) return;
    if (!measured_.begin.has_value()) measured_.begin = begin;
    measured_.end = end;
    measured_.result.lag = begin - due;
    if (!status.ok()) {
      counts = {};
      AddError(status);
    }
    counts.operations = 1;
    counts.late = begin - due > kLate ? 1 : 0;
    const std::string_view name = NameOf(operation.record.op);
    ReplayPart& part = measured_.result.parts[name];
    part.counts += counts;
    part.latencies.Record(static_cast<uint64_t>((end - due).count()));
    part.service_times.Record(static_cast<uint64_t>((end - begin).count()));
    if (!options_.hlog_path.empty())
      measured_.result.intervals.Record(name, end - start_,
                                        static_cast<uint64_t>((end - due).count()));
  }

  void AddError(const absl::Status& status) {
    ++measured_.result
          .errors[std::string(internal::ToStd(absl::StatusCodeToString(status.code())))];
    if (measured_.result.first_error.empty())
      measured_.result.first_error = internal::ToStd(status.message());
  }

  const ReplayOptions& options_;
  const uint64_t thread_;
  const SteadyClock::time_point& start_;
  OperationQueues& queues_;
  OperationReplayer replayer_;
  Measured measured_;
};

// The threads. They end when the queues are finished, which the destructor does.
class Workers {
 public:
  explicit Workers(const ReplayOptions& options) : queues_(options.threads) {
    for (uint64_t thread = 0; thread < options.threads; ++thread)
      workers_.push_back(std::make_unique<Worker>(options, thread, start_, &queues_));
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
    const bool is_alone = operation.record.op == internal::lab::TraceOp::kDrop;
    if (is_alone) queues_.AwaitEmpty();
    const uint64_t thread = Fnv1a(FirstKey(operation.record)) % workers_.size();
    queues_.Push(thread, std::move(operation));
    if (is_alone) queues_.AwaitEmpty();
  }

  void Join() {
    queues_.Finish();
    threads_.clear();
  }

  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }

 private:
  SteadyClock::time_point start_;
  OperationQueues queues_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
};

// Reads the trace, and gives its operations to the threads.
class TraceSource {
 public:
  TraceSource(const ReplayOptions& options, const Database& database)
      : options_(options), database_(database) {}

  absl::Status Open() {
    STELE_ASSIGN_OR_RETURN(
        reader_, internal::lab::TraceReader::Open(options_.trace_path, options_.skips_bad));
    return absl::OkStatus();
  }

  // Returns nothing at the end. Operations that are not replayed are counted and left out.
  absl::StatusOr<std::optional<ReplayOperation>> Next(ReplayResult* result) {
    ReplayOperation operation;
    while (!options_.limit.has_value() || read_ < *options_.limit) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader_->Next(&operation.record));
      result->skipped_lines = reader_->skipped();
      if (!any) return std::nullopt;
      if (read_++ == 0) first_micros_ = operation.record.micros;
      result->sample = std::max(result->sample, operation.record.sample);
      const std::string_view why = SkipReason(operation.record, options_.writes);
      if (!why.empty()) {
        ++result->skipped[why];
        continue;
      }
      STELE_ASSIGN_OR_RETURN(const std::optional<Table> table, FindTable(operation.record.table));
      if (!table.has_value()) {
        ++result->skipped["operations on tables that the database does not have"];
        continue;
      }
      operation.table = *table;
      operation.number = replayed_++;
      return operation;
    }
    return std::nullopt;
  }

  // The time after the start at which the operation is due.
  std::chrono::nanoseconds DueAfter(const ReplayOperation& operation) const {
    if (options_.rate.has_value())
      return Nanos(static_cast<double>(operation.number) / *options_.rate);
    if (!options_.speed.has_value()) return std::chrono::nanoseconds(0);
    const auto micros = static_cast<double>(operation.record.micros - first_micros_);
    return Nanos(micros / 1e6 / *options_.speed);
  }

  uint64_t read() const { return read_; }

 private:
  // A trace may end in a distant year: a time is at most 100 years.
  static std::chrono::nanoseconds Nanos(double seconds) {
    constexpr double kSecondsMax = 100.0 * 365 * 24 * 3600;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::min(seconds, kSecondsMax)));
  }

  // Returns nothing for a missing table, unless it is the first one.
  absl::StatusOr<std::optional<Table>> FindTable(const std::string& name) {
    const auto known = tables_.find(name);
    if (known != tables_.end()) return known->second;
    const auto mapped = options_.tables.find(name);
    const std::string& target = mapped == options_.tables.end() ? name : mapped->second;
    absl::StatusOr<Table> table = database_.OpenTable(target);
    const bool is_missing = table.status().code() == absl::StatusCode::kNotFound ||
                            table.status().code() == absl::StatusCode::kInvalidArgument;
    if (is_missing && tables_.empty()) {
      return internal::NotFound(
          "the trace uses the table \"{}\", and the database has no table \"{}\"; --map OLD=NEW "
          "replays on another table",
          internal::Printable(name), internal::Printable(target));
    }
    if (!table.ok() && !is_missing) return table.status();
    std::optional<Table> found;
    if (table.ok()) found = *std::move(table);
    return tables_[name] = found;
  }

  const ReplayOptions& options_;
  Database database_;
  std::unique_ptr<internal::lab::TraceReader> reader_;
  std::map<std::string, std::optional<Table>> tables_;  // by the name in the trace
  uint64_t read_ = 0;                                   // operations of the trace
  uint64_t replayed_ = 0;                               // those that are replayed
  int64_t first_micros_ = 0;
};

// Adds what the threads measured.
void AddMeasured(const Workers& workers, ReplayResult* result) {
  std::optional<SteadyClock::time_point> begin;
  SteadyClock::time_point end;
  for (const auto& worker : workers.workers()) {
    Measured& measured = worker->measured();
    for (const auto& [name, part] : measured.result.parts) {
      ReplayPart& sum = result->parts[name];
      sum.counts += part.counts;
      sum.latencies.Add(part.latencies);
      sum.service_times.Add(part.service_times);
    }
    for (const auto& [code, count] : measured.result.errors) result->errors[code] += count;
    if (result->first_error.empty()) result->first_error = measured.result.first_error;
    result->intervals.Add(measured.result.intervals);
    result->lag = std::max(result->lag, measured.result.lag);
    if (!measured.begin.has_value()) continue;
    begin = std::min(begin.value_or(*measured.begin), *measured.begin);
    end = std::max(end, measured.end);
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

absl::StatusOr<ReplayResult> Replay(const ReplayOptions& options, const Database& database,
                                    const std::function<void(uint64_t operations)>& progress) {
  ReplayResult result;
  TraceSource source(options, database);
  STELE_RETURN_IF_ERROR(source.Open());
  // The first operation is read before the clock starts.
  STELE_ASSIGN_OR_RETURN(std::optional<ReplayOperation> next, source.Next(&result));
  Workers workers(options);
  const double cpu_before = CpuSeconds();
  STELE_RETURN_IF_ERROR(workers.Start());
  std::optional<std::chrono::nanoseconds> first_due;
  while (next.has_value()) {
    const std::chrono::nanoseconds due = source.DueAfter(*next);
    const bool is_warmup = next->number < options.warmup_operations ||
                           (options.is_open_loop() && due < options.warmup);
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
  AddMeasured(workers, &result);
  return result;
}

}  // namespace stele::cli
