// bench/layout_lab/page_codec.h: compresses and decompresses one page with none, lz4 or zstd, with or without a dictionary.
//
// Errors:    a library that fails ends the program with a message: this is a lab.
// Threads:   confined to one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stele::layout_lab {

enum class CodecKind { kNone, kLz4, kLz4Hc, kZstd1, kZstd3 };

std::string_view CodecKindName(CodecKind kind);

inline constexpr size_t kDictionaryBytes = 16 << 10;

// ZDICT's choice of at most kDictionaryBytes from the samples; empty where it finds nothing worth keeping.
std::string TrainDictionary(std::span<const std::string> samples);

[[noreturn]] void Die(std::string_view what);

class PageCodec {
 public:
  // An empty dictionary is none.
  PageCodec(CodecKind kind, std::string dictionary);
  PageCodec(PageCodec&&) noexcept;
  ~PageCodec();

  // Appends `raw` to `out`; false when it did not shrink by 1/16 and was appended as it is.
  bool Compress(std::string_view raw, std::string* out);
  // Fills exactly `raw_bytes` of what Compress answered true for.
  void Decompress(std::string_view stored, char* raw, size_t raw_bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stele::layout_lab
