#include "sstable/read/row_group_prefetch.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/mutex.h"

namespace stele::internal {
namespace {

constexpr size_t kRunBeforeAhead = 8;  // groups: a scan of a few hundred rows ends before that
constexpr size_t kReadaheadBatchesMax = 4;
// Decoded bytes: small enough to be ready soon, large enough to be worth waking a thread.
constexpr uint64_t kReadaheadBatchBytes = 128 << 10;
constexpr size_t kReadaheadBatchGroupsMax = 16;  // for scans that need little of each group

}  // namespace

// Groups [group_first_, group_end_) of a section.
class RowGroupPrefetch::ReadaheadBatch final : public PrefetchTask {
 public:
  ReadaheadBatch(std::shared_ptr<const void> owner, const OpenSstable& table,
                 const OpenSection& section, const CursorOptions& options, size_t group_first,
                 size_t group_end, uint64_t end_offset)
      : owner_(std::move(owner)),
        options_(OwnOptions(options, &stats_)),
        group_first_(group_first),
        group_end_(group_end),
        loader_(table, section, options_) {
    loader_.ReadUpTo(end_offset);
    groups_.reserve(group_end - group_first);
  }

  size_t group_first() const { return group_first_; }
  size_t group_end() const { return group_end_; }
  size_t group_count() const { return group_end_ - group_first_; }

  void Run() override {
    if (TryBegin()) Decode();
  }
  // Returns true to one caller, which must call Decode.
  bool TryBegin() {
    State waiting = State::kWaiting;
    return state_.compare_exchange_strong(waiting, State::kBegun, std::memory_order_acq_rel);
  }
  void Decode() {
    for (size_t i = group_first_; i < group_end_; ++i) groups_.push_back(loader_.LoadAll(i));
    MutexLock lock(mutex_);
    state_.store(State::kDone, std::memory_order_release);
    done_.SignalAll();
  }
  bool is_done() const { return state_.load(std::memory_order_acquire) == State::kDone; }
  void AwaitDone() {
    MutexLock lock(mutex_);
    while (!is_done()) done_.Wait(mutex_);
  }

  // Call once it is done.
  absl::StatusOr<GroupPointer> Take(size_t group_index) {
    return std::move(groups_[group_index - group_first_]);
  }
  bool decoded_any() const { return loader_.decoded_count() != 0; }
  // The cost of decoding; returned once.
  CursorStats TakeStats() { return std::exchange(stats_, {}); }

 private:
  enum class State : uint8_t { kWaiting, kBegun, kDone };

  static CursorOptions OwnOptions(CursorOptions options, CursorStats* stats) {
    options.stats = stats;
    options.prefetch_runner = nullptr;
    options.reserve_large_value = nullptr;  // large values are not prefetched
    return options;
  }

  const std::shared_ptr<const void> owner_;
  const CursorOptions options_;  // the cursor's, without its statistics
  const size_t group_first_;
  const size_t group_end_;
  CursorStats stats_;
  RowGroupLoader loader_;
  std::vector<absl::StatusOr<GroupPointer>> groups_;
  // Only the thread that begins the batch accesses the members above, until it stores kDone
  // (release). A thread that has loaded kDone (acquire) may access them.
  std::atomic<State> state_{State::kWaiting};
  // Guards no data; used only to wait. Cancelling does not lock it, since a forked child also
  // cancels.
  Mutex mutex_;
  CondVar done_;
};

RowGroupPrefetch::RowGroupPrefetch(const std::shared_ptr<const void>& owner,
                                   const OpenSstable& table, const OpenSection& section,
                                   const CursorOptions& options)
    : owner_(owner), table_(table), section_(section), options_(options) {}

RowGroupPrefetch::~RowGroupPrefetch() { CancelBatches(); }

void RowGroupPrefetch::CancelBatches() {
  // Cancel them, so that they never start.
  for (const std::shared_ptr<ReadaheadBatch>& readahead_batch : readahead_batches_)
    readahead_batch->TryBegin();
  readahead_batches_.clear();
}

absl::StatusOr<RowGroupPrefetch::GroupPointer> RowGroupPrefetch::LoadAll(size_t group_index,
                                                                         RowGroupLoader* loader,
                                                                         GroupPointer part) {
  if (options_.prefetch_runner == nullptr) return loader->LoadAll(group_index, std::move(part));
  // A group of which the cursor has a part is loaded into the same memory, so no batch has it.
  const bool goes_on = group_index == group_index_next_ && part == nullptr;
  // -1 is not a group.
  group_index_next_ = options_.direction == Direction::kForward ? group_index + 1 : group_index - 1;
  if (!goes_on) run_ = 0;
  if (!goes_on || (!readahead_batches_.empty() && !options_.prefetch_runner->IsOfThisProcess()))
    CancelBatches();
  absl::StatusOr<GroupPointer> group;
  if (!readahead_batches_.empty()) {
    group = TakeFromFirstBatch(group_index);
    if (!group.ok()) {
      // The batch may have failed only for lack of memory for prefetching, so the cursor tries
      // again itself.
      CancelBatches();
      run_ = 0;
      group = loader->LoadAll(group_index);
    }
  } else {
    const size_t decoded_before = loader->decoded_count();
    group = loader->LoadAll(group_index, std::move(part));
    run_ = loader->decoded_count() != decoded_before ? run_ + 1 : 0;
  }
  if (run_ >= kRunBeforeAhead) ScheduleBatches(group_index, *loader);
  return group;
}

absl::StatusOr<RowGroupPrefetch::GroupPointer> RowGroupPrefetch::TakeFromFirstBatch(
    size_t group_index) {
  const std::shared_ptr<ReadaheadBatch> readahead_batch = readahead_batches_.front();
  Finish(readahead_batch.get());
  run_ = readahead_batch->decoded_any() ? run_ + 1 : 0;
  if (options_.stats != nullptr) {
    const CursorStats stats = readahead_batch->TakeStats();
    options_.stats->blocks += stats.blocks;
    options_.stats->bytes_read += stats.bytes_read;
    options_.stats->bytes_decoded += stats.bytes_decoded;
  }
  const bool is_last = options_.direction == Direction::kForward
                           ? group_index + 1 == readahead_batch->group_end()
                           : group_index == readahead_batch->group_first();
  if (is_last) readahead_batches_.erase(readahead_batches_.begin());
  return readahead_batch->Take(group_index);
}

// While another thread decodes a batch, use the time for the batches after it.
void RowGroupPrefetch::Finish(ReadaheadBatch* readahead_batch) {
  if (readahead_batch->is_done()) return;
  if (readahead_batch->TryBegin()) return readahead_batch->Decode();
  for (const std::shared_ptr<ReadaheadBatch>& other : readahead_batches_) {
    if (readahead_batch->is_done()) return;
    if (other->TryBegin()) other->Decode();
  }
  readahead_batch->AwaitDone();
}

void RowGroupPrefetch::ScheduleBatches(size_t group_index, const RowGroupLoader& loader) {
  if (table_.memory_tracker() != nullptr && table_.memory_tracker()->is_over()) return;
  const bool is_forward = options_.direction == Direction::kForward;
  size_t next = group_index_next_;
  size_t waiting = 0;  // groups in batches that the cursor has not reached
  if (!readahead_batches_.empty()) {
    const ReadaheadBatch& last = *readahead_batches_.back();
    next = is_forward ? last.group_end() : last.group_first() - 1;
    waiting = is_forward ? last.group_end() - group_index - 1 : group_index - last.group_first();
  }
  while (readahead_batches_.size() < kReadaheadBatchesMax && waiting <= run_ / 4) {
    std::shared_ptr<ReadaheadBatch> readahead_batch = NewReadaheadBatch(next, loader);
    if (readahead_batch == nullptr) return;
    if (!options_.prefetch_runner->Run(readahead_batch)) {
      run_ = 0;  // it tries again after the initial number of groups
      return;
    }
    next = is_forward ? readahead_batch->group_end() : readahead_batch->group_first() - 1;
    waiting += readahead_batch->group_count();
    readahead_batches_.push_back(std::move(readahead_batch));
  }
}

std::shared_ptr<RowGroupPrefetch::ReadaheadBatch> RowGroupPrefetch::NewReadaheadBatch(
    size_t group_index, const RowGroupLoader& loader) const {
  const bool is_forward = options_.direction == Direction::kForward;
  const size_t count_max = std::min(kReadaheadBatchGroupsMax, std::max<size_t>(run_ / 4, 1));
  size_t first = group_index;
  size_t end = group_index;
  uint64_t begin_offset = 0;
  uint64_t end_offset = 0;
  uint64_t bytes = 0;
  // -1 is also past the end.
  for (size_t i = group_index;
       i < section_.index.group_count() && end - first < count_max && bytes < kReadaheadBatchBytes;
       is_forward ? ++i : --i) {
    const GroupReference group = section_.index.group(i);
    // Between two extents are those of other sections.
    if (first != end &&
        (is_forward ? group.offset() != end_offset : group.end_offset() != begin_offset))
      break;
    for (const BlockEntry& block : group.blocks) {
      if (loader.IsWanted(block)) bytes += block.handle.raw_bytes;
    }
    if (first == end) {
      first = i;
      end = i + 1;
      begin_offset = group.offset();
      end_offset = group.end_offset();
    } else if (is_forward) {
      end = i + 1;
      end_offset = group.end_offset();
    } else {
      first = i;
      begin_offset = group.offset();
    }
  }
  if (first == end) return nullptr;
  return std::make_shared<ReadaheadBatch>(owner_, table_, section_, options_, first, end,
                                          end_offset);
}

}  // namespace stele::internal
