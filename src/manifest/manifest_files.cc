#include "manifest/manifest_files.h"

#include <utility>

#include "base/status.h"
#include "io/file_names.h"
#include "manifest/current_file.h"
#include "manifest/edit.h"

namespace stele::internal {
namespace {

std::string TemporaryPath(const std::string& directory, std::string_view name) { return JoinPath(directory, TemporaryName(name)); }

// A file of just these bytes, not yet synced. A leftover of the same name is replaced; nothing of a failed try stays.
absl::StatusOr<std::unique_ptr<File>> WriteTemporary(FileSystem* file_system, const std::string& path, std::string_view bytes) {
  if (const absl::Status removed = file_system->Remove(path); !removed.ok() && !absl::IsNotFound(removed)) return removed;
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, file_system->Open(path, OpenMode::kCreate));
  if (const absl::Status written = file->Write(0, bytes); !written.ok()) {
    file.reset();
    file_system->Remove(path).IgnoreError();
    return written;
  }
  return file;
}

// Synced, renamed and the name synced.
absl::Status PublishFile(FileSystem* file_system, const std::string& directory, std::unique_ptr<File> file, const std::string& name) {
  STELE_RETURN_IF_ERROR(file->Sync());
  file.reset();
  STELE_RETURN_IF_ERROR(file_system->Rename(TemporaryPath(directory, name), JoinPath(directory, name)));
  return file_system->SyncDirectory(directory);
}

}  // namespace

absl::StatusOr<NewManifest> PrepareManifest(FileSystem* file_system, const std::string& directory, const ManifestHeader& header,
                                            const Version& version) {
  const std::string snapshot = EncodeEdit(SnapshotEdit(version));
  if (snapshot.size() > kRecordPayloadBytesMax) {
    return ResourceExhausted("a manifest snapshot of {} bytes is above the {} that one record holds; compact or drop tables",
                             snapshot.size(), kRecordPayloadBytesMax);
  }
  NewManifest prepared{file_system, directory, header};
  std::string bytes = EncodeManifestHeader(header);
  const uint64_t seed = RecordSeed(header.database_id, header.number);
  const std::string record = EncodeRecord(ManifestRecordType::kEdit, snapshot, bytes.size(), ManifestHeaderChecksum(bytes), seed);
  bytes += record;
  prepared.end_offset = bytes.size();
  prepared.last_checksum = DecodeFrame(record).checksum;
  const std::string manifest_path = TemporaryPath(directory, ManifestName(header.number));
  STELE_ASSIGN_OR_RETURN(prepared.manifest, WriteTemporary(file_system, manifest_path, bytes));
  auto current = WriteTemporary(file_system, TemporaryPath(directory, kCurrentName), EncodeCurrent({header.number, header.database_id}));
  if (!current.ok()) {
    prepared.manifest.reset();
    file_system->Remove(manifest_path).IgnoreError();
    return current.status();
  }
  prepared.current = *std::move(current);
  return prepared;
}

absl::StatusOr<std::unique_ptr<File>> InstallManifest(NewManifest prepared) {
  FileSystem* const file_system = prepared.file_system;
  const std::string name = ManifestName(prepared.header.number);
  STELE_RETURN_IF_ERROR(PublishFile(file_system, prepared.directory, std::move(prepared.manifest), name));
  // Opened before CURRENT names it, so that a failure to open leaves the old manifest in place.
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, file_system->Open(JoinPath(prepared.directory, name), OpenMode::kReadWrite));
  STELE_RETURN_IF_ERROR(PublishFile(file_system, prepared.directory, std::move(prepared.current), std::string(kCurrentName)));
  return file;
}

}  // namespace stele::internal
