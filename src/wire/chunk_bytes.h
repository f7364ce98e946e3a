// wire/chunk_bytes.h: a chunk of a ReadRowsResponse as its bytes.
//
// Protobuf makes a message and up to four strings of every cell before it writes them: more work than to read the cell. Here it is written
// from where it lies.
//
// Path:      steled/read_rows.h -> here.
// Errors:    none.
// Threads:   pure functions.
// Cost:      one copy of the value.
// Source:    google.bigtable.v2.ReadRowsResponse; protobuf's encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stele::internal {

// ReadRowsResponse.CellChunk, with protobuf's defaults; reset_row is never said.
struct CellChunkView {
  std::string_view row_key = {};
  std::optional<std::string_view> family_name = {};
  std::optional<std::string_view> qualifier = {};
  int64_t timestamp_micros = 0;
  std::span<const std::string> labels = {};
  std::string_view value = {};
  uint32_t value_size = 0;
  bool commit_row = false;
};

// How much longer a response becomes by it.
size_t BytesInResponse(const CellChunkView& chunk);

// Appends it to the bytes of a response: protobuf reads it as one more of its chunks.
void AppendChunk(const CellChunkView& chunk, std::string* response);

}  // namespace stele::internal
