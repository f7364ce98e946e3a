// sstable/format/codec.h: compresses and decompresses one block, and chooses the codec of a file.
//
// Used by:   sstable/write/section_builder.cc (Compressor), sstable/write/sstable_builder.h (Codec,
//            ZstdEffort), sstable/read/open_sstable.h (Decompress).
// Calls:     sstable/format/dictionary.h.
// Format:    lz4 blocks, and zstd frames without checksum, content size and dictionary id. A block
//            that does not shrink by 1/16 is stored uncompressed (kNone).
// Errors:    Decompress returns false unless the result has exactly the expected size; Compress
//            returns ResourceExhausted for refused memory.
// Threads:   Compressor is thread-compatible; Decompress is thread-safe (zstd's context is one per
//            thread).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "sstable/format/dictionary.h"
#include "sstable/format/growing_buffer.h"
#include "stele/schema.h"

namespace stele::internal {

enum class Codec : uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };
inline constexpr uint8_t kCodecMax = 2;

std::string_view CodecName(Codec codec);
// Returns the codec for a file of a table with this compression. `bottommost_codec`: the file is
// the output of a bulk load, or of a compaction whose inputs reach the end of the stack.
Codec CodecFor(Compression compression, bool bottommost_codec);

// The time that zstd spends on a block. Readers do not depend on it.
enum class ZstdEffort : uint8_t {
  // Most of the compression at about half the time: for bulk loads, whose callers wait
  // (docs/decisions/0019-bulk-load.md).
  kQuick,
  kThorough,  // for data that is written in the background
};

class Compressor {
 public:
  Compressor(Codec codec, ZstdEffort effort);
  ~Compressor();

  // Sets the dictionary for the following blocks (zstd only); empty: none.
  absl::Status SetDictionary(std::string_view dictionary);
  // Appends `raw` to `out`, compressed if that saves enough. Returns the codec used.
  absl::StatusOr<Codec> Compress(std::string_view raw, GrowingBuffer* out);
  // The memory of the codec's context.
  size_t memory_bytes() const;

 private:
  struct ZstdContext;
  const Codec codec_;
  std::unique_ptr<ZstdContext> zstd_;
};

// Fills exactly [raw, raw + raw_bytes). Sizes inside `stored` are not trusted. `dictionary` is the
// one that was used for compression, or nullptr.
bool Decompress(Codec codec, std::string_view stored, char* raw, size_t raw_bytes,
                const DecodingDictionary* dictionary = nullptr);

}  // namespace stele::internal
