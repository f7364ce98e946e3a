// sstable/format/dictionary.h: compression dictionaries, trained on sample blocks of a section, so
// that small blocks compress as well as large ones.
//
// Used by:   sstable/write/section_builder.cc trains one and keeps or drops it.
//            sstable/read/sstable_reader.cc opens it. sstable/format/codec.cc uses it.
// Format:    zstd's dictionary format, at most kDictionaryBytesMax;
//            docs/reference/format/sstable.md "The file".
// Errors:    Train returns no bytes if there is no useful dictionary. Open returns nullptr for
//            refused memory or invalid bytes.
// Threads:   DecodingDictionary is immutable.
// Source:    zstd's manual, "Dictionary builder API".
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct ZSTD_DDict_s;

namespace stele::internal {

inline constexpr size_t kDictionaryBytesMax = 16 << 10;

// The samples are contiguous in `bytes`, with these lengths.
std::string TrainDictionary(std::string_view bytes, std::span<const size_t> sample_bytes);

class DecodingDictionary {
 public:
  // Copies the parts of `bytes` that it needs.
  static std::unique_ptr<const DecodingDictionary> Open(std::string_view bytes);
  ~DecodingDictionary();

  const ZSTD_DDict_s* get() const { return dictionary_; }
  size_t memory_bytes() const;

 private:
  explicit DecodingDictionary(ZSTD_DDict_s* dictionary) : dictionary_(dictionary) {}
  DecodingDictionary(const DecodingDictionary&) = delete;
  DecodingDictionary& operator=(const DecodingDictionary&) = delete;

  ZSTD_DDict_s* const dictionary_;
};

}  // namespace stele::internal
