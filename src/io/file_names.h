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
//
// Strays:    a file of such a name may also be put there by hand, with any number. Counting on above a number near 2^64
//            would wrap around. So a number that this database cannot have given out makes the name another's: the file
//            is not read, not counted and not removed.
#pragma once

#include <algorithm>
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

// All file numbers are below.
inline constexpr uint64_t kFileNumberEnd = uint64_t{1} << 62;
// A manifest's next file number is at most this. No process lives long enough to count from here to kFileNumberEnd.
inline constexpr uint64_t kNextFileNumberMax = kFileNumberEnd / 2;
// No database makes so many files between two edits of its manifest.
inline constexpr uint64_t kUnrecordedFilesMax = uint64_t{1} << 32;

// The end of the numbers that a database can have given out, by the next number that its manifest tells.
constexpr uint64_t FileNumberEnd(uint64_t next_file_number) {
  return std::min(next_file_number, kFileNumberEnd - kUnrecordedFilesMax) + kUnrecordedFilesMax;
}

inline constexpr std::string_view kCurrentName = "CURRENT";
inline constexpr std::string_view kLockName = "LOCK";
inline constexpr std::string_view kReserveName = "RESERVE";
inline constexpr std::string_view kCheckpointMarkName = "CHECKPOINT.tmp";
std::string ManifestName(uint64_t number);
std::string SegmentName(uint64_t number);
std::string SstableName(uint64_t number);
std::string SpillName(uint64_t number);
std::string TemporaryName(std::string_view final_name);
// nullopt for a name that Stele never makes, and for a number that is not below `number_end`.
std::optional<FileName> ParseFileName(std::string_view name, uint64_t number_end = kFileNumberEnd);
std::string JoinPath(std::string_view directory, std::string_view name);
// The directory that holds `path`; a slash at its end counts for nothing.
std::string ParentDirectory(const std::string& path);

}  // namespace stele::internal
