#include "write/token_rows.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/coding.h"
#include "base/sip_hash.h"
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
std::string ColumnOf(const TokenUse& use) {
  const uint64_t entry = use.entries.front().begin;
  std::string qualifier;
  for (int shift = 24; shift >= 0; shift -= 8)
    qualifier.push_back(static_cast<char>(entry >> shift));
  return qualifier;
}

}  // namespace

const TokenUse* TokenState::Covering(uint64_t entry) const {
  if (!CoverEntry(entries, entry)) return nullptr;
  const auto it = std::find_if(uses.begin(), uses.end(),
                               [entry](const TokenUse& use) { return use.Covers(entry); });
  return it == uses.end() ? nullptr : &*it;
}

absl::StatusOr<TokenState> FindToken(const ReadPath& reads, RowWatches* watches,
                                     const WriteOptions& options) {
  TokenState used;
  if (options.idempotency_token.empty()) return used;
  const std::string row_key =
      SipHash128(options.idempotency_token, reads.view()->version->token_key);
  RowWatches::Watch watch = watches->Begin(kTokenTableId, row_key);
  const ReadPoint point = reads.TakeCommitPoint();
  used.unchanged = RowCondition{.watch = std::move(watch), .sequence = point.sequence};
  const ReadOptions read{.stop = options.stop, .deadline = options.deadline};
  STELE_ASSIGN_OR_RETURN(
      const std::optional<Row> row,
      reads.LookUpOneRow(kTokenTableId, point, row_key, Filter::PassAll(), read));
  if (!row.has_value()) return used;
  for (const CellView& cell : row->cells()) {
    TokenUse& use = used.uses.emplace_back();
    if (!DecodeTokenUse(cell.value(), &use)) return Malformed();
    used.entries.insert(used.entries.end(), use.entries.begin(), use.entries.end());
  }
  std::sort(used.entries.begin(), used.entries.end(),
            [](const EntryRange& a, const EntryRange& b) { return a.begin < b.begin; });
  return used;
}

size_t AppendTokenUse(const RowCondition& token, const TokenUse& use, BatchWriter* batch) {
  const std::string qualifier = ColumnOf(use);
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

absl::Status UsedForAnotherKind() {
  return FailedPrecondition(
      "WriteOptions.idempotency_token was used by another kind of write; use a new one");
}

}  // namespace stele::internal
