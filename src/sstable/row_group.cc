#include "sstable/row_group.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr size_t kFamilyPageBytesMin = 21;  // that of one cell with nothing in it: counts, and the heads of six arrays
constexpr size_t kPartOverheadBytes = 640;  // what decoded units take beside their bytes and pages, and their group for them, about

// Their memory is let go of without a word to them, and is aligned as any allocation is.
static_assert(std::is_trivially_destructible_v<FamilyPage> && alignof(FamilyPage) <= alignof(std::max_align_t));

}  // namespace

absl::StatusOr<std::unique_ptr<DecodedUnits>> DecodedUnits::Allocate(MemoryBudget* budget, size_t raw_bytes, size_t heads_max) {
  auto units = std::make_unique<DecodedUnits>();
  const size_t heads_bytes = heads_max * sizeof(FamilyPage);
  const size_t bytes = heads_bytes + raw_bytes + kPackedSlackBytes;
  units->charge_ = MemoryCharge(budget, MemoryBudget::Use::kPages, Buffer::MemoryBytesFor(bytes) + kPartOverheadBytes);
  STELE_ASSIGN_OR_RETURN(units->memory_, Buffer::Allocate(bytes));
  std::memset(units->memory_.data() + heads_bytes + raw_bytes, 0, kPackedSlackBytes);
  units->used_bytes_ = heads_bytes;
  units->heads_left_ = heads_max;
  units->head_next_ = reinterpret_cast<FamilyPage*>(units->memory_.data());
  return units;
}

size_t DecodedUnits::HeadsFor(const UnitReference& unit) {
  constexpr size_t kHeadsMax = 4;  // of many families few may be there
  const size_t families = unit.is_keys() ? 0 : unit.rank_last - unit.rank_first + 1;
  return families <= kHeadsMax ? families : 0;
}

FamilyPage* DecodedUnits::NewPages(size_t count) {
  if (count > heads_left_) {
    elsewhere_count_ += count;
    return elsewhere_.emplace_back(std::make_unique<FamilyPage[]>(count)).get();
  }
  FamilyPage* const pages = std::exchange(head_next_, head_next_ + count);
  heads_left_ -= count;
  std::uninitialized_default_construct_n(pages, count);
  return pages;
}

void DecodedUnits::ChargeAll() { charge_.Set(memory_bytes() + kPartOverheadBytes); }

bool DecodedUnits::AddUnit(size_t unit, const UnitReference& reference, std::string_view raw) {
  ByteReader in(raw);
  uint32_t page_count;
  if (!in.ReadVarint32(&page_count) || page_count == 0) return false;
  ByteReader heads = in;
  uint32_t rank_before = kRowRank;
  for (uint32_t i = 0; i < page_count; ++i) {  // ends at the latest where the bytes do
    uint32_t rank;
    uint64_t page_bytes;
    if (!in.ReadVarint32(&rank) || !in.ReadVarint(&page_bytes) || page_bytes < kFamilyPageBytesMin) return false;
    if (rank <= rank_before || rank < reference.rank_first || rank > reference.rank_last) return false;
    rank_before = rank;
  }
  // Before there are so many.
  if (page_count > in.remaining() / kFamilyPageBytesMin) return false;
  FamilyPage* const pages = NewPages(page_count);
  for (size_t i = 0; i < page_count; ++i) {
    uint32_t rank = 0;
    uint64_t page_bytes = 0;
    std::string_view bytes;
    heads.ReadVarint32(&rank);
    heads.ReadVarint(&page_bytes);
    if (!in.ReadRaw(page_bytes, &bytes) || !pages[i].ReadFrom(rank, reference.row_first, reference.row_end, bytes)) return false;
  }
  pages[page_count - 1].MarkLastOfUnit();
  units_.push_back({unit, pages});
  return in.AtEnd();
}

RowGroup::RowGroup(const GroupReference& reference)
    : units_(reference.units.size()), missing_unit_count_(reference.units.size()), memory_bytes_(MemoryBytesFor(units_.size())) {
  for (size_t i = 0; i < units_.size(); ++i) {
    const UnitReference& unit = reference.units[i];
    units_[i].rank_first = unit.rank_first;
    units_[i].rank_last = unit.rank_last;
    units_[i].row_first = unit.row_first;
    units_[i].row_end = unit.row_end;
  }
}

RowGroup::RowGroup(std::shared_ptr<const RowGroup> base)
    : keys_(base->keys_),
      units_(base->units_.size()),
      base_(std::move(base)),
      missing_unit_count_(units_.size() - 1),
      memory_bytes_(MemoryBytesFor(units_.size())) {
  for (size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = base_->units_[i];
    const FamilyPage* const pages = PagesOf(unit);
    units_[i].rank_first = unit.rank_first;
    units_[i].rank_last = unit.rank_last;
    units_[i].row_first = unit.row_first;
    units_[i].row_end = unit.row_end;
    units_[i].pages.store(pages, std::memory_order_relaxed);
    if (pages != nullptr) missing_unit_count_.fetch_sub(1, std::memory_order_relaxed);
  }
}

bool RowGroup::HasRow(uint32_t row, const FamilyMap& families) const {
  for (const Unit& unit : units_) {
    if (!Concerns(unit, row, families)) continue;
    const FamilyPage* const pages = PagesOf(unit);
    if (pages == nullptr) return false;
    pages->Prefetch();
  }
  return true;
}

size_t RowGroup::CountUnits(const FamilyMap& families) const {
  return static_cast<size_t>(std::count_if(units_.begin(), units_.end(), [&](const Unit& unit) {
    return unit.rank_first == kRowRank || IsAnyWanted(families, unit.rank_first, unit.rank_last);
  }));
}

bool RowGroup::SetKeys(std::string_view raw, uint32_t row_count) {
  if (!keys_.ReadFrom(raw) || keys_.row_count() != row_count) return false;
  missing_unit_count_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void RowGroup::Add(std::unique_ptr<const DecodedUnits> units) const {
  MutexLock lock(mutex_);
  bool is_needed = parts_.empty();  // the keys are in the first, if they are not another's
  units->ForEachUnit([&](size_t number, const FamilyPage* pages) {
    const Unit& unit = units_[number];
    if (PagesOf(unit) != nullptr) return;  // somebody was faster
    unit.pages.store(pages, std::memory_order_release);
    missing_unit_count_.fetch_sub(1, std::memory_order_release);
    is_needed = true;
  });
  if (!is_needed) return;
  memory_bytes_.fetch_add(units->memory_bytes(), std::memory_order_relaxed);
  parts_.push_back(std::move(units));
}

void AppendUnitHead(std::string* out, const std::vector<std::pair<uint32_t, size_t>>& ranks_and_lengths) {
  AppendVarint(*out, ranks_and_lengths.size());
  for (const auto& [rank, length] : ranks_and_lengths) {
    AppendVarint(*out, rank);
    AppendVarint(*out, length);
  }
}

}  // namespace stele::internal
