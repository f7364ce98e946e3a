#include "compaction/compaction_debt.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "compaction/file_shares.h"
#include "compaction/picker.h"

namespace stele::internal {
namespace {

using Difference = SharedSequence<Tablet>::Difference;

bool HaveSameRanges(const TableState& a, const TableState& b, const Difference& difference) {
  if (difference.a_begin != difference.b_begin || difference.a_end != difference.b_end)
    return false;
  for (size_t i = difference.a_begin; i < difference.a_end; ++i) {
    if (a.tablets[i].range != b.tablets[i].range) return false;
  }
  return true;
}

}  // namespace

void CompactionDebt::Reset(const Version& version, const FilesByTablet& unreadable) {
  tables_.clear();
  bytes_ = 0;
  for (const auto& [table_id, table] : version.tables) CountTable(*table, unreadable);
}

void CompactionDebt::Follow(const Version& before, const Version& after,
                            const FilesByTablet& unreadable) {
  const auto& old = before.tables.entries();
  const auto& now = after.tables.entries();
  for (const auto& difference : std::remove_cvref_t<decltype(now)>::Differences(old, now)) {
    for (size_t i = difference.a_begin; i < difference.a_end; ++i) {
      if (!after.tables.contains(old[i].first)) Drop(old[i].first);
    }
    for (size_t i = difference.b_begin; i < difference.b_end; ++i) {
      const auto it = before.tables.find(now[i].first);
      if (it == before.tables.end()) {
        CountTable(*now[i].second, unreadable);
      } else {
        FollowTable(*it->second, *now[i].second, after, unreadable);
      }
    }
  }
}

void CompactionDebt::Drop(uint32_t table_id) {
  const auto it = tables_.find(table_id);
  if (it == tables_.end()) return;
  bytes_ -= std::accumulate(it->second.begin(), it->second.end(), uint64_t{0});
  tables_.erase(it);
}

void CompactionDebt::CountTable(const TableState& table, const FilesByTablet& unreadable) {
  Drop(table.definition->id);
  const FileShares parts = CountParts(table);
  TabletBytes& tablets = tables_[table.definition->id];
  tablets.resize(table.tablets.size());
  for (size_t i = 0; i < tablets.size(); ++i) {
    tablets[i] = CompactionDebtBytes(table, i, parts, unreadable, sizes_);
    bytes_ += tablets[i];
  }
  tablets_counted_ += tablets.size();
}

void CompactionDebt::CountTablets(const TableState& table, const Version& version, size_t begin,
                                  size_t end, const FilesByTablet& unreadable) {
  const FileShares parts = CountParts(table, version.files, begin, end);
  TabletBytes& tablets = tables_[table.definition->id];
  for (size_t i = begin; i < end; ++i) {
    bytes_ -= tablets[i];
    tablets[i] = CompactionDebtBytes(table, i, parts, unreadable, sizes_);
    bytes_ += tablets[i];
  }
  tablets_counted_ += end - begin;
}

// The debt depends on a file's share of each tablet that its rows reach into. Changing a stack does
// not affect the shares of other tablets; only changing the tablets of a table does.
void CompactionDebt::FollowTable(const TableState& before, const TableState& table,
                                 const Version& after, const FilesByTablet& unreadable) {
  const std::vector<Difference> differences =
      SharedSequence<Tablet>::Differences(before.tablets, table.tablets);
  const auto has_same_ranges = [&](const Difference& difference) {
    return HaveSameRanges(before, table, difference);
  };
  if (!std::all_of(differences.begin(), differences.end(), has_same_ranges))
    return CountTable(table, unreadable);
  for (const Difference& difference : differences)
    CountTablets(table, after, difference.b_begin, difference.b_end, unreadable);
}

}  // namespace stele::internal
