#include "compare/report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/status.h"
#include "bench/figures.h"
#include "compare/figure_table.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using Direction = FigureTable::Direction;

constexpr uint64_t kP99OperationsMin = 1000;

// "1234567" as "1,234,567".
std::string Grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

double Ratio(uint64_t a, uint64_t b) {
  return static_cast<double>(a) / static_cast<double>(std::max<uint64_t>(b, 1));
}

// A whole number with commas, and another one with its first digits.
std::string ShortNumber(double number) {
  const bool is_whole = number == std::floor(number) && number < 1e15;
  return is_whole ? Grouped(static_cast<uint64_t>(number)) : fmt::format("{:g}", number);
}

std::string TwoDigits(double number) { return fmt::format("{:.2f}", number); }
std::string Whole(double number) { return Grouped(static_cast<uint64_t>(number)); }
std::string MicrosText(double nanos) { return fmt::format("{:.1f}", RoundedMicros(nanos)); }

template <typename Value>
std::vector<Value> OfDesigns(const CompareResult& result,
                             const std::function<Value(const DesignResult&)>& value) {
  std::vector<Value> values;
  for (const DesignResult& design : result.designs) values.push_back(value(design));
  return values;
}

std::string RunText(const CompareOptions& options, const LogicalWorkload& workload) {
  const std::string source =
      options.trace_path.empty()
          ? fmt::format("{} distribution, seed {}", ToText(options.distribution), options.seed)
          : "of " + EscapedKey(options.trace_path);
  constexpr std::string_view kCaches[] = {"", ", cold cache", ", warm and cold cache"};
  const auto counted = [](uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", Grouped(count), noun, count == 1 ? "" : "s");
  };
  return fmt::format("{}, {}; {}, {}, {}{}\n", counted(workload.operations.size(), "operation"),
                     source, counted(options.rounds, "round"), options.pace.ToText(),
                     counted(options.threads, "thread"),
                     kCaches[static_cast<size_t>(options.caches)]);
}

void AddTableLines(const CompareResult& result, FigureTable* table) {
  const auto count = [&](const std::string& label, Direction direction,
                         uint64_t TableFigures::*member) {
    table->AddExact(label, label, direction,
                    OfDesigns<double>(result,
                                      [&](const DesignResult& design) {
                                        return static_cast<double>(design.table_figures.*member);
                                      }),
                    Whole);
  };
  const auto text = [&](const std::string& label,
                        const std::function<std::string(const DesignResult&)>& cell) {
    table->AddText(label, OfDesigns<std::string>(result, cell));
  };
  text("table", [](const DesignResult& design) { return EscapedKey(design.table); });
  count("records", Direction::kNone, &TableFigures::records);
  count("rows", Direction::kNone, &TableFigures::rows);
  count("cells loaded", Direction::kNone, &TableFigures::cells_loaded);
  count("cells kept", Direction::kNone, &TableFigures::cells);
  text("cells per row, p50 / p99 / max", [](const DesignResult& design) {
    const TableFigures& figures = design.table_figures;
    return fmt::format("{} / {} / {}", figures.cells_per_row_p50, figures.cells_per_row_p99,
                       figures.cells_per_row_max);
  });
  count("bytes of the largest row", Direction::kNone, &TableFigures::largest_row_bytes);
  table->AddExact(
      "logical bytes", "logical bytes", Direction::kLowerIsBetter,
      OfDesigns<double>(result,
                        [](const DesignResult& design) {
                          return static_cast<double>(design.table_figures.logical_bytes());
                        }),
      Whole);
  text("  keys / qualifiers / values", [](const DesignResult& design) {
    const TableFigures& figures = design.table_figures;
    const auto percent = [&](uint64_t bytes) {
      return 100 * Ratio(bytes, figures.logical_bytes());
    };
    return fmt::format("{:.0f} / {:.0f} / {:.0f} %", percent(figures.key_bytes),
                       percent(figures.qualifier_bytes), percent(figures.value_bytes));
  });
  count("disk bytes, compacted", Direction::kLowerIsBetter, &TableFigures::disk_bytes);
  text("bytes written by the load / logical", [](const DesignResult& design) {
    return TwoDigits(
        Ratio(design.table_figures.written_bytes, design.table_figures.logical_bytes()));
  });
  text("load, seconds",
       [](const DesignResult& design) { return TwoDigits(design.table_figures.load_seconds); });
}

// Figures per operation.
void AddReadLines(const std::string& name, size_t query, Direction lower,
                  const CompareResult& result, FigureTable* table) {
  using NumberOf = std::function<double(const QueryResult&)>;
  const auto figure = [&](const std::string& label, Direction direction, const NumberOf& number) {
    table->AddExact(
        "  " + label, name + " " + label, direction,
        OfDesigns<double>(
            result, [&](const DesignResult& design) { return number(design.queries[query]); }),
        TwoDigits);
  };
  const auto seen = [&](const std::string& what, uint64_t ReadStats::*examined,
                        uint64_t ReadStats::*returned) {
    table->AddText("  " + what + " seen / returned",
                   OfDesigns<std::string>(result, [&](const DesignResult& design) {
                     const ReadStats& stats = design.queries[query].totals.stats;
                     return stats.*returned == 0
                                ? std::string("-")
                                : TwoDigits(Ratio(stats.*examined, stats.*returned));
                   }));
  };
  figure("requests", lower,
         [](const QueryResult& of) { return Ratio(of.totals.requests, of.operations); });
  figure("blocks visited", lower,
         [](const QueryResult& of) { return Ratio(of.totals.stats.blocks, of.operations); });
  figure("rows returned", Direction::kNone,
         [](const QueryResult& of) { return Ratio(of.totals.stats.rows_returned, of.operations); });
  figure("bytes returned", lower,
         [](const QueryResult& of) { return Ratio(of.totals.bytes_returned, of.operations); });
  seen("rows", &ReadStats::rows_seen, &ReadStats::rows_returned);
  seen("cells", &ReadStats::cells_seen, &ReadStats::cells_returned);
}

// What the operations of a query read from files with a cold cache.
void AddColdReadLines(const std::string& name, size_t query, Direction lower,
                      const CompareResult& result, FigureTable* table) {
  table->AddExact("  bytes read (cold cache)", name + " bytes read", lower,
                  OfDesigns<double>(result,
                                    [&](const DesignResult& design) {
                                      const QueryResult& of = design.queries[query];
                                      return Ratio(of.cold_bytes_read, of.operations);
                                    }),
                  Whole);
  table->AddText("  bytes read / returned",
                 OfDesigns<std::string>(result, [&](const DesignResult& design) {
                   const QueryResult& of = design.queries[query];
                   return of.totals.bytes_returned == 0
                              ? std::string("-")
                              : TwoDigits(Ratio(of.cold_bytes_read, of.totals.bytes_returned));
                 }));
}

using TimedOf = std::function<const TimedFigures&(const DesignResult&)>;

// Calls `add` for the measurements that were made, with the text after a label.
void ForEachCache(const CompareResult& result,
                  const std::function<void(const std::string& cache, const TimedOf& timed)>& add) {
  const auto call = [&](const std::string& cache,
                        std::optional<TimedFigures> DesignResult::*member) {
    if (!(result.designs[0].*member).has_value()) return;
    add(cache,
        [member](const DesignResult& design) -> const TimedFigures& { return *(design.*member); });
  };
  call("", &DesignResult::warm);
  call(" (cold cache)", &DesignResult::cold);
}

std::string QueryHeading(const LogicalWorkload& workload, size_t query,
                         const CompareResult& result) {
  const LogicalQuery& of = workload.queries[query];
  const uint64_t operations = result.designs[0].queries[query].operations;
  std::string text = fmt::format("{}: {} {}", EscapedKey(of.name), Grouped(operations),
                                 operations == 1 ? "operation" : "operations");
  if (of.input.empty()) text += "; per operation:";
  if (result.different_answers[query] > 0)
    text += fmt::format("\n  {} answers differ, so no design is better",
                        Grouped(result.different_answers[query]));
  if (of.unusable > 0)
    text += fmt::format("\n  {} records are left out, the first one: {}", Grouped(of.unusable),
                        of.first_unusable);
  return text;
}

void AddQueryLines(const LogicalWorkload& workload, size_t query, const CompareResult& result,
                   FigureTable* table) {
  table->AddHeading(QueryHeading(workload, query, result));
  const uint64_t operations = result.designs[0].queries[query].operations;
  if (operations == 0) return;
  const std::string name = EscapedKey(workload.queries[query].name);
  const Direction lower =
      result.different_answers[query] > 0 ? Direction::kNone : Direction::kLowerIsBetter;
  if (workload.queries[query].input.empty()) AddReadLines(name, query, lower, result, table);
  if (workload.queries[query].input.empty() && result.designs[0].cold.has_value())
    AddColdReadLines(name, query, lower, result, table);
  ForEachCache(result, [&](const std::string& cache, const TimedOf& timed) {
    const auto latency = [&](const std::string& label, Measured LatencyFigures::*member,
                             Direction direction) {
      table->AddMeasured("  " + label + " us" + cache, name + " " + label + cache, direction,
                         OfDesigns<Measured>(result,
                                             [&](const DesignResult& design) {
                                               return timed(design).queries[query].*member;
                                             }),
                         MicrosText);
    };
    latency("p50", &LatencyFigures::p50, lower);
    latency("p99", &LatencyFigures::p99, operations < kP99OperationsMin ? Direction::kNone : lower);
    table->AddText(
        "  max us" + cache, OfDesigns<std::string>(result, [&](const DesignResult& design) {
          return MicrosText(static_cast<double>(timed(design).queries[query].all_rounds.Max()));
        }));
  });
}

void AddLoadLines(const CompareOptions& options, const CompareResult& result, FigureTable* table) {
  const bool has_differences = result.answers_equal < result.answers_compared;
  const auto unless = [&](Direction direction) {
    return has_differences ? Direction::kNone : direction;
  };
  table->AddHeading("all operations");
  ForEachCache(result, [&](const std::string& cache, const TimedOf& timed) {
    const auto figure = [&](const std::string& label, const std::string& name, Direction direction,
                            Measured TimedFigures::*member, const FigureTable::Format& format) {
      table->AddMeasured(
          "  " + label + cache, name + cache, direction,
          OfDesigns<Measured>(result,
                              [&](const DesignResult& design) { return timed(design).*member; }),
          format);
    };
    figure("operations/s", "operations per second", unless(Direction::kHigherIsBetter),
           &TimedFigures::operations_per_second, Whole);
    if (options.pace.is_open_loop())
      figure("late by more than 1 ms", "late operations", unless(Direction::kLowerIsBetter),
             &TimedFigures::late, Whole);
    figure("CPU seconds", "CPU time", unless(Direction::kLowerIsBetter), &TimedFigures::cpu_seconds,
           TwoDigits);
  });
  table->AddExact(
      "  requests on the busiest range", "load of the busiest range",
      unless(Direction::kLowerIsBetter),
      OfDesigns<double>(
          result, [](const DesignResult& design) { return 100 * design.busiest_range_share; }),
      [](double percent) { return fmt::format("{:.1f} %", percent); });
  table->AddText("  uneven load (Gini, 0: even)",
                 OfDesigns<std::string>(result, [](const DesignResult& design) {
                   return TwoDigits(design.maps[0].parts().gini);
                 }));
}

void AddEstimateLines(const EstimateSettings& settings, const CompareResult& result,
                      FigureTable* table) {
  std::string heading = fmt::format("estimate for Cloud Bigtable: {} operations/s",
                                    ShortNumber(result.estimate_rate));
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
        OfDesigns<double>(result,
                          [&](const DesignResult& design) { return number(*design.estimate); }),
        format);
  };
  const auto one_digit = [](double number) { return fmt::format("{:.1f}", number); };
  figure(
      "rows read/s, with one per scan", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.reads; }, Whole);
  figure(
      "MB scanned/s", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.scan_mb; }, one_digit);
  figure(
      "rows written/s", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.writes; }, Whole);
  figure(
      "GB of storage", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.storage_gb; },
      [](double gb) { return fmt::format("{:.3g}", gb); });
  // A scan of the whole table makes the estimate too low for a larger table.
  const bool is_comparable =
      result.answers_equal == result.answers_compared &&
      (settings.data_factor == 1 ||
       std::none_of(result.designs.begin(), result.designs.end(), [](const DesignResult& design) {
         return design.findings.count("KEY-FULL-SCAN") > 0;
       }));
  const Direction lower = is_comparable ? Direction::kLowerIsBetter : Direction::kNone;
  figure(
      "nodes", "estimated nodes", lower,
      [](const Estimate& estimate) { return static_cast<double>(estimate.nodes); }, Whole);
  if (!settings.has_prices()) return;
  figure(
      "price of a month", "estimated price", lower,
      [](const Estimate& estimate) { return *estimate.month_price; },
      [](double price) { return fmt::format("{:.2f}", price); });
}

// Returns the findings that all designs have (`common`), or the others of this design.
std::string FindingsText(const DesignResult& design, const CompareResult& result, bool common) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
  std::string text;
  for (const auto& [id, severity] : design.findings) {
    const bool is_common =
        std::all_of(result.designs.begin(), result.designs.end(),
                    [&id = id](const DesignResult& other) { return other.findings.count(id) > 0; });
    if (is_common != common) continue;
    text += (text.empty() ? "" : ", ") + id + " (" +
            std::string(kSeverities[static_cast<size_t>(severity)]) + ")";
  }
  return text;
}

std::string AllFindings(const CompareResult& result) {
  std::string text;
  const std::string common = FindingsText(result.designs[0], result, true);
  if (!common.empty()) text += "findings of all designs: " + common + "\n";
  for (const DesignResult& design : result.designs) {
    const std::string own = FindingsText(design, result, false);
    if (!own.empty()) text += fmt::format("findings of {}: {}\n", design.name, own);
  }
  return text.empty() ? text : text + "stele lint --explain RULE explains a finding\n";
}

std::string RecordText(const lab::Design::Record& record) {
  std::string text;
  for (const auto& [field, value] : record)
    text += (text.empty() ? "" : " ") + EscapedKey(field) + "=" + EscapedKey(value);
  return text;
}

std::string AnswersText(const LogicalWorkload& workload, const CompareResult& result) {
  if (result.answers_compared == 0)
    return "answers: no query declares an answer in all designs, so none were compared\n";
  std::string text = fmt::format("answers: the same values in {} of {} operations\n",
                                 Grouped(result.answers_equal), Grouped(result.answers_compared));
  if (result.answers_empty > 0)
    text += fmt::format("  {} of them have no value in any design: check the columns of answer\n",
                        Grouped(result.answers_empty));
  for (const AnswerDifference& difference : result.differences) {
    text += fmt::format("  {}, {}:", EscapedKey(workload.queries[difference.query].name),
                        RecordText(difference.record));
    for (size_t i = 0; i < difference.values.size(); ++i) {
      text += fmt::format("{} {} {} values", i == 0 ? "" : ",", result.designs[i].name,
                          difference.values[i]);
    }
    text += "\n";
  }
  if (!result.differences.empty())
    text +=
        "  to find out why, use --keep DIR and read the rows with \"stele --db DIR/DESIGN read "
        "TABLE\"\n";
  return text;
}

}  // namespace

CompareReport MakeReport(const CompareOptions& options, const LogicalWorkload& workload,
                         const CompareResult& result) {
  CompareReport report{.run = RunText(options, workload),
                       .answers = AnswersText(workload, result),
                       .figures = FigureTable(OfDesigns<std::string>(
                           result, [](const DesignResult& design) { return design.name; })),
                       .findings = AllFindings(result)};
  for (const std::string& note : workload.notes) report.notes += "note: " + note + "\n";
  AddTableLines(result, &report.figures);
  for (size_t query = 0; query < workload.queries.size(); ++query)
    AddQueryLines(workload, query, result, &report.figures);
  AddLoadLines(options, result, &report.figures);
  if (options.estimate.has_value()) AddEstimateLines(*options.estimate, result, &report.figures);
  return report;
}

std::string CompareText(const CompareReport& report) {
  return report.run + report.answers + report.notes + "\n" + report.figures.Text() +
         "* clearly better than all others\n\n" + report.findings + report.figures.Summary();
}

}  // namespace stele::cli
