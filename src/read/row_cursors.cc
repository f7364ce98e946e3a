#include "read/row_cursors.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stele::internal {
namespace {

class FileRowCursor final : public CellCursor {
 public:
  FileRowCursor(const SstableReader* reader, std::string_view row_key, CursorOptions options)
      : reader_(reader),
        row_key_(row_key),
        direction_(options.direction),
        options_(std::move(options)) {
    options_.direction = Direction::kForward;  // one row is the same in both directions
  }

  bool SeekToEdge() override { return Enter(true); }
  bool SeekRow(std::string_view bound) override {
    return Enter(direction_ == Direction::kForward ? row_key_ >= bound : row_key_ < bound);
  }
  bool NextRow() override { return Enter(false); }
  std::string_view row_key() const override { return row_key_; }
  bool ReadCells(std::vector<Cell>* cells) override;
  bool IsRowDone() const override {
    return place_ == Place::kAtEnd || (place_ == Place::kInCursor && cursor_->IsRowDone());
  }
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  bool ReadHistory(uint32_t family, std::string_view qualifier, std::vector<Cell>* cells) override {
    if (!is_cursor_placed_ && !PlaceCursor()) return status().ok();
    return cursor_->ReadHistory(family, qualifier, cells);
  }
  void Unpin() override {
    if (cursor_ != nullptr) cursor_->Unpin();
  }
  absl::Status status() const override {
    return cursor_ != nullptr && status_.ok() ? cursor_->status() : status_;
  }

 private:
  enum class Place : uint8_t {
    kNowhere,
    kUnread,  // on the row
    kInCursor,
    kAtEnd,
  };

  bool Enter(bool is_found) {
    place_ = is_found && status_.ok() ? Place::kUnread : Place::kNowhere;
    skip_family_ = kRowFamily;
    is_cursor_placed_ = false;
    return place_ == Place::kUnread;
  }
  bool ReadFirstCells(std::vector<Cell>* cells);
  bool PlaceCursor();

  const SstableReader* const reader_;
  const std::string_view row_key_;
  const Direction direction_;
  CursorOptions options_;
  Place place_ = Place::kNowhere;
  uint32_t skip_family_ = kRowFamily;  // kRowFamily: nothing is skipped
  std::string skip_qualifier_;
  std::optional<PlainRow> plain_;       // already read
  std::unique_ptr<CellCursor> cursor_;  // null: not needed so far
  bool is_cursor_placed_ = false;       // on the row
  absl::Status status_;
};

bool FileRowCursor::ReadCells(std::vector<Cell>* cells) {
  if (place_ == Place::kInCursor) return cursor_->ReadCells(cells);
  return std::exchange(place_, Place::kAtEnd) == Place::kUnread && ReadFirstCells(cells);
}

// If the row turns out to need a cursor, the cursor finds the decoded blocks in the cache.
bool FileRowCursor::ReadFirstCells(std::vector<Cell>* cells) {
  if (options_.fill_cache && cursor_ == nullptr && !plain_.has_value()) {
    PlainRow row;
    const absl::StatusOr<RowForm> form = reader_->ReadPlainRow(row_key_, options_, &row);
    status_ = form.status();
    if (!form.ok() || *form == RowForm::kAbsent) return false;
    if (*form == RowForm::kPlain) plain_ = std::move(row);
  }
  if (!plain_.has_value()) {
    if (!PlaceCursor()) return false;
    place_ = Place::kInCursor;
    if (skip_family_ != kRowFamily) cursor_->SkipTo(skip_family_, skip_qualifier_);
    return cursor_->ReadCells(cells);
  }
  const size_t begin = cells->size();
  plain_->AppendCells(cells);
  const auto is_skipped = [this](const Cell& cell) {
    return cell.family != skip_family_ ? cell.family < skip_family_
                                       : cell.qualifier < skip_qualifier_;
  };
  const auto first = cells->begin() + static_cast<ptrdiff_t>(begin);
  if (skip_family_ != kRowFamily)
    cells->erase(first, std::partition_point(first, cells->end(), is_skipped));
  return cells->size() > begin;
}

// Returns false if the file does not have the row, or cannot be read.
bool FileRowCursor::PlaceCursor() {
  if (cursor_ == nullptr) cursor_ = reader_->NewCursor(options_);
  return is_cursor_placed_ = cursor_->SeekRow(row_key_) && cursor_->row_key() == row_key_;
}

void FileRowCursor::SkipTo(uint32_t family, std::string_view qualifier) {
  if (place_ == Place::kInCursor) return cursor_->SkipTo(family, qualifier);
  skip_family_ = family;
  skip_qualifier_.assign(qualifier);
}

// True if the rules collect none of the versions. It takes a quarter of the time of a
// VersionCounter, and is true of most rows.
bool KeepsAll(const RetentionPolicy& policy, std::span<const Cell> versions) {
  size_t i = 0;
  while (i < versions.size()) {
    const uint32_t family = versions[i].family;
    uint64_t count = 0;  // of this column so far
    uint64_t count_max = 0;
    int64_t timestamp_min = std::numeric_limits<int64_t>::max();
    for (; i < versions.size() && versions[i].family == family; ++i) {
      const bool is_same_column =
          count != 0 && IsSameQualifier(versions[i - 1].qualifier, versions[i].qualifier);
      count = is_same_column ? count + 1 : 1;
      count_max = std::max(count_max, count);
      timestamp_min = std::min(timestamp_min, versions[i].timestamp);
    }
    if (!policy.KeepsFamily(family, count_max, timestamp_min)) return false;
  }
  return true;
}

// Ordinals are exact, since all versions of the row are here.
void DropGarbage(const RetentionPolicy& policy, size_t begin, std::vector<Cell>* cells) {
  if (KeepsAll(policy, std::span(*cells).subspan(begin))) return;
  VersionCounter versions(policy);
  const auto first = cells->begin() + static_cast<ptrdiff_t>(begin);
  const auto kept_end = std::remove_if(first, cells->end(),
                                       [&](const Cell& cell) { return versions.IsGarbage(cell); });
  if (kept_end != cells->end()) cells->erase(kept_end, cells->end());
}

// Appends the versions of both sources, in order. If a version is in both, it appends that of the
// newer source. With latest_only (cell/cell_cursor.h), only the first version of each column in the
// result is valid. Some others are left out, and some may be versions that a newer source replaced.
// std::set_union would compare most pairs twice.
void AppendUnion(std::span<const Cell> newer, std::span<const Cell> older, bool latest_only,
                 std::vector<Cell>* cells) {
  cells->reserve(cells->size() + newer.size() + older.size());
  auto next_newer = newer.begin();
  auto next_older = older.begin();
  while (next_newer != newer.end() && next_older != older.end()) {
    const std::strong_ordering order = latest_only ? CompareColumn(*next_newer, *next_older)
                                                   : CompareCells(*next_newer, *next_older);
    const bool is_older_next =
        order > 0 || (order == 0 && next_older->timestamp > next_newer->timestamp);
    cells->push_back(is_older_next ? *next_older : *next_newer);
    if (order <= 0) ++next_newer;
    if (order >= 0) ++next_older;
  }
  cells->insert(cells->end(), next_newer, newer.end());
  cells->insert(cells->end(), next_older, older.end());
}

class PlainRowCursor final : public CellCursor {
 public:
  PlainRowCursor(std::string_view row_key, PlainSources row, Direction direction,
                 const std::optional<RetentionPolicy>& retention)
      : row_key_(row_key), row_(std::move(row)), direction_(direction), retention_(retention) {}

  bool SeekToEdge() override { return Seek(true); }
  bool SeekRow(std::string_view bound) override {
    return Seek(direction_ == Direction::kForward ? row_key_ >= bound : row_key_ < bound);
  }
  bool NextRow() override { return Seek(false); }
  std::string_view row_key() const override { return row_key_; }
  bool ReadCells(std::vector<Cell>* cells) override {
    if (!std::exchange(is_unread_, false)) return false;
    const size_t begin = cells->size();
    AppendKeptCells(row_, retention_, cells);
    return cells->size() > begin;
  }
  bool IsRowDone() const override { return !is_unread_; }
  void SkipTo(uint32_t /*family*/, std::string_view /*qualifier*/) override {}
  void Unpin() override {}
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  bool Seek(bool is_found) { return is_unread_ = is_found; }

  const std::string_view row_key_;
  const PlainSources row_;
  const Direction direction_;
  const std::optional<RetentionPolicy> retention_;
  bool is_unread_ = false;  // it is on the row, and its cells were not returned
};

}  // namespace

std::unique_ptr<CellCursor> NewFileRowCursor(const SstableReader* reader, std::string_view row_key,
                                             CursorOptions options) {
  return std::make_unique<FileRowCursor>(reader, row_key, std::move(options));
}

void PlainSources::AddMemtable(std::vector<Cell> cells) {
  if (newest_.empty()) {
    newest_ = std::move(cells);
    return;
  }
  const std::vector<Cell> newer = std::exchange(newest_, {});
  AppendUnion(newer, cells, latest_only_, &newest_);
}

size_t PlainSources::cell_count() const {
  size_t count = newest_.size();
  for (const PlainRow& file : files_) count += file.cell_count();
  return count;
}

void PlainSources::AppendCells(std::vector<Cell>* cells) const {
  if (files_.empty()) {
    cells->insert(cells->end(), newest_.begin(), newest_.end());
    return;
  }
  std::span<const Cell> newer = newest_;
  std::vector<Cell> joined;  // has the cells of `newer` after the first round
  std::vector<Cell> older;
  for (size_t i = 0; i + 1 < files_.size(); ++i) {
    older.clear();
    files_[i].AppendCells(&older);
    std::vector<Cell> both;
    AppendUnion(newer, older, latest_only_, &both);
    joined = std::move(both);
    newer = joined;
  }
  if (newer.empty()) return files_.back().AppendCells(cells);
  older.clear();
  files_.back().AppendCells(&older);
  AppendUnion(newer, older, latest_only_, cells);
}

void AppendKeptCells(const PlainSources& row, const std::optional<RetentionPolicy>& retention,
                     std::vector<Cell>* cells) {
  const size_t begin = cells->size();
  row.AppendCells(cells);
  if (retention) DropGarbage(*retention, begin, cells);
}

std::unique_ptr<CellCursor> NewPlainRowCursor(std::string_view row_key, PlainSources row,
                                              Direction direction,
                                              const std::optional<RetentionPolicy>& retention) {
  return std::make_unique<PlainRowCursor>(row_key, std::move(row), direction, retention);
}

}  // namespace stele::internal
