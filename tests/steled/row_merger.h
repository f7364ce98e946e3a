// steled/row_merger.h: puts chunks together to rows as a strict client does, and notes every rule that a chunk breaks.
#pragma once

#include <string>
#include <vector>

#include "read_rows.h"
#include "wire/bigtable.pb.h"

namespace stele::server {

class RowMerger {
 public:
  // `message_bytes_max`: the server's --max-message-bytes.
  explicit RowMerger(bool reversed = false, size_t message_bytes_max = kDefaultMessageBytesMax)
      : reversed_(reversed), message_bytes_max_(message_bytes_max) {}

  void Take(const google::bigtable::v2::ReadRowsResponse& message);
  // No row is in progress.
  void End();

  // "KEY f:q@1000=value f:q@900=value#label", cells in the order in which they came; values above 40 bytes as "<N bytes of 'x'>" where all
  // bytes are alike, else "<N bytes>".
  const std::vector<std::string>& rows() const { return rows_; }
  // Broken rules.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void TakeChunk(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk);
  void BeginCell(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk);
  void EndCell();
  void Expect(bool holds, const std::string& rule);

  const bool reversed_;
  const size_t message_bytes_max_;
  size_t row_bytes_ = 0;  // chunks of the row in progress
  bool spans_ = false;    // the row in progress began in an earlier message
  std::vector<std::string> rows_;
  std::vector<std::string> errors_;
  std::string last_row_key_;
  bool has_last_row_ = false;
  bool in_row_ = false;
  bool in_value_ = false;  // of a value that comes in parts
  bool has_column_ = false;
  std::string row_key_;
  std::string family_;
  std::string qualifier_;
  std::string labels_;
  std::string value_;
  int64_t timestamp_micros_ = 0;
  size_t value_bytes_ = 0;  // announced
  std::string text_;
};

}  // namespace stele::server
