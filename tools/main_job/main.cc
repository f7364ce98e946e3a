// tools/main_job/main.cc: runs Stele on real data, the figures of Italy's provinces: a row per
// province, a version per day.
//
//   stele_main_job --data FILE [--db DIR] [--keep]
//
// The database is created in a temporary directory. The program removes it at the end unless --keep
// or --db is given. Every figure printed is measured or read back. The exit status is 1 if a check
// fails.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status.h"
#include "data_set.h"
#include "killed_writer.h"
#include "progress.h"
#include "report.h"

namespace stele::main_job {
namespace {

using std::chrono::steady_clock;

constexpr size_t kBatchRows = 500;
constexpr uint64_t kKillAfter = 20'000;
constexpr int kDaysKept = 365;

struct Options {
  std::string data;
  std::string directory;
  bool keep = false;
};

double SecondsSince(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

template <typename... Args>
void Say(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}\n", fmt::format(format, std::forward<Args>(args)...));
  std::fflush(stdout);
}

absl::StatusOr<Table> CreateTable(Database& database) {
  STELE_ASSIGN_OR_RETURN(const GcRule one_year,
                         GcRule::Parse(fmt::format("maxversions={}", kDaysKept)));
  const Schema schema =
      Schema().AddFamily("cases", one_year).AddFamily("place", GcRule::MaxNumVersions(1));
  STELE_ASSIGN_OR_RETURN(Table table, database.CreateTable("provinces", schema));
  Say("\n== create a table\ntable provinces:");
  for (const FamilySchema& family : schema.families())
    Say("  family {:<6} {}", family.name, family.gc.ToString());
  return table;
}

absl::Status WriteBatch(Table& table, std::vector<RowMutation>& batch) {
  const std::vector<FailedMutation> failed = table.BulkApply(batch);
  batch.clear();
  return failed.empty() ? absl::OkStatus() : failed[0].status;
}

absl::StatusOr<Step> Import(Table& table, const Options& options) {
  STELE_ASSIGN_OR_RETURN(const auto data, DataSet::Open(options.data));
  Say("\n== import {}", options.data);
  Step step{.what = "import (one row a day and province)", .bytes = data->bytes_total()};
  const auto start = steady_clock::now();
  cli::Progress progress("importing", "bytes", data->bytes_total());
  std::vector<RowMutation> batch;
  Reading reading;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, data->Next(reading));
    if (!any) break;
    RowMutation& mutation = batch.emplace_back(reading.row_key);
    mutation.SetCell("cases", "total", reading.day, reading.total_cases)
        .SetCell("place", "name", reading.day, reading.province)
        .SetCell("place", "latitude", reading.day, reading.latitude)
        .SetCell("place", "longitude", reading.day, reading.longitude);
    ++step.rows;
    step.cells += mutation.count();
    if (batch.size() == kBatchRows) STELE_RETURN_IF_ERROR(WriteBatch(table, batch));
    progress.Set(data->bytes_read());
  }
  STELE_RETURN_IF_ERROR(WriteBatch(table, batch));
  progress.End();
  step.what = "import";
  step.seconds = SecondsSince(start);
  Say("{} lines, {} cells, {} of CSV in {:.2f} s", Grouped(step.rows), Grouped(step.cells),
      Megabytes(step.bytes), step.seconds);
  return step;
}

// Reads to the end and calls `visit` with each row.
template <typename Visit>
absl::StatusOr<Step> Scan(std::string what, RowReader reader, const Visit& visit) {
  Step step{.what = std::move(what)};
  const auto start = steady_clock::now();
  for (const RowView& row : reader) {
    step.rows += row.is_last_piece() ? 1 : 0;
    step.cells += row.cells().size();
    for (const CellView& cell : row.cells())
      step.bytes += cell.qualifier().size() + cell.value().size();
    visit(row);
  }
  STELE_RETURN_IF_ERROR(reader.status());
  step.seconds = SecondsSince(start);
  return step;
}

void SayProvince(const RowView& row) {
  const auto name = row.cell("place", "name");
  const auto cases = row.cell("cases", "total");
  if (!name.has_value() || !cases.has_value()) return;
  Say("  {:<28} {:<34} {:>8} cases on {}", row.row_key(), name->value(), cases->value(),
      cases->timestamp().ToString().substr(0, 10));
}

absl::Status ReadSome(const Table& table, std::vector<Step>& steps) {
  Say("\n== prefix scan: the provinces of Lombardia, newest cells");
  STELE_ASSIGN_OR_RETURN(
      steps.emplace_back(),
      Scan("prefix scan", table.ReadRows(RowRange::Prefix("Lombardia#"), Filter::Latest(1)),
           SayProvince));
  Say("\n== reverse scan: the last five provinces, newest cells");
  STELE_ASSIGN_OR_RETURN(steps.emplace_back(),
                         Scan("reverse scan",
                              table.ReadRows(RowSet::All(), Filter::Latest(1),
                                             ReadOptions{.limit = 5, .reverse = true}),
                              SayProvince));
  Say("\n== versions: the last five days of Milano (Lombardia#015)");
  const Filter versions = Filter::Chain(Filter::Column("cases", "total"), Filter::Latest(5));
  STELE_ASSIGN_OR_RETURN(
      steps.emplace_back(),
      Scan("versions read", table.ReadRows(RowSet().Append("Lombardia#015"), versions),
           [](const RowView& row) {
             for (const CellView& cell : row.cells()) {
               Say("  {}  {}", cell.timestamp().ToString().substr(0, 10), cell.value());
             }
           }));
  return absl::OkStatus();
}

// Reads the whole table. Returns the figures of the scan, and a hash of all cells that it returned.
absl::StatusOr<std::pair<Step, size_t>> ReadAll(const Table& table, std::string what) {
  size_t digest = 0;
  STELE_ASSIGN_OR_RETURN(
      Step step, Scan(std::move(what), table.ReadRows(), [&](const RowView& row) {
        for (const CellView& cell : row.cells()) {
          const std::string text =
              fmt::format("{}\n{}\n{}\n{}\n{}", row.row_key(), cell.family(), cell.qualifier(),
                          cell.timestamp().micros(), cell.value());
          digest = digest * 31 + std::hash<std::string>()(text);
        }
      }));
  return std::make_pair(std::move(step), digest);
}

void SaySizes(std::string_view when, const TableStats& stats) {
  Say("  {:<7} {:>10} cells {:>12} on disk, {} files", when, Grouped(stats.cells),
      Megabytes(stats.bytes_on_disk), stats.files);
}

absl::Status Compact(Table& table, std::vector<Step>& steps) {
  Say("\n== compaction: \"cases\" keeps {} versions, \"place\" one", kDaysKept);
  STELE_RETURN_IF_ERROR(table.Flush());
  STELE_ASSIGN_OR_RETURN(auto before, ReadAll(table, "full scan before compaction"));
  STELE_ASSIGN_OR_RETURN(const TableStats stats_before, table.Stats());
  SaySizes("before", stats_before);
  const auto start = steady_clock::now();
  STELE_RETURN_IF_ERROR(table.Compact());
  Step step{.what = "compaction",
            .seconds = SecondsSince(start),
            .cells = stats_before.cells,
            .bytes = stats_before.bytes_logical};
  STELE_ASSIGN_OR_RETURN(const TableStats stats_after, table.Stats());
  SaySizes("after", stats_after);
  STELE_ASSIGN_OR_RETURN(auto after, ReadAll(table, "full scan after compaction"));
  if (before.second != after.second)
    return internal::FailedPrecondition("the compaction changed the result of reads");
  if (stats_after.cells != after.first.cells) {
    return internal::FailedPrecondition("{} cells are stored after the compaction, but {} are read",
                                        stats_after.cells, after.first.cells);
  }
  Say("  reads return the same {} cells before and after", Grouped(after.first.cells));
  steps.push_back(std::move(before.first));
  steps.push_back(std::move(step));
  steps.push_back(std::move(after.first));
  return absl::OkStatus();
}

absl::Status Kill(const std::string& directory, std::vector<Step>& steps) {
  Say("\n== kill -9: another process writes one row at a time until it is killed");
  STELE_ASSIGN_OR_RETURN(const KillResult result, KillWriter(directory, kKillAfter));
  Say("  {} writes were acknowledged before the kill; after it {} rows exist, including every "
      "acknowledged one",
      Grouped(result.acked_count), Grouped(result.found_count));
  steps.push_back({.what = "single writes before the kill",
                   .seconds = result.write_seconds,
                   .rows = kKillAfter,
                   .cells = kKillAfter});
  steps.push_back({.what = "open after the kill", .seconds = result.recovery_seconds});
  return absl::OkStatus();
}

absl::Status Verify(const std::string& directory, std::vector<Step>& steps) {
  STELE_ASSIGN_OR_RETURN(Database database, Database::Open(directory));
  const auto start = steady_clock::now();
  STELE_ASSIGN_OR_RETURN(const VerifyReport report, database.Verify());
  Say("\n== verify: {} files, {} read, {} damaged places", report.files, Megabytes(report.bytes),
      report.damages.size());
  if (!report.ok())
    return internal::MakeStatus(absl::StatusCode::kDataLoss, report.damages[0].what);
  steps.push_back({.what = "verify", .seconds = SecondsSince(start), .bytes = report.bytes});
  return database.Close();
}

absl::Status RunAll(const Options& options) {
  std::vector<Step> steps;
  {
    STELE_ASSIGN_OR_RETURN(
        Database database,
        Database::Open(options.directory, DatabaseOptions{.error_if_exists = true}));
    STELE_ASSIGN_OR_RETURN(Table table, CreateTable(database));
    STELE_ASSIGN_OR_RETURN(steps.emplace_back(), Import(table, options));
    STELE_RETURN_IF_ERROR(ReadSome(table, steps));
    STELE_RETURN_IF_ERROR(Compact(table, steps));
    STELE_RETURN_IF_ERROR(database.Close());
  }
  STELE_RETURN_IF_ERROR(Kill(options.directory, steps));
  STELE_RETURN_IF_ERROR(Verify(options.directory, steps));
  Say("\n== summary\n{}", ReportText(steps));
  return absl::OkStatus();
}

int Fail(std::string_view what) {
  fmt::print(stderr, "stele_main_job: {}\n", what);
  return 1;
}

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool has_value = i + 1 < args.size();
    if (args[i] == "--keep") {
      options.keep = true;
    } else if (args[i] == "--data" && has_value) {
      options.data = args[++i];
    } else if (args[i] == "--db" && has_value) {
      options.directory = args[++i];
    } else {
      return internal::InvalidArgument("\"{}\": the arguments are --data FILE [--db DIR] [--keep]",
                                       args[i]);
    }
  }
  if (options.data.empty())
    return internal::InvalidArgument("--data FILE is missing: data/covid-ita/provinces.csv.zst");
  return options;
}

int Main(const std::vector<std::string>& args) {
  if (args.size() == 2 && args[0] == "--writer")
    return Fail(internal::ToStd(WriteUntilKilled(args[1], STDOUT_FILENO).message()));
  auto options = ParseOptions(args);
  if (!options.ok()) return Fail(internal::ToStd(options.status().message()));
  std::string made;
  if (options->directory.empty()) {
    const char* const base = std::getenv("TMPDIR");
    made = fmt::format("{}/stele-main-job-XXXXXX", base == nullptr ? "/tmp" : base);
    if (mkdtemp(made.data()) == nullptr)
      return Fail("cannot create a temporary directory: set TMPDIR or use --db DIR");
    options->directory = made + "/db";
  }
  Say("database: {}", options->directory);
  const absl::Status status = RunAll(*options);
  if (!made.empty() && !options->keep) {
    std::error_code error;
    std::filesystem::remove_all(made, error);
    if (error) return Fail(fmt::format("{} cannot be removed: {}", made, error.message()));
  }
  if (options->keep) Say("the database is kept; to read it: stele --db {} ls", options->directory);
  return status.ok() ? 0 : Fail(internal::ToStd(status.message()));
}

}  // namespace
}  // namespace stele::main_job

int main(int argc, char** argv) {
  return stele::main_job::Main(std::vector<std::string>(argv + 1, argv + argc));
}
