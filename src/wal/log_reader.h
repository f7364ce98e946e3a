// wal/log_reader.h: reads the log for recovery: every good record in order, and where and why the
// log ended.
//
// Used by:   db/recovery.cc, db/open.cc, admin/verify.cc, wal/log_dump.cc.
// Calls:     wal/segment_reader.h.
// Rules:     (engine rule 18) A bad record is DataLoss with segment and offset if the log has an
//            end mark, or if a later good record or header proves that the offset was synced.
//            Otherwise the log ends there; everything after it is discarded, never replayed, and
//            counted. A segment continues another one only if its header names that one's exact
//            end. If two segments follow the same one, the higher number is valid: the writer
//            abandoned the lower one when its first write failed. A read-only open may read the log
//            up to such a place, or around it (AtDamage).
// Errors:    DataLoss as above, also if a file is shorter than its prepared size, or if the segment
//            that the manifest names does not exist; Unimplemented for another format version;
//            errors of the file system and of the visitor. Bytes are never trusted.
// Limits:    if a segment is lost, or both copies of its header, this is detected only if a later
//            one proves that it existed.
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
  uint64_t last_sequence = 0;  // of its last record, or of the last one before the segment
};

// What to do at a bad record if a later record or header proves that it was synced.
enum class AtDamage : uint8_t {
  kFail,  // return DataLoss
  kStop,  // the log ends there; DataLoss if the first segment is missing
  kSkip,  // continue with the next good record
};

// A place where the log cannot be read.
struct LogDamage {
  std::string file;  // its name, without the directory
  uint64_t offset = 0;
  uint64_t last_sequence = 0;  // of the last record before it; 0: unknown
  // Commits after last_sequence, up to this one, may be lost. UINT64_MAX: all later ones.
  uint64_t lost_through = UINT64_MAX;
  std::string what;
};

// The result of ReadLog: the end of the log, which the header of the next segment must name, and
// what was found on the way.
struct LogTail {
  uint64_t segment_number = 0;  // 0: no segment yet
  uint64_t end_offset = 0;
  uint64_t last_checksum = 0;
  uint64_t last_sequence = 0;
  bool clean = false;            // an end mark was found
  uint64_t discarded_bytes = 0;  // after the end, not replayed: a torn tail
  // The last sequence before the first segment. Records up to it are in no segment.
  uint64_t released_sequence = 0;
  LogPosition synced_end;  // everything before it is proved to be synced
  SyncedManifestEnd
      synced_manifest_end;  // how far the manifest was synced, according to the records
  SyncedManifestEnd closed_manifest_end;  // the same, if `clean`, according to the end mark alone
  std::vector<uint64_t> live_numbers;     // the segments of the log, ascending
  std::vector<SegmentEnd> live_ends;      // one for each of live_numbers
  // All other segments: blank, stale, discarded, or below oldest_segment; ascending.
  std::vector<uint64_t> spare_numbers;
  std::vector<LogDamage> damages;  // in the order of the log; with kStop at most one that lost data
};

struct LogReadOptions {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t database_id = 0;
  // From the manifest: segments with lower numbers are not read. If it is not 0, this segment must
  // exist.
  uint64_t oldest_segment = 0;
  // Where to stop reading a log that is being written, since bytes from there on may be incomplete.
  // {}: read to the end of the log.
  LogPosition end = {};
  AtDamage at_damage = AtDamage::kFail;
  // Files with higher numbers are not segments (io/file_names.h).
  uint64_t number_end = kFileNumberEnd;
};

// Called for each record. An error ends the reading and is returned.
using LogVisitor = std::function<absl::Status(uint64_t sequence, std::string_view payload)>;

absl::StatusOr<LogTail> ReadLog(const LogReadOptions& options, const LogVisitor& visit);

// Makes the records that ReadLog replayed durable (engine rule 3: before the first new
// acknowledgement). Bytes that are not proved to be synced are written again first. After a failed
// sync, the system may show bytes that are not on disk and that no later sync would write.
// CommitLog::Start is called afterwards: the header of the new segment records the replayed part as
// synced.
absl::Status SyncReplayedLog(const LogReadOptions& options, const LogTail& tail);

// Returns one segment as text for `stele dump`: one line per record (offset, sequence, length,
// checksum state). Continues after corruption if possible.
absl::StatusOr<std::string> DumpSegment(FileSystem* file_system, const std::string& path);

}  // namespace stele::internal
