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

using TabletChange = SharedSequence<Tablet>::Change;

// Resolves the file numbers of an edit, and counts for each file the tablets that reference it
// afterwards.
class FileChanges {
 public:
  explicit FileChanges(const SharedMap<uint64_t, FileUse>& before) : before_(before) {}
  void Describe(SstableFile file) {
    const uint64_t number = file.number;
    repeated_ =
        !described_.emplace(number, std::make_shared<const SstableFile>(std::move(file))).second ||
        repeated_;
  }
  bool repeated() const { return repeated_; }
  // Finds a file. A second description of a file number is an error.
  absl::StatusOr<std::shared_ptr<const SstableFile>> Find(uint64_t number, uint32_t table_id) {
    const auto old = before_.find(number);
    const auto fresh = described_.find(number);
    if (old != before_.end() && fresh != described_.end())
      return InvalidArgument("file {} is described twice", number);
    if (old != before_.end() && old->second.table_id == table_id) return old->second.file;
    if (old != before_.end() || fresh == described_.end())
      return InvalidArgument("file {} is not known", number);
    used_.insert(number);
    return fresh->second;
  }
  absl::Status CheckAllUsed() const {
    if (used_.size() == described_.size()) return absl::OkStatus();
    return InvalidArgument("the edit describes {} files and refers to {} of them",
                           described_.size(), used_.size());
  }
  void Refer(const Tablet& tablet, uint32_t table_id) {
    for (const auto& [number, file] : FilesOf(tablet)) ++UseOf(file, table_id).tablets;
  }
  void Forget(const Tablet& tablet, uint32_t table_id) {
    for (const auto& [number, file] : FilesOf(tablet)) --UseOf(file, table_id).tablets;
  }
  // `files` are those of the version before the edit.
  void ApplyTo(SharedMap<uint64_t, FileUse>* files) const {
    std::vector<std::pair<uint64_t, std::shared_ptr<const SharedMap<uint64_t, FileUse>::Entry>>>
        changes;
    changes.reserve(uses_.size());
    for (const auto& [number, use] : uses_) {
      const bool stays = use.tablets > 0;
      changes.emplace_back(
          number, stays ? std::make_shared<const SharedMap<uint64_t, FileUse>::Entry>(number, use)
                        : nullptr);
    }
    files->Change(changes);
  }

 private:
  using Files = std::map<uint64_t, std::shared_ptr<const SstableFile>>;
  // A tablet may have several references to one file.
  static Files FilesOf(const Tablet& tablet) {
    Files files;
    for (const SstableReference& reference : tablet.stack)
      files.emplace(reference.file->number, reference.file);
    return files;
  }
  FileUse& UseOf(const std::shared_ptr<const SstableFile>& file, uint32_t table_id) {
    const auto [it, added] = uses_.emplace(file->number, FileUse{file, table_id, 0});
    if (!added) return it->second;
    const auto old = before_.find(file->number);
    if (old != before_.end()) it->second.tablets = old->second.tablets;
    return it->second;
  }

  const SharedMap<uint64_t, FileUse> before_;
  Files described_;
  std::set<uint64_t> used_;
  std::map<uint64_t, FileUse> uses_;  // for files in tablets that the edit changes
  bool repeated_ = false;
};

absl::StatusOr<Tablet> MakeTablet(const TabletEdit& edit, uint32_t table_id, FileChanges* files) {
  Tablet tablet{edit.range, {}};
  tablet.stack.reserve(edit.stack.size());
  for (const ReferenceEdit& reference : edit.stack) {
    STELE_ASSIGN_OR_RETURN(auto file, files->Find(reference.file_number, table_id));
    tablet.stack.push_back(
        {std::move(file), reference.range, reference.sequence_first, reference.sequence_last});
  }
  files->Refer(tablet, table_id);
  return tablet;
}

// Ids are never reused (engine rule 6). Each id in a definition is one that the table had before,
// or one that was never assigned.
absl::Status CheckFamilyIds(const TableDefinition* before, const TableDefinition& after,
                            uint32_t next_family_id) {
  for (uint32_t family_index = 1; family_index <= after.families.size(); ++family_index) {
    const FamilyEntry& family = after.families[family_index];
    if (family.id >= next_family_id) continue;
    const std::optional<uint32_t> old_index =
        before == nullptr ? std::nullopt : before->families.IndexOfId(family.id);
    if (!old_index.has_value() || before->families[*old_index].name != family.name) {
      return InvalidArgument("family \"{}\" has the used id {}", family.name, family.id);
    }
  }
  return absl::OkStatus();
}

// Sets the parts of a new table that are not in its definition.
absl::Status FillTable(const TableEdit& edit, FileChanges* files, TableState* table) {
  table->flushed_through = edit.flushed_through.value_or(0);
  std::vector<Tablet> tablets;
  tablets.reserve(edit.tablets.size());
  for (const TabletEdit& tablet_edit : edit.tablets) {
    STELE_ASSIGN_OR_RETURN(Tablet tablet, MakeTablet(tablet_edit, edit.table_id, files));
    tablets.push_back(std::move(tablet));
  }
  table->tablets = std::move(tablets);
  return absl::OkStatus();
}

absl::StatusOr<TableState> MakeTable(const Version& version, const TableEdit& edit,
                                     FileChanges* files) {
  if (edit.table_id == kTokenTableId) {
    TableState table = *EmptyTokenTable();
    STELE_RETURN_IF_ERROR(FillTable(edit, files, &table));
    return table;
  }
  if (edit.definition == nullptr) return InvalidArgument("it does not exist");
  if (edit.table_id < version.next_table_id) return InvalidArgument("its id was used before");
  STELE_RETURN_IF_ERROR(CheckFamilyIds(nullptr, *edit.definition, version.next_family_id));
  TableState table;
  table.definition = edit.definition;
  STELE_RETURN_IF_ERROR(FillTable(edit, files, &table));
  return table;
}

bool EndTogether(const KeyRange& a, const KeyRange& b) {
  return a.unbounded_end == b.unbounded_end && a.end == b.end;
}
bool EndsFirst(const KeyRange& a, const KeyRange& b) {
  return !a.unbounded_end && (b.unbounded_end || a.end < b.end);
}

// Computes the changes that put the tablets of `cut` (ascending) into the table. Each contiguous
// range must begin and end at boundaries of the table's tablets.
absl::StatusOr<std::vector<TabletChange>> Recut(const SharedSequence<Tablet>& tablets,
                                                std::vector<Tablet> cut) {
  std::vector<TabletChange> changes;
  for (auto next = cut.begin(); next != cut.end();) {
    const std::string start = next->range.start;
    const auto refuse = [&start] {
      return InvalidArgument("no run of its tablets begins at \"{}\" and ends as the edit says",
                             Printable(start));
    };
    const auto old = std::lower_bound(
        tablets.begin(), tablets.end(), start,
        [](const Tablet& tablet, const std::string& row) { return tablet.range.start < row; });
    if (old == tablets.end() || old->range.start != start) return refuse();
    TabletChange change{.begin = static_cast<size_t>(old - tablets.begin()), .end = 0, .with = {}};
    if (!changes.empty() && change.begin < changes.back().end) return refuse();
    change.end = change.begin + 1;
    while (true) {
      change.with.push_back(std::make_shared<const Tablet>(std::move(*next++)));
      const KeyRange& made = change.with.back()->range;
      if (made.IsEmpty()) return refuse();
      while (EndsFirst(tablets[change.end - 1].range, made) && change.end < tablets.size())
        ++change.end;
      const KeyRange& covered = tablets[change.end - 1].range;
      if (EndTogether(covered, made)) break;
      if (!EndsFirst(made, covered) || next == cut.end() || next->range.start != made.end)
        return refuse();
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

absl::Status ChangeTable(const Version& version, const TableEdit& edit, FileChanges* files,
                         TableState* table) {
  if (edit.definition != nullptr) {
    if (edit.definition->epoch <= table->definition->epoch)
      return InvalidArgument("its schema epoch does not increase");
    STELE_RETURN_IF_ERROR(
        CheckFamilyIds(table->definition.get(), *edit.definition, version.next_family_id));
    table->definition = edit.definition;
  }
  if (edit.flushed_through.has_value()) {
    if (*edit.flushed_through < table->flushed_through)
      return InvalidArgument("its flushed_through goes back");
    table->flushed_through = *edit.flushed_through;
  }
  if (edit.tablets.empty()) return absl::OkStatus();
  std::vector<Tablet> cut;
  cut.reserve(edit.tablets.size());
  for (const TabletEdit& tablet_edit : edit.tablets) {
    STELE_ASSIGN_OR_RETURN(Tablet tablet, MakeTablet(tablet_edit, edit.table_id, files));
    cut.push_back(std::move(tablet));
  }
  std::sort(cut.begin(), cut.end(),
            [](const Tablet& a, const Tablet& b) { return a.range.start < b.range.start; });
  STELE_ASSIGN_OR_RETURN(std::vector<TabletChange> changes, Recut(table->tablets, std::move(cut)));
  for (const TabletChange& change : changes) {
    for (size_t i = change.begin; i < change.end; ++i)
      files->Forget(table->tablets[i], edit.table_id);
  }
  table->tablets.Replace(std::move(changes));
  return absl::OkStatus();
}

// Enters the name of the table in ids_by_name, and removes its old name if it had another one.
absl::Status ApplyName(const TableDefinition* before, const TableDefinition& definition,
                       Version* version) {
  if (definition.id == kTokenTableId) return absl::OkStatus();
  if (before != nullptr && before->name == definition.name) return absl::OkStatus();
  if (const uint32_t* const id = version->ids_by_name.Find(definition.name))
    return InvalidArgument("table {} has the same name", *id);
  if (before != nullptr) version->ids_by_name.Erase(before->name);
  version->ids_by_name.Set(definition.name, definition.id);
  return absl::OkStatus();
}

absl::Status ApplyTable(const TableEdit& edit, FileChanges* files, Version* version) {
  if (edit.table_id == kTokenTableId && (edit.drop || edit.definition != nullptr)) {
    return InvalidArgument("it is the token table, whose definition is fixed");
  }
  const auto it = version->tables.find(edit.table_id);
  if (edit.drop) {
    if (edit.definition != nullptr || edit.flushed_through.has_value() || !edit.tablets.empty()) {
      return InvalidArgument("it is both dropped and changed");
    }
    if (it == version->tables.end()) return InvalidArgument("it does not exist");
    for (const Tablet& tablet : it->second->tablets) files->Forget(tablet, edit.table_id);
    version->ids_by_name.Erase(it->second->definition->name);
    version->tables.Erase(edit.table_id);
    return absl::OkStatus();
  }
  if (edit.definition != nullptr && edit.definition->id != edit.table_id)
    return InvalidArgument("it gets another table's definition");
  if (it == version->tables.end()) {
    STELE_ASSIGN_OR_RETURN(TableState made, MakeTable(*version, edit, files));
    STELE_RETURN_IF_ERROR(ApplyName(nullptr, *made.definition, version));
    version->tables.Set(edit.table_id, std::make_shared<const TableState>(std::move(made)));
    return absl::OkStatus();
  }
  TableState changed = *it->second;
  STELE_RETURN_IF_ERROR(ChangeTable(*version, edit, files, &changed));
  STELE_RETURN_IF_ERROR(ApplyName(it->second->definition.get(), *changed.definition, version));
  version->tables.Set(edit.table_id, std::make_shared<const TableState>(std::move(changed)));
  return absl::OkStatus();
}

TabletEdit SnapshotTablet(const Tablet& tablet) {
  TabletEdit edit{tablet.range, {}};
  edit.stack.reserve(tablet.stack.size());
  for (const SstableReference& reference : tablet.stack) {
    edit.stack.push_back({reference.file->number, reference.range, reference.sequence_first,
                          reference.sequence_last});
  }
  return edit;
}

absl::StatusOr<std::shared_ptr<const Version>> ApplyWith(const Version& version, const Edit& edit,
                                                         FileChanges files) {
  if (edit.next_file_number > kNextFileNumberMax) {
    return InvalidArgument("next file number {}; the greatest is {}", edit.next_file_number,
                           kNextFileNumberMax);
  }
  auto next = std::make_shared<Version>(version);
  if (files.repeated()) return InvalidArgument("the edit describes a file twice");
  for (const TableEdit& table : edit.tables) {
    STELE_RETURN_IF_ERROR(WithContext(ApplyTable(table, &files, next.get()),
                                      fmt::format("table {}", table.table_id)));
  }
  STELE_RETURN_IF_ERROR(files.CheckAllUsed());
  files.ApplyTo(&next->files);
  if (edit.oldest_segment.has_value()) next->oldest_segment = *edit.oldest_segment;
  next->synced_log_end = std::max(next->synced_log_end, edit.synced_log_end);
  next->last_sequence = std::max(next->last_sequence, edit.last_sequence);
  if (edit.clock_mark > 0) next->clock_mark = edit.clock_mark;
  next->next_file_number = std::max(next->next_file_number, edit.next_file_number);
  next->next_table_id = std::max(next->next_table_id, edit.next_table_id);
  next->next_family_id = std::max(next->next_family_id, edit.next_family_id);
  if (edit.token_key.has_value()) {
    if (version.token_key != SipKey() && version.token_key != *edit.token_key)
      return InvalidArgument("the key of the tokens changes");
    next->token_key = *edit.token_key;
  }
  return next;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, const Edit& edit) {
  FileChanges files(version.files);
  for (const SstableFile& file : edit.new_files) files.Describe(file);
  return ApplyWith(version, edit, std::move(files));
}

absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, Edit&& edit) {
  FileChanges files(version.files);
  for (SstableFile& file : edit.new_files) files.Describe(std::move(file));
  return ApplyWith(version, edit, std::move(files));
}

absl::Status CheckChanged(const Version& before, const Edit& edit, const Version& after) {
  for (const TableEdit& table_edit : edit.tables) {
    const auto it = after.tables.find(table_edit.table_id);
    if (it == after.tables.end()) continue;
    const TableState& table = *it->second;
    if (!before.tables.contains(table_edit.table_id)) {
      STELE_RETURN_IF_ERROR(CheckTable(table, after));
      continue;
    }
    const std::string context =
        fmt::format("table {} \"{}\"", table_edit.table_id, Printable(table.definition->name));
    if (table_edit.definition != nullptr)
      STELE_RETURN_IF_ERROR(WithContext(CheckDefinition(*table.definition, after), context));
    for (const TabletEdit& tablet : table_edit.tablets) {
      STELE_RETURN_IF_ERROR(WithContext(
          CheckStack(table.tablets[table.TabletIndexOf(tablet.range.start)], after), context));
    }
  }
  return absl::OkStatus();
}

namespace {

// Returns the definition without splits. There may be tens of thousands of them, and they are used
// only when the table is created.
std::shared_ptr<const TableDefinition> WithoutSplits(const TableDefinition& definition) {
  const Schema& schema = definition.schema;
  Schema copy;
  copy.SetGranularity(schema.granularity())
      .SetCompression(schema.compression())
      .SetLimits(schema.limits());
  for (const FamilySchema& family : schema.families()) copy.AddFamily(family);
  for (const auto& [key, value] : schema.properties()) copy.SetProperty(key, value);
  std::vector<FamilyEntry> families;
  for (uint32_t index = 1; index <= definition.families.size(); ++index)
    families.push_back(definition.families[index]);
  return MakeDefinition(definition.id, definition.name, definition.epoch, copy, families);
}

}  // namespace

std::string EncodeFileEdit(const TableDefinition& definition, uint64_t file_number,
                           const std::vector<FilePart>& parts, uint64_t flushed_through) {
  TableEdit table{.table_id = definition.id};
  if (definition.id != kTokenTableId) table.definition = WithoutSplits(definition);
  if (flushed_through > 0) table.flushed_through = flushed_through;
  for (const FilePart& part : parts) {
    TabletEdit& tablet = table.tablets.emplace_back(TabletEdit{.range = part.range, .stack = {}});
    tablet.stack.push_back({.file_number = file_number,
                            .range = part.range,
                            .sequence_first = part.sequence_first,
                            .sequence_last = part.sequence_last});
    tablet.stack.insert(tablet.stack.end(), part.inputs.begin(), part.inputs.end());
  }
  Edit edit;
  edit.tables.push_back(std::move(table));
  return EncodeEdit(edit);
}

Edit SnapshotEdit(const Version& version) {
  Edit edit;
  for (const auto& [number, file] : version.Files()) edit.new_files.push_back(*file);
  for (const auto& [id, table] : version.tables) {
    TableEdit& table_edit = edit.tables.emplace_back();
    table_edit.table_id = id;
    if (id != kTokenTableId) table_edit.definition = table->definition;
    table_edit.flushed_through = table->flushed_through;
    for (const Tablet& tablet : table->tablets)
      table_edit.tablets.push_back(SnapshotTablet(tablet));
  }
  edit.oldest_segment = version.oldest_segment;
  edit.synced_log_end = version.synced_log_end;
  edit.last_sequence = version.last_sequence;
  edit.clock_mark = version.clock_mark;
  edit.next_file_number = version.next_file_number;
  edit.next_table_id = version.next_table_id;
  edit.next_family_id = version.next_family_id;
  if (version.token_key != SipKey()) edit.token_key = version.token_key;
  return edit;
}

}  // namespace stele::internal
