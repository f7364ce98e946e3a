#include "stele/lab/histogram.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "lab/measure/interval_log.h"

namespace stele::lab {
namespace {

TEST(HistogramTest, PercentilesAreWithinAThousandth) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.ValueAtPercentile(99), 0u);
  for (uint64_t micros = 1; micros <= 10'000; ++micros) histogram.Record(micros * 1000);
  EXPECT_EQ(histogram.count(), 10'000u);
  for (const double percentile : {50.0, 90.0, 99.0, 99.9, 100.0}) {
    const double exact = percentile * 100'000;
    const auto value = static_cast<double>(histogram.ValueAtPercentile(percentile));
    EXPECT_GE(value, exact);
    EXPECT_LE(value, exact * 1.001);
  }
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  for (const double percentile : {-1.0, 0.0, kNoNumber})
    EXPECT_EQ(histogram.ValueAtPercentile(percentile), histogram.ValueAtPercentile(0.01));
  EXPECT_EQ(histogram.ValueAtPercentile(200), histogram.Max());
  EXPECT_NEAR(histogram.Mean(), 5'000'500, 5'000);
  EXPECT_NEAR(histogram.StandardDeviation(), 2'886'751, 3'000);
  LatencyHistogram sum;
  sum.Add(histogram);
  sum.Add(histogram);
  EXPECT_EQ(sum.count(), 20'000u);
  EXPECT_EQ(sum.ValueAtPercentile(50), histogram.ValueAtPercentile(50));
}

TEST(HistogramTest, ValuesAboveAnHourAreReported) {
  LatencyHistogram histogram;
  histogram.Record(LatencyHistogram::kMaxNanos + 1);
  EXPECT_EQ(histogram.overflow_count(), 1u);
  EXPECT_GE(histogram.Max(), LatencyHistogram::kMaxNanos);
}

// The payload by hand: a header of 40 bytes, then zigzag counts with negative runs of zeros.
TEST(HistogramTest, TheEncodingIsHdrHistograms) {
  LatencyHistogram histogram;
  for (const uint64_t nanos : {1, 1000, 1'000'000}) histogram.Record(nanos);
  const std::string encoded = histogram.Encoded();
  EXPECT_TRUE(encoded.starts_with("HISTFAAA")) << encoded;
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(encoded, &bytes));
  std::string payload(1000, '\0');
  uLongf payload_bytes = payload.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(payload.data()), &payload_bytes,
                       reinterpret_cast<const Bytef*>(bytes.data()) + 8, bytes.size() - 8),
            Z_OK);
  payload.resize(payload_bytes);
  EXPECT_EQ(absl::BytesToHexString(payload.substr(0, 40)),
            "1c849313"          // cookie
            "00000009"          // bytes of the counts
            "00000000"          // index offset
            "00000003"          // significant digits
            "0000000000000001"  // lowest value
            "0000034630b8a000"  // highest value
            "3ff0000000000000");
  EXPECT_EQ(absl::BytesToHexString(payload.substr(40)), "0002cb0f02ef9e0102");
}

TEST(HistogramTest, ThePercentileTextEndsWithTheMaximum) {
  LatencyHistogram histogram;
  for (uint64_t micros = 1; micros <= 100; ++micros) histogram.Record(micros * 1000);
  const std::string text = histogram.PercentileText();
  EXPECT_TRUE(text.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"))
      << text;
  EXPECT_NE(text.find("\n       1.000 0.000000000000          1           1.00\n"), text.npos)
      << text;
  EXPECT_NE(text.find(" 1.000000000000        100\n#[Mean    = "), text.npos) << text;
  EXPECT_NE(text.find("Total count    =          100]\n"), text.npos) << text;
}

TEST(HistogramTest, ThePercentilePointsRiseToTheMaximum) {
  LatencyHistogram histogram;
  EXPECT_TRUE(histogram.PercentilePoints().empty());
  for (uint64_t micros = 1; micros <= 100; ++micros) histogram.Record(micros * 1000);
  const std::vector<PercentilePoint> points = histogram.PercentilePoints();
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i].percentile, points[i - 1].percentile);
    EXPECT_GE(points[i].nanos, points[i - 1].nanos);
  }
  EXPECT_EQ(points[0].percentile, 0);
  EXPECT_EQ(points[0].count, 1u);
  EXPECT_EQ(points.back().percentile, 100);
  EXPECT_EQ(points.back().nanos, histogram.Max());
  EXPECT_EQ(points.back().count, 100u);
}

// One line per tag and second, with the longest latency in milliseconds.
TEST(IntervalLogTest, ALineHasTheLatenciesOfASecond) {
  using std::chrono::milliseconds;
  internal::lab::IntervalLog log;
  log.Record("get", milliseconds(100), 1'000'000);
  log.Record("get", milliseconds(900), 2'000'000);
  log.Record("a, b", milliseconds(2500), 1'000);
  internal::lab::IntervalLog sum;
  sum.Add(log);
  LatencyHistogram first;
  first.Record(1'000'000);
  first.Record(2'000'000);
  LatencyHistogram third;
  third.Record(1'000);
  EXPECT_EQ(sum.Lines("x."), "Tag=x.get,0.000,1.000,2.001," + first.Encoded() +
                                 "\nTag=x.a__b,2.000,1.000,0.001," + third.Encoded() + "\n");
}

}  // namespace
}  // namespace stele::lab
