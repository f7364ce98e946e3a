#include "lab/import/bad_items.h"

#include <cerrno>

#include "base/status.h"
#include "lab/mapping/lab_json.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {

absl::Status BadItems::Open(const std::string& path) {
  path_ = path;
  if (path.empty()) return absl::OkStatus();
  file_.reset(std::fopen(path.c_str(), "wb"));
  return file_ == nullptr ? ErrnoStatus("open", path, errno) : absl::OkStatus();
}

absl::Status BadItems::Add(uint64_t position, const std::string& file, uint64_t line_number,
                           const absl::Status& reason, std::string_view raw) {
  if (positions_.size() == kPositionsMax)
    return ResourceExhausted("more than {} bad items: is this DynamoDB JSON?", kPositionsMax);
  positions_.push_back(position);
  const std::string message(ToStd(reason.message()));
  if (listed_.size() < kListedMax)
    listed_.push_back(fmt::format("{}:{}: {}", file, line_number, message));
  if (file_ == nullptr) return absl::OkStatus();
  std::string line = "{\"file\":";
  AppendJsonString(file, &line);
  line += fmt::format(",\"line\":{},\"error\":", line_number);
  AppendJsonString(message, &line);
  line += ",\"raw_base64\":\"";
  AppendBase64(raw, &line);
  line += "\"}\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size())
    return ErrnoStatus("write", path_, errno);
  return absl::OkStatus();
}

absl::Status BadItems::Close() {
  if (file_ == nullptr) return absl::OkStatus();
  return std::fclose(file_.release()) == 0 ? absl::OkStatus() : ErrnoStatus("write", path_, errno);
}

bool BadItems::TakeIfBad(uint64_t position) {
  if (next_ == positions_.size() || positions_[next_] != position) return false;
  ++next_;
  return true;
}

}  // namespace stele::internal::lab
