#include "commit/table_pauses.h"

#include <algorithm>
#include <string>

#include "absl/strings/cord.h"
#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr char kPausedWrite[] = "stele/paused_write";  // a payload of a status: the write's tables

absl::Status RefusedByPause(const std::vector<uint32_t>& tables) {
  absl::Status refused =
      Aborted("writes of the table are paused while a load or a drop is installed");
  std::string encoded;
  for (const uint32_t table_id : tables) AppendVarint(encoded, table_id);
  refused.SetPayload(kPausedWrite, absl::Cord(encoded));
  return refused;
}

}  // namespace

std::vector<uint32_t> TablesOfPausedWrite(const absl::Status& refused) {
  std::vector<uint32_t> tables;
  const absl::optional<absl::Cord> payload = refused.GetPayload(kPausedWrite);
  if (!payload.has_value()) return tables;
  const std::string encoded(*payload);
  ByteReader in(encoded);
  for (uint32_t table_id = 0; !in.AtEnd() && in.ReadVarint32(&table_id);)
    tables.push_back(table_id);
  return tables;
}

uint64_t TablePauses::Request() {
  MutexLock lock(mutex_);
  return ++last_number_;
}

void TablePauses::AwaitMayBegin(uint32_t table_id, uint64_t request) {
  MutexLock lock(mutex_);
  while (!closed_ && !MayBeginLocked(table_id, request)) changed_.Wait(mutex_);
}

bool TablePauses::MayBegin(uint32_t table_id, uint64_t request) const {
  MutexLock lock(mutex_);
  return MayBeginLocked(table_id, request);
}

bool TablePauses::MayBeginLocked(uint32_t table_id, uint64_t request) const {
  if (paused_.contains(table_id)) return false;
  const auto it = claims_.find(table_id);
  if (it == claims_.end()) return true;
  const Claims& claims = it->second;
  return *claims.numbers.begin() > std::max(request, claims.pause_ended);
}

void TablePauses::Begin(uint32_t table_id) {
  MutexLock lock(mutex_);
  paused_.insert(table_id);
  pause_count_.fetch_add(1, std::memory_order_relaxed);
}

void TablePauses::End(uint32_t table_id) {
  MutexLock lock(mutex_);
  paused_.erase(table_id);
  pause_count_.fetch_sub(1, std::memory_order_relaxed);
  const auto it = claims_.find(table_id);
  if (it != claims_.end()) it->second.pause_ended = ++last_number_;
  changed_.SignalAll();
}

absl::Status TablePauses::Check(std::vector<uint32_t> tables) const {
  std::sort(tables.begin(), tables.end());
  tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
  MutexLock lock(mutex_);
  const bool is_paused = std::any_of(tables.begin(), tables.end(), [this](uint32_t table_id) {
    mutex_.AssertHeld();
    return paused_.contains(table_id);
  });
  return is_paused ? RefusedByPause(tables) : absl::OkStatus();
}

TablePauses::Claim::~Claim() {
  if (number_ == 0) return;
  MutexLock lock(pauses_.mutex_);
  for (const uint32_t table_id : tables_) {
    const auto it = pauses_.claims_.find(table_id);
    it->second.numbers.erase(number_);
    if (it->second.numbers.empty()) pauses_.claims_.erase(it);
  }
  pauses_.changed_.SignalAll();
}

void TablePauses::Claim::Add(const std::vector<uint32_t>& tables) {
  MutexLock lock(pauses_.mutex_);
  if (number_ == 0) number_ = ++pauses_.last_number_;
  for (const uint32_t table_id : tables) {
    if (tables_.insert(table_id).second) pauses_.claims_[table_id].numbers.insert(number_);
  }
}

bool TablePauses::Claim::AwaitEnd(std::chrono::nanoseconds timeout) {
  MutexLock lock(pauses_.mutex_);
  const auto is_over = [this] {
    pauses_.mutex_.AssertHeld();
    return pauses_.closed_ ||
           std::none_of(tables_.begin(), tables_.end(), [this](uint32_t table_id) {
             pauses_.mutex_.AssertHeld();
             return pauses_.paused_.contains(table_id);
           });
  };
  if (!is_over()) pauses_.changed_.WaitFor(pauses_.mutex_, timeout);
  return is_over();
}

void TablePauses::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  changed_.SignalAll();
}

}  // namespace stele::internal
