#include "db/file_edits.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "db/version_snapshot.h"
#include "manifest/stack_edits.h"
#include "manifest/token_table.h"

namespace stele::internal {
namespace {

// The number of a commit has 56 bits.
constexpr uint64_t kCommitMax = (uint64_t{1} << 56) - 1;
// Limits the time and the memory for hostile edits.
constexpr uint64_t kPartsMax = uint64_t{1} << 20;
constexpr uint64_t kComparisonsMax = uint64_t{1} << 28;

// A reference to a file in a tablet, and the rows of the tablet that its job read and wrote.
struct Part {
  ReferenceEdit reference;
  KeyRange covered;
  bool is_listed = false;  // in the Version before
  bool is_load = false;    // of a bulk load that is not listed
};

// A tablet of the result.
struct TabletParts {
  KeyRange range;
  std::vector<Part> parts;
};

struct TableParts {
  std::shared_ptr<const TableDefinition> definition;  // null: the token table
  uint64_t flushed_through = 0;
  std::vector<TabletParts> tablets;  // ascending
};
using Tables = std::map<uint32_t, TableParts>;

// Whether the job that wrote `newer` had the file of `older` as an input. Unknown for a bulk load.
bool Replaces(const Part& newer, const Part& older) {
  return !older.is_load && older.reference.file_number < newer.reference.file_number &&
         older.reference.sequence_first >= newer.reference.sequence_first &&
         older.reference.sequence_last <= newer.reference.sequence_last &&
         older.reference.range.Overlaps(newer.covered);
}

// Removes the rows that `newer` covers from the parts that it replaces.
void Replace(const Part& newer, std::vector<Part>* parts) {
  if (std::none_of(parts->begin(), parts->end(),
                   [&newer](const Part& part) { return Replaces(newer, part); }))
    return;
  std::vector<KeyRange> outside = {{"", newer.covered.start, false}};
  if (!newer.covered.unbounded_end) outside.push_back({newer.covered.end, "", true});
  std::vector<Part> rest;
  for (Part& part : *parts) {
    if (!Replaces(newer, part)) {
      rest.push_back(std::move(part));
      continue;
    }
    for (const KeyRange& kept : outside) {
      Part left = part;
      left.reference.range = Intersect(part.reference.range, kept);
      if (!left.reference.range.IsEmpty()) rest.push_back(std::move(left));
    }
  }
  *parts = std::move(rest);
}

// Whether the stack has a reference for the same rows and commits.
bool HasOverlap(const std::vector<ReferenceEdit>& stack, const ReferenceEdit& reference) {
  return std::any_of(stack.begin(), stack.end(), [&reference](const ReferenceEdit& other) {
    return other.sequence_first <= reference.sequence_last &&
           reference.sequence_first <= other.sequence_last && other.range.Overlaps(reference.range);
  });
}

// Moves a bulk load to the first commit after its own that the stack does not have in its rows.
void PlaceLoad(const std::vector<ReferenceEdit>& stack, ReferenceEdit* load) {
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (const ReferenceEdit& other : stack) {
    if (other.sequence_last > load->sequence_last && other.range.Overlaps(load->range))
      taken.emplace_back(other.sequence_first, other.sequence_last);
  }
  std::sort(taken.begin(), taken.end());
  uint64_t next = load->sequence_last + 1;
  for (const auto& [first, last] : taken) {
    if (first > next) break;
    next = last + 1;
  }
  load->sequence_first = next;
  load->sequence_last = next;
}

// Returns the stack of a tablet, newest first. Listed references come before others that contradict
// them, and newer files before older ones.
std::vector<ReferenceEdit> StackOf(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.reference.file_number < b.reference.file_number;
  });
  std::vector<Part> kept;
  for (Part& part : parts) {
    if (!part.is_load) Replace(part, &kept);
    kept.push_back(std::move(part));
  }
  std::vector<ReferenceEdit> stack;
  for (const Part& part : kept) {
    if (part.is_listed) stack.push_back(part.reference);
  }
  for (auto part = kept.rbegin(); part != kept.rend(); ++part) {
    if (part->is_listed || part->is_load || part->reference.range.IsEmpty()) continue;
    if (!HasOverlap(stack, part->reference)) stack.push_back(part->reference);
  }
  for (Part& part : kept) {
    if (!part.is_load || part.reference.range.IsEmpty()) continue;
    PlaceLoad(stack, &part.reference);
    stack.push_back(part.reference);
  }
  std::stable_sort(stack.begin(), stack.end(), [](const ReferenceEdit& a, const ReferenceEdit& b) {
    return a.sequence_last > b.sequence_last;
  });
  return stack;
}

// Moves the tables of the snapshot out of it.
Tables TakeTables(Edit* snapshot) {
  Tables tables;
  for (TableEdit& edit : snapshot->tables) {
    TableParts& table = tables[edit.table_id];
    table.definition = std::move(edit.definition);
    table.flushed_through = edit.flushed_through.value_or(0);
    for (TabletEdit& tablet : edit.tablets) {
      TabletParts& parts = table.tablets.emplace_back(TabletParts{std::move(tablet.range), {}});
      for (ReferenceEdit& reference : tablet.stack) {
        Part part{.covered = *reference.range, .is_listed = true};
        part.reference = std::move(reference);
        parts.parts.push_back(std::move(part));
      }
    }
  }
  snapshot->tables.clear();
  return tables;
}

// Adds the rows of a file that one tablet had when it was written. The tablets of the result may be
// others. Returns the number of parts that were added.
uint64_t AddPart(const TabletEdit& written, const SstableFile& file, bool is_load,
                 TableParts* table) {
  uint64_t added = 0;
  auto tablet = std::lower_bound(table->tablets.begin(), table->tablets.end(), written.range.start,
                                 [](const TabletParts& before, const std::string& start) {
                                   return before.range.EndsBefore(start);
                                 });
  for (; tablet != table->tablets.end() && tablet->range.Overlaps(written.range); ++tablet) {
    Part part{.reference = written.stack.front(),
              .covered = Intersect(tablet->range, written.range),
              .is_load = is_load};
    part.reference.range = Intersect(part.covered, RowsOf(file));
    tablet->parts.push_back(std::move(part));
    ++added;
  }
  return added;
}

// `part_count` is the number of parts of all files.
absl::Status AddFile(const FileWithEdit& file, Tables* tables, uint64_t* part_count) {
  const TableEdit& edit = file.edit.tables.front();
  TableParts& table = (*tables)[edit.table_id];
  if (table.tablets.empty()) table.tablets.push_back({KeyRange::All(), {}});
  const bool is_load = !edit.flushed_through.has_value();
  for (const TabletEdit& tablet : edit.tablets) {
    *part_count += AddPart(tablet, file.file, is_load, &table);
    if (*part_count > kPartsMax) return InvalidArgument("the SSTables name too many tablets");
  }
  table.flushed_through = std::max(table.flushed_through, edit.flushed_through.value_or(0));
  if (edit.definition != nullptr &&
      (table.definition == nullptr || edit.definition->epoch > table.definition->epoch))
    table.definition = edit.definition;
  return absl::OkStatus();
}

absl::Status CheckCost(const Tables& tables) {
  uint64_t comparisons = 0;
  for (const auto& [id, table] : tables) {
    for (const TabletParts& tablet : table.tablets)
      comparisons += uint64_t{tablet.parts.size()} * tablet.parts.size();
  }
  return comparisons <= kComparisonsMax
             ? absl::OkStatus()
             : InvalidArgument("there are too many SSTables in a tablet to compare them");
}

TableEdit EditOf(uint32_t table_id, TableParts table) {
  TableEdit edit{.table_id = table_id};
  edit.definition = std::move(table.definition);
  edit.flushed_through = table.flushed_through;
  for (TabletParts& tablet : table.tablets)
    edit.tablets.push_back({std::move(tablet.range), StackOf(std::move(tablet.parts))});
  return edit;
}

}  // namespace

bool NamesItsTable(const FileWithEdit& file) {
  if (file.edit.tables.size() != 1) return false;
  const TableEdit& table = file.edit.tables.front();
  if (table.drop || (table.definition == nullptr) != (table.table_id == kTokenTableId))
    return false;
  if (table.definition != nullptr && table.definition->id != table.table_id) return false;
  return std::all_of(table.tablets.begin(), table.tablets.end(), [&file](const TabletEdit& tablet) {
    if (tablet.stack.size() != 1) return false;
    const ReferenceEdit& reference = tablet.stack.front();
    return reference.file_number == file.file.number &&
           reference.sequence_first <= reference.sequence_last &&
           reference.sequence_last <= kCommitMax;
  });
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
                                                        std::vector<FileWithEdit> files) {
  Edit snapshot = SnapshotEdit(version);
  Tables tables = TakeTables(&snapshot);
  TableParts& tokens = tables[kTokenTableId];  // every database has it
  if (tokens.tablets.empty()) tokens.tablets.push_back({KeyRange::All(), {}});
  uint64_t part_count = 0;
  for (FileWithEdit& file : files) {
    STELE_RETURN_IF_ERROR(AddFile(file, &tables, &part_count));
    snapshot.new_files.push_back(std::move(file.file));
  }
  STELE_RETURN_IF_ERROR(CheckCost(tables));
  for (auto& [id, table] : tables) snapshot.tables.push_back(EditOf(id, std::move(table)));
  RemoveOlderNamesakes(&snapshot);
  return VersionOfSnapshot(std::move(snapshot));
}

}  // namespace stele::internal
