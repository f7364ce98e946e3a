#include "support/manifest_history.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <span>

#include "base/invariant.h"
#include "manifest/stack_edits.h"

namespace stele::internal {

std::shared_ptr<const TableDefinition> TestDefinition(
    uint32_t table_id, std::string name, uint64_t epoch,
    const std::vector<std::pair<std::string, GcRule>>& families, uint32_t family_id_first) {
  Schema schema;
  std::vector<FamilyEntry> entries;
  for (const auto& [family, rule] : families) {
    schema.AddFamily(family, rule);
    entries.push_back({family_id_first++, family});
  }
  return MakeDefinition(table_id, std::move(name), epoch, schema, entries);
}

SstableFile TestFile(uint64_t number, std::string first_row, std::string last_row) {
  SstableFile file;
  file.number = number;
  file.newest_commit_time = static_cast<int64_t>(number) * 1000;
  SstableSummary& summary = file.summary;
  summary.file_id = number * 7919;
  summary.file_bytes = 1000 + number;
  summary.index_offset = 900;
  summary.index_bytes = 50;
  summary.index_checksum = number * 104729;
  summary.rows = first_row == last_row ? 1 : 2;
  summary.cells = 10;
  summary.logical_bytes = 500;
  summary.first_row = std::move(first_row);
  summary.last_row = std::move(last_row);
  FamilySummary family;
  family.family_id = 1;
  family.cells = 10;
  family.logical_bytes = 490;
  family.timestamp_max = 5000;
  family.versions_max = 1;
  summary.families.push_back(family);
  return file;
}

TableEdit NewTable(std::shared_ptr<const TableDefinition> definition,
                   const std::vector<std::string>& splits) {
  TableEdit edit;
  edit.table_id = definition->id;
  edit.definition = std::move(definition);
  std::string start;
  for (const std::string& split : splits) {
    edit.tablets.push_back({KeyRange{start, split, false}, {}});
    start = split;
  }
  edit.tablets.push_back({KeyRange{start, "", true}, {}});
  return edit;
}

VersionHistory::VersionHistory(uint64_t seed, bool recuts)
    : recuts_(recuts), random_(seed), version_(std::make_shared<const Version>()) {}

const TableState* VersionHistory::AnyTable() {
  if (version_->tables.empty()) return nullptr;
  auto it = version_->tables.begin();
  std::advance(it, random_.Below(version_->tables.size()));
  return it->second.get();
}

// Short row keys over few letters, so that boundaries often coincide. Some contain bytes that need
// escaping.
std::string VersionHistory::AnyRow() {
  std::string row(1, static_cast<char>('a' + random_.Below(8)));
  if (random_.OneIn(3)) row.push_back(static_cast<char>('a' + random_.Below(8)));
  if (random_.OneIn(20)) row.push_back(random_.OneIn(2) ? '\0' : '\xff');
  return row;
}

KeyRange VersionHistory::AnyRange() {
  KeyRange range{random_.OneIn(4) ? "" : AnyRow(), "", random_.OneIn(4)};
  if (!range.unbounded_end) range.end = AnyRow();
  return range;
}

SstableFile VersionHistory::AnyFile() {
  std::string first = AnyRow();
  std::string last = AnyRow();
  if (last < first) std::swap(first, last);
  SstableFile file = TestFile(next_file_number_++, std::move(first), std::move(last));
  file.bottommost_codec = random_.OneIn(3);
  file.newest_commit_time =
      static_cast<int64_t>(random_.Next() >> random_.Below(64)) * (random_.OneIn(5) ? -1 : 1);
  file.summary.tombstones = file.summary.row_tombstones = random_.Below(3);
  return file;
}

void VersionHistory::CreateTable(Edit* edit) {
  const uint32_t id = version_->next_table_id;
  const uint32_t family_id = version_->next_family_id;
  std::set<std::string> splits;
  for (uint64_t i = random_.Below(4); i > 0; --i) splits.insert(AnyRow());
  Schema schema;
  schema.AddFamily("keep").AddFamily(
      "two", GcRule::Union(GcRule::MaxNumVersions(2), GcRule::MaxAge(std::chrono::hours(24))));
  schema.SetProperty("owner", AnyRow())
      .SetGranularity(random_.OneIn(2) ? TimestampGranularity::kMicros
                                       : TimestampGranularity::kMillis);
  for (const std::string& split : splits) schema.AddSplit(split);
  const std::vector<FamilyEntry> families = {{family_id, "keep"}, {family_id + 1, "two"}};
  edit->tables.push_back(NewTable(MakeDefinition(id, "t" + std::to_string(id), 1, schema, families),
                                  {splits.begin(), splits.end()}));
  edit->next_table_id = id + 1;
  edit->next_family_id = family_id + 2;
}

void VersionHistory::ChangeSchema(const TableState& table, TableEdit* edit) {
  const TableDefinition& old = *table.definition;
  Schema schema = old.schema;
  schema.SetProperty("changed", AnyRow());
  std::vector<FamilyEntry> families;
  for (uint32_t family_index = 1; family_index <= old.families.size(); ++family_index)
    families.push_back(old.families[family_index]);
  edit->definition = MakeDefinition(old.id, old.name, old.epoch + 1, schema, families);
}

void VersionHistory::Flush(const TableState& table, Edit* edit, TableEdit* table_edit) {
  const uint64_t first = version_->last_sequence + 1;
  const uint64_t last = first + random_.Below(10);
  edit->last_sequence = last;
  table_edit->flushed_through = last;
  edit->new_files.push_back(AnyFile());
  table_edit->tablets = InstallFlush(table, edit->new_files.back(), first, last);
}

void VersionHistory::BulkLoad(const TableState& table, Edit* edit, TableEdit* table_edit) {
  std::set<std::string> rows;
  for (uint64_t i = 2 + random_.Below(5); i > 0; --i) rows.insert(AnyRow());
  edit->last_sequence = version_->last_sequence + 1;
  for (const std::string& row : rows)
    edit->new_files.push_back(TestFile(next_file_number_++, row, row));
  table_edit->tablets =
      InstallFiles(table, edit->new_files, edit->last_sequence, edit->last_sequence);
}

void VersionHistory::Compact(const TableState& table, Edit* edit, TableEdit* table_edit) {
  const Tablet& tablet = table.tablets[random_.Below(table.tablets.size())];
  if (tablet.stack.empty()) return;
  const size_t begin = random_.Below(tablet.stack.size());
  const size_t end = begin + 1 + random_.Below(tablet.stack.size() - begin);
  const std::vector<SstableReference> inputs(
      tablet.stack.begin() + static_cast<std::ptrdiff_t>(begin),
      tablet.stack.begin() + static_cast<std::ptrdiff_t>(end));
  std::optional<SstableFile> output;
  if (!random_.OneIn(5)) {
    const KeyRange rows = Intersect(inputs.front().range, RowsOf(*inputs.front().file));
    if (!rows.IsEmpty()) output = TestFile(next_file_number_++, rows.start, rows.start);
  }
  const auto installed = InstallCompaction(table, tablet.range, inputs, output);
  if (!installed.ok()) return;  // the inputs have a gap between them
  table_edit->tablets.push_back(*installed);
  if (output.has_value()) edit->new_files.push_back(*output);
}

void VersionHistory::Recut(const TableState& table, TableEdit* table_edit) {
  if (random_.OneIn(2)) {
    const size_t begin = random_.Below(table.tablets.size());
    const size_t count = std::min<size_t>(table.tablets.size() - begin, 1 + random_.Below(3));
    table_edit->tablets.push_back(MergeTablets(table.tablets.Slice(begin, count)).value());
    return;
  }
  const std::string row = AnyRow();
  auto halves = SplitTablet(table.tablets[table.TabletIndexOf(row)], row);
  // Otherwise the row is the tablet's start already.
  if (halves.ok()) table_edit->tablets = *std::move(halves);
}

Edit VersionHistory::Next() {
  Edit edit;
  edit.clock_mark = version_->clock_mark + static_cast<int64_t>(random_.Below(100));
  if (random_.OneIn(4)) edit.synced_log_end = {1 + random_.Below(9), random_.Below(1 << 20)};
  if (random_.OneIn(6)) edit.oldest_segment = version_->oldest_segment + random_.Below(3);
  const TableState* table = AnyTable();
  if (table == nullptr || random_.OneIn(20)) {
    CreateTable(&edit);
  } else {
    TableEdit& table_edit = edit.tables.emplace_back();
    table_edit.table_id = table->definition->id;
    const uint64_t kind = random_.Below(20);
    if (recuts_ && random_.OneIn(6)) {
      Recut(*table, &table_edit);
    } else if (kind == 0) {
      table_edit.drop = true;
    } else if (kind <= 2) {
      ChangeSchema(*table, &table_edit);
    } else if (kind <= 10) {
      Flush(*table, &edit, &table_edit);
    } else if (kind <= 12) {
      BulkLoad(*table, &edit, &table_edit);
    } else if (kind <= 17) {
      Compact(*table, &edit, &table_edit);
    } else {
      table_edit.tablets = Excise(*table, AnyRange());
    }
  }
  edit.next_file_number = next_file_number_;
  auto next = Apply(*version_, edit);
  STELE_CHECK(next.ok());
  version_ = *std::move(next);
  return edit;
}

}  // namespace stele::internal
