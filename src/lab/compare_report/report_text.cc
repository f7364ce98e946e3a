#include "lab/compare_report/report_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "keys/printable.h"
#include "lab/figures/figures.h"
#include "lab/values/number_text.h"
#include "lab/workload/replay_rate.h"
#include "lab/workload/row_chooser.h"
#include "stele/lab/heat_map.h"
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

// Returns a whole number with commas, or any other number with its first six digits.
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

std::string LoadedText(const DesignFigures& design) {
  return fmt::format("{}  {}, {} s", design.name, Counted(design.data.records, "record"),
                     TwoDigits(design.data.load_seconds));
}

std::string ReplayedText(const CompareReport& report) {
  const std::string source = report.trace.empty()
                                 ? fmt::format("{} distribution, seed {}",
                                               DistributionText(report.distribution), report.seed)
                                 : "trace " + EscapedBytes(report.trace);
  constexpr std::string_view kCaches[] = {"", ", cold cache", ", warm and cold cache"};
  return fmt::format("{}, {}, {}, rounds {}{}, {}", Counted(report.operations, "operation"),
                     ReplayRateText(report.rate), Counted(report.threads, "thread"),
                     WithCommas(report.rounds), kCaches[static_cast<size_t>(report.caches)],
                     source);
}

// Designs that answer differently do not do the same work, so none of them is better.
bool HasDifferences(const CompareReport& report) {
  return report.answers_equal < report.answers_compared;
}

void AddTableLines(const CompareReport& report, FigureTable* table) {
  const Direction lower = HasDifferences(report) ? Direction::kNone : Direction::kLowerIsBetter;
  const auto count = [&](const std::string& label, const std::string& figure, Direction direction,
                         uint64_t TableFigures::*member) {
    table->AddExact(label, figure, direction,
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
  count("rows", "", Direction::kNone, &TableFigures::rows);
  count("cells loaded", "", Direction::kNone, &TableFigures::cells_loaded);
  count("cells kept", "", Direction::kNone, &TableFigures::cells_kept);
  text("cells per row, p50 / p99 / max", [](const DesignFigures& design) {
    const TableFigures& figures = design.data;
    return fmt::format("{} / {} / {}", figures.cells_per_row_p50, figures.cells_per_row_p99,
                       figures.cells_per_row_max);
  });
  count("bytes of the largest row", "", Direction::kNone, &TableFigures::largest_row_bytes);
  table->AddExact("logical bytes", "logical bytes", lower,
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
  count("disk bytes, compacted", "disk bytes", lower, &TableFigures::disk_bytes);
  text("write amplification of the load", [](const DesignFigures& design) {
    return TwoDigits(RatioOf(design.data.written_bytes, design.data.loaded_logical_bytes));
  });
}

using StatsMember = uint64_t ReadStats::*;

// Adds the rows or cells that a query examined, by those that it returned.
void AddSeenLine(const std::string& what, size_t query, Direction lower, StatsMember examined,
                 StatsMember returned, const CompareReport& report, FigureTable* table) {
  const auto text = [](double ratio) { return fmt::format("{:.1f}", ratio); };
  const std::string label = what + " seen / returned";
  const std::vector<double> ratios = OfDesigns<double>(report, [&](const DesignFigures& design) {
    const ReadStats& stats = design.queries[query].stats;
    return stats.*returned == 0 ? -1 : RatioOf(stats.*examined, stats.*returned);
  });
  if (std::find(ratios.begin(), ratios.end(), -1) == ratios.end()) {
    const std::string name = EscapedBytes(report.queries[query].name);
    table->AddExact(label, name + " " + label, lower, ratios, text);
    return;
  }
  std::vector<std::string> cells;
  for (const double ratio : ratios) cells.push_back(ratio < 0 ? "-" : text(ratio));
  table->AddText(label, cells);
}

// Figures per operation.
void AddReadLines(const std::string& name, size_t query, Direction lower,
                  const CompareReport& report, FigureTable* table) {
  using NumberOf = std::function<double(const QueryFigures&)>;
  const auto figure = [&](const std::string& label, Direction direction, const NumberOf& number) {
    table->AddExact(
        label + " / operation", name + " " + label, direction,
        OfDesigns<double>(
            report, [&](const DesignFigures& design) { return number(design.queries[query]); }),
        TwoDigits);
  };
  figure("requests", lower,
         [](const QueryFigures& of) { return RatioOf(of.requests, of.operations); });
  figure("blocks visited", lower,
         [](const QueryFigures& of) { return RatioOf(of.stats.blocks, of.operations); });
  figure("rows returned", Direction::kNone,
         [](const QueryFigures& of) { return RatioOf(of.stats.rows_returned, of.operations); });
  figure("bytes returned", lower,
         [](const QueryFigures& of) { return RatioOf(of.bytes_returned, of.operations); });
}

// Adds the bytes that the operations of a query read from files with a cold cache.
void AddColdReadLines(const std::string& name, size_t query, Direction lower,
                      const CompareReport& report, FigureTable* table) {
  table->AddExact("bytes read / operation", name + " bytes read", lower,
                  OfDesigns<double>(report,
                                    [&](const DesignFigures& design) {
                                      const QueryFigures& of = design.queries[query];
                                      return RatioOf(of.cold_bytes_read, of.operations);
                                    }),
                  WholeText);
  table->AddText(
      "bytes read / returned", OfDesigns<std::string>(report, [&](const DesignFigures& design) {
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

// Adds the records that are left out, and the reason why no design is better.
void AddQueryRemarks(const CompareReport::Query& query, FigureTable* table) {
  if (query.differing_operations > 0)
    table->AddRemark(fmt::format("{} {}, so no design is better",
                                 Counted(query.differing_operations, "answer"),
                                 query.differing_operations == 1 ? "differs" : "differ"));
  if (query.unusable_records > 0)
    table->AddRemark(fmt::format(
        "{} left out{} {}",
        Counted(query.unusable_records, "record") + (query.unusable_records == 1 ? " is" : " are"),
        query.unusable_records == 1 ? ":" : ", the first one:", query.first_unusable_record));
}

void AddLatencyLines(const std::string& name, size_t query, Direction lower,
                     const CompareReport& report, FigureTable* table) {
  const uint64_t operations = report.designs[0].queries[query].operations;
  ForEachCache(report, [&](const std::string& cache, const TimedOf& timed) {
    const auto latency = [&](const std::string& label, Measured LatencyFigures::*member,
                             Direction direction) {
      table->AddMeasured(label + " us" + cache, name + " " + label + cache, direction,
                         OfDesigns<Measured>(report,
                                             [&](const DesignFigures& design) {
                                               return timed(design).queries[query].*member;
                                             }),
                         MicrosText);
    };
    latency("p50", &LatencyFigures::p50, lower);
    latency("p99", &LatencyFigures::p99, operations < kP99OperationsMin ? Direction::kNone : lower);
    table->AddText(
        "max us" + cache, OfDesigns<std::string>(report, [&](const DesignFigures& design) {
          return MicrosText(static_cast<double>(timed(design).queries[query].all_rounds.Max()));
        }));
    table->JoinLines(3, "p50 / p99 / max us" + cache);
  });
}

void AddQueryGroup(size_t query, const CompareReport& report, FigureTable* table) {
  const CompareReport::Query& of = report.queries[query];
  const std::string name = EscapedBytes(of.name);
  const bool is_read = of.written_input.empty();
  const bool has_operations = report.designs[0].queries[query].operations > 0;
  const Direction lower =
      of.differing_operations > 0 ? Direction::kNone : Direction::kLowerIsBetter;
  table->AddGroup(name);
  if (is_read && has_operations) {
    AddSeenLine("rows", query, lower, &ReadStats::rows_seen, &ReadStats::rows_returned, report,
                table);
    AddSeenLine("cells", query, lower, &ReadStats::cells_seen, &ReadStats::cells_returned, report,
                table);
  }
  table->AddText("operations", OfDesigns<std::string>(report, [&](const DesignFigures& design) {
                   return WithCommas(design.queries[query].operations);
                 }));
  if (is_read && has_operations) AddReadLines(name, query, lower, report, table);
  if (is_read && has_operations && report.designs[0].cold.has_value())
    AddColdReadLines(name, query, lower, report, table);
  if (has_operations) AddLatencyLines(name, query, lower, report, table);
  AddQueryRemarks(of, table);
}

void AddLoadLines(const CompareReport& report, FigureTable* table) {
  const auto unless = [&](Direction direction) {
    return HasDifferences(report) ? Direction::kNone : direction;
  };
  table->AddGroup("overall");
  ForEachCache(report, [&](const std::string& cache, const TimedOf& timed) {
    const auto figure = [&](const std::string& label, const std::string& name, Direction direction,
                            Measured TimedFigures::*member, const FigureTable::Format& format) {
      table->AddMeasured(
          label + cache, name + cache, direction,
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
  table->AddGroup("load");
  table->AddExact(
      "hottest band", "load of the hottest band", unless(Direction::kLowerIsBetter),
      OfDesigns<double>(
          report, [](const DesignFigures& design) { return 100 * design.hottest_band_share; }),
      [](double percent) { return fmt::format("{:.1f} %", percent); });
  table->AddText("Gini (0: even)", OfDesigns<std::string>(report, [](const DesignFigures& design) {
                   return TwoDigits(design.heat_map->parts().gini);
                 }));
  table->JoinLines(2, "hottest band, Gini");
  table->AddText("patterns", OfDesigns<std::string>(report, [](const DesignFigures& design) {
                   std::set<std::string> names;
                   for (const stele::lab::HeatPattern& pattern : design.heat_map->patterns())
                     names.insert(pattern.name);
                   return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
                 }));
}

void AddEstimateGroup(const stele::lab::EstimateSettings& settings, const CompareReport& report,
                      FigureTable* table) {
  table->AddGroup("estimate");
  std::string rates =
      fmt::format("for Cloud Bigtable: {} operations/s", ShortNumber(report.estimate_rate));
  if (settings.data_factor != 1)
    rates += fmt::format(", storage for {} times the records", ShortNumber(settings.data_factor));
  table->AddRemark(rates);
  if (settings.data_factor != 1)
    table->AddRemark("scans are not scaled: a scan of the whole table grows with the table");
  const auto figure = [&](const std::string& label, const std::string& name, Direction direction,
                          const std::function<double(const Estimate&)>& number,
                          const FigureTable::Format& format) {
    table->AddExact(
        label, name, direction,
        OfDesigns<double>(report,
                          [&](const DesignFigures& design) { return number(*design.estimate); }),
        format);
  };
  const auto one_digit = [](double number) { return fmt::format("{:.1f}", number); };
  figure(
      "rows read/s, with one per scan", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.reads_per_second; }, WholeText);
  figure(
      "MB scanned/s", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.scan_mb_per_second; }, one_digit);
  figure(
      "rows written/s", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.writes_per_second; }, WholeText);
  figure(
      "GB of storage", "", Direction::kNone,
      [](const Estimate& estimate) { return estimate.storage_gb; },
      [](double gb) { return fmt::format("{:.3g}", gb); });
  // A scan of the whole table makes the estimate too low for a larger table.
  const bool is_comparable =
      !HasDifferences(report) &&
      (settings.data_factor == 1 ||
       std::none_of(report.designs.begin(), report.designs.end(), [](const DesignFigures& design) {
         return design.findings.count("KEY-FULL-SCAN") > 0;
       }));
  const Direction lower = is_comparable ? Direction::kLowerIsBetter : Direction::kNone;
  figure(
      "nodes", "estimated nodes", lower,
      [](const Estimate& estimate) { return static_cast<double>(estimate.nodes); }, WholeText);
  if (!settings.node_hour.has_value()) return;
  figure(
      "price of a month", "estimated price", lower,
      [](const Estimate& estimate) { return *estimate.month_price; },
      [](double price) { return fmt::format("{:.2f}", price); });
}

// Returns the findings of a design that `least` to `most` of the designs have.
std::vector<std::string> FindingsOf(const DesignFigures& design, const CompareReport& report,
                                    size_t least, size_t most) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
  std::vector<std::string> texts;
  for (const auto& [id, severity] : design.findings) {
    const auto has_it = [&id = id](const DesignFigures& of) { return of.findings.count(id) > 0; };
    const auto count =
        static_cast<size_t>(std::count_if(report.designs.begin(), report.designs.end(), has_it));
    if (count >= least && count <= most)
      texts.push_back(fmt::format("{} ({})", id, kSeverities[static_cast<size_t>(severity)]));
  }
  return texts;
}

// Adds a line for the first finding of each design, one for the second, and so on.
void AddFindingLines(const std::string& label,
                     const std::vector<std::vector<std::string>>& findings, FigureTable* table) {
  size_t lines = 1;
  for (const auto& of_design : findings) lines = std::max(lines, of_design.size());
  for (size_t line = 0; line < lines; ++line) {
    std::vector<std::string> cells;
    for (const auto& of_design : findings) {
      const std::string_view none = line == 0 ? "-" : "";
      cells.emplace_back(line < of_design.size() ? std::string_view(of_design[line]) : none);
    }
    table->AddText(line == 0 ? label : "", cells);
  }
}

void AddFindingsGroup(const CompareReport& report, FigureTable* table) {
  const size_t designs = report.designs.size();
  const auto shared_by = [&](size_t least, size_t most) {
    return OfDesigns<std::vector<std::string>>(report, [&](const DesignFigures& design) {
      return FindingsOf(design, report, least, most);
    });
  };
  table->AddGroup("findings");
  AddFindingLines("only in one design", shared_by(1, 1), table);
  const auto some = shared_by(2, designs - 1);
  if (std::any_of(some.begin(), some.end(), [](const auto& of) { return !of.empty(); }))
    AddFindingLines("in some designs", some, table);
  const std::vector<std::string> common = FindingsOf(report.designs[0], report, designs, designs);
  if (!common.empty()) table->AddRemark(fmt::format("in all designs: {}", fmt::join(common, ", ")));
  if (std::any_of(report.designs.begin(), report.designs.end(),
                  [](const DesignFigures& design) { return !design.findings.empty(); }))
    table->AddRemark("stele lint --explain RULE explains a finding");
}

std::string RecordText(const stele::lab::Design::Record& record) {
  std::string text;
  for (const auto& [field, value] : record)
    text += (text.empty() ? "" : " ") + EscapedBytes(field) + "=" + EscapedBytes(value);
  return text;
}

std::vector<std::string> AnswerLines(const CompareReport& report) {
  if (report.answers_compared == 0)
    return {"not compared: no query declares an answer in all designs"};
  std::vector<std::string> lines = {fmt::format("equal in {} of {}",
                                                WithCommas(report.answers_equal),
                                                Counted(report.answers_compared, "operation"))};
  if (report.answers_empty > 0)
    lines.push_back(fmt::format("{} of them {} no value in any design: check the columns of answer",
                                WithCommas(report.answers_empty),
                                report.answers_empty == 1 ? "has" : "have"));
  for (const CompareReport::AnswerDifference& difference : report.differences) {
    std::string line = fmt::format("{}, {}:", EscapedBytes(report.queries[difference.query].name),
                                   RecordText(difference.record));
    for (size_t i = 0; i < difference.values.size(); ++i) {
      line += fmt::format("{} {} {}", i == 0 ? "" : ",", report.designs[i].name,
                          Counted(difference.values[i], "value"));
    }
    lines.push_back(line);
  }
  if (!report.differences.empty())
    lines.emplace_back(
        "to find out why, use --keep DIR and read the rows with \"stele --db DIR/DESIGN read "
        "TABLE\"");
  return lines;
}

// Returns the lines above the table: the loads, the workload and the notes.
std::string LinesAboveTable(const CompareLines& lines) {
  constexpr size_t kDesignsPerLine = 2;
  const size_t width = lines.figures.name_width();
  std::string text;
  for (size_t i = 0; i < lines.loaded.size(); ++i) {
    if (i % kDesignsPerLine != 0)
      text += "     ";
    else
      text += fmt::format("{}{:<{}}", i == 0 ? "" : "\n", i == 0 ? "loading" : "", width);
    text += lines.loaded[i];
  }
  text += fmt::format("\n{:<{}}{}\n", "replaying", width, lines.replayed);
  for (const std::string& note : lines.notes) text += note + "\n";
  return text;
}

}  // namespace

CompareLines MakeCompareLines(const CompareReport& report) {
  CompareLines lines{.loaded = OfDesigns<std::string>(report, LoadedText),
                     .replayed = ReplayedText(report),
                     .answers = AnswerLines(report),
                     .notes = {},
                     .figures = FigureTable(OfDesigns<std::string>(
                         report, [](const DesignFigures& design) { return design.name; }))};
  for (const std::string& note : report.notes) lines.notes.push_back("note: " + note);
  if (report.designs.empty()) return lines;
  AddTableLines(report, &lines.figures);
  for (size_t query = 0; query < report.queries.size(); ++query)
    AddQueryGroup(query, report, &lines.figures);
  AddLoadLines(report, &lines.figures);
  if (report.estimate.has_value()) AddEstimateGroup(*report.estimate, report, &lines.figures);
  AddFindingsGroup(report, &lines.figures);
  return lines;
}

const stele::lab::HeatMap& PageMap(const DesignFigures& design) {
  return design.page_heat_map.has_value() ? *design.page_heat_map : *design.heat_map;
}

}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string CompareReport::ToText() const {
  internal::lab::CompareLines lines = internal::lab::MakeCompareLines(*this);
  lines.figures.AddGroup("answers");
  for (const std::string& answer : lines.answers) lines.figures.AddRemark(answer);
  return internal::lab::LinesAboveTable(lines) + lines.figures.Text() +
         "\n* clearly better than all others\n" + lines.figures.Summary();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
