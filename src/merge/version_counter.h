// merge/version_counter.h: counts the versions of each column of a row, and decides which of them
// the GC rules collect. All code that reads cells counts them here.
//
// Used by:   merge/retention_cursor.cc (reads, flush, compaction), read/row_cursors.cc (rows read
//            without a chain), write/gc_fence.cc.
// Calls:     gc/retention.h.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "cell/cell.h"
#include "gc/retention.h"

namespace stele::internal {

// By position in a merge: true if nothing would be removed from a row that only this source has.
using KeptSources = absl::InlinedVector<bool, 8>;

struct RetentionPolicy {
  // By family index - 1. Families beyond the end keep everything. The rules must outlive the
  // cursor.
  std::span<const Retention> rules;
  int64_t now = 0;
  // Set for flush and compaction: ordinals are partial, and are applied at newest_commit_time.
  bool partial = false;
  int64_t newest_commit_time = 0;
  bool drop_tombstones = false;
  // The input returns lazy values (cell.h). The retention cursor reads them for the cells that it
  // keeps.
  bool reads_lazy_values = false;
  // Reads only: by source (CellCursor::OnlySource). True: nothing is removed from a row that only
  // this source has. Empty: not known for any source.
  KeptSources kept_sources;
  // Partial only: by family index - 1; ordinals of families beyond the end are known. If true, only
  // the age of versions counts, since a newer range delete without a GC fence may have lowered
  // ordinals (engine rule 8).
  std::vector<bool> unknown_ordinals;

  // Reads only: true if the rules collect no version of a family. The caller knows that no column
  // of the family has more than `versions_max` versions, and that no version is older than
  // `timestamp_min`. A version with both values would be collected first.
  bool KeepsFamily(uint32_t family_index, uint64_t versions_max, int64_t timestamp_min) const {
    return family_index > rules.size() ||
           !rules[family_index - 1].IsGarbage(versions_max, timestamp_min, now);
  }
};

class VersionCounter {
 public:
  // `policy` must outlive the counter.
  explicit VersionCounter(const RetentionPolicy& policy) : policy_(policy) {}

  // Call before the first version of each row.
  void StartRow() {
    family_ = kRowFamily;
    qualifier_ = {};  // its bytes belonged to the previous row
    rule_ = nullptr;
    garbage_count_ = 0;
  }
  // Counts the version, and returns true if the rule of its family collects it. Pass the versions
  // of a row in order, newest first in a column, without tombstones. Versions below a garbage
  // version may be left out. The bytes of the version must stay valid until Unpin().
  bool IsGarbage(const Cell& version) {
    if (version.family != family_) StartFamily(version.family);
    if (rule_ == nullptr) return false;
    if (ordinal_ == 0 || !IsSameQualifier(version.qualifier, qualifier_)) {
      qualifier_ = version.qualifier;
      ordinal_ = 0;
      garbage_count_ = 0;
    }
    ++ordinal_;
    if (garbage_count_ == 0 && !IsGarbageByOrdinal(version.timestamp)) return false;
    ++garbage_count_;
    return true;
  }
  // Copies the qualifier of the current column, so that its bytes may be released.
  void Unpin() {
    if (qualifier_.data() == qualifier_copy_.data()) return;
    qualifier_copy_.assign(qualifier_);
    qualifier_ = qualifier_copy_;
  }

  // The column of the last version whose family has a rule.
  uint32_t family() const { return family_; }
  std::string_view qualifier() const { return qualifier_; }
  // The garbage versions of that column since the last ForgetGarbage(). While it is not 0, the rest
  // of the column is known to be garbage.
  uint32_t garbage_count() const { return garbage_count_; }
  void ForgetGarbage() { garbage_count_ = 0; }

 private:
  void StartFamily(uint32_t family);
  // Engine rule 9. A partial ordinal is a lower bound of the true ordinal at the time when the
  // newest input was committed, so it is applied at that time. Independently, a version is garbage
  // if its age alone makes even the newest version (ordinal 1) garbage. Both conditions stay true
  // further down the column.
  bool IsGarbageByOrdinal(int64_t timestamp) const {
    if (!policy_.partial) return rule_->IsGarbage(ordinal_, timestamp, policy_.now);
    if (are_ordinals_known_ && rule_->IsGarbage(ordinal_, timestamp, policy_.newest_commit_time))
      return true;
    return rule_->IsGarbage(1, timestamp, policy_.now);
  }

  const RetentionPolicy& policy_;
  const Retention* rule_ = nullptr;  // of the column's family; null: it keeps everything
  bool are_ordinals_known_ = true;   // for that family; partial policies
  uint32_t family_ = kRowFamily;
  std::string_view qualifier_;  // its bytes are pinned, or in qualifier_copy_
  std::string qualifier_copy_;
  uint64_t ordinal_ = 0;  // of the column's last version; 0: the family has had no version
  uint32_t garbage_count_ = 0;
};

}  // namespace stele::internal
