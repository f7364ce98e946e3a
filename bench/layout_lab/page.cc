#include "page.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace stele::layout_lab {
namespace {

uint32_t WidthOf(uint64_t greatest) {
  if (greatest == 0) return 0;
  if (greatest <= UINT8_MAX) return 1;
  if (greatest <= UINT16_MAX) return 2;
  return greatest <= UINT32_MAX ? 4 : 8;
}

// Encodes each value as its distance from the line base + stride * i. The line is below all values.
void AppendArray(std::string* out, std::span<const int64_t> values, uint64_t stride) {
  int64_t base = std::numeric_limits<int64_t>::max();
  int64_t greatest = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t rest = values[i] - static_cast<int64_t>(stride * i);
    base = std::min(base, rest);
    greatest = std::max(greatest, rest);
  }
  const uint32_t width = WidthOf(static_cast<uint64_t>(greatest) - static_cast<uint64_t>(base));
  out->push_back(static_cast<char>(width));
  internal::AppendVarint(*out, stride);
  internal::AppendSignedVarint(*out, base);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t rest =
        static_cast<uint64_t>(values[i]) - stride * i - static_cast<uint64_t>(base);
    out->append(reinterpret_cast<const char*>(&rest), width);
  }
}

void AppendPlain(std::string* out, std::span<const int64_t> values) { AppendArray(out, values, 0); }

void AppendEnds(std::string* out, std::span<const int64_t> ends) {
  const size_t steps = ends.size() - 1;
  AppendArray(out, ends,
              steps == 0 ? 0 : static_cast<uint64_t>(ends.back() - ends.front()) / steps);
}

// Returns the greatest number that divides all values. With it, daily timestamps need a few bits
// each instead of eight bytes.
int64_t CommonUnit(std::span<const int64_t> values) {
  int64_t unit = 0;
  for (const int64_t value : values) unit = std::gcd(unit, value);
  return unit == 0 ? 1 : unit;
}

uint64_t LoadVarint(const char*& at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace

size_t SharedBytes(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

const char* PackedArray::Open(const char* at, size_t count) {
  static constexpr uint64_t kMasks[9] = {0, 0xff, 0xffff, 0, 0xffffffff, 0, 0, 0, ~uint64_t{0}};
  width_ = static_cast<uint8_t>(*at++);
  mask_ = kMasks[width_];
  stride_ = LoadVarint(at);
  const uint64_t zigzag = LoadVarint(at);
  base_ = (zigzag >> 1) ^ (~(zigzag & 1) + 1);
  rests_ = at;
  return at + count * width_;
}

void PageWriter::AddRow(std::string_view row_key) {
  if (!key_ends_.empty()) row_ends_.push_back(static_cast<int64_t>(columns_.size()));
  keys_.append(row_key);
  key_ends_.push_back(static_cast<int64_t>(keys_.size()));
  raw_bytes_ += row_key.size() + 2;
}

void PageWriter::AddCell(const StoredCell& cell) {
  columns_.push_back(cell.column);
  timestamps_.push_back(cell.timestamp);
  values_.append(cell.value);
  value_ends_.push_back(static_cast<int64_t>(values_.size()));
  raw_bytes_ += cell.value.size() + 6;
}

void PageWriter::Finish(std::string* head, std::string* values) {
  row_ends_.push_back(static_cast<int64_t>(columns_.size()));
  // Keys ascend, so all keys share the common prefix of the first and the last one.
  const std::string_view first =
      std::string_view(keys_).substr(0, static_cast<size_t>(key_ends_.front()));
  const size_t last_begin =
      key_ends_.size() > 1 ? static_cast<size_t>(key_ends_[key_ends_.size() - 2]) : 0;
  const size_t prefix_bytes = SharedBytes(first, std::string_view(keys_).substr(last_begin));
  std::vector<int64_t> rest_ends;
  std::string rests;
  for (size_t i = 0, begin = 0; i < key_ends_.size(); begin = static_cast<size_t>(key_ends_[i++])) {
    rests.append(keys_, begin + prefix_bytes,
                 static_cast<size_t>(key_ends_[i]) - begin - prefix_bytes);
    rest_ends.push_back(static_cast<int64_t>(rests.size()));
  }
  head->clear();
  internal::AppendFixed32(*head, static_cast<uint32_t>(key_ends_.size()));
  internal::AppendFixed32(*head, static_cast<uint32_t>(columns_.size()));
  internal::AppendFixed32(*head, 0);  // the length of this part, set below
  internal::AppendFixed32(*head, static_cast<uint32_t>(prefix_bytes));
  AppendEnds(head, rest_ends);
  AppendEnds(head, row_ends_);
  head->append(first.substr(0, prefix_bytes));
  head->append(rests);
  internal::StoreFixed32(head->data() + 8, static_cast<uint32_t>(head->size()));
  AppendPlain(head, columns_);
  const int64_t unit = CommonUnit(timestamps_);
  for (int64_t& timestamp : timestamps_) timestamp /= unit;
  internal::AppendVarint(*head, static_cast<uint64_t>(unit));
  AppendPlain(head, timestamps_);
  AppendEnds(head, value_ends_);
  *values = std::move(values_);
  *this = PageWriter();
}

void PageView::OpenRows(const char* head) {
  row_count_ = internal::LoadFixed32(head);
  cell_count_ = internal::LoadFixed32(head + 4);
  rows_end_ = head + RowsBytes(head);
  const uint32_t prefix_bytes = internal::LoadFixed32(head + 12);
  const char* at = key_ends_.Open(head + 16, row_count_);
  at = row_ends_.Open(at, row_count_);
  prefix_ = {at, prefix_bytes};
  keys_ = at + prefix_bytes;
}

const char* PageView::OpenCells(const char* cells) {
  const char* at = columns_.Open(cells, cell_count_);
  timestamp_unit_ = static_cast<int64_t>(LoadVarint(at));
  at = timestamps_.Open(at, cell_count_);
  return value_ends_.Open(at, cell_count_);
}

uint32_t PageView::Find(std::string_view row_key) const {
  if (row_key.substr(0, prefix_.size()) != prefix_) return row_count_;
  const std::string_view rest = row_key.substr(prefix_.size());
  uint32_t begin = 0;
  for (uint32_t end = row_count_; begin < end;) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (key_rest(middle) < rest) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < row_count_ && key_rest(begin) == rest ? begin : row_count_;
}

}  // namespace stele::layout_lab
