// trace/trace_format.h: the parts of a binary trace file: its header, the headers of its blocks,
// and the summary.
//
// Format:    docs/reference/format/trace.md.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::internal {

inline constexpr std::string_view kTraceMagic = "SteleTrc";
inline constexpr uint32_t kTraceVersion = 1;
inline constexpr size_t kTraceHeaderBytes = 48;
inline constexpr std::string_view kTraceBlockMagic = "SteleTrB";
inline constexpr size_t kTraceBlockHeaderBytes = 40;
// A block of records is closed before it exceeds this, unless one record does.
inline constexpr size_t kTraceBlockBytes = size_t{64} << 10;
// No block has more bytes, also before compression.
inline constexpr size_t kTraceBlockBytesMax = size_t{4} << 20;

struct TraceHeader {
  uint32_t sample = 1;  // one of this many operations was recorded; at least 1
  std::string nonce;    // 16 random bytes
};

// Returns a header with a random nonce.
TraceHeader NewTraceHeader(uint32_t sample);
std::string EncodeTraceHeader(const TraceHeader& header);
// `bytes` has kTraceHeaderBytes. InvalidArgument, without a path, for damage; Unimplemented for a
// newer version.
absl::StatusOr<TraceHeader> DecodeTraceHeader(std::string_view bytes);

// Seeds the checksums of the block at `offset`, so that no block is valid in another trace or at
// another offset.
uint64_t TraceBlockSeed(const TraceHeader& header, uint64_t offset);

enum class TraceBlockKind : uint8_t { kRecords = 0, kSummary = 1 };

struct TraceBlockHeader {
  TraceBlockKind kind = TraceBlockKind::kRecords;
  uint32_t stored_bytes = 0;  // of the payload as it is stored: compressed with zstd
  uint32_t plain_bytes = 0;   // of the payload; neither exceeds its maximum
  uint32_t records = 0;
  uint64_t payload_checksum = 0;
};

// The greatest number of stored bytes.
size_t TraceStoredBytesMax();
// Appends a whole block to `out`. `payload` has 1 to kTraceBlockBytesMax bytes.
void AppendTraceBlock(TraceBlockKind kind, std::string_view payload, uint32_t records,
                      uint64_t seed, std::string* out);
// `bytes` begins with kTraceBlockHeaderBytes. Returns nothing if they are not the header of a valid
// block.
std::optional<TraceBlockHeader> DecodeTraceBlockHeader(std::string_view bytes, uint64_t seed);
// Checks and decompresses a payload. Returns false if it is damaged.
bool ReadTracePayload(const TraceBlockHeader& header, std::string_view stored, uint64_t seed,
                      std::string* payload);

// What the recorder counted between its start and its end.
struct TraceCounts {
  uint64_t operations = 0;  // all of them
  uint64_t recorded = 0;
  uint64_t dropped = 0;           // chosen, but memory or the disk was full
  bool stopped_at_limit = false;  // the file reached its largest size
};
std::string EncodeTraceCounts(const TraceCounts& counts);
std::optional<TraceCounts> DecodeTraceCounts(std::string_view payload);

}  // namespace stele::internal
