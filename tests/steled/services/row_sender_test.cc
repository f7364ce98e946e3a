// Tests when rows and progress are sent to the client. The test controls the clock.
#include "steled/services/row_sender.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/access.h"

namespace stele::server {
namespace {

using google::bigtable::v2::ReadRowsResponse;
using std::chrono::milliseconds;

class RowSenderTest : public testing::Test {
 protected:
  RowSender New(bool sends_last_scanned_key) {
    return RowSender(
        [this](const std::string& framed, bool is_last) {
          ReadRowsResponse message;
          EXPECT_TRUE(message.ParseFromString(framed.substr(kPrefixBytes)));
          std::string text = message.last_scanned_row_key().empty()
                                 ? ""
                                 : "scanned " + message.last_scanned_row_key();
          for (const auto& chunk : message.chunks())
            text += chunk.row_key().empty() ? "." : chunk.row_key();
          sent_.push_back(text + (is_last ? " last" : ""));
          return true;
        },
        sends_last_scanned_key, start_);
  }

  static bool Add(RowSender* sender, std::string_view key, RowSender::TimePoint now,
                  bool is_last_piece = true) {
    const std::vector<CellView> cells = {CellView("f", "q", Timestamp::FromMicros(1000), "v")};
    return sender->Add(internal::Access::Make<RowView>(key, cells, is_last_piece), now);
  }

  const RowSender::TimePoint start_{std::chrono::hours(1)};
  std::vector<std::string> sent_;
};

TEST_F(RowSenderTest, RowsThatComeFastShareAMessage) {
  RowSender sender = New(true);
  for (const char* const key : {"a", "b", "c"})
    EXPECT_TRUE(Add(&sender, key, start_ + milliseconds(10)));
  EXPECT_TRUE(sent_.empty());
  sender.Finish({}, false, {});
  EXPECT_EQ(sent_, std::vector<std::string>({"abc last"}));
}

TEST_F(RowSenderTest, ARowDoesNotWaitForTheNext) {
  RowSender sender = New(false);
  Add(&sender, "a", start_ + milliseconds(10));
  sender.OnProgress("b", start_ + milliseconds(50));
  EXPECT_TRUE(sent_.empty());
  sender.OnProgress("c", start_ + milliseconds(51));
  EXPECT_EQ(sent_, std::vector<std::string>({"a"}));
  // The next interval begins with the last message.
  Add(&sender, "d", start_ + milliseconds(101));
  EXPECT_EQ(sent_.size(), 1u);
  Add(&sender, "e", start_ + milliseconds(102));
  EXPECT_EQ(sent_, std::vector<std::string>({"a", "de"}));
}

TEST_F(RowSenderTest, HowFarItCameIsToldToThoseWhoTakeIt) {
  RowSender sender = New(true);
  sender.OnProgress("a", start_ + milliseconds(50));
  sender.OnProgress("b", start_ + milliseconds(60));
  sender.OnProgress("c", start_ + milliseconds(70));
  sender.OnProgress("d", start_ + milliseconds(120));
  sender.OnProgress("", start_ + milliseconds(200));
  EXPECT_EQ(sent_, std::vector<std::string>({"scanned b", "scanned d"}));
  RowSender other = New(false);
  other.OnProgress("b", start_ + milliseconds(60));
  EXPECT_EQ(sent_.size(), 2u);
}

TEST_F(RowSenderTest, RowsGoBeforeWhatWasScannedBehindThem) {
  RowSender sender = New(true);
  Add(&sender, "a", start_);
  sender.OnProgress("b", start_ + milliseconds(60));
  sender.OnProgress("c", start_ + milliseconds(120));
  EXPECT_EQ(sent_, std::vector<std::string>({"a", "scanned c"}));
}

TEST_F(RowSenderTest, NothingIsSaidInTheMiddleOfARow) {
  RowSender sender = New(true);
  Add(&sender, "a", start_);
  Add(&sender, "b", start_, /*is_last_piece=*/false);
  sender.OnProgress("b", start_ + milliseconds(60));  // row a is sent
  EXPECT_EQ(sent_, std::vector<std::string>({"a"}));
  sender.OnProgress("b", start_ + milliseconds(120));  // the part is not a complete row yet
  EXPECT_EQ(sent_, std::vector<std::string>({"a"}));
  Add(&sender, "b", start_ + milliseconds(180));
  EXPECT_EQ(sent_, std::vector<std::string>({"a", "b."}));
}

TEST(SupportsLastScannedKey, ReadsTheClientsFeatures) {
  EXPECT_TRUE(SupportsLastScannedKey("CAEgAQ=="));  // cbt's
  EXPECT_TRUE(SupportsLastScannedKey("CAEgAQ"));
  EXPECT_TRUE(SupportsLastScannedKey("IAF4AQ=="));  // with an unknown field
  EXPECT_FALSE(SupportsLastScannedKey(""));
  EXPECT_FALSE(SupportsLastScannedKey("CAE="));
  EXPECT_FALSE(SupportsLastScannedKey("!"));
  EXPECT_FALSE(SupportsLastScannedKey("/w=="));
}

}  // namespace
}  // namespace stele::server
