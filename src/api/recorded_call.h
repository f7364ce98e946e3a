// api/recorded_call.h: records the calls of the public handles in the trace of a database.
//
// Path:      Table, Database -> here -> trace/recorder.h. It is above the backends, so calls to a
//            remote database are recorded, too.
// Rule:      the value of a cell is never recorded.
// Cost:      one load of a flag for a call that is not recorded.
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

// True while calls to the database of this table are recorded.
inline bool IsRecorded(const TableBackend& table) {
  return table.recorder() != nullptr && table.recorder()->is_on();
}

// One call. The members of the record are set before the call, its results after it. If the sample
// left the call out, nothing happens.
class RecordedCall {
 public:
  RecordedCall(const TableBackend& table, TraceOp op, std::string_view tag)
      : RecordedCall(table.recorder(), op, table.name(), tag, 1) {}
  // `operations`: how many records the call makes.
  RecordedCall(std::shared_ptr<Recorder> recorder, TraceOp op, std::string_view table,
               std::string_view tag, uint64_t operations);
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;
  RecordedCall(RecordedCall&&) = default;

  bool is_chosen() const { return recording_ != 0; }
  // Only if is_chosen().
  TraceRecord& record() { return *record_; }
  void SetRow(std::string_view row_key);
  void SetFilter(const Filter& filter);
  void SetRows(const RowSet& rows);
  void SetRange(const RowRange& range);
  void SetKeys(std::span<const std::string_view> row_keys);
  void SetFamily(std::string_view family);
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
  // each of them. Only if is_chosen().
  void FinishEntries(std::optional<uint64_t> TraceRecord::*number);
  void AddEntry(std::string_view table, const RowMutation& mutation, const absl::Status& status);

 private:
  uint64_t LatencyMicros() const;
  void SetStatus(const absl::Status& status);

  const std::shared_ptr<Recorder> recorder_;
  const uint64_t recording_;
  std::chrono::steady_clock::time_point begin_ = {};
  std::optional<TraceRecord> record_;
};

// Calls the backend. The record is added when the reader is destroyed.
absl::StatusOr<std::unique_ptr<RowSource>> RecordReadRows(TableBackend& table, const RowSet& rows,
                                                          const Filter& filter,
                                                          const ReadOptions& options);
// Calls the backend, and records each entry.
absl::Status RecordBatch(DatabaseBackend& database, const WriteBatch& batch,
                         const WriteOptions& options);
std::vector<FailedMutation> RecordBulkApply(TableBackend& table,
                                            std::span<const RowMutation> mutations,
                                            const WriteOptions& options);

}  // namespace stele::internal
