// support/wal_guessed_headers.h: values that are full of log record headers, as a hostile client can make them.
//
// How:       the client knows the format, the numbers of the next segments and likely offsets. It does not know
//            the nonce of a segment.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace stele::internal {

struct GuessedHeaders {
  uint64_t first_segment = 1;  // the headers are those of `segment_count` segments from here on
  uint64_t segment_count = 16;
  uint64_t nonce = 0;          // the client's guess
  uint64_t payload_bytes = 0;  // each header claims this length, the half of it or a quarter
  size_t value_bytes = 0;      // of the answer
  size_t shift_bytes = 0;      // of filler before the first header, so that one shift of eight is aligned
};

std::string GuessedRecordHeaders(const GuessedHeaders& guess);

}  // namespace stele::internal
