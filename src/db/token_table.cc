#include "db/token_table.h"

#include <algorithm>

#include "base/status.h"

namespace stele::internal {
namespace {

// A manifest's snapshot holds all of them, and has 64 MiB for that and all else.
constexpr uint64_t kBytesMax = uint64_t{32} << 20;

}  // namespace

TokenTable::TokenTable(MemoryBudget* memory)
    : bytes_max_(std::min(memory->budget_bytes() / kShare, kBytesMax)), charge_(memory, MemoryBudget::Use::kWrites) {}

void TokenTable::ExpireLocked(int64_t now) {
  while (!by_age_.empty() && now - by_age_.front().first >= kTokenMemoryMicros) {
    const auto it = used_.find(by_age_.front().second);
    if (it != used_.end() && !it->second.stored.IsLive(now)) {
      charge_.Set(charge_.bytes() - it->second.bytes);
      used_.erase(it);
    }
    by_age_.pop_front();
  }
  while (!pending_.empty() && !pending_.front().stored.IsLive(now)) pending_.pop_front();
}

TokenUse TokenTable::Find(std::string_view token, uint64_t sequence, int64_t now) {
  MutexLock lock(mutex_);
  ExpireLocked(now);
  const auto it = used_.find(std::string(token));
  if (it == used_.end() || it->second.sequence > sequence || !it->second.stored.IsLive(now)) return {};
  return it->second.stored.use;
}

absl::Status TokenTable::Admit(const TokenUse& use, int64_t now, uint64_t bytes_beside) {
  MutexLock lock(mutex_);
  ExpireLocked(now);
  if (const auto it = used_.find(use.token); it != used_.end() && it->second.stored.IsLive(now)) {
    for (const EntryRange& range : use.entries) {
      for (uint64_t entry = range.begin; entry < range.end; ++entry) {
        if (it->second.stored.use.Covers(entry)) return Aborted("a write under the same token came first");
      }
    }
  }
  if (charge_.bytes() + bytes_beside + BytesOf(use) <= bytes_max_) return absl::OkStatus();
  return ResourceExhausted(
      "the tokens of the last 15 minutes take {} bytes, all that they may; write without, or give memory_budget_bytes more",
      charge_.bytes());
}

void TokenTable::AddLocked(const StoredToken& stored, uint64_t sequence) {
  Used& used = used_[stored.use.token];
  const bool goes_on = !used.stored.use.empty() && stored.commit_micros - used.stored.commit_micros < kTokenMemoryMicros;
  if (goes_on) {
    used.stored.use.Add(stored.use.entries);
    used.stored.commit_micros = std::max(used.stored.commit_micros, stored.commit_micros);
  } else {
    used.stored = stored;
  }
  used.sequence = std::max(used.sequence, sequence);
  const uint64_t bytes = BytesOf(stored.use);
  charge_.Set(charge_.bytes() + bytes);
  used.bytes += bytes;
  by_age_.emplace_back(stored.commit_micros, stored.use.token);
}

void TokenTable::Add(const TokenUse& use, uint64_t sequence, int64_t commit_micros) {
  MutexLock lock(mutex_);
  ExpireLocked(commit_micros);
  const StoredToken stored{use, commit_micros};
  AddLocked(stored, sequence);
  pending_.push_back({sequence, stored});
}

void TokenTable::Load(const std::vector<TokenChunk>& chunks, int64_t now) {
  MutexLock lock(mutex_);
  for (const TokenChunk& chunk : chunks) {
    for (const StoredToken& stored : *chunk) {
      if (stored.IsLive(now)) AddLocked(stored, 0);
    }
  }
}

std::vector<StoredToken> TokenTable::NotInManifest(uint64_t sequence, int64_t now) const {
  MutexLock lock(mutex_);
  std::vector<StoredToken> tokens;
  for (const Pending& pending : pending_) {
    if (pending.sequence > sequence) break;
    if (pending.stored.IsLive(now)) tokens.push_back(pending.stored);
  }
  return tokens;
}

void TokenTable::MarkInManifest(uint64_t sequence) {
  MutexLock lock(mutex_);
  while (!pending_.empty() && pending_.front().sequence <= sequence) pending_.pop_front();
}

size_t TokenTable::pending_count() const {
  MutexLock lock(mutex_);
  return pending_.size();
}

uint64_t TokenTable::bytes() const {
  MutexLock lock(mutex_);
  return charge_.bytes();
}

}  // namespace stele::internal
