// manifest/version.h: an immutable description of all tables, tablets and files. Only edits change
// it.
//
// Used by:   manifest/manifest_log.cc makes a Version from an edit with Apply (edit.h), at recovery
//            and at every install. read/read_view.h and compaction/picker.cc read it.
// Invariants: CheckVersion checks them at every recovery. CheckChanged (edit.h) checks them for the
//            changed tablets before an edit is written.
//            1. A table's tablets cover its row space without gap or overlap, ascending.
//            2. In a tablet's stack, references with overlapping row ranges have disjoint commit
//               intervals, newest first (engine rule 1).
//            3. A reference's range is within its tablet's range.
//            4. Ids (tables, families, files) are below the next ids.
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
#include "base/checksum.h"
#include "base/shared_sequence.h"
#include "cell/family_list.h"
#include "gc/retention.h"
#include "model/row_ranges.h"
#include "sstable/format/sstable_summary.h"
#include "stele/schema.h"

namespace stele::internal {

// The internal table of the idempotency tokens (manifest/token_table.h). No user table has this id.
inline constexpr uint32_t kTokenTableId = 0;

// A file as described in the manifest. All references to it share this object.
struct SstableFile {
  uint64_t number = 0;
  SstableSummary summary;
  // The time at which jobs may apply GC rules to ordinals in this file (engine rule 9). It is the
  // newest commit time of the file's cells. For the output of a compaction over several tablets, it
  // is the least of the tablets' newest commit times.
  int64_t newest_commit_time = 0;
  // Compressed with the bottommost codec: the output of a bulk load, or of a compaction whose
  // inputs reach the end of the stack in every tablet.
  bool bottommost_codec = false;
};

// The time at which a job applies GC rules to the ordinals of a file or memtable (engine rule 9).
// If `newest_commit_time` is after `now`, a clock was wrong, and no ordinal is known to be garbage.
inline int64_t OrdinalTime(int64_t newest_commit_time, int64_t now) {
  return newest_commit_time <= now ? newest_commit_time : INT64_MIN;
}

// A range of rows. Several references may share it, so that its keys are in memory once.
class SharedRange {
 public:
  SharedRange() : SharedRange(KeyRange()) {}
  SharedRange(KeyRange range)
      : range_(std::make_shared<const KeyRange>(std::move(range))) {
  }  // NOLINT(google-explicit-constructor)

  operator const KeyRange&() const { return *range_; }  // NOLINT(google-explicit-constructor)
  const KeyRange& operator*() const { return *range_; }
  const KeyRange* operator->() const { return range_.get(); }

  bool IsEmpty() const { return range_->IsEmpty(); }
  bool Contains(std::string_view row_key) const { return range_->Contains(row_key); }
  bool EndsBefore(std::string_view row_key) const { return range_->EndsBefore(row_key); }
  bool Covers(const KeyRange& other) const { return range_->Covers(other); }
  bool Overlaps(const KeyRange& other) const { return range_->Overlaps(other); }

  friend bool operator==(const SharedRange& a, const SharedRange& b) {
    return a.range_ == b.range_ || *a.range_ == *b.range_;
  }
  friend bool operator==(const SharedRange& a, const KeyRange& b) { return *a.range_ == b; }

 private:
  std::shared_ptr<const KeyRange> range_;  // never null
};

// A tablet's reference to a file. It covers only the rows of `range`, which a split or an excision
// narrows. A tablet may reference a file more than once.
struct SstableReference {
  std::shared_ptr<const SstableFile> file;
  SharedRange range;
  uint64_t sequence_first = 0;  // the commits that it represents, inclusive
  uint64_t sequence_last = 0;
};

struct Tablet {
  KeyRange range;
  std::vector<SstableReference> stack;  // newest first
};

// Identifies a tablet. The position of a tablet in its table does not identify it, since splits and
// merges of other tablets change the position.
struct TabletName {
  uint32_t table_id = 0;
  std::string start_row;
  friend auto operator<=>(const TabletName&, const TabletName&) = default;
};

// A table without its data. Immutable; a schema change replaces it as a whole and increments
// `epoch`.
struct TableDefinition {
  uint32_t id = 0;
  std::string name;
  uint64_t epoch = 0;
  Schema schema;        // as set by the user; families in name order
  FamilyList families;  // the families with their ids, in the order of creation
  // Both are indexed by family index - 1.
  std::vector<FamilySchema> family_schemas;
  std::vector<Retention> retentions;
};

// Returns by family index - 1 whether the ordinals of versions in some sources are unknown, because
// newer sources may have a range delete without a GC fence for the family's rule. `newer_since` is
// the oldest commit in newer sources; UINT64_MAX: there are no such commits, and later ones are
// newer.
std::vector<bool> FamiliesOfUnknownOrdinals(const TableDefinition& definition,
                                            uint64_t newer_since);

struct TableState {
  std::shared_ptr<const TableDefinition> definition;
  uint64_t flushed_through = 0;  // all commits up to this one are in files (engine rule 2)
  SharedSequence<Tablet> tablets;

  // The position of the tablet that contains the row. The table must have tablets.
  size_t TabletIndexOf(std::string_view row_key) const;
  // Returns null if no tablet has exactly this range.
  const Tablet* FindTablet(const KeyRange& range) const;
};

// How far the log was known to be synced when an edit was written. If recovery finds less log, it
// has lost acknowledged commits.
struct SyncedLogEnd {
  uint64_t segment = 0;  // 0: nothing known
  uint64_t end_offset = 0;
  friend auto operator<=>(const SyncedLogEnd&, const SyncedLogEnd&) = default;
};

// The table that a file belongs to, and the number of its tablets that reference the file.
struct FileUse {
  std::shared_ptr<const SstableFile> file;
  uint32_t table_id = 0;
  uint64_t tablets = 0;
};

// The state of the database. Copies share tables, tablets and files, so that an edit copies only
// what it changes (docs/decisions/0037-versions-share-structure.md).
struct Version {
  SharedMap<uint32_t, std::shared_ptr<const TableState>> tables;  // by id
  // The ids of the user tables, by name. Apply (edit.h) maintains it.
  SharedMap<std::string, uint32_t> ids_by_name;
  // All referenced files, by number. Apply (edit.h) maintains it.
  SharedMap<uint64_t, FileUse> files;
  SyncedLogEnd synced_log_end;
  uint64_t oldest_segment = 0;  // segments with lower numbers are not needed
  // No reference has a greater sequence_last; the log may have later commits.
  uint64_t last_sequence = 0;
  int64_t clock_mark = 0;  // the greatest collection time so far (engine rule 7)
  uint64_t next_file_number = 1;
  uint32_t next_table_id = 1;
  uint32_t next_family_id = 1;
  // The hash key for idempotency tokens. Random for each database; checkpoints keep it.
  SipKey token_key;

  // Returns a user table; null for any other name. Uses `ids_by_name`.
  const TableState* FindTable(std::string_view name) const;
  // Returns all referenced files, by number. Scans all references instead of using `files`.
  std::map<uint64_t, std::shared_ptr<const SstableFile>> Files() const;
};

// Makes a definition from a schema: families by family index, GC rules compiled. `families` are the
// ids of the schema's families by name, in any order.
std::shared_ptr<const TableDefinition> MakeDefinition(uint32_t table_id, std::string name,
                                                      uint64_t epoch, const Schema& schema,
                                                      const std::vector<FamilyEntry>& families);

// Return OK, or InvalidArgument with the violated invariant; the caller turns it into DataLoss and
// adds the file. Cost: n log n in references. CheckTable checks one table of the version.
// CheckDefinition and CheckStack check its definition and one tablet's stack.
absl::Status CheckTable(const TableState& table, const Version& version);
absl::Status CheckDefinition(const TableDefinition& definition, const Version& version);
absl::Status CheckStack(const Tablet& tablet, const Version& version);
absl::Status CheckVersion(const Version& version);

// Returns a range as text for messages and dumps: ["a", "b") or ["a", end).
std::string RangeText(const KeyRange& range);

}  // namespace stele::internal
