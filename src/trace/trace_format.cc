#include "trace/trace_format.h"

#include <zstd.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/invariant.h"
#include "base/random.h"
#include "base/status.h"

namespace stele::internal {
namespace {

// Compared with level 1, it takes a third less time, and the file is a third larger. On a machine
// with few cores, the compression takes time from the calls that are recorded.
constexpr int kZstdLevel = -3;
constexpr size_t kNonceBytes = 16;
constexpr size_t kHeaderChecksumAt = kTraceHeaderBytes - 8;
// The checksum of a block's header is after the magic number, and covers what follows it.
constexpr size_t kBlockChecksumAt = kTraceBlockMagic.size();
constexpr size_t kBlockCoveredAt = kBlockChecksumAt + 8;

}  // namespace

TraceHeader NewTraceHeader(uint32_t sample) {
  TraceHeader header{.sample = sample};
  AppendFixed64(header.nonce, RandomSeed());
  AppendFixed64(header.nonce, RandomSeed());
  return header;
}

std::string EncodeTraceHeader(const TraceHeader& header) {
  std::string bytes(kTraceMagic);
  AppendFixed32(bytes, kTraceVersion);
  AppendFixed32(bytes, 0);  // no incompatible features
  AppendFixed32(bytes, 0);  // no compatible features
  AppendFixed32(bytes, header.sample);
  STELE_CHECK(header.nonce.size() == kNonceBytes && header.sample > 0);
  bytes += header.nonce;
  AppendFixed64(bytes, Checksum64(bytes));
  return bytes;
}

absl::StatusOr<TraceHeader> DecodeTraceHeader(std::string_view bytes) {
  if (bytes.size() != kTraceHeaderBytes || !bytes.starts_with(kTraceMagic))
    return InvalidArgument("the file is not a binary trace, or is cut off in its header");
  if (LoadFixed64(bytes.data() + kHeaderChecksumAt) !=
      Checksum64(bytes.substr(0, kHeaderChecksumAt)))
    return InvalidArgument("the header of the trace is damaged, so its blocks cannot be checked");
  ByteReader in(bytes.substr(kTraceMagic.size()));
  uint32_t version = 0;
  uint32_t incompatible = 0;
  uint32_t compatible = 0;
  TraceHeader header;
  std::string_view nonce;
  in.ReadFixed32(&version);
  in.ReadFixed32(&incompatible);
  in.ReadFixed32(&compatible);
  in.ReadFixed32(&header.sample);
  in.ReadRaw(kNonceBytes, &nonce);
  if (version != kTraceVersion || incompatible != 0)
    return Unimplemented("a trace of version {} with features {:#x}; this program reads version {}",
                         version, incompatible, kTraceVersion);
  if (header.sample == 0) return InvalidArgument("the header of the trace has no sample");
  header.nonce = nonce;
  return header;
}

uint64_t TraceBlockSeed(const TraceHeader& header, uint64_t offset) {
  return Checksum64(header.nonce, offset);
}

size_t TraceStoredBytesMax() { return ZSTD_compressBound(kTraceBlockBytesMax); }

void AppendTraceBlock(TraceBlockKind kind, std::string_view payload, uint32_t records,
                      uint64_t seed, std::string* out) {
  STELE_CHECK(!payload.empty() && payload.size() <= kTraceBlockBytesMax);
  const size_t begin = out->size();
  out->resize(begin + kTraceBlockHeaderBytes + ZSTD_compressBound(payload.size()));
  char* const stored = out->data() + begin + kTraceBlockHeaderBytes;
  const size_t stored_bytes = ZSTD_compress(stored, ZSTD_compressBound(payload.size()),
                                            payload.data(), payload.size(), kZstdLevel);
  STELE_CHECK(ZSTD_isError(stored_bytes) == 0);
  out->resize(begin + kTraceBlockHeaderBytes + stored_bytes);
  std::string covered;
  AppendFixed64(covered, Checksum64({stored, stored_bytes}, seed));
  AppendFixed32(covered, static_cast<uint32_t>(stored_bytes));
  AppendFixed32(covered, static_cast<uint32_t>(payload.size()));
  AppendFixed32(covered, records);
  AppendFixed32(covered, static_cast<uint32_t>(kind));
  char* const header = out->data() + begin;
  kTraceBlockMagic.copy(header, kTraceBlockMagic.size());
  StoreFixed64(header + kBlockChecksumAt, Checksum64(covered, seed));
  covered.copy(header + kBlockCoveredAt, covered.size());
}

std::optional<TraceBlockHeader> DecodeTraceBlockHeader(std::string_view bytes, uint64_t seed) {
  if (bytes.size() < kTraceBlockHeaderBytes || !bytes.starts_with(kTraceBlockMagic))
    return std::nullopt;
  const std::string_view covered =
      bytes.substr(kBlockCoveredAt, kTraceBlockHeaderBytes - kBlockCoveredAt);
  if (LoadFixed64(bytes.data() + kBlockChecksumAt) != Checksum64(covered, seed))
    return std::nullopt;
  ByteReader in(covered);
  TraceBlockHeader header;
  uint32_t kind = 0;
  in.ReadFixed64(&header.payload_checksum);
  in.ReadFixed32(&header.stored_bytes);
  in.ReadFixed32(&header.plain_bytes);
  in.ReadFixed32(&header.records);
  in.ReadFixed32(&kind);
  if (kind > static_cast<uint32_t>(TraceBlockKind::kSummary) || header.plain_bytes == 0 ||
      header.plain_bytes > kTraceBlockBytesMax || header.stored_bytes > TraceStoredBytesMax())
    return std::nullopt;
  header.kind = static_cast<TraceBlockKind>(kind);
  return header;
}

bool ReadTracePayload(const TraceBlockHeader& header, std::string_view stored, uint64_t seed,
                      std::string* payload) {
  if (Checksum64(stored, seed) != header.payload_checksum) return false;
  payload->resize(header.plain_bytes);
  const size_t bytes =
      ZSTD_decompress(payload->data(), payload->size(), stored.data(), stored.size());
  return ZSTD_isError(bytes) == 0 && bytes == header.plain_bytes;
}

std::string EncodeTraceCounts(const TraceCounts& counts) {
  std::string payload;
  AppendVarint(payload, counts.operations);
  AppendVarint(payload, counts.recorded);
  AppendVarint(payload, counts.dropped);
  payload.push_back(counts.stopped_at_limit ? '\1' : '\0');
  return payload;
}

std::optional<TraceCounts> DecodeTraceCounts(std::string_view payload) {
  ByteReader in(payload);
  TraceCounts counts;
  uint8_t stopped = 0;
  if (!in.ReadVarint(&counts.operations) || !in.ReadVarint(&counts.recorded) ||
      !in.ReadVarint(&counts.dropped) || !in.ReadByte(&stopped) || stopped > 1 || !in.AtEnd())
    return std::nullopt;
  counts.stopped_at_limit = stopped == 1;
  return counts;
}

}  // namespace stele::internal
