// tests/support/wal_guessed_headers.h: values that are full of log record headers, as a malicious
// client can write them.
//
// How:       The client knows the format, the numbers of the next segments and likely offsets. It
//            does not know the nonce of a segment.
// Threads:   Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace stele::internal {

struct GuessedHeaders {
  uint64_t first_segment = 1;  // the headers name `segment_count` segments from this number on
  uint64_t segment_count = 16;
  uint64_t nonce = 0;          // the client's guess
  uint64_t payload_bytes = 0;  // each header claims this payload length, half of it, or a quarter
  size_t value_bytes = 0;      // size of the returned value
  // Filler before the first header; one shift of eight makes it aligned.
  size_t shift_bytes = 0;
};

std::string GuessedRecordHeaders(const GuessedHeaders& guess);

}  // namespace stele::internal
