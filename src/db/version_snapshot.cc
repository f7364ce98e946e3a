#include "db/version_snapshot.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

void RaiseNumbers(const TableEdit& table, Edit* snapshot) {
  snapshot->next_table_id = std::max(snapshot->next_table_id, table.table_id + 1);
  if (table.definition != nullptr) {
    for (const uint32_t family_id : table.definition->families.ids())
      snapshot->next_family_id = std::max(snapshot->next_family_id, family_id + 1);
  }
  for (const TabletEdit& tablet : table.tablets) {
    for (const ReferenceEdit& reference : tablet.stack) {
      snapshot->next_file_number = std::max(snapshot->next_file_number, reference.file_number + 1);
      snapshot->last_sequence = std::max(snapshot->last_sequence, reference.sequence_last);
    }
  }
}

}  // namespace

void RemoveOlderNamesakes(Edit* snapshot) {
  std::map<std::string_view, uint32_t> newest;  // ids by name
  for (const TableEdit& table : snapshot->tables) {
    if (table.definition == nullptr) continue;
    uint32_t& id = newest[table.definition->name];
    id = std::max(id, table.table_id);
  }
  std::erase_if(snapshot->tables, [&newest](const TableEdit& table) {
    return table.definition != nullptr && newest.at(table.definition->name) != table.table_id;
  });
}

absl::StatusOr<std::shared_ptr<const Version>> VersionOfSnapshot(Edit snapshot) {
  std::set<uint64_t> referenced;
  for (const TableEdit& table : snapshot.tables) {
    RaiseNumbers(table, &snapshot);
    for (const TabletEdit& tablet : table.tablets) {
      for (const ReferenceEdit& reference : tablet.stack) referenced.insert(reference.file_number);
    }
  }
  std::erase_if(snapshot.new_files, [&referenced](const SstableFile& file) {
    return !referenced.contains(file.number);
  });
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<const Version> version,
                         Apply(Version(), std::move(snapshot)));
  STELE_RETURN_IF_ERROR(CheckVersion(*version));
  return version;
}

}  // namespace stele::internal
