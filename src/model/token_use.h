// model/token_use.h: an idempotency token and what was applied under it: what a batch and the manifest carry so that a repeat of a write,
// also after a crash, applies nothing again.
//
// Path:      db writes -> mutation/batch.h (logged with the batch) -> db/token_table.h -> manifest, once the log forgets the batch.
// Format:    docs/format/batch.md "Token"; the manifest stores the same bytes.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/coding.h"

namespace stele::internal {

// Longer ones are refused.
inline constexpr size_t kTokenBytesMax = 1024;
inline constexpr int64_t kTokenMemoryMicros = int64_t{15} * 60 * 1'000'000;

// What the first write answered, where that is more than OK. (A changed row is read anew.)
enum class TokenAnswer : uint8_t { kOk = 0, kPredicateMatched = 1, kPredicateNotMatched = 2 };

// Entries [begin, end) of a BulkApply; of any other write [0, 1).
struct EntryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const EntryRange&, const EntryRange&) = default;
};

struct TokenUse {
  std::string token;  // empty: none
  TokenAnswer answer = TokenAnswer::kOk;
  std::vector<EntryRange> entries;  // ascending, with gaps between them

  bool empty() const { return token.empty(); }
  bool Covers(uint64_t entry) const;
  // Makes it cover those of `other` as well.
  void Add(const std::vector<EntryRange>& others);
  friend bool operator==(const TokenUse&, const TokenUse&) = default;
};

// As the manifest keeps it.
struct StoredToken {
  TokenUse use;
  int64_t commit_micros = 0;  // when it was used last, by the database's clock

  bool IsLive(int64_t now) const { return now - commit_micros < kTokenMemoryMicros; }
  friend bool operator==(const StoredToken&, const StoredToken&) = default;
};

void AppendTokenUse(std::string* out, const TokenUse& use);
// False: malformed.
bool ReadTokenUse(ByteReader* in, TokenUse* use);

}  // namespace stele::internal
