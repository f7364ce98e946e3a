// read/read_view.h: what a reader sees: one immutable bundle of memtables and SSTables for every table.
//
// Path:      db builds a new one whenever a memtable is frozen or an edit is installed; every read, flush input and snapshot holds one.
// Invariant: whoever takes (view, sequence) together under the database lock sees every commit up to sequence and no other, in every
//            source: the active memtable of the view is cut at sequence, all older sources hold only commits at or below it.
// Threads:   immutable; shared by shared_ptr<const ReadView>. It pins what it names: memtables, and files until their last view goes.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/memory_budget.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "read/reader_rest.h"
#include "sstable/sstable_reader.h"

namespace stele::internal {

// An SSTable kept open. Destroyed with its last user; db decides what happens to the file then.
class PinnedSstable {
 public:
  virtual ~PinnedSstable() = default;
  // Null when the file cannot be opened: then open_status() says why, and reads of its rows answer that. May open the file.
  virtual const std::shared_ptr<SstableReader>& reader() const = 0;
  virtual absl::Status open_status() const = 0;
};

struct ViewReference {
  SstableReference reference;
  std::shared_ptr<const PinnedSstable> file;
  bool narrowed = false;  // the reference shows less than the file holds
  // With so many behind it, itself among them, a reference to one file, in the order of their rows:
  // a row is in one of them at most. What drops cut a file into stands so.
  size_t pieces = 1;
};

// Of a tablet, since the database was opened, also by those that it was split from or merged of; relaxed: figures, they order nothing.
// Reads and writes come from different threads.
struct TabletCounters {
  alignas(64) std::atomic<uint64_t> reads{0};   // rows asked for or handed out
  alignas(64) std::atomic<uint64_t> writes{0};  // mutations of rows
};

struct ViewTablet {
  KeyRange range;
  std::vector<ViewReference> stack;                    // newest first
  std::shared_ptr<TabletCounters> counters = nullptr;  // null: nobody counts
  uint64_t reads_before = 0;                           // what the counters said when the stack was last changed

  void CountReads(uint64_t count) const {
    if (counters != nullptr && count > 0) counters->reads.fetch_add(count, std::memory_order_relaxed);
  }
};

struct TableView {
  std::shared_ptr<const TableState> state;
  std::vector<std::shared_ptr<const Memtable>> memtables;  // newest first
  std::vector<ViewTablet> tablets;                         // ascending; cover all rows
  std::shared_ptr<const MemoryCharge> charge = nullptr;    // for the references of `tablets` and `state`

  const TableDefinition& definition() const { return *state->definition; }
};

struct ReadView {
  std::shared_ptr<const Version> version;
  std::map<uint32_t, std::shared_ptr<const TableView>> tables;  // by table id

  const TableView* Find(uint32_t table_id) const {
    const auto it = tables.find(table_id);
    return it == tables.end() ? nullptr : it->second.get();
  }
};

// A view that is held for long. Its memtables may be written to files meanwhile: then view() is another that shows the same.
class PinnedView {
 public:
  PinnedView() = default;
  PinnedView(const PinnedView&) = delete;
  PinnedView& operator=(const PinnedView&) = delete;
  virtual ~PinnedView() = default;

  virtual std::shared_ptr<const ReadView> view() const = 0;
  // From now on `rest` is told when the view is replaced, as long as it lives.
  virtual void Tell(const std::shared_ptr<ReaderRest>& rest) const = 0;
  // Counts up when the view of some pin was replaced, perhaps of this one. Any thread.
  virtual uint64_t replacements() const = 0;
};

// A moment to read at.
struct ReadPoint {
  std::shared_ptr<const ReadView> view;
  uint64_t sequence = 0;
  int64_t now = 0;                                  // against which ages are measured
  std::shared_ptr<const PinnedView> pin = nullptr;  // what holds `view`, if it is held for long
};

}  // namespace stele::internal
