// tests/fuzz/trace_blocks_fuzz.cc: reads any bytes as a binary trace.
//
// Finds:     a read beyond the bytes; a loop; a record that is not the same after it was written
//            and read again.
// Input:     If byte 0 is 0, the other bytes are used unchanged. Otherwise the checksums of the
//            header and the blocks are corrected first, so that mutations pass them. If byte 0 is
//            2, the other bytes are the plain payload of one block.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/invariant.h"
#include "support/trace_testing.h"
#include "trace/trace_encoding.h"

namespace {

using namespace stele::internal;  // a fuzz target has no interface

void RepairChecksums(std::string* file) {
  if (file->size() < kTraceHeaderBytes) return;
  StoreFixed64(file->data() + kTraceHeaderBytes - 8,
               Checksum64(std::string_view(*file).substr(0, kTraceHeaderBytes - 8)));
  const auto header = DecodeTraceHeader(std::string_view(*file).substr(0, kTraceHeaderBytes));
  if (!header.ok()) return;
  size_t at = file->find(kTraceBlockMagic, kTraceHeaderBytes);
  while (at != std::string::npos && at + kTraceBlockHeaderBytes <= file->size()) {
    const uint64_t seed = TraceBlockSeed(*header, at);
    const std::string_view payload = std::string_view(*file).substr(at + kTraceBlockHeaderBytes);
    const uint64_t stored = LoadFixed32(file->data() + at + 24);
    StoreFixed64(file->data() + at + 16, Checksum64(payload.substr(0, stored), seed));
    StoreFixed64(
        file->data() + at + 8,
        Checksum64(std::string_view(*file).substr(at + 16, kTraceBlockHeaderBytes - 16), seed));
    at = file->find(kTraceBlockMagic, at + kTraceBlockHeaderBytes);
  }
}

std::string FileOf(const uint8_t* data, size_t size) {
  std::string file(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 1) RepairChecksums(&file);
  if (data[0] != 2 || file.empty()) return file;
  const TraceHeader header = FixedTraceHeader();
  std::string block = EncodeTraceHeader(header);
  AppendTraceBlock(TraceBlockKind::kRecords, file, static_cast<uint32_t>(file.size() / 8 + 1),
                   TraceBlockSeed(header, block.size()), &block);
  return block;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto read = ReadTraceBytes(FileOf(data, size));
  if (!read.ok()) return 0;
  for (TraceRecord record : read->records) {
    std::string bytes;
    AppendTraceRecord(record, &bytes);
    TraceRecord again;
    again.sample = record.sample;
    ByteReader in(bytes);
    STELE_CHECK(ReadTraceRecord(&in, &again) && in.AtEnd());
    STELE_CHECK(again == record);
  }
  return 0;
}
