#include "io/chunked_bytes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace stele::internal {

struct ChunkedBytes::Chunk {
  explicit Chunk(uint64_t chunk_owner) : owner(chunk_owner) {}
  const uint64_t owner;
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
};

namespace {

constexpr uint64_t kChunkCountMax = uint64_t{1} << 20;

}  // namespace

uint64_t ChunkedBytes::NewOwner() {
  static std::atomic<uint64_t> owners{0};  // relaxed: the values need only differ
  return owners.fetch_add(1, std::memory_order_relaxed);
}

ChunkedBytes ChunkedBytes::Share() {
  ChunkedBytes copy(chunk_bytes_);
  copy.size_ = size_;
  copy.chunks_ = chunks_;
  owner_ = NewOwner();
  return copy;
}

size_t ChunkedBytes::Read(uint64_t offset, size_t bytes, char* out) const {
  if (offset >= size_) return 0;
  bytes = std::min<uint64_t>(bytes, size_ - offset);
  size_t done = 0;
  while (done < bytes) {
    const size_t within = (offset + done) % chunk_bytes_;
    const size_t step = std::min(bytes - done, chunk_bytes_ - within);
    const ChunkPointer& chunk = chunks_[(offset + done) / chunk_bytes_];
    if (chunk == nullptr) {
      std::memset(out + done, 0, step);
    } else {
      std::memcpy(out + done, chunk->bytes() + within, step);
    }
    done += step;
  }
  return bytes;
}

ChunkedBytes::ChunkPointer ChunkedBytes::NewChunk() const {
  void* const memory = std::calloc(1, sizeof(Chunk) + chunk_bytes_);
  if (memory == nullptr) return nullptr;
  return ChunkPointer(new (memory) Chunk(owner_), [](Chunk* chunk) { std::free(chunk); });
}

char* ChunkedBytes::WritableChunk(size_t chunk_index) {
  ChunkPointer& chunk = chunks_[chunk_index];
  if (chunk != nullptr && chunk->owner == owner_) return chunk->bytes();
  ChunkPointer fresh = NewChunk();
  if (fresh == nullptr) return nullptr;
  if (chunk != nullptr) std::memcpy(fresh->bytes(), chunk->bytes(), chunk_bytes_);
  chunk = std::move(fresh);
  return chunk->bytes();
}

int ChunkedBytes::Write(uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return 0;
  const uint64_t bytes_max = kChunkCountMax * chunk_bytes_;
  if (offset > bytes_max || bytes.size() > bytes_max - offset) return EFBIG;
  const uint64_t end = offset + bytes.size();
  if (end > size_) {
    const int error_number = Resize(end);
    if (error_number != 0) return error_number;
  }
  while (!bytes.empty()) {
    const size_t within = offset % chunk_bytes_;
    const size_t step = std::min(bytes.size(), chunk_bytes_ - within);
    char* const chunk = WritableChunk(offset / chunk_bytes_);
    if (chunk == nullptr) return ENOMEM;
    std::memcpy(chunk + within, bytes.data(), step);
    offset += step;
    bytes.remove_prefix(step);
  }
  return 0;
}

int ChunkedBytes::Resize(uint64_t bytes) {
  if (bytes > kChunkCountMax * chunk_bytes_) return EFBIG;
  const size_t within = bytes % chunk_bytes_;
  if (bytes < size_ && within != 0 && chunks_[bytes / chunk_bytes_] != nullptr) {
    char* const last = WritableChunk(bytes / chunk_bytes_);
    if (last == nullptr) return ENOMEM;
    std::memset(last + within, 0, chunk_bytes_ - within);
  }
  chunks_.resize((bytes + chunk_bytes_ - 1) / chunk_bytes_);
  size_ = bytes;
  return 0;
}

bool ChunkedBytes::IsZero(uint64_t offset, size_t bytes) const {
  char block[512];
  while (bytes > 0) {
    const size_t got = Read(offset, std::min(bytes, sizeof block), block);
    if (got == 0) return true;
    if (std::any_of(block, block + got, [](char c) { return c != 0; })) return false;
    offset += got;
    bytes -= got;
  }
  return true;
}

}  // namespace stele::internal
