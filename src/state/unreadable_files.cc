#include "state/unreadable_files.h"

#include <algorithm>

namespace stele::internal {
namespace {

constexpr auto kRetryDelayMin = std::chrono::milliseconds(1000);
constexpr auto kRetryDelayMax = std::chrono::milliseconds(60'000);

bool IsAboutTheFile(const absl::Status& why) {
  switch (why.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kResourceExhausted:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool UnreadableFiles::Add(uint64_t file_number, const TabletName& tablet, const absl::Status& why,
                          TimePoint now) {
  if (!IsAboutTheFile(why)) return false;
  RetryState& retry = files_[file_number][tablet];
  retry.backoff = std::clamp(retry.backoff * 2, kRetryDelayMin, kRetryDelayMax);
  retry.retry_at = absl::IsDataLoss(why) ? TimePoint::max() : now + retry.backoff;
  return true;
}

FilesByTablet UnreadableFiles::FilesAt(TimePoint now) const {
  FilesByTablet files;
  for (const auto& [number, tablets] : files_) {
    for (const auto& [tablet, retry] : tablets) {
      if (now < retry.retry_at) files[tablet].insert(number);
    }
  }
  return files;
}

}  // namespace stele::internal
