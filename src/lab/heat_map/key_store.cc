#include "lab/heat_map/key_store.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace stele::internal::lab {
namespace {

constexpr size_t kBufferBytes = size_t{40} << 20;
constexpr size_t kBufferKeys = size_t{1'600'000};
constexpr size_t kRunsMax = 32;
constexpr size_t kTableBytes = 2;
constexpr unsigned kShiftMax = 40;
constexpr size_t kPrefetchedEntries = 16;

uint16_t TableOf(std::string_view key) {
  return static_cast<uint16_t>(static_cast<unsigned char>(key[0]) << 8 |
                               static_cast<unsigned char>(key[1]));
}

// Returns the keys of sorted runs in order; equal keys once, with the sum of their counts.
class RunMerger {
 public:
  explicit RunMerger(std::vector<KeyRun>* runs) {
    for (KeyRun& run : *runs) {
      auto cursor = std::make_unique<KeyRunCursor>(&run, KeyRunCursor::Blocks::kFreed);
      if (cursor->Next()) Push(std::move(cursor));
    }
  }

  // `key` is valid until the next call.
  bool Next(std::string* key, uint64_t* count) {
    if (heap_.empty()) return false;
    key->assign(heap_.front()->key());
    *count = 0;
    while (!heap_.empty() && heap_.front()->key() == *key) {
      *count += heap_.front()->count();
      Advance();
    }
    return true;
  }

 private:
  using Cursor = std::unique_ptr<KeyRunCursor>;
  static bool IsLater(const Cursor& a, const Cursor& b) { return a->key() > b->key(); }
  void Push(Cursor cursor) {
    heap_.push_back(std::move(cursor));
    std::push_heap(heap_.begin(), heap_.end(), IsLater);
  }
  // Moves the first cursor to its next key, and restores the heap.
  void Advance() {
    if (!heap_.front()->Next()) {
      std::pop_heap(heap_.begin(), heap_.end(), IsLater);
      heap_.pop_back();
      return;
    }
    for (size_t at = 0, child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && IsLater(heap_[child], heap_[child + 1])) ++child;
      if (!IsLater(heap_[at], heap_[child])) return;
      std::swap(heap_[at], heap_[child]);
      at = child;
    }
  }

  std::vector<Cursor> heap_;
};

}  // namespace

bool KeyStore::IsKnown(std::string_view key) const {
  if (shift_ == 0) return true;
  return (XXH3_64bits(key.data(), key.size()) & (keys_per_known_key() - 1)) == 0;
}

void KeyStore::Add(uint16_t table, std::string_view key, uint64_t count) {
  if (bytes_.size() + key.size() + kTableBytes > kBufferBytes || entries_.size() >= kBufferKeys)
    EmptyBuffer();
  if (entries_.capacity() == 0) {
    bytes_.reserve(kBufferBytes);
    entries_.reserve(kBufferKeys);
  }
  const Entry entry = {.offset = static_cast<uint32_t>(bytes_.size()),
                       .length = static_cast<uint32_t>(key.size() + kTableBytes),
                       .count = static_cast<uint32_t>(count)};
  bytes_.push_back(static_cast<char>(table >> 8));
  bytes_.push_back(static_cast<char>(table & 0xff));
  bytes_.append(key);
  if (!IsKnown(KeyOf(entry))) {
    bytes_.resize(entry.offset);
    return;
  }
  shared_ = entries_.empty() ? entry.length
                             : SharedBytes(KeyOf(entries_[0]).substr(0, shared_), KeyOf(entry));
  entries_.push_back(entry);
}

void KeyStore::SortBuffer() {
  for (Entry& entry : entries_) entry.head = HeadOf(KeyOf(entry), shared_);
  const size_t whole_bytes = shared_ + sizeof(Entry::head);
  std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
    if (a.head != b.head) return a.head < b.head;
    // Heads end with zero bytes, so the shorter of two whole keys is a prefix of the other one.
    // This does not read their bytes, which are often not in the processor's cache.
    if (a.length <= whole_bytes && b.length <= whole_bytes) return a.length < b.length;
    return KeyOf(a) < KeyOf(b);
  });
}

void KeyStore::EmptyBuffer() {
  if (entries_.empty()) return;
  SortBuffer();
  KeyRun run;
  for (size_t i = 0; i < entries_.size();) {
    const std::string_view key = KeyOf(entries_[i]);
    uint64_t count = 0;
    for (; i < entries_.size() && KeyOf(entries_[i]) == key; ++i) {
      count += entries_[i].count;
      // The order of the keys is not that of their bytes in memory.
      if (i + kPrefetchedEntries < entries_.size())
        __builtin_prefetch(bytes_.data() + entries_[i + kPrefetchedEntries].offset);
    }
    run.Append(key, count);
  }
  run.Finish();
  run_bytes_ += run.bytes();
  runs_.push_back(std::move(run));
  entries_.clear();
  bytes_.clear();
  while (runs_.size() > kRunsMax || (run_bytes_ > bytes_max_ && shift_ < kShiftMax)) {
    // Keys that are in several runs need less memory once they are in one.
    if (runs_.size() == 1) ++shift_;
    MergeRuns();
  }
}

void KeyStore::MergeRuns() {
  keys_of_tables_.clear();
  KeyRun merged;
  RunMerger merger(&runs_);
  std::string key;
  uint64_t count = 0;
  while (merger.Next(&key, &count)) {
    if (!IsKnown(key)) continue;
    merged.Append(key, count);
    const size_t table = TableOf(key);
    if (keys_of_tables_.size() <= table) keys_of_tables_.resize(table + 1);
    ++keys_of_tables_[table];
  }
  merged.Finish();
  run_bytes_ = merged.bytes();
  runs_.clear();
  runs_.push_back(std::move(merged));
}

void KeyStore::Finish() {
  EmptyBuffer();
  MergeRuns();
  std::string().swap(bytes_);
  std::vector<Entry>().swap(entries_);
}

void KeyStore::ForEach(const Visit& visit) {
  KeyRunCursor cursor(&runs_.front(), KeyRunCursor::Blocks::kKept);
  while (cursor.Next()) {
    const std::string_view key = cursor.key();
    visit(TableOf(key), key.substr(kTableBytes), cursor.count());
  }
}

uint64_t KeyStore::KeysOf(uint16_t table) const {
  return table < keys_of_tables_.size() ? keys_of_tables_[table] : 0;
}

}  // namespace stele::internal::lab
