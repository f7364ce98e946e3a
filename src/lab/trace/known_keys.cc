#include "lab/trace/known_keys.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"

namespace stele::internal::lab {

void KnownKeys::AddInOrder(std::string_view row_key) {
  if (count_++ % stride_ != 0) return;
  keys_.emplace_back(row_key);
  bytes_ += row_key.size() + kTableKeyBytes;
  while (bytes_ > bytes_max_ && keys_.size() > 1) {
    bytes_ = 0;
    for (size_t i = 0; 2 * i < keys_.size(); ++i) {
      if (i > 0) keys_[i] = std::move(keys_[2 * i]);
      bytes_ += keys_[i].size() + kTableKeyBytes;
    }
    keys_.resize((keys_.size() + 1) / 2);
    stride_ *= 2;
  }
}

void KnownKeys::Add(std::string_view key, bool is_row) {
  if (stride_ > 1 && Checksum64(key) % stride_ != 0) return;
  const auto [known, is_new] = found_.emplace(key, is_row);
  known->second = known->second || is_row;
  if (is_new) bytes_ += key.size() + kTraceKeyBytes;
  while (bytes_ > bytes_max_ && found_.size() > 1) Halve();
}

void KnownKeys::Halve() {
  stride_ *= 2;
  bytes_ = 0;
  std::erase_if(found_, [&](const auto& known) {
    const bool is_dropped = Checksum64(known.first) % stride_ != 0;
    if (!is_dropped) bytes_ += known.first.size() + kTraceKeyBytes;
    return is_dropped;
  });
}

void KnownKeys::Finish() {
  if (found_.empty()) return;
  count_ = found_.size() * stride_;
  std::vector<std::pair<std::string, bool>> sorted;
  while (!found_.empty()) {
    auto known = found_.extract(found_.begin());
    sorted.emplace_back(std::move(known.key()), known.mapped());
  }
  std::sort(sorted.begin(), sorted.end());
  for (auto& [key, is_row] : sorted) {
    keys_.push_back(std::move(key));
    is_row_.push_back(is_row);
  }
}

size_t KnownKeys::IndexOf(std::string_view key) const {
  const auto above = std::upper_bound(keys_.begin(), keys_.end(), key);
  return above == keys_.begin() ? 0 : static_cast<size_t>(above - keys_.begin()) - 1;
}

}  // namespace stele::internal::lab
