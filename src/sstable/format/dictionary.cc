#include "sstable/format/dictionary.h"

#define ZDICT_STATIC_LINKING_ONLY  // for ZDICT_trainFromBuffer_fastCover
#include <zdict.h>
#include <zstd.h>

namespace stele::internal {

namespace {

// Fixed parameters. zstd's default function searches for parameters, which takes seven times as
// long and saves no bytes (docs/decisions/0019-bulk-load.md).
ZDICT_fastCover_params_t TrainingParameters() {
  ZDICT_fastCover_params_t parameters = {};
  parameters.k = 50;
  parameters.d = 8;
  parameters.f = 18;
  parameters.accel = 1;
  parameters.zParams.compressionLevel = 1;
  return parameters;
}

}  // namespace

std::string TrainDictionary(std::string_view bytes, std::span<const size_t> sample_bytes) {
  std::string dictionary(kDictionaryBytesMax, '\0');
  const size_t trained = ZDICT_trainFromBuffer_fastCover(
      dictionary.data(), dictionary.size(), bytes.data(), sample_bytes.data(),
      static_cast<unsigned>(sample_bytes.size()), TrainingParameters());
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
