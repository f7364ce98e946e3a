#include "bench/random.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace stele::cli {
namespace {

absl::Status WrongDistribution(std::string_view text) {
  return internal::InvalidArgument(
      "--distribution must be uniform, zipfian, latest, sequential or hotspot:SHARE:OPS with "
      "shares "
      "from 0 to 1, not \"{}\"",
      text);
}

// Returns false unless the text is a number above 0 and at most 1.
bool ParseShare(const std::string& text, double* share) {
  return absl::SimpleAtod(text, share) && *share > 0 && *share <= 1;
}

}  // namespace

absl::StatusOr<Distribution> ParseDistribution(std::string_view text) {
  using Kind = Distribution::Kind;
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(text.data(), text.size()), ':');
  Distribution distribution;
  if (parts[0] == "hotspot") {
    distribution.kind = Kind::kHotspot;
    if (parts.size() != 3 || !ParseShare(parts[1], &distribution.hot_rows) ||
        !ParseShare(parts[2], &distribution.hot_operations))
      return WrongDistribution(text);
    return distribution;
  }
  if (parts.size() != 1) return WrongDistribution(text);
  if (text == "uniform") return distribution;
  if (text == "zipfian") {
    distribution.kind = Kind::kZipfian;
  } else if (text == "latest") {
    distribution.kind = Kind::kLatest;
  } else if (text == "sequential") {
    distribution.kind = Kind::kSequential;
  } else {
    return WrongDistribution(text);
  }
  return distribution;
}

std::string ToText(const Distribution& distribution) {
  return internal::lab::DistributionText(distribution);
}

}  // namespace stele::cli
