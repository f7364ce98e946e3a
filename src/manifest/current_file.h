// manifest/current_file.h: CURRENT, the small file that names the current manifest.
//
// Format:    docs/reference/format/manifest.md: magic, format version, manifest number, database
//            id, checksum; always kCurrentBytes long.
// Errors:    Unimplemented for another version; DataLoss("CURRENT", ...) for any other bytes; those
//            of the file system.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/file_system.h"

namespace stele::internal {

struct CurrentFile {
  uint64_t manifest_number = 0;
  uint64_t database_id = 0;
};

std::string EncodeCurrent(const CurrentFile& current);
absl::StatusOr<CurrentFile> DecodeCurrent(std::string_view bytes);
absl::StatusOr<CurrentFile> ReadCurrent(FileSystem* file_system, const std::string& directory);

}  // namespace stele::internal
