#include "model/token_use.h"

#include <algorithm>

#include "base/coding.h"

namespace stele::internal {

bool ContainsEntry(const std::vector<EntryRange>& ranges, uint64_t entry) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), entry,
                       [](uint64_t e, const EntryRange& range) { return e < range.begin; });
  return after != ranges.begin() && entry < std::prev(after)->end;
}

void AddEntries(const EntryRange& added, std::vector<EntryRange>* ranges) {
  // The first range that ends at or behind the beginning.
  const auto first =
      std::lower_bound(ranges->begin(), ranges->end(), added.begin,
                       [](const EntryRange& range, uint64_t begin) { return range.end < begin; });
  EntryRange joined = added;
  auto last = first;
  for (; last != ranges->end() && last->begin <= added.end; ++last) {
    joined.begin = std::min(joined.begin, last->begin);
    joined.end = std::max(joined.end, last->end);
  }
  if (first == last) {
    ranges->insert(first, joined);
    return;
  }
  *first = joined;
  ranges->erase(first + 1, last);
}

std::string EncodeTokenUse(const TokenUse& use) {
  std::string out;
  out.push_back(static_cast<char>(use.result));
  AppendVarint(out, use.entries.size());
  uint64_t at = 0;
  for (const EntryRange& range : use.entries) {
    AppendVarint(out, range.begin - at);
    AppendVarint(out, range.end - range.begin);
    at = range.end;
  }
  return out.append(use.row);
}

bool DecodeTokenUse(std::string_view bytes, TokenUse* use) {
  ByteReader in(bytes);
  uint8_t result;
  uint64_t count;
  if (!in.ReadByte(&result) || result > static_cast<uint8_t>(TokenResult::kLargeRow) ||
      !in.ReadVarint(&count) || count == 0 || count > in.remaining()) {
    return false;
  }
  use->result = static_cast<TokenResult>(result);
  use->entries.clear();
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t gap;
    uint64_t length;
    if (!in.ReadVarint(&gap) || !in.ReadVarint(&length) || length == 0 || (i > 0 && gap == 0))
      return false;
    if (gap > UINT32_MAX - at || length > UINT32_MAX - at - gap) return false;
    use->entries.push_back({at + gap, at + gap + length});
    at += gap + length;
  }
  std::string_view row;
  if (!in.ReadRaw(in.remaining(), &row)) return false;
  use->row = row;
  return row.empty() || use->result == TokenResult::kRow || use->result == TokenResult::kLargeRow;
}

}  // namespace stele::internal
