// base/coding.h: little-endian integers, varints and length-prefixed bytes; reading is
// bounds-checked and never trusts a length.
//
// Used by:   the writers and readers of stored bytes: mutation, wal, sstable, manifest, trace.
// Format:    docs/reference/format/conventions.md.
// Errors:    writers have none. ByteReader returns false after the first malformed field, and stays
//            in that state.
// Threads:   thread-compatible.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stele::internal {

static_assert(std::endian::native == std::endian::little,
              "Stele's formats are little-endian and read in place");

inline uint32_t LoadFixed32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline uint64_t LoadFixed64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline uint16_t LoadFixed16(const char* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void StoreFixed32(char* p, uint32_t v) { std::memcpy(p, &v, sizeof v); }
inline void StoreFixed64(char* p, uint64_t v) { std::memcpy(p, &v, sizeof v); }

inline void AppendFixed16(std::string& out, uint16_t v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}
inline void AppendFixed32(std::string& out, uint32_t v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}
inline void AppendFixed64(std::string& out, uint64_t v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

inline void AppendVarint(std::string& out, uint64_t v) {
  while (v >= 0x80) {
    out.push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out.push_back(static_cast<char>(v));
}
// Zigzag encoding keeps small negative numbers short.
inline void AppendSignedVarint(std::string& out, int64_t v) {
  AppendVarint(out, (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63));
}
inline void AppendBytes(std::string& out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

inline constexpr size_t kVarintBytesMax = 10;
// These two write to memory that has room for the bytes, and for kVarintBytesMax bytes of a varint.
// They return the end of what they wrote.
inline char* StoreVarint(char* p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = static_cast<char>(v | 0x80);
    v >>= 7;
  }
  *p++ = static_cast<char>(v);
  return p;
}
inline char* StoreBytes(char* p, std::string_view bytes) {
  p = StoreVarint(p, bytes.size());
  if (!bytes.empty()) std::memcpy(p, bytes.data(), bytes.size());
  return p + bytes.size();
}

// Reads what the functions above wrote, from untrusted bytes. The views that it returns point into
// the bytes passed to the constructor.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }
  size_t remaining() const { return rest_.size(); }

  bool ReadFixed16(uint16_t* v) { return ReadRaw(v, sizeof *v); }
  bool ReadFixed32(uint32_t* v) { return ReadRaw(v, sizeof *v); }
  bool ReadFixed64(uint64_t* v) { return ReadRaw(v, sizeof *v); }
  bool ReadByte(uint8_t* v) { return ReadRaw(v, sizeof *v); }
  bool ReadVarint(uint64_t* v) {  // at most ten bytes; an overflow is an error
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (!ok_ || rest_.empty()) return Fail();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) return Fail();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        *v = value;
        return true;
      }
    }
    return Fail();
  }
  bool ReadVarint32(uint32_t* v) {
    uint64_t wide;
    if (!ReadVarint(&wide) || wide > UINT32_MAX) return Fail();
    *v = static_cast<uint32_t>(wide);
    return true;
  }
  bool ReadSignedVarint(int64_t* v) {
    uint64_t raw;
    if (!ReadVarint(&raw)) return false;
    *v = static_cast<int64_t>((raw >> 1) ^ (~(raw & 1) + 1));
    return true;
  }
  bool ReadBytes(std::string_view* bytes) {
    uint64_t length;
    return ReadVarint(&length) && ReadRaw(length, bytes);
  }
  bool ReadRaw(uint64_t length, std::string_view* bytes) {
    if (!ok_ || length > rest_.size()) return Fail();
    *bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }

 private:
  bool ReadRaw(void* out, size_t length) {
    if (!ok_ || length > rest_.size()) return Fail();
    std::memcpy(out, rest_.data(), length);
    rest_.remove_prefix(length);
    return true;
  }
  bool Fail() {
    ok_ = false;
    return false;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace stele::internal
