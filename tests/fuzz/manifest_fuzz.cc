// Decodes, applies and dumps any bytes as a manifest, as an edit and as CURRENT. A decoded edit
// must encode to an equal edit, and a version that recovery accepts must hold its invariants.
// Memory and time stay linear in the input.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/coding.h"
#include "base/invariant.h"
#include "io/mem_file_system.h"
#include "manifest/current_file.h"
#include "manifest/manifest_format.h"
#include "manifest/manifest_log.h"

namespace stele::internal {
namespace {

void WriteFile(FileSystem* files, const std::string& path, std::string_view bytes) {
  const auto file = files->Open(path, OpenMode::kCreate);
  STELE_CHECK(file.ok() && (*file)->Write(0, bytes).ok());
}

void FuzzEdit(std::string_view bytes) {
  const auto edit = DecodeEdit(bytes);
  if (!edit.ok()) return;
  const std::string encoded = EncodeEdit(*edit);
  const auto again = DecodeEdit(encoded);
  STELE_CHECK(again.ok() && EncodeEdit(*again) == encoded && EditText(*again) == EditText(*edit));
  if (const auto version = Apply(Version(), *edit); version.ok() && CheckVersion(**version).ok()) {
    const auto rebuilt = Apply(Version(), SnapshotEdit(**version));
    STELE_CHECK(rebuilt.ok() && VersionText(**rebuilt) == VersionText(**version));
  }
}

void FuzzManifest(std::string_view bytes) {
  MemFileSystem files;
  STELE_CHECK(files.CreateDirectory("/db").ok());
  WriteFile(&files, "/db/MANIFEST-000001", bytes);
  InspectDirectory(&files, "/db").status().IgnoreError();
  DumpManifest(&files, "/db/MANIFEST-000001").status().IgnoreError();
  const uint64_t database_id =
      bytes.size() < kManifestHeaderBytes ? 0 : LoadFixed64(bytes.data() + 32);
  WriteFile(&files, "/db/CURRENT", EncodeCurrent({1, database_id}));
  const auto recovered = ManifestLog::Recover(&files, "/db", /*read_only=*/false);
  if (recovered.ok()) STELE_CHECK(CheckVersion(*recovered->version).ok());
}

// Wraps the input as the payload of an otherwise valid manifest, because random bytes would not
// pass the checksums.
std::string AsManifest(std::string_view payload, size_t part_bytes) {
  const ManifestHeader header{.database_id = 7, .number = 1, .creation_mark = true, .nonce = 7};
  std::string bytes = EncodeManifestHeader(header);
  uint64_t previous = ManifestHeaderChecksum(bytes);
  const uint64_t edit_offset = bytes.size();
  do {
    const std::string_view part = payload.substr(0, part_bytes);
    payload.remove_prefix(part.size());
    ManifestRecordHeader record_header{
        .type = static_cast<uint32_t>(payload.empty() ? ManifestRecordType::kEdit
                                                      : ManifestRecordType::kPart),
        .previous_checksum = previous,
        .offset = bytes.size(),
        .edit_offset = edit_offset};
    bytes += EncodeRecord(&record_header, part, RecordSeed(header));
    previous = record_header.checksum;
  } while (!payload.empty());
  return bytes;
}

}  // namespace
}  // namespace stele::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stele::internal;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  DecodeCurrent(bytes).status().IgnoreError();
  FuzzEdit(bytes);
  FuzzManifest(bytes);
  FuzzManifest(AsManifest(bytes, kRecordPayloadBytesMax));
  FuzzManifest(AsManifest(bytes, 100));
  return 0;
}
