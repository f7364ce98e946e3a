// model/token_use.h: the record of a write with an idempotency token: the applied entries and the
// result. A repeated write applies nothing and returns the same result.
//
// Used by:   write/token_rows.cc stores it as the value of a cell of the token table
//            (manifest/token_table.h).
// Format:    docs/reference/format/tokens.md.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

// Longer tokens are refused.
inline constexpr size_t kTokenBytesMax = 1024;
// A returned row is stored with its token if its values together have at most this size.
inline constexpr size_t kReturnedRowBytesMax = 4096;
inline constexpr int64_t kTokenMemoryMicros = int64_t{15} * 60 * 1'000'000;

// The result of the first write, if it is more than OK.
enum class TokenResult : uint8_t {
  kOk = 0,
  kPredicateMatched = 1,
  kPredicateNotMatched = 2,
  kRow = 3,
  kLargeRow = 4  // without its values
};

// Entries [begin, end) of a BulkApply; [0, 1) for any other write.
struct EntryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const EntryRange&, const EntryRange&) = default;
};

// Adds `added` to `ranges`, which ascend, and joins ranges without a gap between them. Takes time
// in proportion to the ranges behind the added one, and to those that it joins.
void AddEntries(const EntryRange& added, std::vector<EntryRange>* ranges);
// True if `entry` is in one of `ranges`, which ascend and do not overlap.
bool ContainsEntry(const std::vector<EntryRange>& ranges, uint64_t entry);

// The record of one commit.
struct TokenUse {
  TokenResult result = TokenResult::kOk;
  std::vector<EntryRange> entries;  // at least one, ascending, with gaps between them
  // For kRow and kLargeRow: the row's cells, encoded as docs/reference/format/tokens.md describes.
  std::string row;

  bool Covers(uint64_t entry) const { return ContainsEntry(entries, entry); }
  friend bool operator==(const TokenUse&, const TokenUse&) = default;
};

std::string EncodeTokenUse(const TokenUse& use);
// Returns false if the bytes are malformed.
bool DecodeTokenUse(std::string_view bytes, TokenUse* use);

}  // namespace stele::internal
