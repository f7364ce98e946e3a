// sstable/row_group.h: a decoded row group: its keys and the units that somebody wanted so far. What the block cache holds.
//
// Path:      row_group_loader makes it, and adds to it -> block cache -> section_cursor reads it in place.
// Growth:    units are added to a group that others are reading, and never taken out or moved: a reader keeps the group and nothing else.
//            Who may not change what is in the cache adds to a group of his own that shows another's units.
// Errors:    AddUnit and SetKeys answer false for bytes that are no unit.
// Threads:   thread-safe once its keys are set; a unit is there from one moment on, whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "cell/family_list.h"
#include "sstable/block_cache.h"
#include "sstable/index.h"
#include "sstable/page.h"

namespace stele::internal {

// Units that are decoded together, on their way to a group: one piece of memory with the heads of their pages, then their bytes.
// Thread-compatible.
class DecodedUnits {
 public:
  // `raw_bytes` of all of them, and room for `heads_max` pages. Charged to `budget`, which may be null, as long as this lives.
  static absl::StatusOr<std::unique_ptr<DecodedUnits>> Allocate(MemoryBudget* budget, size_t raw_bytes, size_t heads_max);
  // How many pages' heads a unit of so many families should have room for; one with more keeps them elsewhere.
  static size_t HeadsFor(const UnitReference& unit);

  // Where the next unit is to be decoded.
  char* NextRaw(size_t raw_bytes) { return memory_.data() + std::exchange(used_bytes_, used_bytes_ + raw_bytes); }
  // What was decoded there is the group's family unit number `unit`.
  bool AddUnit(size_t unit, const UnitReference& reference, std::string_view raw);
  size_t memory_bytes() const { return sizeof(DecodedUnits) + memory_.memory_bytes() + elsewhere_count_ * sizeof(FamilyPage); }
  // Once all units are added: their pages, too.
  void ChargeAll();
  // visit(number, its first page); the pages stay where they are.
  template <typename Visit>
  void ForEachUnit(const Visit& visit) const {
    for (const Unit& unit : units_) visit(unit.number, unit.pages);
  }

 private:
  struct Unit {
    size_t number;
    const FamilyPage* pages;
  };
  FamilyPage* NewPages(size_t count);

  MemoryCharge charge_;
  Buffer memory_;
  size_t used_bytes_ = 0;
  size_t heads_left_ = 0;  // in memory_
  FamilyPage* head_next_ = nullptr;
  absl::InlinedVector<Unit, 4> units_;
  std::vector<std::unique_ptr<FamilyPage[]>> elsewhere_;
  size_t elsewhere_count_ = 0;  // pages
};

class RowGroup final : public CachedBlock {
 public:
  // Without keys yet.
  explicit RowGroup(const GroupReference& reference);
  // Has what `base` has.
  explicit RowGroup(std::shared_ptr<const RowGroup> base);

  const KeysPage& keys() const { return keys_; }
  uint32_t row_count() const { return keys_.row_count(); }
  bool has_unit(size_t unit) const { return unit == 0 ? keys_.row_count() != 0 : PagesOf(units_[unit]) != nullptr; }
  bool has_all_units() const { return missing_unit_count_.load(std::memory_order_acquire) == 0; }
  // Of every unit of families that `families` does not skip and that covers the row it is known that it is loaded. What a reader of the
  // row comes to next is on its way from memory then.
  bool HasRow(uint32_t row, const FamilyMap& families) const;
  // Units that hold keys or a family that is not skipped.
  size_t CountUnits(const FamilyMap& families) const;
  size_t memory_bytes() const override { return memory_bytes_.load(std::memory_order_relaxed); }

  // The pages that are loaded, by rank, then by row.
  template <typename Visit>
  void ForEachPage(const Visit& visit) const;
  // Those of one row and of families that are not skipped. [begin, end), rows around it, becomes those that have all their units of these
  // families in common with it, loaded or not.
  template <typename Visit>
  void ForEachPageOfRow(uint32_t row, const FamilyMap& families, uint32_t* begin, uint32_t* end, const Visit& visit) const;

  // Once, before anybody else has the group: `raw` is its keys unit, in memory that is added next.
  bool SetKeys(std::string_view raw, uint32_t row_count);
  // What the group has already stays as it is. Any thread.
  void Add(std::unique_ptr<const DecodedUnits> units) const;
  // So that a search for a row waits for memory once and not at each step.
  void PrefetchKeys() const { keys_.Prefetch(); }

 private:
  // Where a unit is wanted, without the index entry that says it.
  struct Unit {
    uint32_t rank_first = 0;
    uint32_t rank_last = 0;
    uint32_t row_first = 0;
    uint32_t row_end = 0;
    // Null: not loaded. Release, under the mutex; acquire by who reads the pages.
    mutable std::atomic<const FamilyPage*> pages{nullptr};
  };
  static const FamilyPage* PagesOf(const Unit& unit) { return unit.pages.load(std::memory_order_acquire); }
  static bool Concerns(const Unit& unit, uint32_t row, const FamilyMap& families) {
    return row >= unit.row_first && row < unit.row_end && IsAnyWanted(families, unit.rank_first, unit.rank_last);
  }
  template <typename Visit>
  static void VisitPages(const FamilyPage* pages, const Visit& visit);

  // As many as a group of 32 KiB in units of 4 KiB has, inside: what a reader looks at first lies together.
  static constexpr size_t kUnitsInside = 10;
  using Units = absl::InlinedVector<Unit, kUnitsInside>;
  static size_t MemoryBytesFor(size_t unit_count) { return sizeof(RowGroup) + (unit_count > kUnitsInside ? unit_count * sizeof(Unit) : 0); }

  KeysPage keys_;
  Units units_;                                 // the keys first; as many as the group has
  const std::shared_ptr<const RowGroup> base_;  // whose units are shown; null: none
  mutable std::atomic<size_t> missing_unit_count_;
  mutable std::atomic<size_t> memory_bytes_;  // relaxed: a figure
  mutable Mutex mutex_;
  mutable std::vector<std::unique_ptr<const DecodedUnits>> parts_ ABSL_GUARDED_BY(mutex_);
};

template <typename Visit>
void RowGroup::VisitPages(const FamilyPage* pages, const Visit& visit) {
  for (; pages != nullptr; pages = pages->is_last_of_unit() ? nullptr : pages + 1) visit(*pages);
}

template <typename Visit>
void RowGroup::ForEachPage(const Visit& visit) const {
  for (const Unit& unit : units_) VisitPages(PagesOf(unit), visit);
}

template <typename Visit>
void RowGroup::ForEachPageOfRow(uint32_t row, const FamilyMap& families, uint32_t* begin, uint32_t* end, const Visit& visit) const {
  for (const Unit& unit : units_) {
    if (!Concerns(unit, row, families)) continue;
    *begin = std::max(*begin, unit.row_first);
    *end = std::min(*end, unit.row_end);
    VisitPages(PagesOf(unit), [&](const FamilyPage& page) {
      if (page.rank() < families.size() && families[page.rank()] != kSkippedFamily) visit(page);
    });
  }
}

// A unit of family pages: how many, each page's rank and length, then the pages.
void AppendUnitHead(std::string* out, const std::vector<std::pair<uint32_t, size_t>>& ranks_and_lengths);

}  // namespace stele::internal
