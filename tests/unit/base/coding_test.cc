#include "base/coding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace stele::internal {
namespace {

const std::vector<uint64_t> kEdges = {0,
                                      1,
                                      127,
                                      128,
                                      16383,
                                      16384,
                                      UINT32_MAX - uint64_t{1},
                                      UINT32_MAX,
                                      UINT32_MAX + uint64_t{1},
                                      UINT64_MAX / 2,
                                      UINT64_MAX - 1,
                                      UINT64_MAX};

std::string Varint(uint64_t v) {
  std::string out;
  AppendVarint(out, v);
  return out;
}

TEST(Coding, FixedIntegersAreLittleEndian) {
  std::string out;
  AppendFixed16(out, 0x0102);
  AppendFixed32(out, 0x03040506);
  AppendFixed64(out, 0x0708090a0b0c0d0e);
  EXPECT_EQ(out, std::string("\x02\x01\x06\x05\x04\x03\x0e\x0d\x0c\x0b\x0a\x09\x08\x07"));
  EXPECT_EQ(LoadFixed16(out.data()), 0x0102);
  EXPECT_EQ(LoadFixed32(out.data() + 2), 0x03040506u);
  EXPECT_EQ(LoadFixed64(out.data() + 6), 0x0708090a0b0c0d0eu);
  char stored[12];
  StoreFixed32(stored, 0x03040506);
  StoreFixed64(stored + 4, 0x0708090a0b0c0d0e);
  EXPECT_EQ(std::string(stored, 12), out.substr(2));
}

TEST(Coding, VarintsComeBackAndAreShort) {
  for (const uint64_t v : kEdges) {
    const std::string bytes = Varint(v);
    size_t bits = 1;
    while (bits < 64 && (v >> bits) != 0) ++bits;
    EXPECT_EQ(bytes.size(), (bits + 6) / 7) << v;
    ByteReader reader(bytes);
    uint64_t read = 0;
    ASSERT_TRUE(reader.ReadVarint(&read)) << v;
    EXPECT_EQ(read, v);
    EXPECT_TRUE(reader.AtEnd());
  }
}

TEST(Coding, SignedVarintsComeBack) {
  for (const int64_t v : {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{-64}, int64_t{63},
                          int64_t{64}, INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
    std::string bytes;
    AppendSignedVarint(bytes, v);
    if (v >= -64 && v < 64) {
      EXPECT_EQ(bytes.size(), 1u) << v;
    }
    ByteReader reader(bytes);
    int64_t read = 0;
    ASSERT_TRUE(reader.ReadSignedVarint(&read)) << v;
    EXPECT_EQ(read, v);
  }
}

TEST(Coding, OverflowingVarintIsRefused) {
  const std::string nine(9, '\xff');
  for (const std::string& bytes : {nine + '\x02', nine + '\x7f', nine + '\x81' + '\x00',
                                   std::string(10, '\x80') + '\x00', std::string(20, '\xff')}) {
    ByteReader reader(bytes);
    uint64_t v;
    EXPECT_FALSE(reader.ReadVarint(&v)) << bytes.size();
    EXPECT_FALSE(reader.ok());
  }
  const std::string largest = nine + '\x01';
  ByteReader reader(largest);
  uint64_t v = 0;
  EXPECT_TRUE(reader.ReadVarint(&v));
  EXPECT_EQ(v, UINT64_MAX);
}

TEST(Coding, Varint32IsRefusedBeyondItsRange) {
  const std::string fits = Varint(UINT32_MAX);
  const std::string too_large = Varint(UINT32_MAX + uint64_t{1});
  uint32_t v = 0;
  EXPECT_TRUE(ByteReader(fits).ReadVarint32(&v));
  EXPECT_EQ(v, UINT32_MAX);
  EXPECT_FALSE(ByteReader(too_large).ReadVarint32(&v));
}

TEST(Coding, EveryTruncationIsRefused) {
  std::string bytes;
  AppendFixed16(bytes, 7);
  AppendFixed32(bytes, 8);
  AppendFixed64(bytes, 9);
  bytes.push_back('b');
  AppendVarint(bytes, 300);
  AppendSignedVarint(bytes, -300);
  AppendBytes(bytes, "payload");
  const auto read_all = [](std::string_view from) {
    ByteReader reader(from);
    uint16_t v16 = 0;
    uint32_t v32 = 0;
    uint64_t v64 = 0;
    uint8_t byte = 0;
    int64_t signed_v = 0;
    std::string_view payload;
    const bool read = reader.ReadFixed16(&v16) && reader.ReadFixed32(&v32) &&
                      reader.ReadFixed64(&v64) && reader.ReadByte(&byte) &&
                      reader.ReadVarint(&v64) && reader.ReadSignedVarint(&signed_v) &&
                      reader.ReadBytes(&payload);
    EXPECT_EQ(reader.ok(), read);
    return read && v16 == 7 && v32 == 8 && v64 == 300 && byte == 'b' && signed_v == -300 &&
           payload == "payload" && reader.AtEnd();
  };
  EXPECT_TRUE(read_all(bytes));
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A separate copy, so that a sanitizer sees any read past its end.
    const std::string cut = bytes.substr(0, length);
    EXPECT_FALSE(read_all(cut)) << length;
  }
}

TEST(Coding, LengthBeyondTheBytesIsRefused) {
  for (const uint64_t length : {uint64_t{4}, uint64_t{1000}, UINT64_MAX, UINT64_MAX - 5}) {
    const std::string bytes = Varint(length) + "abc";
    std::string_view out = "untouched";
    EXPECT_FALSE(ByteReader(bytes).ReadBytes(&out)) << length;
    EXPECT_EQ(out, "untouched");
    EXPECT_FALSE(ByteReader("abc").ReadRaw(length, &out)) << length;
  }
}

TEST(Coding, ReaderStaysFailed) {
  ByteReader reader("\x01");
  uint32_t v32;
  uint8_t byte;
  uint64_t v64;
  std::string_view view;
  EXPECT_FALSE(reader.ReadFixed32(&v32));
  EXPECT_FALSE(reader.ReadByte(&byte));
  EXPECT_FALSE(reader.ReadVarint(&v64));
  EXPECT_FALSE(reader.ReadRaw(0, &view));
  EXPECT_FALSE(reader.ok());
}

TEST(Coding, BytesAreViewsOfTheInput) {
  std::string bytes;
  AppendBytes(bytes, std::string_view("a\0b", 3));
  AppendBytes(bytes, "");
  ByteReader reader(bytes);
  std::string_view first;
  std::string_view second = "x";
  ASSERT_TRUE(reader.ReadBytes(&first));
  EXPECT_EQ(first, std::string_view("a\0b", 3));
  EXPECT_EQ(first.data(), bytes.data() + 1);
  EXPECT_EQ(reader.remaining(), 1u);
  ASSERT_TRUE(reader.ReadBytes(&second));
  EXPECT_EQ(second, "");
  EXPECT_TRUE(reader.AtEnd());
}

TEST(Coding, AnyBytesAreReadWithoutHarm) {
  Random random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random.Below(24), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Next());
    ByteReader reader(bytes);
    while (reader.ok() && !reader.AtEnd()) {
      const size_t before = reader.remaining();
      uint64_t v;
      std::string_view view;
      if (random.OneIn(2) ? reader.ReadVarint(&v) : reader.ReadBytes(&view)) {
        ASSERT_LT(reader.remaining(), before);
      }
    }
  }
}

}  // namespace
}  // namespace stele::internal
