#include "steled/monitoring/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "steled/monitoring/metrics.h"

namespace stele::server {
namespace {

// Figures of a process from proc(5), in the kernel's units.
struct ProcStat {
  double cpu_ticks = 0;
  double threads = 0;
  double start_ticks = 0;  // since the boot
  double virtual_bytes = 0;
  double resident_pages = 0;
};

std::optional<ProcStat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field is the program's name in parentheses, which may contain anything.
  const size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(name_end + 2));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  constexpr size_t kFirst = 3;  // the number of fields[0] in proc(5)
  const auto field = [&fields](size_t number) { return std::stod(fields[number - kFirst]); };
  if (fields.size() <= 24 - kFirst) return std::nullopt;
  return ProcStat{.cpu_ticks = field(14) + field(15),
                  .threads = field(20),
                  .start_ticks = field(22),
                  .virtual_bytes = field(23),
                  .resident_pages = field(24)};
}

// When the machine was booted, in seconds since 1970.
std::optional<double> BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> OpenDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return std::nullopt;
  return static_cast<double>(std::distance(begin(entries), end(entries)));
}

class ProcessMetrics final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override {
    FamilyBuilder families;
    families.AddFamily("steled_build_info", "Version of the server; the value is 1",
                       prometheus::MetricType::Gauge);
    families.Add({{"version", STELE_VERSION}, {"compiler", __VERSION__}}, 1);
    if (const std::optional<ProcStat> stat = ReadStat()) AddStat(*stat, &families);
    if (const std::optional<double> count = OpenDescriptors())
      families.Gauge("process_open_fds", "Open file descriptors", *count);
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
      families.Gauge("process_max_fds", "Maximum number of open file descriptors",
                     static_cast<double>(limit.rlim_cur));
    }
    return families.Take();
  }

 private:
  static void AddStat(const ProcStat& stat, FamilyBuilder* families) {
    const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    families->Counter("process_cpu_seconds_total", "Processor time of the process, in seconds",
                      stat.cpu_ticks / ticks_per_second);
    families->Gauge("process_threads", "Threads of the process", stat.threads);
    families->Gauge("process_virtual_memory_bytes", "Virtual memory, in bytes", stat.virtual_bytes);
    families->Gauge("process_resident_memory_bytes", "Resident memory, in bytes",
                    stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    if (const std::optional<double> boot_time = BootTime()) {
      families->Gauge("process_start_time_seconds", "Start of the process, in seconds since 1970",
                      *boot_time + stat.start_ticks / ticks_per_second);
    }
  }
};

class TransportMetrics final : public prometheus::Collectable {
 public:
  TransportMetrics(std::function<TransportFigures()> figures, TransportLimits limits)
      : figures_(std::move(figures)), limits_(limits) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    const TransportFigures figures = figures_();
    FamilyBuilder families;
    const auto gauge = [&](const char* name, const char* help, size_t value) {
      families.Gauge(name, help, static_cast<double>(value));
    };
    gauge("steled_connections", "Open connections of clients", figures.connections);
    gauge("steled_connections_limit", "Limit of open connections", limits_.connections);
    families.Counter("steled_connections_accepted_total", "Connections that were accepted",
                     static_cast<double>(figures.accepted));
    gauge("steled_streams", "Open HTTP/2 streams", figures.streams);
    gauge("steled_paused_calls", "Calls that wait without a thread", figures.paused_calls);
    gauge("steled_request_memory_bytes", "Memory charged for requests and unread responses",
          figures.request_bytes);
    gauge("steled_request_memory_limit_bytes", "Limit of the memory for requests",
          limits_.request_bytes);
    return families.Take();
  }

 private:
  const std::function<TransportFigures()> figures_;
  const TransportLimits limits_;
};

}  // namespace

std::shared_ptr<prometheus::Collectable> NewProcessMetrics() {
  return std::make_shared<ProcessMetrics>();
}

std::shared_ptr<prometheus::Collectable> NewTransportMetrics(
    std::function<TransportFigures()> figures, TransportLimits limits) {
  return std::make_shared<TransportMetrics>(std::move(figures), limits);
}

}  // namespace stele::server
