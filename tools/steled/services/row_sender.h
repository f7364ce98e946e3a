// steled/services/row_sender.h: decides when the rows of a read are sent, and reports progress
// while no row is found.
//
// If rows are rare, each is sent soon. If there are many, messages are filled. A client that
// supports it gets the progress of a read that finds nothing, and can resume from there after a
// disconnection.
//
// Used by:   steled/services/read_rows_call.cc.
// Calls:     steled/services/read_rows.h (RowChunker).
// Errors:    none; a sink that returns false pauses the work.
// Threads:   confined to its call.
// Source:    ReadRowsResponse.last_scanned_row_key.
#pragma once

#include <chrono>
#include <string_view>

#include "steled/services/read_rows.h"

namespace stele::server {

class RowSender {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // After this time without a message, the next row or progress is sent at once.
  static constexpr std::chrono::milliseconds kInterval{50};

  // `sends_last_scanned_key`: the client supports last_scanned_row_key. Messages have at most
  // `message_bytes_max` bytes.
  RowSender(RowChunker::Sink sink, bool sends_last_scanned_key, TimePoint now,
            size_t message_bytes_max = kDefaultMessageBytesMax);

  // Adds a row or a partial row. Returns false if the sink accepts no more. Then call it again with
  // the same row, and it adds the rest.
  bool Add(const RowView& row, TimePoint now);
  // Handles a report of ReadOptions.on_progress.
  void OnProgress(std::string_view scanned_through, TimePoint now);
  // True inside a row that is not complete.
  bool in_row() const { return chunker_.in_row(); }
  // The size of what was added and not sent.
  size_t buffered_bytes() const { return chunker_.buffered_bytes(); }
  bool Finish(const ReadStats& stats, bool full_stats, std::chrono::nanoseconds elapsed);

 private:
  bool IsDue(TimePoint now) const { return now - sent_ > kInterval; }

  RowChunker chunker_;
  const bool sends_last_scanned_key_;
  bool was_sent_ = false;  // something was sent since the last check
  TimePoint sent_;         // when the last message was sent
};

// The metadata in which a client states the features that it supports.
inline constexpr char kFeatures[] = "bigtable-features";
// Returns whether this value of the metadata says that the client supports last_scanned_row_key.
bool SupportsLastScannedKey(std::string_view features);

}  // namespace stele::server
