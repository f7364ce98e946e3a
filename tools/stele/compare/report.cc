#include "compare/report.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/status.h"
#include "bench/figures.h"
#include "compare/figure_table.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

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

std::string RunText(const CompareOptions& options, const CompareWorkload& workload) {
  const std::string source =
      options.trace_path.empty()
          ? fmt::format("{} distribution, seed {}", ToText(options.distribution), options.seed)
          : "of " + EscapedKey(options.trace_path);
  return fmt::format("{} operations, {}; {} {}, closed loop, {} {}\n",
                     Grouped(workload.operations.size()), source, options.rounds,
                     options.rounds == 1 ? "round" : "rounds", options.threads,
                     options.threads == 1 ? "thread" : "threads");
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

std::string QueryHeading(const CompareWorkload& workload, size_t query,
                         const CompareResult& result) {
  const CompareQuery& of = workload.queries[query];
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

void AddQueryLines(const CompareWorkload& workload, size_t query, const CompareResult& result,
                   FigureTable* table) {
  table->AddHeading(QueryHeading(workload, query, result));
  const uint64_t operations = result.designs[0].queries[query].operations;
  if (operations == 0) return;
  const std::string name = EscapedKey(workload.queries[query].name);
  const Direction lower =
      result.different_answers[query] > 0 ? Direction::kNone : Direction::kLowerIsBetter;
  if (workload.queries[query].input.empty()) AddReadLines(name, query, lower, result, table);
  const auto latency = [&](const std::string& label, Measured LatencyFigures::*member,
                           Direction direction) {
    table->AddMeasured("  " + label + " us", name + " " + label, direction,
                       OfDesigns<Measured>(result,
                                           [&](const DesignResult& design) {
                                             return design.queries[query].latency.*member;
                                           }),
                       MicrosText);
  };
  latency("p50", &LatencyFigures::p50, lower);
  latency("p99", &LatencyFigures::p99, operations < kP99OperationsMin ? Direction::kNone : lower);
  table->AddText("  max us", OfDesigns<std::string>(result, [&](const DesignResult& design) {
                   return MicrosText(static_cast<double>(design.queries[query].latency.max));
                 }));
}

void AddLoadLines(const CompareResult& result, FigureTable* table) {
  const bool has_differences = result.answers_equal < result.answers_compared;
  const auto unless = [&](Direction direction) {
    return has_differences ? Direction::kNone : direction;
  };
  table->AddHeading("all operations");
  table->AddMeasured(
      "  operations/s", "operations per second", unless(Direction::kHigherIsBetter),
      OfDesigns<Measured>(result,
                          [](const DesignResult& design) { return design.operations_per_second; }),
      Whole);
  table->AddMeasured(
      "  CPU seconds", "CPU time", unless(Direction::kLowerIsBetter),
      OfDesigns<Measured>(result, [](const DesignResult& design) { return design.cpu_seconds; }),
      TwoDigits);
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

// The rules with findings in all designs (`common`), or those of one design only in some.
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

std::string AnswersText(const CompareWorkload& workload, const CompareResult& result) {
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
        "  to find out why, use --keep DIR and read the rows with \"stele --db DIR/DESIGN read\"\n";
  return text;
}

Json ToJson(const TableFigures& figures) {
  return {{"records", figures.records},
          {"rows", figures.rows},
          {"cells_loaded", figures.cells_loaded},
          {"cells", figures.cells},
          {"cells_per_row",
           {{"p50", figures.cells_per_row_p50},
            {"p99", figures.cells_per_row_p99},
            {"max", figures.cells_per_row_max}}},
          {"largest_row", EscapedKey(figures.largest_row)},
          {"largest_row_bytes", figures.largest_row_bytes},
          {"key_bytes", figures.key_bytes},
          {"qualifier_bytes", figures.qualifier_bytes},
          {"value_bytes", figures.value_bytes},
          {"logical_bytes", figures.logical_bytes()},
          {"disk_bytes", figures.disk_bytes},
          {"written_bytes", figures.written_bytes},
          {"load_seconds", figures.load_seconds}};
}

Json ToJson(const QueryResult& query, const CompareQuery& of) {
  Json json = {
      {"query", of.name}, {"operations", query.operations}, {"requests", query.totals.requests}};
  if (of.input.empty()) {
    const ReadStats& stats = query.totals.stats;
    json["rows_seen"] = stats.rows_seen;
    json["rows_returned"] = stats.rows_returned;
    json["cells_seen"] = stats.cells_seen;
    json["cells_returned"] = stats.cells_returned;
    json["bytes_returned"] = query.totals.bytes_returned;
    json["blocks"] = stats.blocks;
  } else {
    json["writes"] = of.input;
  }
  json["latency_us"] = {{"p50", RoundedMicros(query.latency.p50.median)},
                        {"p99", RoundedMicros(query.latency.p99.median)},
                        {"max", Micros(query.latency.max)}};
  return json;
}

Json ToJson(const DesignResult& design, const CompareWorkload& workload) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
  Json json = {{"design", design.name},
               {"table", design.table},
               {"data", ToJson(design.table_figures)},
               {"queries", Json::array()},
               {"operations_per_second", Rounded(design.operations_per_second.median)},
               {"cpu_seconds", design.cpu_seconds.median},
               {"busiest_range_share", design.busiest_range_share},
               {"gini", design.maps[0].parts().gini},
               {"patterns", Json::array()},
               {"findings", Json::object()}};
  for (size_t i = 0; i < workload.queries.size(); ++i)
    json["queries"].push_back(ToJson(design.queries[i], workload.queries[i]));
  for (const lab::HeatPattern& pattern : design.maps[0].patterns())
    json["patterns"].push_back({{"name", pattern.name}, {"message", pattern.message}});
  for (const auto& [id, severity] : design.findings)
    json["findings"][id] = kSeverities[static_cast<size_t>(severity)];
  return json;
}

}  // namespace

std::string CompareText(const CompareOptions& options, const CompareWorkload& workload,
                        const CompareResult& result) {
  FigureTable table(
      OfDesigns<std::string>(result, [](const DesignResult& design) { return design.name; }));
  AddTableLines(result, &table);
  for (size_t query = 0; query < workload.queries.size(); ++query)
    AddQueryLines(workload, query, result, &table);
  AddLoadLines(result, &table);
  std::string notes;
  for (const std::string& note : workload.notes) notes += "note: " + note + "\n";
  return RunText(options, workload) + AnswersText(workload, result) + notes + "\n" + table.text() +
         "* clearly better than all others\n\n" + AllFindings(result) + table.Summary();
}

std::string CompareJson(const CompareOptions& options, const CompareWorkload& workload,
                        const CompareResult& result) {
  Json json = {{"compare", 1},
               {"operations", workload.operations.size()},
               {"rounds", options.rounds},
               {"threads", options.threads},
               {"version", STELE_VERSION},
               {"machine", Machine()},
               {"answers_compared", result.answers_compared},
               {"answers_equal", result.answers_equal},
               {"answers_empty", result.answers_empty},
               {"differences", Json::array()},
               {"designs", Json::array()}};
  if (options.trace_path.empty()) {
    json["distribution"] = ToText(options.distribution);
    json["seed"] = options.seed;
  } else {
    json["trace"] = options.trace_path;
  }
  for (const AnswerDifference& difference : result.differences) {
    json["differences"].push_back({{"query", workload.queries[difference.query].name},
                                   {"record", difference.record},
                                   {"values", difference.values}});
  }
  for (const DesignResult& design : result.designs)
    json["designs"].push_back(ToJson(design, workload));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stele::cli
