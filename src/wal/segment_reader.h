// wal/segment_reader.h: one segment's header and records out of bytes that may be anything.
//
// Path:      log_reader.cc (replay, search for attestations), log_dump.cc -> here.
// Format:    wal/log_format.h.
// Errors:    those of the file system; ResourceExhausted when a record's memory is refused; FailedPrecondition for a format version or
//            feature that this build does not know. Bad bytes are no error here but "no record": what that means is the log reader's to
//            say.
// Cost:      a window of 1 MiB, or one record if that is larger. Searching reads each byte about twice, whatever the bytes are.
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
    std::string_view payload;  // until the next call
    uint64_t offset = 0;
    uint64_t end_offset = 0;
  };

  // `number` is what the file's name says.
  static absl::StatusOr<SegmentReader> Open(FileSystem* file_system, const std::string& path, uint64_t number);

  // The first header copy that is whole, whatever it says; nullptr: neither is.
  const SegmentHeader* header() const { return header_ ? &*header_ : nullptr; }
  // True when the header is this file's own: its number (and the database's, if given) and not a recycled file's.
  bool IsStarted(std::optional<uint64_t> database_id) const;
  // FailedPrecondition when the header asks for more than this build knows.
  absl::Status CheckVersion() const;
  uint64_t file_bytes() const { return file_bytes_; }
  const std::string& path() const { return path_; }

  // The record at `offset` when there is a good one. Needs a header.
  absl::StatusOr<std::optional<Record>> ReadRecord(uint64_t offset);
  // The first good record at `offset` (a multiple of 8) or after. A header with a good checksum was written there, so the
  // bytes of its payload are passed over.
  absl::StatusOr<std::optional<Record>> FindRecord(uint64_t offset);
  // Where the record that begins at `offset` was to end; nullopt when not even its header is good.
  absl::StatusOr<std::optional<uint64_t>> ClaimedEnd(uint64_t offset);

 private:
  SegmentReader(std::unique_ptr<File> file, uint64_t number, uint64_t file_bytes);

  RecordPlace Place(uint64_t offset) const { return {number_, header_ ? header_->nonce : 0, offset}; }
  // What memory holds from `offset` on: at least `bytes_min` bytes unless the file ends before; valid until the next call.
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
