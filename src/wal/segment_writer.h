// wal/segment_writer.h: the writing end of the log: frames records into one buffer, writes them with one call, keeps where the log ends.
//
// Path:      commit_log.cc -> here -> io.
// Format:    wal/log_format.h.
// Errors:    a failed write leaves end() where it was and the segment sealed: HasRoom is false until Begin.
// Threads:   for the one thread that appends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "base/buffer.h"
#include "io/file_system.h"
#include "wal/commit_log.h"
#include "wal/log_format.h"
#include "wal/spare_segments.h"

namespace stele::internal {

// Where the good records end.
struct LogEnd {
  LogPosition position;
  uint64_t checksum = 0;
  uint64_t sequence = 0;
};

class SegmentWriter {
 public:
  explicit SegmentWriter(const LogEnd& end) : end_(end) {}

  const LogEnd& end() const { return end_; }
  // Room for `record_bytes` more and for an end mark behind them.
  bool HasRoom(uint64_t record_bytes) const;
  static uint64_t FileBytesFor(uint64_t record_bytes) { return kFirstRecordOffset + record_bytes + RecordBytes(0); }

  // Goes on in `segment`. Its header is written together with the first records: until then the log ends where it did.
  void Begin(const BlankSegment& segment, uint64_t database_id, const LogPosition& synced_end);
  bool IsBegun() const { return file_ != nullptr && end_.position.segment_number != header_.segment_number; }

  // Memory for a Write of `record_bytes`.
  absl::Status ReserveBuffer(uint64_t record_bytes);
  // `attested`: what the records say was synced: bytes of this segment, and of the manifest. No records: only the header, if it is due.
  struct Attested {
    uint64_t offset = 0;
    ManifestReach manifest;
  };
  absl::Status Write(std::span<const LogRecord> records, RecordType type, const Attested& attested);

 private:
  std::shared_ptr<File> file_;  // nullptr: sealed
  uint64_t file_bytes_ = 0;
  SegmentHeader header_;
  LogEnd end_;
  Buffer buffer_;
};

}  // namespace stele::internal
