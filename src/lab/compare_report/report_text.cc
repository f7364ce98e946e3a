#include "lab/compare_report/report_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "fmt/format.h"
#include "keys/printable.h"
#include "lab/figures/figures.h"
#include "lab/values/number_text.h"
#include "lab/workload/row_chooser.h"
#include "stele/lab/lint.h"

namespace stele::internal::lab {
namespace {

using stele::lab::CompareReport;
using DesignFigures = CompareReport::DesignFigures;
using Estimate = CompareReport::Estimate;
using LatencyFigures = CompareReport::LatencyFigures;
using QueryFigures = CompareReport::QueryFigures;
using TableFigures = CompareReport::TableFigures;
using TimedFigures = CompareReport::TimedFigures;
using Direction = FigureTable::Direction;

constexpr uint64_t kP99OperationsMin = 1000;

double RatioOf(uint64_t a, uint64_t b) {
  return static_cast<double>(a) / static_cast<double>(std::max<uint64_t>(b, 1));
}

// A whole number with commas, and another one with its first digits.
std::string ShortNumber(double number) {
  const bool is_whole = number == std::floor(number) && number < 1e15;
  return is_whole ? WithCommas(static_cast<uint64_t>(number)) : fmt::format("{:g}", number);
}

std::string TwoDigits(double number) { return fmt::format("{:.2f}", number); }
std::string WholeText(double number) { return WithCommas(static_cast<uint64_t>(number)); }
std::string MicrosText(double nanos) { return fmt::format("{:.1f}", RoundedMicros(nanos)); }

template <typename Value>
std::vector<Value> OfDesigns(const CompareReport& report,
                             const std::function<Value(const DesignFigures&)>& value) {
  std::vector<Value> values;
  for (const DesignFigures& design : report.designs) values.push_back(value(design));
  return values;
}

std::string RunText(const CompareReport& report) {
  const std::string source = report.trace.empty()
                                 ? fmt::format("{} distribution, seed {}",
                                               DistributionText(report.distribution), report.seed)
                                 : "of " + EscapedBytes(report.trace);
  constexpr std::string_view kCaches[] = {"", ", cold cache", ", warm and cold cache"};
  const auto counted = [](uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", WithCommas(count), noun, count == 1 ? "" : "s");
  };
  return fmt::format("{}, {}; {}, {}, {}{}\n", counted(report.operations, "operation"), source,
                     counted(report.rounds, "round"), report.rate.ToText(),
                     counted(report.threads, "thread"),
                     kCaches[static_cast<size_t>(report.caches)]);
}

void AddTableLines(const CompareReport& report, FigureTable* table) {
  const auto count = [&](const std::string& label, Direction direction,
                         uint64_t TableFigures::*member) {
    table->AddExact(label, label, direction,
                    OfDesigns<double>(report,
                                      [&](const DesignFigures& design) {
                                        return static_cast<double>(design.data.*member);
                                      }),
                    WholeText);
  };
  const auto text = [&](const std::string& label,
                        const std::function<std::string(const DesignFigures&)>& cell) {
    table->AddText(label, OfDesigns<std::string>(report, cell));
  };
  text("table", [](const DesignFigures& design) { return EscapedBytes(design.table); });
  count("records", Direction::kNone, &TableFigures::records);
  count("rows", Direction::kNone, &TableFigures::rows);
  count("cells loaded", Direction::kNone, &TableFigures::cells_loaded);
  count("cells kept", Direction::kNone, &TableFigures::cells);
  text("cells per row, p50 / p99 / max", [](const DesignFigures& design) {
    const TableFigures& figures = design.data;
    return fmt::format("{} / {} / {}", figures.cells_per_row_p50, figures.cells_per_row_p99,
                       figures.cells_per_row_max);
  });
  count("bytes of the largest row", Direction::kNone, &TableFigures::largest_row_bytes);
  table->AddExact("logical bytes", "logical bytes", Direction::kLowerIsBetter,
                  OfDesigns<double>(report,
                                    [](const DesignFigures& design) {
                                      return static_cast<double>(design.data.logical_bytes());
                                    }),
                  WholeText);
  text("  keys / qualifiers / values", [](const DesignFigures& design) {
    const TableFigures& figures = design.data;
    const auto percent = [&](uint64_t bytes) {
      return 100 * RatioOf(bytes, figures.logical_bytes());
    };
    return fmt::format("{:.0f} / {:.0f} / {:.0f} %", percent(figures.key_bytes),
                       percent(figures.qualifier_bytes), percent(figures.value_bytes));
  });
  count("disk bytes, compacted", Direction::kLowerIsBetter, &TableFigures::disk_bytes);
  text("write amplification of the load", [](const DesignFigures& design) {
    return TwoDigits(RatioOf(design.data.written_bytes, design.data.loaded_logical_bytes));
  });
  text("load, seconds",
       [](const DesignFigures& design) { return TwoDigits(design.data.load_seconds); });
}

// Figures per operation.
void AddReadLines(const std::string& name, size_t query, Direction lower,
                  const CompareReport& report, FigureTable* table) {
  using NumberOf = std::function<double(const QueryFigures&)>;
  const auto figure = [&](const std::string& label, Direction direction, const NumberOf& number) {
    table->AddExact(
        "  " + label, name + " " + label, direction,
        OfDesigns<double>(
            report, [&](const DesignFigures& design) { return number(design.queries[query]); }),
        TwoDigits);
  };
  const auto seen = [&](const std::string& what, uint64_t ReadStats::*examined,
                        uint64_t ReadStats::*returned) {
    table->AddText("  " + what + " seen / returned",
                   OfDesigns<std::string>(report, [&](const DesignFigures& design) {
                     const ReadStats& stats = design.queries[query].stats;
                     return stats.*returned == 0
                                ? std::string("-")
                                : TwoDigits(RatioOf(stats.*examined, stats.*returned));
                   }));
  };
  figure("requests", lower,
         [](const QueryFigures& of) { return RatioOf(of.requests, of.operations); });
  figure("blocks visited", lower,
         [](const QueryFigures& of) { return RatioOf(of.stats.blocks, of.operations); });
  figure("rows returned", Direction::kNone,
         [](const QueryFigures& of) { return RatioOf(of.stats.rows_returned, of.operations); });
  figure("bytes returned", lower,
         [](const QueryFigures& of) { return RatioOf(of.bytes_returned, of.operations); });
  seen("rows", &ReadStats::rows_seen, &ReadStats::rows_returned);
  seen("cells", &ReadStats::cells_seen, &ReadStats::cells_returned);
}

// What the operations of a query read from files with a cold cache.
void AddColdReadLines(const std::string& name, size_t query, Direction lower,
                      const CompareReport& report, FigureTable* table) {
  table->AddExact("  bytes read (cold cache)", name + " bytes read", lower,
                  OfDesigns<double>(report,
                                    [&](const DesignFigures& design) {
                                      const QueryFigures& of = design.queries[query];
                                      return RatioOf(of.cold_bytes_read, of.operations);
                                    }),
                  WholeText);
  table->AddText(
      "  bytes read / returned", OfDesigns<std::string>(report, [&](const DesignFigures& design) {
        const QueryFigures& of = design.queries[query];
        return of.bytes_returned == 0 ? std::string("-")
                                      : TwoDigits(RatioOf(of.cold_bytes_read, of.bytes_returned));
      }));
}

using TimedOf = std::function<const TimedFigures&(const DesignFigures&)>;

// Calls `add` for the measurements that were made, with the text after a label.
void ForEachCache(const CompareReport& report,
                  const std::function<void(const std::string& cache, const TimedOf& timed)>& add) {
  const auto call = [&](const std::string& cache,
                        std::optional<TimedFigures> DesignFigures::*member) {
    if (!(report.designs[0].*member).has_value()) return;
    add(cache,
        [member](const DesignFigures& design) -> const TimedFigures& { return *(design.*member); });
  };
  call("", &DesignFigures::warm);
  call(" (cold cache)", &DesignFigures::cold);
}

std::string QueryHeading(size_t query, const CompareReport& report) {
  const CompareReport::Query& of = report.queries[query];
  const uint64_t operations = report.designs[0].queries[query].operations;
  std::string text = fmt::format("{}: {} {}", EscapedBytes(of.name), WithCommas(operations),
                                 operations == 1 ? "operation" : "operations");
  if (of.written_input.empty()) text += "; per operation:";
  if (report.queries[query].different_answers > 0)
    text += fmt::format("\n  {} answers differ, so no design is better",
                        WithCommas(report.queries[query].different_answers));
  if (of.unusable > 0)
    text += fmt::format("\n  {} records are left out, the first one: {}", WithCommas(of.unusable),
                        of.first_unusable);
  return text;
}

void AddQueryLines(size_t query, const CompareReport& report, FigureTable* table) {
  table->AddHeading(QueryHeading(query, report));
  const uint64_t operations = report.designs[0].queries[query].operations;
  if (operations == 0) return;
  const std::string name = EscapedBytes(report.queries[query].name);
  const Direction lower =
      report.queries[query].different_answers > 0 ? Direction::kNone : Direction::kLowerIsBetter;
  if (report.queries[query].written_input.empty()) AddReadLines(name, query, lower, report, table);
  if (report.queries[query].written_input.empty() && report.designs[0].cold.has_value())
    AddColdReadLines(name, query, lower, report, table);
  ForEachCache(report, [&](const std::string& cache, const TimedOf& timed) {
    const auto latency = [&](const std::string& label, Measured LatencyFigures::*member,
                             Direction direction) {
      table->AddMeasured("  " + label + " us" + cache, name + " " + label + cache, direction,
                         OfDesigns<Measured>(report,
                                             [&](const DesignFigures& design) {
                                               return timed(design).queries[query].*member;
                                             }),
                         MicrosText);
    };
    latency("p50", &LatencyFigures::p50, lower);
    latency("p99", &LatencyFigures::p99, operations < kP99OperationsMin ? Direction::kNone : lower);
    table->AddText(
        "  max us" + cache, OfDesigns<std::string>(report, [&](const DesignFigures& design) {
          return MicrosText(static_cast<double>(timed(design).queries[query].all_rounds.Max()));
        }));
  });
}

void AddLoadLines(const CompareReport& report, FigureTable* table) {
  const bool has_differences = report.answers_equal < report.answers_compared;
  const auto unless = [&](Direction direction) {
    return has_differences ? Direction::kNone : direction;
  };
  table->AddHeading("all operations");
  ForEachCache(report, [&](const std::string& cache, const TimedOf& timed) {
    const auto figure = [&](const std::string& label, const std::string& name, Direction direction,
                            Measured TimedFigures::*member, const FigureTable::Format& format) {
      table->AddMeasured(
          "  " + label + cache, name + cache, direction,
          OfDesigns<Measured>(report,
                              [&](const DesignFigures& design) { return timed(design).*member; }),
          format);
    };
    figure("operations/s", "operations per second", unless(Direction::kHigherIsBetter),
           &TimedFigures::operations_per_second, WholeText);
    if (report.rate.is_open_loop())
      figure("late by more than 1 ms", "late operations", unless(Direction::kLowerIsBetter),
             &TimedFigures::late, WholeText);
    figure("CPU seconds", "CPU time", unless(Direction::kLowerIsBetter), &TimedFigures::cpu_seconds,
           TwoDigits);
  });
  table->AddExact(
      "  requests on the busiest range", "load of the busiest range",
      unless(Direction::kLowerIsBetter),
      OfDesigns<double>(
          report, [](const DesignFigures& design) { return 100 * design.busiest_range_share; }),
      [](double percent) { return fmt::format("{:.1f} %", percent); });
  table->AddText("  uneven load (Gini, 0: even)",
                 OfDesigns<std::string>(report, [](const DesignFigures& design) {
                   return TwoDigits(design.heat_map->parts().gini);
                 }));
}

void AddEstimateLines(const stele::lab::EstimateSettings& settings, const CompareReport& report,
                      FigureTable* table) {
  std::string heading = fmt::format("estimate for Cloud Bigtable: {} operations/s",
                                    ShortNumber(report.estimate_rate));
  if (settings.data_factor != 1)
    heading += fmt::format(
        ", storage for {} times the records\n  scans are not scaled: a scan of the whole table "
        "grows with the table",
        ShortNumber(settings.data_factor));
  table->AddHeading(heading);
  const auto figure = [&](const std::string& label, const std::string& name, Direction direction,
                          const std::function<double(const Estimate&)>& number,
                          const FigureTable::Format& format) {
    table->AddExact(
        "  " + label, name, direction,
        OfDesigns<double>(report,
                          [&](const DesignFigures& design) { return number(*design.estimate); }),
        format);
  };
  const auto one_digit = [](double number) { return fmt::format("{:.1f}", number); };
  figure(
      "rows read/s, with one per scan", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.reads; }, WholeText);
  figure(
      "MB scanned/s", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.scan_mb; }, one_digit);
  figure(
      "rows written/s", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.writes; }, WholeText);
  figure(
      "GB of storage", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.storage_gb; },
      [](double gb) { return fmt::format("{:.3g}", gb); });
  // A scan of the whole table makes the estimate too low for a larger table.
  const bool is_comparable =
      report.answers_equal == report.answers_compared &&
      (settings.data_factor == 1 ||
       std::none_of(report.designs.begin(), report.designs.end(), [](const DesignFigures& design) {
         return design.findings.count("KEY-FULL-SCAN") > 0;
       }));
  const Direction lower = is_comparable ? Direction::kLowerIsBetter : Direction::kNone;
  figure(
      "nodes", "estimated nodes", lower,
      [](const Estimate& estimate) { return static_cast<double>(estimate.nodes); }, WholeText);
  if (!settings.has_prices()) return;
  figure(
      "price of a month", "estimated price", lower,
      [](const Estimate& estimate) { return *estimate.month_price; },
      [](double price) { return fmt::format("{:.2f}", price); });
}

// Returns the findings that all designs have (`common`), or the others of this design.
std::string FindingsText(const DesignFigures& design, const CompareReport& report, bool common) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
  std::string text;
  for (const auto& [id, severity] : design.findings) {
    const bool is_common = std::all_of(
        report.designs.begin(), report.designs.end(),
        [&id = id](const DesignFigures& other) { return other.findings.count(id) > 0; });
    if (is_common != common) continue;
    text += (text.empty() ? "" : ", ") + id + " (" +
            std::string(kSeverities[static_cast<size_t>(severity)]) + ")";
  }
  return text;
}

std::string AllFindings(const CompareReport& report) {
  std::string text;
  const std::string common = FindingsText(report.designs[0], report, true);
  if (!common.empty()) text += "findings of all designs: " + common + "\n";
  for (const DesignFigures& design : report.designs) {
    const std::string own = FindingsText(design, report, false);
    if (!own.empty()) text += fmt::format("findings of {}: {}\n", design.name, own);
  }
  return text.empty() ? text : text + "stele lint --explain RULE explains a finding\n";
}

std::string RecordText(const stele::lab::Design::Record& record) {
  std::string text;
  for (const auto& [field, value] : record)
    text += (text.empty() ? "" : " ") + EscapedBytes(field) + "=" + EscapedBytes(value);
  return text;
}

std::string AnswersText(const CompareReport& report) {
  if (report.answers_compared == 0)
    return "answers: no query declares an answer in all designs, so none were compared\n";
  std::string text =
      fmt::format("answers: the same values in {} of {} operations\n",
                  WithCommas(report.answers_equal), WithCommas(report.answers_compared));
  if (report.answers_empty > 0)
    text += fmt::format("  {} of them have no value in any design: check the columns of answer\n",
                        WithCommas(report.answers_empty));
  for (const CompareReport::AnswerDifference& difference : report.differences) {
    text += fmt::format("  {}, {}:", EscapedBytes(report.queries[difference.query].name),
                        RecordText(difference.record));
    for (size_t i = 0; i < difference.values.size(); ++i) {
      text += fmt::format("{} {} {} values", i == 0 ? "" : ",", report.designs[i].name,
                          difference.values[i]);
    }
    text += "\n";
  }
  if (!report.differences.empty())
    text +=
        "  to find out why, use --keep DIR and read the rows with \"stele --db DIR/DESIGN read "
        "TABLE\"\n";
  return text;
}

}  // namespace

CompareLines MakeCompareLines(const CompareReport& report) {
  CompareLines lines{.run = RunText(report),
                     .answers = AnswersText(report),
                     .figures = FigureTable(OfDesigns<std::string>(
                         report, [](const DesignFigures& design) { return design.name; })),
                     .findings = AllFindings(report)};
  for (const std::string& note : report.notes) lines.notes += "note: " + note + "\n";
  AddTableLines(report, &lines.figures);
  for (size_t query = 0; query < report.queries.size(); ++query)
    AddQueryLines(query, report, &lines.figures);
  AddLoadLines(report, &lines.figures);
  if (report.estimate.has_value()) AddEstimateLines(*report.estimate, report, &lines.figures);
  return lines;
}

}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string CompareReport::ToText() const {
  const internal::lab::CompareLines lines = internal::lab::MakeCompareLines(*this);
  return lines.run + lines.answers + lines.notes + "\n" + lines.figures.Text() +
         "* clearly better than all others\n\n" + lines.findings + lines.figures.Summary();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
