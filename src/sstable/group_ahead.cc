#include "sstable/group_ahead.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/mutex.h"

namespace stele::internal {
namespace {

constexpr size_t kRunBeforeAhead = 8;  // groups: a scan of a few hundred rows is over by then
constexpr size_t kFlightsMax = 4;
constexpr uint64_t kFlightBytes = 128 << 10;  // decoded: small enough to come soon, large enough to be worth waking a thread for
constexpr size_t kFlightGroupsMax = 16;       // where little of each group is wanted

}  // namespace

// Groups [group_first_, group_end_) of a section.
class GroupAhead::Flight final : public AheadTask {
 public:
  Flight(std::shared_ptr<const void> owner, const OpenSstable& table, const OpenSection& section, const CursorOptions& options,
         size_t group_first, size_t group_end, uint64_t end_offset)
      : owner_(std::move(owner)),
        options_(OwnOptions(options, &stats_)),
        group_first_(group_first),
        group_end_(group_end),
        loader_(table, section, options_) {
    loader_.ReadUpTo(end_offset);
    groups_.reserve(group_end - group_first);
  }

  size_t group_first() const { return group_first_; }
  size_t group_end() const { return group_end_; }
  size_t group_count() const { return group_end_ - group_first_; }

  void Run() override {
    if (TryBegin()) Decode();
  }
  // True for one caller: who has to Decode.
  bool TryBegin() {
    State waiting = State::kWaiting;
    return state_.compare_exchange_strong(waiting, State::kBegun, std::memory_order_acq_rel);
  }
  void Decode() {
    for (size_t i = group_first_; i < group_end_; ++i) groups_.push_back(loader_.LoadAll(i));
    MutexLock lock(mutex_);
    state_.store(State::kDone, std::memory_order_release);
    done_.SignalAll();
  }
  bool is_done() const { return state_.load(std::memory_order_acquire) == State::kDone; }
  void AwaitDone() {
    MutexLock lock(mutex_);
    while (!is_done()) done_.Wait(mutex_);
  }

  // Once done.
  absl::StatusOr<GroupPointer> Take(size_t group_index) { return std::move(groups_[group_index - group_first_]); }
  bool decoded_any() const { return loader_.decoded_count() != 0; }
  // What it cost; told once.
  CursorStats TakeStats() { return std::exchange(stats_, {}); }

 private:
  enum class State : uint8_t { kWaiting, kBegun, kDone };

  static CursorOptions OwnOptions(CursorOptions options, CursorStats* stats) {
    options.stats = stats;
    options.ahead = nullptr;
    return options;
  }

  const std::shared_ptr<const void> owner_;
  const CursorOptions options_;  // the cursor's, but for the counts
  const size_t group_first_;
  const size_t group_end_;
  CursorStats stats_;
  RowGroupLoader loader_;
  std::vector<absl::StatusOr<GroupPointer>> groups_;
  // Begun by one thread, which alone touches what is above until it is done (release); then whoever saw that (acquire) may.
  std::atomic<State> state_{State::kWaiting};
  Mutex mutex_;  // guards nothing: it is for waiting. Not taken for taking back, which a forked child does too
  CondVar done_;
};

GroupAhead::GroupAhead(const std::shared_ptr<const void>& owner, const OpenSstable& table, const OpenSection& section,
                       const CursorOptions& options)
    : owner_(owner), table_(table), section_(section), options_(options) {}

GroupAhead::~GroupAhead() { TakeBack(); }

void GroupAhead::TakeBack() {
  for (const std::shared_ptr<Flight>& flight : flights_) flight->TryBegin();  // and never go on
  flights_.clear();
}

absl::StatusOr<GroupAhead::GroupPointer> GroupAhead::LoadAll(size_t group_index, RowGroupLoader* loader, GroupPointer part) {
  if (options_.ahead == nullptr) return loader->LoadAll(group_index, std::move(part));
  // A group that the cursor has a part of has to share the memory of that.
  const bool goes_on = group_index == group_index_next_ && part == nullptr;
  group_index_next_ = options_.direction == Direction::kForward ? group_index + 1 : group_index - 1;  // -1 is no group
  if (!goes_on) run_ = 0;
  if (!goes_on || (!flights_.empty() && !options_.ahead->IsOfThisProcess())) TakeBack();
  absl::StatusOr<GroupPointer> group;
  if (!flights_.empty()) {
    group = TakeFromFront(group_index);
    if (!group.ok()) {
      // Perhaps only for want of the memory that working ahead takes: the cursor sees for itself.
      TakeBack();
      run_ = 0;
      group = loader->LoadAll(group_index);
    }
  } else {
    const size_t decoded_before = loader->decoded_count();
    group = loader->LoadAll(group_index, std::move(part));
    run_ = loader->decoded_count() != decoded_before ? run_ + 1 : 0;
  }
  if (run_ >= kRunBeforeAhead) PlanBehind(group_index, *loader);
  return group;
}

absl::StatusOr<GroupAhead::GroupPointer> GroupAhead::TakeFromFront(size_t group_index) {
  const std::shared_ptr<Flight> flight = flights_.front();
  Finish(flight.get());
  run_ = flight->decoded_any() ? run_ + 1 : 0;
  if (options_.stats != nullptr) {
    const CursorStats stats = flight->TakeStats();
    options_.stats->pages += stats.pages;
    options_.stats->bytes_read += stats.bytes_read;
    options_.stats->bytes_decoded += stats.bytes_decoded;
  }
  const bool is_last =
      options_.direction == Direction::kForward ? group_index + 1 == flight->group_end() : group_index == flight->group_first();
  if (is_last) flights_.erase(flights_.begin());
  return flight->Take(group_index);
}

// A flight under way elsewhere leaves time for those behind it.
void GroupAhead::Finish(Flight* flight) {
  if (flight->is_done()) return;
  if (flight->TryBegin()) return flight->Decode();
  for (const std::shared_ptr<Flight>& other : flights_) {
    if (flight->is_done()) return;
    if (other->TryBegin()) other->Decode();
  }
  flight->AwaitDone();
}

void GroupAhead::PlanBehind(size_t group_index, const RowGroupLoader& loader) {
  if (table_.budget() != nullptr && table_.budget()->is_over()) return;
  const bool is_forward = options_.direction == Direction::kForward;
  size_t next = group_index_next_;
  size_t waiting = 0;  // groups that are handed over
  if (!flights_.empty()) {
    const Flight& last = *flights_.back();
    next = is_forward ? last.group_end() : last.group_first() - 1;
    waiting = is_forward ? last.group_end() - group_index - 1 : group_index - last.group_first();
  }
  while (flights_.size() < kFlightsMax && waiting <= run_ / 4) {
    std::shared_ptr<Flight> flight = NewFlight(next, loader);
    if (flight == nullptr) return;
    if (!options_.ahead->Run(flight)) {
      run_ = 0;  // it is asked again after as many groups as at first
      return;
    }
    next = is_forward ? flight->group_end() : flight->group_first() - 1;
    waiting += flight->group_count();
    flights_.push_back(std::move(flight));
  }
}

std::shared_ptr<GroupAhead::Flight> GroupAhead::NewFlight(size_t group_index, const RowGroupLoader& loader) const {
  const bool is_forward = options_.direction == Direction::kForward;
  const size_t count_max = std::min(kFlightGroupsMax, std::max<size_t>(run_ / 4, 1));
  size_t first = group_index;
  size_t end = group_index;
  uint64_t begin_offset = 0;
  uint64_t end_offset = 0;
  uint64_t bytes = 0;
  // -1 is past the end too.
  for (size_t i = group_index; i < section_.index.group_count() && end - first < count_max && bytes < kFlightBytes;
       is_forward ? ++i : --i) {
    const GroupReference group = section_.index.group(i);
    // Between two extents lie those of other sections.
    if (first != end && (is_forward ? group.offset() != end_offset : group.end_offset() != begin_offset)) break;
    for (const UnitReference& unit : group.units) {
      if (loader.IsWanted(unit)) bytes += unit.block.raw_bytes;
    }
    if (first == end) {
      first = i;
      end = i + 1;
      begin_offset = group.offset();
      end_offset = group.end_offset();
    } else if (is_forward) {
      end = i + 1;
      end_offset = group.end_offset();
    } else {
      first = i;
      begin_offset = group.offset();
    }
  }
  if (first == end) return nullptr;
  return std::make_shared<Flight>(owner_, table_, section_, options_, first, end, end_offset);
}

}  // namespace stele::internal
