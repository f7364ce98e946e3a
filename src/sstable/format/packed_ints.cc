#include "sstable/format/packed_ints.h"

namespace stele::internal {
namespace {

uint32_t WidthFor(uint64_t greatest) {
  if (greatest == 0) return 0;
  if (greatest <= UINT8_MAX) return 1;
  if (greatest <= UINT16_MAX) return 2;
  if (greatest <= UINT32_MAX) return 4;
  return 8;
}

// All arithmetic is modulo 2^64, so that it is also correct for timestamps at both ends of their
// range.
template <typename T>
void AppendPacked(std::string* out, std::span<const T> values, uint64_t stride) {
  int64_t least = 0;
  int64_t greatest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto rest = static_cast<int64_t>(static_cast<uint64_t>(values[i]) - stride * i);
    if (i == 0 || rest < least) least = rest;
    if (i == 0 || rest > greatest) greatest = rest;
  }
  const auto base = static_cast<uint64_t>(least);
  const uint32_t width = WidthFor(static_cast<uint64_t>(greatest) - base);
  out->push_back(static_cast<char>(width));
  AppendSignedVarint(*out, least);
  AppendVarint(*out, stride);
  if (width == 0) return;
  size_t at = out->size();
  out->resize(at + values.size() * width);
  for (size_t i = 0; i < values.size(); ++i, at += width) {
    const uint64_t rest = static_cast<uint64_t>(values[i]) - stride * i - base;
    std::memcpy(out->data() + at, &rest, width);
  }
}

// Calls `check` with a function that loads elements of a width known at compile time, which is
// several times faster.
template <typename Check>
bool WithWidth(const char* rests, uint32_t width, const Check& check) {
  switch (width) {
    case 1:
      return check([rests](uint64_t i) -> uint64_t { return static_cast<uint8_t>(rests[i]); });
    case 2:
      return check([rests](uint64_t i) -> uint64_t { return LoadFixed16(rests + 2 * i); });
    case 4:
      return check([rests](uint64_t i) -> uint64_t { return LoadFixed32(rests + 4 * i); });
    default:
      return check([rests](uint64_t i) -> uint64_t { return LoadFixed64(rests + 8 * i); });
  }
}

}  // namespace

bool PackedInts::ReadFrom(ByteReader* in, uint64_t count) {
  uint8_t width;
  int64_t base;
  uint64_t stride;
  if (!in->ReadByte(&width) || !in->ReadSignedVarint(&base) || !in->ReadVarint(&stride))
    return false;
  if (width != 0 && width != 1 && width != 2 && width != 4 && width != 8) return false;
  if (stride > UINT32_MAX || count > UINT32_MAX) return false;
  std::string_view rests;
  if (!in->ReadRaw(count * width, &rests)) return false;
  remainders_ = rests.data();
  base_ = static_cast<uint64_t>(base);
  stride_ = static_cast<uint32_t>(stride);
  width_ = width;
  return true;
}

bool PackedInts::AllWithin(uint64_t count, uint64_t least, uint64_t greatest) const {
  if (count == 0) return true;
  if (width_ == 0 && stride_ == 0) return base_ >= least && base_ <= greatest;
  if (width_ == 0) {
    for (uint64_t i = 0; i < count; ++i) {
      if ((*this)[i] < least || (*this)[i] > greatest) return false;
    }
    return true;
  }
  return WithWidth(remainders_, width_, [&](const auto& rest) {
    bool good = true;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t value = base_ + uint64_t{stride_} * i + rest(i);
      good &= (value >= least) & (value <= greatest);
    }
    return good;
  });
}

bool PackedInts::AreOffsets(uint64_t count, uint64_t end) const {
  // This cannot overflow: stride and count have at most 32 bits each.
  if (width_ == 0) return base_ == 0 && uint64_t{stride_} * count == end;
  return WithWidth(remainders_, width_, [&](const auto& rest) {
    uint64_t before = base_ + rest(0);
    bool good = before == 0;
    for (uint64_t i = 1; i <= count; ++i) {
      const uint64_t offset = base_ + uint64_t{stride_} * i + rest(i);
      good &= offset >= before;
      before = offset;
    }
    return good && before == end;
  });
}

void AppendPackedValues(std::string* out, std::span<const int64_t> values) {
  AppendPacked(out, values, 0);
}
void AppendPackedValues(std::string* out, std::span<const uint32_t> values) {
  AppendPacked(out, values, 0);
}
void AppendPackedValues(std::string* out, std::span<const uint8_t> values) {
  AppendPacked(out, values, 0);
}

void AppendPackedOffsets(std::string* out, std::span<const uint32_t> offsets) {
  const uint64_t stride = offsets.size() < 2 ? 0 : offsets.back() / (offsets.size() - 1);
  AppendPacked(out, offsets, stride);
}

}  // namespace stele::internal
