#include "replay/operation_queues.h"

#include <utility>

namespace stele::cli {
namespace {

constexpr size_t kBytesMax = size_t{64} << 20;

size_t BytesOf(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(text) + text.size();
  return bytes;
}

size_t BytesOf(const ReplayOperation& operation) {
  const auto& record = operation.record;
  size_t bytes = sizeof(operation) + record.table.size() + record.row.size() +
                 record.filter.size() + BytesOf(record.keys) + BytesOf(record.columns) +
                 BytesOf(record.increments);
  for (const auto& range : record.ranges) {
    bytes += sizeof(range) + range.start.value_or("").size() + range.end.value_or("").size();
  }
  return bytes;
}

}  // namespace

void OperationQueues::Push(uint64_t thread, ReplayOperation operation) {
  const size_t bytes = BytesOf(operation);
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [this] { return bytes_ < kBytesMax; });
  Queue& queue = queues_[thread];
  queue.operations.push_back(std::move(operation));
  queue.bytes += bytes;
  bytes_ += bytes;
  if (queue.operations.size() == 1) queue.filled.notify_one();
}

void OperationQueues::Finish() {
  const std::lock_guard lock(mutex_);
  is_finished_ = true;
  for (Queue& queue : queues_) queue.filled.notify_one();
}

bool OperationQueues::TakeAll(uint64_t thread, std::vector<ReplayOperation>* out) {
  out->clear();
  std::unique_lock lock(mutex_);
  Queue& queue = queues_[thread];
  queue.filled.wait(lock, [&] { return is_finished_ || !queue.operations.empty(); });
  out->swap(queue.operations);
  bytes_ -= std::exchange(queue.bytes, 0);
  taken_.notify_one();
  return !out->empty();
}

}  // namespace stele::cli
