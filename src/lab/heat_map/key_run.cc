#include "lab/heat_map/key_run.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/invariant.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;
constexpr int kCompressionLevel = 1;

}  // namespace

size_t SharedBytes(std::string_view a, std::string_view b) {
  const size_t bytes_max = std::min(a.size(), b.size());
  size_t shared = 0;
  for (; shared + sizeof(uint64_t) <= bytes_max; shared += sizeof(uint64_t)) {
    const uint64_t different = LoadFixed64(a.data() + shared) ^ LoadFixed64(b.data() + shared);
    if (different != 0) return shared + static_cast<size_t>(std::countr_zero(different)) / 8;
  }
  while (shared < bytes_max && a[shared] == b[shared]) ++shared;
  return shared;
}

uint64_t HeadOf(std::string_view key, size_t skipped) {
  uint64_t head = 0;
  if (skipped + sizeof head <= key.size())
    return __builtin_bswap64(LoadFixed64(key.data() + skipped));
  for (size_t i = 0; i < sizeof head; ++i)
    head =
        head << 8 | (skipped + i < key.size() ? static_cast<unsigned char>(key[skipped + i]) : 0);
  return head;
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
