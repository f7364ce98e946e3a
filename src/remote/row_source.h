// remote/row_source.h: the rows of a ReadRows call, taken up after the last one when the connection breaks.
//
// A read of many keys and ranges is asked for in parts, one request after the other, so that no request grows beyond what a server takes.
//
// Errors:    the server's, those of RemoteCall and of ChunkMerger.
// Threads:   one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/backend.h"
#include "model/row_ranges.h"
#include "remote/chunk_merger.h"
#include "remote/connection.h"
#include "remote/read_stream.h"

namespace stele::internal {

// What of `ranges`, which ascend, a read still has to give after the row `last`; "" is none.
std::vector<KeyRange> RowsAfter(std::vector<KeyRange> ranges, const std::string& last, bool reversed);

class RemoteRowSource final : public RowSource {
 public:
  struct Request {
    std::string table_name;  // projects/.../tables/...
    std::vector<KeyRange> ranges;
    google::bigtable::v2::RowFilter filter;
  };

  RemoteRowSource(std::shared_ptr<const RemoteConnection> connection, Request request, const ReadOptions& options);

  bool Next() override;
  const RowView& row() const override { return merger_.row(); }
  absl::Status status() const override { return status_; }
  ReadStats stats() const override { return stats_; }

 private:
  // Opens a stream for the rows that are left. False: none are, or the read has failed.
  bool BeginStream();
  // Shows the next row of the message. False: it has none left, or the read has failed.
  bool TakeFromMessage();
  // Reads a message. False: the read is over, or has failed.
  bool ReadMessage();
  // After the stream's last message. False: the read has failed.
  bool FinishStream();
  bool Fail(absl::Status status);
  const std::shared_ptr<const RemoteConnection> connection_;
  const Request request_;
  const bool reversed_;
  int64_t rows_left_;                                        // of the limit; 0: no limit
  const std::function<void(std::string_view)> on_progress_;  // may be empty
  RemoteCall call_;
  ChunkMerger merger_;
  std::vector<KeyRange> ranges_;  // not read yet
  std::vector<KeyRange> later_;   // of these, what the stream was not asked for
  std::optional<ReadStream> stream_;
  google::bigtable::v2::ReadRowsResponse message_;
  int next_chunk_ = 0;
  bool is_over_ = false;
  absl::Status status_;
  ReadStats stats_;
};

}  // namespace stele::internal
