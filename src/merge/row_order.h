// merge/row_order.h: determines which of several sources has the next row, and which others have
// the same row. It is a loser tree with cached prefixes of row keys.
//
// Used by:   merge/merge_cursor.cc advances the sources of the current row and reports their new
//            positions here.
// Heads:     eight bytes of each row key after the prefix that all row keys share (Pebble:
//            abbreviated key). The prefix is set at a seek and shortened when a row key does not
//            begin with it.
// How:       the leaves of the tree are the sources. An inner node stores the loser of its match,
//            and whether it lost only by age, because the row was the same. So the sources of a row
//            are found without comparisons. When one source alone had the last two rows, the least
//            row of all others becomes its *bound*. Up to the bound each further row costs one
//            comparison, and the tree is not changed.
// Cost:      log2(sources) comparisons for each source that advances, and one in a sequence of rows
//            of one source; a comparison is usually one of two integers.
// Threads:   confined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cell/cell_cursor.h"

namespace stele::internal {

// The position of a source: a row, or its end.
struct RowPlace {
  // Orders like the row keys, in the cursor's direction. Equal heads do not imply equal keys.
  uint64_t head = ~uint64_t{0};
  std::string_view row_key;
  bool is_ended = true;
};

class RowComparison {
 public:
  explicit RowComparison(Direction direction) : is_reverse_(direction == Direction::kReverse) {}

  // The eight bytes after the `prefix_bytes` that all sources' row keys share. Shorter keys are
  // padded with zeros.
  RowPlace PlaceOf(std::string_view row_key, size_t prefix_bytes) const {
    uint64_t head = 0;
    const size_t head_bytes = std::min(row_key.size() - prefix_bytes, sizeof head);
    if (head_bytes > 0) std::memcpy(&head, row_key.data() + prefix_bytes, head_bytes);
    head = __builtin_bswap64(head);
    return {is_reverse_ ? ~head : head, row_key, false};
  }
  // Negative: `a` comes first; zero: the same row, or both are at their end.
  int operator()(const RowPlace& a, const RowPlace& b) const {
    if (a.head != b.head) [[likely]]
      return a.head < b.head ? -1 : 1;
    return CompareWhole(a, b);
  }

 private:
  int CompareWhole(const RowPlace& a, const RowPlace& b) const {
    if (a.is_ended || b.is_ended)
      return static_cast<int>(a.is_ended) - static_cast<int>(b.is_ended);
    const int result = a.row_key.compare(b.row_key);
    return is_reverse_ ? -result : result;
  }

  bool is_reverse_;
};

// `Comparison` is RowComparison, or in tests one that counts.
template <typename Comparison>
class RowOrder {
 public:
  // Sources are numbered from the newest.
  RowOrder(size_t source_count, Comparison comparison)
      : comparison_(std::move(comparison)),
        places_(std::max<size_t>(source_count, 1)),
        nodes_(places_.size()),
        winners_(2 * places_.size()) {
    branches_.reserve(places_.size());
    sources_.reserve(places_.size());
  }

  // These set the position of each source after a seek; then call Restart. A source that is not
  // placed after Clear is at its end.
  void Clear() { places_.assign(places_.size(), RowPlace{}); }
  void Place(uint32_t source, std::string_view row_key) {
    places_[source] = {.row_key = row_key, .is_ended = false};
  }
  void Restart();

  // The sources on the current row, newest first; empty at the end.
  std::span<const uint32_t> sources() const { return sources_; }
  std::string_view row_key() const { return places_[winner_].row_key; }

  // Call when the only source of the current row has advanced to `row_key`. Returns true if it is
  // the only source of that row, too. Otherwise call FindRow.
  bool StepAlone(std::string_view row_key) {
    MoveWinner(row_key);
    if (has_bound_ && comparison_(places_[winner_], places_[bound_]) < 0) return true;
    const uint32_t stepped = winner_;
    Replay();
    if (winner_ == stepped && !has_bound_) FindBound();
    return false;
  }
  // Call it for each source of the current row, in the order of sources(), when it has advanced or
  // reached its end; then call FindRow.
  void Step(std::string_view row_key) {
    MoveWinner(row_key);
    Replay();
  }
  void StepToEnd() {
    places_[winner_] = RowPlace{};
    Replay();
  }
  // Makes the least row the current one. Returns false if all sources are at their end.
  bool FindRow();

 private:
  struct Node {
    uint32_t loser = 0;
    bool is_same_row = false;  // the same row as that of the source that it lost to
  };
  struct Branch {
    uint32_t source;
    size_t top;  // the source won all matches below this node
  };

  size_t ParentOf(uint32_t source) const { return (places_.size() + source) / 2; }
  // Returns the winner and stores the loser in the node.
  uint32_t Match(uint32_t a, uint32_t b, Node* node) {
    const int result = comparison_(places_[a], places_[b]);
    node->is_same_row = result == 0;
    const bool a_wins = result != 0 ? result < 0 : a < b;
    node->loser = a_wins ? b : a;
    return a_wins ? a : b;
  }
  void MoveWinner(std::string_view row_key) {
    // Done first, since the bytes of the previous row key are no longer valid.
    places_[winner_].row_key = row_key;
    if (!row_key.starts_with(prefix_)) [[unlikely]] {
      ShortenPrefix(row_key);
      SetHeads();
    }
    places_[winner_] = comparison_.PlaceOf(row_key, prefix_.size());
  }
  void ShortenPrefix(std::string_view row_key);
  void SetHeads();
  void Replay();
  void FindBound();

  Comparison comparison_;
  std::string prefix_;            // all row keys since the last seek begin with it
  std::vector<RowPlace> places_;  // by source
  // 1 is the root; node i has the children 2i and 2i + 1; from places_.size() on these are sources.
  std::vector<Node> nodes_;
  std::vector<uint32_t> winners_;  // of each node, while the tree is built
  std::vector<Branch> branches_;
  std::vector<uint32_t> sources_;
  uint32_t winner_ = 0;
  uint32_t bound_ = 0;      // the source with the least row except the winner's
  bool has_bound_ = false;  // bound_ is valid for the present winner
};

template <typename Comparison>
void RowOrder<Comparison>::ShortenPrefix(std::string_view row_key) {
  const size_t bytes_max = std::min(prefix_.size(), row_key.size());
  const auto end =
      std::mismatch(prefix_.begin(), prefix_.begin() + static_cast<ptrdiff_t>(bytes_max),
                    row_key.begin())
          .first;
  prefix_.erase(end, prefix_.end());
}

template <typename Comparison>
void RowOrder<Comparison>::SetHeads() {
  for (RowPlace& place : places_) {
    if (!place.is_ended) place = comparison_.PlaceOf(place.row_key, prefix_.size());
  }
}

template <typename Comparison>
void RowOrder<Comparison>::Restart() {
  const auto first = std::find_if(places_.begin(), places_.end(),
                                  [](const RowPlace& place) { return !place.is_ended; });
  if (first != places_.end()) prefix_ = first->row_key;
  for (const RowPlace& place : places_) {
    if (!place.is_ended && !place.row_key.starts_with(prefix_)) ShortenPrefix(place.row_key);
  }
  SetHeads();
  const size_t count = places_.size();
  for (size_t i = 0; i < count; ++i) winners_[count + i] = static_cast<uint32_t>(i);
  for (size_t i = count; i-- > 1;)
    winners_[i] = Match(winners_[2 * i], winners_[2 * i + 1], &nodes_[i]);
  winner_ = winners_[1];
  has_bound_ = false;
}

template <typename Comparison>
void RowOrder<Comparison>::Replay() {
  uint32_t winner = winner_;
  for (size_t i = ParentOf(winner_); i > 0; i /= 2)
    winner = Match(winner, nodes_[i].loser, &nodes_[i]);
  has_bound_ &= winner == winner_;
  winner_ = winner;
}

// Every other source lost to the winner, or to a source that lost to the winner. So the bound is
// the least of the sources that lost to the winner.
template <typename Comparison>
void RowOrder<Comparison>::FindBound() {
  bound_ = winner_;
  for (size_t i = ParentOf(winner_); i > 0; i /= 2) {
    const uint32_t loser = nodes_[i].loser;
    if (bound_ == winner_ || comparison_(places_[loser], places_[bound_]) < 0) bound_ = loser;
  }
  has_bound_ = bound_ != winner_;
}

template <typename Comparison>
bool RowOrder<Comparison>::FindRow() {
  sources_.clear();
  if (places_[winner_].is_ended) return false;
  bool is_shared = false;
  for (size_t i = ParentOf(winner_); i > 0; i /= 2) is_shared |= nodes_[i].is_same_row;
  if (!is_shared) {
    sources_.push_back(winner_);
    return true;
  }
  branches_.assign(1, {winner_, 0});
  for (size_t next = 0; next < branches_.size(); ++next) {
    const Branch branch = branches_[next];
    sources_.push_back(branch.source);
    for (size_t i = ParentOf(branch.source); i > branch.top; i /= 2) {
      if (nodes_[i].is_same_row) branches_.push_back({nodes_[i].loser, i});
    }
  }
  if (sources_.size() > 1) std::sort(sources_.begin(), sources_.end());
  return true;
}

}  // namespace stele::internal
