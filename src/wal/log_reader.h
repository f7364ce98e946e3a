// wal/log_reader.h: reads the commit log back: every good record in order, and a verdict on where and why it ended.
//
// Rules:     (engine rule 18) A bad record below an offset that a later good record or header attests as synced, or in a log with an end
//            mark, is DataLoss naming segment and offset. Above it the log ends there; whatever follows is discarded, never replayed, and
//            counted. A segment continues another only if its header names that one's end exactly.
// Errors:    DataLoss as above; errors of the file system. Bytes are never trusted: a record's length is checked against the segment.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_system.h"

namespace stele::internal {

// Where a log ended: what the next segment's header must say it follows.
struct LogTail {
  uint64_t segment_number = 0;  // 0: no segment yet
  uint64_t end_offset = 0;
  uint64_t last_checksum = 0;
  uint64_t last_sequence = 0;
  bool clean = false;                   // an end mark was found
  uint64_t discarded_bytes = 0;         // after the end, not replayed: a torn tail
  std::vector<uint64_t> live_numbers;   // segments that hold records, ascending
  std::vector<uint64_t> spare_numbers;  // blank or stale segments, ascending, all above live_numbers
};

struct LogReadOptions {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t database_id = 0;
  uint64_t oldest_segment = 0;  // from the manifest: lower numbers are not read
};

// Visits each record; a visit that does not answer OK ends the reading with that status.
using LogVisitor = std::function<absl::Status(uint64_t sequence, std::string_view payload)>;

absl::StatusOr<LogTail> ReadLog(const LogReadOptions& options, const LogVisitor& visit);

// Makes what ReadLog replayed durable (engine rule 3: before the first new ack).
absl::Status SyncReplayedLog(const LogReadOptions& options, const LogTail& tail);

// One segment as text for `stele dump`: a line a record (offset, sequence, length, checksum state); goes on past damage where it can.
absl::StatusOr<std::string> DumpSegment(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
