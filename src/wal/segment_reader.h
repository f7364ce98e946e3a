// wal/segment_reader.h: reads one segment's header and records from untrusted bytes.
//
// Used by:   wal/log_reader.cc (replay, search for later records), wal/log_dump.cc,
//            db/readable_manifest.cc.
// Format:    wal/log_format.h.
// Errors:    those of the file system; ResourceExhausted if a record's memory is refused;
//            Unimplemented for a format version or feature that this build does not know. Bad bytes
//            are not an error but "no record", which the log reader interprets.
// Cost:      a window of 1 MiB, or one record if that is larger. Searching reads each byte about
//            twice.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "io/file_system.h"
#include "wal/log_format.h"

namespace stele::internal {

class SegmentReader {
 public:
  struct Record {
    RecordHeader header;
    std::string_view payload;  // valid until the next call
    uint64_t offset = 0;
    uint64_t end_offset = 0;
  };

  // `number` is the number in the file's name.
  static absl::StatusOr<SegmentReader> Open(FileSystem* file_system, const std::string& path,
                                            uint64_t number);

  // The first intact header copy; nullptr: none is intact.
  const SegmentHeader* header() const { return header_ ? &*header_ : nullptr; }
  // True if the header belongs to the file's present use: it has the file's number (and the
  // database id, if given), so the file was not merely recycled.
  bool IsStarted(std::optional<uint64_t> database_id) const;
  // Returns Unimplemented if the header has a format version or features that this build does not
  // know.
  absl::Status CheckVersion() const;
  uint64_t file_bytes() const { return file_bytes_; }
  const std::string& path() const { return path_; }

  // Returns the record at `offset` if it is good. The segment must have a header.
  absl::StatusOr<std::optional<Record>> ReadRecord(uint64_t offset);
  // Returns the first good record at or after `offset` (a multiple of 8). If a header's checksum is
  // correct but the payload's is not, the search continues after the payload.
  absl::StatusOr<std::optional<Record>> FindRecord(uint64_t offset);
  // The end of the record that begins at `offset`, according to its header; nullopt if the header
  // is bad.
  absl::StatusOr<std::optional<uint64_t>> ClaimedEnd(uint64_t offset);

 private:
  SegmentReader(std::unique_ptr<File> file, uint64_t number, uint64_t file_bytes);

  RecordPlace Place(uint64_t offset) const {
    return {number_, header_ ? header_->nonce : 0, offset};
  }
  // Returns the bytes in memory from `offset` on: at least `bytes_min` bytes unless the file ends
  // before. Valid until the next call.
  absl::StatusOr<std::string_view> Window(uint64_t offset, uint64_t bytes_min);
  absl::Status ReadHeader();

  std::unique_ptr<File> file_;
  std::string path_;
  uint64_t number_ = 0;
  uint64_t file_bytes_ = 0;
  std::optional<SegmentHeader> header_;
  Buffer window_;
  uint64_t window_offset_ = 0;
  uint64_t window_bytes_ = 0;
};

}  // namespace stele::internal
