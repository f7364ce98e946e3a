// io/file_names.h: the names of a database's files, made and parsed in one place.
//
// CURRENT             which manifest counts
// LOCK                who has the database open
// MANIFEST-000007     the manifest, by number
// 000012.log          a segment of the commit log
// 000013.sst          an SSTable
// 000014.spill        an SSTable that only views of the running process show; removed at open
// RESERVE             takes space for the time when the disk is full (db/space_reserve.h)
// *.tmp               being made; removed at open
// CHECKPOINT.tmp      a checkpoint was begun here and is not finished
// Numbers are unique over all kinds within a database and never reused by another file (a recycled segment is renamed to its new number).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stele::internal {

enum class FileType { kCurrent, kLock, kManifest, kSegment, kSstable, kSpill, kReserve, kTemporary };
struct FileName {
  FileType type;
  uint64_t number = 0;  // 0 for CURRENT, LOCK, RESERVE and temporaries
};

inline constexpr std::string_view kCurrentName = "CURRENT";
inline constexpr std::string_view kLockName = "LOCK";
inline constexpr std::string_view kReserveName = "RESERVE";
inline constexpr std::string_view kCheckpointMarkName = "CHECKPOINT.tmp";
std::string ManifestName(uint64_t number);
std::string SegmentName(uint64_t number);
std::string SstableName(uint64_t number);
std::string SpillName(uint64_t number);
std::string TemporaryName(std::string_view final_name);
// nullopt for a name Stele never makes.
std::optional<FileName> ParseFileName(std::string_view name);
std::string JoinPath(std::string_view directory, std::string_view name);
// The directory that holds `path`; a slash at its end counts for nothing.
std::string ParentDirectory(const std::string& path);

}  // namespace stele::internal
