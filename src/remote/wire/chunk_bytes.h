// remote/wire/chunk_bytes.h: encodes a chunk of a ReadRowsResponse directly.
//
// For every cell, protobuf creates a message and up to four strings before it encodes them, which
// is more work than reading the cell. This encodes from the cell's memory.
//
// Used by:   steled/services/read_rows.cc.
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

// ReadRowsResponse.CellChunk, with protobuf's defaults; reset_row is never set.
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

// The number of bytes that it adds to a response.
size_t BytesInResponse(const CellChunkView& chunk);

// Appends it to the encoded response; protobuf reads it as one more chunk.
void AppendChunk(const CellChunkView& chunk, std::string* response);

}  // namespace stele::internal
