#include "lab/replay/operation_queues.h"

#include <utility>

namespace stele::internal::lab {
namespace {

constexpr size_t kQueuedBytesMax = size_t{64} << 20;
constexpr size_t kTakenMax = 64;

size_t QueuedBytes(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(text) + text.size();
  return bytes;
}

size_t QueuedBytes(const std::optional<std::string>& text) {
  return text.has_value() ? text->size() : 0;
}

size_t QueuedBytes(const PreparedOperation& prepared) {
  size_t bytes = prepared.write_bytes;
  for (const stele::lab::ReadRequest& read : prepared.reads) {
    bytes += sizeof(read) + QueuedBytes(read.rows.row_keys());
    for (const RowRange& range : read.rows.ranges())
      bytes += sizeof(range) + range.start().size() + range.end().size();
  }
  return bytes;
}

size_t QueuedBytes(const ReplayOperation& operation) {
  if (operation.prepared.has_value()) return sizeof(operation) + QueuedBytes(*operation.prepared);
  const auto& record = operation.record;
  size_t bytes = sizeof(operation) + record.table.size() + record.row.size() +
                 record.filter.size() + record.tag.size() + record.status.size() +
                 QueuedBytes(record.start) + QueuedBytes(record.end) + QueuedBytes(record.last) +
                 QueuedBytes(record.keys) + QueuedBytes(record.columns) +
                 QueuedBytes(record.increments);
  if (record.families.has_value()) bytes += QueuedBytes(*record.families);
  for (const auto& range : record.ranges)
    bytes += sizeof(range) + QueuedBytes(range.start) + QueuedBytes(range.end);
  return bytes;
}

}  // namespace

void OperationQueues::Push(uint64_t thread, ReplayOperation operation) {
  const size_t bytes = QueuedBytes(operation);
  const MutexLock lock(mutex_);
  while (bytes_ >= kQueuedBytesMax && !is_cancelled_) ended_.Wait(mutex_);
  if (is_cancelled_) return;
  Queue& queue = queues_[thread];
  queue.operations.push_back(std::move(operation));
  bytes_ += bytes;
  if (queue.operations.size() == 1) queue.filled.Signal();
}

void OperationQueues::AwaitEmpty() {
  const MutexLock lock(mutex_);
  while (bytes_ > 0 && !is_cancelled_) ended_.Wait(mutex_);
}

void OperationQueues::Finish() {
  const MutexLock lock(mutex_);
  is_finished_ = true;
  for (Queue& queue : queues_) queue.filled.Signal();
}

void OperationQueues::Cancel() {
  const MutexLock lock(mutex_);
  is_cancelled_ = true;
  for (Queue& queue : queues_) {
    queue.operations.clear();
    queue.filled.Signal();
  }
  ended_.SignalAll();
}

bool OperationQueues::Take(uint64_t thread, std::vector<ReplayOperation>* out) {
  out->clear();
  const MutexLock lock(mutex_);
  Queue& queue = queues_[thread];
  bytes_ -= std::exchange(queue.taken_bytes, 0);
  ended_.Signal();
  while (queue.operations.empty() && !is_finished_ && !is_cancelled_) queue.filled.Wait(mutex_);
  while (!queue.operations.empty() && out->size() < kTakenMax) {
    queue.taken_bytes += QueuedBytes(queue.operations.front());
    out->push_back(std::move(queue.operations.front()));
    queue.operations.pop_front();
  }
  return !out->empty();
}

}  // namespace stele::internal::lab
