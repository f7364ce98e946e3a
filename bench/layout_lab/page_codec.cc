#include "page_codec.h"

#include <lz4.h>
#include <lz4hc.h>
#include <zdict.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace stele::layout_lab {

void Die(std::string_view what) {
  std::fprintf(stderr, "stele_layout_lab: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

std::string_view CodecKindName(CodecKind kind) {
  switch (kind) {
    case CodecKind::kNone:
      return "none";
    case CodecKind::kLz4:
      return "lz4";
    case CodecKind::kLz4Hc:
      return "lz4hc";
    case CodecKind::kZstd1:
      return "zstd-1";
    case CodecKind::kZstd3:
      return "zstd-3";
  }
  return "?";
}

std::string TrainDictionary(std::span<const std::string> samples) {
  std::string all;
  std::vector<size_t> lengths;
  for (const std::string& sample : samples) {
    all += sample;
    lengths.push_back(sample.size());
  }
  std::string dictionary(kDictionaryBytes, '\0');
  const size_t bytes = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(),
                                             lengths.data(), static_cast<unsigned>(lengths.size()));
  dictionary.resize(ZDICT_isError(bytes) ? 0 : bytes);
  return dictionary;
}

struct PageCodec::State {
  CodecKind kind;
  std::string dictionary;
  LZ4_stream_t lz4_begin;  // with the dictionary loaded; copied for each page
  LZ4_stream_t lz4;
  LZ4_streamHC_t lz4hc_begin;
  LZ4_streamHC_t lz4hc;
  ZSTD_CCtx* compressor = ZSTD_createCCtx();
  ZSTD_DCtx* decompressor = ZSTD_createDCtx();
  int CompressLz4(std::string_view raw, char* out, size_t limit) {
    const int raw_bytes = static_cast<int>(raw.size());
    if (kind == CodecKind::kLz4Hc) {
      lz4hc = lz4hc_begin;
      return LZ4_compress_HC_continue(&lz4hc, raw.data(), out, raw_bytes, static_cast<int>(limit));
    }
    if (dictionary.empty())
      return LZ4_compress_default(raw.data(), out, raw_bytes, static_cast<int>(limit));
    lz4 = lz4_begin;
    return LZ4_compress_fast_continue(&lz4, raw.data(), out, raw_bytes, static_cast<int>(limit), 1);
  }
  ~State() {
    ZSTD_freeCCtx(compressor);
    ZSTD_freeDCtx(decompressor);
  }
};

PageCodec::PageCodec(CodecKind kind, std::string dictionary) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.kind = kind;
  state.dictionary = std::move(dictionary);
  LZ4_initStream(&state.lz4_begin, sizeof state.lz4_begin);
  if (!state.dictionary.empty()) {
    LZ4_loadDict(&state.lz4_begin, state.dictionary.data(),
                 static_cast<int>(state.dictionary.size()));
  }
  LZ4_initStreamHC(&state.lz4hc_begin, sizeof state.lz4hc_begin);
  LZ4_resetStreamHC_fast(&state.lz4hc_begin, LZ4HC_CLEVEL_DEFAULT);
  LZ4_loadDictHC(&state.lz4hc_begin, state.dictionary.data(),
                 static_cast<int>(state.dictionary.size()));
  ZSTD_CCtx_setParameter(state.compressor, ZSTD_c_compressionLevel,
                         kind == CodecKind::kZstd1 ? 1 : 3);
  // Omit the dictionary id: the reference to a page names length and dictionary.
  ZSTD_CCtx_setParameter(state.compressor, ZSTD_c_dictIDFlag, 0);
  if (!state.dictionary.empty()) {
    // Load the dictionary once for all pages.
    ZSTD_CCtx_loadDictionary(state.compressor, state.dictionary.data(), state.dictionary.size());
    ZSTD_DCtx_loadDictionary(state.decompressor, state.dictionary.data(), state.dictionary.size());
  }
}

PageCodec::PageCodec(PageCodec&&) noexcept = default;
PageCodec::~PageCodec() = default;

bool PageCodec::Compress(std::string_view raw, std::string* out) {
  State& state = *state_;
  const size_t before = out->size();
  const size_t limit = raw.size() - raw.size() / 16;
  size_t stored_bytes = 0;
  if (state.kind == CodecKind::kLz4 || state.kind == CodecKind::kLz4Hc) {
    out->resize(before + limit);
    const int result = state.CompressLz4(raw, out->data() + before, limit);
    stored_bytes = result > 0 ? static_cast<size_t>(result) : 0;
  } else if (state.kind != CodecKind::kNone) {
    out->resize(before + limit);
    const size_t result =
        ZSTD_compress2(state.compressor, out->data() + before, limit, raw.data(), raw.size());
    stored_bytes = ZSTD_isError(result) ? 0 : result;
  }
  out->resize(before + stored_bytes);
  if (stored_bytes != 0) return true;
  out->append(raw);
  return false;
}

void PageCodec::Decompress(std::string_view stored, char* raw, size_t raw_bytes) const {
  const State& state = *state_;
  if (state.kind == CodecKind::kLz4 || state.kind == CodecKind::kLz4Hc) {
    const int result = LZ4_decompress_safe_usingDict(
        stored.data(), raw, static_cast<int>(stored.size()), static_cast<int>(raw_bytes),
        state.dictionary.data(), static_cast<int>(state.dictionary.size()));
    if (result < 0 || static_cast<size_t>(result) != raw_bytes) Die("a page does not decode");
  } else if (ZSTD_decompressDCtx(state.decompressor, raw, raw_bytes, stored.data(),
                                 stored.size()) != raw_bytes) {
    Die("a page does not decode");
  }
}

}  // namespace stele::layout_lab
