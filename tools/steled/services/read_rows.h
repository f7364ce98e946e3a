// steled/services/read_rows.h: encodes rows as the chunks of ReadRowsResponse messages.
//
// Clients check these rules. A row's first chunk has its key, family and qualifier. Later chunks
// omit what did not change, and a chunk with a family always has a qualifier. Timestamp and labels
// are in a cell's first chunk. A value above kValueChunkBytes is divided, and every part except the
// last has the length of the whole. The last chunk of the last cell commits the row.
//
// A message ends between two rows: the Go client and cbt reject any other end. Only a row that does
// not fit into the largest message spans several messages.
//
// Used by:   steled/services/row_sender.cc.
// Calls:     its sink, which writes to the stream; remote/wire/chunk_bytes.h.
// Memory:    buffered_bytes(): complete rows up to kMessageBytes, and an incomplete row up to the
//            largest message.
// Errors:    none; a sink that returns false pauses the work.
// Threads:   confined to its call.
// Cost:      one copy of each value, into the buffer that is sent; no protobuf message
//            (remote/wire/chunk_bytes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "remote/wire/bigtable.pb.h"
#include "remote/wire/chunk_bytes.h"
#include "stele/row.h"
#include "stele/stats.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

// Complete rows are sent before they would exceed this size together.
inline constexpr size_t kMessageBytes = size_t{512} << 10;
// The default limit for messages: gRPC's clients accept 4 MiB by default. The difference is for
// clients that count their own overhead.
inline constexpr size_t kDefaultMessageBytesMax = (size_t{4} << 20) - (size_t{4} << 10);
inline constexpr size_t kValueChunkBytes = size_t{256} << 10;

class RowChunker {
 public:
  // Receives an encoded ReadRowsResponse as Call::Send does, and whether it is the last of the
  // read. Returns false if it accepts no more for now.
  using Sink = std::function<bool(std::string framed, bool is_last)>;

  // Messages have at most `message_bytes_max` bytes, which is at least kMessageBytes.
  explicit RowChunker(Sink sink, size_t message_bytes_max = kDefaultMessageBytesMax)
      : sink_(std::move(sink)), message_bytes_max_(message_bytes_max) {}

  // Adds a row or a partial row. Returns false if the sink accepts no more. Then call it again with
  // the same row, and it adds the rest.
  bool Add(const RowView& row);
  // Sends the complete rows.
  bool Flush();
  // Reports that everything up to that row was read. Call only without rows to send and without an
  // incomplete row.
  bool SendScanned(std::string_view row_key);
  // True if complete rows wait to be sent.
  bool has_rows() const { return rows_end_ > kPrefixBytes; }
  bool in_row() const { return in_row_; }
  // The size of what was added and not sent.
  size_t buffered_bytes() const { return framed_.size() - kPrefixBytes; }
  // Sends the rest and, with `full_stats`, the message that ends a read whose client requested it.
  bool Finish(const ReadStats& stats, bool full_stats, int64_t elapsed_nanos);

 private:
  // Adds the rest of the cell, from value_offset_.
  bool AddCell(std::string_view row_key, const CellView& cell, bool is_last);
  internal::CellChunkView FirstChunk(std::string_view row_key, const CellView& cell) const;
  // Adds a chunk. If it would exceed the limit, first sends the chunks before it. Returns false,
  // and has not added it, if the sink accepts no more.
  bool AddChunk(const internal::CellChunkView& chunk);
  // Sends everything, including a part of the incomplete row.
  bool SendAll(bool is_last);
  bool SendMessage(const google::bigtable::v2::ReadRowsResponse& message, bool is_last);

  Sink sink_;
  const size_t message_bytes_max_;
  std::string framed_ = std::string(kPrefixBytes, '\0');
  size_t rows_end_ = kPrefixBytes;  // in framed_: the incomplete row follows
  bool spans_ = false;              // a part of the incomplete row was sent
  bool in_row_ = false;
  std::string family_;     // of the last cell of the incomplete row
  std::string qualifier_;  // likewise
  // Where Add continues: the cell of the row, and the byte of its value.
  size_t next_cell_ = 0;
  size_t value_offset_ = 0;
};

}  // namespace stele::server
