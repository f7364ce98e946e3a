#include "stele/lab/histogram.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "absl/strings/escaping.h"
#include "fmt/format.h"

namespace stele {
inline namespace v0 {
namespace lab {
namespace {

// 3 significant digits need 2,048 sub-buckets (twice the next power of two above 1,000).
constexpr int kSubBucketBits = 11;
constexpr uint64_t kSubBuckets = uint64_t{1} << kSubBucketBits;
constexpr uint64_t kHalf = kSubBuckets / 2;
constexpr uint32_t kCookie = 0x1c849303 | 0x10;
constexpr uint32_t kCompressedCookie = 0x1c849304 | 0x10;
constexpr int kSignificantDigits = 3;
constexpr int kTicksPerHalfDistance = 5;
constexpr double kNanosPerMicro = 1000;

int BucketOf(uint64_t value) {
  return static_cast<int>(std::bit_width(value | (kSubBuckets - 1))) - kSubBucketBits;
}

size_t IndexOf(uint64_t value) {
  const int bucket = BucketOf(value);
  const uint64_t sub_bucket = value >> bucket;
  return static_cast<size_t>((static_cast<uint64_t>(bucket) << (kSubBucketBits - 1)) + sub_bucket);
}

// The lowest value that is counted at an index.
uint64_t LowestAt(size_t index) {
  int bucket = static_cast<int>(index >> (kSubBucketBits - 1)) - 1;
  uint64_t sub_bucket = (index & (kHalf - 1)) + kHalf;
  if (bucket < 0) {
    sub_bucket -= kHalf;
    bucket = 0;
  }
  return sub_bucket << bucket;
}

uint64_t WidthAt(size_t index) {
  const int bucket = std::max(0, static_cast<int>(index >> (kSubBucketBits - 1)) - 1);
  return uint64_t{1} << bucket;
}

uint64_t HighestAt(size_t index) { return LowestAt(index) + WidthAt(index) - 1; }
uint64_t MiddleAt(size_t index) { return LowestAt(index) + WidthAt(index) / 2; }

void AppendBigEndian(std::string* text, uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text->push_back(static_cast<char>((number >> shift) & 0xff));
}

// ZigZag LEB128 of at most 9 bytes, whose ninth byte has 8 bits.
void AppendZigZag(std::string* text, int64_t number) {
  auto bits = (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
  for (int byte = 0; byte < 8; ++byte) {
    if (bits < 0x80) {
      text->push_back(static_cast<char>(bits));
      return;
    }
    text->push_back(static_cast<char>((bits & 0x7f) | 0x80));
    bits >>= 7;
  }
  text->push_back(static_cast<char>(bits));
}

}  // namespace

LatencyHistogram::LatencyHistogram() : counts_(IndexOf(kMaxNanos) + 1) {}

void LatencyHistogram::Record(uint64_t nanos) {
  if (nanos > kMaxNanos) {
    ++overflow_count_;
    nanos = kMaxNanos;
  }
  ++counts_[IndexOf(std::max<uint64_t>(1, nanos))];
  ++count_;
}

void LatencyHistogram::Add(const LatencyHistogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  overflow_count_ += other.overflow_count_;
}

void LatencyHistogram::Clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = overflow_count_ = 0;
}

uint64_t LatencyHistogram::ValueAtPercentile(double percentile) const {
  if (count_ == 0) return 0;
  const double share = percentile > 0 ? std::min(percentile, 100.0) / 100 : 0;  // NaN counts as 0
  const double wanted = std::ceil(share * static_cast<double>(count_));
  const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  uint64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return HighestAt(i);
  }
  return Max();
}

uint64_t LatencyHistogram::Min() const {
  const auto first = std::find_if(counts_.begin(), counts_.end(), [](uint64_t c) { return c > 0; });
  return first == counts_.end() ? 0 : LowestAt(static_cast<size_t>(first - counts_.begin()));
}

uint64_t LatencyHistogram::Max() const {
  const auto last =
      std::find_if(counts_.rbegin(), counts_.rend(), [](uint64_t c) { return c > 0; });
  return last == counts_.rend() ? 0 : HighestAt(static_cast<size_t>(counts_.rend() - last) - 1);
}

double LatencyHistogram::Mean() const {
  if (count_ == 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < counts_.size(); ++i)
    sum += static_cast<double>(counts_[i]) * static_cast<double>(MiddleAt(i));
  return sum / static_cast<double>(count_);
}

double LatencyHistogram::StandardDeviation() const {
  if (count_ == 0) return 0;
  const double mean = Mean();
  double sum = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    const double deviation = static_cast<double>(MiddleAt(i)) - mean;
    sum += static_cast<double>(counts_[i]) * deviation * deviation;
  }
  return std::sqrt(sum / static_cast<double>(count_));
}

std::string LatencyHistogram::EncodedPayload() const {
  std::string counts;
  const auto last =
      std::find_if(counts_.rbegin(), counts_.rend(), [](uint64_t c) { return c > 0; });
  const auto end = static_cast<size_t>(counts_.rend() - last);
  for (size_t i = 0; i < end;) {
    if (counts_[i] > 0) {
      AppendZigZag(&counts, static_cast<int64_t>(counts_[i++]));
      continue;
    }
    int64_t zeros = 0;
    for (; i < end && counts_[i] == 0; ++i) ++zeros;
    AppendZigZag(&counts, zeros == 1 ? 0 : -zeros);
  }
  std::string payload;
  AppendBigEndian(&payload, kCookie, 4);
  AppendBigEndian(&payload, counts.size(), 4);
  AppendBigEndian(&payload, 0, 4);  // the index offset
  AppendBigEndian(&payload, kSignificantDigits, 4);
  AppendBigEndian(&payload, 1, 8);  // the lowest value
  AppendBigEndian(&payload, kMaxNanos, 8);
  AppendBigEndian(&payload, std::bit_cast<uint64_t>(1.0), 8);  // the ratio to the unit
  return payload + counts;
}

std::string LatencyHistogram::Encoded() const {
  const std::string payload = EncodedPayload();
  uLongf compressed_bytes = compressBound(payload.size());
  std::string compressed(compressed_bytes, '\0');
  // compress2 fails only if memory is short or the buffer is too small.
  if (compress2(reinterpret_cast<Bytef*>(compressed.data()), &compressed_bytes,
                reinterpret_cast<const Bytef*>(payload.data()), payload.size(),
                Z_DEFAULT_COMPRESSION) != Z_OK)
    return "";
  compressed.resize(compressed_bytes);
  std::string encoded;
  AppendBigEndian(&encoded, kCompressedCookie, 4);
  AppendBigEndian(&encoded, compressed.size(), 4);
  return absl::Base64Escape(encoded + compressed);
}

std::vector<PercentilePoint> LatencyHistogram::PercentilePoints() const {
  std::vector<PercentilePoint> points;
  uint64_t seen = 0;
  double next = 0;  // the percentile of the next point
  for (size_t i = 0; i < counts_.size() && seen < count_; ++i) {
    if (counts_[i] == 0) continue;
    seen += counts_[i];
    const double reached = 100 * static_cast<double>(seen) / static_cast<double>(count_);
    while (next <= reached && next < 100) {
      points.push_back({.percentile = next, .nanos = HighestAt(i), .count = seen});
      const double half_distances = std::floor(std::log2(100 / (100 - next))) + 1;
      const double ticks = kTicksPerHalfDistance * std::pow(2, half_distances);
      next += 100 / ticks;
      if (seen == count_) break;  // the point of the maximum follows
    }
  }
  if (count_ > 0) points.push_back({.percentile = 100, .nanos = Max(), .count = count_});
  return points;
}

std::string LatencyHistogram::PercentileText() const {
  std::string text = fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile",
                                 "TotalCount", "1/(1-Percentile)");
  for (const PercentilePoint& point : PercentilePoints()) {
    text +=
        fmt::format("{:12.3f} {:2.12f} {:10}", static_cast<double>(point.nanos) / kNanosPerMicro,
                    point.percentile / 100, point.count);
    if (point.percentile < 100) text += fmt::format(" {:14.2f}", 1 / (1 - point.percentile / 100));
    text += '\n';
  }
  text += fmt::format("#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n", Mean() / kNanosPerMicro,
                      StandardDeviation() / kNanosPerMicro);
  text += fmt::format("#[Max     = {:12.3f}, Total count    = {:12}]\n",
                      static_cast<double>(Max()) / kNanosPerMicro, count_);
  text += fmt::format("#[Buckets = {:12}, SubBuckets     = {:12}]\n", BucketOf(kMaxNanos) + 1,
                      kSubBuckets);
  return text;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
