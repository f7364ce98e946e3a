// sstable/read/row_group_prefetch.h: decodes the row groups of a long scan on other threads before
// the cursor reaches them.
//
// Used by:   sstable/read/section_cursor.cc.
// Calls:     sstable/read/row_group_loader.h, on the threads of cell/prefetch_runner.h
//            (CursorOptions::prefetch_runner).
// How:       consecutive requests for groups that are not in the cache, in either direction,
//            indicate a scan. Then other threads decode the next groups, in batches of adjacent
//            groups that are each read at once. The batches in progress never have more than half
//            as many groups as the scan has read, so a short scan loses little. If the cursor
//            reaches a batch before a thread has begun it, the cursor decodes it. If another thread
//            is decoding it, the cursor decodes the batches after it
//            (docs/decisions/0016-decode-ahead.md).
// Memory:    at most four batches of about 128 KiB. A batch is larger if its last group is.
// Errors:    those of row_group_loader, returned when the cursor reaches the group. An error of a
//            prefetch is dropped: the cursor retries, since e.g. lack of memory may be transient.
// Threads:   confined to its cursor's thread. The thread that begins a batch first decodes it. A
//            batch owns the data that it uses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "cell/prefetch_runner.h"
#include "sstable/read/open_sstable.h"
#include "sstable/read/row_group_loader.h"

namespace stele::internal {

class RowGroupPrefetch {
 public:
  // `owner` keeps `table` open; `options` must outlive this object.
  RowGroupPrefetch(const std::shared_ptr<const void>& owner, const OpenSstable& table,
                   const OpenSection& section, const CursorOptions& options);
  // Cancels batches that have not started; started ones finish by themselves.
  ~RowGroupPrefetch();

  using GroupPointer = RowGroupLoader::GroupPointer;
  // Like loader->LoadAll.
  absl::StatusOr<GroupPointer> LoadAll(size_t group_index, RowGroupLoader* loader,
                                       GroupPointer part);

 private:
  class ReadaheadBatch;

  void CancelBatches();
  absl::StatusOr<GroupPointer> TakeFromFirstBatch(size_t group_index);
  void Finish(ReadaheadBatch* readahead_batch);
  void ScheduleBatches(size_t group_index, const RowGroupLoader& loader);
  // A batch of groups from `group_index` on in the cursor's direction; null if there are no more.
  std::shared_ptr<ReadaheadBatch> NewReadaheadBatch(size_t group_index,
                                                    const RowGroupLoader& loader) const;

  const std::shared_ptr<const void>& owner_;
  const OpenSstable& table_;
  const OpenSection& section_;
  const CursorOptions& options_;
  // In the order in which the cursor reaches them.
  std::vector<std::shared_ptr<ReadaheadBatch>> readahead_batches_;
  size_t group_index_next_ = 0;  // if the cursor continues
  size_t run_ = 0;               // the number of groups decoded consecutively
};

}  // namespace stele::internal
