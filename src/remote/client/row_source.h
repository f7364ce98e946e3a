// remote/client/row_source.h: the rows of a ReadRows call. If the connection breaks, it continues
// after the last row.
//
// A read of many keys and ranges is sent in several requests, one after the other, so that no
// request is larger than servers accept.
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
#include "remote/client/chunk_merger.h"
#include "remote/client/connection.h"
#include "remote/client/read_stream.h"

namespace stele::internal {

// Returns the parts of the ascending `ranges` that follow the row `last` in the order of reading.
// "": no row was read.
std::vector<KeyRange> RowsAfter(std::vector<KeyRange> ranges, const std::string& last,
                                bool reversed);

class RemoteRowSource final : public RowSource {
 public:
  struct Request {
    std::string table_name;  // projects/.../tables/...
    std::vector<KeyRange> ranges;
    google::bigtable::v2::RowFilter filter;
  };

  RemoteRowSource(std::shared_ptr<const RemoteConnection> connection, Request request,
                  const ReadOptions& options);

  bool Next() override;
  const RowView& row() const override { return merger_.row(); }
  absl::Status status() const override { return status_; }
  ReadStats stats() const override { return stats_; }

 private:
  // Opens a stream for the remaining rows. Returns false if there are none, or if the read has
  // failed.
  bool BeginStream();
  // Returns the next row of the message in row(). Returns false if it has no more, or if the read
  // has failed.
  bool TakeFromMessage();
  // Reads a message. Returns false if the read is finished or has failed.
  bool ReadMessage();
  // Call after the stream's last message. Returns false if the read has failed.
  bool FinishStream();
  bool Fail(absl::Status status);
  const std::shared_ptr<const RemoteConnection> connection_;
  const Request request_;
  const bool reversed_;
  int64_t rows_left_;                                        // until the limit; 0: no limit
  const std::function<void(std::string_view)> on_progress_;  // may be empty
  RemoteCall call_;
  ChunkMerger merger_;
  std::vector<KeyRange> ranges_;  // not read yet
  std::vector<KeyRange> later_;   // the part of them that is not in the stream's request
  std::optional<ReadStream> stream_;
  google::bigtable::v2::ReadRowsResponse message_;
  int next_chunk_ = 0;
  bool is_over_ = false;
  absl::Status status_;
  ReadStats stats_ = {.is_work_known = false};  // only what was returned
};

}  // namespace stele::internal
