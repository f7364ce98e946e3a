// Implements InspectDirectory and CheckFiles.
#include <algorithm>
#include <optional>

#include "base/status.h"
#include "io/file_names.h"
#include "manifest/manifest_log.h"
#include "manifest/manifest_reader.h"
#include "manifest/token_table.h"

namespace stele::internal {
namespace {

// The first bytes of CURRENT in LevelDB and its descendants.
constexpr std::string_view kForeignCurrent = "MANIFEST-";

absl::StatusOr<DirectoryState> InspectMissing(FileSystem* file_system,
                                              const std::string& directory) {
  const size_t name_end = directory.find_last_not_of('/');
  const size_t slash =
      name_end == std::string::npos ? std::string::npos : directory.rfind('/', name_end);
  if (slash == std::string::npos) return DirectoryState::kMissing;
  const std::string parent = slash == 0 ? "/" : directory.substr(0, slash);
  const auto names = file_system->List(parent);
  if (absl::IsNotFound(names.status())) {
    return FailedPrecondition(
        "{} cannot be created: its parent directory {} does not exist; create that first",
        directory, parent);
  }
  if (!names.ok()) {
    return WithContext(names.status(), fmt::format("{} cannot be made", directory));
  }
  return DirectoryState::kMissing;
}

absl::Status CheckCurrentIsOurs(FileSystem* file_system, const std::string& directory) {
  const std::string path = JoinPath(directory, kCurrentName);
  STELE_ASSIGN_OR_RETURN(const FileInfo info, file_system->Stat(path));
  if (info.kind != FileKind::kFile)
    return FailedPrecondition("{} is not a regular file; {} is not a Stele database", path,
                              directory);
  STELE_ASSIGN_OR_RETURN(const auto file, file_system->Open(path, OpenMode::kRead));
  std::string begin(kForeignCurrent.size(), '\0');
  STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(0, begin.size(), begin.data()));
  begin.resize(got);
  if (begin == kForeignCurrent)
    return FailedPrecondition("{} contains a LevelDB database, not a Stele database", directory);
  return absl::OkStatus();
}

// Checks that a manifest is left from an unfinished creation, so that no CURRENT ever named it.
// Such a manifest is complete, has the creation mark, and has no user table. Any other manifest is
// the remainder of a database.
absl::Status CheckIsCreationLeftover(FileSystem* file_system, const std::string& directory,
                                     const std::string& name) {
  const auto in_the_way = [&](std::string_view what) {
    return FailedPrecondition("{} has no CURRENT but has {}, {}: an incomplete copy of a database?",
                              directory, name, what);
  };
  const std::string path = JoinPath(directory, name);
  STELE_ASSIGN_OR_RETURN(const FileInfo info, file_system->Stat(path));
  if (info.kind != FileKind::kFile) return in_the_way("which is not a regular file");
  STELE_ASSIGN_OR_RETURN(const auto file, file_system->Open(path, OpenMode::kRead));
  bool has_tables = false;
  const auto scan = ReadManifest(*file, name, [&](const Edit& edit) {
    // The token table is created with the database.
    has_tables = has_tables || !edit.new_files.empty() ||
                 std::any_of(edit.tables.begin(), edit.tables.end(), [](const TableEdit& table) {
                   return table.table_id != kTokenTableId;
                 });
    return absl::OkStatus();
  });
  if (absl::IsDataLoss(scan.status()) || absl::IsUnimplemented(scan.status()))
    return in_the_way(ToStd(scan.status().message()));
  if (!scan.ok()) return scan.status();
  if (!scan->header.creation_mark || scan->edit_count != 1 || scan->discarded_bytes != 0 ||
      has_tables)
    return in_the_way("a used manifest");
  return absl::OkStatus();
}

// Returns kEmpty or kUnfinishedCreation.
absl::StatusOr<DirectoryState> InspectWithoutCurrent(FileSystem* file_system,
                                                     const std::string& directory,
                                                     const std::vector<std::string>& names) {
  DirectoryState state = DirectoryState::kEmpty;
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name);
    if (!parsed.has_value())
      return FailedPrecondition("{} is not a database and not empty: it contains {}", directory,
                                Printable(name));
    if (parsed->type == FileType::kLock || parsed->type == FileType::kReserve) continue;
    if (parsed->type == FileType::kSegment || parsed->type == FileType::kSstable ||
        parsed->type == FileType::kSpill) {
      return FailedPrecondition("{} has no CURRENT but has {}: an incomplete copy of a database?",
                                directory, name);
    }
    if (parsed->type == FileType::kManifest)
      STELE_RETURN_IF_ERROR(CheckIsCreationLeftover(file_system, directory, name));
    state = DirectoryState::kUnfinishedCreation;
  }
  return state;
}

}  // namespace

absl::StatusOr<DirectoryState> InspectDirectory(FileSystem* file_system,
                                                const std::string& directory) {
  const auto info = file_system->Stat(directory);
  if (absl::IsNotFound(info.status())) return InspectMissing(file_system, directory);
  if (!info.ok()) return info.status();
  // A symbolic link to a directory counts as a directory; List decides.
  const auto names = info->kind == FileKind::kFile
                         ? absl::StatusOr<std::vector<std::string>>(FailedPrecondition("a file"))
                         : file_system->List(directory);
  if (!names.ok() && info->kind == FileKind::kDirectory) return names.status();
  if (!names.ok()) return FailedPrecondition("{} is not a directory", directory);
  for (const std::string& name : *names) {
    if (name != kCurrentName) continue;
    STELE_RETURN_IF_ERROR(CheckCurrentIsOurs(file_system, directory));
    return DirectoryState::kDatabase;
  }
  return InspectWithoutCurrent(file_system, directory, *names);
}

absl::Status CheckFiles(FileSystem* file_system, const std::string& directory,
                        const Version& version) {
  std::string first;
  uint64_t wrong_count = 0;
  for (const auto& [number, file] : version.Files()) {
    const auto info = file_system->Stat(JoinPath(directory, SstableName(number)));
    // It is unknown whether the file exists. It is treated like a file that cannot be read: only
    // reads of its rows fail.
    if (!info.ok() && !absl::IsNotFound(info.status())) continue;
    std::string what;
    if (!info.ok()) {
      what = "the file is missing";
    } else if (info->kind != FileKind::kFile) {
      what = "not a regular file";
    } else if (info->bytes != file->summary.file_bytes) {
      what = fmt::format("the file has {} bytes, the manifest says {}", info->bytes,
                         file->summary.file_bytes);
    }
    if (what.empty()) continue;
    if (++wrong_count == 1) first = fmt::format("{} @0: {}", SstableName(number), what);
  }
  if (wrong_count == 0) return absl::OkStatus();
  const std::string others =
      wrong_count == 1
          ? ""
          : fmt::format(" ({} more files are missing or of the wrong size)", wrong_count - 1);
  return MakeStatus(absl::StatusCode::kDataLoss,
                    first + others +
                        "; nothing was changed; complete the copy of the directory, or restore the "
                        "file from a checkpoint");
}

}  // namespace stele::internal
