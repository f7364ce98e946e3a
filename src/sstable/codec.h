// sstable/codec.h: compressing and decompressing one block.
//
// Path:      section_builder, large_value -> Compressor; row_group_loader, large_value -> Decompress.
// Format:    lz4 blocks and zstd frames that say nothing of themselves (no checksum, content size or dictionary id); a block that does
//            not shrink by 1/16 is kept raw (kNone).
// Errors:    Decompress answers false for anything but exactly the raw bytes promised; Compress ResourceExhausted for refused memory.
// Threads:   Compressor is thread-compatible; Decompress is thread-safe (zstd's context is one per thread).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/growing_buffer.h"
#include "sstable/dictionary.h"

namespace stele::internal {

enum class Codec : uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };
inline constexpr uint8_t kCodecMax = 2;

std::string_view CodecName(Codec codec);

// How much of its time zstd spends on a block; whoever reads it need not know.
enum class ZstdEffort : uint8_t {
  kQuick,     // most of the gain at about half the time: for bulk loads, for which somebody waits (decisions/0019)
  kThorough,  // for what is written in the background, to be read for long
};

class Compressor {
 public:
  Compressor(Codec codec, ZstdEffort effort);
  ~Compressor();

  // From here on with this dictionary (zstd only); empty: without one.
  absl::Status SetDictionary(std::string_view dictionary);
  // Appends `raw` to `out`, compressed where it pays, and answers how.
  absl::StatusOr<Codec> Compress(std::string_view raw, GrowingBuffer* out);
  // Of the codec's context.
  size_t memory_bytes() const;

 private:
  struct ZstdContext;
  const Codec codec_;
  std::unique_ptr<ZstdContext> zstd_;
};

// Fills exactly [raw, raw + raw_bytes). What `stored` says of itself is not believed.
// `dictionary`: the one it was compressed with, or nullptr.
bool Decompress(Codec codec, std::string_view stored, char* raw, size_t raw_bytes, const DecodingDictionary* dictionary = nullptr);

}  // namespace stele::internal
