#include "compaction/due_changes.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace stele::internal {
namespace {

struct Positions {
  size_t begin = 0;  // among the table's tablets
  size_t end = 0;
};

class ChangedTablets {
 public:
  explicit ChangedTablets(const Version& now) : now_(now) {}

  void AddChangesOf(const Version& before) {
    const auto& old = before.tables.entries();
    const auto& tables = now_.tables.entries();
    for (const auto& difference : std::remove_cvref_t<decltype(tables)>::Differences(old, tables)) {
      for (size_t i = difference.b_begin; i < difference.b_end; ++i) {
        const auto it = before.tables.find(tables[i].first);
        AddChangesOf(it == before.tables.end() ? nullptr : it->second.get(), *tables[i].second);
      }
    }
  }
  void AddTable(uint32_t table_id) {
    const auto it = now_.tables.find(table_id);
    if (it != now_.tables.end()) changed_[table_id].push_back({0, it->second->tablets.size()});
  }
  void AddTablet(const TabletName& name) {
    const auto it = now_.tables.find(name.table_id);
    if (it == now_.tables.end()) return;
    const size_t index = it->second->TabletIndexOf(name.start_row);
    changed_[name.table_id].push_back({index, index + 1});
  }
  // By table id.
  const std::map<uint32_t, std::vector<Positions>>& positions() const { return changed_; }

 private:
  void AddChangesOf(const TableState* before, const TableState& table) {
    if (before == nullptr || before->definition != table.definition)
      return AddTable(table.definition->id);
    for (const auto& difference :
         SharedSequence<Tablet>::Differences(before->tablets, table.tablets)) {
      changed_[table.definition->id].push_back({difference.b_begin, difference.b_end});
    }
  }

  const Version& now_;
  std::map<uint32_t, std::vector<Positions>> changed_;
};

bool HasDue(const PickerInput& input, const TableState& table, Positions changed,
            uint64_t* examined) {
  // Adjacent tablets may merge.
  const size_t begin = changed.begin - std::min<size_t>(changed.begin, 1);
  const size_t end = std::min(changed.end + 1, table.tablets.size());
  SharedSequence<Tablet>::Change all;
  for (auto it = table.tablets.begin() + static_cast<std::ptrdiff_t>(begin);
       all.with.size() < end - begin; ++it) {
    all.with.push_back(it.Get());
  }
  TableState adjacent{
      .definition = table.definition, .flushed_through = table.flushed_through, .tablets = {}};
  adjacent.tablets.Replace({std::move(all)});
  *examined += end - begin;
  return IsAnyDue(input, adjacent, CountParts(table, input.version->files, begin, end));
}

}  // namespace

bool IsAnyDueSince(const IdleSearch& last, const PickerInput& input, uint64_t* examined) {
  ChangedTablets changed(*input.version);
  changed.AddChangesOf(*last.version);
  for (const TabletName& name : last.busy) {
    if (!input.busy.contains(name)) changed.AddTablet(name);
  }
  for (const uint32_t table_id : last.busy_tables) {
    if (!input.busy_tables.contains(table_id)) changed.AddTable(table_id);
  }
  if (last.unreadable != input.unreadable) {
    for (const auto& [name, files] : last.unreadable) changed.AddTablet(name);
    for (const auto& [name, files] : input.unreadable) changed.AddTablet(name);
  }
  for (const auto& [table_id, positions] : changed.positions()) {
    const TableState& table = *input.version->tables.at(table_id);
    for (const Positions& range : positions) {
      if (HasDue(input, table, range, examined)) return true;
    }
  }
  return false;
}

}  // namespace stele::internal
