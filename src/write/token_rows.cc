#include "write/token_rows.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "manifest/token_table.h"
#include "model/access.h"

namespace stele::internal {
namespace {

absl::Status Malformed() {
  return MakeStatus(absl::StatusCode::kDataLoss,
                    "a row of the idempotency tokens cannot be decoded");
}

// The uses in one row differ in their first entries, which are the columns: big-endian, so that
// columns are sorted by entry.
std::string ColumnOfEntry(uint64_t entry) {
  std::string qualifier;
  for (int shift = 24; shift >= 0; shift -= 8)
    qualifier.push_back(static_cast<char>(entry >> shift));
  return qualifier;
}

// A cell of a row that was returned without its value.
struct ReturnedCell {
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp = 0;
  uint64_t value_bytes = 0;
  uint64_t checksum = 0;
};

bool ReadReturnedCell(ByteReader* in, ReturnedCell* cell) {
  uint64_t timestamp;
  if (!in->ReadBytes(&cell->family) || !in->ReadBytes(&cell->qualifier) ||
      !in->ReadFixed64(&timestamp) || !in->ReadVarint(&cell->value_bytes) ||
      !in->ReadFixed64(&cell->checksum))
    return false;
  cell->timestamp = static_cast<int64_t>(timestamp);
  return true;
}

// Returns a row with only this cell; nullopt if the table does not have the cell any more.
absl::StatusOr<std::optional<Row>> FindReturnedCell(const ReadPath& reads, uint32_t table_id,
                                                    const ReadPoint& point,
                                                    std::string_view row_key,
                                                    const ReturnedCell& cell,
                                                    const ReadOptions& options) {
  const TableView* table = point.view->Find(table_id);
  if (table == nullptr || !table->definition().families.IndexOfName(cell.family).has_value())
    return std::nullopt;
  const bool has_micros = table->definition().schema.granularity() == TimestampGranularity::kMicros;
  const int64_t step_micros = has_micros ? 1 : 1000;
  TimestampRange range{.start = Timestamp::FromMicros(cell.timestamp)};
  if (cell.timestamp <= std::numeric_limits<int64_t>::max() - step_micros)
    range.end = Timestamp::FromMicros(cell.timestamp + step_micros);
  const Filter filter =
      Filter::Chain(Filter::Column(std::string(cell.family), std::string(cell.qualifier)),
                    Filter::TimestampRange(range));
  STELE_ASSIGN_OR_RETURN(std::optional<Row> row,
                         reads.LookUpOneRow(table_id, point, row_key, filter, options));
  if (!row.has_value()) return std::nullopt;
  const std::string_view value = row->cells().front().value();
  if (value.size() != cell.value_bytes || Checksum64(value) != cell.checksum) return std::nullopt;
  return row;
}

absl::Status IsChanged() {
  return FailedPrecondition(
      "the first write with this idempotency token was applied and is not repeated, but its result "
      "is not known any more, because the cells were changed since; read the row");
}

}  // namespace

const TokenUse* TokenState::Covering(uint64_t entry) const {
  if (!ContainsEntry(entries, entry)) return nullptr;
  const auto it = std::find_if(uses.begin(), uses.end(),
                               [entry](const TokenUse& use) { return use.Covers(entry); });
  return it == uses.end() ? nullptr : &*it;
}

absl::StatusOr<TokenState> FindToken(const ReadPath& reads, RowWatches* watches,
                                     const WriteOptions& options, TokenWatch use) {
  TokenState used;
  if (options.idempotency_token.empty()) return used;
  const std::string row_key =
      SipHash128(options.idempotency_token, reads.view()->version->token_key);
  RowWatches::Watch watch = use == TokenWatch::kFindsNew
                                ? watches->BeginKeepingValues(kTokenTableId, row_key)
                                : watches->Begin(kTokenTableId, row_key);
  const ReadPoint point = reads.TakeCommitPoint();
  used.unchanged = RowCondition{.watch = std::move(watch), .sequence = point.sequence};
  const ReadOptions read{.stop = options.stop, .deadline = options.deadline};
  STELE_ASSIGN_OR_RETURN(
      const std::optional<Row> row,
      reads.LookUpOneRow(kTokenTableId, point, row_key, Filter::PassAll(), read));
  if (!row.has_value()) return used;
  for (const CellView& cell : row->cells()) {
    TokenUse& found = used.uses.emplace_back();
    if (!DecodeTokenUse(cell.value(), &found)) return Malformed();
    used.entries.insert(used.entries.end(), found.entries.begin(), found.entries.end());
  }
  std::sort(used.entries.begin(), used.entries.end(),
            [](const EntryRange& a, const EntryRange& b) { return a.begin < b.begin; });
  return used;
}

absl::StatusOr<std::vector<EntryRange>> FindNewEntries(RowCondition* token) {
  const RowWatches::WrittenValues set = token->watch.TakeValuesSetAfter(token->sequence);
  std::vector<EntryRange> entries;
  for (const std::string& value : set.values) {
    TokenUse use;
    if (!DecodeTokenUse(value, &use)) return Malformed();
    entries.insert(entries.end(), use.entries.begin(), use.entries.end());
  }
  token->sequence = set.through;
  return entries;
}

size_t AppendTokenUse(const RowCondition& token, const TokenUse& use, BatchWriter* batch) {
  const std::string qualifier = ColumnOfEntry(use.entries.front().begin);
  const std::string value = EncodeTokenUse(use);
  batch->StartRow(kTokenTableId, token.watch.row_key());
  return batch->AddStamped({.kind = CellKind::kSet,
                            .family_id = kTokenFamilyId,
                            .qualifier = qualifier,
                            .value = value});
}

std::string EncodeReturnedRow(const Row& row) {
  std::string out;
  for (const CellView& cell : row.cells()) {
    AppendBytes(out, cell.family());
    AppendBytes(out, cell.qualifier());
    AppendFixed64(out, static_cast<uint64_t>(cell.timestamp().micros()));
    AppendBytes(out, cell.value());
  }
  return out;
}

absl::StatusOr<Row> DecodeReturnedRow(std::string_view row_key, std::string_view bytes) {
  std::vector<CellView> cells;
  for (ByteReader in(bytes); !in.AtEnd();) {
    std::string_view family;
    std::string_view qualifier;
    uint64_t timestamp;
    std::string_view value;
    if (!in.ReadBytes(&family) || !in.ReadBytes(&qualifier) || !in.ReadFixed64(&timestamp) ||
        !in.ReadBytes(&value))
      return Malformed();
    cells.emplace_back(family, qualifier, Timestamp::FromMicros(static_cast<int64_t>(timestamp)),
                       value);
  }
  return Row(Access::Make<RowView>(row_key, cells));
}

std::string EncodeLargeRow(const Row& row) {
  std::string out;
  for (const CellView& cell : row.cells()) {
    AppendBytes(out, cell.family());
    AppendBytes(out, cell.qualifier());
    AppendFixed64(out, static_cast<uint64_t>(cell.timestamp().micros()));
    AppendVarint(out, cell.value().size());
    AppendFixed64(out, Checksum64(cell.value()));
  }
  return out;
}

void SetReturnedRow(const Row& row, TokenUse* use) {
  size_t value_bytes = 0;
  for (const CellView& cell : row.cells()) value_bytes += cell.value().size();
  use->result = value_bytes > kReturnedRowBytesMax ? TokenResult::kLargeRow : TokenResult::kRow;
  use->row = value_bytes > kReturnedRowBytesMax ? EncodeLargeRow(row) : EncodeReturnedRow(row);
}

absl::StatusOr<Row> ReturnedRow(const ReadPath& reads, uint32_t table_id, std::string_view row_key,
                                const TokenUse& use, const ReadOptions& options) {
  if (use.result == TokenResult::kRow) return DecodeReturnedRow(row_key, use.row);
  if (use.result != TokenResult::kLargeRow) return UsedForAnotherKind();
  const ReadPoint point = reads.TakeReadPoint();
  std::vector<Row> rows;  // own the values
  std::vector<CellView> cells;
  for (ByteReader in(use.row); !in.AtEnd();) {
    ReturnedCell returned;
    if (!ReadReturnedCell(&in, &returned)) return Malformed();
    STELE_ASSIGN_OR_RETURN(std::optional<Row> row,
                           FindReturnedCell(reads, table_id, point, row_key, returned, options));
    if (!row.has_value()) return IsChanged();
    const CellView& cell = rows.emplace_back(*std::move(row)).cells().front();
    cells.emplace_back(returned.family, returned.qualifier, cell.timestamp(), cell.value());
  }
  return Row(Access::Make<RowView>(row_key, cells));
}

absl::Status UsedForAnotherKind() {
  return FailedPrecondition(
      "WriteOptions.idempotency_token was used by another kind of write; use a new one");
}

}  // namespace stele::internal
