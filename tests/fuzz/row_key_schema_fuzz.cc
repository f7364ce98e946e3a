// tests/fuzz/row_key_schema_fuzz.cc: parses any bytes as a row key schema, and decodes keys with
// it.
//
// Input:     The JSON form of a schema, a newline, and a key.
// Finds:     a read beyond the bytes; a schema that its own text does not give; an accepted key
//            that Encode does not return; a prefix that is not one.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/invariant.h"
#include "stele/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stele::keys;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t newline = input.find('\n');
  if (newline == std::string_view::npos) return 0;
  const std::string_view row_key = input.substr(newline + 1);
  const auto schema = RowKeySchema::Parse(input.substr(0, newline));
  if (!schema.ok()) return 0;
  const auto again = RowKeySchema::Parse(schema->ToString());
  STELE_CHECK(again.ok() && *again == *schema);
  const auto values = schema->Decode(row_key);
  if (!values.ok()) return 0;
  const auto encoded = schema->Encode(*values, std::numeric_limits<uint64_t>::max());
  STELE_CHECK(encoded.ok() && *encoded == row_key);
  const auto prefix = schema->EncodePrefix({});
  STELE_CHECK(prefix.ok() && (prefix->empty() || *prefix == row_key));
  return 0;
}
