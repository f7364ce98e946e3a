#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "compare/measure.h"

namespace stele_load {
namespace {

using stele_compare::Figure;
using Json = nlohmann::ordered_json;

// The successful results of one workload, number of connections and server.
class Samples {
 public:
  Samples(const Outcome& outcome, const Workload& workload, uint64_t connections,
          std::string_view contender) {
    for (const Result& result : outcome.results) {
      if (result.workload != &workload || result.connections != connections ||
          result.contender != contender)
        continue;
      if (result.figure.error[0] == '\0') results_.push_back(&result);
    }
  }
  bool empty() const { return results_.empty(); }

  template <typename Take>
  double Median(const Take& take) const {
    std::vector<double> numbers;
    for (const Result* result : results_) numbers.push_back(take(*result));
    if (numbers.empty()) return 0;
    std::sort(numbers.begin(), numbers.end());
    return (numbers[(numbers.size() - 1) / 2] + numbers[numbers.size() / 2]) / 2;
  }
  double Rate() const {
    return Median([](const Result& result) { return result.figure.value; });
  }
  double BestRate() const {
    double best = 0;
    for (const Result* result : results_) best = std::max(best, result->figure.value);
    return best;
  }
  // The server's CPU time per operation, with the settle time. Unlike the rate, it is meaningful on
  // a machine that is busy with other work.
  double ServerMicros() const {
    return Median([](const Result& result) {
      return result.figure.cpu_seconds * 1e6 / static_cast<double>(result.figure.operation_count);
    });
  }
  // The part of ServerMicros() that was in the kernel, mostly for sockets.
  double ServerKernelMicros() const {
    return Median([](const Result& result) {
      return result.server_kernel_seconds * 1e6 /
             static_cast<double>(result.figure.operation_count);
    });
  }
  double ClientMicros() const {
    return Median([](const Result& result) {
      return result.client_cpu_seconds * 1e6 / static_cast<double>(result.figure.operation_count);
    });
  }

 private:
  std::vector<const Result*> results_;
};

std::string Short(double number) {
  return number >= 1e4 ? fmt::format("{:.1f}k", number / 1e3) : fmt::format("{:.0f}", number);
}
std::string RatioOf(double value, double base) {
  return value > 0 && base > 0 ? fmt::format("{:.2f}", value / base) : "-";
}

constexpr std::string_view kLine =
    "{:<15} {:>4} {:<15} {:>8} {:>8} {:<8} {:>6} {:>6} {:>5} {:>9} {:>9} {:>10} {:>10} {:>10} "
    "{:>8}\n";

std::string LineOf(const Workload& workload, uint64_t connections, std::string_view name,
                   const Samples& samples, const Samples& base) {
  const auto micros = [](double number) { return fmt::format("{:.0f}", number); };
  const auto cpu_micros = [](double number) { return fmt::format("{:.1f}", number); };
  return fmt::format(
      kLine, workload.name, connections, name, Short(samples.Rate()), Short(samples.BestRate()),
      workload.unit, RatioOf(samples.Rate(), base.Rate()),
      RatioOf(samples.BestRate(), base.BestRate()), fmt::format("{:.1f}", workload.goal),
      micros(samples.Median([](const Result& result) { return result.figure.p50_us; })),
      micros(samples.Median([](const Result& result) { return result.figure.p99_us; })),
      cpu_micros(samples.ServerMicros()), cpu_micros(samples.ServerKernelMicros()),
      cpu_micros(samples.ClientMicros()), micros(samples.Median([](const Result& result) {
        return static_cast<double>(result.figure.rss_bytes) / (1 << 20);
      })));
}

}  // namespace

std::string RunAsJson(const Plan& plan, const std::string& directory) {
  Json servers = Json::object();
  for (const Contender& contender : plan.contenders) servers[contender.name] = contender.settings;
  const Json run = {{"run", "stele_server_load"},
                    {"rows", plan.rows},
                    {"rounds", plan.rounds},
                    {"machine", stele_compare::MachineText(directory)},
                    {"servers", servers}};
  return run.dump() + "\n";
}

std::string RunAsText(const Plan& plan, const std::string& directory) {
  std::string text = fmt::format("{} rows, {} rounds; {}\n", plan.rows, plan.rounds,
                                 stele_compare::MachineText(directory));
  for (const Contender& contender : plan.contenders)
    text += fmt::format("{}: {}\n", contender.name, contender.settings);
  return text;
}

std::string ResultAsJson(const Plan& plan, const Result& result) {
  const Figure& figure = result.figure;
  const Json line = {{"workload", result.workload->name},
                     {"connections", result.connections},
                     {"server", result.contender},
                     {"rows", plan.rows},
                     {"round", result.round},
                     {"unit", result.workload->unit},
                     {"value", figure.value},
                     {"seconds", figure.seconds},
                     {"settle_seconds", figure.settle_seconds},
                     {"cpu_seconds", figure.cpu_seconds},
                     {"kernel_seconds", result.server_kernel_seconds},
                     {"client_cpu_seconds", result.client_cpu_seconds},
                     {"operations", figure.operation_count},
                     {"rss_bytes", figure.rss_bytes},
                     {"p50_us", figure.p50_us},
                     {"p99_us", figure.p99_us},
                     {"p999_us", figure.p999_us},
                     {"cells", figure.cell_count},
                     {"hash", fmt::format("{:016x}", figure.hash)},
                     {"error", figure.error}};
  return line.dump() + "\n";
}

std::string TableOf(const Plan& plan, const Outcome& outcome) {
  const std::string& base = plan.contenders.back().name;
  std::string text =
      fmt::format(kLine, "workload", "conn", "server", "median", "best", "unit", "ratio", "best",
                  "goal", "p50 us", "p99 us", "server us", "kernel us", "client us", "rss MiB");
  for (const uint64_t connections : plan.connections) {
    for (const Workload& workload : Workloads()) {
      const Samples base_samples(outcome, workload, connections, base);
      for (const Contender& contender : plan.contenders) {
        const Samples samples(outcome, workload, connections, contender.name);
        if (!samples.empty())
          text += LineOf(workload, connections, contender.name, samples, base_samples);
      }
    }
  }
  return text + fmt::format(
                    "ratio, best: medians and best rates beside those of {}; goal: what ratio is "
                    "wanted; p50, p99: of a call; server us, client us: CPU time for each "
                    "operation, the server's with its settling; kernel us: the part of server us "
                    "in the kernel\n",
                    base);
}

}  // namespace stele_load
