#include "db/gapped_edits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "db/version_snapshot.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

// Limits the time for hostile edits. An edit of a real database divides a few short stacks.
constexpr uint64_t kReferencesCopiedMax = uint64_t{1} << 22;

// Returns the part of a tablet in `range`.
TabletEdit PartOf(const TabletEdit& tablet, const KeyRange& range) {
  TabletEdit part{.range = Intersect(tablet.range, range), .stack = {}};
  if (part.range.IsEmpty()) return part;
  for (const ReferenceEdit& reference : tablet.stack) {
    KeyRange rows = Intersect(reference.range, range);
    if (rows.IsEmpty()) continue;
    part.stack.push_back({.file_number = reference.file_number,
                          .range = std::move(rows),
                          .sequence_first = reference.sequence_first,
                          .sequence_last = reference.sequence_last});
  }
  return part;
}

// Replaces the rows of `tablet`. A missing edit may have moved the boundaries of tablets, so those
// that it overlaps are divided. Returns the number of references that were copied for that.
uint64_t Replace(std::map<std::string, TabletEdit>* tablets, TabletEdit tablet) {
  const KeyRange range = tablet.range;
  if (range.IsEmpty()) return 0;
  uint64_t copied = 0;
  std::vector<KeyRange> rest = {{"", range.start, false}};
  if (!range.unbounded_end) rest.push_back({range.end, "", true});
  std::vector<TabletEdit> parts;
  auto it = tablets->upper_bound(range.start);
  if (it != tablets->begin()) --it;
  while (it != tablets->end() && it->second.range.Overlaps(range)) {
    for (const KeyRange& kept : rest) {
      TabletEdit part = PartOf(it->second, kept);
      copied += part.stack.size();
      if (!part.range.IsEmpty()) parts.push_back(std::move(part));
    }
    it = tablets->erase(it);
  }
  parts.push_back(std::move(tablet));
  for (TabletEdit& part : parts) {
    std::string start = part.range.start;
    tablets->insert_or_assign(std::move(start), std::move(part));
  }
  return copied;
}

}  // namespace

GappedEdits::GappedEdits(const Version& before, Definitions definitions)
    : definitions_(std::move(definitions)) {
  Edit snapshot = SnapshotEdit(before);
  for (SstableFile& file : snapshot.new_files) files_.emplace(file.number, std::move(file));
  for (TableEdit& table : snapshot.tables) {
    Table& known = tables_[table.table_id];
    known.definition = std::move(table.definition);
    known.flushed_through = table.flushed_through.value_or(0);
    for (TabletEdit& tablet : table.tablets) Replace(&known.tablets, std::move(tablet));
  }
  snapshot.new_files.clear();
  snapshot.tables.clear();
  scalars_ = std::move(snapshot);
}

void GappedEdits::Add(Edit edit) {
  for (SstableFile& file : edit.new_files) {
    const uint64_t number = file.number;
    files_.emplace(number, std::move(file));
  }
  for (TableEdit& table : edit.tables) AddTable(std::move(table));
  if (edit.oldest_segment.has_value()) scalars_.oldest_segment = edit.oldest_segment;
  scalars_.synced_log_end = std::max(scalars_.synced_log_end, edit.synced_log_end);
  scalars_.last_sequence = std::max(scalars_.last_sequence, edit.last_sequence);
  if (edit.clock_mark > 0) scalars_.clock_mark = edit.clock_mark;
  scalars_.next_file_number = std::max(scalars_.next_file_number, edit.next_file_number);
  scalars_.next_table_id = std::max(scalars_.next_table_id, edit.next_table_id);
  scalars_.next_family_id = std::max(scalars_.next_family_id, edit.next_family_id);
  if (edit.token_key.has_value()) scalars_.token_key = edit.token_key;
}

void GappedEdits::AddTable(TableEdit edit) {
  if (edit.drop) {
    tables_.erase(edit.table_id);
    unknown_tables_.erase(edit.table_id);
    dropped_tables_.insert(edit.table_id);
    return;
  }
  auto it = tables_.find(edit.table_id);
  if (it == tables_.end()) {
    if (edit.definition == nullptr) {
      const auto known = definitions_.find(edit.table_id);
      if (known != definitions_.end()) edit.definition = known->second;
    }
    if (edit.definition == nullptr && edit.table_id != kTokenTableId) {
      unknown_tables_.insert(edit.table_id);
      return;
    }
    unknown_tables_.erase(edit.table_id);
    it = tables_.emplace(edit.table_id, Table()).first;
    Replace(&it->second.tablets, {.range = KeyRange::All(), .stack = {}});
  }
  Table& table = it->second;
  if (edit.definition != nullptr) table.definition = std::move(edit.definition);
  table.flushed_through = std::max(table.flushed_through, edit.flushed_through.value_or(0));
  for (TabletEdit& tablet : edit.tablets) {
    if (references_copied_ > kReferencesCopiedMax) return;
    references_copied_ += Replace(&table.tablets, std::move(tablet));
  }
}

bool GappedEdits::IsDescribed(uint64_t number, const ReadFileSummary& read_summary) {
  if (files_.contains(number)) return true;
  absl::StatusOr<SstableSummary> summary = read_summary(number);
  if (!summary.ok()) {
    losses_.push_back(fmt::format("{} is not described, so its rows are not shown: {}",
                                  SstableName(number), ToStd(summary.status().message())));
    return false;
  }
  // The commit time is unknown. With INT64_MAX, jobs drop no version because of its ordinal
  // (OrdinalTime).
  files_[number] = {
      .number = number, .summary = *std::move(summary), .newest_commit_time = INT64_MAX};
  return true;
}

Edit GappedEdits::Snapshot() const {
  Edit edit = scalars_;
  for (const auto& [id, table] : tables_) {
    TableEdit& table_edit = edit.tables.emplace_back(TableEdit{.table_id = id});
    table_edit.definition = table.definition;
    table_edit.flushed_through = table.flushed_through;
    for (const auto& [start, tablet] : table.tablets) table_edit.tablets.push_back(tablet);
  }
  return edit;
}

// Also removes the references of a second table to a file. A file belongs to one table.
void GappedEdits::DescribeFiles(const ReadFileSummary& read_summary, Edit* snapshot) {
  std::map<uint64_t, std::optional<uint32_t>> owners;  // nullopt: the file is not described
  for (TableEdit& table : snapshot->tables) {
    for (TabletEdit& tablet : table.tablets) {
      std::erase_if(tablet.stack, [&](const ReferenceEdit& reference) {
        const auto [owner, is_first] = owners.emplace(reference.file_number, std::nullopt);
        if (is_first && IsDescribed(reference.file_number, read_summary))
          owner->second = table.table_id;
        return owner->second != table.table_id;
      });
    }
  }
  for (const auto& [number, file] : files_) snapshot->new_files.push_back(file);
}

absl::StatusOr<std::shared_ptr<const Version>> GappedEdits::Finish(
    const ReadFileSummary& read_summary) {
  if (references_copied_ > kReferencesCopiedMax)
    return InvalidArgument("the edits divide tablets with many SSTables too often");
  for (const uint32_t id : unknown_tables_)
    losses_.push_back(fmt::format("table {} was created there, so it is not shown", id));
  Edit snapshot = Snapshot();
  RemoveOlderNamesakes(&snapshot);
  DescribeFiles(read_summary, &snapshot);
  return VersionOfSnapshot(std::move(snapshot));
}

}  // namespace stele::internal
