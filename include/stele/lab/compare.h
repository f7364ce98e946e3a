// stele/lab/compare.h: runs one workload on several designs, and compares their size, work and
// latency. Requires the library stele::lab. docs/lab/compare.md describes the workload, the figures
// and the report.
//
// Threads:   CompareDesigns() starts its own threads and returns after they ended. Calls with
//            different work directories may run together. The types are values, and
//            thread-compatible.
// Memory:    one open database per design, and the workload. A drawn workload has at most 100,000
//            records or 64 MiB for each query. A logical trace is in memory as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/lab/design.h"
#include "stele/lab/heat_map.h"
#include "stele/lab/histogram.h"
#include "stele/lab/lint.h"
#include "stele/lab/replay.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/stats.h"
#include "stele/timestamp.h"

namespace stele::inline v0::lab {

// Which rows, or records, the operations of a workload use. Shares are above 0 and at most 1.
struct RecordDistribution {
  enum class Kind : uint8_t { kUniform, kZipfian, kLatest, kSequential, kHotspot };
  Kind kind = Kind::kUniform;
  double theta = 0.99;          // of kZipfian and kLatest; between 0 and 1
  double hot_rows = 0.2;        // kHotspot: the share of the rows
  double hot_operations = 0.8;  // kHotspot: the share of the operations on these rows
};

// The limits of a node of Cloud Bigtable, and the load of the application. All numbers are above 0.
// A MB is 1,000,000 bytes, and a TB is 1,000,000 MB.
struct EstimateSettings {
  double node_reads_per_second = 17'000;   // rows of 1,000 bytes
  double node_writes_per_second = 14'000;  // the same for writes
  double node_scan_mb_per_second = 220;
  double node_storage_tb = 5;
  double target = 0.7;  // the share of a node that is used; at most 1

  // The rate of the application. Default: that of a logical trace, or 1,000.
  std::optional<double> operations_per_second = {};
  double data_factor = 1;  // the application's storage, divided by that of the comparison
  // Prices, in any currency: both or none.
  std::optional<double> node_hour = {};
  std::optional<double> gb_month = {};  // of storage

  // Reads a YAML file, with the members that docs/lab/compare.md lists.
  // Errors: InvalidArgument with "FILE:LINE:COLUMN: what"; those of the file.
  [[nodiscard]] static absl::StatusOr<EstimateSettings> Load(const std::string& path);
};

// The state of the block cache at the start of a round.
enum class CompareCaches : uint8_t {
  kWarm,  // all blocks that fit
  kCold,  // empty, with a size of at most 4 MiB
  kBoth,  // the rounds run with a warm cache, and then again with a cold one
};

struct CompareOptions {
  // At least two, with different names: the file without directory and ending. It is also the name
  // of the database, has 1 to 200 bytes and does not begin with a point.
  std::vector<Design> designs = {};
  std::string table = {};  // of each design. "": the only one that has the first design's queries
  std::map<std::string, std::string> inputs = {};  // paths by name, instead of the designs'
  // Must exist and be empty. For each design, the call adds a database NAME and a trace
  // NAME.trace.jsonl, and does not remove them.
  std::string work_directory = {};

  std::string trace_path = {};  // a logical trace with the operations. "": they are drawn
  // The next three draw operations. The weights of the first design set the share of each query.
  uint64_t operations = 10'000;  // from 1 to 10,000,000
  RecordDistribution distribution = {};
  uint64_t seed = 1;

  ReplayRate rate = ReplayRate::Max();
  CompareCaches caches = CompareCaches::kWarm;
  uint64_t threads = 1;                // from 1 to 256
  uint64_t rounds = 3;                 // from 1 to 1000
  uint64_t records_max = 0;            // reads at most this many records per input. 0: all
  std::optional<Timestamp> time = {};  // of cells for which a design has none. Default: now
  bool allows_duplicates = false;      // as in LoadOptions
  // Files that the caller writes. InvalidArgument if one of them is read.
  std::vector<std::string> output_paths = {};
  // Builds a second heat map of each design, with fewer ranges, for ToHtml() and ToJson().
  bool makes_page = true;
  std::optional<EstimateSettings> estimate = {};  // adds CompareReport::DesignFigures::estimate

  // Ends the comparison with Cancelled if a stop is requested. The load of a design, its heat map
  // and the advisor run to their end.
  std::stop_token stop = {};
  // Called on the caller's thread from time to time: `done` of `total` units of the phase.
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

// The figures of a comparison. Members of vectors are in the order of CompareOptions::designs or of
// `queries`. Latencies are nanoseconds. Comparisons with the same options, and a value of `time`,
// have the same counts, except disk_bytes and written_bytes if a load fills several memtables.
struct CompareReport {
  struct Measured {  // by each round
    double median = 0;
    double least = 0;
    double largest = 0;
  };

  struct LatencyFigures {
    Measured p50 = {};
    Measured p99 = {};
    LatencyHistogram all_rounds;
  };

  struct TimedFigures {
    std::vector<LatencyFigures> queries = {};
    Measured operations_per_second = {};
    // The operations of all queries, by the time at which they ended. In this time, the rounds of a
    // design follow one another.
    OperationRates rates = {};
    Measured cpu_seconds = {};  // of the process, user and system
    Measured late = {};  // open loop: operations that began more than 1 ms after they were due
  };

  // The data of a table after it was loaded and compacted.
  struct TableFigures {
    uint64_t records = 0;
    uint64_t rows = 0;
    uint64_t cells_loaded = 0;       // distinct cells that the load wrote
    uint64_t cells_kept = 0;         // that a reader sees: fewer if records have the same row key
    uint64_t cells_per_row_p50 = 0;  // with 3 significant digits
    uint64_t cells_per_row_p99 = 0;
    uint64_t cells_per_row_max = 0;
    std::string largest_row = {};  // by bytes
    uint64_t largest_row_bytes = 0;
    uint64_t key_bytes = 0;        // each row key once
    uint64_t qualifier_bytes = 0;  // with the family's name
    uint64_t value_bytes = 0;
    uint64_t disk_bytes = 0;            // of the SSTables
    uint64_t loaded_logical_bytes = 0;  // row keys, families, qualifiers, values of all records
    uint64_t logged_bytes = 0;          // that the load wrote to the commit log
    uint64_t written_bytes = 0;  // by the log, bulk load, flushes and compactions of the load
    double load_seconds = 0;     // differs in each comparison

    uint64_t logical_bytes() const { return key_bytes + qualifier_bytes + value_bytes; }
  };

  // The work of all operations of a query on one design.
  struct QueryFigures {
    uint64_t operations = 0;
    uint64_t requests = 0;
    uint64_t scans = 0;  // requests with a range
    // The row keys of the other requests, or the bytes returned divided by 1,000 if that is more.
    uint64_t point_rows = 0;
    uint64_t scanned_rows = 0;  // that the scans passed; 0 without an estimate
    ReadStats stats = {};
    uint64_t bytes_returned = 0;   // row keys, qualifiers and values
    uint64_t cold_bytes_read = 0;  // from files, after a start with a cold cache; 0 with kWarm
    bool declares_answer = false;
  };

  // The size of an instance of Cloud Bigtable for a design.
  struct Estimate {
    double reads_per_second = 0;   // rows; a scan counts as one row, too
    double writes_per_second = 0;  // rows
    double scan_mb_per_second = 0;
    double storage_gb = 0;
    double load = 0;  // nodes that the three rates would use completely
    uint64_t nodes = 1;
    std::optional<double> month_price = {};  // if there are prices
  };

  struct DesignFigures {
    std::string name = {};
    std::string table = {};
    TableFigures data = {};
    std::vector<QueryFigures> queries = {};
    std::optional<TimedFigures> warm = {};      // unless kCold
    std::optional<TimedFigures> cold = {};      // with kCold or kBoth
    std::optional<HeatMap> heat_map = {};       // set; of the counting run, with up to 1,000 bands
    std::optional<HeatMap> page_heat_map = {};  // with makes_page: the same with fewer bands
    double hottest_band_share = 0;  // of the requests, those that touched this band of heat_map
    std::map<std::string, LintSeverity> findings = {};  // by the id of the rule
    std::optional<Estimate> estimate = {};
  };

  struct Query {
    std::string name = {};
    std::string written_input = {};          // "": the query reads
    uint64_t unusable_records = 0;           // they lack fields of the query in a design
    std::string first_unusable_record = {};  // the first of them: "FILE:LINE: reason"
    uint64_t differing_operations = 0;       // their answers differ
  };

  // An operation whose answers differ.
  struct AnswerDifference {
    size_t query = 0;  // an index of `queries`
    Design::Record record = {};
    std::vector<uint64_t> values = {};  // the number of values that each design returned
  };

  // The settings, as in CompareOptions.
  std::string trace = {};
  RecordDistribution distribution = {};
  uint64_t seed = 0;
  ReplayRate rate = ReplayRate::Max();
  CompareCaches caches = CompareCaches::kWarm;
  uint64_t threads = 0, rounds = 0;
  std::optional<EstimateSettings> estimate = {};

  uint64_t operations = 0;          // of the workload
  bool has_times = false;           // all operations of the logical trace have a time
  std::vector<Query> queries = {};  // of the workload
  std::vector<DesignFigures> designs = {};
  uint64_t answers_compared = 0;  // operations of queries with an answer in all designs
  uint64_t answers_equal = 0;
  uint64_t answers_empty = 0;                      // equal, because no design found a value
  std::vector<AnswerDifference> differences = {};  // the first 3
  double estimate_rate = 0;                        // operations per second of the estimates
  std::vector<std::string> notes = {};             // about queries that do not run, and the load

  // The next three accept a report that CompareDesigns() returned, and one without designs.
  std::string ToText() const;  // for a terminal: characters that are not visible are escaped
  // One object with all figures, and page_heat_map of each design, or heat_map if there is none.
  // `version` becomes its member "version".
  std::string ToJson(std::string_view version) const;
  std::string ToHtml() const;  // one page, with the same, that needs no other file and no network
};

// Loads the records into a new database per design. Runs the operations once on each database and
// counts their work. Then times them in rounds.
//
// Errors:
//   InvalidArgument      wrong options, input or trace; several tables that have the queries; a
//                        query without a record that all designs can use; a query that reads in
//                        one design and writes in another
//   NotFound             a design lacks the table or a query; a file or directory is missing
//   AlreadyExists        work_directory is not empty
//   Cancelled            a stop was requested
//   ResourceExhausted    a thread could not be started
//   the first error of an operation, with the design and the query; those of LoadDesign, of the
//   file system and of the database
[[nodiscard]] absl::StatusOr<CompareReport> CompareDesigns(const CompareOptions& options);

}  // namespace stele::inline v0::lab
