#include "compaction/file_shares.h"

#include <algorithm>

namespace stele::internal {
namespace {

// The references of the reference's tablet to its file, itself among them.
uint64_t ReferencesBeside(const SstableReference& reference, const FileParts& file) {
  const auto behind = std::upper_bound(file.shown.begin(), file.shown.end(), std::string_view(reference.range->start),
                                       [](std::string_view row, const FileParts::InTablet& tablet) { return row < tablet.tablet_start; });
  return std::prev(behind)->references;
}

}  // namespace

PartsByFile CountParts(const TableState& table) {
  PartsByFile parts;
  for (const Tablet& tablet : table.tablets) {
    for (const SstableReference& reference : tablet.stack) {
      FileParts& file = parts[reference.file->number];
      const SstableSummary& summary = reference.file->summary;
      if (file.shown.empty()) file.all = table.TabletIndexOf(summary.last_row) - table.TabletIndexOf(summary.first_row) + 1;
      if (file.shown.empty() || file.shown.back().tablet_start != tablet.range.start) file.shown.push_back({tablet.range.start, 0});
      ++file.shown.back().references;
      file.all = std::max<uint64_t>(file.all, file.shown.size());
    }
  }
  return parts;
}

uint64_t ShareOf(uint64_t file_bytes, const SstableReference& reference, const PartsByFile& parts) {
  const FileParts& file = parts.at(reference.file->number);
  return file_bytes / file.all / ReferencesBeside(reference, file);
}

uint64_t PartBytes(const SstableReference& reference, const PartsByFile& parts) {
  return reference.file->summary.file_bytes / parts.at(reference.file->number).all;
}

uint64_t ShareBytes(const SstableReference& reference, const PartsByFile& parts) {
  return std::max<uint64_t>(1, ShareOf(reference.file->summary.file_bytes, reference, parts));
}

uint64_t HeldBytes(const SstableReference& reference, const PartsByFile& parts) {
  const FileParts& file = parts.at(reference.file->number);
  const uint64_t bytes = reference.file->summary.file_bytes / file.shown.size() / ReferencesBeside(reference, file);
  return std::max<uint64_t>(1, bytes);
}

}  // namespace stele::internal
