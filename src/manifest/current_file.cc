#include "manifest/current_file.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "io/file_names.h"
#include "manifest/manifest_format.h"

namespace stele::internal {
namespace {

// The layout: 0 magic, 8 format version, 12 zero, 16 manifest number, 24 database id, 32 checksum
// of bytes [0, 32).
constexpr size_t kVersionAt = 8;
constexpr size_t kNumberAt = 16;
constexpr size_t kDatabaseIdAt = 24;
constexpr size_t kChecksumAt = 32;

}  // namespace

std::string EncodeCurrent(const CurrentFile& current) {
  std::string out(kCurrentMagic);
  AppendFixed32(out, kManifestFormatVersion);
  AppendFixed32(out, 0);
  AppendFixed64(out, current.manifest_number);
  AppendFixed64(out, current.database_id);
  AppendFixed64(out, Checksum64(out));
  return out;
}

absl::StatusOr<CurrentFile> DecodeCurrent(std::string_view bytes) {
  if (bytes.size() != kCurrentBytes) {
    return DataLoss(kCurrentName, 0,
                    fmt::format("it has {} bytes instead of {}", bytes.size(), kCurrentBytes));
  }
  const char* p = bytes.data();
  if (bytes.substr(0, kCurrentMagic.size()) != kCurrentMagic)
    return DataLoss(kCurrentName, 0, "wrong magic");
  if (LoadFixed64(p + kChecksumAt) != Checksum64(bytes.substr(0, kChecksumAt)))
    return DataLoss(kCurrentName, 0, "checksum mismatch");
  const uint32_t version = LoadFixed32(p + kVersionAt);
  if (version != kManifestFormatVersion) {
    return UnknownManifestVersion(kCurrentName, version);
  }
  const CurrentFile current{LoadFixed64(p + kNumberAt), LoadFixed64(p + kDatabaseIdAt)};
  if (current.manifest_number >= kNextFileNumberMax) {
    return DataLoss(kCurrentName, 0,
                    fmt::format("manifest number {} was never assigned", current.manifest_number));
  }
  return current;
}

absl::StatusOr<CurrentFile> ReadCurrent(FileSystem* file_system, const std::string& directory) {
  STELE_ASSIGN_OR_RETURN(const auto file,
                         file_system->Open(JoinPath(directory, kCurrentName), OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t file_bytes, file->Size());
  if (file_bytes != kCurrentBytes)
    return DecodeCurrent(
        std::string(file_bytes < kCurrentBytes ? file_bytes : kCurrentBytes + 1, '\0'));
  std::string bytes(kCurrentBytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(0, bytes.size(), bytes.data()));
  bytes.resize(got);
  return DecodeCurrent(bytes);
}

}  // namespace stele::internal
