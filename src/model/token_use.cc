#include "model/token_use.h"

#include <algorithm>

namespace stele::internal {

bool TokenUse::Covers(uint64_t entry) const {
  const auto after =
      std::upper_bound(entries.begin(), entries.end(), entry, [](uint64_t e, const EntryRange& range) { return e < range.begin; });
  return after != entries.begin() && entry < std::prev(after)->end;
}

void TokenUse::Add(const std::vector<EntryRange>& others) {
  entries.insert(entries.end(), others.begin(), others.end());
  std::sort(entries.begin(), entries.end(), [](const EntryRange& a, const EntryRange& b) { return a.begin < b.begin; });
  std::vector<EntryRange> joined;
  for (const EntryRange& range : entries) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  entries = std::move(joined);
}

void AppendTokenUse(std::string* out, const TokenUse& use) {
  AppendBytes(*out, use.token);
  out->push_back(static_cast<char>(use.answer));
  AppendVarint(*out, use.entries.size());
  uint64_t at = 0;
  for (const EntryRange& range : use.entries) {
    AppendVarint(*out, range.begin - at);
    AppendVarint(*out, range.end - range.begin);
    at = range.end;
  }
}

bool ReadTokenUse(ByteReader* in, TokenUse* use) {
  std::string_view token;
  uint8_t answer;
  uint64_t count;
  if (!in->ReadBytes(&token) || token.empty() || token.size() > kTokenBytesMax || !in->ReadByte(&answer) ||
      answer > static_cast<uint8_t>(TokenAnswer::kPredicateNotMatched) || !in->ReadVarint(&count) || count == 0 ||
      count > in->remaining()) {
    return false;
  }
  use->token = token;
  use->answer = static_cast<TokenAnswer>(answer);
  use->entries.clear();
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t gap;
    uint64_t length;
    if (!in->ReadVarint(&gap) || !in->ReadVarint(&length) || length == 0 || (i > 0 && gap == 0)) return false;
    if (gap > UINT32_MAX - at || length > UINT32_MAX - at - gap) return false;
    use->entries.push_back({at + gap, at + gap + length});
    at += gap + length;
  }
  return true;
}

}  // namespace stele::internal
