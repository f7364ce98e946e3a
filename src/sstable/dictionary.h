// sstable/dictionary.h: what the units of a section have in common, learnt from a sample, so that small units compress like large ones.
//
// Path:      section_builder trains and keeps or drops it; sstable reader opens it; codec uses it.
// Format:    zstd's own dictionary, at most kDictionaryBytesMax; docs/format/sstable.md "Dictionaries".
// Errors:    Train answers no bytes where no dictionary can be had; Open answers nullptr for memory refused or bytes that are none.
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

// `samples` lie one after the other in `bytes`, with these lengths.
std::string TrainDictionary(std::string_view bytes, std::span<const size_t> sample_bytes);

class DecodingDictionary {
 public:
  // Copies what it needs of `bytes`.
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
