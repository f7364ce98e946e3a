#include "lab/facts/first_segment.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lab/kinds/public_suffixes.h"
#include "lab/kinds/value_kinds.h"

namespace stele::internal::lab {
namespace {

bool HasLetter(std::string_view text) {
  return text.find_first_not_of("0123456789-") != std::string_view::npos;
}

void AddCharacters(std::string_view text, uint64_t rows, bool skips_dashes,
                   FirstSegment::Hashes* hashes) {
  hashes->rows += rows;
  if (HasLetter(text)) hashes->rows_with_letter += rows;
  for (const char c : text)
    if (c != '-' || !skips_dashes) hashes->characters[static_cast<unsigned char>(c)] += rows;
}

}  // namespace

// Keys come in order, so equal first segments follow one another. A key without a delimiter is the
// exception: keys with other first segments may come between it and those that continue it.
void FirstSegment::Add(std::string_view segment) {
  if (current_rows_ == 0 || segment != current_) {
    EndRun();
    current_ = segment;
  }
  ++current_rows_;
}

void FirstSegment::EndRun() {
  if (current_rows_ == 0) return;
  rows_ += current_rows_;
  if (runs_ > 0) {
    const auto [ours, theirs] =
        std::mismatch(current_.begin(), current_.end(), previous_.begin(), previous_.end());
    common_prefix_bytes_ += static_cast<uint64_t>(ours - current_.begin());
  }
  ++runs_;
  if (IsTime(current_)) times_ += current_rows_;
  if (IsReversedTime(current_)) reversed_times_ += current_rows_;
  if (current_rows_ > largest_rows_) {
    largest_rows_ = current_rows_;
    largest_ = current_;
  }
  AddNumbers();
  AddHashes();
  AddHosts();
  current_rows_ = 0;
  previous_.swap(current_);
}

void FirstSegment::AddNumbers() {
  const bool is_number = current_.size() <= 18 && IsDigits(current_);
  uint64_t number = 0;
  if (is_number) {
    std::from_chars(current_.data(), current_.data() + current_.size(), number);
    numbers_.rows += current_rows_;
    ++numbers_.distinct;
    numbers_.min = std::min(numbers_.min, number);
    numbers_.max = std::max(numbers_.max, number);
  }
  if (bucket_width_ == 0) bucket_width_ = current_.size();
  has_only_buckets_ =
      has_only_buckets_ && is_number && current_.size() <= 3 && current_.size() == bucket_width_;
  if (has_only_buckets_) bucket_rows_[static_cast<size_t>(number)] += current_rows_;
}

void FirstSegment::AddHashes() {
  const HashForm form = HashFormOf(current_);
  if (form != HashForm::kNone)
    AddCharacters(current_, current_rows_, form == HashForm::kUuid, &hex_);
  if (IsBase64Text(current_)) AddCharacters(current_, current_rows_, false, &base64_);
}

void FirstSegment::AddHosts() {
  if (!IsHostName(current_)) return;
  const std::string_view host = current_;
  const bool is_host = IsTopLevelDomain(host.substr(host.rfind('.') + 1));
  const bool is_reversed = IsTopLevelDomain(host.substr(0, host.find('.')));
  if (is_host || is_reversed) either_hosts_ += current_rows_;
  if (is_host) {
    hosts_.rows += current_rows_;
    hosts_.domains.Add(RegistrableDomain(host), current_rows_);
  }
  if (is_reversed) {
    reversed_hosts_.rows += current_rows_;
    reversed_hosts_.domains.Add(RegistrableDomain(ReversedLabels(host)), current_rows_);
  }
}

FirstSegment::Buckets FirstSegment::buckets() const {
  Buckets buckets;
  if (!has_only_buckets_) return buckets;
  const size_t first = bucket_rows_[0] > 0 ? 0 : 1;
  size_t end = first;
  while (end < bucket_rows_.size() && bucket_rows_[end] > 0) ++end;
  const bool has_gap = std::any_of(bucket_rows_.begin() + static_cast<ptrdiff_t>(end),
                                   bucket_rows_.end(), [](uint64_t rows) { return rows > 0; });
  buckets.rows = rows_;
  buckets.count = has_gap ? 0 : end - first;
  buckets.largest = *std::max_element(bucket_rows_.begin(), bucket_rows_.end());
  return buckets;
}

double FirstSegment::Hashes::Entropy() const {
  double sum = 0;
  for (const uint64_t count : characters) sum += static_cast<double>(count);
  double entropy = 0;
  for (const uint64_t count : characters) {
    const double share = count == 0 ? 1 : static_cast<double>(count) / sum;
    entropy -= count == 0 ? 0 : share * std::log2(share);
  }
  return entropy;
}

double FirstSegment::MeanCommonPrefix() const {
  return runs_ < 2 ? 0 : static_cast<double>(common_prefix_bytes_) / static_cast<double>(runs_ - 1);
}

}  // namespace stele::internal::lab
