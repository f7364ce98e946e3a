// tools/stele/export.cc: the verb export. It writes a table, as of one point in time, in a format
// that import reads.
#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "listing.h"
#include "progress.h"
#include "row_text.h"

namespace stele::cli {
namespace {

// A wide row becomes several lines, so that each line can be imported as one write.
constexpr size_t kCellsPerLine = 10'000;
// A CSV line has a field for every column of the table.
constexpr size_t kCsvColumnsMax = 10'000;

using Column = std::pair<std::string, std::string>;

absl::Status ExportJsonl(Session& session, RowReader reader) {
  Progress progress("exporting", "rows", 0);
  uint64_t row_count = 0;
  while (reader.Next()) {
    std::span<const CellView> cells = reader.row().cells();
    while (!cells.empty()) {
      Json line = Json::object();
      SetBytes(line, "row", reader.row().row_key());
      Json& list = line["cells"] = Json::array();
      for (const CellView& cell : cells.first(std::min(kCellsPerLine, cells.size())))
        list.push_back(CellJson(cell, true));
      cells = cells.subspan(std::min(kCellsPerLine, cells.size()));
      session.Print(JsonText(line) + "\n");
    }
    if (reader.row().is_last_piece()) progress.Set(++row_count);
  }
  return reader.status();
}

absl::StatusOr<std::vector<Column>> FindColumns(RowReader reader) {
  std::set<Column> columns;
  while (reader.Next()) {
    for (const CellView& cell : reader.row().cells())
      columns.emplace(cell.family(), cell.qualifier());
    if (columns.size() > kCsvColumnsMax) {
      return internal::FailedPrecondition(
          "the table has more than {} different columns, too many for CSV: use format=jsonl",
          kCsvColumnsMax);
    }
  }
  STELE_RETURN_IF_ERROR(reader.status());
  return std::vector<Column>(columns.begin(), columns.end());
}

std::string CsvHead(const std::vector<Column>& columns) {
  std::vector<std::string> families = {""};
  std::vector<std::string> qualifiers = {""};
  for (const Column& column : columns) {
    families.push_back(column.first);
    qualifiers.push_back(column.second);
  }
  return CsvLine(families) + CsvLine(qualifiers);
}

// Returns one line for the newest version of each column, another for the second newest, and so on.
std::string CsvRow(const RowView& row, const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> lines;
  size_t version = 0;
  for (size_t i = 0; i < row.cells().size(); ++i) {
    const CellView& cell = row.cells()[i];
    const bool same = i > 0 && row.cells()[i - 1].family() == cell.family() &&
                      row.cells()[i - 1].qualifier() == cell.qualifier();
    version = same ? version + 1 : 0;
    const Column column(cell.family(), cell.qualifier());
    const auto place = std::lower_bound(columns.begin(), columns.end(), column) - columns.begin();
    if (lines.size() <= version)
      lines.emplace_back(columns.size() + 1)[0] = std::string(row.row_key());
    lines[version][static_cast<size_t>(place) + 1] =
        fmt::format("{}@{}", cell.value(), cell.timestamp().micros());
  }
  std::string text;
  for (const auto& line : lines) text += CsvLine(line);
  return text;
}

absl::Status ExportCsv(Session& session, const Table& table, const RowRange& range,
                       const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const std::vector<Column> columns,
                         FindColumns(table.ReadRows(range, Filter::PassAll(), options)));
  session.Print(CsvHead(columns));
  Progress progress("exporting", "rows", 0);
  RowReader reader = table.ReadRows(range, Filter::PassAll(), options);
  uint64_t row_count = 0;
  while (reader.Next()) {
    session.Print(CsvRow(reader.row(), columns));
    if (reader.row().is_last_piece()) progress.Set(++row_count);
  }
  return reader.status();
}

}  // namespace

absl::Status RunExport(Session& session, const std::vector<std::string>& args) {
  if (args.empty()) return WrongUsage("export");
  STELE_ASSIGN_OR_RETURN(
      const KeyValues values,
      ParseKeyValues(std::span(args).subspan(1), {"format", "prefix", "start", "end"}));
  const std::string format =
      Find(values, "format").value_or(session.options().format == Format::kCsv ? "csv" : "jsonl");
  if (format != "csv" && format != "jsonl")
    return UsageError("export writes format=jsonl (the default) or format=csv");
  STELE_ASSIGN_OR_RETURN(const RowRange range, ParseRange(values));
  STELE_ASSIGN_OR_RETURN(const Database database, session.Open(Session::Access::kRead));
  // "table=" names a table that is also the second word of a verb.
  const std::string table_name =
      args[0].starts_with("table=") ? args[0].substr(std::strlen("table=")) : args[0];
  STELE_ASSIGN_OR_RETURN(const Table table, database.OpenTable(table_name));
  STELE_ASSIGN_OR_RETURN(Snapshot snapshot, SnapshotWhereOffered(database));
  const ReadOptions options{.snapshot = std::move(snapshot), .fill_cache = false};
  if (format == "csv") return Within("exporting", ExportCsv(session, table, range, options));
  return Within("exporting",
                ExportJsonl(session, table.ReadRows(range, Filter::PassAll(), options)));
}

}  // namespace stele::cli
