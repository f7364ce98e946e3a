// steled/row_merger.h: assembles rows from chunks as a strict client does, and records every
// violated rule.
#pragma once

#include <string>
#include <vector>

#include "remote/wire/bigtable.pb.h"
#include "steled/services/read_rows.h"

namespace stele::server {

class RowMerger {
 public:
  // `message_bytes_max` is the server's --max-message-bytes.
  explicit RowMerger(bool reversed = false, size_t message_bytes_max = kDefaultMessageBytesMax)
      : reversed_(reversed), message_bytes_max_(message_bytes_max) {}

  void Take(const google::bigtable::v2::ReadRowsResponse& message);
  // Checks that no row is incomplete.
  void End();

  // "KEY f:q@1000=value f:q@900=value#label", with cells in the order in which they came. Values
  // above 40 bytes are "<N bytes of 'x'>" if all bytes are equal, else "<N bytes>".
  const std::vector<std::string>& rows() const { return rows_; }
  // Violated rules.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void TakeChunk(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk);
  void BeginCell(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk);
  void EndCell();
  void Expect(bool holds, const std::string& rule);

  const bool reversed_;
  const size_t message_bytes_max_;
  size_t row_bytes_ = 0;  // chunks of the incomplete row
  bool spans_ = false;    // the incomplete row began in an earlier message
  std::vector<std::string> rows_;
  std::vector<std::string> errors_;
  std::string last_row_key_;
  bool has_last_row_ = false;
  bool in_row_ = false;
  bool in_value_ = false;  // inside a value that comes in parts
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
