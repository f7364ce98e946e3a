// Tests that rows become chunks that the strictest client accepts.
#include "steled/services/read_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "model/access.h"
#include "steled/row_merger.h"

namespace stele::server {
namespace {

using google::bigtable::v2::ReadRowsResponse;

struct Sent {
  explicit Sent(size_t bytes_max = kDefaultMessageBytesMax) : message_bytes_max(bytes_max) {}

  std::vector<ReadRowsResponse> messages;
  size_t largest_bytes = 0;
  bool ended = false;  // the last message was sent
  const size_t message_bytes_max;
  RowChunker chunker{
      [this](const std::string& framed, bool is_last) {
        EXPECT_FALSE(ended) << "a message after the last";
        EXPECT_TRUE(messages.emplace_back().ParseFromString(framed.substr(kPrefixBytes)));
        largest_bytes = std::max(largest_bytes, framed.size());
        ended = is_last;
        return true;
      },
      message_bytes_max};
  std::vector<std::string> Rows() {
    chunker.Flush();
    RowMerger merger(/*reversed=*/false, message_bytes_max);
    for (const ReadRowsResponse& message : messages) merger.Take(message);
    merger.End();
    EXPECT_EQ(merger.errors(), std::vector<std::string>());
    return merger.rows();
  }
};

CellView At(std::string_view family, std::string_view qualifier, int64_t micros,
            std::string_view value) {
  return CellView(family, qualifier, Timestamp::FromMicros(micros), value);
}

TEST(RowChunker, LeavesOutWhatDidNotChange) {
  Sent sent;
  const std::vector<CellView> cells = {At("f", "a", 2000, "x"), At("f", "a", 1000, "y"),
                                       At("f", "b", 1000, ""), At("g", "b", 1000, "z")};
  sent.chunker.Add(internal::Access::Make<RowView>("r", cells));
  EXPECT_EQ(sent.Rows(),
            std::vector<std::string>({"r f:a@2000=x f:a@1000=y f:b@1000= g:b@1000=z"}));
  ASSERT_EQ(sent.messages.size(), 1u);
  const auto& chunks = sent.messages[0].chunks();
  ASSERT_EQ(chunks.size(), 4);
  EXPECT_FALSE(chunks[1].has_family_name() || chunks[1].has_qualifier() ||
               !chunks[1].row_key().empty());
  EXPECT_TRUE(!chunks[2].has_family_name() && chunks[2].has_qualifier());
  EXPECT_TRUE(chunks[3].has_family_name() && chunks[3].has_qualifier())
      << "a family never comes alone";
  EXPECT_FALSE(chunks[2].commit_row());
  EXPECT_TRUE(chunks[3].commit_row());
}

TEST(RowChunker, AnEmptyQualifierIsThere) {
  Sent sent;
  const std::vector<CellView> cells = {At("f", "", 0, "")};
  sent.chunker.Add(internal::Access::Make<RowView>("r", cells));
  EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:@0="}));
  EXPECT_TRUE(sent.messages[0].chunks(0).has_qualifier());
}

TEST(RowChunker, ARowInPiecesIsCommittedOnce) {
  Sent sent;
  const std::vector<CellView> first = {At("f", "a", 2000, "x")};
  const std::vector<CellView> second = {At("f", "a", 1000, "y")};
  sent.chunker.Add(internal::Access::Make<RowView>("r", first, /*is_last_piece=*/false));
  sent.chunker.Flush();
  EXPECT_TRUE(sent.messages.empty()) << "half a row";
  sent.chunker.Add(internal::Access::Make<RowView>("r", second));
  sent.chunker.Add(internal::Access::Make<RowView>("s", second));
  EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:a@2000=x f:a@1000=y", "s f:a@1000=y"}));
}

TEST(RowChunker, LargeValuesAreCutAndAnnounced) {
  for (const size_t bytes : {kValueChunkBytes - 1, kValueChunkBytes, kValueChunkBytes + 1,
                             3 * kValueChunkBytes, size_t{10'000'000}}) {
    Sent sent;
    const std::string value(bytes, 'v');
    const std::vector<CellView> cells = {At("f", "a", 1000, value), At("f", "b", 1000, "after")};
    sent.chunker.Add(internal::Access::Make<RowView>("r", cells));
    EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:a@1000=<" + std::to_string(bytes) +
                                                     " bytes of 'v'> f:b@1000=after"}));
    const size_t chunk_count = (bytes + kValueChunkBytes - 1) / kValueChunkBytes;
    int seen = 0;
    for (const ReadRowsResponse& message : sent.messages) seen += message.chunks_size();
    EXPECT_EQ(static_cast<size_t>(seen), chunk_count + 1) << bytes;
  }
}

// Adds rows "a", "b" and "c"; b has `cell_count` cells of 100,000 bytes. The rows are added in
// parts of one cell.
std::vector<std::string> ReadBetween(Sent* sent, int cell_count) {
  const std::vector<CellView> small = {At("f", "a", 1000, "x")};
  const std::string value(100'000, 'v');
  sent->chunker.Add(internal::Access::Make<RowView>("a", small));
  for (int i = 0; i < cell_count; ++i) {
    const std::vector<CellView> cells = {At("f", "a", 1000 - i, value)};
    sent->chunker.Add(
        internal::Access::Make<RowView>("b", cells, /*is_last_piece=*/i + 1 == cell_count));
    sent->chunker.Flush();
  }
  sent->chunker.Add(internal::Access::Make<RowView>("c", small));
  return sent->Rows();
}

// Returns whether the last chunk of the message ends a row.
bool EndsRow(const ReadRowsResponse& message) { return message.chunks().rbegin()->commit_row(); }

TEST(RowChunker, ARowThatFitsComesInOneMessage) {
  for (const int cell_count : {1, 5, 6, 10, 41}) {
    Sent sent;
    EXPECT_EQ(ReadBetween(&sent, cell_count).size(), 3u);
    for (const ReadRowsResponse& message : sent.messages)
      EXPECT_TRUE(EndsRow(message)) << cell_count;
    EXPECT_LE(sent.messages.size(), 3u);
  }
}

TEST(RowChunker, OnlyARowThatDoesNotFitSpansMessages) {
  Sent sent;
  EXPECT_EQ(ReadBetween(&sent, 60).size(), 3u);
  std::vector<bool> ends;
  for (const ReadRowsResponse& message : sent.messages) ends.push_back(EndsRow(message));
  // Row a; the first part of b, as large as possible; the rest of it in smaller parts; c.
  ASSERT_GE(ends.size(), 4u);
  EXPECT_TRUE(ends.front() && ends.back());
  EXPECT_EQ(sent.messages[0].chunks_size(), 1);
  EXPECT_EQ(sent.messages[1].chunks_size(), 41);
  for (size_t i = 1; i + 2 < ends.size(); ++i) EXPECT_FALSE(ends[i]) << i;
  for (size_t i = 2; i < ends.size(); ++i)
    EXPECT_LE(sent.messages[i].ByteSizeLong(), kMessageBytes);
}

TEST(RowChunker, TheLargestMessageIsTheServersChoice) {
  constexpr size_t kMost = size_t{8} << 20;
  Sent sent(kMost);
  EXPECT_EQ(ReadBetween(&sent, 80).size(), 3u);
  for (const ReadRowsResponse& message : sent.messages) EXPECT_TRUE(EndsRow(message));
  EXPECT_GT(sent.largest_bytes, size_t{7} << 20);
  EXPECT_LE(sent.largest_bytes, kPrefixBytes + kMost);
}

TEST(RowChunker, ManyRowsShareMessagesOfBoundedBytes) {
  Sent sent;
  const std::string value(1000, 'v');
  const std::vector<CellView> cells = {At("f", "a", 1000, value)};
  for (int i = 0; i < 3000; ++i)
    sent.chunker.Add(internal::Access::Make<RowView>("row" + std::to_string(10'000 + i), cells));
  EXPECT_EQ(sent.Rows().size(), 3000u);
  EXPECT_GT(sent.messages.size(), 3u);
  EXPECT_LT(sent.messages.size(), 20u);
  EXPECT_LE(sent.largest_bytes, kMessageBytes);
}

TEST(RowChunker, LabelsStandOnTheFirstChunkOfACell) {
  Sent sent;
  const std::string value(kValueChunkBytes + 1, 'v');
  const std::vector<std::string> labels = {"one"};
  const std::vector<CellView> cells = {
      CellView("f", "a", Timestamp::FromMicros(1000), value, labels)};
  sent.chunker.Add(internal::Access::Make<RowView>("r", cells));
  EXPECT_EQ(sent.Rows(), std::vector<std::string>({"r f:a@1000=<" + std::to_string(value.size()) +
                                                   " bytes of 'v'>#one"}));
}

TEST(RowChunker, ASinkThatEndsEndsTheWork) {
  int calls = 0;
  RowChunker chunker([&](const std::string&, bool) {
    ++calls;
    return false;
  });
  const std::string value(5'000'000, 'v');
  const std::vector<CellView> cells = {At("f", "a", 1000, value)};
  EXPECT_FALSE(chunker.Add(internal::Access::Make<RowView>("r", cells)));
  EXPECT_EQ(calls, 1);
}

// It gets the rest when Add is called again, as often as it pauses.
TEST(RowChunker, ASinkThatPausesGetsTheRest) {
  std::vector<ReadRowsResponse> messages;
  RowChunker chunker([&](const std::string& framed, bool) {
    EXPECT_TRUE(messages.emplace_back().ParseFromString(framed.substr(kPrefixBytes)));
    return false;
  });
  const std::string large(9'000'000, 'v');
  const std::string small(300'000, 's');
  const std::vector<CellView> cells = {At("f", "a", 2000, large), At("f", "a", 1000, small),
                                       At("f", "b", 1000, ""), At("g", "b", 1000, large)};
  size_t pauses = 0;
  for (const char* const key : {"r", "s"}) {
    for (const bool is_last_piece : {false, true}) {
      const RowView row = internal::Access::Make<RowView>(key, cells, is_last_piece);
      while (!chunker.Add(row)) EXPECT_EQ(messages.size(), ++pauses);
    }
  }
  EXPECT_FALSE(chunker.Finish({}, false, 0));
  EXPECT_GT(pauses, 4 * 2 * large.size() / kMessageBytes);
  RowMerger merger;
  for (const ReadRowsResponse& message : messages) merger.Take(message);
  merger.End();
  EXPECT_EQ(merger.errors(), std::vector<std::string>());
  const std::string cell =
      " f:a@2000=<9000000 bytes of 'v'> f:a@1000=<300000 bytes of 's'> f:b@1000= "
      "g:b@1000=<9000000 bytes of 'v'>";
  EXPECT_EQ(merger.rows(), std::vector<std::string>({"r" + cell + cell, "s" + cell + cell}));
}

TEST(RowChunker, StatsComeLastAndOnlyWhenAskedFor) {
  for (const bool full : {false, true}) {
    Sent sent;
    const std::vector<CellView> cells = {At("f", "a", 1000, "x")};
    ASSERT_TRUE(sent.chunker.Add(internal::Access::Make<RowView>("r", cells)));
    EXPECT_FALSE(sent.ended);
    ASSERT_TRUE(sent.chunker.Finish(
        {.rows_seen = 4, .rows_returned = 3, .cells_seen = 2, .cells_returned = 1}, full,
        1'500'000'000));
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
