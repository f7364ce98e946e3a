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

// A table whose rows are exported.
struct ExportedTable {
  Table table;
  std::string source_name;  // in DynamoDB
  Mapping mapping;
  std::optional<IndexMapping> index = {};  // of an index table; `mapping` is that of its items
};

// A row of an index has the item, or its key attributes and the row key that they form.
absl::Status ItemOfIndexRow(const Mapping& mapping, const IndexMapping& index,
                            std::string_view row_key, const std::vector<CellView>& cells,
                            Item* item) {
  Item keys;
  STELE_RETURN_IF_ERROR(index.key.Decode(row_key, &keys));
  for (const KeyPart& part : index.key.parts()) {
    if (index.has_item_copies && !mapping.key.HasPart(part.name)) continue;
    item->Begin(part.name, part.type, item->Keep(std::string(keys[*keys.Find(part.name)].text)));
  }
  if (index.has_item_copies) return DecodeItemCells(mapping, cells, item);
  STELE_ASSIGN_OR_RETURN(const std::string item_key, mapping.key.Encode(*item));
  const bool is_made =
      cells.size() == 1 && cells[0].qualifier() == kIndexQualifier && cells[0].value() == item_key;
  return is_made ? absl::OkStatus()
                 : InvalidArgument("it does not have the one cell {}:{} with the row key {}",
                                   kIndexFamily, kIndexQualifier, Printable(item_key));
}

absl::Status ItemOfRow(const ExportedTable& exported, std::string_view row_key, const WholeRow& row,
                       Item* item) {
  if (row.is_too_large())
    return InvalidArgument("the row has more than {} bytes, too many for an item", kRowBytesMax);
  item->Clear();
  const Mapping& mapping = exported.mapping;
  if (exported.index.has_value())
    return ItemOfIndexRow(mapping, *exported.index, row_key, row.Cells(), item);
  STELE_RETURN_IF_ERROR(mapping.key.Decode(row_key, item));
  return DecodeItemCells(mapping, row.Cells(), item);
}

// Fails if an import of the table was interrupted. For a server this is not known.
absl::Status CheckImported(const Table& table, const DynamoDbExportOptions& options) {
  if (!options.mapping_path.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(const std::optional<ImportRecord> record, ReadImportRecord(table));
  if (!record.has_value() || record->is_complete) return absl::OkStatus();
  return FailedPrecondition("the import of {} into table {} is not complete: repeat it first",
                            Printable(record->changes.empty() ? record->source : record->changes),
                            Printable(table.name()));
}

absl::StatusOr<Table> OpenExported(const Database& database, const std::string& name) {
  auto table = database.OpenTable(name);
  if (table.status().code() != absl::StatusCode::kNotFound) return table;
  return NotFound("there is no table {}: import the items with stele import dynamodb first",
                  Printable(name));
}

// Returns an index table with the mapping of the table that it indexes.
absl::StatusOr<ExportedTable> ExportedIndex(const Database& database, const Table& index_table,
                                            IndexMapping index) {
  STELE_ASSIGN_OR_RETURN(const Table table, OpenExported(database, index.index_of));
  STELE_RETURN_IF_ERROR(CheckImported(table, {}));
  STELE_ASSIGN_OR_RETURN(Mapping mapping, ReadMapping(table, ""));
  const std::string name = std::string(index_table.name()).substr(index.index_of.size());
  return ExportedTable{.table = index_table,
                       .source_name = mapping.table + name,
                       .mapping = std::move(mapping),
                       .index = std::move(index)};
}

// Returns the table and, with `keeps_indexes`, its index tables.
absl::StatusOr<std::vector<ExportedTable>> TablesToExport(const Database& database,
                                                          const DynamoDbExportOptions& options) {
  STELE_ASSIGN_OR_RETURN(const Table table, OpenExported(database, options.table));
  std::vector<ExportedTable> tables;
  if (!options.mapping_path.empty() && options.keeps_indexes)
    return InvalidArgument("--keep-index reads the properties of tables: leave out --mapping");
  if (options.mapping_path.empty()) {
    STELE_ASSIGN_OR_RETURN(std::optional<IndexMapping> index, ReadIndexMapping(table));
    if (index.has_value() && !options.keeps_indexes) {
      return FailedPrecondition(
          "{} is an index table of {}: export {}, which has all items, or give --keep-index for "
          "the rows of the index",
          Printable(options.table), Printable(index->index_of), Printable(index->index_of));
    }
    if (index.has_value()) {
      STELE_ASSIGN_OR_RETURN(tables.emplace_back(),
                             ExportedIndex(database, table, *std::move(index)));
      return tables;
    }
  }
  STELE_ASSIGN_OR_RETURN(Mapping mapping, ReadMapping(table, options.mapping_path));
  STELE_RETURN_IF_ERROR(CheckImported(table, options));
  std::string source_name = mapping.table;
  tables.push_back(
      {.table = table, .source_name = std::move(source_name), .mapping = std::move(mapping)});
  if (!options.keeps_indexes) return tables;
  if (options.rows != RowRange::All())
    return InvalidArgument("--keep-index exports whole tables: leave out prefix, start and end");
  for (const std::string& name : IndexTablesOf(database, options.table)) {
    STELE_ASSIGN_OR_RETURN(const Table index_table, database.OpenTable(name));
    STELE_ASSIGN_OR_RETURN(std::optional<IndexMapping> index, ReadIndexMapping(index_table));
    if (!index.has_value()) continue;  // it was replaced just now
    STELE_ASSIGN_OR_RETURN(tables.emplace_back(),
                           ExportedIndex(database, index_table, *std::move(index)));
  }
  return tables;
}

absl::Status ExportRows(const ExportedTable& exported, const DynamoDbExportOptions& options,
                        const Snapshot& snapshot,
                        const std::function<absl::Status(std::string_view)>& write,
                        DynamoDbExportReport* report) {
  RowReader reader = exported.table.ReadRows(options.rows, Filter::Latest(1),
                                             {.snapshot = snapshot, .fill_cache = false});
  WholeRow row;
  Item item;
  std::string line;
  while (reader.Next()) {
    if (!row.Add(reader.row())) continue;
    const absl::Status converted = ItemOfRow(exported, reader.row().row_key(), row, &item);
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
  STELE_ASSIGN_OR_RETURN(const std::vector<internal::lab::ExportedTable> tables,
                         internal::lab::TablesToExport(database, options));
  // A server has no snapshots: each row has its state at the time when it is read.
  auto snapshot = database.GetSnapshot();
  if (!snapshot.ok() && snapshot.status().code() != absl::StatusCode::kUnimplemented)
    return snapshot.status();
  const Snapshot state = snapshot.ok() ? *snapshot : Snapshot();
  DynamoDbExportReport report;
  const Timestamp now = Timestamp::From(std::chrono::system_clock::now());
  for (size_t i = 0; i < tables.size(); ++i) {
    if (options.directory.empty()) {
      STELE_RETURN_IF_ERROR(
          internal::lab::ExportRows(tables[i], options, state, options.write, &report));
      continue;
    }
    // The name of an export has its time in milliseconds.
    const Timestamp time = Timestamp::FromMicros(now.micros() + static_cast<int64_t>(i) * 1000);
    STELE_ASSIGN_OR_RETURN(const std::unique_ptr<ExportWriter> writer,
                           ExportWriter::Create(options.directory, tables[i].source_name, time));
    STELE_RETURN_IF_ERROR(internal::lab::ExportRows(
        tables[i], options, state, [&](std::string_view line) { return writer->Add(line); },
        &report));
    STELE_RETURN_IF_ERROR(writer->Finish());
  }
  return report;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
