// tools/stele/heatmap.cc: the verb heatmap: the flags of stele/lab/heat_map.h.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "key_text.h"
#include "keys/printable.h"
#include "lab_files.h"
#include "progress.h"
#ifdef STELE_HAS_LAB
#include "lab/input/file_stamp.h"
#include "lab/input/input_file.h"
#include "stele/lab/heat_map.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

using lab::HeatMap;
using lab::HeatMetric;

constexpr FlagSpec kHeatMapFlags[] = {
    {"table"},   {"db"},           {"metric"}, {"bands"},   {"columns"},         {"step"},
    {"from"},    {"to"},           {"tag"},    {"fail-on"}, {"skip-bad", false}, {"scale"},
    {"compare"}, {"follow", false}};

constexpr std::string_view kMapEndings[] = {".html", ".png", ".json", ".csv", ".txt"};

// The rest of the command line.
struct MapOutput {
  HeatMetric metric = HeatMetric::kOps;
  bool as_json = false;
  std::string path;  // -o; "": only standard output
  std::string ending;
  uint32_t scale = 0;
  int fail_on = 0;  // how many severities, from the most severe one, give exit status 3
};

absl::StatusOr<HeatMetric> ParseMetric(std::string_view text) {
  std::string names;
  for (int i = 0; i <= static_cast<int>(HeatMetric::kSeenRatio); ++i) {
    const auto metric = static_cast<HeatMetric>(i);
    if (text == HeatMetricName(metric)) return metric;
    names += fmt::format("{}{}", i == 0 ? "" : ", ", HeatMetricName(metric));
  }
  return UsageError(fmt::format("--metric must be one of {}", names));
}

absl::StatusOr<uint32_t> ParseCount(const Flags& flags, std::string_view name, uint32_t most,
                                    uint32_t otherwise) {
  const auto text = flags.Find(name);
  if (!text.has_value()) return otherwise;
  const auto number = ParseNumber(name, *text);
  if (!number.ok() || *number < 1 || *number > most)
    return UsageError(fmt::format("--{} must be a number from 1 to {}", name, most));
  return static_cast<uint32_t>(*number);
}

absl::StatusOr<std::optional<Timestamp>> ParseTimeFlag(const Flags& flags, std::string_view name) {
  const auto text = flags.Find(name);
  if (!text.has_value()) return std::optional<Timestamp>();
  const auto time = ParseTime(*text);
  if (!time.ok())
    return UsageError(fmt::format("--{}: {}", name, internal::ToStd(time.status().message())));
  return std::optional<Timestamp>(*time);
}

absl::StatusOr<lab::HeatMapOptions> ParseMapOptions(const Flags& flags) {
  lab::HeatMapOptions options;
  options.table = flags.Get("table", "");
  options.tag = flags.Find("tag");
  options.skips_bad = flags.has("skip-bad");
  STELE_ASSIGN_OR_RETURN(options.bands, ParseCount(flags, "bands", 1'000, options.bands));
  STELE_ASSIGN_OR_RETURN(options.columns, ParseCount(flags, "columns", 2'000, options.columns));
  STELE_ASSIGN_OR_RETURN(options.from, ParseTimeFlag(flags, "from"));
  STELE_ASSIGN_OR_RETURN(options.to, ParseTimeFlag(flags, "to"));
  if (options.from.has_value() && options.to.has_value() && *options.from >= *options.to)
    return UsageError("--from must be before --to");
  if (const auto text = flags.Find("step")) {
    const auto width = ParseWidth(*text);
    if (!width.ok())
      return UsageError(fmt::format("--step: {}", internal::ToStd(width.status().message())));
    options.step = *width;
  }
  return options;
}

// -o and --format, which may also come before the verb. The session prints to standard output.
absl::StatusOr<MapOutput> ParseMapOutput(Session& session, const Flags& flags) {
  MapOutput output;
  STELE_ASSIGN_OR_RETURN(output.as_json, TakeOutputFlags(session, flags));
  output.path = session.options().output;
  session.SetOutput("");
  STELE_ASSIGN_OR_RETURN(output.metric, ParseMetric(flags.Get("metric", "ops")));
  const std::string fail_on = flags.Get("fail-on", "never");
  constexpr std::string_view kFailOn[] = {"never", "warning", "info"};
  output.fail_on = -1;
  for (int i = 0; i < 3; ++i)
    if (fail_on == kFailOn[i]) output.fail_on = i;
  if (output.fail_on < 0) return UsageError("--fail-on must be never, warning or info");
  STELE_ASSIGN_OR_RETURN(output.scale, ParseCount(flags, "scale", 1'000, 0));
  if (flags.has("scale") && !output.path.ends_with(".png"))
    return UsageError("--scale needs -o FILE.png");
  if (flags.has("compare") && !output.path.ends_with(".html"))
    return UsageError("--compare needs -o FILE.html");
  if (flags.has("follow") && (!output.path.empty() || output.as_json))
    return UsageError("--follow draws on the terminal: it has no -o and no --format json");
  if (output.path.empty()) return output;
  for (const std::string_view ending : kMapEndings)
    if (output.path.ends_with(ending) && output.path.size() > ending.size()) output.ending = ending;
  if (output.ending.empty())
    return UsageError(fmt::format("-o {}: the file must end in .html, .png, .json, .csv or .txt",
                                  internal::Printable(output.path)));
  if (output.as_json && output.ending != ".json") {
    return UsageError(
        fmt::format("--format json and -o {} contradict each other: leave one of them out, or name "
                    "a file that ends in .json",
                    internal::Printable(output.path)));
  }
  STELE_RETURN_IF_ERROR(CheckOutputDirectories({output.path}));
  return output;
}

// Colors only if standard output is a terminal, and NO_COLOR is not set.
HeatMap::TextStyle StyleOfTerminal() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (isatty(STDOUT_FILENO) != 1 || !variable("NO_COLOR").empty() || variable("TERM") == "dumb")
    return HeatMap::TextStyle::kPlain;
  const std::string_view colors = variable("COLORTERM");
  return colors == "truecolor" || colors == "24bit" ? HeatMap::TextStyle::k24BitColors
                                                    : HeatMap::TextStyle::k256Colors;
}

absl::StatusOr<std::string> FileText(const HeatMap& map, const MapOutput& output) {
  if (output.ending == ".png") return map.ToPng(output.metric, output.scale);
  if (output.ending == ".json") return map.ToJson(output.metric) + "\n";
  if (output.ending == ".csv") return map.ToCsv();
  return map.ToText(output.metric, HeatMap::TextStyle::kPlain);
}

// FILE-TABLE.ENDING. Bytes of the table's name that could be a part of a path are %NN.
std::string PathOfTable(const MapOutput& output, const std::string& table) {
  std::string name = output.path.substr(0, output.path.size() - output.ending.size()) + "-";
  for (const char c : table) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
    name += is_plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return name + output.ending;
}

// No file replaces one of `traces` or the file of --trace.
absl::Status WriteMaps(const Session& session, const std::vector<HeatMap>& maps,
                       const std::vector<HeatMap>& compared, const MapOutput& output,
                       const std::vector<std::string>& traces) {
  const bool has_one_file = maps.size() == 1 || output.ending == ".html";
  const auto path_of = [&](const HeatMap& map) {
    return has_one_file ? output.path : PathOfTable(output, map.parts().table);
  };
  for (const HeatMap& map : maps) {
    STELE_RETURN_IF_ERROR(session.CheckOutputs({path_of(map)}));
    STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({path_of(map)}, traces));
  }
  if (output.ending == ".html")
    return ReplaceFile(output.path, HeatMap::ToHtml(maps, output.metric, compared));
  for (const HeatMap& map : maps) {
    STELE_ASSIGN_OR_RETURN(const std::string text, FileText(map, output));
    STELE_RETURN_IF_ERROR(ReplaceFile(path_of(map), text));
  }
  return absl::OkStatus();
}

void PrintMaps(Session& session, const std::vector<HeatMap>& maps, const MapOutput& output) {
  if (output.as_json) {
    // One object, or a list of several.
    for (size_t i = 0; i < maps.size(); ++i) {
      if (maps.size() > 1) session.Print(i == 0 ? "[" : ",\n");
      session.Print(maps[i].ToJson(output.metric));
    }
    session.Print(maps.size() > 1 ? "]\n" : "\n");
    return;
  }
  const HeatMap::TextStyle style =
      output.path.empty() ? StyleOfTerminal() : HeatMap::TextStyle::kSummary;
  for (size_t i = 0; i < maps.size(); ++i) {
    if (i > 0 && output.path.empty()) session.Print("\n");
    session.Print(maps[i].ToText(output.metric, style));
  }
}

// The maps below the names of their traces.
void PrintNamedMaps(Session& session, const std::vector<std::string>& traces,
                    const std::vector<HeatMap>& maps, const MapOutput& output) {
  for (size_t i = 0; i < traces.size(); ++i)
    session.Print((i == 0 ? "" : ", ") + internal::EscapedBytes(traces[i]));
  session.Print(":\n");
  PrintMaps(session, maps, output);
}

absl::Status CheckMetric(const std::vector<HeatMap>& maps, HeatMetric metric) {
  for (const HeatMap& map : maps)
    if (map.has(metric)) return absl::OkStatus();
  return internal::InvalidArgument("the trace does not have what the metric {} needs",
                                   HeatMetricName(metric));
}

void SetExitStatus(Session& session, const std::vector<HeatMap>& maps, const MapOutput& output) {
  constexpr lab::HeatSeverity kSeverities[] = {lab::HeatSeverity::kWarning,
                                               lab::HeatSeverity::kInfo};
  for (const HeatMap& map : maps) {
    for (const lab::HeatPattern& pattern : map.patterns())
      for (int i = 0; i < output.fail_on; ++i)
        if (pattern.severity == kSeverities[i]) session.SkippedSome();
  }
}

void NoteSkippedLines(Session& session, uint64_t skipped_lines) {
  if (skipped_lines == 0) return;
  session.Note(fmt::format("stele: left out {0} wrong line{1} or damaged block{1}\n", skipped_lines,
                           skipped_lines == 1 ? "" : "s"));
  session.SkippedSome();
}

using Stamps = std::vector<internal::lab::FileStamp>;

absl::StatusOr<Stamps> StampsOf(const std::vector<std::string>& paths) {
  Stamps stamps;
  for (const std::string& path : paths) {
    STELE_ASSIGN_OR_RETURN(stamps.emplace_back(), internal::lab::StampOf(path));
  }
  return stamps;
}

// The end of a compressed file that grows cannot be read.
absl::Status CheckArePlain(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    STELE_ASSIGN_OR_RETURN(const auto file, internal::lab::InputFile::Open(path, false));
    if (file->is_compressed())
      return internal::FailedPrecondition(
          "{}: is compressed, and --follow reads only plain files: leave out --follow, or follow "
          "the file before it is compressed",
          internal::Printable(path));
  }
  return absl::OkStatus();
}

// Draws the map again every second in which a trace was written or replaced, until the process is
// stopped.
absl::Status FollowTraces(Session& session, const lab::HeatMapInput& input,
                          const lab::HeatMapOptions& options, const MapOutput& output) {
  constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";
  constexpr std::chrono::seconds kPause(1);
  std::optional<Stamps> drawn;
  while (true) {
    STELE_ASSIGN_OR_RETURN(Stamps stamps, StampsOf(input.trace_paths));
    if (stamps != drawn) {
      drawn = std::move(stamps);
      STELE_RETURN_IF_ERROR(CheckArePlain(input.trace_paths));
      const auto maps = HeatMap::Build(input, options);
      // A trace may begin with no operation.
      if (!maps.ok() && maps.status().code() != absl::StatusCode::kNotFound) return maps.status();
      if (isatty(STDOUT_FILENO) == 1) session.Print(kClearScreen);
      if (maps.ok()) {
        PrintMaps(session, maps->maps, output);
      } else {
        session.Print(fmt::format("{}\n", internal::ToStd(maps.status().message())));
      }
      STELE_RETURN_IF_ERROR(session.Flush());
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

absl::Status RunHeatMap(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kHeatMapFlags));
  if (flags.words().empty()) return WrongUsage("heatmap");
  STELE_ASSIGN_OR_RETURN(const MapOutput output, ParseMapOutput(session, flags));
  STELE_ASSIGN_OR_RETURN(lab::HeatMapOptions options, ParseMapOptions(flags));
  lab::HeatMapInput input{.trace_paths = flags.words()};
  for (const std::string& path : input.trace_paths)
    if (path == "-") return UsageError("heatmap reads a trace twice: store it in a file first");
  if (const auto location = flags.Find("db")) session.SetDatabase(*location);
  STELE_RETURN_IF_ERROR(session.CheckOutputs({output.path}));
  // $STELE_DB may be a database of other tables.
  if (session.options().has_database_flag) {
    STELE_ASSIGN_OR_RETURN(input.database, session.Open(Session::Access::kRead));
  }
  if (flags.has("follow")) {
    options.is_growing = true;
    return FollowTraces(session, input, options, output);
  }
  Progress progress("reading", "lines", 0);
  options.progress = [&](uint64_t lines) { progress.Set(lines); };
  STELE_ASSIGN_OR_RETURN(const lab::HeatMaps maps, HeatMap::Build(input, options));
  lab::HeatMaps compared;
  std::vector<std::string> traces = input.trace_paths;
  const auto other = flags.Find("compare");
  if (other.has_value()) {
    traces.push_back(*other);
    input.trace_paths = {*other};
    STELE_ASSIGN_OR_RETURN(compared, HeatMap::Build(input, options));
  }
  progress.End();
  STELE_RETURN_IF_ERROR(CheckMetric(maps.maps, output.metric));
  if (!output.path.empty())
    STELE_RETURN_IF_ERROR(WriteMaps(session, maps.maps, compared.maps, output, traces));
  if (other.has_value()) {
    PrintNamedMaps(session, flags.words(), maps.maps, output);
    session.Print("\n");
    PrintNamedMaps(session, {*other}, compared.maps, output);
  } else {
    PrintMaps(session, maps.maps, output);
  }
  SetExitStatus(session, maps.maps, output);
  SetExitStatus(session, compared.maps, output);
  NoteSkippedLines(session, maps.skipped_lines + compared.skipped_lines);
  return absl::OkStatus();
}

#else

absl::Status RunHeatMap(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("heatmap");
}

#endif

}  // namespace stele::cli
