// base/shared_sequence.h: persistent sequences and maps. A copy costs one pointer, and copies share
// the chunks that they have in common.
//
// Used by:   manifest/version.h (tables, tablets and files) and read/read_view.h (those of a view).
//            commit/installer.cc, state/engine_state.cc and compaction/compaction_debt.cc compare
//            two of them.
// How:       elements are immutable and kept in chunks of up to kChunkMax pointers. A change
//            copies the chunks that it touches and the list of chunks.
// Cost:      with n elements, [] and find take O(log n). A change copies n / kChunkMax chunk
//            pointers, and at most 2 * kChunkMax element pointers for each place that it touches.
//            Differences compares the lists of chunks. It looks at the elements of chunks not
//            shared, and sorts the chunks between the first and the last of those.
// Threads:   thread-compatible; everything shared is immutable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace stele::internal {

template <typename T>
class SharedSequence {
 public:
  using Pointer = std::shared_ptr<const T>;
  static constexpr size_t kChunkMax = 64;

  SharedSequence() = default;
  SharedSequence(std::initializer_list<T> elements) : SharedSequence(std::vector<T>(elements)) {}
  SharedSequence(std::vector<T> elements) {  // NOLINT(google-explicit-constructor)
    std::vector<Pointer> pointers;
    pointers.reserve(elements.size());
    for (T& element : elements) pointers.push_back(std::make_shared<const T>(std::move(element)));
    Replace({{.begin = 0, .end = 0, .with = std::move(pointers)}});
  }

  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const SharedSequence* of, size_t index) : of_(of), index_(index) { Seek(); }
    reference operator*() const { return *Get(); }
    pointer operator->() const { return Get().get(); }
    reference operator[](difference_type n) const { return *(*this + n); }
    const Pointer& Get() const { return (*chunk_)[index_ - chunk_begin_]; }

    Iterator& operator+=(difference_type n) {
      index_ += static_cast<size_t>(n);
      if (chunk_ == nullptr || index_ < chunk_begin_ || index_ >= chunk_begin_ + chunk_->size())
        Seek();
      return *this;
    }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
    friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
    friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.index_) - static_cast<difference_type>(b.index_);
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.index_ <=> b.index_; }

   private:
    void Seek() {
      if (of_ == nullptr || index_ >= of_->size()) {
        chunk_ = nullptr;
        return;
      }
      const size_t at = of_->ChunkOf(index_);
      chunk_ = (*of_->chunks_)[at].elements.get();
      chunk_begin_ = of_->BeginOf(at);
    }
    const SharedSequence* of_ = nullptr;
    size_t index_ = 0;
    const std::vector<Pointer>* chunk_ = nullptr;
    size_t chunk_begin_ = 0;
  };
  using value_type = T;
  using iterator = Iterator;
  using const_iterator = Iterator;

  size_t size() const { return chunks_ == nullptr || chunks_->empty() ? 0 : chunks_->back().end; }
  bool empty() const { return size() == 0; }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, size()); }
  const T& operator[](size_t index) const { return *Get(index); }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size() - 1]; }
  // The element itself: its address identifies it among equal ones.
  const Pointer& Get(size_t index) const {
    const size_t at = ChunkOf(index);
    return (*(*chunks_)[at].elements)[index - BeginOf(at)];
  }
  std::vector<T> Slice(size_t begin, size_t count) const {
    const Iterator from(this, begin);
    return std::vector<T>(from, from + static_cast<std::ptrdiff_t>(count));
  }

  // The position of the first element for which `is_before` is false. It is true for all elements
  // before that one, and false for all after it.
  template <typename Predicate>
  size_t PartitionPoint(const Predicate& is_before) const {
    if (chunks_ == nullptr) return 0;
    const auto ends_before = [&](const Chunk& chunk) { return is_before(*chunk.elements->back()); };
    const auto chunk = std::partition_point(chunks_->begin(), chunks_->end(), ends_before);
    if (chunk == chunks_->end()) return size();
    const auto is_element_before = [&](const Pointer& element) { return is_before(*element); };
    const Elements& elements = *chunk->elements;
    const auto element = std::partition_point(elements.begin(), elements.end(), is_element_before);
    return chunk->end - static_cast<size_t>(elements.end() - element);
  }

  // A sequence of one element, which is shared.
  static SharedSequence Of(Pointer element) {
    SharedSequence sequence;
    sequence.chunks_ = std::make_shared<const Chunks>(
        1, Chunk{.end = 1, .elements = std::make_shared<const Elements>(1, std::move(element))});
    return sequence;
  }

  // For tests.
  size_t chunk_count() const { return chunks_ == nullptr ? 0 : chunks_->size(); }

  // Replaces the elements at [begin, end) by `with`.
  struct Change {
    size_t begin = 0;
    size_t end = 0;
    std::vector<Pointer> with;
  };
  // Positions are those before all changes. The changes ascend and do not overlap.
  void Replace(std::vector<Change> changes) {
    Builder builder(chunk_count());
    size_t at = 0;
    for (Change& change : changes) {
      CopyTo(&builder, at, change.begin);
      for (Pointer& element : change.with) builder.Push(std::move(element));
      at = change.end;
    }
    CopyTo(&builder, at, size());
    chunks_ = builder.Finish();
  }

  // The elements of `a` at [a_begin, a_end) are not in `b`, and those of `b` at [b_begin, b_end)
  // are not in `a`. Both have all elements outside of such ranges.
  struct Difference {
    size_t a_begin = 0;
    size_t a_end = 0;
    size_t b_begin = 0;
    size_t b_end = 0;
  };
  // Ascending. Shared elements must be in the same order in both.
  static std::vector<Difference> Differences(const SharedSequence& a, const SharedSequence& b);

 private:
  using Elements = std::vector<Pointer>;
  struct Chunk {
    size_t end = 0;  // position in the sequence
    std::shared_ptr<const Elements> elements;
  };
  using Chunks = std::vector<Chunk>;

  class Builder {
   public:
    explicit Builder(size_t chunk_count) { chunks_.reserve(chunk_count + 2); }
    void Push(Pointer element) {
      open_.push_back(std::move(element));
      if (open_.size() == 2 * kChunkMax) Close(kChunkMax);
    }
    // Copies the elements into a small open chunk, so that changes do not leave many small chunks.
    void PushChunk(const std::shared_ptr<const Elements>& elements) {
      if (!open_.empty() && open_.size() < kChunkMax / 4) {
        for (const Pointer& element : *elements) Push(element);
        return;
      }
      while (!open_.empty()) Close(open_.size() > kChunkMax ? open_.size() / 2 : open_.size());
      Add(elements);
    }
    std::shared_ptr<const Chunks> Finish() {
      while (!open_.empty()) Close(open_.size() > kChunkMax ? open_.size() / 2 : open_.size());
      return std::make_shared<const Chunks>(std::move(chunks_));
    }

   private:
    // Makes a chunk of the first `count` open elements. Joins it to the chunk before if both fit
    // into one, so that single insertions at the end do not leave many small chunks.
    void Close(size_t count) {
      const auto end = open_.begin() + static_cast<std::ptrdiff_t>(count);
      Elements closed;
      if (!chunks_.empty() && chunks_.back().elements->size() + count <= kChunkMax) {
        closed = *chunks_.back().elements;
        chunks_.pop_back();
      }
      closed.insert(closed.end(), std::make_move_iterator(open_.begin()),
                    std::make_move_iterator(end));
      Add(std::make_shared<const Elements>(std::move(closed)));
      open_.erase(open_.begin(), end);
    }
    void Add(std::shared_ptr<const Elements> elements) {
      const size_t before = chunks_.empty() ? 0 : chunks_.back().end;
      chunks_.push_back({.end = before + elements->size(), .elements = std::move(elements)});
    }
    Chunks chunks_;
    Elements open_;
  };

  // The numbers of chunks with which both sequences begin, and with which both end.
  struct CommonEnds {
    size_t leading = 0;
    size_t trailing = 0;
  };
  static CommonEnds CommonEndsOf(const SharedSequence& a, const SharedSequence& b) {
    CommonEnds ends;
    const size_t a_count = a.chunk_count();
    const size_t b_count = b.chunk_count();
    const size_t count_max = std::min(a_count, b_count);
    const auto is_shared = [&](size_t in_a, size_t in_b) {
      return (*a.chunks_)[in_a].elements == (*b.chunks_)[in_b].elements;
    };
    while (ends.leading < count_max && is_shared(ends.leading, ends.leading)) ++ends.leading;
    while (ends.trailing < count_max - ends.leading &&
           is_shared(a_count - 1 - ends.trailing, b_count - 1 - ends.trailing))
      ++ends.trailing;
    return ends;
  }
  size_t BeginOf(size_t chunk) const { return chunk == 0 ? 0 : (*chunks_)[chunk - 1].end; }
  size_t ChunkOf(size_t index) const {
    const auto it =
        std::partition_point(chunks_->begin(), chunks_->end(),
                             [index](const Chunk& chunk) { return chunk.end <= index; });
    return static_cast<size_t>(it - chunks_->begin());
  }
  void CopyTo(Builder* builder, size_t begin, size_t end) const {
    while (begin < end) {
      const size_t at = ChunkOf(begin);
      const Chunk& chunk = (*chunks_)[at];
      if (begin == BeginOf(at) && chunk.end <= end) {
        builder->PushChunk(chunk.elements);
        begin = chunk.end;
        continue;
      }
      for (const size_t stop = std::min(end, chunk.end); begin < stop; ++begin)
        builder->Push((*chunk.elements)[begin - BeginOf(at)]);
    }
  }

  std::shared_ptr<const Chunks> chunks_;  // null: empty
};

template <typename T>
std::vector<typename SharedSequence<T>::Difference> SharedSequence<T>::Differences(
    const SharedSequence& a, const SharedSequence& b) {
  if (a.chunks_ == b.chunks_) return {};
  // Most changes touch few chunks. Only the chunks between the common ends are compared.
  const CommonEnds ends = CommonEndsOf(a, b);
  const auto chunks_of = [&ends](const SharedSequence& sequence) {
    std::vector<const Elements*> chunks;
    for (size_t i = ends.leading; i < sequence.chunk_count() - ends.trailing; ++i)
      chunks.push_back((*sequence.chunks_)[i].elements.get());
    std::sort(chunks.begin(), chunks.end());
    return chunks;
  };
  const std::vector<const Elements*> chunks_of_a = chunks_of(a);
  const std::vector<const Elements*> chunks_of_b = chunks_of(b);
  std::vector<const Elements*> shared;
  std::set_intersection(chunks_of_a.begin(), chunks_of_a.end(), chunks_of_b.begin(),
                        chunks_of_b.end(), std::back_inserter(shared));
  // The elements outside of shared chunks, sorted for lookups.
  const auto elements_of = [&](const SharedSequence& sequence) {
    std::vector<const T*> elements;
    for (size_t i = ends.leading; i < sequence.chunk_count() - ends.trailing; ++i) {
      const Elements& chunk = *(*sequence.chunks_)[i].elements;
      if (std::binary_search(shared.begin(), shared.end(), &chunk)) continue;
      for (const Pointer& element : chunk) elements.push_back(element.get());
    }
    std::sort(elements.begin(), elements.end());
    return elements;
  };
  const std::vector<const T*> of_a = elements_of(a);
  const std::vector<const T*> of_b = elements_of(b);
  const auto in = [](const std::vector<const T*>& elements, const T* element) {
    return std::binary_search(elements.begin(), elements.end(), element);
  };
  const size_t a_end = a.BeginOf(a.chunk_count() - ends.trailing);
  const size_t b_end = b.BeginOf(b.chunk_count() - ends.trailing);
  // The position after the shared chunk that begins at `at`; `at` if none begins there.
  const auto skip = [&](const SharedSequence& sequence, size_t at) {
    if (at >= (&sequence == &a ? a_end : b_end)) return at;
    const size_t chunk = sequence.ChunkOf(at);
    const bool is_shared =
        at == sequence.BeginOf(chunk) &&
        std::binary_search(shared.begin(), shared.end(), (*sequence.chunks_)[chunk].elements.get());
    return is_shared ? (*sequence.chunks_)[chunk].end : at;
  };
  std::vector<Difference> differences;
  size_t i = a.BeginOf(ends.leading);
  size_t j = i;
  while (i < a_end || j < b_end) {
    const size_t i_behind = skip(a, i);
    const size_t j_behind = skip(b, j);
    if (i_behind > i && j_behind > j) {  // shared chunks come in the same order: it is one chunk
      i = i_behind;
      j = j_behind;
      continue;
    }
    Difference difference{.a_begin = i, .a_end = i, .b_begin = j, .b_end = j};
    while (i < a_end && skip(a, i) == i && !in(of_b, a.Get(i).get())) difference.a_end = ++i;
    while (j < b_end && skip(b, j) == j && !in(of_a, b.Get(j).get())) difference.b_end = ++j;
    if (difference.a_begin < difference.a_end || difference.b_begin < difference.b_end) {
      differences.push_back(difference);
      continue;
    }
    ++i;  // the same element
    ++j;
  }
  return differences;
}

// A map from K to V in a SharedSequence, ascending by key.
template <typename K, typename V>
class SharedMap {
 public:
  using Entry = std::pair<K, V>;
  using Entries = SharedSequence<Entry>;
  using Iterator = typename Entries::Iterator;
  using value_type = Entry;
  using iterator = Iterator;
  using const_iterator = Iterator;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  Iterator begin() const { return entries_.begin(); }
  Iterator end() const { return entries_.end(); }
  Iterator find(const K& key) const {
    const Iterator it = LowerBound(key);
    return it != end() && it->first == key ? it : end();
  }
  // Returns the value of the key, or null.
  const V* Find(const K& key) const {
    const size_t at = PositionOf(key);
    if (at == size()) return nullptr;
    const Entry& entry = entries_[at];
    return entry.first == key ? &entry.second : nullptr;
  }
  bool contains(const K& key) const { return find(key) != end(); }
  // A map of this entry alone, which both share; an empty map if the key is not there.
  SharedMap Only(const K& key) const {
    SharedMap map;
    const Iterator it = find(key);
    if (it != end()) map.entries_ = Entries::Of(it.Get());
    return map;
  }
  // The key must be there.
  const V& at(const K& key) const { return find(key)->second; }
  const Entries& entries() const { return entries_; }

  void Set(const K& key, V value) {
    Change({{key, std::make_shared<const Entry>(key, std::move(value))}});
  }
  void Erase(const K& key) { Change({{key, nullptr}}); }
  // Sets or erases (null) the entry of each key. Keys ascend, without repeats.
  void Change(const std::vector<std::pair<K, std::shared_ptr<const Entry>>>& changes) {
    std::vector<typename Entries::Change> replaced;
    for (const auto& [key, entry] : changes) {
      const Iterator it = LowerBound(key);
      const size_t at = static_cast<size_t>(it - begin());
      const bool is_there = it != end() && it->first == key;
      if (!is_there && entry == nullptr) continue;
      auto& change = replaced.emplace_back();
      change.begin = at;
      change.end = at + (is_there ? 1 : 0);
      if (entry != nullptr) change.with.push_back(entry);
    }
    if (!replaced.empty()) entries_.Replace(std::move(replaced));
  }

 private:
  size_t PositionOf(const K& key) const {
    return entries_.PartitionPoint([&key](const Entry& entry) { return entry.first < key; });
  }
  Iterator LowerBound(const K& key) const { return Iterator(&entries_, PositionOf(key)); }
  Entries entries_;
};

}  // namespace stele::internal
