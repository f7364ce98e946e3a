#include "compaction/file_shares.h"

#include <algorithm>

namespace stele::internal {

PartsByFile CountParts(const TableState& table) {
  PartsByFile parts;
  for (const Tablet& tablet : table.tablets) {
    for (const SstableReference& reference : tablet.stack) {
      FileParts& file = parts[reference.file->number];
      const SstableSummary& summary = reference.file->summary;
      if (file.shown++ == 0) file.all = table.TabletIndexOf(summary.last_row) - table.TabletIndexOf(summary.first_row) + 1;
      file.all = std::max(file.all, file.shown);
    }
  }
  return parts;
}

uint64_t ShareBytes(const SstableReference& reference, const PartsByFile& parts) {
  return std::max<uint64_t>(1, reference.file->summary.file_bytes / parts.at(reference.file->number).all);
}

}  // namespace stele::internal
