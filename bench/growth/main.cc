// bench/growth/main.cc: measures how the cost of an operation grows with the size and the shape of
// the data, and with the threads and the memory of the process.
//
//   stele_growth [--only CURVE,...] [--small] [--dir DIRECTORY]
//
// Prints one line of JSON about the run, then one line per operation and point.
// bench/plot_growth.py makes a table and a picture of them.
// Exit code 1: something failed. Exit code 2: wrong arguments.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "curves.h"
#include "layout.h"
#include "measure.h"
#include "operations.h"

namespace stele_growth {
namespace {

constexpr RunLimit kLimit = {.operations = 50'000, .seconds = 1};
constexpr RunLimit kSmallLimit = {.operations = 20, .seconds = 1};
constexpr size_t kPoolBytes = 16 << 20;

struct Settings {
  std::vector<std::string> only;  // curves; empty: all
  bool is_small = false;
  std::string directory;
  bool asks_for_help = false;
  std::string error;
};

Settings ParseSettings(int argument_count, char** texts) {
  Settings settings;
  for (int i = 1; i < argument_count && settings.error.empty(); ++i) {
    const std::string_view name = texts[i];
    const bool has_value = i + 1 < argument_count && *texts[i + 1] != '\0';
    if (name == "--help" || name == "-h") {
      settings.asks_for_help = true;
    } else if (name == "--small") {
      settings.is_small = true;
    } else if (name == "--only" && has_value) {
      settings.only = absl::StrSplit(texts[++i], ',');
    } else if (name == "--dir" && has_value) {
      settings.directory = texts[++i];
    } else {
      settings.error = fmt::format("'{}' is no flag, or lacks its value", name);
    }
  }
  return settings;
}

std::string Usage() {
  std::string usage =
      "usage: stele_growth [FLAG...]\n"
      "Measures how the cost of an operation grows. Prints lines of JSON.\n"
      "\nflags:\n"
      "  --only CURVE,...  measure these curves (default: all)\n"
      "  --small           two points of each curve, with little data\n"
      "  --dir DIRECTORY   work in a new directory in this one (default: the temporary directory)\n"
      "  --help, -h        print this text\n"
      "\ncurves, and what varies:\n";
  for (const Curve& curve : Curves(false))
    usage += fmt::format("  {:<21} {}\n", curve.name, curve.varies);
  return usage;
}

void Print(const Curve& curve, const Point& point, Operation operation, const Cost& cost) {
  const double per_operation = 1e6 / static_cast<double>(cost.operations);
  fmt::print(
      "{{\"curve\": \"{}\", \"varies\": \"{}\", \"value\": {}, \"operation\": \"{}\", \"rows\": "
      "{}, \"operations\": {}, \"us\": {:.3f}, \"cpu_us\": {:.3f}, \"p50_us\": {:.3f}, "
      "\"p99_us\": {:.3f}}}\n",
      curve.name, curve.varies, point.value, NameOf(operation), point.layout.rows, cost.operations,
      cost.seconds * per_operation, cost.cpu_seconds * per_operation, cost.p50_us, cost.p99_us);
  std::fflush(stdout);
}

absl::Status MeasurePoint(const Curve& curve, const Point& point, const RunLimit& limit,
                          const std::string& directory, const stele_compare::Pool& pool) {
  absl::StatusOr<FilledTable> filled = Fill(directory, point.layout, pool);
  if (!filled.ok()) return filled.status();
  const absl::Status warmed = Warm(point.layout, filled->table);
  if (!warmed.ok()) return warmed;
  for (const Operation operation : curve.operations) {
    const absl::StatusOr<Cost> cost = Measure(operation, point.layout, filled->table, limit);
    if (!cost.ok()) return cost.status();
    Print(curve, point, operation, *cost);
  }
  return filled->database.Close();
}

// Returns the number of points that failed.
int MeasureCurves(const Settings& settings, const std::vector<Curve>& curves,
                  const std::string& directory) {
  const stele_compare::Pool pool(kPoolBytes);
  int failures = 0;
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) {
      const std::string place = directory + "/db";
      const absl::Status status =
          MeasurePoint(curve, point, settings.is_small ? kSmallLimit : kLimit, place, pool);
      if (!status.ok()) {
        fmt::print(stderr, "FAILED {} {}: {}\n", curve.name, point.value, status.ToString());
        ++failures;
      }
      std::error_code ignored;
      std::filesystem::remove_all(place, ignored);
    }
  }
  return failures;
}

// Removes the curves that were not asked for. Returns an error, or "".
std::string Choose(const std::vector<std::string>& only, std::vector<Curve>* curves) {
  if (only.empty()) return "";
  const auto has_name = [](const std::string& name) {
    return [&name](const Curve& curve) { return curve.name == name; };
  };
  for (const std::string& name : only) {
    if (std::none_of(curves->begin(), curves->end(), has_name(name)))
      return fmt::format("--only: there is no curve '{}'", name);
  }
  std::erase_if(*curves, [&only](const Curve& curve) {
    return std::find(only.begin(), only.end(), curve.name) == only.end();
  });
  return "";
}

int Main(int argument_count, char** texts) {
  Settings settings = ParseSettings(argument_count, texts);
  if (settings.asks_for_help) {
    fmt::print("{}", Usage());
    return 0;
  }
  std::vector<Curve> curves = Curves(settings.is_small);
  if (settings.error.empty()) settings.error = Choose(settings.only, &curves);
  if (!settings.error.empty()) {
    fmt::print(stderr, "stele_growth: {}; see --help\n", settings.error);
    return 2;
  }
  const std::filesystem::path parent = settings.directory.empty()
                                           ? std::filesystem::temp_directory_path()
                                           : std::filesystem::path(settings.directory);
  std::string directory = (parent / "stele_growth.XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) {
    fmt::print(stderr, "stele_growth: cannot create {}\n", directory);
    return 1;
  }
  fmt::print("{{\"run\": \"stele_growth\", \"machine\": \"{}\"}}\n",
             stele_compare::MachineText(directory));
  const int failures = MeasureCurves(settings, curves, directory);
  std::filesystem::remove_all(directory);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace stele_growth

int main(int argument_count, char** texts) { return stele_growth::Main(argument_count, texts); }
