// steled/read_rows_call.h: one ReadRows as it goes on, also over pauses in which its client does not read.
//
// If the client reads slowly, the read is paused, and no thread waits for the client. After a
// second the paused read closes its reader, and so releases its view of the table. It resumes after
// its last row with a new view of the table. In the middle of a row that spans messages, it keeps
// its reader.
//
// Path:      data_service -> ReadRowsCall -> RowSender -> the call.
// Bounds:    one message and the row in progress, in memory, beside what the call has unsent.
// Errors:    those of the read; CANCELLED once nobody listens.
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
#include "row_sender.h"
#include "stele/table.h"
#include "transport/call.h"

namespace stele::server {

// What is left of `rows` once a read, reversed or not, has come to `last`.
RowSet RowsBehind(const RowSet& rows, std::string_view last, bool is_reversed);

class ReadRowsCall final : public PausedCall, public std::enable_shared_from_this<ReadRowsCall> {
 public:
  struct Request {
    Table table;
    std::string table_name;  // on the wire
    RowSet rows;
    Filter filter;
    int64_t rows_limit = 0;  // 0: none
    bool is_reversed = false;
    bool has_full_stats = false;
    bool tells_scanned = false;
    size_t message_bytes_max = kDefaultMessageBytesMax;
  };
  ReadRowsCall(Request request, std::chrono::steady_clock::time_point begin);

  // To its end, or until the client has to read first.
  absl::Status Run(Call* call);
  absl::Status Resume(Call* call) override;
  std::shared_ptr<void> Shrink() override;

 private:
  using SteadyClock = std::chrono::steady_clock;

  void OpenReader();
  void OnProgress(std::string_view scanned_through);
  // Takes a message of the sender's. False: nobody listens.
  bool Take(std::string framed, bool is_last);
  // Sends what waits. False: nobody listens.
  bool SendWaiting();
  // The memory that requests share has to have room for what waits.
  absl::Status ChargeWaiting();
  // Adds rows until something waits or they are all.
  absl::Status AddRows();
  void AddStats();

  const Request request_;
  const SteadyClock::time_point begin_;
  Call* call_ = nullptr;               // of the Run that goes on
  std::unique_ptr<RowReader> reader_;  // null: to be opened behind last_row_key_
  RowSender sender_;
  std::deque<std::pair<std::string, bool>> waiting_;  // messages, and whether each is the last
  size_t charged_bytes_ = 0;                          // for the most that has waited
  std::string last_row_key_;                          // of the last whole row, once the reader was let go
  int64_t row_count_ = 0;                             // whole rows
  ReadStats stats_;                                   // of readers before this one
  bool is_gone_ = false;                              // the client
  bool is_finished_ = false;                          // the last message was made
};

}  // namespace stele::server
