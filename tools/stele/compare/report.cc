#include "compare/report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/status.h"
#include "bench/figures.h"
#include "key_bytes.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

enum class Better : uint8_t { kNone, kLower, kHigher };

// "1234567" as "1,234,567".
std::string Grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

double Ratio(uint64_t a, uint64_t b) {
  return static_cast<double>(a) / static_cast<double>(std::max<uint64_t>(b, 1));
}

std::string MicrosText(double nanos) { return fmt::format("{:.1f}", RoundedMicros(nanos)); }

// Makes the lines of the table.
class FigureTable {
 public:
  explicit FigureTable(const CompareResult& result) : designs_(result.designs) {
    for (const DesignResult& design : designs_)
      widths_.push_back(std::max<size_t>(kWidthMin, design.name.size() + 3));
    text_ += fmt::format("{:<{}}", "", kLabelWidth);
    for (size_t i = 0; i < designs_.size(); ++i)
      text_ += fmt::format("{:<{}}", designs_[i].name, widths_[i]);
    EndLine();
  }

  void Heading(const std::string& text) { text_ += text + "\n"; }

  using NumberOf = std::function<double(const DesignResult&)>;
  using TextOf = std::function<std::string(const DesignResult&)>;
  void Line(const std::string& label, const TextOf& text) {
    std::vector<std::string> cells;
    for (const DesignResult& design : designs_) cells.push_back(text(design));
    Add(label, cells, SIZE_MAX);
  }
  // `shown` says how a number is printed. `figure` names it in the last sentence.
  void Number(const std::string& label, const std::string& figure, Better better, bool is_exact,
              const NumberOf& number, const std::function<std::string(double)>& shown) {
    std::vector<std::string> cells;
    std::vector<double> numbers;
    for (const DesignResult& design : designs_) {
      numbers.push_back(number(design));
      cells.push_back(shown(numbers.back()));
    }
    const size_t best = BestOf(numbers, better, is_exact ? 1.05 : 1.10);
    if (best != SIZE_MAX) better_at_[best].push_back(figure);
    Add(label, cells, best);
  }
  void Count(const std::string& label, const std::string& figure, Better better,
             const std::function<uint64_t(const DesignResult&)>& count) {
    Number(
        label, figure, better, true,
        [&](const DesignResult& design) { return static_cast<double>(count(design)); },
        [](double value) { return Grouped(static_cast<uint64_t>(value)); });
  }

  const std::string& Text() const { return text_; }
  // Says which design is better at what.
  std::string Sentence() const {
    std::string sentence;
    for (const auto& [design, figures] : better_at_) {
      sentence += sentence.empty() ? "" : "; ";
      sentence += designs_[design].name + " is better at ";
      for (size_t i = 0; i < figures.size(); ++i) sentence += (i == 0 ? "" : ", ") + figures[i];
    }
    return (sentence.empty() ? "no design is clearly better at any figure" : sentence) + "\n";
  }

 private:
  static constexpr size_t kLabelWidth = 36;
  static constexpr size_t kWidthMin = 18;

  // Returns the design that is better than all others by the factor, or SIZE_MAX.
  static size_t BestOf(const std::vector<double>& numbers, Better better, double factor) {
    if (better == Better::kNone) return SIZE_MAX;
    for (size_t i = 0; i < numbers.size(); ++i) {
      bool is_best = true;
      for (size_t other = 0; other < numbers.size(); ++other) {
        const double worse = better == Better::kLower ? numbers[other] : numbers[i];
        const double good = better == Better::kLower ? numbers[i] : numbers[other];
        is_best = is_best && (other == i || worse > good * factor);
      }
      if (is_best) return i;
    }
    return SIZE_MAX;
  }

  void Add(const std::string& label, const std::vector<std::string>& cells, size_t best) {
    text_ += fmt::format("{:<{}}", label, kLabelWidth);
    for (size_t i = 0; i < cells.size(); ++i)
      text_ += fmt::format("{:<{}}", cells[i] + (i == best ? " *" : ""), widths_[i]);
    EndLine();
  }

  void EndLine() {
    while (!text_.empty() && text_.back() == ' ') text_.pop_back();
    text_ += '\n';
  }

  const std::vector<DesignResult>& designs_;
  std::vector<size_t> widths_;
  std::string text_;
  std::map<size_t, std::vector<std::string>> better_at_;  // by design
};

std::string RunText(const CompareOptions& options, const CompareWorkload& workload) {
  const std::string source =
      options.trace_path.empty()
          ? fmt::format("{} distribution, seed {}", ToText(options.distribution), options.seed)
          : "of " + EscapedKey(options.trace_path);
  return fmt::format("{} operations, {}; {} rounds, closed loop, {} {}\n",
                     Grouped(workload.operations.size()), source, options.rounds, options.threads,
                     options.threads == 1 ? "thread" : "threads");
}

void AddTableLines(FigureTable* table) {
  const auto count = [&](const std::string& label, Better better, uint64_t TableFigures::*member) {
    table->Count(label, label, better,
                 [&](const DesignResult& design) { return design.table_figures.*member; });
  };
  table->Line("table", [](const DesignResult& design) { return EscapedKey(design.table); });
  count("records", Better::kNone, &TableFigures::records);
  count("rows", Better::kNone, &TableFigures::rows);
  count("cells", Better::kNone, &TableFigures::cells);
  table->Line("cells per row, p50 / p99 / max", [](const DesignResult& design) {
    const TableFigures& figures = design.table_figures;
    return fmt::format("{} / {} / {}", figures.cells_per_row_p50, figures.cells_per_row_p99,
                       figures.cells_per_row_max);
  });
  count("bytes of the largest row", Better::kNone, &TableFigures::largest_row_bytes);
  table->Count("logical bytes", "logical bytes", Better::kLower,
               [](const DesignResult& design) { return design.table_figures.logical_bytes(); });
  table->Line("  keys / qualifiers / values", [](const DesignResult& design) {
    const TableFigures& figures = design.table_figures;
    const auto percent = [&](uint64_t bytes) {
      return 100 * Ratio(bytes, figures.logical_bytes());
    };
    return fmt::format("{:.0f} / {:.0f} / {:.0f} %", percent(figures.key_bytes),
                       percent(figures.qualifier_bytes), percent(figures.value_bytes));
  });
  count("disk bytes, compacted", Better::kLower, &TableFigures::disk_bytes);
  table->Number(
      "bytes written by the load / logical", "bytes written by the load", Better::kLower, true,
      [](const DesignResult& design) {
        return Ratio(design.table_figures.written_bytes, design.table_figures.logical_bytes());
      },
      [](double value) { return fmt::format("{:.2f}", value); });
  table->Number(
      "load, seconds", "load time", Better::kLower, false,
      [](const DesignResult& design) { return design.table_figures.load_seconds; },
      [](double value) { return fmt::format("{:.2f}", value); });
}

void AddReadLines(const std::string& name, size_t query, FigureTable* table) {
  const auto ratio = [&](const std::string& what, uint64_t ReadStats::*seen,
                         uint64_t ReadStats::*returned) {
    table->Number(
        "  " + what + " seen / returned", name + " " + what + " seen", Better::kLower, true,
        [&](const DesignResult& design) {
          const ReadStats& stats = design.queries[query].sum.stats;
          return Ratio(stats.*seen, stats.*returned);
        },
        [](double value) { return fmt::format("{:.2f}", value); });
  };
  table->Count("  requests", name + " requests", Better::kLower,
               [&](const DesignResult& design) { return design.queries[query].sum.requests; });
  table->Count(
      "  rows returned", name + " rows returned", Better::kNone,
      [&](const DesignResult& design) { return design.queries[query].sum.stats.rows_returned; });
  ratio("rows", &ReadStats::rows_seen, &ReadStats::rows_returned);
  ratio("cells", &ReadStats::cells_seen, &ReadStats::cells_returned);
  table->Count("  blocks read", name + " blocks", Better::kLower,
               [&](const DesignResult& design) { return design.queries[query].sum.stats.blocks; });
  table->Count(
      "  bytes returned", name + " bytes returned", Better::kLower,
      [&](const DesignResult& design) { return design.queries[query].sum.bytes_returned; });
}

void AddQueryLines(const CompareWorkload& workload, size_t query, const CompareResult& result,
                   FigureTable* table) {
  const std::string name = EscapedKey(workload.queries[query].name);
  const uint64_t operations = result.designs[0].queries[query].operations;
  table->Heading(fmt::format("{}: {} {}", name, Grouped(operations),
                             operations == 1 ? "operation" : "operations"));
  if (operations == 0) return;
  if (workload.queries[query].input.empty()) AddReadLines(name, query, table);
  const auto latency = [&](const std::string& label, uint64_t LatencyFigures::*member,
                           Better better) {
    table->Number(
        "  " + label + " us", name + " " + label, better, false,
        [&](const DesignResult& design) {
          return static_cast<double>(design.queries[query].latency.*member);
        },
        [](double value) { return MicrosText(value); });
  };
  latency("p50", &LatencyFigures::p50, Better::kLower);
  latency("p99", &LatencyFigures::p99, Better::kLower);
  latency("max", &LatencyFigures::max, Better::kNone);
}

// The findings that not all designs have; "" for none.
std::string OwnFindings(const DesignResult& design, const CompareResult& result) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "info"};
  std::string text;
  for (const auto& [id, severity] : design.findings) {
    const bool is_common =
        std::all_of(result.designs.begin(), result.designs.end(),
                    [&id = id](const DesignResult& other) { return other.findings.count(id) > 0; });
    if (is_common) continue;
    text += (text.empty() ? "" : ", ") + id + " (" +
            std::string(kSeverities[static_cast<size_t>(severity)]) + ")";
  }
  return text;
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
  std::string text = fmt::format("answers: equal in {} of {} operations\n",
                                 Grouped(result.answers_equal), Grouped(result.answers_compared));
  for (const AnswerDifference& difference : result.differences) {
    text +=
        fmt::format("  {} differs for {}\n", EscapedKey(workload.queries[difference.query].name),
                    RecordText(difference.record));
  }
  return text;
}

Json ToJson(const TableFigures& figures) {
  return {{"records", figures.records},
          {"rows", figures.rows},
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
      {"query", of.name}, {"operations", query.operations}, {"requests", query.sum.requests}};
  if (of.input.empty()) {
    const ReadStats& stats = query.sum.stats;
    json["rows_seen"] = stats.rows_seen;
    json["rows_returned"] = stats.rows_returned;
    json["cells_seen"] = stats.cells_seen;
    json["cells_returned"] = stats.cells_returned;
    json["bytes_returned"] = query.sum.bytes_returned;
    json["blocks"] = stats.blocks;
  } else {
    json["writes"] = of.input;
  }
  json["latency_us"] = {{"p50", Micros(query.latency.p50)},
                        {"p99", Micros(query.latency.p99)},
                        {"max", Micros(query.latency.max)}};
  return json;
}

Json ToJson(const DesignResult& design, const CompareWorkload& workload) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "info"};
  Json json = {{"design", design.name},
               {"table", design.table},
               {"data", ToJson(design.table_figures)},
               {"queries", Json::array()},
               {"operations_per_second", Rounded(design.operations_per_second)},
               {"cpu_seconds", design.cpu_seconds},
               {"hottest_band_share", design.hottest_band_share},
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
  FigureTable table(result);
  AddTableLines(&table);
  for (size_t query = 0; query < workload.queries.size(); ++query)
    AddQueryLines(workload, query, result, &table);
  table.Heading("all operations");
  table.Number(
      "  operations/s", "operations per second", Better::kHigher, false,
      [](const DesignResult& design) { return design.operations_per_second; },
      [](double value) { return Grouped(static_cast<uint64_t>(value)); });
  table.Number(
      "  CPU seconds", "CPU time", Better::kLower, false,
      [](const DesignResult& design) { return design.cpu_seconds; },
      [](double value) { return fmt::format("{:.2f}", value); });
  table.Number(
      "  hottest band", "load of the hottest band", Better::kLower, true,
      [](const DesignResult& design) { return design.hottest_band_share; },
      [](double value) { return fmt::format("{:.1f} %", 100 * value); });
  table.Number(
      "  Gini", "spread of the load", Better::kLower, true,
      [](const DesignResult& design) { return design.maps[0].parts().gini; },
      [](double value) { return fmt::format("{:.2f}", value); });
  std::string findings;
  for (const DesignResult& design : result.designs) {
    const std::string own = OwnFindings(design, result);
    if (!own.empty()) findings += fmt::format("findings of {}: {}\n", design.name, own);
  }
  return RunText(options, workload) + AnswersText(workload, result) + "\n" + table.Text() +
         findings + table.Sentence();
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
               {"differences", Json::array()},
               {"designs", Json::array()}};
  if (options.trace_path.empty()) {
    json["distribution"] = ToText(options.distribution);
    json["seed"] = options.seed;
  } else {
    json["trace"] = options.trace_path;
  }
  for (const AnswerDifference& difference : result.differences) {
    json["differences"].push_back(
        {{"query", workload.queries[difference.query].name}, {"record", difference.record}});
  }
  for (const DesignResult& design : result.designs)
    json["designs"].push_back(ToJson(design, workload));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stele::cli
