// memtable/skip_list.h: a sorted list of nodes in an arena: a plain linked list while it is short,
// a skip list afterwards.
//
// Used by:   memtable/column_list.h (the columns of a row), memtable/column_node.cc (the cells of a
//            column).
// Node:      link() and next() are its link on the lowest level. height() is the number of its
//            levels, the lowest included. upper_link(level) is for the levels from 1 to height() -
//            1. newest() is the greatest sequence that was committed to the node. A node is never
//            removed.
// Cost:      the first kPlainNodes nodes have one link each; later ones get random heights. A seek
//            in a list of n nodes takes O(log n) plus at most kPlainNodes steps. A node that
//            follows the last one inserted, or is before all others, is inserted without a search.
// Newest:    a link above the lowest level stores an upper bound of the sequences that it skips. So
//            a reader that needs only nodes newer than a tombstone skips the older ones in O(log
//            n), in any order of the nodes.
// Threads:   one inserting thread and any number of concurrent readers. A node is complete before a
//            release store links it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <new>

#include "base/arena.h"
#include "base/random.h"

namespace stele::internal {

// A link above the lowest level. No node that it skips has a later sequence than `newest`, except
// for an operation that is being inserted, which no reader sees yet. Both members are set before
// the node that has the link can be reached. Later changes only make the link shorter, or its bound
// greater, so readers may load the two members separately. Relaxed, since the published sequence
// orders everything that a reader must see.
template <typename Node>
struct UpperLink {
  std::atomic<Node*> node{nullptr};
  std::atomic<uint64_t> newest{0};
};

template <typename Node>
class SkipList {
 public:
  using Link = std::atomic<Node*>;
  static constexpr uint32_t kPlainNodes = 16;

  SkipList() = default;
  // A list with one node, of height 1.
  explicit SkipList(Node* node) : first_(node), last_inserted_(node), count_(1) {}

  const Node* First() const { return first_.load(std::memory_order_acquire); }
  // Returns the first node that is not before a place, or nullptr. `is_before(node)` returns true
  // if a node is before the place, here and in all calls below.
  template <typename IsBefore>
  const Node* Seek(const IsBefore& is_before) const;
  // Returns the first node after `from` that was changed at `sequence` or later, or that is not
  // before the end; nullptr if there is none. For readers at `sequence` or later.
  template <typename IsBefore>
  static const Node* NextSince(uint64_t sequence, const Node* from, const IsBefore& is_before_end);

  // These are for the inserting thread.
  //
  // Returns the link to the first node that is not before the place.
  template <typename IsBefore>
  Link* FindLink(const IsBefore& is_before);
  // Returns the height for the next node. It must be inserted before others are; `newest` is at
  // least the sequence of every node so far. Returns 0 if memory was refused.
  int NextHeight(Arena* arena, Random* random, uint64_t newest);
  // Links the node before the node that `link` points to. `link` is the one found last.
  void Insert(Node* node, Link* link);
  // Call when node->newest() rose. The node must have been inserted last, or the last link found
  // must point to it.
  void MarkChanged(Node* node);
  // The node that was inserted or changed last; nullptr if a search has led elsewhere since.
  Node* last_inserted() const { return last_inserted_; }

 private:
  static constexpr int kHeightMax = 12;
  struct Tower {
    UpperLink<Node> links[kHeightMax];  // the head's links; links[0] is unused: first_ is that link
    // For the inserting thread: on each level the link that skips the position right after
    // last_inserted_.
    UpperLink<Node>* path[kHeightMax];
  };

  template <typename IsBefore>
  static Link* FindPlainLink(Link* from, const IsBefore& is_before);
  bool GrowTower(Arena* arena, uint64_t newest);
  static void ResetPath(Tower* tower);
  void PassOver(Node* node, Tower* tower);

  Link first_{nullptr};
  std::atomic<Tower*> tower_{nullptr};  // set once the list outgrew kPlainNodes
  Node* last_inserted_ = nullptr;       // this and the next: for the inserting thread only
  uint32_t count_ = 0;
};

template <typename Node>
template <typename IsBefore>
const Node* SkipList<Node>::Seek(const IsBefore& is_before) const {
  const Node* at = nullptr;  // the head
  if (const Tower* tower = tower_.load(std::memory_order_acquire); tower != nullptr) {
    for (int level = kHeightMax - 1; level > 0; --level) {
      const Node* next = (at == nullptr ? tower->links[level] : at->upper_link(level))
                             .node.load(std::memory_order_acquire);
      while (next != nullptr && is_before(*next)) {
        at = next;
        next = at->upper_link(level).node.load(std::memory_order_acquire);
      }
    }
  }
  const Node* next = at == nullptr ? First() : at->next();
  while (next != nullptr && is_before(*next)) next = next->next();
  return next;
}

template <typename Node>
template <typename IsBefore>
const Node* SkipList<Node>::NextSince(uint64_t sequence, const Node* from,
                                      const IsBefore& is_before_end) {
  const Node* at = from;
  while (true) {
    const Node* next = nullptr;
    for (int level = at->height() - 1; level > 0 && next == nullptr; --level) {
      const UpperLink<Node>& link = at->upper_link(level);
      if (link.newest.load(std::memory_order_relaxed) >= sequence) continue;
      const Node* over = link.node.load(std::memory_order_acquire);
      if (over != nullptr && is_before_end(*over)) next = over;
    }
    if (next == nullptr) next = at->next();
    if (next == nullptr || next->newest() >= sequence || !is_before_end(*next)) return next;
    at = next;
  }
}

template <typename Node>
template <typename IsBefore>
typename SkipList<Node>::Link* SkipList<Node>::FindLink(const IsBefore& is_before) {
  Tower* const tower = tower_.load(std::memory_order_relaxed);
  if (last_inserted_ != nullptr && is_before(*last_inserted_)) {
    Link* const link = &last_inserted_->link();
    const Node* next = link->load(std::memory_order_relaxed);
    if (next == nullptr || !is_before(*next)) return link;
    if (tower == nullptr) return FindPlainLink(link, is_before);
  }
  if (tower == nullptr) return FindPlainLink(&first_, is_before);
  last_inserted_ = nullptr;  // the path leads to another place
  const Node* const first = first_.load(std::memory_order_relaxed);
  if (first == nullptr || !is_before(*first)) {
    ResetPath(tower);
    return &first_;
  }
  Node* at = nullptr;  // the head
  for (int level = kHeightMax - 1; level > 0; --level) {
    UpperLink<Node>* link = at == nullptr ? &tower->links[level] : &at->upper_link(level);
    for (Node* next;
         (next = link->node.load(std::memory_order_relaxed)) != nullptr && is_before(*next);
         link = &at->upper_link(level)) {
      at = next;
    }
    tower->path[level] = link;
  }
  return FindPlainLink(at == nullptr ? &first_ : &at->link(), is_before);
}

template <typename Node>
template <typename IsBefore>
typename SkipList<Node>::Link* SkipList<Node>::FindPlainLink(Link* from,
                                                             const IsBefore& is_before) {
  Node* next;
  while ((next = from->load(std::memory_order_relaxed)) != nullptr && is_before(*next))
    from = &next->link();
  return from;
}

// One node in four is one level higher.
template <typename Node>
int SkipList<Node>::NextHeight(Arena* arena, Random* random, uint64_t newest) {
  if (count_ < kPlainNodes) return 1;
  if (tower_.load(std::memory_order_relaxed) == nullptr && !GrowTower(arena, newest)) return 0;
  return std::min(1 + std::countr_zero(random->Next()) / 2, kHeightMax);
}

template <typename Node>
bool SkipList<Node>::GrowTower(Arena* arena, uint64_t newest) {
  char* memory = arena->Allocate(sizeof(Tower));
  if (memory == nullptr) return false;
  auto* tower = new (memory) Tower;
  for (int level = 1; level < kHeightMax; ++level)
    tower->links[level].newest.store(newest, std::memory_order_relaxed);
  ResetPath(tower);
  tower_.store(tower, std::memory_order_release);
  return true;
}

template <typename Node>
void SkipList<Node>::ResetPath(Tower* tower) {
  for (int level = 1; level < kHeightMax; ++level) tower->path[level] = &tower->links[level];
}

// The node's own links are complete before the node can be reached, since a reader may continue
// from a node that it does not see yet. When the node splits an upper link, both parts inherit the
// link's `newest`, which is a valid upper bound for each.
template <typename Node>
void SkipList<Node>::Insert(Node* node, Link* link) {
  Tower* const tower = tower_.load(std::memory_order_relaxed);
  for (int level = 1; level < node->height(); ++level) {
    UpperLink<Node>& own = node->upper_link(level);
    const UpperLink<Node>& before = *tower->path[level];
    own.node.store(before.node.load(std::memory_order_relaxed), std::memory_order_relaxed);
    own.newest.store(before.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  node->link().store(link->load(std::memory_order_relaxed), std::memory_order_relaxed);
  link->store(node, std::memory_order_release);
  ++count_;
  last_inserted_ = node;
  if (tower == nullptr) return;
  for (int level = 1; level < node->height(); ++level)
    tower->path[level]->node.store(node, std::memory_order_release);
  PassOver(node, tower);
}

template <typename Node>
void SkipList<Node>::MarkChanged(Node* node) {
  last_inserted_ = node;
  if (Tower* const tower = tower_.load(std::memory_order_relaxed); tower != nullptr)
    PassOver(node, tower);
}

// Moves the path past the node, and raises `newest` of the links that skip it.
template <typename Node>
void SkipList<Node>::PassOver(Node* node, Tower* tower) {
  for (int level = 1; level < node->height(); ++level)
    tower->path[level] = &node->upper_link(level);
  for (int level = node->height(); level < kHeightMax; ++level)
    tower->path[level]->newest.store(node->newest(), std::memory_order_relaxed);
}

}  // namespace stele::internal
