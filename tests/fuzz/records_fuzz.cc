// tests/fuzz/records_fuzz.cc: reads bytes as the records of CSV and TSV files.
//
// Finds:     a read beyond the bytes; a record whose fields do not fit the header.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/invariant.h"
#include "lab/records/delimited_records.h"

namespace {

using stele::internal::lab::DelimitedRecords;

void ReadAll(const std::string& path, char delimiter, const std::vector<std::string>& names) {
  const auto records = DelimitedRecords::Open(path, delimiter, names);
  if (!records.ok()) return;
  stele::internal::lab::RecordReader& reader = **records;
  STELE_CHECK(reader.header() != nullptr && !reader.header()->empty());
  uint64_t last_line = 0;
  while (true) {
    const auto any = reader.Next();
    if (!any.ok() || !*any) return;
    STELE_CHECK(reader.line_number() > last_line && !reader.text().empty());
    last_line = reader.line_number();
    if (!reader.status().ok()) continue;
    const auto fields = reader.AllFields();
    STELE_CHECK(fields.ok() && fields->size() <= reader.header()->size());
    for (const auto& [name, text] : *fields) STELE_CHECK(reader.fields().Text(name) == text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("records", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    for (const char delimiter : {',', '\t'}) {
      ReadAll(path, delimiter, {});
      ReadAll(path, delimiter, {"a", "b"});
    }
  }
  close(file);
  return 0;
}
