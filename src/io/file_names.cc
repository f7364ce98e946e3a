#include "io/file_names.h"

#include <fmt/format.h>

namespace stele::internal {
namespace {

constexpr std::string_view kManifestPrefix = "MANIFEST-";
constexpr std::string_view kSegmentSuffix = ".log";
constexpr std::string_view kSstableSuffix = ".sst";
constexpr std::string_view kSpillSuffix = ".spill";
constexpr std::string_view kTemporarySuffix = ".tmp";

// Accepts only the form of fmt's {:06}, so that two names never mean the same number.
std::optional<uint64_t> ParseNumber(std::string_view digits) {
  constexpr size_t kDigitsMax = 19;  // of kFileNumberEnd; this many digits do not overflow
  if (digits.size() < 6 || digits.size() > kDigitsMax) return std::nullopt;
  if (digits.size() > 6 && digits.front() == '0') return std::nullopt;
  uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

std::optional<FileName> Numbered(FileType type, std::string_view digits, uint64_t number_end) {
  const std::optional<uint64_t> number = ParseNumber(digits);
  if (!number.has_value() || *number >= number_end) return std::nullopt;
  return FileName{type, *number};
}

}  // namespace

std::string ManifestName(uint64_t number) {
  return fmt::format("{}{:06}", kManifestPrefix, number);
}
std::string SegmentName(uint64_t number) { return fmt::format("{:06}{}", number, kSegmentSuffix); }
std::string SstableName(uint64_t number) { return fmt::format("{:06}{}", number, kSstableSuffix); }
std::string SpillName(uint64_t number) { return fmt::format("{:06}{}", number, kSpillSuffix); }
std::string TemporaryName(std::string_view final_name) {
  return fmt::format("{}{}", final_name, kTemporarySuffix);
}

std::optional<FileName> ParseFileName(std::string_view name, uint64_t number_end) {
  if (name == kCurrentName) return FileName{FileType::kCurrent};
  if (name == kLockName) return FileName{FileType::kLock};
  if (name == kReserveName) return FileName{FileType::kReserve};
  if (name == kCheckpointMarkName) return FileName{FileType::kTemporary};
  if (name.ends_with(kTemporarySuffix)) {
    // Accept only names that TemporaryName makes of a file of ours: a user's "notes.tmp" must not
    // be removed.
    const std::string_view final_name = name.substr(0, name.size() - kTemporarySuffix.size());
    const std::optional<FileName> parsed = ParseFileName(final_name, number_end);
    if (!parsed.has_value() || parsed->type == FileType::kTemporary) return std::nullopt;
    return FileName{FileType::kTemporary};
  }
  if (name.starts_with(kManifestPrefix))
    return Numbered(FileType::kManifest, name.substr(kManifestPrefix.size()), number_end);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view suffix = name.substr(dot);
  if (suffix == kSegmentSuffix)
    return Numbered(FileType::kSegment, name.substr(0, dot), number_end);
  if (suffix == kSstableSuffix)
    return Numbered(FileType::kSstable, name.substr(0, dot), number_end);
  if (suffix == kSpillSuffix) return Numbered(FileType::kSpill, name.substr(0, dot), number_end);
  return std::nullopt;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  return directory.ends_with('/') ? fmt::format("{}{}", directory, name)
                                  : fmt::format("{}/{}", directory, name);
}

std::string ParentDirectory(const std::string& path) {
  const size_t name_end = path.find_last_not_of('/');
  if (name_end == std::string::npos) return path.empty() ? "." : "/";
  const size_t slash = path.find_last_of('/', name_end);
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace stele::internal
