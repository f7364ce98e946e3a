// Tests a read whose client does not read: it continues where it was, also without its old reader.
#include "steled/services/read_rows_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stele/database.h"
#include "steled/fake_call.h"
#include "steled/row_merger.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

using google::bigtable::v2::ReadRowsResponse;
using Rows = std::vector<std::string>;

TEST(RowsAfter, KeepsWhatComesLater) {
  RowSet rows;
  for (const char* const key : {"a", "m", "z"}) rows.Append(key);
  for (const RowRange& range :
       {RowRange::All(), RowRange::Closed("a", "m"), RowRange::RightOpen("a", "m"),
        RowRange::Open("a", "n"), RowRange::Closed("m", "n"), RowRange::Open("m", "n"),
        RowRange::StartingAt("n")}) {
    rows.Append(range);
  }
  for (const bool is_reversed : {false, true}) {
    const RowSet left = RowsAfter(rows, "m", is_reversed);
    EXPECT_EQ(left.row_keys(), Rows({is_reversed ? "a" : "z"}));
    for (const char* const key : {"a", "b", "l", "m", "m0", "n", "zz"}) {
      const auto holds = [&](const RowSet& set) {
        return std::any_of(set.ranges().begin(), set.ranges().end(),
                           [&](const RowRange& range) { return range.Contains(key); });
      };
      const bool is_behind =
          is_reversed ? std::string_view(key) < "m" : std::string_view(key) > "m";
      EXPECT_EQ(holds(left), is_behind && holds(rows)) << key << is_reversed;
    }
    for (const RowRange& range : left.ranges())
      EXPECT_FALSE(range.IsEmpty() && range.start() > range.end());
  }
  EXPECT_EQ(RowsAfter(RowSet(RowRange::Closed("a", "m")), "m", false), RowSet());
  EXPECT_EQ(RowsAfter(RowSet(RowRange::Closed("m", "z")), "m", true), RowSet());
}

class ReadRowsCallTest : public testing::Test {
 protected:
  ReadRowsCallTest() {
    const std::string value(100'000, 'v');
    for (int i = 0; i < kRowCount; ++i) {
      EXPECT_TRUE(table_
                      .Apply(RowMutation("row" + std::to_string(100 + i))
                                 .SetCell("f", "q", Timestamp::FromMicros(1000), value))
                      .ok());
    }
  }

  // Reads with room for one more response each time, and shrinks in every pause. Returns the number
  // of pauses.
  int Read(ReadRowsCall::Request request, FakeCall* call) {
    request.table = table_;
    request.table_name = "t";
    size_t room = 1;
    int pauses = 0;
    call->SetRoom(room);
    absl::Status status = std::make_shared<ReadRowsCall>(std::move(request), ScanCounter(),
                                                         std::chrono::steady_clock::now())
                              ->Run(call);
    for (std::shared_ptr<PausedCall> continuation;
         (continuation = call->TakeContinuation()) != nullptr; ++pauses) {
      EXPECT_EQ(call->answer_count(), room);
      if (on_pause_) on_pause_(pauses);
      shrunk_count_ += continuation->Shrink() != nullptr ? 1 : 0;
      EXPECT_EQ(continuation->Shrink(), nullptr) << "it has nothing more to give";
      call->SetRoom(++room);
      status = continuation->Resume(call);
    }
    EXPECT_EQ(status, absl::OkStatus());
    EXPECT_TRUE(call->last_index().has_value());
    return pauses;
  }

  static Rows KeysOf(FakeCall* call, bool is_reversed = false) {
    RowMerger merger(is_reversed);
    for (size_t i = 0; i < call->answer_count(); ++i)
      merger.Take(call->Answer<ReadRowsResponse>(i));
    merger.End();
    EXPECT_EQ(merger.errors(), Rows());
    Rows keys;
    for (const std::string& row : merger.rows()) keys.push_back(row.substr(0, row.find(' ')));
    return keys;
  }

  static Rows Expected(int begin, int count, bool is_reversed = false) {
    Rows keys;
    for (int i = 0; i < count; ++i)
      keys.push_back("row" + std::to_string(100 + (is_reversed ? begin - i : begin + i)));
    return keys;
  }

  static constexpr int kRowCount = 40;
  Database database_ = Database::Open("mem:").value();
  Table table_ = database_.CreateTable("t", Schema().AddFamily("f")).value();
  std::function<void(int)> on_pause_;
  int shrunk_count_ = 0;
};

TEST_F(ReadRowsCallTest, EveryRowComesOnceOverAllPauses) {
  for (const bool is_reversed : {false, true}) {
    FakeCall call;
    EXPECT_GE(Read({.rows = RowSet::All(), .is_reversed = is_reversed}, &call), 5);
    EXPECT_EQ(KeysOf(&call, is_reversed),
              Expected(is_reversed ? kRowCount - 1 : 0, kRowCount, is_reversed));
  }
  EXPECT_GE(shrunk_count_, 10);
}

TEST_F(ReadRowsCallTest, TheLimitHoldsOverAllPauses) {
  for (const int limit : {1, 5, 6, 11, 39, 40, 41}) {
    FakeCall call;
    Read({.rows = RowSet::All(), .rows_limit = limit}, &call);
    EXPECT_EQ(KeysOf(&call), Expected(0, std::min(limit, kRowCount))) << limit;
  }
}

TEST_F(ReadRowsCallTest, StatsAreThoseOfTheWholeRead) {
  FakeCall call;
  Read({.rows = RowSet::All(), .has_full_stats = true}, &call);
  const auto last = call.Answer<ReadRowsResponse>(call.answer_count() - 1);
  EXPECT_EQ(
      last.request_stats().full_read_stats_view().read_iteration_stats().rows_returned_count(),
      kRowCount);
}

// Its reader is kept, and with it the snapshot that it reads.
TEST_F(ReadRowsCallTest, ARowThatSpansMessagesIsNotCut) {
  RowMutation wide("row099");
  for (int i = 0; i < 60; ++i)
    wide.SetCell("f", "q" + std::to_string(10 + i), Timestamp::FromMicros(1000),
                 std::string(100'000, 'w'));
  ASSERT_TRUE(table_.Apply(wide).ok());
  on_pause_ = [this](int pause) {
    if (pause > 0) return;
    EXPECT_TRUE(table_.Apply(RowMutation("row099").DeleteFromRow()).ok());
  };
  FakeCall call;
  Read({.rows = RowSet::All()}, &call);
  Rows expected = Expected(0, kRowCount);
  expected.insert(expected.begin(), "row099");
  EXPECT_EQ(KeysOf(&call), expected);
}

TEST_F(ReadRowsCallTest, WhatAPausedReadHoldsIsCharged) {
  FakeCall call;
  Read({.rows = RowSet::All()}, &call);
  // The row that did not fit into the message, and the reader's row.
  EXPECT_GT(call.most_reserved_bytes(), 200'000u);
  EXPECT_LT(call.most_reserved_bytes(), kMessageBytes);
  FakeCall poor;
  poor.SetBytesMax(1000);
  poor.SetRoom(1);
  const absl::Status status =
      std::make_shared<ReadRowsCall>(
          ReadRowsCall::Request{.table = table_, .table_name = "t", .rows = RowSet::All()},
          ScanCounter(), std::chrono::steady_clock::now())
          ->Run(&poor);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(poor.TakeContinuation(), nullptr);
}

// The engine reports progress from within its own functions.
TEST_F(ReadRowsCallTest, AReadWhoseProgressFindsNoMemoryEnds) {
  // Passes nothing, and takes some microseconds for each cell.
  std::vector<Filter> slow;
  for (int i = 0; i < 40; ++i)
    slow.push_back(Filter::ValueRegex(".*(nowhere|neverwhere)[0-9]+" + std::to_string(i)));
  FakeCall call;
  absl::Status status;
  // A read that ends soon reports no progress.
  for (int row_count = 0; status.ok() && call.answer_count() == 0;) {
    for (const int end = row_count + 2000; row_count < end; ++row_count) {
      const std::string row_key = "small" + std::to_string(row_count);
      ASSERT_TRUE(table_.Apply(RowMutation(row_key).SetCell("f", "q", "v")).ok());
    }
    call.ThrowOnce();
    ReadRowsCall::Request request{.table = table_,
                                  .table_name = "t",
                                  .rows = RowSet(RowRange::StartingAt("small")),
                                  .filter = Filter::Interleave(slow),
                                  .sends_last_scanned_key = true};
    // A message is due if none was sent for a while.
    const auto begin = std::chrono::steady_clock::now() - std::chrono::hours(1);
    status = std::make_shared<ReadRowsCall>(std::move(request), ScanCounter(), begin)->Run(&call);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(call.answer_count(), 0u) << "a message after one that was lost";
}

class LargeValueCallTest : public ReadRowsCallTest {
 protected:
  static constexpr size_t kValueBytes = 10'000'000;

  LargeValueCallTest() {
    EXPECT_TRUE(table_
                    .Apply(RowMutation("large").SetCell("f", "q", Timestamp::FromMicros(1000),
                                                        std::string(kValueBytes, 'l')))
                    .ok());
  }

  static ReadRowsCall::Request OfLargeRow() {
    return {.rows = RowSet(RowRange::Closed("large", "large"))};
  }
  absl::Status ReadLargeRow(FakeCall* call) {
    ReadRowsCall::Request request = OfLargeRow();
    request.table = table_;
    request.table_name = "t";
    return std::make_shared<ReadRowsCall>(std::move(request), ScanCounter(),
                                          std::chrono::steady_clock::now())
        ->Run(call);
  }
};

// Each message is made when the client has read the one before.
TEST_F(LargeValueCallTest, ALargeValueIsSentInPartsOverManyPauses) {
  FakeCall call;
  EXPECT_GT(Read(OfLargeRow(), &call), static_cast<int>(kValueBytes / kMessageBytes) - 1);
  RowMerger merger(false);
  for (size_t i = 0; i < call.answer_count(); ++i) merger.Take(call.Answer<ReadRowsResponse>(i));
  merger.End();
  EXPECT_EQ(merger.errors(), Rows());
  EXPECT_EQ(merger.rows(), Rows({"large f:q@1000=<10000000 bytes of 'l'>"}));
  EXPECT_LE(shrunk_count_, 1) << "the row must come from one view";
  // The value, and the largest message.
  EXPECT_GE(call.most_reserved_bytes(), kValueBytes);
  EXPECT_LT(call.most_reserved_bytes(), kValueBytes + kDefaultMessageBytesMax + kMessageBytes);
}

TEST_F(LargeValueCallTest, AValueWithoutMemoryIsNeitherReadNorSent) {
  ASSERT_TRUE(table_.Flush().ok());
  FakeCall call;
  call.SetBytesMax(kValueBytes - 1);
  const absl::Status status = ReadLargeRow(&call);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(status.message(), "Too many bytes of answers that nobody has read; try again later");
  EXPECT_FALSE(StatusDetails(status).empty()) << "clients retry it";
  EXPECT_EQ(call.answer_count(), 0u);
}

// The engine asks from within its own functions.
TEST_F(LargeValueCallTest, AReadThatThrowsWhileItChargesAValueEnds) {
  ASSERT_TRUE(table_.Flush().ok());
  FakeCall call;
  call.ThrowOnce();
  const absl::Status status = ReadLargeRow(&call);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(call.answer_count(), 0u);
}

TEST_F(LargeValueCallTest, ALargeValueIsChargedUntilItsRowIsSent) {
  ASSERT_TRUE(table_.Flush().ok());
  FakeCall call;
  size_t reserved_bytes_at_end = 0;
  // "large" is the first row.
  on_pause_ = [&](int) { reserved_bytes_at_end = call.reserved_bytes(); };
  Read({.rows = RowSet::All()}, &call);
  EXPECT_GE(call.most_reserved_bytes(), kValueBytes);
  EXPECT_GT(reserved_bytes_at_end, 0u);
  EXPECT_LT(reserved_bytes_at_end, 2 * kMessageBytes);
}

// The reader holds two of them at most.
TEST_F(LargeValueCallTest, OfManyLargeValuesOfARowTwoAreCharged) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(table_
                    .Apply(RowMutation("large").SetCell("f", "q", Timestamp::FromMicros(i * 1000),
                                                        std::string(kValueBytes, 'l')))
                    .ok());
    ASSERT_TRUE(table_.Flush().ok());
  }
  FakeCall call;
  Read(OfLargeRow(), &call);
  EXPECT_GT(call.most_reserved_bytes(), 2 * kValueBytes);
  EXPECT_LT(call.most_reserved_bytes(), 2 * kValueBytes + kDefaultMessageBytesMax + kMessageBytes);
}

}  // namespace
}  // namespace stele::server
