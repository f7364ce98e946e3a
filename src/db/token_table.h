// db/token_table.h: the idempotency tokens that were used in the last 15 minutes, and for what.
//
// Path:      a write looks its token up -> the commit leader admits and adds it with its batch (db/committer.h); recovery adds what log and
//            manifest hold (db/recovery.cc); the installer moves to the manifest what the log is about to forget (db/installer.h).
// Rules:     a token is in the log with its batch, or in the manifest, or in both, as long as it lives (engine rule 2).
// Memory:    charged as writes, at most kShare of the budget: beyond it Admit answers ResourceExhausted.
// Time:      the database's clock.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "model/token_use.h"

namespace stele::internal {

using TokenChunk = std::shared_ptr<const std::vector<StoredToken>>;

class TokenTable {
 public:
  static constexpr uint64_t kShare = 16;

  explicit TokenTable(MemoryBudget* memory);

  // What was applied under the token by commits up to `sequence`; empty: nothing that still counts.
  TokenUse Find(std::string_view token, uint64_t sequence, int64_t now);
  // For the commit leader, before the batch is logged: Aborted if a write under this token did some of it already, ResourceExhausted if
  // there is no room for it and for `bytes_beside`, which were admitted but not added yet.
  absl::Status Admit(const TokenUse& use, int64_t now, uint64_t bytes_beside);
  // Of a batch that is in the log; before its sequence is published.
  void Add(const TokenUse& use, uint64_t sequence, int64_t commit_micros);
  // From the manifest.
  void Load(const std::vector<TokenChunk>& chunks, int64_t now);

  // Live ones of commits up to `sequence` that the manifest does not have.
  std::vector<StoredToken> NotInManifest(uint64_t sequence, int64_t now) const;
  // The manifest has them now.
  void MarkInManifest(uint64_t sequence);

  // What one commit under a token takes, about: in the table, on its way to the manifest and in the Version.
  static uint64_t BytesOf(const TokenUse& use) { return 4 * use.token.size() + 256 + 32 * use.entries.size(); }
  uint64_t bytes() const;
  // Commits whose tokens the manifest does not have, and would have to be given.
  size_t pending_count() const;

 private:
  struct Used {
    StoredToken stored;
    uint64_t sequence = 0;  // of the last commit under it
    uint64_t bytes = 0;     // of all commits under it
  };
  struct Pending {
    uint64_t sequence = 0;
    StoredToken stored;
  };
  void ExpireLocked(int64_t now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddLocked(const StoredToken& stored, uint64_t sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t bytes_max_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, Used> used_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::pair<int64_t, std::string>> by_age_
      ABSL_GUARDED_BY(mutex_);                           // commit times, ascending but for what was loaded; and tokens
  std::deque<Pending> pending_ ABSL_GUARDED_BY(mutex_);  // not in the manifest, by sequence
  MemoryCharge charge_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
