// sstable/group_ahead.h: the row groups of a long scan, decoded on other cores before the cursor comes to them.
//
// Path:      section_cursor -> here -> row_group_loader; what lies ahead goes to CursorOptions.ahead.
// How:       Groups that were not in the cache and are asked for one after the other, in either direction, show a scan: those behind are
//            handed over in flights of neighbours, each read at once. Few at first: never more than half as many as the scan has had, so
//            that a short one loses little. A flight that the cursor comes to before anybody has begun it is decoded by the cursor;
//            while one is under way elsewhere, the cursor decodes those behind it (decisions/0016).
// Memory:    flights of about 128 KiB, at most four; one more where groups are larger than that.
// Errors:    those of row_group_loader, met by the cursor itself when it comes to the group: what failed ahead is nobody's business before,
//            and may not fail then, as for want of memory.
// Threads:   confined to its cursor's thread; a flight is done by whoever begins it first, and owns what it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/ahead_runner.h"
#include "cell/cell_cursor.h"
#include "sstable/open_sstable.h"
#include "sstable/row_group_loader.h"

namespace stele::internal {

class GroupAhead {
 public:
  // `owner` keeps `table` open; `options` outlives this.
  GroupAhead(const std::shared_ptr<const void>& owner, const OpenSstable& table, const OpenSection& section, const CursorOptions& options);
  // What nobody has begun is taken back; what was begun ends by itself.
  ~GroupAhead();

  using GroupPointer = RowGroupLoader::GroupPointer;
  // As loader->LoadAll.
  absl::StatusOr<GroupPointer> LoadAll(size_t group_index, RowGroupLoader* loader, GroupPointer part);

 private:
  class Flight;

  void TakeBack();
  absl::StatusOr<GroupPointer> TakeFromFront(size_t group_index);
  void Finish(Flight* flight);
  void PlanBehind(size_t group_index, const RowGroupLoader& loader);
  // Of groups from `group_index` on in the cursor's direction; null where nothing is left.
  std::shared_ptr<Flight> NewFlight(size_t group_index, const RowGroupLoader& loader) const;

  const std::shared_ptr<const void>& owner_;
  const OpenSstable& table_;
  const OpenSection& section_;
  const CursorOptions& options_;
  std::vector<std::shared_ptr<Flight>> flights_;  // in the order in which the cursor comes to them
  size_t group_index_next_ = 0;                   // if the cursor goes on
  size_t run_ = 0;                                // so many groups were decoded one after the other
};

}  // namespace stele::internal
