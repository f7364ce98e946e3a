// steled/row_sender.h: when the rows of a read are sent, and what a client hears while none is found.
//
// A client that gets rows now and then gets them soon; one that gets many gets full messages. One that can take it hears how far a read has
// come that finds nothing, and takes up there if it is cut off.
//
// Path:      data_service -> RowSender -> RowChunker -> the call.
// Errors:    none of its own; a sink that answers false ends the work.
// Threads:   confined to the call that it serves.
// Source:    ReadRowsResponse.last_scanned_row_key.
#pragma once

#include <chrono>
#include <string_view>

#include "read_rows.h"

namespace stele::server {

class RowSender {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds kInterval{50};

  // `tells_scanned`: the client can take it. No message is above `message_bytes_max`.
  RowSender(RowChunker::Sink sink, bool tells_scanned, TimePoint now, size_t message_bytes_max = kDefaultMessageBytesMax);

  // A row, or a piece of one. False: the sink takes no more.
  bool Add(const RowView& row, TimePoint now);
  // What ReadOptions.on_progress hears.
  void OnProgress(std::string_view scanned_through, TimePoint now);
  // A row was not added to its end.
  bool in_row() const { return chunker_.in_row(); }
  bool Finish(const ReadStats& stats, bool full_stats, std::chrono::nanoseconds elapsed);

 private:
  bool IsDue(TimePoint now) const { return now - sent_ > kInterval; }

  RowChunker chunker_;
  const bool tells_scanned_;
  bool was_sent_ = false;  // something, since it was looked at
  TimePoint sent_;         // the last message
};

// Whether metadata "bigtable-features" says that the client takes last_scanned_row_key.
inline constexpr char kFeatures[] = "bigtable-features";
bool TakesScanned(std::string_view features);

}  // namespace stele::server
