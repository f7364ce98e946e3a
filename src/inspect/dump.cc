#include "inspect/dump.h"

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "io/file_names.h"
#include "manifest/current_file.h"
#include "manifest/edit.h"
#include "manifest/manifest_format.h"
#include "manifest/manifest_log.h"
#include "sstable/format/sstable_format.h"
#include "sstable/inspect/sstable_dump.h"
#include "sstable/read/sstable_reader.h"
#include "wal/log_format.h"
#include "wal/log_reader.h"

namespace stele::internal {
namespace {

constexpr size_t kMagicBytes = 8;
constexpr size_t kCurrentBytesMax = 4096;

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

absl::StatusOr<std::optional<FileType>> SniffType(const File& file) {
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file.Size());
  if (bytes < kMagicBytes) return std::optional<FileType>();
  std::array<char, kMagicBytes> magic;
  STELE_ASSIGN_OR_RETURN(size_t got, file.Read(0, magic.size(), magic.data()));
  const std::string_view head(magic.data(), got);
  if (head == kManifestMagic) return std::optional(FileType::kManifest);
  if (head == kCurrentMagic) return std::optional(FileType::kCurrent);
  if (head == kSegmentMagic) return std::optional(FileType::kSegment);
  STELE_ASSIGN_OR_RETURN(got, file.Read(bytes - kMagicBytes, magic.size(), magic.data()));
  if (got == magic.size() && LoadFixed64(magic.data()) == kSstableMagic)
    return std::optional(FileType::kSstable);
  return std::optional<FileType>();
}

absl::StatusOr<std::string> DumpCurrent(const File& file) {
  std::array<char, kCurrentBytesMax> bytes;
  STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(0, bytes.size(), bytes.data()));
  STELE_ASSIGN_OR_RETURN(const CurrentFile current,
                         DecodeCurrent(std::string_view(bytes.data(), got)));
  return fmt::format("CURRENT manifest={} database={:#018x}\n",
                     ManifestName(current.manifest_number), current.database_id);
}

absl::StatusOr<std::string> DumpSstableFile(std::unique_ptr<File> file, std::string name,
                                            bool cells) {
  STELE_ASSIGN_OR_RETURN(const auto reader,
                         SstableReader::Open(std::move(file), std::move(name), nullptr, nullptr));
  STELE_ASSIGN_OR_RETURN(std::string text, DumpSstable(*reader, cells));
  if (reader->edit().empty()) return text;
  const absl::StatusOr<Edit> edit = DecodeEdit(reader->edit());
  return text + (edit.ok() ? "edit\n" + EditText(*edit)
                           : fmt::format("edit: {}\n", ToStd(edit.status().message())));
}

absl::StatusOr<std::string> DumpLock(const File& file) {
  std::array<char, kCurrentBytesMax> bytes;
  STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(0, bytes.size(), bytes.data()));
  return fmt::format("LOCK {}\n", Printable(std::string_view(bytes.data(), got), bytes.size()));
}

}  // namespace

absl::StatusOr<std::string> DumpFile(FileSystem* file_system, const std::string& path, bool cells) {
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, file_system->Open(path, OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(std::optional<FileType> type, SniffType(*file));
  if (!type.has_value()) {
    const std::optional<FileName> name = ParseFileName(BaseName(path));
    if (name.has_value()) type = name->type;
  }
  if (!type.has_value()) {
    return InvalidArgument(
        "{}: neither its bytes nor its name are those of a log segment, an SSTable, a manifest or "
        "CURRENT",
        path);
  }
  switch (*type) {
    case FileType::kCurrent:
      return DumpCurrent(*file);
    case FileType::kManifest:
      return DumpManifest(file_system, path);
    case FileType::kSegment:
      return DumpSegment(file_system, path);
    case FileType::kSstable:
      return DumpSstableFile(std::move(file), std::string(BaseName(path)), cells);
    case FileType::kLock:
      return DumpLock(*file);
    case FileType::kReserve:
      return std::string(
          "RESERVE: its contents have no meaning; it reserves space for the time when the disk is "
          "full\n");
    case FileType::kSpill:
    case FileType::kTemporary:
      break;
  }
  return InvalidArgument("{}: an unfinished file; the next open of the database removes it", path);
}

}  // namespace stele::internal
