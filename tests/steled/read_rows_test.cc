// Rows become chunks that the strictest client takes.
#include "read_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "steled/row_merger.h"

namespace stele::server {
namespace {

using google::bigtable::v2::ReadRowsResponse;

struct Sent {
  std::vector<ReadRowsResponse> messages;
  size_t largest_bytes = 0;
  bool ended = false;  // the last message came
  RowChunker chunker{[this](const std::string& framed, bool is_last) {
    EXPECT_FALSE(ended) << "a message after the last";
    EXPECT_TRUE(messages.emplace_back().ParseFromString(framed.substr(kPrefixBytes)));
    largest_bytes = std::max(largest_bytes, framed.size());
    ended = is_last;
    return true;
  }};

  std::vector<std::string> Rows() {
    chunker.Flush();
    RowMerger merger;
    for (const ReadRowsResponse& message : messages) merger.Take(message);
    merger.End();
    EXPECT_EQ(merger.errors(), std::vector<std::string>());
    return merger.rows();
  }
};

CellView At(std::string_view family, std::string_view qualifier, int64_t micros, std::string_view value) {
  return CellView(family, qualifier, Timestamp::FromMicros(micros), value);
}

TEST(RowChunker, LeavesOutWhatDidNotChange) {
  Sent sent;
  const std::vector<CellView> cells = {At("f", "a", 2000, "x"), At("f", "a", 1000, "y"), At("f", "b", 1000, ""), At("g", "b", 1000, "z")};
  sent.chunker.Add(RowView("r", cells));
  EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:a@2000=x f:a@1000=y f:b@1000= g:b@1000=z"}));
  ASSERT_EQ(sent.messages.size(), 1u);
  const auto& chunks = sent.messages[0].chunks();
  ASSERT_EQ(chunks.size(), 4);
  EXPECT_FALSE(chunks[1].has_family_name() || chunks[1].has_qualifier() || !chunks[1].row_key().empty());
  EXPECT_TRUE(!chunks[2].has_family_name() && chunks[2].has_qualifier());
  EXPECT_TRUE(chunks[3].has_family_name() && chunks[3].has_qualifier()) << "a family never comes alone";
  EXPECT_FALSE(chunks[2].commit_row());
  EXPECT_TRUE(chunks[3].commit_row());
}

TEST(RowChunker, AnEmptyQualifierIsThere) {
  Sent sent;
  const std::vector<CellView> cells = {At("f", "", 0, "")};
  sent.chunker.Add(RowView("r", cells));
  EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:@0="}));
  EXPECT_TRUE(sent.messages[0].chunks(0).has_qualifier());
}

TEST(RowChunker, ARowInPiecesIsCommittedOnce) {
  Sent sent;
  const std::vector<CellView> first = {At("f", "a", 2000, "x")};
  const std::vector<CellView> second = {At("f", "a", 1000, "y")};
  sent.chunker.Add(RowView("r", first, /*is_last_piece=*/false));
  sent.chunker.Flush();
  sent.chunker.Add(RowView("r", second));
  sent.chunker.Add(RowView("s", second));
  EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:a@2000=x f:a@1000=y", "s f:a@1000=y"}));
}

TEST(RowChunker, LargeValuesAreCutAndAnnounced) {
  for (const size_t bytes : {kValueChunkBytes - 1, kValueChunkBytes, kValueChunkBytes + 1, 3 * kValueChunkBytes, size_t{10'000'000}}) {
    Sent sent;
    const std::string value(bytes, 'v');
    const std::vector<CellView> cells = {At("f", "a", 1000, value), At("f", "b", 1000, "after")};
    sent.chunker.Add(RowView("r", cells));
    EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:a@1000=<" + std::to_string(bytes) + " bytes of 'v'> f:b@1000=after"}));
    const size_t chunk_count = (bytes + kValueChunkBytes - 1) / kValueChunkBytes;
    int seen = 0;
    for (const ReadRowsResponse& message : sent.messages) seen += message.chunks_size();
    EXPECT_EQ(static_cast<size_t>(seen), chunk_count + 1) << bytes;
  }
}

TEST(RowChunker, ManyRowsShareMessagesOfBoundedBytes) {
  Sent sent;
  const std::string value(1000, 'v');
  const std::vector<CellView> cells = {At("f", "a", 1000, value)};
  for (int i = 0; i < 3000; ++i) sent.chunker.Add(RowView("row" + std::to_string(10'000 + i), cells));
  EXPECT_EQ(sent.Rows().size(), 3000u);
  EXPECT_GT(sent.messages.size(), 3u);
  EXPECT_LT(sent.messages.size(), 20u);
  EXPECT_LE(sent.largest_bytes, kMessageBytes);
}

TEST(RowChunker, LabelsStandOnTheFirstChunkOfACell) {
  Sent sent;
  const std::string value(kValueChunkBytes + 1, 'v');
  const std::vector<std::string> labels = {"one"};
  const std::vector<CellView> cells = {CellView("f", "a", Timestamp::FromMicros(1000), value, labels)};
  sent.chunker.Add(RowView("r", cells));
  EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:a@1000=<" + std::to_string(value.size()) + " bytes of 'v'>#one"}));
}

TEST(RowChunker, ASinkThatEndsEndsTheWork) {
  int calls = 0;
  RowChunker chunker([&](const std::string&, bool) {
    ++calls;
    return false;
  });
  const std::string value(3'000'000, 'v');
  const std::vector<CellView> cells = {At("f", "a", 1000, value)};
  EXPECT_FALSE(chunker.Add(RowView("r", cells)));
  EXPECT_EQ(calls, 1);
}

TEST(RowChunker, StatsComeLastAndOnlyWhenAskedFor) {
  for (const bool full : {false, true}) {
    Sent sent;
    const std::vector<CellView> cells = {At("f", "a", 1000, "x")};
    ASSERT_TRUE(sent.chunker.Add(RowView("r", cells)));
    EXPECT_FALSE(sent.ended);
    ASSERT_TRUE(sent.chunker.Finish({.rows_seen = 4, .rows_returned = 3, .cells_seen = 2, .cells_returned = 1}, full, 1'500'000'000));
    ASSERT_EQ(sent.messages.size(), full ? 2u : 1u);
    EXPECT_TRUE(sent.ended);
    if (!full) continue;
    const auto& view = sent.messages[1].request_stats().full_read_stats_view();
    EXPECT_EQ(view.read_iteration_stats().rows_seen_count(), 4);
    EXPECT_EQ(view.read_iteration_stats().rows_returned_count(), 3);
    EXPECT_EQ(view.read_iteration_stats().cells_seen_count(), 2);
    EXPECT_EQ(view.read_iteration_stats().cells_returned_count(), 1);
    EXPECT_EQ(view.request_latency_stats().frontend_server_latency().nanos(), 500'000'000);
  }
}

}  // namespace
}  // namespace stele::server
