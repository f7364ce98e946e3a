#include "steled/monitoring/call_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace stele::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The durations range from cached point reads to long scans.
const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
    0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};

constexpr std::array<const char*, 17> kCodeNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

size_t IndexOf(absl::StatusCode code) {
  const auto index = static_cast<size_t>(code);
  return index < kCodeNames.size() ? index : static_cast<size_t>(absl::StatusCode::kUnknown);
}

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;

// The families that all methods share.
struct CallFamilies {
  explicit CallFamilies(prometheus::Registry* registry)
      : calls(prometheus::BuildCounter()
                  .Name("steled_calls_total")
                  .Help("Calls that ended or were refused, by method and code")
                  .Register(*registry)),
        seconds(
            prometheus::BuildHistogram()
                .Name("steled_call_seconds")
                .Help("Time from the start of a call to its status; refused calls are not included")
                .Register(*registry)),
        received(prometheus::BuildCounter()
                     .Name("steled_received_bytes_total")
                     .Help("Bytes of request messages")
                     .Register(*registry)),
        sent(prometheus::BuildCounter()
                 .Name("steled_sent_bytes_total")
                 .Help("Bytes of response messages")
                 .Register(*registry)) {}

  Family<Counter>& calls;
  Family<Histogram>& seconds;
  Family<Counter>& received;
  Family<Counter>& sent;
};

// The metrics of one method. A lookup in a family takes a lock, so each metric is looked up once,
// for the first call that it counts. Methods without calls have no metrics.
class MethodMetrics {
 public:
  MethodMetrics(CallFamilies* families, std::string label)
      : families_(*families), label_(std::move(label)) {}

  // A refused call has no duration, and would count as a fast one.
  void CountRefused(absl::StatusCode code) { CallsOf(code).Increment(); }

  void Count(absl::StatusCode code, SteadyClock::duration elapsed, size_t received_bytes,
             size_t sent_bytes) {
    std::call_once(made_, [this] {
      seconds_ = &families_.seconds.Add({{"method", label_}}, kSeconds);
      received_ = &families_.received.Add({{"method", label_}});
      sent_ = &families_.sent.Add({{"method", label_}});
    });
    CallsOf(code).Increment();
    seconds_->Observe(std::chrono::duration<double>(elapsed).count());
    received_->Increment(static_cast<double>(received_bytes));
    sent_->Increment(static_cast<double>(sent_bytes));
  }

 private:
  // Two concurrent lookups get the same one.
  Counter& CallsOf(absl::StatusCode code) {
    const size_t index = IndexOf(code);
    Counter* counter = calls_[index].load(std::memory_order_acquire);
    if (counter == nullptr) {
      counter = &families_.calls.Add({{"method", label_}, {"code", kCodeNames[index]}});
      calls_[index].store(counter, std::memory_order_release);
    }
    return *counter;
  }

  CallFamilies& families_;
  const std::string label_;
  std::once_flag made_;
  Histogram* seconds_ = nullptr;  // this and the next two: written once, under made_
  Counter* received_ = nullptr;
  Counter* sent_ = nullptr;
  // Stored with release; loads acquire it.
  std::array<std::atomic<Counter*>, kCodeNames.size()> calls_{};
};

std::array<Counter*, kRefusalCauses> CountersByCause(prometheus::Registry* registry) {
  Family<Counter>& family = prometheus::BuildCounter()
                                .Name("steled_refusals_total")
                                .Help("Calls and connections that were refused, by cause")
                                .Register(*registry);
  std::array<Counter*, kRefusalCauses> counters{};
  for (size_t cause = 0; cause < counters.size(); ++cause) {
    const std::string name(NameOf(static_cast<RefusalCause>(cause)));
    counters[cause] = &family.Add({{"cause", name}});
  }
  return counters;
}

}  // namespace

struct CallMetrics::Series {
  explicit Series(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) methods.try_emplace(path, &families, path);
  }

  MethodMetrics& Of(const std::string& path) {
    const auto method = methods.find(path);
    return method == methods.end() ? other : method->second;
  }

  Counter& Refusals(RefusalCause cause) { return *refusals[static_cast<size_t>(cause)]; }

  prometheus::Registry registry;
  CallFamilies families{&registry};
  prometheus::Gauge& running = prometheus::BuildGauge()
                                   .Name("steled_running_calls")
                                   .Help("Calls that have begun and not ended")
                                   .Register(registry)
                                   .Add({});
  const std::array<Counter*, kRefusalCauses> refusals = CountersByCause(&registry);
  Counter& failed_handshakes = prometheus::BuildCounter()
                                   .Name("steled_failed_handshakes_total")
                                   .Help("Connections that did not get to HTTP/2")
                                   .Register(registry)
                                   .Add({});
  // By path. Not changed after the construction.
  std::unordered_map<std::string, MethodMetrics> methods;
  MethodMetrics other{&families, "other"};
};

CallMetrics::CallMetrics(const std::vector<std::string>& paths)
    : series_(std::make_unique<Series>(paths)) {}
CallMetrics::~CallMetrics() = default;

void CallMetrics::OnBegin(const std::string& /*path*/) { series_->running.Increment(); }

void CallMetrics::OnEnd(const EndedCall& call) {
  series_->running.Decrement();
  series_->Of(call.path).Count(call.code, call.elapsed, call.received_bytes, call.sent_bytes);
  if (call.is_beyond_memory) series_->Refusals(RefusalCause::kMemory).Increment();
}

void CallMetrics::OnRefused(const RefusedCall& call) {
  if (call.has_begun) series_->running.Decrement();
  series_->Refusals(call.cause).Increment();
  series_->Of(call.path).CountRefused(call.code);
}

void CallMetrics::OnConnectionRefused(const std::string& /*peer*/) {
  series_->Refusals(RefusalCause::kConnectionLimit).Increment();
}

void CallMetrics::OnHandshakeFailed(const std::string& /*peer*/, std::string_view /*reason*/) {
  series_->failed_handshakes.Increment();
}

std::vector<prometheus::MetricFamily> CallMetrics::Collect() const {
  return series_->registry.Collect();
}

}  // namespace stele::server
