// api/recorded_call.h: records the calls of the public handles in the trace of a database.
//
// Used by:   api/database.cc and api/table.cc. They are above the backends, so calls to a remote
//            database are recorded, too.
// Calls:     trace/recorder.h.
// Rule:      the value of a cell is never recorded.
// Cost:      one load of a flag while nothing is recorded, and a random number for a call that the
//            sample leaves out.
// Threads:   an object is confined to its thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/backend.h"
#include "trace/recorder.h"

namespace stele::internal {

// Decides whether a call to the table is recorded. Returns the recording, or 0.
inline uint64_t ChooseCall(const TableBackend& table, uint64_t operations = 1) {
  Recorder* const recorder = table.recorder().get();
  return recorder == nullptr || !recorder->is_on() ? 0 : recorder->Choose(operations);
}

// True for a read by Stele itself, such as those of the server for its live map.
inline bool IsOwnRead(std::string_view tag) { return tag.starts_with("stele:"); }

// One recorded call. The members of the record are set before the call, its results after it.
class RecordedCall {
 public:
  // `recording`: what Recorder::Choose returned, not 0. The recorder must outlive this object.
  RecordedCall(const TableBackend& table, uint64_t recording, TraceOp op, std::string_view tag)
      : RecordedCall(table.recorder().get(), recording, op, table.name(), tag) {}
  RecordedCall(Recorder* recorder, uint64_t recording, TraceOp op, std::string_view table,
               std::string_view tag);
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;
  RecordedCall(RecordedCall&&) = default;

  TraceRecord& record() { return record_; }
  void SetRow(std::string_view row_key);
  void SetFilter(const Filter& filter);
  // The rows of a scan. Without ranges it becomes a get or an mget.
  void SetRows(const RowSet& rows);
  void SetRange(const RowRange& range);
  void SetKeys(std::span<const std::string_view> row_keys);
  // The operation, cells, columns and bytes of a write.
  void SetMutation(const RowMutation& mutation);
  void SetRules(std::span<const ReadModifyWriteRule> rules);
  // The cells and columns are those of `if_matched`, unless it is empty.
  void SetConditional(std::string_view row_key, const Filter& predicate,
                      const RowMutation& if_matched, const RowMutation& if_not_matched);

  // Sets the results of a read to zero. Then CountRow() adds each row that is returned.
  void StartCounting();
  void CountRow(const RowView& row);
  // Adds the record, with the duration.
  void Finish(const absl::Status& status);
  absl::Status Finished(absl::Status status) {
    Finish(status);
    return status;
  }
  template <typename T>
  absl::StatusOr<T> Finished(absl::StatusOr<T> result) {
    Finish(result.status());
    return result;
  }

  // Ends a call with several entries, whose number is in the member `number`. Then AddEntry() adds
  // each of them.
  void FinishEntries(std::optional<uint64_t> TraceRecord::*number);
  void AddEntry(std::string_view table, const RowMutation& mutation, const absl::Status& status);

 private:
  uint64_t LatencyMicros() const;
  void SetStatus(const absl::Status& status);

  Recorder* const recorder_;
  const uint64_t recording_;
  const std::chrono::steady_clock::time_point begin_;
  TraceRecord record_;
};

// A recorded read of one row. It keeps views: `row_key` and `tag` must outlive it.
class RecordedPointRead {
 public:
  // `recording` is that of Recorder::Choose, and not 0. The recorder must outlive this object.
  RecordedPointRead(const TableBackend& table, uint64_t recording, std::string_view row_key,
                    std::string_view tag);
  RecordedPointRead(const RecordedPointRead&) = delete;
  RecordedPointRead& operator=(const RecordedPointRead&) = delete;

  void SetFilter(const Filter& filter);
  // The only family that is read. Must outlive this object.
  void SetFamily(std::string_view family) { record_.family = family; }
  // Counts what was returned: at first nothing, then the row.
  void StartCounting() { record_.returned.emplace(); }
  void CountRow(const RowView& row);
  // Adds the record, with the duration.
  void Finish(const absl::Status& status);
  template <typename T>
  absl::StatusOr<T> Finished(absl::StatusOr<T> result) {
    Finish(result.status());
    return result;
  }

 private:
  Recorder* const recorder_;
  const uint64_t recording_;
  const std::chrono::steady_clock::time_point begin_;
  std::string filter_;
  PointReadRecord record_;
};

// Calls the backend. The record is added when the reader is destroyed.
absl::StatusOr<std::unique_ptr<RowSource>> RecordReadRows(TableBackend& table, uint64_t recording,
                                                          const RowSet& rows, const Filter& filter,
                                                          const ReadOptions& options);
// Calls the backend, and records each entry.
absl::Status RecordBatch(DatabaseBackend& database, uint64_t recording, const WriteBatch& batch,
                         const WriteOptions& options);
std::vector<FailedMutation> RecordBulkApply(TableBackend& table, uint64_t recording,
                                            std::span<const RowMutation> mutations,
                                            const WriteOptions& options);

}  // namespace stele::internal
