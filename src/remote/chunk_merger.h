// remote/chunk_merger.h: the chunks of ReadRowsResponse messages become rows again, and every rule that a chunk breaks is an error.
//
// Path:      remote/row_source.h -> here.
// Units:     bytes.
// Errors:    Internal naming the rule: the server, or what is between, is wrong. Aborted where a row begins anew after pieces of it were
//            shown.
// Threads:   thread-compatible.
// Source:    google.bigtable.v2.ReadRowsResponse.CellChunk.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/row.h"
#include "wire/bigtable.pb.h"

namespace stele::internal {

inline constexpr uint64_t kHandleBytes = 128;  // what a cell's handle counts for where bytes are bounded

class ChunkMerger {
 public:
  using Chunk = google::bigtable::v2::ReadRowsResponse::CellChunk;

  // A row is shown in pieces of about `piece_bytes` each, counted as ReadOptions.row_piece_bytes counts them.
  ChunkMerger(bool reversed, uint64_t piece_bytes) : reversed_(reversed), piece_bytes_(piece_bytes) {}

  // Takes a chunk, its bytes too. True: row() is a row, or a piece of one. An error is for good.
  absl::StatusOr<bool> Add(Chunk* chunk);
  // Valid until the next Add or BeginStream.
  const RowView& row() const { return row_; }

  // A key that the server says it has come to, between rows.
  absl::Status SkipTo(const std::string& row_key);

  // A stream begins, which takes up after last_row_key(): a row that the one before left unfinished comes again from its start.
  absl::Status BeginStream();
  // The stream ended well.
  absl::Status EndStream() const;

  // The last row that was shown as a whole, or that was skipped to; "" before the first.
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
  // Lets go of what row() showed.
  void DropShown();
  void DropRow();

  const bool reversed_;
  const uint64_t piece_bytes_;
  std::string last_row_key_;
  std::string row_key_;  // of the row in progress
  bool in_row_ = false;
  bool in_value_ = false;             // of a value that comes in parts
  bool is_shown_ = false;             // row_ views cells_
  bool has_shown_piece_ = false;      // of the row in progress
  uint64_t value_bytes_ = 0;          // announced, of the value in parts
  uint64_t cell_bytes_ = 0;           // of cells_
  std::deque<std::string> families_;  // what cells_ point to; the last ones are those of the next cell that names none
  std::deque<std::string> qualifiers_;
  std::vector<Cell> cells_;
  std::vector<CellView> views_;
  RowView row_;
};

}  // namespace stele::internal
