#include "manifest/manifest_files.h"

#include <functional>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "io/file_names.h"
#include "manifest/current_file.h"
#include "manifest/edit_coding.h"
#include "manifest/edit_writer.h"

namespace stele::internal {
namespace {

std::string TemporaryPath(const std::string& directory, std::string_view name) {
  return JoinPath(directory, TemporaryName(name));
}

// Creates a temporary file with the contents that `write` produces, not synced. It replaces a
// leftover with the same name. On failure no file is left.
absl::StatusOr<std::unique_ptr<File>> WriteTemporary(
    FileSystem* file_system, const std::string& path,
    const std::function<absl::Status(File*)>& write) {
  if (const absl::Status removed = file_system->Remove(path);
      !removed.ok() && !absl::IsNotFound(removed))
    return removed;
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, file_system->Open(path, OpenMode::kCreate));
  if (const absl::Status written = write(file.get()); !written.ok()) {
    file.reset();
    file_system->Remove(path).IgnoreError();
    return written;
  }
  return file;
}

// Syncs the file, renames it and syncs the directory.
absl::Status PublishFile(FileSystem* file_system, const std::string& directory,
                         std::unique_ptr<File> file, const std::string& name) {
  STELE_RETURN_IF_ERROR(file->Sync());
  file.reset();
  STELE_RETURN_IF_ERROR(
      file_system->Rename(TemporaryPath(directory, name), JoinPath(directory, name)));
  return file_system->SyncDirectory(directory);
}

}  // namespace

absl::StatusOr<NewManifest> PrepareManifest(FileSystem* file_system, const std::string& directory,
                                            ManifestHeader header, const Version& version,
                                            uint32_t part_bytes) {
  if (header.nonce == 0) header.nonce = RandomSeed();
  NewManifest prepared{file_system, directory, header};
  const auto write_manifest = [&](File* file) -> absl::Status {
    const std::string head = EncodeManifestHeader(header);
    STELE_RETURN_IF_ERROR(file->Write(0, head));
    EditWriter writer(file, RecordSeed(header), head.size(), ManifestHeaderChecksum(head),
                      part_bytes);
    STELE_RETURN_IF_ERROR(EncodeSnapshot(
        version, [&writer](std::string_view bytes) { return writer.Append(bytes); }));
    STELE_RETURN_IF_ERROR(writer.Finish());
    prepared.end_offset = writer.end_offset();
    prepared.last_checksum = writer.last_checksum();
    return absl::OkStatus();
  };
  const std::string manifest_path = TemporaryPath(directory, ManifestName(header.number));
  STELE_ASSIGN_OR_RETURN(prepared.manifest,
                         WriteTemporary(file_system, manifest_path, write_manifest));
  const std::string current_bytes = EncodeCurrent({header.number, header.database_id});
  auto current =
      WriteTemporary(file_system, TemporaryPath(directory, kCurrentName),
                     [&current_bytes](File* file) { return file->Write(0, current_bytes); });
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
  STELE_RETURN_IF_ERROR(
      PublishFile(file_system, prepared.directory, std::move(prepared.manifest), name));
  // Opened before CURRENT names it, so that a failure to open leaves the old manifest in place.
  STELE_ASSIGN_OR_RETURN(
      std::unique_ptr<File> file,
      file_system->Open(JoinPath(prepared.directory, name), OpenMode::kReadWrite));
  STELE_RETURN_IF_ERROR(PublishFile(file_system, prepared.directory, std::move(prepared.current),
                                    std::string(kCurrentName)));
  return file;
}

}  // namespace stele::internal
