// manifest/version.h: which tables, tablets and files exist: an immutable value, changed only by edits.
//
// Path:      recovery and every install (flush, compaction, schema change, excision) -> edit.h Apply -> Version -> read views, pickers.
// Invariants (checked by CheckVersion on every recovery, and for the tables of an edit before it is written):
//   1. A table's tablets cover its row space without gap or overlap, ascending.
//   2. In a tablet's stack, references whose row ranges overlap have disjoint commit intervals, newest first (engine rule 1).
//   3. A reference's range lies within its tablet's range.
//   4. Ids (tables, families, files) are below the next ids.
// Threads:   immutable; shared by shared_ptr<const Version>.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/sip_hash.h"
#include "cell/family_list.h"
#include "gc/retention.h"
#include "model/row_ranges.h"
#include "sstable/sstable_summary.h"
#include "stele/schema.h"

namespace stele::internal {

// A file as the manifest knows it. Shared by every reference to it.
struct SstableFile {
  uint64_t number = 0;
  SstableSummary summary;
  int64_t newest_commit_time = 0;  // the database clock at the newest commit it sums up (engine rule 9)
  bool settled = false;            // by a major compaction or a bulk load: in the codec for files at rest
};

// A range of rows that several references may share, so that their keys are in memory once.
class SharedRange {
 public:
  SharedRange() : SharedRange(KeyRange()) {}
  SharedRange(KeyRange range) : range_(std::make_shared<const KeyRange>(std::move(range))) {}  // NOLINT(google-explicit-constructor)

  operator const KeyRange&() const { return *range_; }  // NOLINT(google-explicit-constructor)
  const KeyRange& operator*() const { return *range_; }
  const KeyRange* operator->() const { return range_.get(); }

  bool IsEmpty() const { return range_->IsEmpty(); }
  bool Contains(std::string_view row_key) const { return range_->Contains(row_key); }
  bool EndsBefore(std::string_view row_key) const { return range_->EndsBefore(row_key); }
  bool Covers(const KeyRange& other) const { return range_->Covers(other); }
  bool Overlaps(const KeyRange& other) const { return range_->Overlaps(other); }

  friend bool operator==(const SharedRange& a, const SharedRange& b) { return a.range_ == b.range_ || *a.range_ == *b.range_; }
  friend bool operator==(const SharedRange& a, const KeyRange& b) { return *a.range_ == b; }

 private:
  std::shared_ptr<const KeyRange> range_;  // never null
};

// A tablet's view of a file: the rows of `range` only (a split or an excision narrows it). One file may be referenced more than once.
struct SstableReference {
  std::shared_ptr<const SstableFile> file;
  SharedRange range;
  uint64_t sequence_first = 0;  // the commits it sums up, inclusive
  uint64_t sequence_last = 0;
};

struct Tablet {
  KeyRange range;
  std::vector<SstableReference> stack;  // newest first
};

// How a tablet is told apart from the others over time: positions in a table move when tablets split and merge.
struct TabletName {
  uint32_t table_id = 0;
  std::string start_row;
  friend auto operator<=>(const TabletName&, const TabletName&) = default;
};

// What a table is, apart from its data. Immutable; replaced whole by a schema change, which raises `epoch`.
struct TableDefinition {
  uint32_t id = 0;
  std::string name;
  uint64_t epoch = 0;
  Schema schema;        // as its user set it; families in name order
  FamilyList families;  // the live families with their ids, in the order of creation
  // By family rank - 1.
  std::vector<FamilySchema> family_schemas;
  std::vector<Retention> retentions;
};

// By family rank - 1: of these a part of the sources says nothing about ranks, for above it may lie a ranged delete that was not sealed for
// the family's rule. `newer_since`: the oldest commit above; UINT64_MAX: none is, and none that comes will be as old.
std::vector<bool> FamiliesOfUnknownRank(const TableDefinition& definition, uint64_t newer_since);

struct TableState {
  std::shared_ptr<const TableDefinition> definition;
  uint64_t flushed_through = 0;  // every commit up to here is in files (engine rule 2)
  std::vector<Tablet> tablets;

  // The position of the tablet that holds the row.
  size_t TabletIndexOf(std::string_view row_key) const;
  // Null where no tablet has just this range (any more).
  const Tablet* FindTablet(const KeyRange& range) const;
};

// How far the log was known to reach, synced, when an edit was written: a recovery that finds less has lost acknowledged commits.
struct LogReach {
  uint64_t segment = 0;  // 0: nothing known
  uint64_t end_offset = 0;
  friend auto operator<=>(const LogReach&, const LogReach&) = default;
};

struct Version {
  std::map<uint32_t, std::shared_ptr<const TableState>> tables;  // by id
  LogReach log_reach;
  uint64_t oldest_segment = 0;  // lower log segments hold nothing needed
  uint64_t last_sequence = 0;   // at least every sequence_last below; commits of the log may be above
  int64_t clock_mark = 0;       // the database clock never goes below (engine rule 7)
  uint64_t next_file_number = 1;
  uint32_t next_table_id = 1;
  uint32_t next_family_id = 1;
  SipKey token_key;  // hashes idempotency tokens; drawn when the database is made, and kept by its checkpoints

  // A table of a user; null for any other name.
  const TableState* FindTable(std::string_view name) const;
  // Every file referenced, by number.
  std::map<uint64_t, std::shared_ptr<const SstableFile>> Files() const;
};

// Makes a definition from a schema: families by rank, retentions compiled. `family_ids` are by the schema's order of families.
std::shared_ptr<const TableDefinition> MakeDefinition(uint32_t table_id, std::string name, uint64_t epoch, const Schema& schema,
                                                      const std::vector<FamilyEntry>& families);

// OK, or what is wrong, as DataLoss-worthy InvalidArgument text (the caller adds the file). Cost: n log n in references.
// CheckTable: what concerns one table of the version.
absl::Status CheckTable(const TableState& table, const Version& version);
absl::Status CheckVersion(const Version& version);

// A range for messages and dumps: ["a", "b") or ["a", end).
std::string RangeText(const KeyRange& range);

}  // namespace stele::internal
