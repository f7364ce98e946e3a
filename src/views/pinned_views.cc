#include "views/pinned_views.h"

#include <algorithm>
#include <utility>

namespace stele::internal {

class PinnedViews::Handle : public PinnedView {
 public:
  Handle(PinnedViews* pins, uint64_t pin_number) : pins_(*pins), pin_number_(pin_number) {}

  ~Handle() override {
    std::shared_ptr<const ReadView> last;  // destroyed after the lock is released
    MutexLock lock(pins_.mutex_);
    const auto it = pins_.entries_.find(pin_number_);
    last = std::move(it->second.view);
    pins_.entries_.erase(it);
  }

  std::shared_ptr<const ReadView> view() const override {
    MutexLock lock(pins_.mutex_);
    return pins_.entries_.at(pin_number_).view;
  }

  void AddReader(const std::shared_ptr<IdleReader>& reader) const override {
    MutexLock lock(pins_.mutex_);
    std::vector<std::weak_ptr<IdleReader>>& readers = pins_.entries_.at(pin_number_).readers;
    std::erase_if(readers, [](const std::weak_ptr<IdleReader>& known) { return known.expired(); });
    readers.push_back(reader);
  }

  uint64_t replacements() const override {
    return pins_.replacements_.load(std::memory_order_acquire);
  }

 private:
  PinnedViews& pins_;
  const uint64_t pin_number_;
};

std::shared_ptr<const PinnedView> PinnedViews::Pin(ReadPoint point, Kind kind) {
  MutexLock lock(mutex_);
  const uint64_t pin_number = next_pin_number_++;
  entries_.emplace(pin_number, Entry{.kind = kind,
                                     .sequence = point.sequence,
                                     .now = point.now,
                                     .view = std::move(point.view)});
  return std::make_shared<Handle>(this, pin_number);
}

std::optional<int64_t> PinnedViews::Oldest(std::optional<Kind> kind) const {
  MutexLock lock(mutex_);
  std::optional<int64_t> oldest;
  for (const auto& [pin_number, entry] : entries_) {
    if (!kind || entry.kind == *kind) oldest = std::min(entry.now, oldest.value_or(entry.now));
  }
  return oldest;
}

void PinnedViews::Retire(uint32_t table_id, const std::shared_ptr<const Memtable>& memtable) {
  MutexLock lock(mutex_);
  retired_.push_back({.table_id = table_id,
                      .bytes = memtable->bytes(),
                      .address = memtable.get(),
                      .alive = memtable});
  retired_count_.store(retired_.size(), std::memory_order_relaxed);
}

uint64_t PinnedViews::MemtableBytesLocked() const {
  std::erase_if(retired_, [](const Retired& retired) { return retired.alive.expired(); });
  retired_count_.store(retired_.size(), std::memory_order_relaxed);
  uint64_t bytes = 0;
  for (const Retired& retired : retired_) bytes += retired.bytes;
  return bytes;
}

uint64_t PinnedViews::memtable_bytes() const {
  MutexLock lock(mutex_);
  return MemtableBytesLocked();
}

uint64_t PinnedViews::ChargedBytes() const {
  if (retired_count_.load(std::memory_order_relaxed) == 0) return 0;
  MutexLock lock(mutex_);
  const uint64_t bytes = MemtableBytesLocked();
  const uint64_t free_bytes_now = free_bytes();
  if (bytes <= free_bytes_now) return 0;
  const uint64_t charged = bytes - free_bytes_now;
  return NextLocked() != nullptr ? charged
                                 : std::min(charged, memory_tracker_.PortionOf(stuck_bytes_max_));
}

bool PinnedViews::SpillIsDue() const {
  if (retired_count_.load(std::memory_order_relaxed) == 0) return false;
  MutexLock lock(mutex_);
  return NextLocked() != nullptr;
}

bool PinnedViews::Holds(const Entry& entry, const Retired& retired) {
  const TableView* table = entry.view->Find(retired.table_id);
  return table != nullptr && !table->memtables.empty() &&
         table->memtables.back().get() == retired.address;
}

const PinnedViews::Retired* PinnedViews::NextLocked() const {
  if (MemtableBytesLocked() <= free_bytes()) return nullptr;
  for (const Retired& retired : retired_) {
    for (const auto& [pin_number, entry] : entries_) {
      if (!retired.alive.expired() && Holds(entry, retired)) return &retired;
    }
  }
  return nullptr;
}

std::optional<PinnedViews::Spill> PinnedViews::NextSpill() const {
  MutexLock lock(mutex_);
  const Retired* retired = NextLocked();
  if (retired == nullptr) return std::nullopt;
  Spill spill{.table_id = retired->table_id};
  for (const auto& [pin_number, entry] : entries_) {
    if (!Holds(entry, *retired)) continue;
    if (spill.memtable == nullptr)
      spill.memtable = entry.view->Find(retired->table_id)->memtables.back();
    spill.holders.push_back(
        {.pin_number = pin_number, .sequence = entry.sequence, .view = entry.view});
  }
  return spill;
}

void PinnedViews::Replace(uint64_t pin_number, std::shared_ptr<const ReadView> view) {
  std::vector<std::shared_ptr<IdleReader>> readers;
  {
    MutexLock lock(mutex_);
    const auto it = entries_.find(pin_number);
    if (it == entries_.end()) return;
    it->second.view.swap(view);  // the old view is destroyed after the lock is released
    replacements_.fetch_add(1, std::memory_order_release);
    for (const std::weak_ptr<IdleReader>& reader : it->second.readers) {
      if (std::shared_ptr<IdleReader> alive = reader.lock()) readers.push_back(std::move(alive));
    }
  }
  for (const std::shared_ptr<IdleReader>& reader : readers) reader->ViewReplaced();
}

}  // namespace stele::internal
