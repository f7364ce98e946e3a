// io/file_names.h: formats and parses the names of a database's files.
//
//   CURRENT            names the current manifest
//   LOCK               locked by the process that has the database open
//   MANIFEST-000007    a manifest, by number
//   000012.log         a segment of the commit log
//   000013.sst         an SSTable
//   000014.spill       an SSTable that only views of the running process use; removed at open
//   RESERVE            reserves space for the time when the disk is full (io/space_reserve.h)
//   *.tmp              being written; removed at open
//   CHECKPOINT.tmp     a checkpoint was begun in this directory and is not finished
//
// Numbers are unique over all kinds of files in a database, and are never reused by another file (a
// recycled segment is renamed to its new number).
//
// Strays:    a person may put a file with such a name into the directory, with any number. Counting
//            from a number near 2^64 would wrap around. So a file with a number that this database
//            cannot have assigned is ignored: it is not read, counted or removed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stele::internal {

enum class FileType {
  kCurrent,
  kLock,
  kManifest,
  kSegment,
  kSstable,
  kSpill,
  kReserve,
  kTemporary
};
struct FileName {
  FileType type;
  uint64_t number = 0;  // 0 for CURRENT, LOCK, RESERVE and temporary files
};

// All file numbers are below this.
inline constexpr uint64_t kFileNumberEnd = uint64_t{1} << 62;
// The next file number in a manifest is at most this. No process runs long enough to count from
// here to kFileNumberEnd.
inline constexpr uint64_t kNextFileNumberMax = kFileNumberEnd / 2;
// No database creates this many files between two edits of its manifest.
inline constexpr uint64_t kUnrecordedFilesMax = uint64_t{1} << 32;

// Returns the end of the range of file numbers that a database can have given out.
// `next_file_number` is the next number in its manifest.
constexpr uint64_t FileNumberEnd(uint64_t next_file_number) {
  return std::min(next_file_number, kFileNumberEnd - kUnrecordedFilesMax) + kUnrecordedFilesMax;
}

// Returns the end of the file numbers from which recovery continues to count. It is below
// FileNumberEnd(), so that the next recovery recognises the files created after this one, whatever
// stray file was counted.
constexpr uint64_t CountedFileNumberEnd(uint64_t next_file_number) {
  return FileNumberEnd(next_file_number) - kUnrecordedFilesMax / 2;
}
// Recovery records the next file number in the manifest if strays have moved it by this or more.
inline constexpr uint64_t kRecordedFileNumberGap = uint64_t{1} << 20;

inline constexpr std::string_view kCurrentName = "CURRENT";
inline constexpr std::string_view kLockName = "LOCK";
inline constexpr std::string_view kReserveName = "RESERVE";
inline constexpr std::string_view kCheckpointMarkName = "CHECKPOINT.tmp";
std::string ManifestName(uint64_t number);
std::string SegmentName(uint64_t number);
std::string SstableName(uint64_t number);
std::string SpillName(uint64_t number);
std::string TemporaryName(std::string_view final_name);
// Returns nullopt for a name that Stele never makes, and for a number that is not below
// `number_end`.
std::optional<FileName> ParseFileName(std::string_view name, uint64_t number_end = kFileNumberEnd);
std::string JoinPath(std::string_view directory, std::string_view name);
// The directory that contains `path`; trailing slashes are ignored.
std::string ParentDirectory(const std::string& path);

}  // namespace stele::internal
