// stele/lab/heat_map.h: the load of tables by key range (band) and time interval (step), from
// traces. Requires the library stele::lab. docs/lab/heatmap.md describes the metrics and patterns.
//
// Units:     microseconds since the epoch.
// Threads:   one thread per call; a HeatMap is thread-compatible.
// Memory:    at most 512 MiB, for traces of any size.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/timestamp.h"

namespace stele::inline v0::lab {

// The figure that a cell of a heat map shows: numbers of operations, returned rows and bytes, the
// largest latency, or the rows seen divided by the rows returned.
enum class HeatMetric : uint8_t { kOps, kReads, kWrites, kRows, kBytes, kLatency, kSeenRatio };

// "ops", "reads", "writes", "rows", "bytes", "latency", "seen-ratio".
[[nodiscard]] std::string_view HeatMetricName(HeatMetric metric);

enum class HeatSeverity : uint8_t { kWarning, kInfo };

// A property of the operations as a whole. Members that do not apply are not set.
struct HeatPattern {
  std::string name = {};  // "hot-row", "hot-range", ...
  HeatSeverity severity = HeatSeverity::kInfo;
  std::string rule = {};     // of `stele lint`, or ""
  std::string message = {};  // for people
  double measured = 0;       // a share, a count, a correlation or a ratio
  bool is_count = false;     // `measured` is a whole number
  std::optional<std::string> row = {};
  std::optional<std::pair<uint64_t, uint64_t>> bands = {};         // first and last
  std::optional<std::pair<std::string, std::string>> tablet = {};  // start, and end or ""
  std::string direction = {};                                      // ascending, descending
  std::optional<double> period_seconds = {};
  std::optional<uint64_t> from_step = {};
};

struct HeatMapInput {
  std::vector<std::string> trace_paths = {};  // in any form; read twice, so no pipes
  // Its row keys are the known keys, and its tablets are compared. It is only read.
  std::optional<Database> database = {};
};

struct HeatMapOptions {
  std::string table = {};                 // "": every table of the traces
  uint32_t bands = 256;                   // the most bands, 1 to 1,000
  uint32_t columns = 240;                 // the most steps, 1 to 2,000, unless `step` is set
  std::chrono::microseconds step{0};      // 0: the smallest one that `columns` allows
  std::optional<Timestamp> from = {};     // operations from this time on
  std::optional<Timestamp> to = {};       // operations before this time
  std::optional<std::string> tag = {};    // operations with this tag
  bool skips_bad = false;                 // leaves wrong lines out
  bool is_growing = false;                // ignores a last line without its newline
  uint64_t key_bytes_max = 340ull << 20;  // of compressed keys in memory
  std::function<void(uint64_t lines)> progress = {};  // called now and then: lines read so far
};

struct HeatMaps;

// The map of one table.
class HeatMap {
 public:
  struct Band {
    std::string start = {};  // "" for the first band
    std::string end = {};    // where the next band begins; "" for the last band
    uint64_t keys = 0;       // known keys
  };
  struct Parts {
    std::string table = {};
    std::string title = {};    // the table for people; "": the part of `table` after the last "/"
    int64_t start_micros = 0;  // of the first step
    int64_t step_micros = 1'000'000;
    uint64_t steps = 1;
    std::vector<Band> bands = {};
    // The value of a cell has the index step * bands.size() + band. Always has ops, reads, writes.
    std::map<HeatMetric, std::vector<double>> values = {};
    double gini = 0;  // of the operations by band: 0 is even
    std::string hottest_row = {};
    uint64_t hottest_operations = 0;  // point operations on this row; 0: there is none
    uint64_t keys_per_known_key = 1;  // N: only one key in N is known
    std::vector<HeatPattern> patterns = {};
  };
  explicit HeatMap(Parts parts) : parts_(std::move(parts)) {}

  // Reads the traces. Errors:
  //   InvalidArgument    a wrong option; a wrong line; more than 1,000 tables; more than 4,000,000
  //                      cells in all maps
  //   NotFound           a trace, or the table, is missing; the traces have no operation
  //   FailedPrecondition two tables of a server's trace have one name in a remote database
  //   errors of the file system and of the database
  [[nodiscard]] static absl::StatusOr<HeatMaps> Build(const HeatMapInput& input,
                                                      const HeatMapOptions& options = {});

  const Parts& parts() const { return parts_; }
  const std::vector<HeatPattern>& patterns() const { return parts_.patterns; }
  bool has(HeatMetric metric) const { return parts_.values.count(metric) > 0; }
  double At(HeatMetric metric, size_t band, uint64_t step) const;  // 0 without this metric
  double Sum(HeatMetric metric) const;

  std::string ToJson(HeatMetric metric) const;  // with all metrics; its "metric" is `metric`
  // One page with a choice of these maps, at least one. It needs no other file and no network.
  // `compared` is shown next to them on the same color scale.
  static std::string ToHtml(std::span<const HeatMap> maps, HeatMetric metric,
                            std::span<const HeatMap> compared = {});
  // A PNG image with `scale` x `scale` pixels for each step (to the right) and band (downwards).
  // 0: at least 800 x 400. InvalidArgument: more than 200,000,000 pixels.
  absl::StatusOr<std::string> ToPng(HeatMetric metric, uint32_t scale = 0) const;
  // A line per band and step with operations: start of the band, time, ops, reads, writes.
  std::string ToCsv() const;
  // A line about the map, its patterns, and, unless kSummary, at most 40 lines of 100 columns.
  enum class TextStyle : uint8_t { kSummary, kPlain, k256Colors, k24BitColors };
  std::string ToText(HeatMetric metric, TextStyle style) const;

 private:
  Parts parts_;
};

struct HeatMaps {
  std::vector<HeatMap> maps = {};  // sorted by table
  uint64_t skipped_lines = 0;
};

}  // namespace stele::inline v0::lab
