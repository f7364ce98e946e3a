#include "sstable/codec.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "base/status.h"

namespace stele::internal {

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
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CDict* dictionary = nullptr;
  ~ZstdContext() {
    ZSTD_freeCCtx(context);
    ZSTD_freeCDict(dictionary);
  }
};

Compressor::Compressor(Codec codec, int zstd_level) : codec_(codec), zstd_level_(zstd_level) {
  if (codec_ == Codec::kZstd) zstd_ = std::make_unique<ZstdContext>();
}

Compressor::~Compressor() = default;

absl::Status Compressor::SetDictionary(std::string_view dictionary) {
  if (zstd_ == nullptr) return absl::OkStatus();
  ZSTD_freeCDict(zstd_->dictionary);
  zstd_->dictionary = nullptr;
  if (dictionary.empty()) return absl::OkStatus();
  zstd_->dictionary = ZSTD_createCDict(dictionary.data(), dictionary.size(), zstd_level_);
  return zstd_->dictionary != nullptr ? absl::OkStatus() : ResourceExhausted("no memory for a zstd dictionary");
}

absl::StatusOr<Codec> Compressor::Compress(std::string_view raw, std::string* out) {
  const size_t before = out->size();
  // Decompression costs time at every read, so a block has to earn it; a result past the limit is as good as none.
  const size_t limit = raw.size() - raw.size() / 16;
  size_t stored_bytes = 0;  // 0: keep it raw
  if (codec_ == Codec::kLz4 && !raw.empty()) {
    out->resize(before + limit);
    const int result = LZ4_compress_default(raw.data(), out->data() + before, static_cast<int>(raw.size()), static_cast<int>(limit));
    stored_bytes = result > 0 ? static_cast<size_t>(result) : 0;
  } else if (codec_ == Codec::kZstd && !raw.empty()) {
    if (zstd_->context == nullptr) return ResourceExhausted("no memory for a zstd context");
    out->resize(before + limit);
    char* const to = out->data() + before;
    const size_t result = zstd_->dictionary == nullptr
                              ? ZSTD_compressCCtx(zstd_->context, to, limit, raw.data(), raw.size(), zstd_level_)
                              : ZSTD_compress_usingCDict(zstd_->context, to, limit, raw.data(), raw.size(), zstd_->dictionary);
    stored_bytes = ZSTD_isError(result) ? 0 : result;
  }
  if (stored_bytes != 0) {
    out->resize(before + stored_bytes);
    return codec_;
  }
  out->resize(before);
  out->append(raw);
  return Codec::kNone;
}

bool Decompress(Codec codec, std::string_view stored, char* raw, size_t raw_bytes, const DecodingDictionary* dictionary) {
  switch (codec) {
    case Codec::kNone:
      if (stored.size() != raw_bytes) return false;
      if (raw_bytes != 0) std::memcpy(raw, stored.data(), raw_bytes);
      return true;
    case Codec::kLz4: {
      if (stored.size() > INT32_MAX || raw_bytes > INT32_MAX) return false;
      const int result = LZ4_decompress_safe(stored.data(), raw, static_cast<int>(stored.size()), static_cast<int>(raw_bytes));
      return result >= 0 && static_cast<size_t>(result) == raw_bytes;
    }
    case Codec::kZstd: {
      struct Freed {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
      };
      // One per thread: making a context costs more than decoding a page with it.
      thread_local std::unique_ptr<ZSTD_DCtx, Freed> context(ZSTD_createDCtx());
      if (context == nullptr) context.reset(ZSTD_createDCtx());
      if (context == nullptr) return false;
      if (dictionary == nullptr) return ZSTD_decompressDCtx(context.get(), raw, raw_bytes, stored.data(), stored.size()) == raw_bytes;
      return ZSTD_decompress_usingDDict(context.get(), raw, raw_bytes, stored.data(), stored.size(), dictionary->get()) == raw_bytes;
    }
  }
  return false;
}

}  // namespace stele::internal
