#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "measure.h"

namespace stele_compare {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    if (static_cast<unsigned char>(character) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
    } else {
      out += character;
    }
  }
  return out + '"';
}

std::string Short(double number) {
  if (number >= 1e6) return fmt::format("{:.2f}M", number / 1e6);
  if (number >= 1e4) return fmt::format("{:.1f}k", number / 1e3);
  return fmt::format("{:.0f}", number);
}

// Medians of one workload and engine, over the successful rounds.
struct Median {
  std::vector<const Figure*> figures;

  template <typename Take>
  double Of(Take take) const {
    if (figures.empty()) return 0;
    std::vector<double> numbers;
    for (const Figure* figure : figures) numbers.push_back(static_cast<double>(take(*figure)));
    std::sort(numbers.begin(), numbers.end());
    const size_t middle = numbers.size() / 2;
    return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
  }
  double Value() const {
    return Of([](const Figure& figure) { return figure.value; });
  }
};

Median MedianOf(const Outcome& outcome, const Workload& workload, std::string_view engine) {
  Median median;
  for (const Result& result : outcome.results) {
    if (result.workload == &workload && result.engine == engine && result.figure.error[0] == '\0')
      median.figures.push_back(&result.figure);
  }
  return median;
}

double AmplificationOf(const Figure& figure) {
  return figure.user_bytes == 0
             ? 0
             : static_cast<double>(figure.written_bytes) / static_cast<double>(figure.user_bytes);
}

// Unlike the rate, this figure is meaningful on a machine that is busy with other work.
double WorkForCpuSecond(const Figure& figure) {
  return figure.cpu_seconds > 0 ? static_cast<double>(figure.operation_count) / figure.cpu_seconds
                                : 0;
}

std::string RatioOf(double value, double base_value) {
  return base_value > 0 && value > 0 ? fmt::format("{:.2f}x", value / base_value) : "-";
}

// The columns of the table's lines and of its head.
constexpr std::string_view kLine =
    "{:<25} {:<8} {:>8} {:<8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>6} {:>8} {:>8}\n";

std::string LineOf(const Workload& workload, const Contender& contender, const Median& median,
                   const Median& base) {
  const auto seconds = [](double number) { return fmt::format("{:.2f}", number); };
  const auto mebibytes = [](double bytes) { return fmt::format("{:.0f}", bytes / (1 << 20)); };
  const auto micros = [](double number) {
    return number > 0 ? fmt::format("{:.1f}", number) : "-";
  };
  const double amplification = median.Of(AmplificationOf);
  return fmt::format(kLine, workload.name, contender.name, Short(median.Value()), workload.unit,
                     RatioOf(median.Value(), base.Value()),
                     RatioOf(median.Of(WorkForCpuSecond), base.Of(WorkForCpuSecond)),
                     seconds(median.Of([](const Figure& figure) { return figure.seconds; })),
                     seconds(median.Of([](const Figure& figure) { return figure.settle_seconds; })),
                     seconds(median.Of([](const Figure& figure) { return figure.cpu_seconds; })),
                     mebibytes(median.Of([](const Figure& figure) { return figure.rss_bytes; })),
                     mebibytes(median.Of([](const Figure& figure) { return figure.disk_bytes; })),
                     amplification > 0 ? fmt::format("{:.2f}", amplification) : "-",
                     micros(median.Of([](const Figure& figure) { return figure.p50_us; })),
                     micros(median.Of([](const Figure& figure) { return figure.p99_us; })));
}

std::string NotesOf(const Outcome& outcome) {
  std::set<std::string> notes;
  for (const Result& result : outcome.results) {
    if (result.figure.note[0] != '\0')
      notes.insert(
          fmt::format("{} {}: {}\n", result.workload->name, result.engine, result.figure.note));
  }
  std::string text;
  for (const std::string& note : notes) text += note;
  return text;
}

}  // namespace

std::string RunAsJson(const Plan& plan) {
  std::string engines;
  for (const Contender& contender : plan.contenders) {
    engines +=
        fmt::format("{}{}:{{\"version\":{},\"settings\":{}}}", engines.empty() ? "" : ",",
                    Quoted(contender.name), Quoted(contender.version), Quoted(contender.settings));
  }
  return fmt::format(
      "{{\"run\":\"stele_compare\",\"names\":\"bench\",\"rows\":{},\"rounds\":{},\"compacted\":{},"
      "\"machine\":{},"
      "\"engines\":{{{}}}}}\n",
      plan.rows, plan.rounds, plan.compacts, Quoted(MachineText(plan.directory)), engines);
}

std::string RunAsText(const Plan& plan) {
  std::string text =
      fmt::format("{} rows, {} rounds; {}; read workloads find {}\n", plan.rows, plan.rounds,
                  MachineText(plan.directory),
                  plan.compacts ? "one sorted run" : "what the background work left");
  for (const Contender& contender : plan.contenders) {
    text += fmt::format("{} {}: {}\n", contender.name, contender.version, contender.settings);
  }
  return text;
}

std::string ResultAsJson(const Plan& plan, const Result& result) {
  const Figure& figure = result.figure;
  std::string version;
  for (const Contender& contender : plan.contenders) {
    if (contender.name == result.engine) version = contender.version;
  }
  return fmt::format(
      "{{\"workload\":{},\"engine\":{},\"version\":{},\"rows\":{},\"round\":{},\"unit\":{},"
      "\"value\":{:.3f},\"seconds\":{:.6f},"
      "\"settle_seconds\":{:.6f},\"cpu_seconds\":{:.6f},\"operations\":{},\"rss_bytes\":{},\"disk_"
      "bytes\":{},\"written_bytes\":{},"
      "\"user_bytes\":{},\"p50_us\":{:.3f},\"p99_us\":{:.3f},\"p999_us\":{:.3f},\"cells\":{},"
      "\"hash\":\"{:016x}\",\"note\":{},\"error\":{}}"
      "}\n",
      Quoted(result.workload->name), Quoted(result.engine), Quoted(version), plan.rows,
      result.round, Quoted(result.workload->unit), figure.value, figure.seconds,
      figure.settle_seconds, figure.cpu_seconds, figure.operation_count, figure.rss_bytes,
      figure.disk_bytes, figure.written_bytes, figure.user_bytes, figure.p50_us, figure.p99_us,
      figure.p999_us, figure.cell_count, figure.hash, Quoted(figure.note), Quoted(figure.error));
}

std::string TableOf(const Plan& plan, const Outcome& outcome) {
  const Contender* base = &plan.contenders.front();
  for (const Contender& contender : plan.contenders) {
    if (contender.name == "rocksdb") base = &contender;
  }
  std::string text =
      fmt::format(kLine, "workload", "engine", "median", "unit", "ratio", "cpu", "seconds",
                  "settle", "cpu s", "rss MiB", "disk MiB", "wa", "p50 us", "p99 us");
  for (const Workload& workload : Workloads()) {
    const Median base_median = MedianOf(outcome, workload, base->name);
    for (const Contender& contender : plan.contenders) {
      const Median median = MedianOf(outcome, workload, contender.name);
      if (!median.figures.empty()) text += LineOf(workload, contender, median, base_median);
    }
  }
  return text +
         fmt::format(
             "ratio: rate beside that of {}; cpu: work for each CPU second of all threads, beside "
             "the same; settle: until nothing runs in "
             "the "
             "background; wa: bytes written for each byte of the user's\n",
             base->name) +
         NotesOf(outcome);
}

}  // namespace stele_compare
