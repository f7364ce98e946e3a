#include "views/index_boundaries.h"

#include <algorithm>

namespace stele::internal {

std::vector<StoredPart> StoredParts::Of(const ViewReference& reference, const KeyRange& rows) {
  std::vector<StoredPart> parts;
  const std::shared_ptr<SstableReader>& reader = reference.file->reader();
  if (reader == nullptr) return parts;
  std::vector<SstableReader::Boundary>& boundaries = boundaries_[reference.reference.file->number];
  if (boundaries.empty()) {
    boundaries = reader->Boundaries();
    boundaries.insert(boundaries.begin(), {reader->summary().first_row, 0});
  }
  const uint64_t file_bytes = reader->summary().file_bytes;
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const std::string& row_key = boundaries[i].row_key;
    const uint64_t end = i + 1 < boundaries.size() ? boundaries[i + 1].offset_bytes : file_bytes;
    if (!reference.reference.range.Contains(row_key) || !rows.Contains(row_key)) continue;
    parts.push_back({row_key, end - std::min(end, boundaries[i].offset_bytes)});
  }
  return parts;
}

}  // namespace stele::internal
