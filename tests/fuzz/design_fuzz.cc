// tests/fuzz/design_fuzz.cc: parses bytes as a design file and as a template.
//
// Finds:     a read beyond the bytes; a normal form that is no design, or not the same one.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "lab/template/template.h"
#include "stele/lab/design.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)stele::internal::lab::Template::Parse(text);
  const auto design = stele::lab::Design::Parse(text, "fuzz");
  if (!design.ok()) return 0;
  const std::string json = design->ToJson();
  const auto again = stele::lab::Design::Parse(json, "again");
  STELE_CHECK(again.ok() && again->ToJson() == json);
  for (const std::string& table : design->tables()) STELE_CHECK(design->TableSchema(table).ok());
  return 0;
}
