// remote/client/chunk_merger.h: assembles rows from the chunks of ReadRowsResponse messages. Every
// violation of the protocol is an error.
//
// Used by:   remote/client/row_source.cc.
// Units:     bytes.
// Errors:    Internal naming the violated rule: the server, or a proxy in between, is wrong.
//            Aborted if a row restarts after parts of it were returned.
// Threads:   thread-compatible.
// Source:    google.bigtable.v2.ReadRowsResponse.CellChunk.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/bigtable.pb.h"
#include "stele/row.h"

namespace stele::internal {

// The size of a cell's handle in limits for bytes.
inline constexpr uint64_t kCellObjectBytes = 128;

class ChunkMerger {
 public:
  using Chunk = google::bigtable::v2::ReadRowsResponse::CellChunk;

  // A large row is returned in partial rows of about `piece_bytes` each, counted as for
  // ReadOptions.row_piece_bytes.
  ChunkMerger(bool reversed, uint64_t piece_bytes)
      : reversed_(reversed), piece_bytes_(piece_bytes) {}

  // Consumes a chunk and moves its bytes. Returns true if row() is a row or a partial row. After an
  // error the merger must not be used.
  absl::StatusOr<bool> Add(Chunk* chunk);
  // Valid until the next Add or BeginStream.
  const RowView& row() const { return row_; }

  // Handles a key that the server reports as reached, between rows.
  absl::Status SkipTo(const std::string& row_key);

  // Begins a stream that continues after last_row_key(). A row that the previous stream left
  // incomplete comes again from its start.
  absl::Status BeginStream();
  // Checks that the stream ended between rows.
  absl::Status EndStream() const;

  // The last row that was returned completely or skipped to; "" before the first.
  const std::string& last_row_key() const { return last_row_key_; }

 private:
  struct Cell {
    const std::string* family = nullptr;
    const std::string* qualifier = nullptr;
    int64_t timestamp_micros = 0;
    std::string value;
    std::vector<std::string> labels;
  };

  absl::Status BeginRow(Chunk* chunk);
  absl::Status BeginCell(Chunk* chunk);
  absl::Status ContinueCell(const Chunk& chunk);
  absl::Status ResetRow(const Chunk& chunk);
  absl::Status Broken(std::string_view rule) const;
  absl::Status CheckAscends(const std::string& row_key) const;
  bool IsPieceFull() const;
  void Show(bool is_last_piece);
  // Releases the cells that row() returned.
  void DropShown();
  void DropRow();

  const bool reversed_;
  const uint64_t piece_bytes_;
  std::string last_row_key_;
  std::string row_key_;  // of the incomplete row
  bool in_row_ = false;
  bool in_value_ = false;         // inside a value that comes in several chunks
  bool is_shown_ = false;         // row_ views cells_
  bool has_shown_piece_ = false;  // a part of the incomplete row was returned
  uint64_t value_bytes_ = 0;      // announced size of the value that comes in several chunks
  uint64_t cell_bytes_ = 0;       // of cells_
  // The strings that cells_ point to. The last ones apply to the next cell if it has no names.
  std::deque<std::string> families_;
  std::deque<std::string> qualifiers_;
  std::vector<Cell> cells_;
  std::vector<CellView> views_;
  RowView row_;
};

}  // namespace stele::internal
