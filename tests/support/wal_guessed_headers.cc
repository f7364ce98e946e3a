#include "support/wal_guessed_headers.h"

#include <algorithm>

#include "wal/log_format.h"

namespace stele::internal {

std::string GuessedRecordHeaders(const GuessedHeaders& guess) {
  std::string headers;
  std::string record;
  for (const uint64_t payload_bytes :
       {guess.payload_bytes, guess.payload_bytes / 2, guess.payload_bytes / 4}) {
    const std::string payload(payload_bytes, 'p');
    record.resize(RecordBytes(payload_bytes));
    for (uint64_t i = 0; i < guess.segment_count; ++i) {
      const RecordHeader header{.sequence = uint64_t{1} << 40};
      EncodeRecord(header, payload, {guess.first_segment + i, guess.nonce, kFirstRecordOffset},
                   record.data());
      headers += record.substr(0, kRecordHeaderBytes);
    }
  }
  std::string value(std::min(guess.shift_bytes, guess.value_bytes), 's');
  while (value.size() < guess.value_bytes) value += headers;
  value.resize(guess.value_bytes);
  return value;
}

}  // namespace stele::internal
