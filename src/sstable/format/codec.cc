#include "sstable/format/codec.h"

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_c_literalCompressionMode
#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cstring>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr int kThoroughLevel = 3;

// kQuick: zstd's fast strategy (level 1) with other parameters. It searches a match at about every
// seventh position, for five bytes, in a table that holds the whole dictionary. Unlike levels below
// 1 it still codes literals. In small blocks of text it needs 60 % of level 1's time and 109 % of
// its bytes; docs/decisions/0019-bulk-load.md has the table.
constexpr std::pair<ZSTD_cParameter, int> kQuickParameters[] = {
    {ZSTD_c_compressionLevel, 1},
    {ZSTD_c_minMatch, 5},
    {ZSTD_c_targetLength, 6},
    {ZSTD_c_hashLog, 14},
    {ZSTD_c_literalCompressionMode, ZSTD_ps_enable},
};

ZSTD_CCtx* NewContext(ZstdEffort effort) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  if (context == nullptr) return nullptr;
  // If another zstd release refuses a parameter, the output is only larger or takes longer.
  const auto set = [context](ZSTD_cParameter parameter, int value) {
    ZSTD_CCtx_setParameter(context, parameter, value);
  };
  set(ZSTD_c_contentSizeFlag, 0);
  set(ZSTD_c_dictIDFlag, 0);
  if (effort == ZstdEffort::kThorough) {
    set(ZSTD_c_compressionLevel, kThoroughLevel);
  } else {
    for (const auto& [parameter, value] : kQuickParameters) set(parameter, value);
  }
  return context;
}

}  // namespace

Codec CodecFor(Compression compression, bool bottommost_codec) {
  switch (compression) {
    case Compression::kNone:
      return Codec::kNone;
    case Compression::kFast:
      return Codec::kLz4;
    case Compression::kBalanced:
      return bottommost_codec ? Codec::kZstd : Codec::kLz4;
  }
  return Codec::kLz4;
}

std::string_view CodecName(Codec codec) {
  switch (codec) {
    case Codec::kNone:
      return "none";
    case Codec::kLz4:
      return "lz4";
    case Codec::kZstd:
      return "zstd";
  }
  return "unknown";
}

struct Compressor::ZstdContext {
  explicit ZstdContext(ZstdEffort effort) : context(NewContext(effort)) {}
  ~ZstdContext() { ZSTD_freeCCtx(context); }
  ZSTD_CCtx* const context;
};

Compressor::Compressor(Codec codec, ZstdEffort effort) : codec_(codec) {
  if (codec_ == Codec::kZstd) zstd_ = std::make_unique<ZstdContext>(effort);
}

Compressor::~Compressor() = default;

absl::Status Compressor::SetDictionary(std::string_view dictionary) {
  if (zstd_ == nullptr) return absl::OkStatus();
  // A block that did not shrink leaves its session open, and an open session accepts no dictionary.
  if (zstd_->context != nullptr) ZSTD_CCtx_reset(zstd_->context, ZSTD_reset_session_only);
  const bool is_set =
      zstd_->context != nullptr && ZSTD_isError(ZSTD_CCtx_loadDictionary(
                                       zstd_->context, dictionary.data(), dictionary.size())) == 0;
  return is_set ? absl::OkStatus() : ResourceExhausted("no memory for a zstd dictionary");
}

size_t Compressor::memory_bytes() const {
  return zstd_ == nullptr ? 0 : ZSTD_sizeof_CCtx(zstd_->context);
}

absl::StatusOr<Codec> Compressor::Compress(std::string_view raw, GrowingBuffer* out) {
  const size_t before = out->size();
  // Decompression costs time at every read, so a block must shrink enough. A larger result is
  // discarded.
  const size_t limit = raw.size() - raw.size() / 16;
  size_t stored_bytes = 0;  // 0: store it uncompressed
  if (codec_ == Codec::kLz4 && !raw.empty()) {
    STELE_ASSIGN_OR_RETURN(char* const room, out->Extend(limit));
    const int result = LZ4_compress_default(raw.data(), room, static_cast<int>(raw.size()),
                                            static_cast<int>(limit));
    stored_bytes = result > 0 ? static_cast<size_t>(result) : 0;
  } else if (codec_ == Codec::kZstd && !raw.empty()) {
    if (zstd_->context == nullptr) return ResourceExhausted("no memory for a zstd context");
    STELE_ASSIGN_OR_RETURN(char* const room, out->Extend(limit));
    const size_t result = ZSTD_compress2(zstd_->context, room, limit, raw.data(), raw.size());
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
      return ResourceExhausted("no memory for zstd");
    stored_bytes = ZSTD_isError(result) ? 0 : result;
  }
  out->ShortenTo(before + stored_bytes);
  if (stored_bytes != 0) return codec_;
  STELE_RETURN_IF_ERROR(out->Append(raw));
  return Codec::kNone;
}

bool Decompress(Codec codec, std::string_view stored, char* raw, size_t raw_bytes,
                const DecodingDictionary* dictionary) {
  switch (codec) {
    case Codec::kNone:
      if (stored.size() != raw_bytes) return false;
      if (raw_bytes != 0) std::memcpy(raw, stored.data(), raw_bytes);
      return true;
    case Codec::kLz4: {
      if (stored.size() > INT32_MAX || raw_bytes > INT32_MAX) return false;
      const int result = LZ4_decompress_safe(stored.data(), raw, static_cast<int>(stored.size()),
                                             static_cast<int>(raw_bytes));
      return result >= 0 && static_cast<size_t>(result) == raw_bytes;
    }
    case Codec::kZstd: {
      struct Freed {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
      };
      // One per thread: creating a context costs more than decoding a page with it.
      thread_local std::unique_ptr<ZSTD_DCtx, Freed> context(ZSTD_createDCtx());
      if (context == nullptr) context.reset(ZSTD_createDCtx());
      if (context == nullptr) return false;
      if (dictionary == nullptr)
        return ZSTD_decompressDCtx(context.get(), raw, raw_bytes, stored.data(), stored.size()) ==
               raw_bytes;
      return ZSTD_decompress_usingDDict(context.get(), raw, raw_bytes, stored.data(), stored.size(),
                                        dictionary->get()) == raw_bytes;
    }
  }
  return false;
}

}  // namespace stele::internal
