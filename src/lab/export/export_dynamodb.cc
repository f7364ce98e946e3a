// export/export_dynamodb.cc: makes items of DynamoDB of the rows of an import.
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/export/export_writer.h"
#include "lab/mapping/dynamodb_json.h"
#include "lab/mapping/item_cells.h"
#include "lab/mapping/mapping_store.h"
#include "stele/filter.h"
#include "stele/lab/dynamodb.h"
#include "stele/row_reader.h"

namespace stele::internal::lab {
namespace {

using stele::lab::DynamoDbExportOptions;
using stele::lab::DynamoDbExportReport;

constexpr size_t kListedMax = 20;
// An item that was imported has at most 16 MiB of JSON.
constexpr uint64_t kRowBytesMax = uint64_t{64} << 20;

// Collects the pieces of a row.
class WholeRow {
 public:
  // Returns true when the row is complete.
  bool Add(const RowView& piece) {
    for (const CellView& cell : piece.cells())
      bytes_ += cell.qualifier().size() + cell.value().size();
    if (bytes_ <= kRowBytesMax) pieces_.push_back(piece.Own());
    return piece.is_last_piece();
  }
  bool is_too_large() const { return bytes_ > kRowBytesMax; }
  std::vector<CellView> Cells() const {
    std::vector<CellView> cells;
    for (const Row& piece : pieces_)
      cells.insert(cells.end(), piece.cells().begin(), piece.cells().end());
    return cells;
  }
  void Clear() {
    pieces_.clear();
    bytes_ = 0;
  }

 private:
  std::vector<Row> pieces_;
  uint64_t bytes_ = 0;
};

absl::Status ItemOfRow(const Mapping& mapping, std::string_view row_key, const WholeRow& row,
                       Item* item) {
  if (row.is_too_large())
    return InvalidArgument("the row has more than {} bytes, too many for an item", kRowBytesMax);
  item->Clear();
  STELE_RETURN_IF_ERROR(mapping.key.Decode(row_key, item));
  return DecodeItemCells(mapping, row.Cells(), item);
}

// Fails if an import of the table was interrupted. A server does not tell.
absl::Status CheckImported(const Table& table, const DynamoDbExportOptions& options) {
  if (!options.mapping_path.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(const std::optional<ImportRecord> record, ReadImportRecord(table));
  if (!record.has_value() || record->is_complete) return absl::OkStatus();
  return FailedPrecondition("the import of {} into table {} is not complete: repeat it first",
                            Printable(record->changes.empty() ? record->source : record->changes),
                            Printable(options.table));
}

absl::Status ExportRows(const Table& table, const Mapping& mapping,
                        const DynamoDbExportOptions& options, const Snapshot& snapshot,
                        const std::function<absl::Status(std::string_view)>& write,
                        DynamoDbExportReport* report) {
  RowReader reader =
      table.ReadRows(options.rows, Filter::Latest(1), {.snapshot = snapshot, .fill_cache = false});
  WholeRow row;
  Item item;
  std::string line;
  while (reader.Next()) {
    if (!row.Add(reader.row())) continue;
    const absl::Status converted = ItemOfRow(mapping, reader.row().row_key(), row, &item);
    row.Clear();
    if (!converted.ok()) {
      ++report->rows_left_out;
      if (report->listed.size() < kListedMax)
        report->listed.push_back(fmt::format("row {}: {}", Printable(reader.row().row_key()),
                                             ToStd(converted.message())));
      continue;
    }
    line.clear();
    AppendItemJson(item, &line);
    const absl::Status written = write(line);
    if (!written.ok()) {
      (void)reader.status();
      return written;
    }
    ++report->items_written;
  }
  return reader.status();
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<DynamoDbExportReport> ExportDynamoDb(const Database& database,
                                                    const DynamoDbExportOptions& options) {
  using internal::lab::ExportWriter;
  if (!options.write && options.directory.empty())
    return internal::InvalidArgument("neither `write` nor `directory` is given");
  STELE_ASSIGN_OR_RETURN(const Table table, database.OpenTable(options.table));
  STELE_ASSIGN_OR_RETURN(const internal::lab::Mapping mapping,
                         internal::lab::ReadMapping(table, options.mapping_path));
  STELE_RETURN_IF_ERROR(internal::lab::CheckImported(table, options));
  // A server has no snapshots: each row is read as it is then.
  auto snapshot = database.GetSnapshot();
  if (!snapshot.ok() && snapshot.status().code() != absl::StatusCode::kUnimplemented)
    return snapshot.status();
  const Snapshot state = snapshot.ok() ? *snapshot : Snapshot();
  DynamoDbExportReport report;
  if (options.directory.empty()) {
    STELE_RETURN_IF_ERROR(
        internal::lab::ExportRows(table, mapping, options, state, options.write, &report));
    return report;
  }
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<ExportWriter> writer,
                         ExportWriter::Create(options.directory, mapping.table,
                                              Timestamp::From(std::chrono::system_clock::now())));
  STELE_RETURN_IF_ERROR(internal::lab::ExportRows(
      table, mapping, options, state, [&](std::string_view line) { return writer->Add(line); },
      &report));
  STELE_RETURN_IF_ERROR(writer->Finish());
  return report;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
