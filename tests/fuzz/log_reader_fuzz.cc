// tests/fuzz/log_reader_fuzz.cc: reads any bytes as a log segment, also around damage, dumps them,
// and starts a log after them. Each ends with a status, in bounded time and memory.
//
// Input:     If byte 0 is 0, the other bytes are used unchanged. Otherwise the checksums of header
//            and records are corrected first, so that mutations pass them. The other bytes are the
//            file 000001.log of database 0x5eed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/checksum.h"
#include "base/coding.h"
#include "io/file_names.h"
#include "io/mem_file_system.h"
#include "wal/commit_log.h"
#include "wal/log_format.h"
#include "wal/log_reader.h"

namespace {

using namespace stele::internal;  // a fuzz target has no interface

constexpr uint64_t kDatabaseId = 0x5eed;

void RepairChecksums(std::string& bytes) {
  if (bytes.size() < kFirstRecordOffset) return;
  StoreFixed64(bytes.data() + kSegmentHeaderBytes - 8,
               Checksum64(std::string_view(bytes).substr(0, kSegmentHeaderBytes - 8)));
  const std::optional<SegmentHeader> header =
      DecodeSegmentHeader(std::string_view(bytes).substr(0, kSegmentHeaderBytes));
  if (!header.has_value()) return;
  uint64_t previous_checksum = header->previous_checksum;
  for (uint64_t offset = kFirstRecordOffset; offset + kRecordHeaderBytes <= bytes.size();) {
    const RecordPlace place{header->segment_number, header->nonce, offset};
    StoreFixed64(bytes.data() + offset,
                 RecordHeaderChecksum(std::string_view(bytes).substr(offset), place));
    const auto record =
        DecodeRecordHeader(std::string_view(bytes).substr(offset), place, bytes.size());
    if (!record.has_value()) return;
    RecordHeader repaired = *record;
    repaired.previous_checksum = previous_checksum;
    const std::string payload = bytes.substr(offset + kRecordHeaderBytes, record->payload_bytes);
    previous_checksum = EncodeRecord(repaired, payload, place, bytes.data() + offset);
    offset += RecordBytes(payload.size());
  }
}

void Require(bool condition) {
  if (!condition) std::abort();
}

void ReadDamaged(MemFileSystem* file_system, AtDamage at_damage, size_t file_bytes) {
  const LogReadOptions options{.file_system = file_system,
                               .directory = "",
                               .database_id = kDatabaseId,
                               .at_damage = at_damage};
  uint64_t visited_bytes = 0;
  uint64_t last_sequence = 0;
  const auto tail = ReadLog(options, [&](uint64_t sequence, std::string_view payload) {
    Require(sequence > last_sequence);
    last_sequence = sequence;
    visited_bytes += payload.size();
    return absl::OkStatus();
  });
  Require(visited_bytes <= file_bytes);
  if (!tail.ok()) return;
  Require(at_damage == AtDamage::kSkip || tail->damages.size() <= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] != 0) RepairChecksums(bytes);
  MemFileSystem file_system;
  const std::string path = SegmentName(1);
  {
    auto file = file_system.Open(path, OpenMode::kCreate);
    Require(file.ok() && (*file)->Write(0, bytes).ok());
  }
  DumpSegment(&file_system, path).status().IgnoreError();
  const LogReadOptions read_options{&file_system, "", kDatabaseId, 0};
  uint64_t visited_bytes = 0;
  uint64_t last_sequence = 0;
  const auto tail = ReadLog(read_options, [&](uint64_t sequence, std::string_view payload) {
    Require(sequence > last_sequence);
    last_sequence = sequence;
    visited_bytes += payload.size();
    return absl::OkStatus();
  });
  Require(visited_bytes <= bytes.size());
  for (const AtDamage at_damage : {AtDamage::kStop, AtDamage::kSkip})
    ReadDamaged(&file_system, at_damage, bytes.size());
  if (!tail.ok()) return 0;
  // The records that were read must be read again after a new segment.
  Require(SyncReplayedLog(read_options, *tail).ok());
  CommitLogOptions options;
  options.file_system = &file_system;
  options.database_id = kDatabaseId;
  options.first_segment_bytes = 4096;
  uint64_t number = 1;
  options.next_file_number = [&number] { return ++number; };
  const auto log = CommitLog::Start(options, *tail);
  Require(log.ok());
  const auto again =
      ReadLog(read_options, [](uint64_t, std::string_view) { return absl::OkStatus(); });
  Require(again.ok() && again->last_sequence == tail->last_sequence);
  return 0;
}
