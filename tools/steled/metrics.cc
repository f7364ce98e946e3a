#include "metrics.h"

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/interceptor.h>
#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

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

const char* CodeName(int code) {
  return code >= 0 && static_cast<size_t>(code) < kCodeNames.size() ? kCodeNames[static_cast<size_t>(code)] : "UNKNOWN";
}

}  // namespace

// ---- calls ----

class CallMetrics : public prometheus::Collectable {
 public:
  void Begin() { running_.Increment(); }

  void End(const std::string& method, int code, SteadyClock::duration elapsed) {
    running_.Decrement();
    calls_.Add({{"method", method}, {"code", CodeName(code)}}).Increment();
    seconds_.Add({{"method", method}}, kSeconds).Observe(std::chrono::duration<double>(elapsed).count());
  }

  void Received(const std::string& method, size_t bytes) { received_.Add({{"method", method}}).Increment(static_cast<double>(bytes)); }
  void Sent(const std::string& method, size_t bytes) { sent_.Add({{"method", method}}).Increment(static_cast<double>(bytes)); }

  std::vector<prometheus::MetricFamily> Collect() const override { return registry_.Collect(); }

 private:
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& calls_ =
      prometheus::BuildCounter().Name("steled_calls_total").Help("Calls that ended, by method and code").Register(registry_);
  prometheus::Family<prometheus::Histogram>& seconds_ =
      prometheus::BuildHistogram().Name("steled_call_seconds").Help("From a call's beginning to its status").Register(registry_);
  prometheus::Family<prometheus::Counter>& received_ =
      prometheus::BuildCounter().Name("steled_received_bytes_total").Help("Of requests, as messages").Register(registry_);
  prometheus::Family<prometheus::Counter>& sent_ =
      prometheus::BuildCounter().Name("steled_sent_bytes_total").Help("Of answers, as messages").Register(registry_);
  prometheus::Gauge& running_ =
      prometheus::BuildGauge().Name("steled_running_calls").Help("Calls that have begun and not ended").Register(registry_).Add({});
};

namespace {

using grpc::experimental::InterceptionHookPoints;

class CallCounter final : public grpc::experimental::Interceptor {
 public:
  CallCounter(std::shared_ptr<CallMetrics> metrics, const char* method)
      : metrics_(std::move(metrics)), method_(method), is_ours_(method_.starts_with("/google.")) {
    metrics_->Begin();
  }
  // A call that gets no status was given up by its client.
  ~CallCounter() override { metrics_->End(method_, code_, SteadyClock::now() - begin_); }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) CountReceived(methods->GetRecvMessage());
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) CountSent(methods->GetSerializedSendMessage());
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      code_ = static_cast<int>(methods->GetSendStatus().error_code());
    }
    methods->Proceed();
  }

 private:
  // The services of google.* are those that protoc wrote, whose messages are protobuf's.
  void CountReceived(const void* message) {
    if (message == nullptr || !is_ours_) return;
    metrics_->Received(method_, static_cast<const google::protobuf::MessageLite*>(message)->ByteSizeLong());
  }

  void CountSent(const grpc::ByteBuffer* message) {
    if (message != nullptr) metrics_->Sent(method_, message->Length());
  }

  const std::shared_ptr<CallMetrics> metrics_;
  const std::string method_;
  const bool is_ours_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  int code_ = static_cast<int>(grpc::StatusCode::CANCELLED);
};

class CallCounterFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallCounterFactory(std::shared_ptr<CallMetrics> metrics) : metrics_(std::move(metrics)) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override {
    return new CallCounter(metrics_, info->method());  // gRPC deletes it
  }

 private:
  const std::shared_ptr<CallMetrics> metrics_;
};

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

absl::StatusOr<std::unique_ptr<Metrics>> Metrics::Start(const std::string& listen, Database database) {
  std::unique_ptr<Metrics> metrics(new Metrics());
  metrics->calls_ = std::make_shared<CallMetrics>();
  metrics->database_ = std::make_shared<DatabaseMetrics>(std::move(database));
  try {
    metrics->exposer_ = std::make_unique<prometheus::Exposer>(listen);
  } catch (const std::exception&) {
    return MakeStatus(absl::StatusCode::kUnavailable, fmt::format("cannot listen for --metrics on {}: is the port taken?", listen));
  }
  metrics->exposer_->RegisterCollectable(metrics->calls_);
  metrics->exposer_->RegisterCollectable(metrics->database_);
  const std::vector<int> ports = metrics->exposer_->GetListeningPorts();
  if (ports.empty()) return MakeStatus(absl::StatusCode::kUnavailable, fmt::format("cannot listen for --metrics on {}", listen));
  metrics->address_ = listen.substr(0, listen.rfind(':')) + ":" + std::to_string(ports.front());
  return metrics;
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Metrics::NewInterceptorFactory() const {
  return std::make_unique<CallCounterFactory>(calls_);
}

}  // namespace stele::server
