#include "lab/load/cell_conflicts.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

using Repeated = KeyHashes::Repeated;

bool Contains(const std::vector<uint64_t>& sorted, uint64_t number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

void SortUnique(std::vector<uint64_t>* numbers) {
  std::sort(numbers->begin(), numbers->end());
  numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
}

class ConflictSearch {
 public:
  ConflictSearch(KeyHashes* cells, const std::function<uint64_t(uint64_t)>& record_of,
                 const ConflictLimits& limits)
      : cells_(*cells), record_of_(record_of), limits_(limits) {}

  absl::StatusOr<std::vector<Repeated>> Run() {
    STELE_RETURN_IF_ERROR(FindChanged());
    if (changed_.empty()) return std::vector<Repeated>();
    for (int pass = 0; pass < limits_.passes; ++pass) {
      STELE_RETURN_IF_ERROR(Collect());
      if (has_too_many_) break;
      if (added_.empty()) {
        Decide();
        return std::move(conflicts_);
      }
      doubtful_.insert(doubtful_.end(), added_.begin(), added_.end());
      SortUnique(&doubtful_);
    }
    return FindChangedCells(&cells_);
  }

 private:
  // A value of a cell with several values, while it is not known which record of the cell is kept.
  struct OpenCell {
    uint64_t record;
    uint64_t cell;  // its index in changed_
    uint64_t position;
    uint64_t value;
    friend auto operator<=>(const OpenCell&, const OpenCell&) = default;
  };

  // Finds the cells with several values, and the records that differ from the first one of a cell.
  absl::Status FindChanged() {
    uint64_t cell = 0;
    uint64_t count = 0;
    STELE_RETURN_IF_ERROR(cells_.FinishEach([&](uint64_t) { ++cell; },
                                            [&](const Repeated& repeated) {
                                              if (repeated.has_same_value) return;
                                              if (++count > kConflictsMax) return;
                                              doubtful_.push_back(record_of_(repeated.position));
                                              if (changed_.empty() || changed_.back() != cell)
                                                changed_.push_back(cell);
                                            }));
    SortUnique(&doubtful_);
    if (count <= kConflictsMax) return absl::OkStatus();
    return FindChangedCells(&cells_).status();
  }

  // A record that is not doubtful has the first value of each of its cells. If the first record of
  // a cell is not doubtful, it is kept, and its value counts. The other cells are collected, and
  // all their records must be doubtful, too.
  absl::Status Collect() {
    conflicts_.clear();
    open_.clear();
    added_.clear();
    uint64_t cell = 0;
    auto next = changed_.begin();
    bool is_changed = false;
    bool is_open = false;
    bool is_new = false;
    const auto on_first = [&](uint64_t position) {
      ++cell;
      is_changed = next != changed_.end() && *next == cell;
      if (!is_changed) return;
      ++next;
      is_open = Contains(doubtful_, record_of_(position));
      is_new = true;
    };
    return cells_.FinishEach(on_first, [&](const Repeated& repeated) {
      if (!is_changed) return;
      if (!is_open) {
        if (!repeated.has_same_value) conflicts_.push_back(repeated);
        return;
      }
      const auto index = static_cast<uint64_t>(next - changed_.begin() - 1);
      if (std::exchange(is_new, false)) Open(index, repeated.first, repeated.first_value);
      Open(index, repeated.position, repeated.value);
    });
  }

  void Open(uint64_t cell, uint64_t position, uint64_t value) {
    has_too_many_ = has_too_many_ || open_.size() == limits_.open_cells;
    if (has_too_many_) return;
    const uint64_t record = record_of_(position);
    open_.push_back({.record = record, .cell = cell, .position = position, .value = value});
    if (!Contains(doubtful_, record)) added_.push_back(record);
  }

  // Decides about the doubtful records in their order.
  void Decide() {
    std::vector<uint64_t> left_out;
    for (const Repeated& conflict : conflicts_) left_out.push_back(record_of_(conflict.position));
    SortUnique(&left_out);
    std::sort(open_.begin(), open_.end());
    std::vector<const OpenCell*> kept(changed_.size());  // the first one of each cell
    for (auto begin = open_.begin(); begin != open_.end();) {
      const auto end = std::find_if(
          begin, open_.end(), [&](const OpenCell& one) { return one.record != begin->record; });
      bool is_kept = !Contains(left_out, begin->record);
      for (auto one = begin; one != end; ++one) {
        const OpenCell* other =
            one != begin && (one - 1)->cell == one->cell ? &*(one - 1) : nullptr;
        if (kept[one->cell] != nullptr) other = kept[one->cell];
        if (other == nullptr || other->value == one->value) continue;
        conflicts_.push_back({.first = other->position,
                              .position = one->position,
                              .has_same_value = false,
                              .first_value = other->value,
                              .value = one->value});
        is_kept = false;
      }
      for (; begin != end; ++begin)
        if (is_kept && kept[begin->cell] == nullptr) kept[begin->cell] = &*begin;
    }
  }

  KeyHashes& cells_;
  const std::function<uint64_t(uint64_t)>& record_of_;
  const ConflictLimits limits_;
  // The cells with several values, by their number in the order of KeyHashes. Ascending.
  std::vector<uint64_t> changed_;
  std::vector<uint64_t> doubtful_;   // records that may be left out, ascending
  std::vector<uint64_t> added_;      // records that a pass found to be doubtful
  std::vector<Repeated> conflicts_;  // with records that are kept
  std::vector<OpenCell> open_;
  bool has_too_many_ = false;
};

}  // namespace

absl::StatusOr<std::vector<Repeated>> FindChangedCells(KeyHashes* cells) {
  std::vector<Repeated> changed;
  uint64_t count = 0;
  STELE_RETURN_IF_ERROR(cells->FinishEach([](uint64_t) {},
                                          [&](const Repeated& repeated) {
                                            if (repeated.has_same_value) return;
                                            if (++count <= kConflictsMax)
                                              changed.push_back(repeated);
                                          }));
  if (count <= kConflictsMax) return changed;
  return InvalidArgument(
      "more than {} cells were created by an earlier record with another value: do the row key "
      "and the columns name one record?",
      kConflictsMax);
}

absl::StatusOr<std::vector<Repeated>> FindConflicts(
    KeyHashes* cells, const std::function<uint64_t(uint64_t position)>& record_of,
    const ConflictLimits& limits) {
  return ConflictSearch(cells, record_of, limits).Run();
}

}  // namespace stele::internal::lab
