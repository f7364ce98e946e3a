// wal/segment_writer.h: writes records to the active segment: encodes them into one buffer, writes
// them with one call, and keeps track of the log's end.
//
// Used by:   wal/commit_log.cc.
// Calls:     io/file_system.h.
// Format:    wal/log_format.h.
// Errors:    after a failed write end() is unchanged and the segment is sealed: HasRoom is false
//            until Begin.
// Threads:   for the one thread that appends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "base/buffer.h"
#include "io/file_system.h"
#include "wal/log_format.h"
#include "wal/spare_segments.h"

namespace stele::internal {

// The end of the good records.
struct LogEnd {
  LogPosition position;
  uint64_t checksum = 0;
  uint64_t sequence = 0;
};

class SegmentWriter {
 public:
  explicit SegmentWriter(const LogEnd& end) : end_(end) {}

  const LogEnd& end() const { return end_; }
  // True if `record_bytes` more fit, and an end mark after them.
  bool HasRoom(uint64_t record_bytes) const;
  static uint64_t FileBytesFor(uint64_t record_bytes) {
    return kFirstRecordOffset + record_bytes + RecordBytes(0);
  }

  // Continues in `segment`. Its header is written together with the first records; until then the
  // log's end is unchanged.
  void Begin(const BlankSegment& segment, uint64_t database_id, const LogPosition& synced_end);
  bool IsBegun() const {
    return file_ != nullptr && end_.position.segment_number != header_.segment_number;
  }

  // Allocates memory for a Write of `record_bytes`.
  absl::Status ReserveBuffer(uint64_t record_bytes);
  // What the records state as synced: bytes of this segment, and of the manifest. Without records
  // Write writes only the header, if it is due.
  struct KnownSynced {
    uint64_t offset = 0;
    SyncedManifestEnd manifest;
  };
  absl::Status Write(std::span<const LogRecord> records, RecordType type,
                     const KnownSynced& known_synced);

 private:
  std::shared_ptr<File> file_;  // nullptr: sealed
  uint64_t file_bytes_ = 0;
  SegmentHeader header_;
  LogEnd end_;
  Buffer buffer_;
};

}  // namespace stele::internal
