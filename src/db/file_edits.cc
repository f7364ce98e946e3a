#include "db/file_edits.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "db/version_snapshot.h"
#include "manifest/stack_edits.h"
#include "manifest/token_table.h"

namespace stele::internal {
namespace {

// Rows of a file that are not replaced by a compaction, and the commits that they represent.
struct Part {
  uint64_t file_number = 0;
  KeyRange range;
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
  // Written by a bulk load. Its own commit is later than these, and unknown.
  bool is_load = false;
};

struct Table {
  std::shared_ptr<const TableDefinition> definition;  // null: the token table
  uint64_t flushed_through = 0;
  std::vector<Part> parts;
};

// Removes the rows of `range` from a part. The result has up to two parts.
void Cut(const Part& part, const KeyRange& range, std::vector<Part>* rest) {
  std::vector<KeyRange> kept = {{"", range.start, false}};
  if (!range.unbounded_end) kept.push_back({range.end, "", true});
  for (const KeyRange& rows : kept) {
    Part left = part;
    left.range = Intersect(part.range, rows);
    if (!left.range.IsEmpty()) rest->push_back(std::move(left));
  }
}

// Whether a compaction that wrote `output` had the part as an input, in the rows of `tablet`. It is
// unknown for a bulk load.
bool IsReplaced(const Part& part, const TabletEdit& tablet) {
  const ReferenceEdit& output = tablet.stack.front();
  return !part.is_load && part.file_number < output.file_number &&
         part.sequence_first >= output.sequence_first &&
         part.sequence_last <= output.sequence_last && part.range.Overlaps(tablet.range);
}

void Replace(const TableEdit& edit, std::vector<Part>* parts) {
  for (const TabletEdit& tablet : edit.tablets) {
    if (std::none_of(parts->begin(), parts->end(),
                     [&tablet](const Part& part) { return IsReplaced(part, tablet); }))
      continue;
    std::vector<Part> rest;
    for (Part& part : *parts) {
      if (IsReplaced(part, tablet)) {
        Cut(part, tablet.range, &rest);
      } else {
        rest.push_back(std::move(part));
      }
    }
    *parts = std::move(rest);
  }
}

// The numbers of commits are given anew, so that they descend also where a load was placed by the
// newest commit before it.
TableEdit EditOf(uint32_t table_id, Table table) {
  std::stable_sort(table.parts.begin(), table.parts.end(), [](const Part& a, const Part& b) {
    return std::tuple(a.sequence_last, a.is_load, a.file_number) >
           std::tuple(b.sequence_last, b.is_load, b.file_number);
  });
  TableEdit edit{.table_id = table_id};
  edit.definition = std::move(table.definition);
  edit.flushed_through = table.flushed_through;
  TabletEdit& tablet = edit.tablets.emplace_back(TabletEdit{.range = KeyRange::All(), .stack = {}});
  uint64_t sequence = table.parts.size();
  for (Part& part : table.parts) {
    tablet.stack.push_back({.file_number = part.file_number,
                            .range = std::move(part.range),
                            .sequence_first = sequence,
                            .sequence_last = sequence});
    --sequence;
  }
  return edit;
}

// Adds a file, which is newer than those that were added before.
void AddFile(FileWithEdit* file, std::map<uint32_t, Table>* tables) {
  TableEdit& edit = file->edit.tables.front();
  Table& table = (*tables)[edit.table_id];
  const bool is_load = !edit.flushed_through.has_value();
  if (!is_load) Replace(edit, &table.parts);
  for (const TabletEdit& tablet : edit.tablets) {
    const ReferenceEdit& reference = tablet.stack.front();
    Part part{.file_number = file->file.number,
              .range = Intersect(tablet.range, RowsOf(file->file)),
              .sequence_first = reference.sequence_first,
              .sequence_last = reference.sequence_last,
              .is_load = is_load};
    if (!part.range.IsEmpty()) table.parts.push_back(std::move(part));
  }
  table.flushed_through = std::max(table.flushed_through, edit.flushed_through.value_or(0));
  if (table.definition == nullptr ||
      (edit.definition != nullptr && edit.definition->epoch >= table.definition->epoch))
    table.definition = std::move(edit.definition);
}

}  // namespace

bool NamesItsTable(const FileWithEdit& file) {
  if (file.edit.tables.size() != 1) return false;
  const TableEdit& table = file.edit.tables.front();
  if (table.drop || (table.definition == nullptr) != (table.table_id == kTokenTableId))
    return false;
  return std::all_of(table.tablets.begin(), table.tablets.end(), [&file](const TabletEdit& tablet) {
    return tablet.stack.size() == 1 && tablet.stack.front().file_number == file.file.number;
  });
}

absl::StatusOr<std::shared_ptr<const Version>> VersionFromFiles(std::vector<FileWithEdit> files) {
  std::sort(files.begin(), files.end(), [](const FileWithEdit& a, const FileWithEdit& b) {
    return a.file.number < b.file.number;
  });
  std::map<uint32_t, Table> tables;
  tables[kTokenTableId];  // every database has it
  Edit snapshot;
  for (FileWithEdit& file : files) {
    AddFile(&file, &tables);
    snapshot.new_files.push_back(std::move(file.file));
  }
  for (auto& [id, table] : tables) {
    // The table's own numbers are given anew.
    for (const Part& part : table.parts)
      snapshot.last_sequence = std::max(snapshot.last_sequence, part.sequence_last);
    snapshot.tables.push_back(EditOf(id, std::move(table)));
  }
  RemoveOlderNamesakes(&snapshot);
  return VersionOfSnapshot(std::move(snapshot));
}

}  // namespace stele::internal
