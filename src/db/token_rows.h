// db/token_rows.h: idempotency tokens as rows of the tokens' table (manifest/token_table.h), so that log, flush, compaction, recovery and
// checkpoints keep them as they keep all data.
//
// Path:      a write finds its token's row here -> it applies what the row does not cover -> AppendTokenUse puts the use into the batch of
//            the write -> the commit leader checks that the row was not written meanwhile (db/committer.h).
// Key:       SipHash of the token, keyed by Version::token_key, so that no client can aim at another's row.
// Errors:    those of a read; DataLoss for a row that does not decode.
// Threads:   thread-safe.
// Format:    docs/format/tokens.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "db/committer.h"
#include "model/token_use.h"
#include "mutation/batch.h"
#include "stele/options.h"
#include "stele/row.h"

namespace stele::internal {

class Engine;

// What was applied under a token so far.
struct UsedToken {
  std::vector<TokenUse> uses;
  std::vector<EntryRange> entries;  // of all uses, ascending
  // The condition that the token's row has not changed since it was read. None: the write has no
  // token.
  std::optional<RowCondition> unchanged;

  // Null: nothing of the entry was applied.
  const TokenUse* Covering(uint64_t entry) const;
};

// Looks options.idempotency_token up.
absl::StatusOr<UsedToken> FindToken(Engine& engine, const WriteOptions& options);

// Adds the token's row to the batch of the write. Answers the place of its timestamp, for SetBatchClock.
size_t AppendTokenUse(const RowCondition& token, const TokenUse& use, BatchWriter* batch);

// TokenUse::row, for a write that answers a row.
std::string EncodeAnsweredRow(const Row& row);
absl::StatusOr<Row> DecodeAnsweredRow(std::string_view row_key, std::string_view bytes);

// What a write answers whose token another kind of write used.
absl::Status UsedForAnotherKind();

}  // namespace stele::internal
