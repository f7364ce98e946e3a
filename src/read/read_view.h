// read/read_view.h: an immutable set of the memtables and SSTables of all tables, for readers
// (RocksDB: SuperVersion).
//
// Used by:   state/engine_state.cc makes a new one whenever a memtable is frozen or an edit is
//            installed. Every read, flush and snapshot holds one.
// Invariant: a thread that takes (view, sequence) together under EngineState::mutex sees every
//            commit up to the sequence and no other. The active memtable of the view is read at the
//            sequence; all older sources have only commits at or below it.
// Threads:   immutable; shared by shared_ptr<const ReadView>. It keeps its memtables alive, and its
//            files open and on disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/memory_tracker.h"
#include "base/shared_sequence.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "read/idle_reader.h"
#include "sstable/read/sstable_reader.h"

namespace stele::internal {

// An open SSTable. The last user destroys it; its implementation then deletes an obsolete file.
class PinnedSstable {
 public:
  virtual ~PinnedSstable() = default;
  // Returns null if the file cannot be opened: open_status() has the reason, and reads of its rows
  // return it. May open the file.
  virtual const std::shared_ptr<SstableReader>& reader() const = 0;
  virtual absl::Status open_status() const = 0;
};

struct ViewReference {
  SstableReference reference;
  std::shared_ptr<const PinnedSstable> file;
  bool narrowed = false;  // the reference covers only a part of the file
  // The number of fragments of one file from this reference on, in row order. A row is in at most
  // one of them. A file has several if drops have cut it.
  size_t fragment_count = 1;
};

// Counters of a tablet since the database was opened, including those of the tablets that it was
// split or merged from. Relaxed: no other memory access depends on them. Reads and writes come from
// different threads.
struct TabletCounters {
  alignas(64) std::atomic<uint64_t> reads{0};   // rows requested or returned
  alignas(64) std::atomic<uint64_t> writes{0};  // mutations of rows
};

struct ViewTablet {
  KeyRange range;
  std::vector<ViewReference> stack;                    // newest first
  std::shared_ptr<TabletCounters> counters = nullptr;  // null: nothing is counted
  // The value of counters->reads when the stack last changed.
  uint64_t reads_at_stack_change = 0;
  // For the file references of `stack`, here and in the Version.
  std::shared_ptr<const MemoryCharge> charge = nullptr;

  void CountReads(uint64_t count) const {
    if (counters != nullptr && count > 0)
      counters->reads.fetch_add(count, std::memory_order_relaxed);
  }
};

struct TableView {
  std::shared_ptr<const TableState> state;
  std::vector<std::shared_ptr<const Memtable>> memtables;  // newest first
  // Ascending; they cover all rows and have the positions of state->tablets.
  SharedSequence<ViewTablet> tablets;

  const TableDefinition& definition() const { return *state->definition; }
};

struct ReadView {
  std::shared_ptr<const Version> version;
  SharedMap<uint32_t, std::shared_ptr<const TableView>> tables;  // by table id

  const TableView* Find(uint32_t table_id) const {
    const std::shared_ptr<const TableView>* const table = tables.Find(table_id);
    return table == nullptr ? nullptr : table->get();
  }
};

// A view that is held for a long time. Its memtables may be written to files meanwhile: then view()
// returns another view with the same contents.
class PinnedView {
 public:
  PinnedView() = default;
  PinnedView(const PinnedView&) = delete;
  PinnedView& operator=(const PinnedView&) = delete;
  virtual ~PinnedView() = default;

  virtual std::shared_ptr<const ReadView> view() const = 0;
  // Registers a reader. It is notified whenever the view is replaced, until it is destroyed.
  virtual void AddReader(const std::shared_ptr<IdleReader>& reader) const = 0;
  // How often the view of any pin was replaced. Any thread.
  virtual uint64_t replacements() const = 0;
};

// The point at which a read sees the database.
struct ReadPoint {
  std::shared_ptr<const ReadView> view;
  uint64_t sequence = 0;
  int64_t now = 0;                                  // ages are measured from it
  std::shared_ptr<const PinnedView> pin = nullptr;  // keeps `view`, if it is held for a long time
};

}  // namespace stele::internal
