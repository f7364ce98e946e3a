#include "io/lock_table.h"

#include "base/status.h"

namespace stele::internal {

absl::Status LockedExclusively(std::string_view path, std::string_view where,
                               std::string_view holder) {
  if (holder.empty()) return FailedPrecondition("lock {}: held by {}", path, where);
  return FailedPrecondition("lock {}: held by {}: {}", path, where, Printable(holder, 256));
}

absl::Status LockedShared(std::string_view path, std::string_view where) {
  return FailedPrecondition("lock {}: opened read-only by {}", path, where);
}

absl::Status LockTable::Acquire(const FileIdentity& file, LockMode mode, std::string_view path,
                                std::string_view holder) {
  const auto found = locks_.find(file);
  if (found == locks_.end()) {
    locks_[file] =
        Entry{mode, 1, mode == LockMode::kExclusive ? std::string(holder) : std::string()};
    return absl::OkStatus();
  }
  Entry& entry = found->second;
  if (entry.mode == LockMode::kExclusive)
    return LockedExclusively(path, "this process", entry.holder);
  if (mode == LockMode::kExclusive) return LockedShared(path, "this process");
  ++entry.holder_count;
  return absl::OkStatus();
}

void LockTable::Release(const FileIdentity& file) {
  const auto found = locks_.find(file);
  if (found == locks_.end()) return;
  if (--found->second.holder_count == 0) locks_.erase(found);
}

}  // namespace stele::internal
