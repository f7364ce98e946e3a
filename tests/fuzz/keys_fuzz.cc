// tests/fuzz/keys_fuzz.cc: calls the functions of stele/keys.h that take text with any bytes.
//
// Input:     Byte 0 chooses the delimiter and the width; the other bytes are the text.
// Finds:     a read beyond the bytes; a key that does not split into its parts again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "stele/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stele::keys;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::string_view kDelimiters[] = {"#", "##", "|", "\xff", "%", "a"};
  const std::string_view delimiter = kDelimiters[data[0] % 6];
  const auto parts = SplitEscaped(text, delimiter);
  if (parts.ok()) {
    const std::vector<std::string_view> views(parts->begin(), parts->end());
    const auto joined = JoinEscaped(views, delimiter);
    STELE_CHECK(joined.ok() && *joined == text);
  }
  const std::vector<std::string_view> split = Split(text, delimiter);
  const auto joined = Join(split, delimiter);
  STELE_CHECK(joined.ok() && *joined == text);
  const auto padded = Pad(text, data[0]);
  STELE_CHECK(!padded.ok() || padded->size() == data[0]);
  const auto date = ReverseDate(text);
  STELE_CHECK(!date.ok() || date->size() == 8);
  const auto domain = ReverseDomain(text);
  STELE_CHECK(!domain.ok() || ReverseDomain(*domain).ok());
  (void)ReverseDigits(text, data[0] % 32);
  (void)SaltBucket(text, data[0]);
  (void)PrefixEnd(text);
  return 0;
}
