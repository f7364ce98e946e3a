#include "db/file_edits.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "db/added_files.h"
#include "db/version_snapshot.h"
#include "manifest/stack_edits.h"
#include "manifest/token_table.h"

namespace stele::internal {
namespace {

// The number of a commit has 56 bits.
constexpr uint64_t kCommitMax = (uint64_t{1} << 56) - 1;
// Limits the memory for hostile edits.
constexpr uint64_t kPartsMax = uint64_t{1} << 20;

struct TabletParts {
  TabletEdit listed;  // as the Version has it
  std::vector<FilePlace> parts;
};

struct TableParts {
  std::shared_ptr<const TableDefinition> definition;  // null: the token table
  uint64_t flushed_through = 0;
  std::vector<TabletParts> tablets;  // ascending
  // The commits of files, from references in the Version and in other files. A bulk load's edit
  // does not have them.
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> commits;
};
using Tables = std::map<uint32_t, TableParts>;

// Moves the tables of the snapshot out of it.
Tables TakeTables(Edit* snapshot) {
  Tables tables;
  for (TableEdit& edit : snapshot->tables) {
    TableParts& table = tables[edit.table_id];
    table.definition = std::move(edit.definition);
    table.flushed_through = edit.flushed_through.value_or(0);
    for (TabletEdit& tablet : edit.tablets) {
      for (const ReferenceEdit& reference : tablet.stack)
        table.commits[reference.file_number] = {reference.sequence_first, reference.sequence_last};
      table.tablets.push_back({std::move(tablet), {}});
    }
  }
  snapshot->tables.clear();
  return tables;
}

bool Lists(const TabletEdit& tablet, uint64_t file_number) {
  return std::any_of(tablet.stack.begin(), tablet.stack.end(), [&](const ReferenceEdit& listed) {
    return listed.file_number == file_number;
  });
}

// Returns the part of `written` that is in `tablet`. The two may have different boundaries.
FilePlace PlaceIn(const TabletParts& tablet, const TabletEdit& written, const FileWithEdit& file,
                  bool is_described) {
  const KeyRange covered = Intersect(tablet.listed.range, written.range);
  FilePlace place{.reference = written.stack.front(),
                  .is_load = !file.edit.tables.front().flushed_through.has_value(),
                  .may_be_added = !is_described && !Lists(tablet.listed, file.file.number)};
  place.reference.range = Intersect(covered, RowsOf(file.file));
  for (auto input = written.stack.begin() + 1; input != written.stack.end(); ++input) {
    KeyRange rows = Intersect(*input->range, covered);
    if (rows.IsEmpty()) continue;
    place.inputs.push_back(*input);
    place.inputs.back().range = std::move(rows);
  }
  return place;
}

// `part_count` is the number of parts and inputs of all files.
absl::Status AddFile(const FileWithEdit& file, bool is_described, TableParts* table,
                     uint64_t* part_count) {
  for (const TabletEdit& written : file.edit.tables.front().tablets) {
    for (auto input = written.stack.begin() + 1; input != written.stack.end(); ++input)
      table->commits[input->file_number] = {input->sequence_first, input->sequence_last};
    auto tablet =
        std::lower_bound(table->tablets.begin(), table->tablets.end(), written.range.start,
                         [](const TabletParts& before, const std::string& start) {
                           return before.listed.range.EndsBefore(start);
                         });
    for (; tablet != table->tablets.end() && tablet->listed.range.Overlaps(written.range);
         ++tablet) {
      FilePlace place = PlaceIn(*tablet, written, file, is_described);
      if (place.reference.range.IsEmpty() && place.inputs.empty()) continue;
      *part_count += 1 + place.inputs.size();
      if (*part_count > kPartsMax) return InvalidArgument("the SSTables name too many tablets");
      tablet->parts.push_back(std::move(place));
    }
  }
  return absl::OkStatus();
}

// Tables are never renamed, so a file whose table has another name belongs to another database.
bool IsOfTable(const TableEdit& edit, const TableParts& table) {
  return table.definition == nullptr || edit.definition == nullptr ||
         edit.definition->name == table.definition->name;
}

absl::Status AddFileToTables(const FileWithEdit& file, bool is_described, Tables* tables,
                             uint64_t* part_count) {
  const TableEdit& edit = file.edit.tables.front();
  TableParts& table = (*tables)[edit.table_id];
  if (!IsOfTable(edit, table)) return absl::OkStatus();
  if (table.tablets.empty())
    table.tablets.push_back({.listed = {.range = KeyRange::All(), .stack = {}}, .parts = {}});
  if (edit.definition != nullptr &&
      (table.definition == nullptr || edit.definition->epoch > table.definition->epoch))
    table.definition = edit.definition;
  return AddFile(file, is_described, &table, part_count);
}

// The result of AddPlaces for all tablets of a table.
absl::StatusOr<TableEdit> EditOf(uint32_t table_id, TableParts table,
                                 const std::map<uint64_t, const FileWithEdit*>& files) {
  TableEdit edit{.table_id = table_id};
  edit.definition = std::move(table.definition);
  AddedFiles added;
  for (TabletParts& tablet : table.tablets) {
    for (FilePlace& place : tablet.parts) {
      const auto commits = table.commits.find(place.reference.file_number);
      if (!place.is_load || commits == table.commits.end()) continue;
      place.is_load = false;  // from here on it is like any other file
      std::tie(place.reference.sequence_first, place.reference.sequence_last) = commits->second;
    }
    STELE_RETURN_IF_ERROR(AddPlaces(std::move(tablet.parts), &tablet.listed.stack, &added));
    edit.tablets.push_back(std::move(tablet.listed));
  }
  for (const uint64_t number : added.numbers) {
    const auto file = files.find(number);
    if (file == files.end() || added.refused.contains(number)) continue;
    table.flushed_through = std::max(table.flushed_through,
                                     file->second->edit.tables.front().flushed_through.value_or(0));
  }
  edit.flushed_through = table.flushed_through;
  return edit;
}

bool AreCommits(const ReferenceEdit& reference) {
  return reference.sequence_first <= reference.sequence_last &&
         reference.sequence_last <= kCommitMax;
}

// Returns true if a job could have written this tablet of a file's edit. `before` is the tablet
// before it.
bool IsTabletOf(const TabletEdit& tablet, uint64_t file_number, const TabletEdit* before) {
  if (tablet.range.IsEmpty() || tablet.stack.empty()) return false;
  if (before != nullptr && !before->range.EndsBefore(tablet.range.start)) return false;
  if (tablet.stack.front().file_number != file_number) return false;
  return std::all_of(tablet.stack.begin(), tablet.stack.end(), AreCommits) &&
         std::all_of(
             tablet.stack.begin() + 1, tablet.stack.end(),
             [file_number](const ReferenceEdit& input) { return input.file_number < file_number; });
}

}  // namespace

bool NamesItsTable(const FileWithEdit& file) {
  if (file.edit.tables.size() != 1) return false;
  const TableEdit& table = file.edit.tables.front();
  if (table.drop || (table.definition == nullptr) != (table.table_id == kTokenTableId))
    return false;
  if (table.definition != nullptr && table.definition->id != table.table_id) return false;
  const TabletEdit* before = nullptr;
  uint64_t last_commit = 0;
  for (const TabletEdit& tablet : table.tablets) {
    if (!IsTabletOf(tablet, file.file.number, before)) return false;
    last_commit = std::max(last_commit, tablet.stack.front().sequence_last);
    before = &tablet;
  }
  return table.flushed_through.value_or(last_commit) == last_commit;
}

std::map<uint32_t, std::shared_ptr<const TableDefinition>> NewestDefinitions(
    const std::vector<FileWithEdit>& files) {
  std::map<uint32_t, std::shared_ptr<const TableDefinition>> newest;
  for (const FileWithEdit& file : files) {
    const TableEdit& table = file.edit.tables.front();
    if (table.definition == nullptr) continue;
    std::shared_ptr<const TableDefinition>& known = newest[table.table_id];
    if (known == nullptr || table.definition->epoch > known->epoch) known = table.definition;
  }
  return newest;
}

absl::StatusOr<std::shared_ptr<const Version>> AddFiles(const Version& version,
                                                        const std::vector<FileWithEdit>& files,
                                                        const std::set<uint64_t>& described) {
  Edit snapshot = SnapshotEdit(version);
  Tables tables = TakeTables(&snapshot);
  TableParts& tokens = tables[kTokenTableId];  // every database has it
  if (tokens.tablets.empty())
    tokens.tablets.push_back({.listed = {.range = KeyRange::All(), .stack = {}}, .parts = {}});
  std::map<uint64_t, const FileWithEdit*> files_by_number;
  uint64_t part_count = 0;
  for (const FileWithEdit& file : files) {
    const uint64_t number = file.file.number;
    const auto listed = version.files.find(number);
    if (listed != version.files.end() &&
        listed->second.table_id != file.edit.tables.front().table_id)
      continue;  // of another database
    files_by_number[number] = &file;
    STELE_RETURN_IF_ERROR(AddFileToTables(file, described.contains(number), &tables, &part_count));
    if (listed == version.files.end()) snapshot.new_files.push_back(file.file);
  }
  for (auto& [id, table] : tables) {
    STELE_ASSIGN_OR_RETURN(TableEdit edit, EditOf(id, std::move(table), files_by_number));
    snapshot.tables.push_back(std::move(edit));
  }
  RemoveOlderNamesakes(&snapshot);
  return VersionOfSnapshot(std::move(snapshot));
}

}  // namespace stele::internal
