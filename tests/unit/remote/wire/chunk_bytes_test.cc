// Tests that the direct encoder of a chunk writes protobuf's bytes.
#include "remote/wire/chunk_bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "remote/wire/bigtable.pb.h"

namespace stele::internal {
namespace {

using google::bigtable::v2::ReadRowsResponse;

// Text of lengths around each change of the length's encoded size, and empty text.
std::string RandomText(Random& random) {
  constexpr size_t kLengths[] = {0,   0,   1,   20,     123,    124,    125,   126,
                                 127, 128, 129, 16'380, 16'383, 16'384, 16'390};
  return std::string(kLengths[random.Below(std::size(kLengths))],
                     static_cast<char>('a' + random.Below(26)));
}

void AddRandomChunk(Random& random, ReadRowsResponse* message, std::string* bytes) {
  constexpr int64_t kMicros[] = {0, 1, 127, 128, 1'700'000'000'000'000, INT64_MAX, -1};
  const std::string row_key = RandomText(random), family = RandomText(random),
                    qualifier = RandomText(random), value = RandomText(random);
  std::vector<std::string> labels;
  for (uint64_t count = random.Below(3); count > 0; --count) labels.push_back(RandomText(random));
  CellChunkView view{
      .row_key = row_key,
      .timestamp_micros = kMicros[random.Below(std::size(kMicros))],
      .labels = labels,
      .value = value,
      .value_size = random.OneIn(2) ? 0 : static_cast<uint32_t>(random.Below(300'000'000)),
      .commit_row = random.OneIn(2)};
  ReadRowsResponse::CellChunk* const chunk = message->add_chunks();
  chunk->set_row_key(row_key);
  if (random.OneIn(2)) {
    view.family_name = family;
    chunk->mutable_family_name()->set_value(family);
  }
  if (random.OneIn(2)) {
    view.qualifier = qualifier;
    chunk->mutable_qualifier()->set_value(qualifier);
  }
  chunk->set_timestamp_micros(view.timestamp_micros);
  for (const std::string& label : labels) chunk->add_labels(label);
  chunk->set_value(value);
  chunk->set_value_size(static_cast<int32_t>(view.value_size));
  if (view.commit_row) chunk->set_commit_row(true);
  const size_t bytes_before = bytes->size();
  AppendChunk(view, bytes);
  EXPECT_EQ(bytes->size() - bytes_before, BytesInResponse(view));
}

TEST(ChunkBytes, AreProtobufs) {
  Random random(20);
  for (int round = 0; round < 2000; ++round) {
    ReadRowsResponse message;
    std::string bytes;
    for (uint64_t count = random.Below(4); count > 0; --count)
      AddRandomChunk(random, &message, &bytes);
    ASSERT_EQ(bytes, message.SerializeAsString()) << message.ShortDebugString().substr(0, 1000);
  }
}

TEST(ChunkBytes, NothingSaidIsAnEmptyChunk) {
  std::string bytes;
  AppendChunk({}, &bytes);
  EXPECT_EQ(bytes, std::string("\x0a\0", 2));
}

}  // namespace
}  // namespace stele::internal
