#include "sstable/dictionary.h"

#include <zdict.h>
#include <zstd.h>

namespace stele::internal {

std::string TrainDictionary(std::string_view bytes, std::span<const size_t> sample_bytes) {
  std::string dictionary(kDictionaryBytesMax, '\0');
  const size_t trained = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), bytes.data(), sample_bytes.data(),
                                               static_cast<unsigned>(sample_bytes.size()));
  dictionary.resize(ZDICT_isError(trained) ? 0 : trained);
  return dictionary;
}

std::unique_ptr<const DecodingDictionary> DecodingDictionary::Open(std::string_view bytes) {
  ZSTD_DDict* dictionary = ZSTD_createDDict(bytes.data(), bytes.size());
  if (dictionary == nullptr) return nullptr;
  return std::unique_ptr<const DecodingDictionary>(new DecodingDictionary(dictionary));
}

DecodingDictionary::~DecodingDictionary() { ZSTD_freeDDict(dictionary_); }

size_t DecodingDictionary::memory_bytes() const { return ZSTD_sizeof_DDict(dictionary_); }

}  // namespace stele::internal
