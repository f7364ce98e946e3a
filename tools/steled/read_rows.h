// steled/read_rows.h: rows become the chunks of ReadRowsResponse messages.
//
// The rules a client's state machine checks: a row's first chunk bears its key, family and qualifier; later ones leave out what did not
// change, and a family never comes without a qualifier; a timestamp and labels stand on a cell's first chunk; a value above
// kValueChunkBytes is cut, and every part but the last states the length of the whole; the last chunk of the last cell commits the row.
//
// A message ends between two rows: the Go client and cbt refuse any other end. Only a row that does not fit into the largest message
// spans several.
//
// Path:      data_service -> RowChunker -> its sink, which writes to the stream.
// Errors:    none of its own; a sink that answers false ends the work.
// Threads:   confined to the call that it serves.
// Cost:      one copy of each value, into the bytes that are sent; no message of protobuf's (wire/chunk_bytes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stele/row.h"
#include "stele/stats.h"
#include "transport/call.h"
#include "wire/bigtable.pb.h"
#include "wire/chunk_bytes.h"

namespace stele::server {

// Whole rows are sent before they would pass this together.
inline constexpr size_t kMessageBytes = size_t{512} << 10;
// The largest message by default: gRPC's clients take 4 MiB unless told otherwise. The rest is for a client that counts its own overhead.
inline constexpr size_t kDefaultMessageBytesMax = (size_t{4} << 20) - (size_t{4} << 10);
inline constexpr size_t kValueChunkBytes = size_t{256} << 10;

class RowChunker {
 public:
  // A ReadRowsResponse as Call::Send takes it, and whether it is the read's last. False: no more.
  using Sink = std::function<bool(std::string framed, bool is_last)>;

  // No message is above `message_bytes_max`, which is at least kMessageBytes.
  explicit RowChunker(Sink sink, size_t message_bytes_max = kDefaultMessageBytesMax)
      : sink_(std::move(sink)), message_bytes_max_(message_bytes_max) {}

  // A row, or a piece of one. False: the sink takes no more.
  bool Add(const RowView& row);
  // Sends the rows that are whole.
  bool Flush();
  // Everything up to that row was read; nothing is there to be sent, and no row is in progress.
  bool SendScanned(std::string_view row_key);
  // Rows that are whole wait to be sent.
  bool has_rows() const { return rows_end_ > kPrefixBytes; }
  bool in_row() const { return in_row_; }
  // Sends what is there and, where `full_stats`, the message that ends a read which asked for it.
  bool Finish(const ReadStats& stats, bool full_stats, int64_t elapsed_nanos);

 private:
  bool AddCell(std::string_view row_key, const CellView& cell, bool is_last);
  // Sends first what would become too much.
  bool AddChunk(const internal::CellChunkView& chunk);
  // Sends what is there; of the row in progress the rest follows.
  bool SendAll(bool is_last);
  bool SendMessage(const google::bigtable::v2::ReadRowsResponse& message, bool is_last);

  Sink sink_;
  const size_t message_bytes_max_;
  std::string framed_ = std::string(kPrefixBytes, '\0');
  size_t rows_end_ = kPrefixBytes;  // in framed_: behind it is the row in progress
  bool spans_ = false;              // a part of the row in progress was sent
  bool in_row_ = false;
  std::string family_;     // of the last cell of the row in progress
  std::string qualifier_;  // likewise
};

}  // namespace stele::server
