// write/token_rows.h: stores idempotency tokens as rows of the token table
// (manifest/token_table.h), so that log, flush, compaction, recovery and checkpoints treat them
// like all data.
//
// Used by:   write/write_steps.cc calls FindToken, then writes the entries that the row does not
//            cover, and adds the use to the batch with AppendTokenUse. The commit leader checks
//            that the row was not written meanwhile (commit/committer.h).
// Calls:     state/read_path.h.
// Key:       SipHash of the token, keyed by Version::token_key, so that no client can construct the
//            key of another client's row.
// Errors:    those of a read; DataLoss for a row that cannot be decoded.
// Threads:   thread-safe.
// Format:    docs/reference/format/tokens.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "commit/committer.h"
#include "commit/row_watches.h"
#include "model/token_use.h"
#include "mutation/batch.h"
#include "state/read_path.h"
#include "stele/options.h"
#include "stele/row.h"

namespace stele::internal {

// The entries that were applied with a token so far.
struct TokenState {
  std::vector<TokenUse> uses;
  std::vector<EntryRange> entries;  // of all uses, ascending
  // The condition that the token's row has not changed since it was read. Nullopt: the write has no
  // token.
  std::optional<RowCondition> unchanged;

  // Returns the use that covers the entry; null: the entry was not applied.
  const TokenUse* Covering(uint64_t entry) const;
};

// What the watch of a token's row is for.
enum class TokenWatch : uint8_t {
  kChecks,    // TokenState::unchanged
  kFindsNew,  // also FindNewEntries
};
// Looks up options.idempotency_token.
absl::StatusOr<TokenState> FindToken(const ReadPath& reads, RowWatches* watches,
                                     const WriteOptions& options, TokenWatch use);
// `token` is TokenState::unchanged of a lookup for kFindsNew. Returns the entries that commits
// after token->sequence applied, in the order of these commits, and makes token->sequence the last
// of them. Reads no row.
absl::StatusOr<std::vector<EntryRange>> FindNewEntries(RowCondition* token);

// Adds the token's row to the batch of the write. Returns the position of its timestamp, for
// SetBatchClock.
size_t AppendTokenUse(const RowCondition& token, const TokenUse& use, BatchWriter* batch);

// Sets `result` and `row` for a write that returns this row.
void SetReturnedRow(const Row& row, TokenUse* use);
// Returns the row that the first write returned. For kLargeRow, reads its cells from the table.
// Returns FailedPrecondition if they changed since, or if the first write was of another kind.
absl::StatusOr<Row> ReturnedRow(const ReadPath& reads, uint32_t table_id, std::string_view row_key,
                                const TokenUse& use, const ReadOptions& options);

// TokenUse::row for kRow.
std::string EncodeReturnedRow(const Row& row);
absl::StatusOr<Row> DecodeReturnedRow(std::string_view row_key, std::string_view bytes);
// TokenUse::row for kLargeRow.
std::string EncodeLargeRow(const Row& row);

// The error of a write whose token was used by another kind of write.
absl::Status UsedForAnotherKind();

}  // namespace stele::internal
