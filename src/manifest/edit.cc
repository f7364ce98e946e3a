#include "manifest/edit.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/status.h"
#include "io/file_names.h"
#include "manifest/token_table.h"

namespace stele::internal {
namespace {

using Files = std::map<uint64_t, std::shared_ptr<const SstableFile>>;

// Resolves the file numbers of an edit.
class FileSource {
 public:
  void Add(SstableFile file) {
    const uint64_t number = file.number;
    repeated_ = !new_files_.emplace(number, std::make_shared<const SstableFile>(std::move(file))).second || repeated_;
  }
  bool repeated() const { return repeated_; }
  // A file that is described again under its number would let two meanings of one number stand.
  absl::StatusOr<std::shared_ptr<const SstableFile>> Find(uint64_t number, const Files& known) {
    const auto old = known.find(number);
    const auto fresh = new_files_.find(number);
    if (old != known.end() && fresh != new_files_.end()) return InvalidArgument("file {} is described twice", number);
    if (old != known.end()) return old->second;
    if (fresh == new_files_.end()) return InvalidArgument("file {} is not known", number);
    used_.insert(number);
    return fresh->second;
  }
  absl::Status CheckAllUsed() const {
    if (used_.size() == new_files_.size()) return absl::OkStatus();
    return InvalidArgument("the edit describes {} files and refers to {} of them", new_files_.size(), used_.size());
  }

 private:
  Files new_files_;
  std::set<uint64_t> used_;
  bool repeated_ = false;
};

Files FilesOf(const TableState& table) {
  Files files;
  for (const Tablet& tablet : table.tablets) {
    for (const SstableReference& reference : tablet.stack) files.emplace(reference.file->number, reference.file);
  }
  return files;
}

absl::StatusOr<Tablet> MakeTablet(const TabletEdit& edit, const Files& known, FileSource* source) {
  Tablet tablet{edit.range, {}};
  tablet.stack.reserve(edit.stack.size());
  for (const ReferenceEdit& reference : edit.stack) {
    STELE_ASSIGN_OR_RETURN(auto file, source->Find(reference.file_number, known));
    tablet.stack.push_back({std::move(file), reference.range, reference.sequence_first, reference.sequence_last});
  }
  return tablet;
}

// Ids are never reused (engine rule 6): a definition brings the ids its table had, or ids never given out before.
absl::Status CheckFamilyIds(const TableDefinition* before, const TableDefinition& after, uint32_t next_family_id) {
  for (uint32_t rank = 1; rank <= after.families.size(); ++rank) {
    const FamilyEntry& family = after.families[rank];
    if (family.id >= next_family_id) continue;
    const std::optional<uint32_t> old_rank = before == nullptr ? std::nullopt : before->families.RankOfId(family.id);
    if (!old_rank.has_value() || before->families[*old_rank].name != family.name) {
      return InvalidArgument("family \"{}\" has the used id {}", family.name, family.id);
    }
  }
  return absl::OkStatus();
}

// What a table is made with beside its definition.
absl::Status FillTable(const TableEdit& edit, FileSource* source, TableState* table) {
  table->flushed_through = edit.flushed_through.value_or(0);
  table->tablets.clear();
  for (const TabletEdit& tablet_edit : edit.tablets) {
    STELE_ASSIGN_OR_RETURN(Tablet tablet, MakeTablet(tablet_edit, {}, source));
    table->tablets.push_back(std::move(tablet));
  }
  return absl::OkStatus();
}

absl::StatusOr<TableState> MakeTable(const Version& version, const TableEdit& edit, FileSource* source) {
  if (edit.table_id == kTokenTableId) {
    TableState table = *EmptyTokenTable();
    STELE_RETURN_IF_ERROR(FillTable(edit, source, &table));
    return table;
  }
  if (edit.definition == nullptr) return InvalidArgument("it does not exist");
  if (edit.table_id < version.next_table_id) return InvalidArgument("its id was used before");
  STELE_RETURN_IF_ERROR(CheckFamilyIds(nullptr, *edit.definition, version.next_family_id));
  TableState table;
  table.definition = edit.definition;
  STELE_RETURN_IF_ERROR(FillTable(edit, source, &table));
  return table;
}

bool EndTogether(const KeyRange& a, const KeyRange& b) { return a.unbounded_end == b.unbounded_end && a.end == b.end; }
bool EndsFirst(const KeyRange& a, const KeyRange& b) { return !a.unbounded_end && (b.unbounded_end || a.end < b.end); }

// The table's tablets, of which those that `cut` (ascending) covers are replaced by it.
absl::StatusOr<std::vector<Tablet>> Recut(std::vector<Tablet> tablets, std::vector<Tablet> cut) {
  std::vector<Tablet> result;
  auto old = tablets.begin();
  for (auto next = cut.begin(); next != cut.end();) {
    const std::string start = next->range.start;
    const auto refuse = [&start] {
      return InvalidArgument("no run of its tablets begins at \"{}\" and ends as the edit says", Printable(start));
    };
    while (old != tablets.end() && old->range.start < start) result.push_back(std::move(*old++));
    if (old == tablets.end() || old->range.start != start) return refuse();
    KeyRange covered = (old++)->range;
    while (true) {
      result.push_back(std::move(*next++));
      const KeyRange& made = result.back().range;
      if (made.IsEmpty()) return refuse();
      while (EndsFirst(covered, made) && old != tablets.end()) covered = (old++)->range;
      if (EndTogether(covered, made)) break;
      if (!EndsFirst(made, covered) || next == cut.end() || next->range.start != made.end) return refuse();
    }
  }
  result.insert(result.end(), std::make_move_iterator(old), std::make_move_iterator(tablets.end()));
  return result;
}

absl::Status ChangeTable(const Version& version, const TableEdit& edit, FileSource* source, TableState* table) {
  if (edit.definition != nullptr) {
    if (edit.definition->epoch <= table->definition->epoch) return InvalidArgument("its schema epoch does not rise");
    STELE_RETURN_IF_ERROR(CheckFamilyIds(table->definition.get(), *edit.definition, version.next_family_id));
    table->definition = edit.definition;
  }
  if (edit.flushed_through.has_value()) {
    if (*edit.flushed_through < table->flushed_through) return InvalidArgument("its flushed_through goes back");
    table->flushed_through = *edit.flushed_through;
  }
  if (edit.tablets.empty()) return absl::OkStatus();
  const Files known = FilesOf(*table);
  std::vector<Tablet> cut;
  cut.reserve(edit.tablets.size());
  for (const TabletEdit& tablet_edit : edit.tablets) {
    STELE_ASSIGN_OR_RETURN(Tablet tablet, MakeTablet(tablet_edit, known, source));
    cut.push_back(std::move(tablet));
  }
  std::sort(cut.begin(), cut.end(), [](const Tablet& a, const Tablet& b) { return a.range.start < b.range.start; });
  STELE_ASSIGN_OR_RETURN(table->tablets, Recut(std::move(table->tablets), std::move(cut)));
  return absl::OkStatus();
}

absl::Status ApplyTable(const TableEdit& edit, FileSource* source, Version* version) {
  if (edit.table_id == kTokenTableId && (edit.drop || edit.definition != nullptr)) {
    return InvalidArgument("it is the tokens' table, whose definition is fixed");
  }
  const auto it = version->tables.find(edit.table_id);
  if (edit.drop) {
    if (edit.definition != nullptr || edit.flushed_through.has_value() || !edit.tablets.empty()) {
      return InvalidArgument("it is dropped and changed at once");
    }
    if (it == version->tables.end()) return InvalidArgument("it does not exist");
    version->tables.erase(it);
    return absl::OkStatus();
  }
  if (edit.definition != nullptr && edit.definition->id != edit.table_id) return InvalidArgument("it gets another table's definition");
  if (it == version->tables.end()) {
    STELE_ASSIGN_OR_RETURN(TableState made, MakeTable(*version, edit, source));
    version->tables.emplace(edit.table_id, std::make_shared<const TableState>(std::move(made)));
    return absl::OkStatus();
  }
  TableState changed = *it->second;
  STELE_RETURN_IF_ERROR(ChangeTable(*version, edit, source, &changed));
  it->second = std::make_shared<const TableState>(std::move(changed));
  return absl::OkStatus();
}

TabletEdit SnapshotTablet(const Tablet& tablet) {
  TabletEdit edit{tablet.range, {}};
  edit.stack.reserve(tablet.stack.size());
  for (const SstableReference& reference : tablet.stack) {
    edit.stack.push_back({reference.file->number, reference.range, reference.sequence_first, reference.sequence_last});
  }
  return edit;
}

absl::StatusOr<std::shared_ptr<const Version>> ApplyWith(const Version& version, const Edit& edit, FileSource source) {
  if (edit.next_file_number > kNextFileNumberMax) {
    return InvalidArgument("next file number {}; the greatest is {}", edit.next_file_number, kNextFileNumberMax);
  }
  auto next = std::make_shared<Version>(version);
  if (source.repeated()) return InvalidArgument("the edit describes a file twice");
  for (const TableEdit& table : edit.tables) {
    STELE_RETURN_IF_ERROR(WithContext(ApplyTable(table, &source, next.get()), fmt::format("table {}", table.table_id)));
  }
  STELE_RETURN_IF_ERROR(source.CheckAllUsed());
  if (edit.oldest_segment.has_value()) next->oldest_segment = *edit.oldest_segment;
  next->log_reach = std::max(next->log_reach, edit.log_reach);
  next->last_sequence = std::max(next->last_sequence, edit.last_sequence);
  next->clock_mark = std::max(next->clock_mark, edit.clock_mark);
  next->next_file_number = std::max(next->next_file_number, edit.next_file_number);
  next->next_table_id = std::max(next->next_table_id, edit.next_table_id);
  next->next_family_id = std::max(next->next_family_id, edit.next_family_id);
  if (edit.token_key.has_value()) {
    if (version.token_key != SipKey() && version.token_key != *edit.token_key) return InvalidArgument("the key of the tokens changes");
    next->token_key = *edit.token_key;
  }
  return next;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, const Edit& edit) {
  FileSource source;
  for (const SstableFile& file : edit.new_files) source.Add(file);
  return ApplyWith(version, edit, std::move(source));
}

absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, Edit&& edit) {
  FileSource source;
  for (SstableFile& file : edit.new_files) source.Add(std::move(file));
  return ApplyWith(version, edit, std::move(source));
}

Edit SnapshotEdit(const Version& version) {
  Edit edit;
  for (const auto& [number, file] : version.Files()) edit.new_files.push_back(*file);
  for (const auto& [id, table] : version.tables) {
    TableEdit& table_edit = edit.tables.emplace_back();
    table_edit.table_id = id;
    if (id != kTokenTableId) table_edit.definition = table->definition;
    table_edit.flushed_through = table->flushed_through;
    for (const Tablet& tablet : table->tablets) table_edit.tablets.push_back(SnapshotTablet(tablet));
  }
  edit.oldest_segment = version.oldest_segment;
  edit.log_reach = version.log_reach;
  edit.last_sequence = version.last_sequence;
  edit.clock_mark = version.clock_mark;
  edit.next_file_number = version.next_file_number;
  edit.next_table_id = version.next_table_id;
  edit.next_family_id = version.next_family_id;
  if (version.token_key != SipKey()) edit.token_key = version.token_key;
  return edit;
}

}  // namespace stele::internal
