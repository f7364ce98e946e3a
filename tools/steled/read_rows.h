// steled/read_rows.h: rows become the chunks of ReadRowsResponse messages.
//
// The rules a client's state machine checks: a row's first chunk bears its key, family and qualifier; later ones leave out what did not
// change, and a family never comes without a qualifier; a timestamp and labels stand on a cell's first chunk; a value above
// kValueChunkBytes is cut, and every part but the last states the length of the whole; the last chunk of the last cell commits the row.
//
// Path:      data_service -> RowChunker -> its sink, which writes to the stream.
// Units:     bytes as protobuf counts them, nearly.
// Errors:    none of its own; a sink that answers false ends the work.
// Threads:   confined to the call that it serves.
// Cost:      one copy of each value, into the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stele/row.h"
#include "stele/stats.h"
#include "wire/bigtable.pb.h"

namespace stele::server {

// A message is sent before it would pass this: half of what clients are promised, for a client may have gRPC's least cap, 4 MiB.
inline constexpr size_t kMessageBytes = size_t{512} << 10;
inline constexpr size_t kValueChunkBytes = size_t{256} << 10;

class RowChunker {
 public:
  // A message, and whether it is the read's last. False: no more.
  using Sink = std::function<bool(const google::bigtable::v2::ReadRowsResponse& message, bool is_last)>;

  explicit RowChunker(Sink sink) : sink_(std::move(sink)) {}

  // A row, or a piece of one. False: the sink takes no more.
  bool Add(const RowView& row);
  // Sends what is there.
  bool Flush();
  // Everything up to that row was read; nothing is there to be sent, and no row is in progress.
  bool SendScanned(std::string_view row_key);
  bool has_unsent() const { return !message_.chunks().empty(); }
  bool in_row() const { return in_row_; }
  // Sends what is there and, where `full_stats`, the message that ends a read which asked for it.
  bool Finish(const ReadStats& stats, bool full_stats, int64_t elapsed_nanos);

 private:
  using Chunk = google::bigtable::v2::ReadRowsResponse::CellChunk;

  bool AddCell(std::string_view row_key, const CellView& cell, bool is_last);
  bool AddValue(Chunk* chunk, size_t head_bytes, std::string_view value, bool is_last);
  // Sends the message if `bytes` more would be too many.
  bool MakeRoom(size_t bytes);
  bool Send(bool is_last);

  Sink sink_;
  google::bigtable::v2::ReadRowsResponse message_;
  size_t message_bytes_ = 0;
  bool keeps_large_ = false;  // a part of a large value is in the message
  bool in_row_ = false;
  std::string family_;     // of the last cell of the row in progress
  std::string qualifier_;  // likewise
};

}  // namespace stele::server
