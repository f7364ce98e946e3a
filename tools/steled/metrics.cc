#include "metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "errors.h"

namespace stele::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

// From a cached point read to a long scan.
const prometheus::Histogram::BucketBoundaries kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
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

// ---- calls ----

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;

// What is counted of all methods, by labels.
struct CallFamilies {
  explicit CallFamilies(prometheus::Registry* registry)
      : calls(prometheus::BuildCounter().Name("steled_calls_total").Help("Calls that ended, by method and code").Register(*registry)),
        seconds(prometheus::BuildHistogram().Name("steled_call_seconds").Help("From a call's beginning to its status").Register(*registry)),
        received(prometheus::BuildCounter().Name("steled_received_bytes_total").Help("Of requests, as messages").Register(*registry)),
        sent(prometheus::BuildCounter().Name("steled_sent_bytes_total").Help("Of answers, as messages").Register(*registry)) {}

  Family<Counter>& calls;
  Family<Histogram>& seconds;
  Family<Counter>& received;
  Family<Counter>& sent;
};

// Of one method. A family finds a metric by a map of labels, under a lock, so each is asked for once: with the first call that it counts,
// for methods that nobody calls would fill the page.
class MethodMetrics {
 public:
  MethodMetrics(CallFamilies* families, std::string label) : families_(*families), label_(std::move(label)) {}

  // One that never began took no time, and would look like a fast one.
  void CountRefused(absl::StatusCode code) { CallsOf(code).Increment(); }

  void Count(absl::StatusCode code, SteadyClock::duration elapsed, size_t received_bytes, size_t sent_bytes) {
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
  // Two that ask at once get the same one.
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
  std::array<std::atomic<Counter*>, kCodeNames.size()> calls_{};  // the store that fills one meets the loads of others
};

}  // namespace

class CallMetrics : public prometheus::Collectable, public CallObserver {
 public:
  explicit CallMetrics(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) methods_.try_emplace(path, &families_, path);
  }

  void OnBegin(const std::string& /*path*/) override { running_.Increment(); }

  void OnEnd(const std::string& path, absl::StatusCode code, SteadyClock::duration elapsed, size_t received_bytes,
             size_t sent_bytes) override {
    running_.Decrement();
    const auto method = methods_.find(path);
    (method == methods_.end() ? other_ : method->second).Count(code, elapsed, received_bytes, sent_bytes);
  }

  void OnRefused(const std::string& path, absl::StatusCode code) override {
    const auto method = methods_.find(path);
    (method == methods_.end() ? other_ : method->second).CountRefused(code);
  }

  std::vector<prometheus::MetricFamily> Collect() const override { return registry_.Collect(); }

 private:
  prometheus::Registry registry_;
  CallFamilies families_{&registry_};
  prometheus::Gauge& running_ =
      prometheus::BuildGauge().Name("steled_running_calls").Help("Calls that have begun and not ended").Register(registry_).Add({});
  std::unordered_map<std::string, MethodMetrics> methods_;  // by path; immutable but for what they count
  MethodMetrics other_{&families_, "other"};
};

namespace {

// ---- the database ----

prometheus::MetricFamily FamilyOf(std::string_view name, std::string_view help, bool is_counter, double value) {
  prometheus::MetricFamily family;
  family.name = std::string(name);
  family.help = std::string(help);
  family.type = is_counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  family.metric.resize(1);
  (is_counter ? family.metric[0].counter.value : family.metric[0].gauge.value) = value;
  return family;
}

class DatabaseMetrics : public prometheus::Collectable {
 public:
  explicit DatabaseMetrics(Database database) : database_(std::move(database)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    const DatabaseStats stats = database_.Stats();
    std::vector<prometheus::MetricFamily> families;
    const auto gauge = [&](std::string_view name, std::string_view help, auto value) {
      families.push_back(FamilyOf(name, help, false, static_cast<double>(value)));
    };
    const auto counter = [&](std::string_view name, std::string_view help, auto value) {
      families.push_back(FamilyOf(name, help, true, static_cast<double>(value)));
    };
    gauge("stele_tables", "Tables of the database", stats.tables);
    gauge("stele_memory_bytes", "All that counts against the memory budget", stats.memory_bytes);
    gauge("stele_memtable_bytes", "Of memory: memtables", stats.memtable_bytes);
    gauge("stele_cache_bytes", "Of memory: the cache", stats.cache_bytes);
    gauge("stele_reader_bytes", "Of memory: what readers and jobs hold beside the cache", stats.reader_bytes);
    gauge("stele_index_bytes", "Of memory: indexes and blooms of open SSTables", stats.index_bytes);
    gauge("stele_job_bytes", "Of memory: what flushes and compactions build", stats.job_bytes);
    gauge("stele_write_bytes", "Of memory: large batches on their way", stats.write_bytes);
    gauge("stele_pinned_bytes", "Memory and files that only snapshots and readers still need", stats.pinned_bytes);
    gauge("stele_log_bytes", "The commit log on disk", stats.log_bytes);
    gauge("stele_files", "SSTables", stats.files);
    gauge("stele_disk_bytes", "Bytes of the database's files", stats.bytes_on_disk);
    gauge("stele_background_error", "1 while flushes or compactions fail, or writing has stopped",
          stats.last_background_error.ok() ? 0 : 1);
    counter("stele_commits_total", "Commits", stats.commits);
    counter("stele_flushes_total", "Memtables that became SSTables", stats.flushes);
    counter("stele_flushed_bytes_total", "Written by flushes", stats.bytes_flushed);
    counter("stele_compactions_total", "Compactions that read and wrote", stats.compactions);
    counter("stele_compacted_bytes_total", "Written by compactions", stats.bytes_compacted);
    counter("stele_loaded_bytes_total", "Written by bulk loads", stats.bytes_loaded);
    counter("stele_tablet_splits_total", "Tablets that became two", stats.tablet_splits);
    counter("stele_view_spills_total", "Memtables written to files because readers held them", stats.view_spills);
    return families;
  }

 private:
  const Database database_;
};

}  // namespace

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

absl::StatusOr<std::unique_ptr<Metrics>> Metrics::Start(const std::string& listen, Database database, const std::vector<std::string>& paths,
                                                        std::function<bool()> is_serving) {
  std::unique_ptr<Metrics> metrics(new Metrics());
  metrics->calls_ = std::make_shared<CallMetrics>(paths);
  metrics->database_ = std::make_shared<DatabaseMetrics>(std::move(database));
  const auto figures = [calls = metrics->calls_, figures_of_database = metrics->database_] {
    std::vector<prometheus::MetricFamily> families = calls->Collect();
    for (prometheus::MetricFamily& family : figures_of_database->Collect()) families.push_back(std::move(family));
    return HttpPages::Page{.type = "text/plain; version=0.0.4; charset=utf-8", .body = prometheus::TextSerializer().Serialize(families)};
  };
  const auto health = [is_serving = std::move(is_serving)] {
    return is_serving() ? HttpPages::Page{.body = "serving\n"} : HttpPages::Page{.status = 503, .body = "not serving\n"};
  };
  STELED_ASSIGN_OR_RETURN(metrics->pages_, HttpPages::Serve(listen, {{"/metrics", figures}, {"/healthz", health}}));
  return metrics;
}

CallObserver* Metrics::observer() const { return calls_.get(); }

}  // namespace stele::server
