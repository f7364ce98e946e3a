#include "read/scan_cursor.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

constexpr uint64_t kReadsCountedAtOnce = 256;  // counters are shared by all threads

bool IsSingleRow(const KeyRange& range) {
  return !range.unbounded_end && range.end.size() == range.start.size() + 1 &&
         range.end.back() == '\0' &&
         std::string_view(range.end).substr(0, range.start.size()) == range.start;
}

}  // namespace

ScanCursor::ScanCursor(ScanView view, std::vector<KeyRange> ranges, ChainOptions options)
    : view_(std::move(view)),
      definition_(view_.table()->state->definition),
      options_(std::move(options)) {
  PlanRanges(std::move(ranges));
}

ScanCursor::~ScanCursor() { CountReads(); }

void ScanCursor::PlanRanges(std::vector<KeyRange> ranges) {
  const TableView& table = *view_.table();
  ranges_.reserve(ranges.size());
  for (KeyRange& range : ranges) {
    if (range.IsEmpty()) continue;
    size_t i = TabletIndexOf(table, range.start);
    if (table.tablets[i].range.Covers(range)) {
      ranges_.push_back({i, std::move(range)});
      continue;
    }
    for (; i < table.tablets.size(); ++i) {
      KeyRange part = Intersect(range, table.tablets[i].range);
      if (part.IsEmpty()) break;
      ranges_.push_back({i, std::move(part)});
    }
  }
  if (is_reverse()) std::reverse(ranges_.begin(), ranges_.end());
}

// Opens the chain for the next range, or keeps the one that is open for the same tablet.
bool ScanCursor::OpenRange() {
  const auto& [tablet_index, range] = this->range();
  range_open_ = true;
  range_started_ = false;
  const bool single = IsSingleRow(range);
  if (chain_.tablet_index != tablet_index) CountReads();
  if (single) ++reads_uncounted_;  // counted whether or not the row exists
  if (chain_.cursor != nullptr && !single && !chain_.is_for_one_row &&
      chain_.tablet_index == tablet_index)
    return true;
  options_.only_row = single ? std::optional<std::string_view>(range.start) : std::nullopt;
  const TableView& table = *view_.table();
  absl::StatusOr<std::unique_ptr<CellCursor>> cursor =
      OpenChain(table, table.tablets[tablet_index], options_);
  if (!cursor.ok()) {
    status_ = std::move(cursor).status();
    return false;
  }
  chain_.cursor = *std::move(cursor);
  chain_.tablet_index = tablet_index;
  chain_.is_for_one_row = single;
  return true;
}

bool ScanCursor::FirstRowOfRange() {
  const KeyRange& range = this->range().range;
  if (const std::optional<std::string> passed = std::exchange(row_passed_, std::nullopt))
    return chain_.cursor->SeekRow(is_reverse() ? *passed : *passed + '\0');
  if (!is_reverse()) return chain_.cursor->SeekRow(range.start);
  return range.unbounded_end ? chain_.cursor->SeekToEdge() : chain_.cursor->SeekRow(range.end);
}

bool ScanCursor::InRange() const {
  const KeyRange& range = this->range().range;
  return is_reverse() ? row_key() >= range.start : !range.EndsBefore(row_key());
}

bool ScanCursor::NextRow() {
  while (true) {
    if (view_.IsReplaced()) SwitchView(RowView());
    if (chain_.replaced_view != nullptr && !ReopenChain()) return false;
    if (!range_open_ && (range_next_ == ranges_.size() || !OpenRange())) return false;
    if (CellCursor* const cursor = chain_.cursor.get(); cursor != nullptr) {
      const bool on_row = range_started_ ? cursor->NextRow() : FirstRowOfRange();
      range_started_ = true;
      if (on_row && InRange()) return true;
      if (!on_row && !cursor->status().ok()) {
        status_ = cursor->status();
        return false;
      }
    }
    range_open_ = false;
    row_passed_.reset();
    ++range_next_;
    if (chain_.is_for_one_row) StartReads();
  }
}

void ScanCursor::StartReads() {
  if (options_.stats == nullptr ||
      std::exchange(bytes_read_, options_.stats->bytes_read) == options_.stats->bytes_read)
    return;
  const size_t end = std::min(ranges_.size(), range_next_ + kRowsStartedMax);
  for (started_next_ = std::max(started_next_, range_next_); started_next_ < end; ++started_next_) {
    const KeyRange& range = ranges_[started_next_].range;
    if (IsSingleRow(range)) StartReadOfRow(*view_.table(), range.start, options_);
  }
}

void ScanCursor::CountRow() {
  if (!chain_.is_for_one_row && ++reads_uncounted_ == kReadsCountedAtOnce) CountReads();
}

void ScanCursor::CountReads() {
  if (reads_uncounted_ > 0)
    view_.table()->tablets[chain_.tablet_index].CountReads(std::exchange(reads_uncounted_, 0));
}

// The chain keeps its position, but its memtables are released, so it must not be moved any more.
void ScanCursor::SwitchView(const RowView& shown) {
  const std::shared_ptr<const TableView> before = view_.Switch(shown);
  if (before == nullptr || chain_.cursor == nullptr || chain_.replaced_view != nullptr) return;
  if (range_open_ && range_started_) row_passed_ = std::string(row_key());
  auto without_memtables = std::make_shared<TableView>(*before);
  without_memtables->memtables.clear();
  chain_.replaced_view = std::move(without_memtables);
}

bool ScanCursor::ReopenChain() {
  chain_.cursor.reset();  // before its sources
  chain_.replaced_view.reset();
  view_.FreeShown();
  return !range_open_ || OpenRange();
}

void ScanCursor::Close() {
  CountReads();
  chain_.cursor.reset();  // before its sources
  chain_.replaced_view.reset();
  ranges_.clear();
  range_next_ = 0;
  range_open_ = false;
  view_.Close();
}

}  // namespace stele::internal
