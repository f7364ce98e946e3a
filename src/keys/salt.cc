#include "base/status.h"
#include "stele/keys.h"

namespace stele {
inline namespace v0 {
namespace keys {
namespace {

constexpr int kBucketsMin = 2;
constexpr int kBucketsMax = 1000;

absl::Status CheckBuckets(int buckets) {
  if (buckets >= kBucketsMin && buckets <= kBucketsMax) return absl::OkStatus();
  return internal::InvalidArgument("{} buckets are not from {} to {}", buckets, kBucketsMin,
                                   kBucketsMax);
}

std::string BucketText(uint64_t bucket, int buckets) {
  return fmt::format("{:0{}}", bucket, fmt::formatted_size("{}", buckets - 1));
}

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
uint64_t Fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Returns `range` with `head` before each of its keys. Every key of the result begins with it.
RowRange RangeBehind(const std::string& head, const RowRange& range) {
  if (range.IsEmpty()) return RowRange::Empty();
  if (range.is_prefix() || (range.start_bound() == RangeBound::kUnbounded &&
                            range.end_bound() == RangeBound::kUnbounded)) {
    return RowRange::Prefix(head + range.start());
  }
  const bool has_open_start = range.start_bound() == RangeBound::kOpen;
  std::string start = head + range.start();
  // A head begins with a digit, so it has an end.
  if (range.end_bound() == RangeBound::kUnbounded) {
    std::string end = *PrefixEnd(head);
    return has_open_start ? RowRange::Open(std::move(start), std::move(end))
                          : RowRange::RightOpen(std::move(start), std::move(end));
  }
  std::string end = head + range.end();
  if (range.end_bound() == RangeBound::kClosed) {
    return has_open_start ? RowRange::LeftOpen(std::move(start), std::move(end))
                          : RowRange::Closed(std::move(start), std::move(end));
  }
  return has_open_start ? RowRange::Open(std::move(start), std::move(end))
                        : RowRange::RightOpen(std::move(start), std::move(end));
}

}  // namespace

absl::StatusOr<std::string> SaltBucket(std::string_view bytes, int buckets) {
  STELE_RETURN_IF_ERROR(CheckBuckets(buckets));
  const uint64_t hash = Fnv1a(bytes);
  return BucketText((hash ^ (hash >> 32)) % static_cast<uint64_t>(buckets), buckets);
}

absl::StatusOr<std::vector<RowRange>> SaltedRanges(const RowRange& range, int buckets,
                                                   std::string_view delimiter) {
  STELE_RETURN_IF_ERROR(CheckBuckets(buckets));
  std::vector<RowRange> ranges;
  ranges.reserve(static_cast<size_t>(buckets));
  for (int bucket = 0; bucket < buckets; ++bucket) {
    ranges.push_back(
        RangeBehind(BucketText(static_cast<uint64_t>(bucket), buckets).append(delimiter), range));
  }
  return ranges;
}

std::optional<std::string> PrefixEnd(std::string_view prefix) {
  while (prefix.ends_with('\xff')) prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string end(prefix);
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace keys
}  // namespace v0
}  // namespace stele
