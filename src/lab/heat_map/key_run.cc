#include "lab/heat_map/key_run.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;
constexpr int kCompressionLevel = 1;

}  // namespace

size_t SharedBytes(std::string_view a, std::string_view b) {
  const auto different = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(different.first - a.begin());
}

void KeyRun::Append(std::string_view key, uint64_t count) {
  const size_t shared = open_block_.empty() ? 0 : SharedBytes(last_key_, key);
  AppendVarint(open_block_, shared);
  AppendBytes(open_block_, key.substr(shared));
  AppendVarint(open_block_, count);
  last_key_.assign(key);
  ++keys_;
  if (open_block_.size() >= kBlockBytes) EndBlock();
}

void KeyRun::EndBlock() {
  if (open_block_.empty()) return;
  std::string compressed(ZSTD_compressBound(open_block_.size()), '\0');
  const size_t bytes = ZSTD_compress(compressed.data(), compressed.size(), open_block_.data(),
                                     open_block_.size(), kCompressionLevel);
  STELE_CHECK(ZSTD_isError(bytes) == 0);
  blocks_.push_back({std::string(compressed.data(), bytes), open_block_.size()});
  bytes_ += bytes + sizeof(Block);
  open_block_.clear();
}

bool KeyRunCursor::NextBlock() {
  std::vector<KeyRun::Block>& blocks = run_->blocks();
  if (next_block_ == blocks.size()) return false;
  KeyRun::Block& block = blocks[next_block_++];
  plain_.resize(block.plain_bytes);
  const size_t bytes = ZSTD_decompress(plain_.data(), plain_.size(), block.compressed.data(),
                                       block.compressed.size());
  STELE_CHECK(bytes == plain_.size());
  if (blocks_ == Blocks::kFreed) std::string().swap(block.compressed);
  rest_ = ByteReader(plain_);
  return true;
}

bool KeyRunCursor::Next() {
  if (rest_.AtEnd() && !NextBlock()) return false;
  uint64_t shared = 0;
  std::string_view suffix;
  const bool is_whole =
      rest_.ReadVarint(&shared) && rest_.ReadBytes(&suffix) && rest_.ReadVarint(&count_);
  STELE_CHECK(is_whole && shared <= key_.size());
  key_.resize(shared);
  key_.append(suffix);
  return true;
}

}  // namespace stele::internal::lab
