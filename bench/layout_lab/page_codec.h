// bench/layout_lab/page_codec.h: compresses and decompresses one page with none, lz4 or zstd, with
// or without a dictionary.
//
// Errors:    If a compression library fails, the program prints a message and exits.
// Threads:   Confined to one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stele::layout_lab {

enum class CodecKind { kNone, kLz4, kLz4Hc, kZstd1, kZstd3 };

std::string_view CodecKindName(CodecKind kind);

inline constexpr size_t kDictionaryBytes = 16 << 10;

// Returns ZDICT's dictionary of at most kDictionaryBytes for the samples. Empty if no dictionary
// pays for itself.
std::string TrainDictionary(std::span<const std::string> samples);

[[noreturn]] void Die(std::string_view what);

class PageCodec {
 public:
  // An empty dictionary means none.
  PageCodec(CodecKind kind, std::string dictionary);
  PageCodec(PageCodec&&) noexcept;
  ~PageCodec();

  // Appends `raw` to `out`, compressed if that saves at least 1/16. Otherwise appends it
  // uncompressed and returns false.
  bool Compress(std::string_view raw, std::string* out);
  // Decompresses exactly `raw_bytes` bytes from data for which Compress returned true.
  void Decompress(std::string_view stored, char* raw, size_t raw_bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stele::layout_lab
