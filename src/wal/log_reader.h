// wal/log_reader.h: reads the commit log back: every good record in order, and a verdict on where and why it ended.
//
// Rules:     (engine rule 18) A bad record below an offset that a later good record or header attests as synced, or in a log with an end
//            mark, is DataLoss naming segment and offset. Above it the log ends there; whatever follows is discarded, never replayed, and
//            counted. A segment continues another only if its header names that one's end exactly.
//            Of two segments that follow the same one the higher number counts: the writer gave the lower up when its first write failed.
// Errors:    DataLoss as above, also when a file is shorter than what was prepared, or when the segment that the manifest names is not
//            there; FailedPrecondition for a newer format; errors of the file system and of the visit. Bytes are never trusted.
// Limits:    a segment that is lost whole, or both copies of its header, is noticed only when a later one attests it.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_names.h"
#include "io/file_system.h"
#include "wal/log_format.h"

namespace stele::internal {

// Where the records of one segment end.
struct SegmentEnd {
  uint64_t offset = 0;
  uint64_t last_sequence = 0;  // of its last record, or of the one before the segment
};

// Where a log ended: what the next segment's header must say it follows.
struct LogTail {
  uint64_t segment_number = 0;  // 0: no segment yet
  uint64_t end_offset = 0;
  uint64_t last_checksum = 0;
  uint64_t last_sequence = 0;
  bool clean = false;                   // an end mark was found
  uint64_t discarded_bytes = 0;         // after the end, not replayed: a torn tail
  uint64_t released_sequence = 0;       // the last before the first segment: records up to it are in no segment
  LogPosition synced_end;               // everything before it is attested as synced
  ManifestReach manifest_reach;         // so far the manifest was synced, the records say
  std::vector<uint64_t> live_numbers;   // segments that the log goes through, ascending
  std::vector<SegmentEnd> live_ends;    // of each of live_numbers
  std::vector<uint64_t> spare_numbers;  // all others: blank, stale, discarded, or below oldest_segment; ascending
};

struct LogReadOptions {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t database_id = 0;
  uint64_t oldest_segment = 0;  // from the manifest: lower numbers are not read; unless 0, this one must be there
  // Of a log that is being written: where the reading ends, for what stands there and behind may be
  // half written. {}: at the log's own end.
  LogPosition end = {};
  uint64_t number_end = kFileNumberEnd;  // other files are strays (io/file_names.h), no segments
};

// Visits each record; a visit that does not answer OK ends the reading with that status.
using LogVisitor = std::function<absl::Status(uint64_t sequence, std::string_view payload)>;

absl::StatusOr<LogTail> ReadLog(const LogReadOptions& options, const LogVisitor& visit);

// Makes what ReadLog replayed durable (engine rule 3: before the first new ack). What is not attested as synced is written again first:
// after a failed sync the system may show bytes that are on no disk and that no later sync would write. CommitLog::Start comes after it:
// the new segment's header attests what was replayed as synced.
absl::Status SyncReplayedLog(const LogReadOptions& options, const LogTail& tail);

// One segment as text for `stele dump`: a line a record (offset, sequence, length, checksum state); goes on past damage where it can.
absl::StatusOr<std::string> DumpSegment(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
