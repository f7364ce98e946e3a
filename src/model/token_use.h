// model/token_use.h: what was applied under an idempotency token, and what its write answered, so that a repeat applies nothing again and
// answers the same.
//
// Path:      db writes -> db/token_rows.h -> the value of a cell of the tokens' table (manifest/token_table.h).
// Format:    docs/format/tokens.md.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

// Longer ones are refused.
inline constexpr size_t kTokenBytesMax = 1024;
inline constexpr int64_t kTokenMemoryMicros = int64_t{15} * 60 * 1'000'000;

// What the first write answered, where that is more than OK.
enum class TokenAnswer : uint8_t { kOk = 0, kPredicateMatched = 1, kPredicateNotMatched = 2, kRow = 3 };

// Entries [begin, end) of a BulkApply; of any other write [0, 1).
struct EntryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const EntryRange&, const EntryRange&) = default;
};

// `ranges` are ascending and do not overlap.
bool CoverEntry(const std::vector<EntryRange>& ranges, uint64_t entry);

// Of one commit.
struct TokenUse {
  TokenAnswer answer = TokenAnswer::kOk;
  std::vector<EntryRange> entries;  // at least one, ascending, with gaps between them
  std::string row;                  // of kRow: the row's cells as docs/format/tokens.md has them

  bool Covers(uint64_t entry) const { return CoverEntry(entries, entry); }
  friend bool operator==(const TokenUse&, const TokenUse&) = default;
};

std::string EncodeTokenUse(const TokenUse& use);
// False: malformed.
bool DecodeTokenUse(std::string_view bytes, TokenUse* use);

}  // namespace stele::internal
