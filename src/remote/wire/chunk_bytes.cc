#include "remote/wire/chunk_bytes.h"

#include <bit>
#include <cstring>

#include "base/invariant.h"

namespace stele::internal {
namespace {

// All field numbers are below 16, so the tag with the wire type is one byte.
constexpr size_t kTagBytes = 1;
constexpr char BytesTag(int number) { return static_cast<char>(number << 3 | 2); }
constexpr char VarintTag(int number) { return static_cast<char>(number << 3); }

size_t VarintBytes(uint64_t number) {
  return (static_cast<size_t>(std::bit_width(number | 1)) + 6) / 7;
}
size_t FieldBytes(size_t bytes) { return kTagBytes + VarintBytes(bytes) + bytes; }
// Protobuf omits empty fields.
size_t FilledBytes(size_t bytes) { return bytes == 0 ? 0 : FieldBytes(bytes); }
size_t FilledVarintBytes(uint64_t number) {
  return number == 0 ? 0 : kTagBytes + VarintBytes(number);
}
size_t OptionalBytes(const std::optional<std::string_view>& text) {
  return text.has_value() ? FieldBytes(FilledBytes(text->size())) : 0;
}

size_t ChunkBytes(const CellChunkView& chunk) {
  size_t bytes = FilledBytes(chunk.row_key.size()) + OptionalBytes(chunk.family_name) +
                 OptionalBytes(chunk.qualifier) +
                 FilledVarintBytes(static_cast<uint64_t>(chunk.timestamp_micros)) +
                 FilledBytes(chunk.value.size()) + FilledVarintBytes(chunk.value_size) +
                 (chunk.commit_row ? kTagBytes + 1 : 0);
  for (const std::string& label : chunk.labels) bytes += FieldBytes(label.size());
  return bytes;
}

// Writes to space that was allocated before.
class FieldWriter {
 public:
  explicit FieldWriter(char* out) : out_(out) {}

  void Head(char tag, uint64_t number) {
    *out_++ = tag;
    for (; number >= 0x80; number >>= 7) *out_++ = static_cast<char>(number | 0x80);
    *out_++ = static_cast<char>(number);
  }
  void Bytes(char tag, std::string_view bytes) {
    Head(tag, bytes.size());
    if (!bytes.empty()) std::memcpy(out_, bytes.data(), bytes.size());
    out_ += bytes.size();
  }
  void Filled(char tag, std::string_view bytes) {
    if (!bytes.empty()) Bytes(tag, bytes);
  }
  void FilledVarint(char tag, uint64_t number) {
    if (number != 0) Head(tag, number);
  }
  // A nested message with one field, so that "" differs from an absent value.
  void Optional(char tag, const std::optional<std::string_view>& text) {
    if (!text.has_value()) return;
    Head(tag, FilledBytes(text->size()));
    Filled(BytesTag(1), *text);
  }
  const char* end() const { return out_; }

 private:
  char* out_;
};

}  // namespace

size_t BytesInResponse(const CellChunkView& chunk) { return FieldBytes(ChunkBytes(chunk)); }

void AppendChunk(const CellChunkView& chunk, std::string* response) {
  const size_t chunk_bytes = ChunkBytes(chunk);
  const size_t begin = response->size();
  response->resize(begin + FieldBytes(chunk_bytes));
  FieldWriter writer(response->data() + begin);
  writer.Head(BytesTag(1), chunk_bytes);
  writer.Filled(BytesTag(1), chunk.row_key);
  writer.Optional(BytesTag(2), chunk.family_name);
  writer.Optional(BytesTag(3), chunk.qualifier);
  writer.FilledVarint(VarintTag(4), static_cast<uint64_t>(chunk.timestamp_micros));
  for (const std::string& label : chunk.labels) writer.Bytes(BytesTag(5), label);
  writer.Filled(BytesTag(6), chunk.value);
  writer.FilledVarint(VarintTag(7), chunk.value_size);
  if (chunk.commit_row) writer.Head(VarintTag(9), 1);
  STELE_INVARIANT(writer.end() == response->data() + response->size());
}

}  // namespace stele::internal
