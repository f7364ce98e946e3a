// steled/services/read_rows_call.h: the state of one ReadRows, which can be paused while its client
// does not read.
//
// If the client reads slowly, the read is paused, and no thread waits for the client. After a
// second the paused read closes its reader, and so releases its view of the table. It resumes after
// its last row with a new view of the table. In the middle of a row that spans messages, it keeps
// its reader.
//
// Used by:   steled/services/data_service.cc.
// Calls:     steled/services/row_sender.h, and the call.
// Bounds:    in addition to the call's unsent bytes, one message, the incomplete row up to the
//            largest message, and the present piece of a row. Above 1 MiB, and in a pause, they are
//            charged to the memory for unread responses. So are values that lie outside of the
//            blocks of an SSTable, before they are read.
// Errors:    those of the read; CANCELLED once no client listens.
// Threads:   one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "stele/table.h"
#include "steled/monitoring/live_counts.h"
#include "steled/services/row_sender.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

// Returns the rows that a read, reversed or not, returns after row `last`.
RowSet RowsAfter(const RowSet& rows, std::string_view last, bool is_reversed);

class ReadRowsCall final : public PausedCall, public std::enable_shared_from_this<ReadRowsCall> {
 public:
  struct Request {
    Table table;
    std::string table_name;  // as in the API
    std::string tag;         // ReadOptions::tag
    RowSet rows;
    Filter filter;
    int64_t rows_limit = 0;  // 0: none
    bool is_reversed = false;
    bool has_full_stats = false;
    bool sends_last_scanned_key = false;
    size_t message_bytes_max = kDefaultMessageBytesMax;
  };
  // `counter` counts the read for the live heat map.
  ReadRowsCall(Request request, ScanCounter counter, std::chrono::steady_clock::time_point begin);

  // Runs the read to its end, or pauses it if the client reads too slowly.
  absl::Status Run(Call* call);
  absl::Status Resume(Call* call) override;
  std::shared_ptr<void> Shrink() override;

 private:
  using SteadyClock = std::chrono::steady_clock;

  void OpenReader();
  // Reports progress of the reader. If this throws, the read ends at its next row with refusal_.
  // The engine calls this function and ChargeLargeValue, so no exception leaves them.
  void OnProgress(std::string_view scanned_through) noexcept;
  // Accepts a message from the sender. Returns false if Send would wait for the next one.
  bool Take(std::string framed, bool is_last);
  // Sends the waiting messages. Returns false if no client listens.
  bool SendWaiting();
  // The bytes in memory of messages, rows and the present piece.
  size_t HeldBytes() const;
  // Charges so many bytes to the memory for unread responses, as far as they are not charged yet.
  absl::Status Charge(size_t bytes);
  // Releases what is charged for more than is held.
  void ReleaseExcess();
  // Charges a value before the reader reads it from a file.
  absl::Status ChargeLargeValue(uint64_t bytes) noexcept;
  // Moves to the next row or piece of a row. Returns false at the end.
  bool NextPiece();
  // Adds rows until Send would wait or there are no more rows.
  absl::Status AddRows();
  void AddStats();

  const Request request_;
  ScanCounter counter_;
  const SteadyClock::time_point begin_;
  Call* call_ = nullptr;               // of the current Run
  std::unique_ptr<RowReader> reader_;  // null: will be opened after last_row_key_
  RowSender sender_;
  std::deque<std::pair<std::string, bool>> waiting_;  // messages, and whether each is the last
  size_t charged_bytes_ = 0;                          // for what the present row needs
  size_t piece_bytes_ = 0;                            // of the values of the reader's row
  size_t large_value_bytes_ = 0;                      // of the last value that was charged
  absl::Status refusal_;                              // of a value or progress without memory
  // The last complete row, once the reader was released.
  std::string last_row_key_;
  int64_t row_count_ = 0;     // complete rows
  ReadStats stats_;           // of earlier readers
  bool is_in_piece_ = false;  // a part of the reader's row is not added yet
  bool is_blocked_ = false;   // Send would wait
  bool is_gone_ = false;      // the client is gone
  bool is_finished_ = false;  // the last message was created
};

}  // namespace stele::server
