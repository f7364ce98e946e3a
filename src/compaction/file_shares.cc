#include "compaction/file_shares.h"

#include <algorithm>

namespace stele::internal {
namespace {

// The number of references that the reference's tablet has to its file, this one included.
uint64_t ReferencesInTablet(const SstableReference& reference, const FileParts& file) {
  const auto behind = std::upper_bound(file.counted.begin(), file.counted.end(),
                                       std::string_view(reference.range->start),
                                       [](std::string_view row, const FileParts::InTablet& tablet) {
                                         return row < tablet.tablet_start;
                                       });
  return std::prev(behind)->references;
}

// Sets everything except FileParts::referencing_tablets.
FileShares CountIn(const TableState& table, size_t begin, size_t end) {
  FileShares parts;
  for (auto tablet = table.tablets.begin() + static_cast<std::ptrdiff_t>(begin); begin < end;
       ++begin, ++tablet) {
    for (const SstableReference& reference : tablet->stack) {
      FileParts& file = parts[reference.file->number];
      const SstableSummary& summary = reference.file->summary;
      if (file.counted.empty())
        file.reached_tablets =
            table.TabletIndexOf(summary.last_row) - table.TabletIndexOf(summary.first_row) + 1;
      if (file.counted.empty() || file.counted.back().tablet_start != tablet->range.start) {
        file.counted.push_back({tablet->range.start, 0});
      }
      ++file.counted.back().references;
    }
  }
  return parts;
}

}  // namespace

FileShares CountParts(const TableState& table) {
  FileShares parts = CountIn(table, 0, table.tablets.size());
  for (auto& [number, file] : parts) {
    file.referencing_tablets = file.counted.size();
    file.reached_tablets = std::max(file.reached_tablets, file.referencing_tablets);
  }
  return parts;
}

FileShares CountParts(const TableState& table, const SharedMap<uint64_t, FileUse>& files,
                      size_t begin, size_t end) {
  FileShares parts = CountIn(table, begin, end);
  for (auto& [number, file] : parts) {
    file.referencing_tablets = files.at(number).tablets;
    file.reached_tablets = std::max(file.reached_tablets, file.referencing_tablets);
  }
  return parts;
}

uint64_t ShareOf(uint64_t file_bytes, const SstableReference& reference, const FileShares& parts) {
  const FileParts& file = parts.at(reference.file->number);
  return file_bytes / file.reached_tablets / ReferencesInTablet(reference, file);
}

uint64_t PartBytes(const SstableReference& reference, const FileShares& parts) {
  return reference.file->summary.file_bytes / parts.at(reference.file->number).reached_tablets;
}

uint64_t ShareBytes(const SstableReference& reference, const FileShares& parts) {
  return std::max<uint64_t>(1, ShareOf(reference.file->summary.file_bytes, reference, parts));
}

uint64_t HeldBytes(const SstableReference& reference, const FileShares& parts) {
  const FileParts& file = parts.at(reference.file->number);
  const uint64_t bytes = reference.file->summary.file_bytes / file.referencing_tablets /
                         ReferencesInTablet(reference, file);
  return std::max<uint64_t>(1, bytes);
}

}  // namespace stele::internal
