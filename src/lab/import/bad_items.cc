#include "lab/import/bad_items.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/status.h"
#include "io/output_file.h"
#include "lab/mapping/lab_json.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {

namespace {

constexpr size_t kEncodedBytes = size_t{3} << 16;  // a multiple of three

}  // namespace

BadItems::~BadItems() {
  if (file_ != nullptr && !new_path_.empty()) std::remove(new_path_.c_str());
}

absl::Status BadItems::Open() {
  // Devices and pipes are written in place.
  std::error_code error;
  const auto type = std::filesystem::status(path_, error).type();
  if (type == std::filesystem::file_type::regular || type == std::filesystem::file_type::not_found)
    new_path_ = fmt::format("{}.{}.new", LinkTargetOf(path_), ::getpid());
  const std::string& path = new_path_.empty() ? path_ : new_path_;
  file_.reset(new_path_.empty() ? std::fopen(path.c_str(), "wb") : CreateInPlaceOf(path, path_));
  return file_ == nullptr ? ErrnoStatus("create", path, errno) : absl::OkStatus();
}

absl::Status BadItems::Add(uint64_t position, const std::string& file, uint64_t line_number,
                           const absl::Status& reason, std::string_view raw) {
  if (positions_.size() == kPositionsMax)
    return ResourceExhausted("more than {} bad items: is this DynamoDB JSON?", kPositionsMax);
  positions_.push_back(position);
  const std::string message(ToStd(reason.message()));
  if (listed_.size() < kListedMax)
    listed_.push_back(fmt::format("{}:{}: {}", file, line_number, message));
  if (path_.empty()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(Prepare());
  std::string line = "{\"file\":";
  AppendJsonString(file, &line);
  line += fmt::format(",\"line\":{},\"error\":", line_number);
  AppendJsonString(message, &line);
  line += ",\"raw_base64\":\"";
  // A record may be large, so it is encoded in parts. Those before the last one have no padding.
  for (; raw.size() > kEncodedBytes; raw.remove_prefix(kEncodedBytes)) {
    AppendBase64(raw.substr(0, kEncodedBytes), &line);
    STELE_RETURN_IF_ERROR(Write(line));
    line.clear();
  }
  AppendBase64(raw, &line);
  line += "\"}\n";
  return Write(line);
}

absl::Status BadItems::Write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
    return ErrnoStatus("write", path_, errno);
  return absl::OkStatus();
}

absl::Status BadItems::Prepare() {
  return path_.empty() || file_ != nullptr ? absl::OkStatus() : Open();
}

absl::Status BadItems::Close() {
  if (path_.empty()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(Prepare());
  if (!new_path_.empty()) STELE_RETURN_IF_ERROR(SyncNewFile(file_.get(), path_));
  const bool is_closed = std::fclose(file_.release()) == 0;
  const int close_error = errno;
  if (is_closed &&
      (new_path_.empty() || std::rename(new_path_.c_str(), LinkTargetOf(path_).c_str()) == 0))
    return absl::OkStatus();
  const int error = is_closed ? errno : close_error;
  if (!new_path_.empty()) std::remove(new_path_.c_str());
  if (!is_closed) return ErrnoStatus("write", path_, error);
  return ErrnoStatus("rename to", path_, error);
}

bool BadItems::SkipIfBad(uint64_t position) {
  if (next_ == positions_.size() || positions_[next_] != position) return false;
  ++next_;
  return true;
}

void LackedKeys::Add(const Item& item) {
  for (Key& key : keys_) {
    if (!key.name.empty() && !item.Find(key.name).has_value()) ++key.lacked_count;
  }
  for (uint32_t i = 0; i < item.size() && !has_more_names_; i = item[i].next) {
    std::string name = Printable(item[i].name);
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    has_more_names_ = names_.size() == kNamesMax;
    if (!has_more_names_) names_.push_back(std::move(name));
  }
}

std::string LackedKeys::Text(uint64_t item_count) const {
  for (const Key& key : keys_) {
    if (key.lacked_count != item_count || names_.empty()) continue;
    std::string text = fmt::format("no item has the attribute \"{}\" of {}: the items have",
                                   Printable(key.name), key.flag);
    for (const std::string& name : names_)
      text += fmt::format("{} \"{}\"", &name == &names_.front() ? "" : ",", name);
    return text + (has_more_names_ ? " and others" : "");
  }
  return "";
}

}  // namespace stele::internal::lab
