#include "memtable/row_list.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/invariant.h"

namespace stele::internal {
namespace {

// The first eight bytes as a number that compares as the keys do. Short keys are padded with zeros.
// Equal numbers do not imply equal keys.
uint64_t PrefixOf(std::string_view row_key) {
  uint64_t prefix = 0;
  std::memcpy(&prefix, row_key.data(), std::min(row_key.size(), sizeof prefix));
  return __builtin_bswap64(prefix);
}

// Every second node is one level higher.
int RandomHeight(Random* random, int height_max) {
  return std::min(1 + std::countr_zero(random->Next()), height_max);
}

}  // namespace

RowList::RowList() : head_(std::make_unique<Head>()), random_(RandomSeed()) {
  static_assert(offsetof(Head, links) == sizeof(RowNode), "a node's links follow it");
  ResetSplice();
}

RowNode* RowList::Search(std::string_view row_key, RowNode** splice) const {
  const uint64_t prefix = PrefixOf(row_key);
  RowNode* at = &head_->node;
  const RowNode* behind = nullptr;  // a node known to be before row_key
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    for (;;) {
      const RowNode::Link& link = at->links()[level];
      const uint64_t link_prefix = link.prefix.load(std::memory_order_acquire);
      if (link_prefix > prefix) break;
      RowNode* next = link.node.load(std::memory_order_acquire);
      if (link_prefix == prefix) {
        if (next == behind || next == nullptr) break;
        if (next->row_key() >= row_key) {
          behind = next;
          break;
        }
      }
      at = next;
    }
    if (splice != nullptr) splice[level] = at;
  }
  return at;
}

const RowNode* RowList::FirstFrom(std::string_view bound) const {
  const RowNode* row = Search(bound, nullptr)->next();
  // Other rows may have been linked since the search.
  while (row != nullptr && row->row_key() < bound) row = row->next();
  return row;
}

const RowNode* RowList::LastBefore(std::string_view bound) const {
  const RowNode* row = Search(bound, nullptr);
  return row == &head_->node ? nullptr : row;
}

const RowNode* RowList::Previous(const RowNode* row) const {
  const RowNode* previous = row->previous().load(std::memory_order_acquire);
  return previous == &head_->node ? nullptr : previous;
}

const RowNode* RowList::Find(std::string_view row_key) const {
  if (const auto indexed = index_.Find(row_key, index_.HashOf(row_key))) return *indexed;
  const RowNode* row = FirstFrom(row_key);
  return row != nullptr && row->row_key() == row_key ? row : nullptr;
}

std::vector<std::string_view> RowList::Sample(size_t count_max) const {
  std::vector<std::string_view> sample;
  // Uses the lowest level that has few enough rows. Each level has a random half of the rows of the
  // level below.
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    std::vector<std::string_view> row_keys;
    const RowNode* row = &head_->node;
    while (row_keys.size() <= count_max &&
           (row = row->links()[level].node.load(std::memory_order_acquire)) != nullptr) {
      row_keys.push_back(row->row_key());
    }
    if (row_keys.size() > count_max) break;
    sample = std::move(row_keys);
  }
  const RowNode* first = First();
  if (first != nullptr && (sample.empty() || sample.front() != first->row_key()))
    sample.insert(sample.begin(), first->row_key());
  return sample;
}

RowNode* RowList::FindOrInsert(std::string_view row_key, uint64_t sequence) {
  if (last_used_ != &head_->node && last_used_->row_key() == row_key) return last_used_;
  const uint64_t hash = index_.HashOf(row_key);
  if (!BelongsAfterLast(row_key)) {
    const auto indexed = index_.Find(row_key, hash);
    if (indexed.value_or(nullptr) != nullptr) return *indexed;
    const RowNode::Link& link = Search(row_key, splice_)->links()[0];
    RowNode* found = link.node.load(std::memory_order_relaxed);
    const bool may_be_it = !indexed.has_value() && found != nullptr &&
                           link.prefix.load(std::memory_order_relaxed) == PrefixOf(row_key);
    if (may_be_it && found->row_key() == row_key) {
      SetLastUsed(found);
      return found;
    }
  }
  RowNode* row = Insert(row_key, hash, sequence);
  row == nullptr ? ResetSplice() : SetLastUsed(row);
  return row;
}

bool RowList::BelongsAfterLast(std::string_view row_key) const {
  if (last_used_ != &head_->node && last_used_->row_key() > row_key) return false;
  const uint64_t prefix = PrefixOf(row_key);
  const RowNode::Link& link = last_used_->links()[0];
  const uint64_t link_prefix = link.prefix.load(std::memory_order_relaxed);
  if (link_prefix != prefix) return link_prefix > prefix;
  const RowNode* next = link.node.load(std::memory_order_relaxed);
  return next == nullptr || next->row_key() > row_key;
}

RowNode* RowList::Insert(std::string_view row_key, uint64_t hash, uint64_t sequence) {
  const int height = RandomHeight(&random_, kHeightMax);
  RowNode* row = RowNode::Make(&arena_, row_key, sequence, height);
  if (row == nullptr) return nullptr;
  if (height > height_.load(std::memory_order_relaxed))
    height_.store(height, std::memory_order_relaxed);
  RowNode* next = splice_[0]->links()[0].node.load(std::memory_order_relaxed);
  row->previous().store(splice_[0], std::memory_order_relaxed);
  const uint64_t prefix = PrefixOf(row_key);
  for (int level = 0; level < height; ++level) {
    RowNode::Link& own = row->links()[level];
    RowNode::Link& link = splice_[level]->links()[level];
    // With a wrong order on the upper levels a search still works, only slower, so nothing else
    // would detect it.
    STELE_INVARIANT(BelongsAfter(splice_[level], level, row_key));
    own.node.store(link.node.load(std::memory_order_relaxed), std::memory_order_relaxed);
    own.prefix.store(link.prefix.load(std::memory_order_relaxed), std::memory_order_relaxed);
    link.node.store(row, std::memory_order_release);
    link.prefix.store(prefix, std::memory_order_release);
  }
  (next == nullptr ? &head_->node : next)->previous().store(row, std::memory_order_release);
  index_.Add(row, hash, &arena_);
  return row;
}

bool RowList::BelongsAfter(const RowNode* row, int level, std::string_view row_key) const {
  const RowNode* next = row->links()[level].node.load(std::memory_order_relaxed);
  return (row == &head_->node || row->row_key() < row_key) &&
         (next == nullptr || next->row_key() > row_key);
}

void RowList::SetLastUsed(RowNode* row) {
  last_used_ = row;
  std::fill_n(splice_, row->height(), row);
}

void RowList::ResetSplice() {
  last_used_ = &head_->node;
  std::fill_n(splice_, kHeightMax, &head_->node);
}

}  // namespace stele::internal
